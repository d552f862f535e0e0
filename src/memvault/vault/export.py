"""Exports the vault to a folder or a JSON file, and restores it.

The JSON file is ``{"memvault_export": 1, "exported_at": …, "files": [{"path", "text"}]}``; a file
that is not UTF-8 has ``base64`` instead of ``text``. Paths are relative to the vault. Notes,
attachments, the manifest, ``.memvaultignore``, the journal and the full texts of faded notes are
included byte for byte; other dot files and folders, and what ``.memvaultignore`` lists, are not.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, TextIO

from memvault.model.errors import InvalidParams, OutsideVault, StorageError
from memvault.model.json_text import json_value
from memvault.model.moments import iso_utc
from memvault.vault.files import Vault
from memvault.vault.ignore import IGNORE_FILE, UNKNOWN
from memvault.vault.journal import FOLDER as JOURNAL_FOLDER
from memvault.vault.journal import Journal
from memvault.vault.journal_files import COMPRESSED
from memvault.vault.version_store import ARCHIVE, SUFFIX
from memvault.vault.write import replace, storage_errors, temporary_path_for

FORMAT_VERSION = 1
_WRITTEN = f"a file that `memvault export FILE.json` wrote (format {FORMAT_VERSION})"

_FORBIDDEN = set("\0\\:") if os.name == "nt" else set("\0")

Progress = Callable[[int], None]


@dataclass(slots=True)
class RestoreReport:
    """The files that a restore wrote, and those it skipped because the vault has other content."""

    written: list[str] = field(default_factory=list)
    unchanged: int = 0
    left_alone: list[str] = field(default_factory=list)


def files_of(vault: Vault) -> Iterator[str]:
    """The paths of all files of an export.

    Notes and attachments come first, then the journal, then the full texts of faded notes.

    Raises:
        StorageError: a folder or `.memvaultignore` cannot be read; an export without it would look
            complete.
    """
    rules = vault.ignore_rules
    if rules.are_unknown:
        raise StorageError(UNKNOWN)

    def refuse(error: OSError) -> None:
        folder = vault.relative(Path(error.filename)) or ""
        with storage_errors(vault.root.name if folder == "." else folder):
            raise error

    for folder, subfolders, names in os.walk(vault.root, onerror=refuse):
        relative_folder = Path(folder).relative_to(vault.root).as_posix()
        prefix = "" if relative_folder == "." else f"{relative_folder}/"
        subfolders[:] = sorted(
            name
            for name in subfolders
            if not rules.excludes_folder(prefix + name) and not (Path(folder) / name).is_symlink()
        )
        for name in sorted(names):
            path, file = prefix + name, Path(folder) / name
            is_exported = path == IGNORE_FILE or not (name.startswith(".") or rules.lists(path))
            if is_exported and file.is_file() and not file.is_symlink():
                yield path
    archived = sorted((vault.root / ARCHIVE).glob(f"*{SUFFIX}"))
    for file in (*Journal(vault).files(), *archived):
        yield file.relative_to(vault.root).as_posix()


def export_folder(vault: Vault, target: Path, *, progress: Progress = lambda _: None) -> int:
    """Copy all files to a new or empty folder, which is then a vault itself.

    Returns:
        the number of files.

    Raises:
        InvalidParams: the target is not empty, or inside the vault.
        StorageError, DiskFull: a file cannot be read or written.
    """
    _check_outside(vault, target)
    with storage_errors(target.name):
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InvalidParams(f"{target.name} is not empty. Name a new folder.")
        count = 0
        for count, path in enumerate(files_of(vault), 1):
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with storage_errors(path):
                shutil.copy2(vault.root / path, file)
            progress(count)
        target.mkdir(parents=True, exist_ok=True)
        return count


def export_json(vault: Vault, target: Path, *, progress: Progress = lambda _: None) -> int:
    """Write all files to a new JSON file, atomically.

    Returns:
        the number of files in it.

    Raises:
        InvalidParams: the target exists, or is inside the vault.
        StorageError, DiskFull: a file cannot be read or written.
    """
    _check_outside(vault, target)
    if target.exists():
        raise InvalidParams(f"{target.name} already exists. Choose another name.")
    with storage_errors(target.name):
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_path_for(target, b"") as temporary:
            with temporary.open("w", encoding="utf-8", newline="\n") as stream:
                count = _write_json(vault, stream, progress)
                stream.flush()
                os.fsync(stream.fileno())
            replace(temporary, target)
    return count


def restore_export(
    source: Path, vault: Vault, *, progress: Progress = lambda _: None
) -> RestoreReport:
    """Write the files of a JSON export to a vault, never over existing files.

    The journal is written only to a vault without a history of its own: its entries say who wrote
    what, and which notes were deleted.

    Raises:
        InvalidParams: the source is not an export; nothing was written.
        OutsideVault: a path would leave the vault; nothing was written.
        StorageError, DiskFull: a file cannot be written; the files before it were.
    """
    files = _read_json(source)
    for path in files:
        _check_path(path)
    report = RestoreReport()
    takes_journal = _takes_journal(vault, files)
    for done, (path, data) in enumerate(files.items(), 1):
        file = vault.file_path(path)
        if (takes_journal or not is_of_journal(path)) and vault.create_at(path, data):
            report.written.append(path)
        elif file.is_file() and file.read_bytes() == data:
            report.unchanged += 1
        else:
            report.left_alone.append(path)
        progress(done)
    return report


def is_of_journal(path: str) -> bool:
    """Whether an export's path is that of a file of the journal."""
    return PurePosixPath(path).parent == PurePosixPath(JOURNAL_FOLDER.as_posix())


