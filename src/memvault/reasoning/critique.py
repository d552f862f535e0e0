"""Finds memories that contradict a piece of reasoning (graph-tools, critique_context).

No language model is used. The reasoning is split into sentences, and each is compared with the
sentences of the memories found for it: word by word (`reasoning.alignment`), by the claims that
both state (`verification`), and by causes and replaced practices. A sentence that some memory
supports is not contradicted by another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.note import ChunkSize, LineRange
from memvault.model.search import Hit, Scope
from memvault.reasoning.alignment import Alignment, Embed, Relation, align
from memvault.reasoning.wording import LIGHT, TOKEN, Statement
from memvault.search.context.outline import Outlines
from memvault.search.context.outline import Statement as Told
from memvault.search.relations.values import sentences
from memvault.stores.graph_view import GraphView
from memvault.stores.vectors import VectorStore
from memvault.verification.agreement import Verdict, compare
from memvault.verification.amounts import Amount, AmountKind
from memvault.verification.claim_patterns import opposed, tool_usages_in
from memvault.verification.claims import Claim, Source
from memvault.verification.clause import (
    DENIED,
    HEDGED,
    NEGATED,
    FindNames,
    readable,
    stems_of,
)
from memvault.verification.reading import claims_of
from memvault.verification.verifier import Verifier, source_of

MOST_SENTENCES = 12  # of the reasoning
FOUND_FOR_EACH = 8  # memories per sentence
MOST_CHARS = 200  # of a snippet
NEW_SENTENCES, NEW_CHARS = 3, 600  # of a new text that are compared, and of these at most
MOST_CONTRADICTED = 3  # memories that are named for it
MOST_RELATED, RELATED = 3, 0.3  # memories on its matter that are named, and their least relevance
SURE = 0.75  # from here on the reasoning is to be revised rather than the person asked
_BY_ITS_NOTE = 0.8  # a sentence that does not name its subject
_RAISES = re.compile(
    r"\b(?:causes?|caused|leads? to|led to|results? in|resulted in|increases?|increased|raises?|"
    r"raised|triggers?|triggered|brings? about|worsens?|worsened|produces?)\b",
    re.IGNORECASE,
)
_LOWERS = re.compile(
    r"\b(?:prevents?|prevented|stops?|stopped|avoids?|avoided|reduces?|reduced|lowers?|lowered|"
    r"hinders?|protects? against|cures?|eliminates?|eliminated|rules? out)\b",
    re.IGNORECASE,
)
_WORTH = 0.34  # share of the reasoning's words; a sentence with fewer is not looked at
_MOST_WORDS = 20_000  # whose vectors are kept
_AND = re.compile(r"[,;]?\s+(?:and|but|while|whereas)\s+|;\s+|,\s+so\s+", re.IGNORECASE)
_PART_COVERED = 0.7  # share of the words of a part of a sentence, which may lack its subject
_OPEN_TASK = re.compile(r" *[-*+] \[ \]")  # a task, not a fact
_CLAUSE_WORDS = 2  # content words; a clause with fewer is not compared alone


class ConflictType(StrEnum):
    CAUSAL = "causal_conflict"
    FACTUAL = "factual_conflict"
    TEMPORAL = "temporal_conflict"
    LOGICAL = "logical_conflict"


class Advice(StrEnum):
    REVISE = "revise_reasoning"
    MERGE = "merge_conflicting_nodes"
    ASK = "ask_user"
    IGNORE = "ignore_low_confidence"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A memory that speaks against the reasoning; ``confidence`` in [0, 1]."""

    memory: Memory
    lines: LineRange
    snippet: str
    type: ConflictType
    confidence: float
    explanation: str


def _first_of(text: str) -> str:
    """The sentences of a new text that are compared; none of a long text without sentences."""
    first = " ".join(sentences(text)[:NEW_SENTENCES])
    return first if len(first) <= NEW_CHARS else ""


@dataclass(frozen=True, slots=True)
class _Passage:
    memory: Memory
    text: str
    source: Source


