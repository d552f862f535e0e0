"""Redis, from the system's own package."""

from __future__ import annotations

import shutil
from pathlib import Path

import redis

from tests.servers.process import ServerProcess, free_port

PASSWORD = "memvault-tests"


def missing() -> str | None:
    """Why there can be no server here."""
    if shutil.which("redis-server") is None:
        return "redis-server is not installed (apt-get install redis-server)"
    return None


def server(folder: Path) -> ServerProcess:
    port = free_port()
    client = redis.Redis(port=port, password=PASSWORD)

    def ready() -> bool:
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False

    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    secret = ["--requirepass", PASSWORD]
    return ServerProcess(["redis-server", *options, *secret], port, folder, ready)


def url(process: ServerProcess) -> str:
    return f"redis://127.0.0.1:{process.port}/0"
