"""Folders outside the vault: its derived state, exported models, and the user's configuration."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_state_path

from memvault.model.errors import EngineUnavailable, InvalidParams

DEFAULT_VAULT = Path("~/Documents/Memory-Vault")


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The state folder of one vault, whose content can be rebuilt from the vault."""

    root: Path

    @classmethod
    def of_vault(cls, vault: Path, base: Path | None = None) -> StateFolder:
        """The folder ``<base>/<vault name>-<hash of its real path>``.

        ``base`` defaults to ``MEMVAULT_STATE``, else to the system's folder for user state.

        Raises:
            InvalidParams: ``MEMVAULT_STATE`` is not absolute.
        """
        real = vault.expanduser().resolve()
        digest = hashlib.blake2b(str(real).encode(), digest_size=5).hexdigest()
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", real.name).strip("-")[:40] or "vault"
        home = base or _named_by("MEMVAULT_STATE") or user_state_path("memvault")
        return cls(home.expanduser() / f"{name}-{digest}")

    @property
    def device(self) -> str:
        """The name of this computer's copy of the vault, 8 hexadecimal digits.

        A file keeps it, as networks and containers rename computers. In a copy of the folder, which
        may be on another computer, that file has another inode and does not count.
        """
        file = self.root / "device"
        with suppress(OSError, ValueError):
            kept, inode = file.read_text("ascii").split()
            if int(inode) == file.stat().st_ino:
                return kept
        key = f"{platform.node()}|{self.root}"
        name = hashlib.blake2b(key.encode(), digest_size=4).hexdigest()
        with suppress(OSError), file.open("w", encoding="ascii") as stream:
            stream.write(f"{name} {os.fstat(stream.fileno()).st_ino}")
        return name

    @property
    def indexes(self) -> Path:
        """The folder of all generations of indexes; the file ``current`` names the live one."""
        return self.root / "indexes"

    @property
    def embedding_cache(self) -> Path:
        return self.root / "embeddings.sqlite"

    @property
    def entity_cache(self) -> Path:
        return self.root / "entities.sqlite"

    @property
    def verdicts(self) -> Path:
        return self.root / "verdicts.sqlite"

    @property
    def engine_lock(self) -> Path:
        return self.root / "engine.lock"

    @property
    def start_lock(self) -> Path:
        return self.root / "start.lock"

    @property
    def engine_address(self) -> Path:
        return self.root / "engine.json"

    @property
    def clients(self) -> Path:
        """The clients on the web that the person approved, and hashes of their tokens."""
        return self.root / "clients.json"

    @property
    def http_sessions(self) -> Path:
        """How clients over HTTP began their sessions, which continue after a restart."""
        return self.root / "http_sessions.json"

    @property
    def log(self) -> Path:
        return self.root / "engine.log"

    @property
    def earlier_log(self) -> Path:
        """What a log that grew too long said."""
        return self.root / "engine.log.1"

    @property
    def config_file(self) -> Path:
        return self.root / "memvault.toml"

    def create(self) -> None:
        """Create the folder, readable by its owner only.

        Raises:
            EngineUnavailable: it cannot be created or written to. The message names the folder,
                because it is shown to the person who starts the engine (core EC-CORE-008).
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self.root.stat().st_mode & 0o077:  # a hook made it, as the parent of its own folder
                with suppress(OSError):  # a file system without permissions
                    self.root.chmod(0o700)
        except OSError as error:
            raise self._refused(error.strerror or str(error)) from error
        if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
            raise self._refused("Permission denied")

    def _refused(self, reason: str) -> EngineUnavailable:
        return EngineUnavailable(
            f"The indexes cannot be stored in {self.root}: {reason}. Give your account read, write "
            "and execute permission for that folder, or set MEMVAULT_STATE to another one."
        )


def model_cache() -> Path:
    """The folder of exported models, shared by all vaults of the user."""
    return (_named_by("MEMVAULT_CACHE") or user_cache_path("memvault")) / "models"


def _named_by(variable: str) -> Path | None:
    """The folder that this environment variable names, if any.

    Raises:
        InvalidParams: it is not absolute. An engine runs in another folder than its clients, and
            so would look for its state elsewhere.
    """
    value = os.environ.get(variable)
    if value and not Path(value).expanduser().is_absolute():
        raise InvalidParams(f"{variable} names {value}; give the whole path of that folder.")
    return Path(value).expanduser() if value else None


def user_config_file() -> Path:
    """The user's ``memvault.toml`` for all vaults; its ``vault`` key is the default vault."""
    return user_config_path("memvault") / "memvault.toml"
