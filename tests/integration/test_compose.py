"""`docker-compose.yml`, as Docker Compose itself reads it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
NEEDED = {
    "MEMVAULT_VAULT_FOLDER": "/tmp/vault",
    "MEMVAULT_NEO4J_PASSWORD": "one",
    "MEMVAULT_REDIS_PASSWORD": "two",
    "MEMVAULT_QDRANT_API_KEY": "three",
    "MEMVAULT_ENGINE__TOKEN": "four",
}
UNITS = {"m": 2**20, "g": 2**30}


def compose(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    if shutil.which("docker-compose") is None:
        pytest.skip("docker-compose is not installed (apt-get install docker-compose)")
    return subprocess.run(
        ["docker-compose", "-f", "docker-compose.yml", "config"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    result = compose(NEEDED)
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = yaml.safe_load(result.stdout)["services"]
    return found


def bytes_of(limit: str | int) -> int:
    text = str(limit).lower().removesuffix("b")
    return int(text) if text.isdigit() else int(text[:-1]) * UNITS[text[-1]]


def test_every_service_says_when_it_is_well_and_comes_back(services: dict[str, Any]) -> None:
    assert set(services) == {"qdrant", "neo4j", "redis", "indexer", "mcp"}
    for name, service in services.items():
        assert service["healthcheck"]["test"], name
        assert service["restart"] == "unless-stopped", name
        assert service["volumes"], name


def test_each_takes_less_than_two_gigabytes(services: dict[str, Any]) -> None:
    assert all(bytes_of(service["mem_limit"]) < 2 * 2**30 for service in services.values())


def test_nothing_listens_beyond_this_machine(services: dict[str, Any]) -> None:
    opened = [str(port) for service in services.values() for port in service.get("ports", ())]
    assert opened == ["127.0.0.1:8765:8765/tcp"]


def test_no_password_is_written_down_and_none_may_be_missing(services: dict[str, Any]) -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    for name in NEEDED:
        assert f"${{{name}:?" in text
        without = {key: value for key, value in NEEDED.items() if key != name}
        assert compose(without).returncode != 0


def test_memvault_runs_as_an_ordinary_user_from_one_image(services: dict[str, Any]) -> None:
    for name in ("indexer", "mcp"):
        assert services[name]["user"].split(":")[0] != "0"
        assert services[name]["image"] == "memvault"
        assert services[name]["environment"]["MEMVAULT_GRAPH"] == "bolt://neo4j:7687"
    assert "USER memvault" in (ROOT / "Dockerfile").read_text()
