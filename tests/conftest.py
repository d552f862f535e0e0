"""How a run is set up, and which process runs which tests."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples
from xdist.scheduler import LoadFileScheduling

if "MEMVAULT_STATE" not in os.environ:  # the workers of a run have that of the run
    # Most tests write notes and indexes and flush them, which a disk does slowly. A run needs a
    # gigabyte or two of memory for them.
    with suppress(OSError):
        if "TMPDIR" not in os.environ and shutil.disk_usage("/dev/shm").free > 6 * 2**30:
            os.environ["TMPDIR"] = tempfile.tempdir = "/dev/shm"
    os.environ["MEMVAULT_STATE"] = tempfile.mkdtemp(prefix="memvault-tests-")
    atexit.register(shutil.rmtree, os.environ["MEMVAULT_STATE"], ignore_errors=True)
# Else each of the many processes that tests start would compile all that it imports of this tree.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A machine with much else to do answers late, and answers in part where tests expect all.
os.environ["MEMVAULT_LIMITS__ANSWER_SECONDS"] = "60"

# Files that one process runs, and what it has then to start or import only once.
TOGETHER = {
    "engines": (  # that are forked from a process which takes 5 s to start
        "tests/integration/test_bridge.py",
        "tests/integration/test_bridge_reconnecting",
        "tests/integration/test_chosen_folder",
        "tests/integration/test_cli.py",
        "tests/integration/test_client_sessions",
        "tests/integration/test_core_edge_cases",
        "tests/integration/test_crash",
        "tests/integration/test_engine",
        "tests/integration/test_forgetting_crash",
        "tests/integration/test_full_disk",
        "tests/integration/test_hook_command",
        "tests/integration/test_operations_crash",
        "tests/integration/test_other_users",
        "tests/integration/test_resources",
        "tests/integration/test_startup",
        "tests/newcomer/test_a_vault_of_ones_own",
        "tests/unit/test_activity",
        "tests/unit/test_files",
        "tests/unit/test_journal",
    ),
    "servers": (
        "tests/contract/",
        "tests/integration/test_server_",
        "tests/integration/test_several_machines",
        "tests/integration/test_sharing",
    ),
    "torch": (
        "tests/integration/test_bert_network",
        "tests/integration/test_model_export",
        "tests/integration/test_reranker",
    ),
}

# How long an example takes is the machine's affair, and says nothing of the code.
examples.register_profile(
    "memvault",
    max_examples=int(os.environ.get("MEMVAULT_EXAMPLES", "50")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
examples.load_profile("memvault")


class FilesToProcesses(LoadFileScheduling):
    """Whole files to each process, and to one of them all that need servers, or PyTorch: a Neo4j
    that has run these tests has taken a minute of processor time."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((name for name, of in TOGETHER.items() if file.startswith(of)), file)


@pytest.hookimpl(optionalhook=True)  # so that tests run without xdist, too
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    config.option.loadscopereorder = False  # else the file that takes longest may come last
    return FilesToProcesses(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Load what tests share, but not into a process that has all tests run by others."""
    if config.getoption("dist", "no") == "no":
        config.pluginmanager.import_plugin("tests.fixtures")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import the modules of tests, in each process from another one on: all in the same order would
    rewrite the assertions of each module at the same time, before one of them has cached it."""
    folders = [Path(given).resolve() for given in session.config.args]
    modules = sorted(
        ".".join(file.relative_to(session.config.rootpath).with_suffix("").parts)
        for folder in folders
        for file in folder.rglob("test_*.py")
    )
    process, processes = (
        int(os.environ.get(f"PYTEST_XDIST_{name}", "").removeprefix("gw") or 0)
        for name in ("WORKER", "WORKER_COUNT")
    )
    if processes:
        first = len(modules) * process // processes
        for module in modules[first:] + modules[:first]:
            with suppress(Exception):  # pytest reports it
                import_module(module)
