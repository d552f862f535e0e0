"""Stores old versions of changed notes, and full texts of faded notes, in the vault.

A sync tool copies them with the vault."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path

from memvault.model.errors import StorageError
from memvault.vault.files import Vault
from memvault.vault.own_folders import own_folder
from memvault.vault.parse import content_hash
from memvault.vault.write import storage_errors, write_whole

FOLDER = Path(".memvault") / "history"
ARCHIVE = Path(".memvault") / "archive"
SUFFIX = ".zip"
KEPT_BYTES = 2 * 1024 * 1024  # a larger version is deleted once its change is complete


class VersionStore:
    """One zip file of versions per change, each version named by its content hash.

    After it is written, versions are only deleted from a zip file, so sync tools have nothing to
    merge. A version in the archive, which has a file for each, is not stored again.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._root = vault.root

    def put(self, pack: str, versions: Mapping[str, bytes]) -> None:
        """Store versions by content hash, durably.

        Raises:
            StorageError, DiskFull: no version was stored.
        """
        new_versions = {key: data for key, data in versions.items() if self.archived(key) is None}
        if new_versions:
            self._write(self._file(pack), new_versions)

    def get(self, pack: str, version: str) -> bytes | None:
        """A version's bytes, or None if it is not stored or cannot be read."""
        data = _read(self._file(pack), [version]).get(version)
        return data if data is not None else self.archived(version)

    def reader(self, pack: str) -> Callable[[str], bytes | None]:
        """`get` for many versions of one change: its zip file is read once, now."""
        versions = _read(self._file(pack))
        return lambda key: versions[key] if key in versions else self.archived(key)

    def packs(self) -> dict[str, int]:
        """The size of each change's zip file in bytes, by name."""
        folder = self._root / FOLDER
        files = folder.glob(f"*{SUFFIX}") if folder.is_dir() else ()
        return {file.stem: file.stat().st_size for file in files}

    def drop_pack(self, pack: str) -> None:
        """Delete all versions of a change; the change can then not be undone.

        Raises:
            StorageError: the versions were not deleted.
        """
        self._vault.check()
        with storage_errors(self._name(self._file(pack))):
            self._file(pack).unlink(missing_ok=True)

    def archive(self, data: bytes) -> None:
        """Store a version for as long as its note exists, durably.

        Raises:
            StorageError, DiskFull: it was not stored.
        """
        key = content_hash(data)
        if self.archived(key) is None:
            self._write(self._file(key, ARCHIVE), {key: data})

    def archived(self, version: str) -> bytes | None:
        """The bytes of an archived version; None if it is missing or damaged."""
        data = _read(self._file(version, ARCHIVE), [version]).get(version)
        return data if data is not None and content_hash(data) == version else None

    def drop_archived(self, version: str) -> None:
        """Delete a version from the archive.

        Raises:
            StorageError: the version was not deleted.
        """
        with storage_errors(self._name(self._file(version, ARCHIVE))):
            self._file(version, ARCHIVE).unlink(missing_ok=True)

    def drop(self, pack: str, content_hashes: Collection[str]) -> None:
        """Delete versions.

        Raises:
            StorageError: no version was deleted.
        """
        file = self._file(pack)
        try:
            with zipfile.ZipFile(file) as pack_file:
                remaining = {
                    name: pack_file.read(name)
                    for name in pack_file.namelist()
                    if name not in content_hashes
                }
        except FileNotFoundError:
            return
        except (OSError, zipfile.BadZipFile) as error:
            raise StorageError(f"{self._name(file)} cannot be read: {error}") from error
        if remaining:
            self._write(file, remaining)
        else:
            with storage_errors(self._name(file)):
                file.unlink(missing_ok=True)

    def _write(self, file: Path, versions: Mapping[str, bytes]) -> None:
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as pack_file:
            for name, version in sorted(versions.items()):
                pack_file.writestr(zipfile.ZipInfo(name), version, zipfile.ZIP_DEFLATED)
        with storage_errors(self._name(file)):
            own_folder(self._vault, file.parent.relative_to(self._root))
            write_whole(file, data.getvalue())

    def _file(self, name: str, folder: Path = FOLDER) -> Path:
        if not name.isalnum():  # it may come from an edited journal
            raise StorageError(f"{name!r} is not a hash")
        return self._root / folder / f"{name}{SUFFIX}"

    def _name(self, file: Path) -> str:
        return file.relative_to(self._root).as_posix()


def _read(file: Path, names: Collection[str] | None = None) -> dict[str, bytes]:
    """The versions in a zip file that can be read, by name.

    Args:
        names: those to read; None for all.
    """
    versions = {}
    unreadable = (OSError, KeyError, zipfile.BadZipFile, zlib.error, RuntimeError)
    with suppress(*unreadable), zipfile.ZipFile(file) as pack_file:
        for name in pack_file.namelist() if names is None else names:
            with suppress(*unreadable):
                versions[name] = pack_file.read(name)
    return versions
