"""The second stage of recall: checks found memories against other notes (triple 2.7).

Text that the person typed or marked as verified counts as verified. Text that others wrote is a
claim. A claim is verified if the person's own words in another note state the same value of the
same attribute of the same subject, and none of them state another value. Clients confirm
neither their own claims nor each other's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memvault.model.errors import StoreUnavailable
from memvault.model.memory import Memory, MemoryOf
from memvault.model.note import ChunkSize, LineRange
from memvault.model.search import Conflict, ConflictSide, Hit, Scope
from memvault.model.verification import ConflictKind, Evidence, Status, Verification
from memvault.search.scope import in_scope, without_filters
from memvault.stores.vectors import VectorStore
from memvault.text.name_matcher import NameMatcher
from memvault.verification.agreement import Verdict, compare, day_of_claim
from memvault.verification.claim_gate import ClaimGate
from memvault.verification.claims.claim_extraction import ClaimCache
from memvault.verification.claims.claim_sources import is_claimed, source_of
from memvault.verification.claims.claims import NAME, Claim, ClaimSource
from memvault.verification.evidence import MAX_SHOWN, EvidenceWeigher, StatedConflicts
from memvault.verification.newer_claims import ChangedAt, newer_claims
from memvault.verification.question_terms import QuestionTerms, question_terms
from memvault.verification.sensitive_topics import sensitive_topic_of
from memvault.verification.vault_names import names_in

MAX_WITNESSES = 20  # passages searched in addition to the found ones (FR-44)
MAX_READ = 3  # first memories that are read in full for a value of the requested kind
DOUBT = 0.6  # score of an unconfirmed claim (triple 11.3); below 0.7 (FR-46)


class Verifier:
    """Checks memories. Thread-safe.

    Args:
        names: of the vault.
        stated_conflicts: gives the contradictions and supersessions that notes state of memories.
        read: gives a note's bytes, by path.
        changed_at: gives the time at which a note was last saved, by path.
    """

    def __init__(
        self,
        vectors: VectorStore,
        memory_of: MemoryOf,
        names: NameMatcher,
        stated_conflicts: StatedConflicts,
        *,
        read: Callable[[str], bytes],
        changed_at: ChangedAt,
    ) -> None:
        self._gate = ClaimGate(read)
        self._evidence = EvidenceWeigher(memory_of, read, stated_conflicts)
        self._vectors = vectors
        self._memory_of = memory_of
        self._changed_at = changed_at
        self._find_names = names_in(names)
        self._claim_cache = ClaimCache(names)
        self._stated_conflicts = stated_conflicts

    def topic_of(self, query: str) -> str | None:
        """The sensitive topic of a question, or None."""
        return sensitive_topic_of(query)

    def withhold(self, hits: Sequence[Hit]) -> None:
        """Reduce these hits to the text that may answer a sensitive question."""
        for hit in hits:
            self._gate.narrow(hit)
            hit.hops = tuple(hop for hop in hit.hops if not any(map(self._is_claim, hop.ends)))

    def _is_claim(self, node_id: str) -> bool:
        """Whether a node is a note of others, whose title and path may say what is withheld."""
        memory = self._memory_of(node_id)
        return memory is not None and memory.is_claim

    def verify(
        self, query: str, hits: Sequence[Hit], scope: Scope | None = None
    ) -> list[Verification]:
        """The verification of each hit, in the same order."""
        question = question_terms(query, self._find_names)
        answers = [self._answers(question, hit, rank) for rank, hit in enumerate(hits)]
        claims = [claim for hit_claims in answers for claim in hit_claims]
        pool = self.witnesses(claims, scope) if claims else []
        pool += claims
        opposed = self._opposing_evidence([hit.memory.id for hit in hits], without_filters(scope))
        verifications = [
            self._verification(question, hit, hit_claims, pool, opposed.get(hit.memory.id, ()))
            for hit, hit_claims in zip(hits, answers, strict=True)
        ]
        newer = newer_claims(query, hits, self._changed_at)
        return [
            replace(verification, newer=of_hit) if of_hit else verification
            for verification, of_hit in zip(verifications, newer, strict=True)
        ]

    def claims(self, query: str, hits: Sequence[Hit], scope: Scope | None = None) -> list[Claim]:
        """The claims of these memories that answer a question, then comparable claims of others.

        In a note with several authors, the person's words are always read, whatever passage was
        found.
        """
        question = question_terms(query, self._find_names)
        answers = [
            claim
            for rank, hit in enumerate(hits)
            for passage in (*self._own_part(hit), hit)
            for claim in self._answers(question, passage, rank)
        ]
        witnesses = self.witnesses(answers, scope) if answers else []
        comparable = (
            witness
            for witness in witnesses
            if any(compare(answer, witness) is not Verdict.UNRELATED for answer in answers)
        )
        return list(dict.fromkeys((*answers, *comparable)))

    # -- the claims that answer a question ------------------------------------------------------

    def _answers(self, question: QuestionTerms, hit: Hit, rank: int) -> list[Claim]:
        """The claims of a memory that answer the question.

        These are the claims about an attribute that the question names; else, in the first
        memories, the only claim with the requested kind of value.
        """
        source = source_of(hit.memory, hit.heading, hit.lines)
        claims = self.claims_of_passage(hit.text, source, question.stems)
        claims += self.claims_of_properties(hit.memory, question.stems)
        about_attribute = [
            claim for claim in claims if question.allows(claim) and self._is_about(claim, question)
        ]
        if about_attribute or rank >= MAX_READ or not question.names_kind:
            return about_attribute
        claims = self.claims_of_passage(hit.text, source)
        of_kind = [c for c in claims if question.asks_for(c) and self._is_about(c, question)]
        return of_kind if len(of_kind) == 1 else []

    def _own_part(self, hit: Hit) -> list[Hit]:
        """The hit reduced to the person's words, if the note has several authors; else empty."""
        if not hit.memory.provenance.is_mixed:
            return []
        text = self._gate.own_text(hit.memory)
        last = max(hit.lines.last, hit.memory.provenance.spans[-1].last)
        return [replace(hit, text=text, heading="", lines=LineRange(1, last))]

    def _is_about(self, claim: Claim, question: QuestionTerms) -> bool:
        """Whether a claim is about a node that the question names, if it names one."""
        return not question.nodes or not question.nodes.isdisjoint(self._nodes(claim))

    def _nodes(self, claim: Claim) -> frozenset[str]:
        """The keys of the nodes that a claim is about, with its note and its project."""
        value, project = claim.value, claim.source.project
        keys = {value.removeprefix(NAME)} if isinstance(value, str) else set()
        keys.update(key for *_, key in (self._find_names(project, None) if project else ()))
        return claim.subjects | keys | {claim.source.note_id}

    def claims_of_properties(
        self, memory: Memory, attribute_stems: frozenset[str] | None = None
    ) -> list[Claim]:
        """The claims of a note's own frontmatter."""
        lines = [
            f"{key}: {value}"
            for key, value in memory.metadata.items()
            if isinstance(value, str | int | float) and not isinstance(value, bool)
        ]
        if not lines:
            return []
        source = replace(source_of(memory, "", LineRange(1, 1)), is_property=True)
        return self.claims_of_passage("\n".join(lines), source, attribute_stems)

    def claims_of_passage(
        self, text: str, source: ClaimSource, attribute_stems: frozenset[str] | None = None
    ) -> list[Claim]:
        """The claims of a passage, cached; see `PassageClaims.claims`."""
        return self._claim_cache.claims(text, source, attribute_stems)

    # -- what they are checked against ----------------------------------------------------------

    def witnesses(self, claims: Sequence[Claim], scope: Scope | None = None) -> list[Claim]:
        """The claims in the rest of the vault about the attributes and subjects of these claims."""
        attribute_stems = frozenset(stem for claim in claims for stem in claim.attribute)
        witnesses: list[Claim] = []
        project = without_filters(scope)
        for note_id in {key for claim in claims for key in claim.subjects}:
            memory = self._memory_of(note_id)
            if memory is not None and in_scope(memory, project):
                witnesses += self.claims_of_properties(memory, attribute_stems)
        try:
            ranked = self._vectors.rank_keywords(
                self._keywords(claims), MAX_WITNESSES, size=ChunkSize.PASSAGE, scope=project
            )
            chunks = self._vectors.read(ranked.chunk_ids)
        except StoreUnavailable:
            return witnesses
        for chunk in (chunks[key] for key in ranked.chunk_ids if key in chunks):
            memory = self._memory_of(chunk.note_id)
            if memory is not None:
                source = source_of(memory, chunk.heading, chunk.lines)
                witnesses += self.claims_of_passage(chunk.text, source, attribute_stems)
        return witnesses

    def _keywords(self, claims: Sequence[Claim]) -> str:
        """The labels and subjects of these claims, as a query."""
        words: dict[str, None] = {}
        for claim in claims:
            words[claim.label] = None
            for key in claim.subjects:
                memory = self._memory_of(key)
                words[memory.title if memory is not None else key] = None
        return " ".join(words)

    def _opposing_evidence(
        self, ids: Sequence[str], project: Scope | None
    ) -> dict[str, list[Evidence]]:
        """The conflicts that notes of the project, or of none, state with each of these memories,
        as evidence against it.

        Two notes that state the same of each other ("Superseded by", "replaces") are one conflict,
        in the words of the person, else of the other note.
        """
        evidence_by_note: dict[str, dict[tuple[str, str], Evidence]] = {}
        for conflict in self._stated_conflicts(ids):
            first, second = conflict.sides
            pairs = [(second, first)]
            if conflict.kind is ConflictKind.CONTRADICTION:
                pairs.append((first, second))
            for opposed, opposing in pairs:
                memory = self._memory_of(opposing.node.id)
                if memory is not None and in_scope(memory, project) and opposed.node.id in ids:
                    evidence = self._stated_evidence(conflict, opposed, opposing, memory)
                    of_note = evidence_by_note.setdefault(opposed.node.id, {})
                    key = evidence.note_id, evidence.said
                    of_note[key] = min(evidence, of_note.get(key, evidence), key=_indirectness)
        return {key: [*of_note.values()] for key, of_note in evidence_by_note.items()}

    def _stated_evidence(
        self, conflict: Conflict, opposed: ConflictSide, opposing: ConflictSide, memory: Memory
    ) -> Evidence:
        """A conflict as evidence against one side; ``memory`` is that of the other side."""
        stating = opposing if opposing.line is not None else opposed
        line = stating.line or 1
        return Evidence(
            memory.id, memory.title, memory.path, LineRange(line, line),
            opposing.text, conflict.kind.value, is_claimed(conflict, self._memory_of),
            None if stating is opposing else stating.path,
        )  # fmt: skip

    # -- the verification -----------------------------------------------------------------------

    def _verification(
        self,
        question: QuestionTerms,
        hit: Hit,
        claims: Sequence[Claim],
        pool: Sequence[Claim],
        opposed: Sequence[Evidence],
    ) -> Verification:
        """The verification of a memory, from its own claims and those of others.

        If it has no claims, the found passage decides whose words they are.
        """
        memory = hit.memory
        by_person = [claim for claim in claims if self._evidence.origin(claim).is_person]
        claims = _without_undated_copies(by_person or claims)
        weighed = self._evidence.weigh(claims, pool)
        against = (*opposed, *weighed.against)
        is_own = memory.verified or self._is_own(memory, claims, hit.lines)
        unverified = Verification(
            Status.UNVERIFIED,
            score=DOUBT,
            by_person=is_own,
            answers=any(map(question.is_answered_by, claims)),
            confirmed_by=weighed.confirming[:MAX_SHOWN],
            contradicted_by=against[:MAX_SHOWN],
        )
        if memory.verified:
            return replace(unverified, status=Status.VERIFIED, score=1.0, marked=True)
        strong = [evidence for evidence in against if not (is_own and evidence.is_claim)]
        if strong:
            opposing = len({evidence.note_id for evidence in strong})
            supporting = len({evidence.note_id for evidence in unverified.confirmed_by})
            score = DOUBT * (1 + supporting) / (1 + supporting + opposing)
            return replace(unverified, status=Status.CONTRADICTED, score=score)
        if (is_own or weighed.is_confirmed) and not memory.is_marked_wrong:
            stated = tuple(dict.fromkeys(claim.sentence for claim in claims))
            return replace(unverified, status=Status.VERIFIED, score=1.0, stated=stated)
        return unverified

    def _is_own(self, memory: Memory, claims: Sequence[Claim], lines: LineRange) -> bool:
        """Whether the answering claims, or else the found lines, are the person's words."""
        provenance = memory.provenance
        if provenance.is_person:
            return True
        if claims:
            return all(self._evidence.origin(claim).is_person for claim in claims)
        return provenance.is_mixed and not provenance.covers(lines)


def _without_undated_copies(claims: Sequence[Claim]) -> list[Claim]:
    """The claims of a note without those that another one repeats with a day."""
    dated = [claim for claim in claims if day_of_claim(claim) is not None]
    return [
        claim
        for claim in claims
        if day_of_claim(claim) is not None
        or all(compare(claim, dated_claim) is not Verdict.AGREES for dated_claim in dated)
    ]


def _indirectness(evidence: Evidence) -> tuple[bool, bool]:
    """Sorts the person's statements first, then those of the other note."""
    return evidence.is_claim, evidence.stated_in is not None
