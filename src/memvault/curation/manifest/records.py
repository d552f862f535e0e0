"""What each manifest held when it was written, kept in the vault so that it travels with it.

Without it nothing could tell a line that a person deleted from a thing that was not there yet. A
state is a file of its own, named by the hash of what it holds, which the manifest's last line
names. So a sync tool has nothing to merge, and a manifest is always compared with its own state.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from memvault.curation.manifest.concepts import Concept, concept_key
from memvault.model.errors import MemvaultError, NoteNotFound
from memvault.vault.files import Vault

FOLDER = ".memvault/manifest"
FORMAT = 1
KEPT = 5  # states; a manifest older than that can be written anew, but not read back


@dataclass(frozen=True, slots=True)
class Written:
    """A concept as it was when a manifest was written: the ids of its notes, or, without
    ``has_notes``, of its nodes."""

    name: str
    ids: tuple[str, ...]
    has_notes: bool

    @classmethod
    def of(cls, concept: Concept) -> Written:
        return cls(concept.name, concept.ids, bool(concept.paths))


def keep(vault: Vault, concepts: Iterable[Written], needed: Collection[str] = ()) -> str:
    """Keep this state, and give its name. Of others only the last are kept, and the ``needed``.

    Raises:
        DiskFull, StorageError: it is not kept.
    """
    data = _data(concepts)
    name = _name(data)
    vault.create_at(_path(name), data)
    _tidy(vault, {name, *needed})
    return name


def state_name(concepts: Iterable[Written]) -> str:
    """The name that this state would have if it were kept."""
    return _name(_data(concepts))


def kept(vault: Vault, name: str) -> dict[str, Written] | None:
    """The state of this name, by the keys of its concepts; None if it is not there or was written
    by a newer memvault."""
    if not name.isalnum():
        return None
    try:
        found: Any = json.loads(vault.read(_path(name)))
        if found["format"] != FORMAT:
            return None
        listed = [
            Written(str(n), tuple(map(str, ids)), bool(notes))
            for n, ids, notes in found["concepts"]
        ]
    except (NoteNotFound, ValueError, KeyError, TypeError):
        return None
    return {concept_key(each.name): each for each in listed}


def withheld(before: Mapping[str, Written] | None, listed: Collection[str]) -> dict[str, Written]:
    """What a person deleted from a manifest of this state whose lines have these keys."""
    return {key: each for key, each in (before or {}).items() if key not in listed}


def _tidy(vault: Vault, needed: Collection[str]) -> None:
    folder = vault.root / FOLDER
    files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for file in files[KEPT:]:
        if file.stem not in needed:
            try:
                vault.delete(_path(file.stem))
            except MemvaultError:
                continue  # it is tried again with the next writing


def _data(concepts: Iterable[Written]) -> bytes:
    listed = sorted([each.name, list(each.ids), each.has_notes] for each in concepts)
    said = json.dumps({"format": FORMAT, "concepts": listed}, ensure_ascii=False)
    return f"{said}\n".encode()


def _name(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _path(name: str) -> str:
    return f"{FOLDER}/{name}.json"