class Critic:
    """Checks reasoning; safe in any thread."""

    def __init__(
        self,
        find: Callable[[str, int, Scope | None], list[Hit]],
        memory_of: Callable[[str], Memory | None],
        vectors: VectorStore,
        find_names: FindNames,
        verifier: Verifier,
        *,
        outlines: Outlines,
        view: GraphView,
        embed: Embed,
    ) -> None:
        self._outlines = outlines
        self._view = view
        self._embed = _WordVectors(embed)
        self._find = find
        self._memory_of = memory_of
        self._vectors = vectors
        self._find_names = find_names
        self._verifier = verifier

    def critique(
        self,
        reasoning: str,
        focal: Sequence[str] = (),
        threshold: float = 0.5,
        apart_from: str | None = None,
    ) -> tuple[list[Contradiction], Advice]:
        """Memories that contradict the reasoning, most certain first, each once.

        Args:
            focal: ids of the memories to check against; the whole vault if there are none.
            threshold: least confidence of a contradiction.
            apart_from: id of a memory that is not asked.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        said = [readable(s) for s in sentences(reasoning)][:MOST_SENTENCES]
        found: dict[str, Contradiction] = {}
        for each in self._all(said, focal, apart_from):
            known = found.get(each.memory.id)
            if each.confidence >= threshold and (
                known is None or each.confidence > known.confidence
            ):
                found[each.memory.id] = each
        ranked = sorted(found.values(), key=lambda c: (-c.confidence, c.memory.path))
        return ranked, self._advice(ranked)

    def contradicted_by_new(self, text: str, apart_from: str | None = None) -> list[Contradiction]:
        """Memories that say otherwise than the first sentences of a text before it is written.

        Args:
            apart_from: id of the memory that the text replaces part of.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        first = _first_of(text)
        return self.critique(first, apart_from=apart_from)[0][:MOST_CONTRADICTED] if first else []

    def related_to_new(self, text: str, scope: Scope | None = None) -> list[Memory]:
        """Memories on the same matter as the first sentences of a text before it is written, the
        nearest first: the text may replace what one of them says, in any words.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        first = _first_of(text)
        hits = self._find(first, MOST_RELATED, scope) if first else []
        return [hit.memory for hit in hits if hit.relevance >= RELATED]

    def _all(
        self, said: Sequence[str], focal: Sequence[str], apart_from: str | None
    ) -> Iterator[Contradiction]:
        given = self._focal(focal)
        reasoning = Source("", "", "", kind="session")
        for sentence in said:
            hits = given if focal else self._find(sentence, FOUND_FOR_EACH, None)
            hits = [hit for hit in hits if hit.memory.id != apart_from]
            aligned, place = self._best_alignment(sentence, hits)
            if aligned is not None and aligned.relation is Relation.SUPPORTS:
                continue
            if aligned is not None and place is not None:
                yield _misaligned(aligned, *place)
            if aligned is None:
                yield from self._of_parts(sentence, hits)
            claims = [
                replace(c, asserted=True) for c in claims_of(sentence, reasoning, self._find_names)
            ]
            passages = self._passages(focal) if focal else [_passage(hit) for hit in hits]
            told = self._told(passages, claims, anywhere=not focal)
            told = [each for each in told if each.source.note_id != apart_from]
            for claim in claims:
                yield from self._values(claim, told)
            for passage in passages:
                yield from _statements(sentence, passage)

    def _of_parts(self, sentence: str, hits: Sequence[Hit]) -> Iterator[Contradiction]:
        """Contradictions of one of a sentence's statements."""
        parts = _AND.split(sentence)
        for part in parts if len(parts) > 1 else ():
            if len(stems_of(part)) < _CLAUSE_WORDS or not self._says_something(part):
                continue
            aligned, place = self._best_alignment(part, hits)
            if aligned is None or place is None or aligned.covered < _PART_COVERED:
                continue
            if aligned.relation is not Relation.SUPPORTS:
                yield _misaligned(aligned, *place)

    def _says_something(self, part: str) -> bool:
        """Whether a part has words besides names and values: "Ada from 3 to 10 May" has none."""
        words = Statement(part, self._find_names).words.get("word", {})
        return any(word[0].islower() for key, word in words.items() if key not in LIGHT)

    # -- the memories to compare ---------------------------------------------------------------

    def _focal(self, ids: Sequence[str]) -> list[Hit]:
        memories = (self._memory_of(key) for key in ids)
        return [Hit(memory, 1.0) for memory in memories if memory is not None]

    def _passages(self, ids: Sequence[str]) -> list[_Passage]:
        return [
            _Passage(
                memory, each.chunk.text, source_of(memory, each.chunk.heading, each.chunk.lines)
            )
            for key in ids
            if (memory := self._memory_of(key)) is not None
            for each in self._vectors.chunks(key)
            if ChunkSize.PASSAGE in each.chunk.sizes
        ]

    def _told(
        self, passages: Sequence[_Passage], claims: Sequence[Claim], *, anywhere: bool
    ) -> list[Claim]:
        if not claims:
            return []
        wanted = frozenset(stem for claim in claims for stem in claim.attribute)
        told = self._verifier.witnesses(claims) if anywhere else []
        for passage in passages:
            told += self._verifier.passage(passage.text, passage.source, wanted)
            told += self._verifier.fields(passage.memory, wanted)
        return told

    def _best_alignment(
        self, sentence: str, hits: Sequence[Hit]
    ) -> tuple[Alignment | None, tuple[_Passage, str] | None]:
        """The sentence that supports this one, else the one that covers most of it; its place."""
        ours = Statement(sentence, self._find_names)
        stems = stems_of(sentence)
        best: tuple[Alignment | None, tuple[_Passage, str] | None] = (None, None)
        for hit, outline in zip(hits, self._outlines.of(hits), strict=True):
            linked = self._linked(hit.memory)
            for told in outline.statements if outline is not None else ():
                around = f"{hit.memory.title}. {'. '.join(told.heading)}"
                if _OPEN_TASK.match(told.shown):
                    continue
                for text in _said_in(told, sentence):
                    if len(stems & (stems_of(text) | stems_of(around))) < _WORTH * len(stems):
                        continue
                    said = _with_targets(text, told, linked)
                    theirs = Statement(said, self._find_names, hit.memory.id)
                    if theirs.hedged:
                        continue
                    context = Statement(around, self._find_names)
                    found = align(ours, theirs, context, self._embed)
                    if found is not None and (best[0] is None or _rank(found) > _rank(best[0])):
                        source = source_of(hit.memory, " > ".join(told.heading), told.lines)
                        best = found, (_Passage(hit.memory, told.text, source), told.quoted)
        return best

    def _linked(self, memory: Memory) -> Mapping[int, Sequence[str]]:
        """By line, the names of what a note links to."""
        try:
            edges = self._view.stated_by(memory.id)
        except (StoreUnavailable, GraphQueryError):
            return {}
        linked: dict[int, list[str]] = {}
        for edge in edges:
            if (target := self._view.node(edge.target)) is not None:
                linked.setdefault(edge.line, []).append(target.name)
        return linked

    # -- comparing ------------------------------------------------------------------------------

    def _values(self, claim: Claim, told: Sequence[Claim]) -> Iterator[Contradiction]:
        """Confidence: the share of the attributes' words that both have (Jaccard), less a fifth
        where only its note says what a sentence is about; half of the way to 1 if the person
        verified the note."""
        for other in told:
            memory = self._memory_of(other.source.note_id)
            if memory is None or compare(claim, other) is not Verdict.DIFFERS:
                continue
            shared = _jaccard(claim.attribute, other.attribute)
            sure = shared * (1.0 if claim.named and other.named else _BY_ITS_NOTE)
            sure = (1.0 + sure) / 2.0 if memory.verified else sure
            dated = isinstance(other.value, Amount) and other.value.kind in (
                AmountKind.DATE,
                AmountKind.TIME,
            )
            kind = ConflictType.TEMPORAL if dated else ConflictType.FACTUAL
            if claim.negated or other.negated:
                kind = ConflictType.LOGICAL
            yield Contradiction(
                memory,
                other.source.lines,
                other.sentence[:MOST_CHARS],
                kind,
                sure,
                f"The reasoning says {claim.label}: {claim.shown}; "
                f"the note says {other.label}: {other.shown}.",
            )

    def _advice(self, found: Sequence[Contradiction]) -> Advice:
        if not found:
            return Advice.IGNORE
        snippets = [
            claim
            for each in found
            for claim in claims_of(
                each.snippet, source_of(each.memory, "", each.lines), self._find_names
            )
        ]
        if any(
            compare(one, other) is Verdict.DIFFERS
            for k, one in enumerate(snippets)
            for other in snippets[k + 1 :]
            if one.source.note_id != other.source.note_id
        ):
            return Advice.MERGE
        return Advice.REVISE if found[0].confidence >= SURE else Advice.ASK


