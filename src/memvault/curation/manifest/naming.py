"""What a name in a manifest stands for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memvault.curation.manifest.concepts import Concept, concept_key
from memvault.curation.operations.merge import Known
from memvault.curation.targets import Target, names_of_memory, resolve
from memvault.model.memory import Memory
from memvault.reasoning.edges import EdgeIndex
from memvault.stores.graph import GraphStore


@dataclass(frozen=True, slots=True)
class Indexed:
    """The vault as it is indexed; ``known`` is what merging asks of it."""

    known: Known
    edges: EdgeIndex
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
