"""The graph: notes and the entities named in them, joined by typed edges.

A note about a thing is that thing's node (``kind`` is the note's type); a thing that is only
named (an unresolved link, a tag, a name found by the entity pipeline) is a node without a path.
Every edge starts at the node of the note whose text states it and keeps the sentence it stands
in, so a note's edges go and come with the note. Both directions are travelled.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID, uuid5

from memvault.model.edge_learning import UNLEARNT, EdgeLearning
from memvault.model.memory import NAMESPACE


class NodeKind(StrEnum):
    """Kinds memvault itself gives; a note's own ``type`` may be any other word."""

    NOTE = "note"
    PERSON = "person"
    PROJECT = "project"
    TAG = "tag"
    DECISION = "decision"
    ORGANISATION = "organisation"
    TOOL = "tool"
    EVENT = "event"
    PLACE = "place"
    DATE = "date"
    CONCEPT = "concept"


class EdgeOrigin(StrEnum):
    """How the edge was read."""

    LINK = "link"
    EMBED = "embed"
    FIELD = "field"  # inline field or named line with a name for the relation
    FRONTMATTER = "frontmatter"
    TAG = "tag"
    MENTION = "mention"  # named in the text, not linked
    ENTITY = "entity"  # found by the trained pipeline


@dataclass(frozen=True, slots=True)
class GraphNode:
    id: str
    kind: str
    name: str
    path: str | None = None  # the note that stands for it
    project: str | None = None
    date: str | None = None  # ISO date on which it happened


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """``relation`` is the name a person gave, else ``links to``, ``mentions``, ``tagged``, …

    The target is named in ``sentence`` at ``place``, by ``length`` characters; -1 and 0 where it
    is not. ``weight`` lies in [0, 1], or ValueError is raised. ``learned`` is not kept in the graph
    store: an edge read from it has learnt nothing, not even its note's field of knowledge.
    """

    source: str
    target: str
    relation: str
    origin: EdgeOrigin
    sentence: str
    line: int
    ordinal: int  # tells apart equal edges of one note
    weight: float = 1.0
    place: int = -1
    length: int = 0
    learned: EdgeLearning = field(default=UNLEARNT, hash=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1.0:
            raise ValueError(f"the weight of an edge lies in [0, 1], not at {self.weight}")

    @property
    def id(self) -> str:
        key = f"{self.source}|{self.target}|{self.relation}|{self.origin}|{self.ordinal}"
        return str(uuid5(NAMESPACE, "edge:" + key))

    def effective_weight(self) -> float:
        """The weight with which a walk follows the edge, in [0, 1]: ``weight`` modulated by the
        domain's neurotransmitters and the last reward (core, appendix A)."""
        return self.learned.modulated(self.weight)

    def apply_steering(self, reward: float) -> GraphEdge:
        """The edge with the reward of its last traversal, clamped to [-1, 1] and decayed."""
        return replace(self, learned=self.learned.steered(reward))

    def is_valuable_shortcut(self) -> bool:
        """Whether sleep replay made it and traversals have proved it."""
        return self.learned.is_valuable_shortcut()


@dataclass(frozen=True, slots=True)
class NoteGraph:
    """One note's share of the graph: its own node, what it names, and its edges.

    ``entities`` are the nodes without a note that the edges end at.
    """

    node: GraphNode
    edges: tuple[GraphEdge, ...] = ()
    entities: tuple[GraphNode, ...] = field(default=())


def is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
