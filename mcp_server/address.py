"""Where the engine of a vault listens: ``engine.json`` in the vault's state folder.

Bridges import this module on every start, so it needs the standard library alone.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from memvault.config.paths import StateFolder


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """``started`` is seconds since 1970; ``token`` opens ``/bridge`` and ``/admin``."""

    pid: int
    host: str
    port: int
    token: str
    version: str
    started: float

    @property
    def netloc(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(state: StateFolder) -> EngineAddress | None:
    """The address last written, which a killed engine leaves behind; None when there is none
    or it is not one."""
    try:
        values = json.loads(state.engine_address.read_bytes())
        return EngineAddress(**values)
    except (OSError, ValueError, TypeError):
        return None


def write_address(state: StateFolder, address: EngineAddress) -> None:
    """Replace the file in one step, readable by its owner alone."""
    temporary = state.engine_address.with_suffix(f".{os.getpid()}.tmp")
    # The mode counts only when the file is created: one left by a crash might be wider.
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(address), file)
    Path(temporary).replace(state.engine_address)


def remove_address(state: StateFolder, address: EngineAddress) -> None:
    """Take our own address away, never that of a later engine."""
    if read_address(state) == address:
        state.engine_address.unlink(missing_ok=True)
