"""Versions of notes that changes replaced, kept in the vault so that they travel with it."""

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
KEPT_BYTES = 2 * 1024 * 1024  # a version larger than this is kept only until its change is made


class VersionStore:
    """Packs of versions, one a change, each version named by its hash. A pack is never changed but
    to take versions out, so sync tools have nothing to merge."""

    def __init__(self, vault: Vault) -> None:
        self._root = vault.root

    def put(self, pack: str, versions: Mapping[str, bytes]) -> None:
        """Keep these versions, by hash; when this returns they are on disk, whole.

        Raises:
            StorageError, DiskFull: none is kept.
        """
        if versions:
            self._write(pack, versions)

    def get(self, pack: str, content_hash: str) -> bytes | None:
        """One version, None if it is not kept or cannot be read."""
        try:
            with zipfile.ZipFile(self._file(pack)) as kept:
                return kept.read(content_hash)
        except (OSError, KeyError, zipfile.BadZipFile, RuntimeError):
            return None

    def drop(self, pack: str, content_hashes: Collection[str]) -> None:
        """Keep these versions no longer.

        Raises:
            StorageError: they are still kept.
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
        if not pack.isalnum():  # it may come from a journal that a person edited
            raise StorageError(f"{pack!r} names no change")
        return self._root / FOLDER / f"{pack}{SUFFIX}"

    def _name(self, pack: str) -> str:
        return (FOLDER / f"{pack}{SUFFIX}").as_posix()
