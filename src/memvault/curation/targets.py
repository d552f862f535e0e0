"""Resolves an id, path, file name, title or alias to one note, or to one concept without a note."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from memvault.model.errors import AmbiguousTarget, NoteNotFound
from memvault.model.graph import GraphNode, NodeKind
from memvault.model.memory import Lifecycle, Memory, id_of_entity
from memvault.model.unicode_forms import without_invisible
from memvault.search.scope import MemoryLookup
from memvault.stores.graph import GraphStore
from memvault.text.names import tag_levels
from memvault.text.words import composed, name_key, without_accents
from memvault.vault.ignore import MANIFEST, NOTE_SUFFIXES, IgnoreRules
from memvault.vault.vault_paths import NOTE_SUFFIX

MAX_NEAREST = 3
MIN_SIMILARITY = 0.6  # of a name to the one looked for (difflib)
MAX_CANDIDATES = 10  # that an error lists
# Kinds that a plain name cannot mean: tags are named ``#tag``, and forgetting the note of a day
# does not forget the day.
_OF_THEIR_OWN = (NodeKind.NOTE, NodeKind.TAG, NodeKind.DATE)
NAMED_KINDS = tuple(kind for kind in NodeKind if kind not in _OF_THEIR_OWN)


@dataclass(frozen=True, slots=True)
class Target:
    """A ``note``, or the graph ``nodes`` of one concept without a note."""

    name: str
    note: Memory | None = None
    nodes: tuple[GraphNode, ...] = ()

    @property
    def node_ids(self) -> tuple[str, ...]:
        return (self.note.id,) if self.note else tuple(node.id for node in self.nodes)

    @property
    def kind(self) -> str:
        return self.note.type if self.note else self.nodes[0].kind


def resolve(target: str, memories: MemoryLookup, graph: GraphStore) -> Target:
    """The note or concept with this id, path, file name, title or alias; ``#name`` is a tag.

    Raises:
        NoteNotFound: nothing matches; the message offers the nearest names.
        AmbiguousTarget: several match.
        StoreUnavailable, GraphQueryError: no note matches, and the graph does not answer.
    """
    target = target.strip()
    note = memories.by_id(target) or _at_path(target, memories)
    if note is not None:
        return Target(note.title, note)
    node = graph.nodes([target]).get(target)
    if node is not None:
        return _concept(node, graph)
    candidates = _matching(target, memories, graph)
    return _only(candidates, target, memories)


def resolve_note(target: str, memories: MemoryLookup) -> Memory:
    """The note with this id, path, file name, title or alias; the graph is not queried.

    Raises NoteNotFound, AmbiguousTarget: see `resolve`.
    """
    target = target.strip()
    note = memories.by_id(target) or _at_path(target, memories)
    if note is None:
        note = _only(_notes_named(target, memories), target, memories).note
    assert note is not None
    return note


def raise_if_excluded(target: str, rules: IgnoreRules) -> None:
    """Raise NoteNotFound, with the reason, if a rule of the vault excludes the path ``target``.

    A folder's path ends in a slash, a note's may lack its suffix. The rules alone decide: the
    message does not say whether there is such a file.
    """
    path = target.strip().replace("\\", "/").lstrip("/")
    if not path or ".." in path.split("/"):
        return
    for candidate in (path,) if path.endswith("/") else (path, path + NOTE_SUFFIX):
        if reason := rules.why_excluded(candidate):
            raise NoteNotFound(f"{candidate} is not indexed: {reason}", target=target)


def _only(candidates: list[Target], target: str, memories: MemoryLookup) -> Target:
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        choices = ", ".join(
            candidate.note.path if candidate.note else candidate.node_ids[0]
            for candidate in candidates[:MAX_CANDIDATES]
        )
        raise AmbiguousTarget(
            f"{len(candidates)} memories or concepts are named {target!r}; give the path or id of "
            f"one: {choices}{', …' * (len(candidates) > MAX_CANDIDATES)}",
            candidates=[_candidate(candidate) for candidate in candidates],
        )
    if target.lstrip("/") == MANIFEST:
        raise NoteNotFound(
            f"{MANIFEST} is not a memory: `memvault manifest` writes it, the person edits it, and "
            "`memvault manifest --apply` applies their edits; to change a note, name that note",
            target=target,
        )
    file_name = target.replace("\\", "/").rpartition("/")[2]
    elsewhere = [found.note.path for found in _notes_named(file_name, memories) if found.note]
    nearest = nearest_names(target, memories)
    hint = "search for what it says"
    if elsewhere:
        hint = f"a note of this name is at {', '.join(elsewhere[:MAX_NEAREST])}"
    elif nearest:
        hint = f"the nearest names are {', '.join(nearest)}"
    raise NoteNotFound(
        f"No memory or concept has the id, path or name {target!r}; {hint}",
        target=target,
        nearest=nearest,
    )


def concept_ids(names: Iterable[str]) -> frozenset[str]:
    """Every id that the graph may use for concepts with these names and without a note."""
    spellings = {spelling for name in names for spelling in (name_key(name), composed(name))}
    return frozenset(
        id_of_entity(kind, spelling) for spelling in spellings if spelling for kind in NAMED_KINDS
    )


def names_of_memory(memory: Memory) -> tuple[str, ...]:
    """The names by which links and sentences may mention a note."""
    name = memory.path.rpartition("/")[2]
    return (name.rpartition(".")[0] or name, memory.title, *memory.aliases)


def namesakes(memory: Memory, memories: MemoryLookup) -> list[Memory]:
    """The other notes with this note's title that are permanent, or in its folder or project."""
    key, folder = name_key(memory.title), memory.path.rpartition("/")[0]
    close = (
        other
        for other in memories.all()
        if other.lifecycle is Lifecycle.PERMANENT
        or other.path.rpartition("/")[0] == folder
        or (memory.project and other.project == memory.project)
    )
    return [
        other
        for other in close
        if other.id != memory.id and key in map(name_key, names_of_memory(other))
    ]


