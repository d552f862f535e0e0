"""Old versions of changed notes, stored in the vault so that they are synced with it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path

from memvault.model.errors import StorageError
from memvault.vault.files import Vault
from memvault.vault.write import replace, storage_errors, temporary_beside

FOLDER = Path(".memvault") / "history"
SUFFIX = ".zip"
KEPT_BYTES = 2 * 1024 * 1024  # a larger version is deleted once its change is complete


class VersionStore:
    """One zip file of versions per change, each version named by its content hash.

    Versions are only ever deleted from a zip file, so sync tools have nothing to merge.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._root = vault.root

    def put(self, pack: str, versions: Mapping[str, bytes]) -> None:
        """Store versions by content hash, durably.

        Raises:
            StorageError, DiskFull: no version was stored.
        """
        if versions:
            self._write(pack, versions)

    def get(self, pack: str, content_hash: str) -> bytes | None:
        """A version's bytes, or None if it is not stored or cannot be read."""
        try:
            with zipfile.ZipFile(self._file(pack)) as kept:
                return kept.read(content_hash)
        except (OSError, KeyError, zipfile.BadZipFile, RuntimeError):
            return None

    def drop(self, pack: str, content_hashes: Collection[str]) -> None:
        """Delete versions.

        Raises:
            StorageError: no version was deleted.
        """
        file = self._file(pack)
        try:
            with zipfile.ZipFile(file) as kept:
                left = {
                    name: kept.read(name) for name in kept.namelist() if name not in content_hashes
                }
        except FileNotFoundError:
            return
        except (OSError, zipfile.BadZipFile) as error:
            raise StorageError(f"{self._name(pack)} cannot be read: {error}") from error
        if left:
            self._write(pack, left)
        else:
            with storage_errors(self._name(pack)):
                file.unlink(missing_ok=True)

    def _write(self, pack: str, versions: Mapping[str, bytes]) -> None:
        self._vault.check()
        file = self._file(pack)
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as kept:
            for name, version in sorted(versions.items()):
                kept.writestr(zipfile.ZipInfo(name), version, zipfile.ZIP_DEFLATED)
        with storage_errors(self._name(pack)):
            file.parent.mkdir(parents=True, exist_ok=True)
            with temporary_beside(file, data.getvalue()) as temporary:
                replace(temporary, file)

    def _file(self, pack: str) -> Path:
        if not pack.isalnum():  # it may come from an edited journal
            raise StorageError(f"{pack!r} is not a change hash")
        return self._root / FOLDER / f"{pack}{SUFFIX}"

    def _name(self, pack: str) -> str:
        return (FOLDER / f"{pack}{SUFFIX}").as_posix()
