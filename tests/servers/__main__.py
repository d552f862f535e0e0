"""Installs the servers that the tests run against, where that is possible, and says what is missing.

``python -m tests.servers``; ``make test`` calls it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from tests.pages import browser
from tests.servers import neo4j, redis

# Programs, and the Debian packages of which the first that there is brings them.
DEBIAN_PACKAGES = {
    "redis-server": ("redis-server",),
    "java": ("openjdk-17-jre-headless", "openjdk-21-jre-headless"),
    "mvn": ("maven",),
    "docker-compose": ("docker-compose",),
    "promtool": ("prometheus",),
    "chromium-headless-shell": ("chromium-headless-shell", "chromium"),
    "chromedriver": ("chromium-driver",),
}
# As long as another installation may take that is under way.
APT = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"]


def install_packages() -> None:
    """With apt, as root, one by one: what cannot be had does not keep the others away. A failure is
    told by apt, and by what is missing afterwards."""
    wanted = [program for program in DEBIAN_PACKAGES if shutil.which(program) is None]
    if not wanted or shutil.which("apt-get") is None or os.name != "posix" or os.geteuid() != 0:
        return
    print(f"installing {', '.join(wanted)} for the tests", flush=True)
    _apt("update")
    for program in wanted:
        for package in DEBIAN_PACKAGES[program]:
            if shutil.which(program) is None:
                _apt("install", "-y", "--no-install-recommends", package)


def _apt(*arguments: str) -> None:
    # Without a policy the package would start a server of its own.
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    subprocess.run([*APT, *arguments], env=quiet, stdout=subprocess.DEVNULL, check=False)


def no_compose() -> str | None:
    if shutil.which("docker-compose") is None:
        return "docker-compose is not installed (apt-get install docker-compose)"
    return None


def main() -> None:
    install_packages()
    missing = {"Redis": redis.missing, "Neo4j": neo4j.missing, "docker-compose.yml": no_compose,
               "the pages": browser.missing}  # fmt: skip
    for name, problem_of in missing.items():
        problem = problem_of()
        if problem is not None:
            print(f"the tests with {name} will be skipped: {problem}", file=sys.stderr)
        elif name == "Neo4j":
            neo4j.archive_classes()
    if "QDRANT_URL" not in os.environ:
        print("Qdrant is tried in its client's local mode; set QDRANT_URL to try a server too")


if __name__ == "__main__":
    main()