class _WordVectors:
    """Embeds words, each once."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def __call__(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        fresh = [word for word in dict.fromkeys(words) if word not in self._known]
        if fresh:
            if len(self._known) > _MOST_WORDS:
                self._known = {}
                fresh = list(dict.fromkeys(words))
            self._known.update(zip(fresh, self._embed(fresh), strict=True))
        return np.stack([self._known[word] for word in words])


def _passage(hit: Hit) -> _Passage:
    return _Passage(hit.memory, hit.text, source_of(hit.memory, hit.heading, hit.lines))


def _said_in(told: Told, asked: str) -> list[str]:
    """A sentence; of a table row each cell alone, with the row's subject. Where heads have words of
    the statement, only the cells of those with most."""
    cells = [cell.partition(": ") for cell in told.quoted.split(" | ")]
    if len(cells) < 2:
        return [told.text]
    subject = cells[0][2] or cells[0][0]
    words = set(TOKEN.findall(asked.lower()))
    shared = [len(words.intersection(TOKEN.findall(head.lower()))) for head, _, _ in cells[1:]]
    return [
        f"{head} of {subject}: {value}"
        for (head, _, value), count in zip(cells[1:], shared, strict=True)
        if count == max(shared)
    ]


def _with_targets(text: str, told: Told, linked: Mapping[int, Sequence[str]]) -> str:
    """A sentence with the names that its links show other words for: "Son" in ``[[Tom Holt|Son]]``
    is no other name in the place of "Tom Holt"."""
    lines = range(told.lines.first, told.lines.last + 1)
    names = dict.fromkeys(name for line in lines for name in linked.get(line, ()))
    hidden = [name for name in names if name.casefold() not in told.text.casefold()]
    return f"{text} ({', '.join(hidden)})" if hidden else text


def _rank(found: Alignment) -> tuple[bool, float, float, float]:
    return found.relation is Relation.SUPPORTS, found.covered, found.own, found.confidence


def _misaligned(found: Alignment, passage: _Passage, sentence: str) -> Contradiction:
    kind = ConflictType.TEMPORAL if found.dated else ConflictType.FACTUAL
    explanation = (
        f"The reasoning says {' '.join(found.ours)}; the note says {' '.join(found.theirs)}."
    )
    if found.relation is Relation.DENIES:
        kind, explanation = ConflictType.LOGICAL, "One says what the other denies."
    return _contradiction(passage, sentence, kind, found.confidence, explanation)


def _statements(sentence: str, passage: _Passage) -> Iterator[Contradiction]:
    """Compares the tools that sentences say are used, and what they say about causes."""
    claims = list(tool_usages_in(sentence))
    for raw in sentences(passage.text):
        other = readable(raw)
        if HEDGED.search(f" {other.lower()} ") is not None:
            continue
        for claim in claims:
            sure = max((opposed(claim, told) for told in tool_usages_in(other)), default=0.0)
            if sure > 0.0:
                yield _contradiction(
                    passage, other, ConflictType.FACTUAL, sure,
                    "The note says that it was given up or replaced.",
                )  # fmt: skip
        turned = _turned(sentence, other)
        if turned > 0.0:
            yield _contradiction(
                passage, other, ConflictType.CAUSAL, turned,
                "One says that it brings about what the other says that it hinders.",
            )  # fmt: skip


def _turned(one: str, other: str) -> float:
    """Confidence that of two sentences about the same subjects one states that the first causes
    the second and the other that it prevents it: the share of common other words."""
    raising, lowering = _RAISES.search(one), _LOWERS.search(one)
    raised, lowered = _RAISES.search(other), _LOWERS.search(other)
    if _denies(one) or _denies(other):
        return 0.0
    if raising and lowered and not (lowering or raised):
        first, second = raising, lowered
    elif lowering and raised and not (raising or lowered):
        first, second = lowering, raised
    else:
        return 0.0
    fronts = stems_of(one[: first.start()]), stems_of(other[: second.start()])
    behind = stems_of(one[first.end() :]), stems_of(other[second.end() :])
    return min(_jaccard(*fronts), 1.0) * _overlap(*behind)


def _contradiction(
    passage: _Passage, sentence: str, kind: ConflictType, sure: float, explanation: str
) -> Contradiction:
    snippet = sentence[:MOST_CHARS]
    return Contradiction(passage.memory, passage.source.lines, snippet, kind, sure, explanation)


def _denies(sentence: str) -> bool:
    low = f" {sentence.lower()} "
    return NEGATED.search(low) is not None or DENIED.search(low) is not None


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the shorter that the longer has."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
