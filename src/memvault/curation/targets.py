"""What the id, path or name in a call stands for: one note, or one concept without a note."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

from memvault.model.errors import AmbiguousTarget, NoteNotFound
from memvault.model.graph import GraphNode, NodeKind
from memvault.model.memory import Memory, id_of_entity
from memvault.stores.graph import GraphStore
from memvault.text.names import tag_levels
from memvault.text.words import composed, name_key
from memvault.vault.ignore import NOTE_SUFFIXES

# What a name without a note may be a node of. Tags have a road of their own, by ``#tag``, and a
# day is not forgotten with the note of that day.
_OF_THEIR_OWN = (NodeKind.NOTE, NodeKind.TAG, NodeKind.DATE)
NAMED_KINDS = tuple(kind for kind in NodeKind if kind not in _OF_THEIR_OWN)


class Memories(Protocol):
    """What is known of the notes that are indexed."""

    def by_id(self, memory_id: str) -> Memory | None: ...

    def by_path(self, path: str) -> Memory | None: ...

    def all(self) -> Iterable[Memory]: ...


@dataclass(frozen=True, slots=True)
class Target:
    """``note`` is there, or the ``nodes`` that the graph has of this one concept are."""

    name: str
    note: Memory | None = None
    nodes: tuple[GraphNode, ...] = ()

    @property
    def node_ids(self) -> tuple[str, ...]:
        return (self.note.id,) if self.note else tuple(node.id for node in self.nodes)

    @property
    def kind(self) -> str:
        return self.note.type if self.note else self.nodes[0].kind


def resolve(target: str, memories: Memories, graph: GraphStore) -> Target:
    """The one thing of this id, path or name; ``#name`` is a tag.

    Raises:
        NoteNotFound: nothing goes by it.
        AmbiguousTarget: several things do.
        StoreUnavailable, GraphQueryError: it is no note's, and the graph does not answer.
    """
    target = target.strip()
    note = memories.by_id(target) or _at_path(target, memories)
    if note is not None:
        return Target(note.title, note)
    node = graph.nodes([target]).get(target)
    if node is not None:
        return _concept(node, graph)
    found = _called(target, memories, graph)
    if not found:
        raise NoteNotFound(
            f"No memory or concept is called {target!r}: recall_memory gives ids and titles",
            target=target,
        )
    if len(found) > 1:
        raise AmbiguousTarget(
            f"{len(found)} things are called {target!r}: name one by its id or path",
            candidates=[_candidate(each) for each in found],
        )
    return found[0]


def concept_ids(names: Iterable[str]) -> frozenset[str]:
    """Every id under which the graph may hold things of these names that have no note."""
    spellings = {spelling for name in names for spelling in (name_key(name), composed(name))}
    return frozenset(
        id_of_entity(kind, spelling) for spelling in spellings if spelling for kind in NAMED_KINDS
    )


def names_of_memory(memory: Memory) -> tuple[str, ...]:
    """What links and sentences may call a note."""
    name = memory.path.rpartition("/")[2]
    return (name.rpartition(".")[0] or name, memory.title, *memory.aliases)


def nearest_names(name: str, memories: Memories, most: int = 3) -> list[str]:
    """Titles, aliases and file names that are spelled like this one, nearest first."""
    names = {
        key: each
        for memory in memories.all()
        for each in names_of_memory(memory)
        if (key := name_key(each))
    }
    return [names[key] for key in get_close_matches(name_key(name), names, most, cutoff=0.6)]


def _at_path(target: str, memories: Memories) -> Memory | None:
    path = target.replace("\\", "/").lstrip("/")
    with_suffix = (path, *(path + suffix for suffix in sorted(NOTE_SUFFIXES, reverse=True)))
    # A bare name is a title first: two notes in two folders may both be called so.
    paths = with_suffix if "/" in path else (path,)
    return next((memory for each in paths if (memory := memories.by_path(each))), None)


def _called(target: str, memories: Memories, graph: GraphStore) -> list[Target]:
    if target.startswith("#"):
        return _tag(target, graph)
    key = name_key(target)
    notes = [
        Target(memory.title, memory)
        for memory in memories.all()
        if key and any(name_key(name) == key for name in names_of_memory(memory))
    ]
    return notes or [*_named(target, graph), *_tag(target, graph)]


def _named(target: str, graph: GraphStore) -> list[Target]:
    nodes = graph.nodes(concept_ids([target]))
    own = tuple(node for _, node in sorted(nodes.items()) if node.path is None)
    return [Target(own[0].name, nodes=own)] if own else []


def _tag(target: str, graph: GraphStore) -> list[Target]:
    levels = tag_levels(target.removeprefix("#"))
    found = graph.nodes([levels[-1][0]]) if levels else {}
    return [Target("#" + node.name, nodes=(node,)) for node in found.values()]


def _concept(node: GraphNode, graph: GraphStore) -> Target:
    """All that goes by a node's name, for a person means one thing by it."""
    if node.kind == NodeKind.TAG:
        return Target("#" + node.name, nodes=(node,))
    others = graph.nodes(concept_ids([node.name])).values()
    nodes = {each.id: each for each in (node, *others) if each.path is None}
    return Target(node.name, nodes=tuple(nodes[key] for key in sorted(nodes)))


def _candidate(target: Target) -> dict[str, Any]:
    own = {"id": target.node_ids[0], "name": target.name, "kind": target.kind}
    return {**own, "path": target.note.path} if target.note else own
