"""Installs the servers that the tests run against, where that is possible, and says what is missing.

``python -m tests.servers``; ``make test`` calls it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from tests.servers import neo4j, redis

DEBIAN_PACKAGES = {
    "redis-server": "redis-server",
    "java": "openjdk-17-jre-headless",
    "mvn": "maven",
    "docker-compose": "docker-compose",
}


def install_packages() -> None:
    """With apt, as root; a failure is told by what is missing afterwards."""
    wanted = [name for program, name in DEBIAN_PACKAGES.items() if shutil.which(program) is None]
    if not wanted or shutil.which("apt-get") is None or os.name != "posix" or os.geteuid() != 0:
        return
    print(f"installing {', '.join(wanted)} for the tests", flush=True)
    # Without a policy the package would start a server of its own.
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", *wanted]):
        subprocess.run(
            ["apt-get", "-qq", *command], env=quiet, stdout=subprocess.DEVNULL, check=False
        )


def main() -> None:
    install_packages()
    for name, problem in (("Redis", redis.missing()), ("Neo4j", neo4j.missing())):
        if problem is not None:
            print(f"the tests with {name} will be skipped: {problem}", file=sys.stderr)
    if "QDRANT_URL" not in os.environ:
        print("Qdrant is tried in its client's local mode; set QDRANT_URL to try a server too")


if __name__ == "__main__":
    main()