def nearest_names(name: str, memories: MemoryLookup) -> list[str]:
    """The titles, aliases and file names most like this name.

    First those that contain it, shortest first, then similar spellings, nearest first.
    """
    names = {
        key: spelled
        for memory in memories.all()
        for spelled in names_of_memory(memory)
        if (key := name_key(spelled))
    }
    wanted_key = name_key(name)
    containing = [key for key in names if wanted_key and f" {wanted_key} " in f" {key} "]
    similar = get_close_matches(wanted_key, names, MAX_NEAREST, MIN_SIMILARITY)
    keys = dict.fromkeys([*sorted(containing, key=lambda key: (len(key), key)), *similar])
    return [names[key] for key in keys][:MAX_NEAREST]


def _at_path(target: str, memories: MemoryLookup) -> Memory | None:
    paths = _paths_named(target)
    return next((memory for candidate in paths if (memory := memories.by_path(candidate))), None)


def _paths_named(target: str) -> tuple[str, ...]:
    path = target.replace("\\", "/").lstrip("/")
    with_suffix = (path, *(path + suffix for suffix in sorted(NOTE_SUFFIXES, reverse=True)))
    # A bare name is tried as a title first, since several folders may have a note of that name.
    return with_suffix if "/" in path else (path,)


def _matching(target: str, memories: MemoryLookup, graph: GraphStore) -> list[Target]:
    if target.startswith("#"):
        return _tag(target, graph)
    notes = _notes_named(target, memories)
    return notes or [*_concept_named(target, graph), *_tag(target, graph)]


def _notes_named(target: str, memories: MemoryLookup) -> list[Target]:
    stem, _, suffix = target.rpartition(".")
    key = name_key(stem if f".{suffix}" in NOTE_SUFFIXES else target)
    if not key:
        return []
    names = [(note, {name_key(name) for name in names_of_memory(note)}) for note in memories.all()]
    notes = [note for note, keys in names if key in keys]
    if not notes:  # as answers show it, and as people type "Álgebra linear": "algebra linear"
        typed, paths = _as_typed(key), _paths_named(target)
        notes = [
            note
            for note, keys in names
            if typed in map(_as_typed, keys) or without_invisible(note.path) in paths
        ]
    return [Target(note.title, note) for note in notes]


def _as_typed(key: str) -> str:
    return without_accents(without_invisible(key))


def _concept_named(target: str, graph: GraphStore) -> list[Target]:
    nodes = graph.nodes(concept_ids([target]))
    same_named = tuple(node for _, node in sorted(nodes.items()) if node.path is None)
    return [Target(same_named[0].name, nodes=same_named)] if same_named else []


def _tag(target: str, graph: GraphStore) -> list[Target]:
    levels = tag_levels(target.removeprefix("#"))
    tags = graph.nodes([levels[-1][0]]) if levels else {}
    return [Target("#" + node.name, nodes=(node,)) for node in tags.values()]


def _concept(node: GraphNode, graph: GraphStore) -> Target:
    """The target with all nodes of this node's name: to a person they are one concept."""
    if node.kind == NodeKind.TAG:
        return Target("#" + node.name, nodes=(node,))
    same_named = graph.nodes(concept_ids([node.name])).values()
    nodes = {same_node.id: same_node for same_node in (node, *same_named) if same_node.path is None}
    return Target(node.name, nodes=tuple(nodes[key] for key in sorted(nodes)))


def _candidate(target: Target) -> dict[str, Any]:
    fields = {"id": target.node_ids[0], "name": target.name, "kind": target.kind}
    return {**fields, "path": target.note.path} if target.note else fields
