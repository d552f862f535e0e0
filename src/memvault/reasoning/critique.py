"""Finds memories that contradict a piece of reasoning (graph-tools, critique_context).

No language model is used. The reasoning is split into sentences. Each is compared with the
sentences of the memories found for it: word by word (`reasoning.alignment`), by the claims in both
(`verification`), and by causes and replaced tools. A sentence that a memory supports is not
reported as contradicted by another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

from memvault.model.memory import Memory, MemoryOf
from memvault.model.note import LineRange
from memvault.model.search import FindMemories, Hit, Scope
from memvault.reasoning.sentences.alignment import Stance
from memvault.reasoning.sentences.former_values import still_stated
from memvault.reasoning.sentences.opposed_causes import jaccard, opposed_causes
from memvault.reasoning.sentences.sentence_matching import SentenceMatch, SentenceMatcher
from memvault.reasoning.sentences.sentence_words import LIGHT, SentenceWords
from memvault.search.scope import allowed_in
from memvault.stores.vectors import VectorStore
from memvault.vault.lines import bare_lines
from memvault.vault.readable import readable, sentences
from memvault.verification.agreement import Verdict, compare
from memvault.verification.claims.amounts import Amount, AmountKind
from memvault.verification.claims.claim_extraction import claims_of
from memvault.verification.claims.claim_sources import source_of
from memvault.verification.claims.claim_stems import stems_of
from memvault.verification.claims.claims import Claim, ClaimSource
from memvault.verification.claims.clause_words import HEDGED, occurs
from memvault.verification.claims.tool_usage import ToolUsage, tool_usages_in, usage_conflict
from memvault.verification.vault_names import FindNames
from memvault.verification.verifier import Verifier

MAX_SENTENCES = 12  # of the reasoning
MEMORIES_PER_SENTENCE = 8
MAX_CHARS = 200  # of a snippet
NEW_SENTENCES, NEW_CHARS = 3, 600  # first sentences of a new text that are compared; none if longer
MAX_CONTRADICTED = 3  # contradicting memories that are named for a new text
MAX_RELATED, MIN_RELEVANCE = 3, 0.3  # of related memories that are named
REVISE_FROM = 0.75  # confidence from which to revise the reasoning rather than ask the person
_STILL_STATED = 0.75  # confidence that what is no longer so is what a note states
_SUBJECT_FROM_NOTE = 0.8  # factor for a sentence whose subject only its note names
_PART_BREAK = re.compile(r"[,;]?\s+(?:and|but|while|whereas)\s+|;\s+|,\s+so\s+", re.IGNORECASE)
_MIN_PART_COVERAGE = 0.7  # for a part of a sentence, which may lack its subject
_MIN_PART_WORDS = 2  # content words; a part with fewer is not compared alone


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
    """A memory that contradicts the reasoning; ``confidence`` in [0, 1]."""

    memory: Memory
    lines: LineRange
    snippet: str
    type: ConflictType
    confidence: float
    explanation: str


def _first_sentences(text: str) -> str:
    """The first sentences of a new text, which are compared; empty if they are too long.

    A row of a table is no sentence without the heads of its columns.
    """
    prose = "\n".join(line for line in bare_lines(text) if not line.lstrip().startswith("|"))
    opening = " ".join(sentences(prose)[:NEW_SENTENCES])
    return opening if len(opening) <= NEW_CHARS else ""


@dataclass(frozen=True, slots=True)
class Critic:
    """Checks reasoning; safe in any thread."""

    find: FindMemories
    memory_of: MemoryOf
    vectors: VectorStore
    find_names: FindNames
    verifier: Verifier
    matcher: SentenceMatcher

    def critique(
        self,
        reasoning: str,
        focal: Sequence[str] = (),
        threshold: float = 0.5,
        exclude: str | None = None,
        scope: Scope | None = None,
    ) -> tuple[list[Contradiction], Advice]:
        """The memories that contradict the reasoning, most certain first, each once.

        Args:
            focal: ids of the memories to check against; empty for the whole vault.
            threshold: least confidence of a contradiction.
            exclude: id of a memory that is left out.
            scope: the notes that may contradict, support or supersede.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        statements = [readable(s) for s in sentences(reasoning)][:MAX_SENTENCES]
        strongest: dict[str, Contradiction] = {}
        for contradiction in self._contradictions(statements, focal, exclude, scope):
            if contradiction.confidence < threshold:
                continue
            earlier = strongest.get(contradiction.memory.id)
            if earlier is None or contradiction.confidence > earlier.confidence:
                strongest[contradiction.memory.id] = contradiction
        for key in set() if focal else self._superseded(strongest, scope):
            del strongest[key]  # a value that is known to be old
        ranked = sorted(strongest.values(), key=lambda c: (-c.confidence, c.memory.path))
        return ranked, self._advice(ranked)

    def contradicted_by_new(
        self, text: str, scope: Scope | None = None, exclude: str | None = None
    ) -> list[Contradiction]:
        """The memories that contradict the first sentences of a text about to be written.

        Args:
            scope: the notes that may contradict, support or supersede.
            exclude: id of the memory of which the text replaces a part.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        opening = _first_sentences(text)
        if not opening:
            return []
        return self.critique(opening, exclude=exclude, scope=scope)[0][:MAX_CONTRADICTED]

    def related_to_new(self, text: str, scope: Scope | None = None) -> list[Hit]:
        """The memories most related to the first sentences of a text about to be written, with
        their passages.

        The nearest come first. The text may replace a statement of theirs, in any words.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        opening = _first_sentences(text)
        hits = self.find(opening, MAX_RELATED, scope) if opening else []
        return [hit for hit in hits if hit.relevance >= MIN_RELEVANCE]

    def _contradictions(
        self,
        statements: Sequence[str],
        focal: Sequence[str],
        exclude: str | None,
        scope: Scope | None,
    ) -> Iterator[Contradiction]:
        """The contradictions of each sentence of the reasoning that no memory supports."""
        focal_hits, focal_passages = self._hits_of(focal), self._passages_of(focal)
        reasoning = ClaimSource("", "", "", kind="session")
        for sentence in statements:
            found = [] if focal else self.find(sentence, MEMORIES_PER_SENTENCE, scope)
            left_out = self._superseded([hit.memory.id for hit in found], scope)
            left_out |= {exclude} if exclude is not None else set()
            hits = [hit for hit in (*focal_hits, *found) if hit.memory.id not in left_out]
            yield from _still_stated(sentence, hits)
            usages = list(tool_usages_in(sentence))
            match = self.matcher.best(sentence, hits)
            if match is None:
                yield from self._part_contradictions(sentence, hits)
            elif match.alignment.stance is not Stance.SUPPORTS:
                yield _mismatch(match)
            elif _given_up(usages, match.sentence) == 0.0:
                continue
            claims = [
                replace(c, asserted=True) for c in claims_of(sentence, reasoning, self.find_names)
            ]
            passages = focal_passages if focal else hits
            noted = self._claims_in(passages, claims, scope, anywhere=not focal)
            noted = [claim for claim in noted if claim.source.note_id != exclude]
            for claim in claims:
                yield from self._differing_values(claim, noted)
            for passage in passages:
                yield from _usage_and_cause_contradictions(sentence, usages, passage)

    def _part_contradictions(self, sentence: str, hits: Sequence[Hit]) -> Iterator[Contradiction]:
        """The contradictions of single parts of a sentence."""
        parts = _PART_BREAK.split(sentence)
        for part in parts if len(parts) > 1 else ():
            if len(stems_of(part)) < _MIN_PART_WORDS or not self._has_content(part):
                continue
            match = self.matcher.best(part, hits)
            if match is None or match.alignment.coverage < _MIN_PART_COVERAGE:
                continue
            if match.alignment.stance is not Stance.SUPPORTS:
                yield _mismatch(match)

    def _has_content(self, part: str) -> bool:
        """Whether a part has words besides names and values: "Ada from 3 to 10 May" has none."""
        words = SentenceWords(part, self.find_names).words.get("word", {})
        return any(word[0].islower() for key, word in words.items() if key not in LIGHT)

    def _superseded(self, ids: Collection[str], scope: Scope | None) -> set[str]:
        """Those of these memories that another one in the scope supersedes."""
        return self.matcher.superseded_by_others(ids, allowed_in(scope, self.memory_of))

    # -- the memories to compare ---------------------------------------------------------------

    def _hits_of(self, ids: Sequence[str]) -> list[Hit]:
        memories = (self.memory_of(key) for key in ids)
        return [Hit(memory, 1.0) for memory in memories if memory is not None]

    def _passages_of(self, ids: Sequence[str]) -> list[Hit]:
        passages = self.vectors.passages(ids) if ids else {}
        return [
            replace(hit, heading=chunk.heading, lines=chunk.lines, text=chunk.text)
            for hit in self._hits_of(ids)
            for chunk in passages.get(hit.memory.id, ())
        ]

    def _claims_in(
        self,
        passages: Sequence[Hit],
        claims: Sequence[Claim],
        scope: Scope | None,
        *,
        anywhere: bool,
    ) -> list[Claim]:
        """The claims about the same attributes in these passages.

        Args:
            anywhere: include claims of other notes in the scope.
        """
        if not claims:
            return []
        attribute_stems = frozenset(stem for claim in claims for stem in claim.attribute)
        noted = self.verifier.witnesses(claims, scope) if anywhere else []
        for passage in passages:
            source = source_of(passage.memory, passage.heading, passage.lines)
            noted += self.verifier.claims_of_passage(passage.text, source, attribute_stems)
            noted += self.verifier.claims_of_properties(passage.memory, attribute_stems)
        return noted

    # -- comparing ------------------------------------------------------------------------------

    def _differing_values(self, claim: Claim, noted: Sequence[Claim]) -> Iterator[Contradiction]:
        """The claims that give the same attribute another value.

        The confidence is the Jaccard similarity of the attributes' words, less a fifth if only its
        note names a sentence's subject, and moved half of the way to 1 if the note is verified.
        """
        for noted_claim in noted:
            memory = self.memory_of(noted_claim.source.note_id)
            if memory is None or compare(claim, noted_claim) is not Verdict.DIFFERS:
                continue
            similarity = jaccard(claim.attribute, noted_claim.attribute)
            both_named = claim.names_subject and noted_claim.names_subject
            confidence = similarity * (1.0 if both_named else _SUBJECT_FROM_NOTE)
            if memory.verified:
                confidence = (1.0 + confidence) / 2.0
            is_time = isinstance(noted_claim.value, Amount) and noted_claim.value.kind in (
                AmountKind.DATE,
                AmountKind.TIME,
            )
            kind = ConflictType.TEMPORAL if is_time else ConflictType.FACTUAL
            if claim.negated or noted_claim.negated:
                kind = ConflictType.LOGICAL
            yield Contradiction(
                memory,
                noted_claim.source.lines,
                noted_claim.sentence[:MAX_CHARS],
                kind,
                confidence,
                f"The reasoning says {claim.label}: {claim.value_text}; "
                f"the note says {noted_claim.label}: {noted_claim.value_text}.",
            )

    def _advice(self, contradictions: Sequence[Contradiction]) -> Advice:
        if not contradictions:
            return Advice.IGNORE
        claims = [
            claim
            for contradiction in contradictions
            for claim in claims_of(
                contradiction.snippet,
                source_of(contradiction.memory, "", contradiction.lines),
                self.find_names,
            )
        ]
        if any(
            compare(claim, other) is Verdict.DIFFERS
            for claim, other in combinations(claims, 2)
            if claim.source.note_id != other.source.note_id
        ):
            return Advice.MERGE
        return Advice.REVISE if contradictions[0].confidence >= REVISE_FROM else Advice.ASK


