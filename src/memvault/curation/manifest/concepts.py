"""The concepts of a vault, and the list of concepts that each manifest was written with.

The lists are kept in the vault, so that they travel with it. Without them, a line that a person
deleted would look like a concept that did not exist yet. Each list is a file of its own, named by
the hash of its content, which the manifest's last line gives. So a sync tool has nothing to merge,
and a manifest is always compared with its own list.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any

from memvault.curation.indexed_changes import IndexedVault
from memvault.curation.targets import Target, names_of_memory, resolve
from memvault.model.errors import MemvaultError, NoteNotFound
from memvault.model.graph import EdgeOrigin, GraphNode, NodeKind
from memvault.model.json_text import json_value
from memvault.model.memory import Memory
from memvault.model.moments import is_day
from memvault.stores.graph_view import GraphView
from memvault.text.words import name_key
from memvault.vault.files import Vault
from memvault.vault.ignore import MANIFEST

MIN_NOTES = 2  # that must name an entity which only the entity pass found


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of the vault.

    Attributes:
        ids: the ids of its notes, by path; of its nodes if it has no note (no ``paths``).
        naming: number of other notes that name it.
    """

    name: str
    kind: str
    ids: tuple[str, ...]
    paths: tuple[str, ...] = ()
    naming: int = 0

    @property
    def key(self) -> str:
        return concept_key(self.name)

    @property
    def has_notes(self) -> bool:
        return bool(self.paths)


def concept_key(name: str) -> str:
    """The key that all spellings of one name share."""
    name = " ".join(name.split())
    if name.startswith("#"):
        return "#" + name[1:].casefold()
    return name_key(name) or name.casefold()


def concepts_of(
    memories: Iterable[Memory], edges: GraphView, removed: Mapping[str, str | None] | None = None
) -> dict[str, Concept]:
    """The concepts of a vault, by key.

    Args:
        removed: ids to leave out, each with the id into which it was merged, or None.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    removed = removed or {}
    notes: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.id not in removed:
            notes[concept_key(memory.title)].append(memory)
    naming, named_on_purpose = _naming(edges, removed)
    concepts = {key: _of_notes(same_key, naming) for key, same_key in notes.items()}
    for key, nodes in _without_note(edges, removed, naming).items():
        if key not in concepts and key != _OWN_KEY:
            concept = _of_nodes(nodes, naming)
            if concept.naming >= MIN_NOTES or any(node in named_on_purpose for node in concept.ids):
                concepts[key] = concept
    return concepts


_OWN_KEY = concept_key(PurePosixPath(MANIFEST).stem)  # notes may link to the manifest itself


def _naming(
    edges: GraphView, removed: Mapping[str, str | None]
) -> tuple[dict[str, set[str]], set[str]]:
    """The notes that name each node, and the nodes that are linked or named in a property."""
    naming: dict[str, set[str]] = defaultdict(set)
    named_on_purpose: set[str] = set()
    for edge in edges.all():
        source = removed.get(edge.source, edge.source)
        target = removed.get(edge.target, edge.target)
        if source is None or target is None or source == target:
            continue
        naming[target].add(source)
        if edge.origin is not EdgeOrigin.ENTITY:
            named_on_purpose.add(target)
    return naming, named_on_purpose


def _without_note(
    edges: GraphView, removed: Mapping[str, str | None], naming: Mapping[str, set[str]]
) -> dict[str, list[GraphNode]]:
    nodes_by_key: dict[str, list[GraphNode]] = defaultdict(list)
    for node in edges.nodes():
        if node.path is not None or node.kind == NodeKind.DATE or is_day(node.name):
            continue
        if node.id in naming and node.id not in removed:
            name = "#" + node.name if node.kind == NodeKind.TAG else node.name
            nodes_by_key[concept_key(name)].append(node)
    return nodes_by_key


def _of_notes(notes: list[Memory], naming: Mapping[str, set[str]]) -> Concept:
    notes = sorted(notes, key=lambda memory: memory.path)
    ids = tuple(memory.id for memory in notes)
    sources = {source for key in ids for source in naming.get(key, ())} - set(ids)
    paths = tuple(memory.path for memory in notes)
    return Concept(_shown(notes[0].title), notes[0].type, ids, paths, len(sources))


def _of_nodes(nodes: list[GraphNode], naming: Mapping[str, set[str]]) -> Concept:
    nodes = sorted(nodes, key=lambda node: (-len(naming[node.id]), node.id))
    first = nodes[0]
    name = "#" + first.name if first.kind == NodeKind.TAG else first.name
    sources = {source for node in nodes for source in naming[node.id]}
    ids = tuple(sorted(node.id for node in nodes))
    return Concept(_shown(name), first.kind, ids, naming=len(sources))


def _shown(name: str) -> str:
    return " ".join(name.split())


class ConceptResolver:
    """Resolves the names in one manifest.

    Args:
        concepts: the current concepts, by key.
    """

    def __init__(self, indexed: IndexedVault, concepts: Mapping[str, Concept]) -> None:
        self._indexed = indexed
        self._concepts = concepts

    def targets(self, name: str) -> Sequence[Target]:
        """The notes of a concept, or the concept itself if it has no note.

        If no concept has this name, the note or concept with this alias, path or id.

        Raises:
            NoteNotFound, AmbiguousTarget: there is none, or there are several.
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        memories = self._indexed.notes.memories
        key = concept_key(name)
        concept = self._concepts.get(key)
        if concept is None:
            same_named = self._notes_by_name.get(key, ())
            if len(same_named) == 1:
                return [Target(same_named[0].title, same_named[0])]
            return [resolve(name, memories, self._indexed.graph)]
        if concept.paths:
            notes = (memories.by_id(node_id) for node_id in concept.ids)
            return [Target(note.title, note) for note in notes if note is not None]
        nodes = (self._indexed.edges.node(node_id) for node_id in concept.ids)
        return [Target(concept.name, nodes=tuple(node for node in nodes if node is not None))]

    @cached_property
    def _notes_by_name(self) -> dict[str, list[Memory]]:
        """The notes by each of their names; cached, since many directives need it."""
        notes_by_name: dict[str, list[Memory]] = defaultdict(list)
        for memory in self._indexed.notes.memories.all():
            for key in {concept_key(name) for name in names_of_memory(memory)}:
                notes_by_name[key].append(memory)
        return notes_by_name


