"""Neo4j Community on the system's Java, its jars from Maven Central.

The jars (123 MB) are fetched once, by ``make test`` or the first test that needs them, and kept in
the user's cache.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import neo4j
from filelock import FileLock
from neo4j.exceptions import DriverError, Neo4jError

from tests.servers.process import ServerProcess, free_port

VERSION = "5.26.30"
OLDEST_JAVA = 17
USER, PASSWORD = "neo4j", "memvault-tests"
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>memvault.tests</groupId>
  <artifactId>neo4j</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version></dependency>
  </dependencies>
</project>
"""
_CONFIG = """
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.memory.pagecache.size=32m
db.tx_log.preallocate=false
dbms.usage_report.enabled=false
dbms.security.auth_max_failed_attempts=0
"""
_JAVA = [
    "-Xms192m",
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # Verifying the bytecode of its jars is a fifth of the processor time of a start.
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
]


def _cache() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "memvault-tests" / f"neo4j-{VERSION}"


def missing() -> str | None:
    """Why there can be no server here; fetches it where that is possible."""
    if shutil.which("java") is None:
        return "Java is not installed (apt-get install openjdk-17-jre-headless)"
    if (found := _java_version()) < OLDEST_JAVA:
        return (
            f"Neo4j needs Java {OLDEST_JAVA} or later, and {found or 'none that runs'} is installed"
        )
    if (_cache() / "complete").exists():
        return None
    if shutil.which("mvn") is None:
        return "Maven is not installed (apt-get install maven)"
    try:
        _fetch()
    except subprocess.CalledProcessError as error:
        errors = [line for line in error.stdout.splitlines() if line.startswith("[ERROR]")]
        reason = (
            errors[0].removeprefix("[ERROR] ") if errors else f"mvn ended with {error.returncode}"
        )
        return f"Neo4j {VERSION} could not be fetched from Maven Central: {reason}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Neo4j {VERSION} could not be fetched from Maven Central: {error}"
    return None


def _java_version() -> int:
    """17 of ``openjdk version "17.0.15" 2025-04-15``; 0 where it does not run."""
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found[1]) if found else 0


def _fetch() -> None:
    folder = _cache()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if (folder / "complete").exists():
            return
        print(f"fetching Neo4j {VERSION} from Maven Central (123 MB)", flush=True)
        (folder / "pom.xml").write_text(_POM)
        subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"],
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=900,
        )
        (folder / "complete").touch()


def server(folder: Path) -> ServerProcess:
    """Its data lie in ``folder / "data"``."""
    port = free_port()
    (folder / "conf").mkdir(parents=True, exist_ok=True)
    (folder / "conf" / "neo4j.conf").write_text(_CONFIG.format(port=port))
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    jars = str(_cache() / "lib" / "*")
    main = "org.neo4j.server.CommunityEntryPoint"
    places = [f"--home-dir={folder}", f"--config-dir={folder / 'conf'}"]
    command = ["java", *_JAVA, "-cp", jars, main, *places]
    return ServerProcess(command, port, folder, lambda: _is_ready(port))


def url(process: ServerProcess) -> str:
    return f"bolt://127.0.0.1:{process.port}"


def empty(process: ServerProcess) -> None:
    """Delete all that the running server keeps."""
    with neo4j.GraphDatabase.driver(url(process), auth=(USER, PASSWORD)) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        for record in driver.execute_query("SHOW CONSTRAINTS YIELD name").records:
            driver.execute_query(f"DROP CONSTRAINT `{record['name']}`")


def _is_ready(port: int) -> bool:
    """Whether it takes the tests' password; a new server is given it first."""
    return _accepts(port, PASSWORD, "RETURN 1", "neo4j") or _accepts(
        port, "neo4j", f"ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO '{PASSWORD}'", "system"
    )


def _accepts(port: int, password: str, query: str, database: str) -> bool:
    try:
        with neo4j.GraphDatabase.driver(
            f"bolt://127.0.0.1:{port}", auth=(USER, password), connection_timeout=1.0
        ) as driver:
            driver.execute_query(query, database_=database)
    except (DriverError, Neo4jError):
        time.sleep(0.2)
        return False
    return True
