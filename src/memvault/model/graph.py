"""Nodes and typed edges of the graph, the learning of edges, and standard relation names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from itertools import dropwhile
from operator import attrgetter
from uuid import UUID, uuid5

from pydantic import AwareDatetime, BaseModel, Field, JsonValue

from memvault.model.memory import NAMESPACE
from memvault.model.note import Domain, NeurotransmitterWeights, Vector

STEERING_DECAY = 0.9  # temporal credit assignment
REWARD_SHARE = 0.2  # share of the weight that a full reward adds or subtracts
SHORTCUT_TRAVERSALS = 5  # a valuable shortcut was traversed more often than this
SHORTCUT_REWARD = 0.3  # and its reward is greater than this


class EdgeLearning(BaseModel, frozen=True):
    """What an edge has learned from being traversed (core appendix A, *GraphEdge*).

    An edge that was never traversed has the value of its domain in `INITIAL_LEARNING`.
    ``neurotransmitter_weights`` defaults to those of the domain. ``steering_reward`` lies in
    [-1, 1], ``confidence`` in [0, 1]. Unknown times are None.
    """

    domain: Domain = Domain.GENERAL
    neurotransmitter_weights: NeurotransmitterWeights = Field(
        default_factory=lambda given: NeurotransmitterWeights.for_domain(given["domain"])
    )
    created_at: AwareDatetime | None = None
    last_traversed: AwareDatetime | None = None
    traversal_count: int = Field(0, ge=0)
    is_amortized_shortcut: bool = False
    steering_reward: float = Field(0.0, ge=-1.0, le=1.0)
    confidence: float = Field(1.0, ge=0.0, le=1.0)
    metadata: dict[str, JsonValue] = Field(default_factory=dict)

    def steered(self, reward: float) -> EdgeLearning:
        """A copy with the reward of a traversal, clamped to [-1, 1], then decayed."""
        change = min(1.0, max(-1.0, reward)) * STEERING_DECAY
        return self.model_copy(update={"steering_reward": change})

    def modulated(self, weight: float) -> float:
        """The effective weight of an edge of this weight, in [0, 1]."""
        balance = 0.5 + 0.5 * self.neurotransmitter_weights.net_activation()
        acting = weight * balance * (1.0 + REWARD_SHARE * self.steering_reward)
        return min(1.0, max(0.0, acting))

    def is_valuable_shortcut(self) -> bool:
        return (
            self.is_amortized_shortcut
            and self.traversal_count > SHORTCUT_TRAVERSALS
            and self.steering_reward > SHORTCUT_REWARD
        )


NOT_LEARNED = EdgeLearning()
INITIAL_LEARNING = {
    domain: NOT_LEARNED if domain is NOT_LEARNED.domain else EdgeLearning(domain=domain)
    for domain in Domain
}
"""The initial learning state per domain, shared by all edges."""


class NodeKind(StrEnum):
    """Kinds of nodes that memvault assigns; a note's own ``type`` may be any other word."""

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
    """Where in a note an edge comes from."""

    LINK = "link"
    EMBED = "embed"
    FIELD = "field"  # inline field or labelled line, which names the relation
    FRONTMATTER = "frontmatter"
    TAG = "tag"
    MENTION = "mention"  # named in the text, not linked
    ENTITY = "entity"  # found by the trained pipeline


