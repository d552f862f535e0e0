"""What a name in a manifest stands for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from memvault.curation.operations.merge import Known
from memvault.curation.targets import Target, names_of_memory, resolve
from memvault.model.graph import EdgeOrigin, GraphNode, NodeKind
from memvault.model.memory import Memory
from memvault.stores.graph import GraphStore
from memvault.stores.graph_view import GraphView
from memvault.text.words import name_key
from memvault.vault.ignore import MANIFEST

LEAST_NOTES = 2  # that name a thing which the entity pass alone has found


@dataclass(frozen=True, slots=True)
class Concept:
    """``ids`` are its notes', by path, or its nodes' where no note stands for it (``paths`` is
    empty then); ``naming`` counts the other notes that name it."""

    name: str
    kind: str
    ids: tuple[str, ...]
    paths: tuple[str, ...] = ()
    naming: int = 0

    @property
    def key(self) -> str:
        return concept_key(self.name)


def concept_key(name: str) -> str:
    """What two spellings of one name have in common."""
    name = " ".join(name.split())
    if name.startswith("#"):
        return "#" + name[1:].casefold()
    return name_key(name) or name.casefold()


def concepts_of(
    memories: Iterable[Memory], edges: GraphView, gone: Mapping[str, str | None] | None = None
) -> dict[str, Concept]:
    """The concepts by key.

    Args:
        gone: ids of what is to be left out, each with the id of what it is part of from now on.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    gone = gone or {}
    notes: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.id not in gone:
            notes[concept_key(memory.title)].append(memory)
    naming, sure = _naming(edges, gone)
    found = {key: _of_notes(some, naming) for key, some in notes.items()}
    for key, nodes in _without_note(edges, gone, naming).items():
        if key not in found and key != _OWN_KEY:
            concept = _of_nodes(nodes, naming)
            if concept.naming >= LEAST_NOTES or any(node in sure for node in concept.ids):
                found[key] = concept
    return found


_OWN_KEY = concept_key(PurePosixPath(MANIFEST).stem)  # notes may link to the manifest itself


def _naming(
    edges: GraphView, gone: Mapping[str, str | None]
) -> tuple[dict[str, set[str]], set[str]]:
    """By node, the notes that name it; and the nodes that a person's own words name."""
    naming: dict[str, set[str]] = defaultdict(set)
    sure: set[str] = set()
    for edge in edges.all():
        source = gone.get(edge.source, edge.source)
        target = gone.get(edge.target, edge.target)
        if source is None or target is None or source == target:
            continue
        naming[target].add(source)
        if edge.origin is not EdgeOrigin.ENTITY:
            sure.add(target)
    return naming, sure


def _without_note(
    edges: GraphView, gone: Mapping[str, str | None], naming: Mapping[str, set[str]]
) -> dict[str, list[GraphNode]]:
    found: dict[str, list[GraphNode]] = defaultdict(list)
    for node in edges.nodes():
        named = node.path is None and node.kind != NodeKind.DATE and node.id in naming
        if named and node.id not in gone:
            name = "#" + node.name if node.kind == NodeKind.TAG else node.name
            found[concept_key(name)].append(node)
    return found


def _of_notes(some: list[Memory], naming: Mapping[str, set[str]]) -> Concept:
    some = sorted(some, key=lambda memory: memory.path)
    ids = tuple(memory.id for memory in some)
    sources = {source for key in ids for source in naming.get(key, ())} - set(ids)
    paths = tuple(memory.path for memory in some)
    return Concept(_shown(some[0].title), some[0].type, ids, paths, len(sources))


def _of_nodes(some: list[GraphNode], naming: Mapping[str, set[str]]) -> Concept:
    some = sorted(some, key=lambda node: (-len(naming[node.id]), node.id))
    first = some[0]
    name = "#" + first.name if first.kind == NodeKind.TAG else first.name
    sources = {source for node in some for source in naming[node.id]}
    ids = tuple(sorted(node.id for node in some))
    return Concept(_shown(name), first.kind, ids, naming=len(sources))


def _shown(name: str) -> str:
    return " ".join(name.split())


@dataclass(frozen=True, slots=True)
class Indexed:
    """The vault as it is indexed; ``known`` is what merging asks of it."""

    known: Known
    edges: GraphView
    graph: GraphStore


class Naming:
    """The names of one state of the vault, for one reading.

    Args:
        now: its concepts, by key.
    """

    def __init__(self, indexed: Indexed, now: Mapping[str, Concept]) -> None:
        self._indexed = indexed
        self._now = now

    def targets(self, name: str) -> Sequence[Target]:
        """The notes of a concept, or the concept itself where no note stands for it; else the one
        thing of this alias, path or id.

        Raises:
            NoteNotFound, AmbiguousTarget: there is none, or there are several.
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        memories = self._indexed.known.memories
        key = concept_key(name)
        concept = self._now.get(key)
        if concept is None:
            called = self._called.get(key, ())
            if len(called) == 1:
                return [Target(called[0].title, called[0])]
            return [resolve(name, memories, self._indexed.graph)]
        if concept.paths:
            notes = (memories.by_id(each) for each in concept.ids)
            return [Target(note.title, note) for note in notes if note is not None]
        nodes = (self._indexed.edges.node(each) for each in concept.ids)
        return [Target(concept.name, nodes=tuple(node for node in nodes if node is not None))]

    @cached_property
    def _called(self) -> dict[str, list[Memory]]:
        """Notes by every name that they go by: looked through once, not for each directive."""
        found: dict[str, list[Memory]] = defaultdict(list)
        for memory in self._indexed.known.memories.all():
            for key in {concept_key(name) for name in names_of_memory(memory)}:
                found[key].append(memory)
        return found
