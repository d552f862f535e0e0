"""Reads the export files of ChatGPT, Claude and Gemini.

The standard library parses the JSON, so the largest file must fit in memory several times: a few
hundred megabytes of text are fine.
"""

from __future__ import annotations

import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memvault.model.errors import InvalidParams
from memvault.model.json_text import json_value
from memvault.vault.compose import title_of
from memvault.vault.conversations import chatgpt, claude, gemini
from memvault.vault.conversations.conversation import (
    NAMES,
    Conversation,
    Exported,
    Malformed,
    Provider,
    UnreadableEntry,
)


class _Form(NamedTuple):
    """What an export looks like.

    Attributes:
        kinds: of its files, as alternatives of a pattern, in the order in which they are read.
        key: of each conversation, or of each prompt; other providers' have none of this name.
        expected: the file that is missing from what is no export.
    """

    kinds: str
    key: str
    expected: str


_FORMS: dict[Provider, _Form] = {
    "chatgpt": _Form("conversations", "mapping", "conversations.json"),
    "claude": _Form("conversations|projects|memories", "chat_messages", "conversations.json"),
    "gemini": _Form(
        "myactivity|[^/]*gemini[^/]*",  # the folder's name is the same in all languages
        "products",
        "MyActivity.json (in Takeout, choose JSON as the format of My Activity)",
    ),
}
_EXPORT_FILE = r"(?:.*/)?(?:({0})(?:[-_]?\d+)?\.json|({0})/[^/]+\.json)"
MAX_UNPACKED_BYTES = 2_000_000_000  # of one file; a zip file of some MB can claim any size
# What the standard library raises for a damaged zip file.
_DAMAGED = (zipfile.BadZipFile, EOFError, UnicodeDecodeError, zlib.error, lzma.LZMAError)
_DEPTH = 4  # folders of an unpacked export that its files may be in


class _NotAnExport(Exception):
    """The file is not an export; the message says why."""


def read_export(source: Path, provider: Provider) -> Iterator[Exported | UnreadableEntry]:
    """The entries of an export: the zip file, the unpacked folder, or one of its JSON files.

    Raises:
        InvalidParams: the file does not exist or is not an export of this provider.
    """
    projects: dict[str, str] = {}
    for name, kind, entries in _entries(source, provider):
        if provider == "gemini":
            for entry in entries[:1]:
                _check_provider(entry, provider, name)
            yield from gemini.conversations(entries, name)
            continue
        for number, entry in enumerate(entries, 1):
            if kind == "projects":
                yield from claude.project_documents(entry, f"{name}, project {number}", projects)
            elif kind == "memories":
                yield from claude.memory_documents(entry, f"{name}, memory {number}", projects)
            else:
                _check_provider(entry, provider, name)
                yield _read_one(provider, entry, f"{name}, conversation {number}")


def _check_provider(entry: Any, provider: Provider, name: str) -> None:
    for other, form in _FORMS.items():
        if other != provider and isinstance(entry, dict) and form.key in entry:
            raise InvalidParams(f"{name} is an export of {NAMES[other]}, not of {NAMES[provider]}")


def _read_one(provider: Provider, entry: Any, name: str) -> Conversation | UnreadableEntry:
    if not isinstance(entry, dict):
        return UnreadableEntry(name, "it is not a conversation")
    title = entry.get("title") or entry.get("name")
    if isinstance(title, str) and title.strip():
        name = f"{name} ({title_of(title) or title.strip()[:80]})"
    try:
        read = chatgpt.conversation if provider == "chatgpt" else claude.conversation
        return read(entry)
    except Malformed as error:
        return UnreadableEntry(name, str(error))


def _entries(source: Path, provider: Provider) -> Iterator[tuple[str, str, list[Any]]]:
    """The name, kind and entries of each file of the export.

    Conversations come first, then projects, then memories, which name projects.
    """
    export_file = re.compile(_EXPORT_FILE.format(_FORMS[provider].kinds), re.IGNORECASE)

    def kind_of(name: str) -> str:
        match = export_file.fullmatch(name)
        return (match[1] or match[2]).lower() if match else ""

    def ordered(names: Iterable[str]) -> list[str]:
        place_of = {kind: place for place, kind in enumerate(_FORMS[provider].kinds.split("|"))}
        return sorted(filter(kind_of, names), key=lambda n: (place_of.get(kind_of(n), 0), n))

    try:
        if source.is_dir():
            patterns = ["*/" * depth + "*.json" for depth in range(_DEPTH)]
            json_files = [file for pattern in patterns for file in source.glob(pattern)]
            files = {file.relative_to(source).as_posix(): file for file in json_files}
            contents = ((name, kind_of(name), files[name].read_bytes()) for name in ordered(files))
            yield from _parsed_files(contents, source.resolve().name, provider)
        elif zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                names = ordered(archive.namelist())
                contents = ((name, kind_of(name), _unpacked(archive, name)) for name in names)
                yield from _parsed_files(contents, source.name, provider)
        else:
            one = (source.name, kind_of(source.name), source.read_bytes())
            yield from _parsed_files(iter([one]), "", provider)
    except _NotAnExport as error:
        raise InvalidParams(
            f"{error}, so it is no export of {NAMES[provider]}. Name the file that you got from "
            "there, as it is."
        ) from error
    except FileNotFoundError as error:
        raise InvalidParams(f"{source.name} does not exist") from error
    except _DAMAGED as error:
        raise InvalidParams(
            f"{source.name} is damaged; get the export from {NAMES[provider]} again"
        ) from error
    except (OSError, RuntimeError) as error:
        raise InvalidParams(f"{source.name} cannot be read: {type(error).__name__}") from error


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
    size = archive.getinfo(name).file_size
    if size > MAX_UNPACKED_BYTES:
        raise InvalidParams(
            f"{name} would unpack to {size / 1e9:,.1f} GB; at most {MAX_UNPACKED_BYTES / 1e9:g} GB "
            "are read. If it is a real export, unpack it, divide the file and import the parts."
        )
    try:
        return archive.read(name)
    except OSError as error:
        if error.errno is None:  # of bzip2, which names damaged data so
            raise zipfile.BadZipFile(str(error)) from error
        raise


def _parsed_files(
    files: Iterator[tuple[str, str, bytes]], source: str, provider: Provider
) -> Iterator[tuple[str, str, list[Any]]]:
    is_empty = True
    for name, kind, data in files:
        is_empty = False
        try:
            entries = json_value(data)
        except ValueError as error:
            raise _NotAnExport(f"{name} is neither a zip file nor JSON") from error
        if isinstance(entries, dict):  # some tools wrap the list, or save one entry alone
            entries = entries.get("conversations", [entries])
        if not isinstance(entries, list):
            raise _NotAnExport(f"{name} is not a list of conversations")
        yield name, kind, entries
    if is_empty:
        raise _NotAnExport(f"{source} contains no {_FORMS[provider].expected}")