def _takes_journal(vault: Vault, files: Mapping[str, bytes]) -> bool:
    """Whether the vault has no journal, or only files of this export's, as after an interrupted
    import."""
    return all(
        files.get(file.relative_to(vault.root).as_posix()) == file.read_bytes()
        for file in Journal(vault).files()
    )


def _write_json(vault: Vault, stream: TextIO, progress: Progress) -> int:
    head = {"memvault_export": FORMAT_VERSION, "exported_at": iso_utc(datetime.now(UTC))}
    stream.write(json.dumps(head)[:-1] + ', "files": [')
    count = 0
    for count, path in enumerate(files_of(vault), 1):
        with storage_errors(path):
            data = (vault.root / path).read_bytes()
        content = json.dumps(_encoded(data), ensure_ascii=False)
        # A name that is not Unicode survives only as escapes.
        item = f'{{"path": {json.dumps(path)}, {content[1:]}'
        stream.write((",\n" if count > 1 else "\n") + item)
        progress(count)
    stream.write("\n]}\n")
    return count


def _encoded(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _read_json(source: Path) -> dict[str, bytes]:
    if source.is_dir():
        raise InvalidParams(
            f"{source.name} is a folder: an exported folder is itself a vault, which you can open "
            "or copy; only the JSON file of an export is imported"
        )
    try:
        export = json_value(source.read_bytes())
    except FileNotFoundError as error:
        raise InvalidParams(f"{source.name} does not exist") from error
    except OSError as error:
        raise StorageError(f"{source.name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidParams(f"{source.name} is not {_WRITTEN}") from error
    version = export.get("memvault_export") if isinstance(export, dict) else None
    if version != FORMAT_VERSION or not isinstance(export.get("files"), list):
        raise InvalidParams(f"{source.name} is not {_WRITTEN}")
    return dict(_decoded(item, source.name) for item in export["files"])


def _decoded(item: Any, name: str) -> tuple[str, bytes]:
    try:
        path = item["path"]
        text = item.get("text")
        data = base64.b64decode(item["base64"], validate=True) if text is None else text.encode()
    except (AttributeError, KeyError, TypeError, UnicodeError, binascii.Error) as error:
        raise InvalidParams(f"{name} has an entry that is not a file; export it again") from error
    if not isinstance(path, str):
        raise InvalidParams(f"{name} has a file without a path; export it again")
    return path, data


def _check_path(path: str) -> None:
    """Check that `files_of` could list the path.

    It must be in the vault, and in no dot folder except the journal's and the archive's.

    Raises:
        OutsideVault: it could not.
    """
    parts = path.split("/")
    kinds = {JOURNAL_FOLDER: (".jsonl", f".jsonl{COMPRESSED}"), ARCHIVE: (SUFFIX,)}
    is_own = any(
        PurePosixPath(path).parent == PurePosixPath(folder.as_posix()) and path.endswith(endings)
        for folder, endings in kinds.items()
    )
    is_hidden = any(part.startswith(".") for part in parts) and path != IGNORE_FILE
    is_odd = any(part in {"", ".", ".."} or set(part) & _FORBIDDEN for part in parts)
    if is_odd or (is_hidden and not is_own):
        raise OutsideVault(f"{path!r} is not a valid path in an export of memvault")


def _check_outside(vault: Vault, target: Path) -> None:
    if Path(os.path.realpath(target)).is_relative_to(vault.root):
        raise InvalidParams("The target is inside the vault. Choose a folder outside it.")
