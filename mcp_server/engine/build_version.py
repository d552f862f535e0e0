"""Which build of memvault is installed, so that an engine of an earlier one can be recognised."""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path

import memvault
from memvault import __version__

_ROOT = Path(__file__).parents[2]
_FOLDERS = (Path(memvault.__file__).parent, _ROOT / "indexer", _ROOT / "mcp_server")


@cache
def installed_version() -> str:
    """The version, with the time in UTC of the newest of memvault's files: 0.1.0+20261128.023000.

    A later build of the same release differs in it. Earlier memvaults read only the release.
    """
    newest = max(map(newest_file, _FOLDERS))
    return f"{__version__}+{time.strftime('%Y%m%d.%H%M%S', time.gmtime(newest))}"


def newest_file(folder: str | Path) -> float:
    """When a file in the folder was last written, in seconds since 1970; bytecode is ignored."""
    newest = 0.0
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir():
                newest = max(newest, entry.stat().st_mtime)
            elif entry.name != "__pycache__":
                newest = max(newest, newest_file(entry.path))
    return newest