FOLDER = ".memvault/manifest"
FORMAT = 1
MAX_LISTS = 5  # lists that are kept; an older manifest can be rewritten, but not applied


@dataclass(frozen=True, slots=True)
class WrittenConcept:
    """A concept as it was when a manifest was written.

    ``ids`` are those of its notes, or, without ``has_notes``, of its nodes.
    """

    name: str
    ids: tuple[str, ...]
    has_notes: bool


def save_concepts(
    vault: Vault, concepts: Iterable[Concept | WrittenConcept], needed: Collection[str]
) -> str:
    """Save this list and return its name; of older lists keep the last few and the ``needed``.

    Raises:
        DiskFull, StorageError: it is not saved.
    """
    data = _data(concepts)
    name = _name(data)
    vault.create_at(_path(name), data)
    _tidy(vault, {name, *needed})
    return name


def state_name(concepts: Iterable[Concept | WrittenConcept]) -> str:
    """The name that this list would have if it were saved."""
    return _name(_data(concepts))


def load_concepts(vault: Vault, name: str) -> dict[str, WrittenConcept] | None:
    """The list with this name, by concept key.

    None if it is missing, or if a newer memvault wrote it.
    """
    if not name.isalnum():
        return None
    try:
        state: Any = json_value(vault.read(_path(name)))
        if state["format"] != FORMAT:
            return None
        listed = [
            WrittenConcept(str(n), tuple(map(str, ids)), bool(notes))
            for n, ids, notes in state["concepts"]
        ]
    except (NoteNotFound, ValueError, KeyError, TypeError):
        return None
    return {concept_key(concept.name): concept for concept in listed}


def withheld_concepts(
    before: Mapping[str, WrittenConcept] | None, listed: Collection[str]
) -> dict[str, WrittenConcept]:
    """The concepts whose lines a person deleted from a manifest that now lists these keys."""
    return {key: concept for key, concept in (before or {}).items() if key not in listed}


def _tidy(vault: Vault, needed: Collection[str]) -> None:
    folder = vault.root / FOLDER
    files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for file in files[MAX_LISTS:]:
        if file.stem not in needed:
            try:
                vault.delete(_path(file.stem))
            except MemvaultError:
                continue  # tried again with the next manifest


def _data(concepts: Iterable[Concept | WrittenConcept]) -> bytes:
    listed = sorted([concept.name, list(concept.ids), concept.has_notes] for concept in concepts)
    content = json.dumps({"format": FORMAT, "concepts": listed}, ensure_ascii=False)
    return f"{content}\n".encode()


def _name(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _path(name: str) -> str:
    return f"{FOLDER}/{name}.json"