STATED = frozenset(
    (EdgeOrigin.LINK, EdgeOrigin.EMBED, EdgeOrigin.FIELD, EdgeOrigin.FRONTMATTER)
)  # a person wrote these edges as links or relations
NAMED_ORIGINS = frozenset((EdgeOrigin.FIELD, EdgeOrigin.FRONTMATTER))
"""Of edges whose relation a person named."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    id: str
    kind: str
    name: str
    path: str | None = None  # of its note, if it has one
    project: str | None = None
    date: str | None = None  # ISO date of the event


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A typed, weighted edge from a note to a node.

    Attributes:
        relation: the name that a person gave, else ``links to``, ``mentions``, ``tagged``, …
        sentence, line: the sentence of the source note that states the edge, and its line.
        ordinal: distinguishes equal edges of one note.
        weight: in [0, 1].
        place, length: position of the target's name in ``sentence``, in characters; -1 and 0 if
            the sentence does not name it.
        learned: not kept in the graph store; an edge read from the store has the default.

    Raises:
        ValueError: the weight is outside [0, 1].
    """

    source: str
    target: str
    relation: str
    origin: EdgeOrigin
    sentence: str
    line: int
    ordinal: int
    weight: float = 1.0
    place: int = -1
    length: int = 0
    learned: EdgeLearning = field(default=NOT_LEARNED, hash=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1.0:
            raise ValueError(f"the weight of an edge must lie in [0, 1], but is {self.weight}")

    @property
    def id(self) -> str:
        key = f"{self.source}|{self.target}|{self.relation}|{self.origin}|{self.ordinal}"
        return str(uuid5(NAMESPACE, "edge:" + key))

    def effective_weight(self) -> float:
        """``weight`` modulated by the domain's neurotransmitters and the last reward, in [0, 1]
        (core, appendix A)."""
        return self.learned.modulated(self.weight)

    def apply_steering(self, reward: float) -> GraphEdge:
        """A copy with the reward of its last traversal, clamped to [-1, 1] and decayed."""
        return replace(self, learned=self.learned.steered(reward))

    def is_valuable_shortcut(self) -> bool:
        """Whether sleep replay created the edge and its traversals were rewarded."""
        return self.learned.is_valuable_shortcut()


# Orders edges note by note and line by line, and always in the same order.
by_position = attrgetter("source", "line", "ordinal", "target", "relation", "origin")


@dataclass(frozen=True, slots=True)
class NoteGraph:
    """The part of the graph that one note states: its node, its edges and their targets.

    ``entities`` are the target nodes that have no note.
    """

    node: GraphNode
    edges: tuple[GraphEdge, ...] = ()
    entities: tuple[GraphNode, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class NotesIndexed:
    """The indexer's latest writes to the stores, so that listeners need not read them back.

    Attributes:
        paths: of the notes that were written, linked again or removed.
        graphs: the nodes and edges that were written.
        vectors: of the notes whose text was indexed, by note id; None for a note without text.
        removed: ids of the notes and entities that were removed first.
    """

    paths: frozenset[str] = frozenset()
    graphs: tuple[NoteGraph, ...] = ()
    vectors: Mapping[str, Vector | None] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.paths or self.graphs or self.removed)


def is_uuid(text: str) -> bool:
    return bool(uuid_of(text))


def uuid_of(text: str) -> str:
    """The UUID that a text is, in any spelling, in lower case with hyphens; "" if it is none."""
    try:
        return str(UUID(text))
    except ValueError:
        return ""


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


# The ends of the edge contradict each other.
OPPOSING = _names(
    "contradicts, contradicted by, conflicts, conflicts with, disagrees with, disputes,"
    " disputed by, refutes, refuted by, opposes"
)
# The start of the edge outdates its end.
SUPERSEDING = _names("supersedes, replaces, invalidates, obsoletes, retracts")
# The end of the edge outdates its start.
SUPERSEDED = _names("superseded by, replaced by, invalidated by, obsoleted by, retracted by")

# The start of the edge brings about, allows or hinders its end.
CAUSING = _names(
    "causes, caused, leads to, led to, results in, resulted in, enables, enabled, triggers,"
    " triggered, produces, blocks, blocking, prevents, prevented, affects, influences, influenced,"
    " drives, contributes to, contributed to, motivates, gives rise to, gave rise to, brings about,"
    " brought about, required for, required by, prerequisite of, prerequisite for, implies"
)
# The same nouns as fields: ``effect:: [[X]]``.
EFFECT_FIELDS = _names(
    "effect, effects, consequence, consequences, outcome, outcomes, result, results"
)
# The end of the edge brings about, allows or hinders its start.
CAUSED = _names(
    "caused by, because of, due to, owing to, thanks to, result of, results from, resulted from,"
    " consequence of, outcome of, follows from, stems from, arises from, depends on, dependent on,"
    " depended on, relies on, requires, blocked by, held up by, enabled by, triggered by,"
    " prevented by, driven by, motivated by, influenced by, affected by, produced by,"
    " as a result of, in response to"
)
CAUSE_FIELDS = _names(
    "cause, root cause, reason, reasons, because, trigger, prerequisite, prerequisites,"
    " dependency, dependencies, blocker, blockers"
)

# Causal names by which the start makes the end less likely.
HINDERING = _names("blocks, blocking, prevents, prevented")
# Causal names by which the end makes the start less likely.
HINDERED = _names("blocked by, held up by, prevented by, blocker, blockers")
# Causal names by which the start is needed for the end.
NEEDED = _names("enables, enabled, required for, required by, prerequisite of, prerequisite for")
# Causal names by which the end is needed for the start.
NEEDING = _names(
    "depends on, dependent on, depended on, relies on, requires, enabled by, prerequisite,"
    " prerequisites, dependency, dependencies"
)

# The start is evidence for the end.
SUPPORTING = _names("supports, confirms, corroborates, proves, backs, evidence for, argues for")
# The end is evidence for the start.
SUPPORTED = _names("supported by, confirmed by, corroborated by, proven by, backed by, evidence")

# The end of the edge is more general than its start.
BROADER = _names(
    "part of, is part of, up, parent, parents, is a, is an, is a kind of, kind of, type of,"
    " is a type of, instance of, is an instance of, example of, subclass of, broader, belongs to,"
    " member of, category, categories, project, child of, subtopic of, series, moc, index, area"
)
# The end of the edge is more special than its start.
NARROWER = _names(
    "has part, has parts, parts, contains, includes, comprises, consists of, down, child, children,"
    " narrower, subtopic, subtopics, examples, parent of, has member, members, covers"
)

# An entity has one value of these at a time, so two notes that give different ones conflict.
SINGLE_VALUED = _names(
    "lead, leader, led by, owner, owned by, maintainer, manager, assignee, responsible, chair,"
    " deadline, due, due date, start date, end date, launch date, release date, founded, birthday,"
    " born, price, cost, budget, amount, salary, rent, quantity, version, status, priority,"
    " employer, works at, works for, location, address, headquarters, capital, lives in, email,"
    " phone, spouse, doctor, landlord, language, licence, license, currency, decision"
)
# The end is the subject of the note's statements, if that is not the note itself.
ABOUT = _names("about, subject, regarding, concerns, concerning")


# Relations that running text may state directly before a name. Single nouns ("index", "due") are
# left out: they state a relation only as labels.
_IN_TEXT = (
    frozenset(
        name
        for names in (BROADER, NARROWER, SINGLE_VALUED, SUPPORTED, ABOUT)
        for name in names
        if " " in name
    )
    | OPPOSING
    | SUPERSEDING
    | SUPERSEDED
    | CAUSING
    | CAUSED
    | SUPPORTING
)
_MAX_WORDS = max(len(name.split()) for name in _IN_TEXT)
# Words around a verb that do not change the relation that it states.
_AROUND_VERBS = """
is was are were has have had been be being it this that which and also then later mainly partly
largely directly indirectly often usually always probably clearly
"""
AROUND_VERBS = frozenset(_AROUND_VERBS.split())
_PARTICIPLE = re.compile(r"[^\W\d_]+ by|[^\W\d_]{2,}ed (?:in|at|of|to|with|for|from|on)")
_NEGATION = re.compile(r"\b(?:not|never|no|nor|neither|without|hardly|cannot)\b|n['’]t\b")


@lru_cache(maxsize=10_000)
def stated_relation(words: str) -> str:
    """The relation that the words in front of a name state in running text; empty if none.

    It is a standard relation ("is part of", "caused by", "supersedes") at the end of the words,
    or a participle with a preposition ("was proposed by", "based in"). A single verb counts only
    on its own: "replaces [[X]]", but not "building blocks [[X]]".
    """
    name = relation_name(words)
    all_words = [] if _NEGATION.search(name) else name.split()
    parts = list(dropwhile(AROUND_VERBS.__contains__, all_words))
    for first in range(max(0, len(parts) - _MAX_WORDS), len(parts)):
        name = " ".join(parts[first:])
        if name in _IN_TEXT and (first == 0 or " " in name):
            return name
    name = " ".join(parts)
    return name if _PARTICIPLE.fullmatch(name) else ""


@lru_cache(maxsize=10_000)
def relation_name(relation: str) -> str:
    """The normalised name of a relation: ``superseded by`` for ``Superseded_by``."""
    return " ".join(relation.replace("_", " ").replace("-", " ").casefold().split())


@lru_cache(maxsize=4_096)
def contradicts(relation: str) -> bool:
    """Whether an edge of this name says that its two ends cannot both hold."""
    name = relation_name(relation)
    return name in OPPOSING or name in SUPERSEDING or name in SUPERSEDED
