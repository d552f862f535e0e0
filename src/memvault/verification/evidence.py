"""Weighs the claims of other notes as evidence for or against the claims of a memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memvault.model.errors import MemvaultError
from memvault.model.memory import MemoryOf
from memvault.model.provenance import Origin, OriginKind
from memvault.model.search import Conflict
from memvault.model.verification import Evidence
from memvault.vault.lines import bare_lines
from memvault.verification.agreement import Verdict, compare, day_of_claim, independent, is_older
from memvault.verification.claims.claim_sources import origin_of_claim, outdated_notes
from memvault.verification.claims.claims import Claim
from memvault.verification.doubt import is_set_apart

MAX_SHOWN = 3  # pieces of evidence

StatedConflicts = Callable[[Collection[str]], Iterable[Conflict]]


class WeighedEvidence(NamedTuple):
    """The evidence against some claims, the first for them, and whether all are confirmed."""

    against: tuple[Evidence, ...]
    confirming: tuple[Evidence, ...]
    is_confirmed: bool


@dataclass(frozen=True, slots=True)
class EvidenceWeigher:
    """Weighs claims. Thread-safe.

    Attributes:
        read: gives a note's bytes, by path.
        stated_conflicts: gives the contradictions and supersessions that notes state of memories.
    """

    memory_of: MemoryOf
    read: Callable[[str], bytes]
    stated_conflicts: StatedConflicts

    def weigh(self, claims: Sequence[Claim], pool: Sequence[Claim]) -> WeighedEvidence:
        """The evidence that a pool of claims gives about these claims, one piece for each note.

        If the days of two notes are known, the later prevails: the earlier note is no evidence
        against it, nor against what the later one confirms, and notes from before a change do not
        confirm the new value.
        """
        against: dict[str, Evidence] = {}
        confirming: dict[str, Evidence] = {}
        current = [claim for claim in claims if not claim.outdated]
        is_confirmed = any(claim.asserted for claim in current)
        for claim in current:
            prevailing, witnesses = self._for_and_against(claim, pool)
            for other in prevailing:
                against.setdefault(other.source.note_id, self._evidence(other))
            has_witness = False
            for witness in witnesses:
                has_witness = True
                confirming.setdefault(witness.source.note_id, self._evidence(witness))
                if len(confirming) >= MAX_SHOWN:
                    break
            is_confirmed = is_confirmed and has_witness and not prevailing
        return WeighedEvidence(tuple(against.values()), tuple(confirming.values()), is_confirmed)

    def _for_and_against(
        self, claim: Claim, pool: Sequence[Claim]
    ) -> tuple[list[Claim], Iterator[Claim]]:
        """The claims of other notes that prevail over a claim, and those that confirm it. To know
        whether one confirms it, its note is read, so only those that are asked for are found."""
        others = [other for other in pool if other.source.note_id != claim.source.note_id]
        verdicts = [(other, compare(claim, other)) for other in others]
        differing = [other for other, verdict in verdicts if verdict is Verdict.DIFFERS]
        witnesses = (
            other
            for other, verdict in verdicts
            if verdict is Verdict.AGREES
            and not any(is_older(other, d) for d in differing)
            and self._confirms(other, claim)
        )
        prevailing = [other for other in differing if self._prevails(other, claim)]
        agreeing = [other for other, verdict in verdicts if verdict is Verdict.AGREES]
        return [d for d in prevailing if not self._is_replaced(d, claim, agreeing)], witnesses

    def _is_replaced(self, other: Claim, claim: Claim, agreeing: Sequence[Claim]) -> bool:
        """Whether a note from after a different claim confirms a claim."""
        memory = self.memory_of(other.source.note_id)
        if memory is not None and memory.verified:
            return False
        return any(is_older(other, later) and self._confirms(later, claim) for later in agreeing)

    def origin(self, claim: Claim) -> Origin:
        return origin_of_claim(claim, self.memory_of(claim.source.note_id))

    def _prevails(self, other: Claim, claim: Claim) -> bool:
        """Whether a different claim counts against a claim, rather than being older."""
        memory = self.memory_of(claim.source.note_id)
        other_memory = self.memory_of(other.source.note_id)
        if other_memory is not None and other_memory.verified:
            return memory is None or not memory.verified
        if day_of_claim(claim) is None and memory is not None and self.origin(claim).is_person:
            # The person's note without a day says what holds since it was written.
            day = day_of_claim(other)
            return day is None or day >= memory.created_at.date()
        return not is_older(other, claim)

    def _confirms(self, witness: Claim, claim: Claim) -> bool:
        """Whether the person made a witness's statement and still stands by its note.

        What they state confirms the same words of a client. A copy of their own words confirms
        nothing, nor do such words in an imported conversation: they may repeat what a client said.
        """
        group, origin = self.origin(witness).witness, self.origin(claim)
        is_persons = group == "person" or (group == "import" and origin.witness != "import")
        is_copy = (origin.is_person or group == "import") and not independent(claim, witness)
        return (
            is_persons
            and not is_copy
            and not self._is_withdrawn(witness.source.note_id)
            and not self._is_set_apart(witness)
        )

    def _is_withdrawn(self, note_id: str) -> bool:
        """Whether the person marked a note as wrong, or a supersession outdates it."""
        memory = self.memory_of(note_id)
        if memory is None or memory.is_marked_wrong:
            return True
        return note_id in outdated_notes(self.stated_conflicts([note_id]), self.memory_of)

    def _is_set_apart(self, claim: Claim) -> bool:
        """Whether its note quotes a claim, strikes it out or has it as an open task."""
        source = claim.source
        if source.is_property:
            return False
        try:
            text = self.read(source.path).decode("utf-8", "replace")
        except MemvaultError:
            return True
        lines = bare_lines(text)[source.lines.first - 1 : source.lines.last]
        return is_set_apart(lines, claim.sentence, claim.value_text)

    def _evidence(self, claim: Claim) -> Evidence:
        source = claim.source
        memory = self.memory_of(source.note_id)
        is_persons = self.origin(claim).is_person
        is_claim = not is_persons and not (memory and memory.verified)
        stated = f"{claim.label}: {claim.value_text}"
        return Evidence(
            source.note_id,
            source.title,
            source.path,
            source.lines,
            claim.sentence,
            stated,
            is_claim,
            origin=OriginKind.PERSON if is_persons else None,
        )