def _still_stated(sentence: str, hits: Sequence[Hit]) -> Iterator[Contradiction]:
    """The memories that state what a sentence says is no longer so."""
    for hit in hits:
        if (text := still_stated(sentence, hit)) is not None:
            yield _contradiction(
                hit, text, ConflictType.FACTUAL, _STILL_STATED,
                "The reasoning says that this is no longer so.",
            )  # fmt: skip


def _mismatch(match: SentenceMatch) -> Contradiction:
    alignment = match.alignment
    kind = ConflictType.TEMPORAL if alignment.both_dated else ConflictType.FACTUAL
    stated, noted = " ".join(alignment.statement_words), " ".join(alignment.sentence_words)
    explanation = f"The reasoning says {stated}; the note says {noted}."
    if alignment.stance is Stance.DENIES:
        kind, explanation = ConflictType.LOGICAL, "One says what the other denies."
    snippet = match.sentence[:MAX_CHARS]
    return Contradiction(
        match.memory, match.lines, snippet, kind, alignment.confidence, explanation
    )


def _usage_and_cause_contradictions(
    sentence: str, usages: Sequence[ToolUsage], passage: Hit
) -> Iterator[Contradiction]:
    """The contradictions about which tools are used and what causes what."""
    for raw in sentences(passage.text):
        other = readable(raw)
        if occurs(HEDGED, other):
            continue
        confidence = _given_up(usages, other)
        if confidence > 0.0:
            yield _contradiction(
                passage, other, ConflictType.FACTUAL, confidence,
                "The note says that it was given up or replaced.",
            )  # fmt: skip
        confidence = opposed_causes(sentence, other)
        if confidence > 0.0:
            yield _contradiction(
                passage, other, ConflictType.CAUSAL, confidence,
                "One says that it brings about what the other says that it hinders.",
            )  # fmt: skip


def _given_up(claimed: Sequence[ToolUsage], sentence: str) -> float:
    """The strength, in [0, 1], with which a sentence says that a claimed tool was given up."""
    noted = list(tool_usages_in(sentence)) if claimed else []
    return max((usage_conflict(own, other) for own in claimed for other in noted), default=0.0)


def _contradiction(
    passage: Hit, sentence: str, kind: ConflictType, confidence: float, explanation: str
) -> Contradiction:
    snippet = sentence[:MAX_CHARS]
    return Contradiction(passage.memory, passage.lines, snippet, kind, confidence, explanation)
