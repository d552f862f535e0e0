"""The second stage of recall: checks found memories against other notes (triple 2.7).

Text that the person typed or marked as verified counts as verified. Text that others wrote is a
claim. A claim is verified if the person's own words, not copied from it, state the same value of
the same attribute of the same subject, and none of them state another value. Clients confirm
neither their own claims nor each other's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memvault.model.errors import MemvaultError, StoreUnavailable
from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.model.note import ChunkSize, LineRange
from memvault.model.provenance import Origin, OriginKind
from memvault.model.search import Conflict, ConflictKind, Evidence, Hit, Scope, Status, Verification
from memvault.search.relations.edge_templates import literals
from memvault.stores.vectors import VectorStore
from memvault.text.name_matcher import NameMatcher
from memvault.vault.frontmatter.properties import read_date
from memvault.verification.agreement import Verdict, compare, independent, is_older, moment
from memvault.verification.amounts import AmountKind
from memvault.verification.claims import NAME, Claim, Source
from memvault.verification.clause import FindNames, stems_of
from memvault.verification.doubt import is_set_apart
from memvault.verification.reading import Passages
from memvault.verification.sensitive_topics import Gate, sensitive_topic_of

WITNESSES = 20  # passages searched in addition to the found ones (FR-44)
MAX_READ = 3  # first memories that are read in full for a value of the requested kind
MAX_SHOWN = 3  # pieces of evidence
DOUBT = 0.6  # score of an unconfirmed claim (triple 11.3); below 0.7 (FR-46)
_KINDS = {"how much": AmountKind.MONEY, "when": AmountKind.DATE, "how long": AmountKind.SPAN}
_NO_ANSWERS = {
    AmountKind.MONEY: (AmountKind.DATE, AmountKind.TIME, AmountKind.SPAN, AmountKind.VERSION),
    AmountKind.DATE: (AmountKind.MONEY, AmountKind.SHARE, AmountKind.MEASURE, AmountKind.VERSION),
    AmountKind.SPAN: (AmountKind.MONEY, AmountKind.SHARE, AmountKind.VERSION),
}

MemoryOf = Callable[[str], Memory | None]
StatedConflicts = Callable[[Collection[str]], Iterable[Conflict]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as read.

    Attributes:
        words: the stems of its words.
        things: the keys of the nodes that it names.
        kind: the kind of value that answers it, if known.
        who: whether it asks for a person.
    """

    words: frozenset[str]
    things: frozenset[str]
    kind: AmountKind | None
    who: bool


class Verifier:
    """Checks memories. Thread-safe.

    Args:
        find_names: finds the names of the vault in a text (`clause.FindNames`).
        stated_conflicts: gives the contradictions and supersessions that notes state of memories.
        read: gives a note's bytes, by path.
        names_state: gives a number that changes whenever ``find_names`` may give other results.
    """

    def __init__(
        self,
        vectors: VectorStore,
        memory_of: MemoryOf,
        find_names: FindNames,
        stated_conflicts: StatedConflicts,
        names_state: Callable[[], int] = lambda: 0,
        *,
        read: Callable[[str], bytes],
    ) -> None:
        self._gate = Gate(read)
        self._read = read
        self._vectors = vectors
        self._memory_of = memory_of
        self._find_names = find_names
        self._passages = Passages(find_names, names_state)
        self._stated_conflicts = stated_conflicts

    def matter_of(self, query: str) -> str | None:
        """The sensitive topic of a question, or None."""
        return sensitive_topic_of(query)

    def withhold(self, hits: Sequence[Hit]) -> None:
        """Reduce these hits to the text that may answer a sensitive question."""
        for hit in hits:
            self._gate.narrow(hit)

    def verify(
        self, query: str, hits: Sequence[Hit], scope: Scope | None = None
    ) -> list[Verification]:
        """The verification of each hit, in the same order."""
        own = self._answering(query, hits)
        claims = [claim for some in own for claim in some]
        pool = self.witnesses(claims, scope) if claims else []
        pool += claims
        opposed = self._opposed([hit.memory.id for hit in hits])
        return [
            self.verdict(hit.memory, relevant, pool, opposed.get(hit.memory.id, ()), hit.lines)
            for hit, relevant in zip(hits, own, strict=True)
        ]

    def claims(self, query: str, hits: Sequence[Hit], scope: Scope | None = None) -> list[Claim]:
        """The claims of these memories that answer a question, then comparable claims of others.

        In a note with several authors, the person's words are always read, whatever passage was
        found.
        """
        asked = self._asked(query)
        own = [
            claim
            for rank, hit in enumerate(hits)
            for part in (*self._own_part(hit), hit)
            for claim in self._answers(asked, part, rank)
        ]
        told = self.witnesses(own, scope) if own else []
        bearing = (w for w in told if any(compare(c, w) is not Verdict.APART for c in own))
        return list(dict.fromkeys((*own, *bearing)))

    def _answering(self, query: str, hits: Sequence[Hit]) -> list[list[Claim]]:
        asked = self._asked(query)
        return [self._answers(asked, hit, rank) for rank, hit in enumerate(hits)]

    # -- what is checked ------------------------------------------------------------------------

    def _asked(self, query: str) -> Asked:
        low = " ".join(query.lower().split())
        names = self._find_names(query, None)
        rest = query
        capitals = [span for span in literals(query) if query[span[0]].isupper()]
        for start, end in sorted([(a, b) for a, b, _ in names] + capitals, reverse=True):
            rest = rest[:start] + " " * (end - start) + rest[end:]
        kind = next((kind for words, kind in _KINDS.items() if words in low), None)
        return Asked(
            stems_of(rest), frozenset(key for *_, key in names), kind, low.startswith("who")
        )

    def _answers(self, asked: Asked, hit: Hit, rank: int) -> list[Claim]:
        """The claims of a memory that answer the question.

        These are the claims about an attribute that the question names; else, in the first
        memories, the only claim with the requested kind of value.
        """
        source = source_of(hit.memory, hit.heading, hit.lines)
        said = self.passage(hit.text, source, asked.words)
        said += self.fields(hit.memory, asked.words)
        named = [
            c
            for c in said
            if c.attribute & asked.words and _may_answer(c, asked) and self._is_meant(c, asked)
        ]
        if named or rank >= MAX_READ or (asked.kind is None and not asked.who):
            return named
        said = self.passage(hit.text, source)
        fitting = [c for c in said if _fits(c, asked) and self._is_meant(c, asked)]
        return fitting if len(fitting) == 1 else []

    def _own_part(self, hit: Hit) -> list[Hit]:
        """The hit reduced to the person's words, if the note has several authors; else empty."""
        if not hit.memory.provenance.is_mixed:
            return []
        text = self._gate.own_text(hit.memory)
        last = max(hit.lines.last, hit.memory.provenance.spans[-1].last)
        return [replace(hit, text=text, heading="", lines=LineRange(1, last))]

    def _is_meant(self, claim: Claim, asked: Asked) -> bool:
        return not asked.things or not asked.things.isdisjoint(self._meant(claim))

    def _meant(self, claim: Claim) -> frozenset[str]:
        """The keys of the nodes that a claim is about, with its note and its project."""
        value = claim.value
        told = frozenset({value.removeprefix(NAME)}) if isinstance(value, str) else frozenset[str]()
        named = self._find_names(claim.source.project, None) if claim.source.project else ()
        project = frozenset(key for *_, key in named)
        return claim.subjects | told | project | {claim.source.note_id}

    def fields(self, memory: Memory, wanted: frozenset[str] | None = None) -> list[Claim]:
        """The claims of a note's own frontmatter."""
        lines = [
            f"{key}: {value}"
            for key, value in memory.metadata.items()
            if isinstance(value, str | int | float) and not isinstance(value, bool)
        ]
        if not lines:
            return []
        source = replace(source_of(memory, "", LineRange(1, 1)), is_property=True)
        return self.passage("\n".join(lines), source, wanted)

    def passage(
        self, text: str, source: Source, wanted: frozenset[str] | None = None
    ) -> list[Claim]:
        """The claims of a passage, cached; see `Passage.claims`."""
        return self._passages.claims(text, source, wanted)

    # -- what it is checked against -------------------------------------------------------------

    def witnesses(self, claims: Sequence[Claim], scope: Scope | None = None) -> list[Claim]:
        """The claims in the rest of the vault about the attributes and subjects of these claims."""
        wanted = frozenset(stem for claim in claims for stem in claim.attribute)
        found: list[Claim] = []
        for note_id in {key for claim in claims for key in claim.subjects}:
            memory = self._memory_of(note_id)
            if memory is not None:
                found += self.fields(memory, wanted)
        project = Scope(project=scope.project) if scope is not None else None
        try:
            ranked = self._vectors.rank_keywords(
                self._query(claims), WITNESSES, size=ChunkSize.PASSAGE, scope=project
            )
            chunks = self._vectors.read(ranked.chunk_ids)
        except StoreUnavailable:
            return found
        for chunk in (chunks[key] for key in ranked.chunk_ids if key in chunks):
            memory = self._memory_of(chunk.note_id)
            if memory is not None:
                source = source_of(memory, chunk.heading, chunk.lines)
                found += self.passage(chunk.text, source, wanted)
        return found

    def _query(self, claims: Sequence[Claim]) -> str:
        words: dict[str, None] = {}
        for claim in claims:
            words[claim.label] = None
            for key in claim.subjects:
                memory = self._memory_of(key)
                words[memory.title if memory is not None else key] = None
        return " ".join(words)

    def _opposed(self, ids: Sequence[str]) -> dict[str, list[Evidence]]:
        """The conflicts that notes state with each of these memories, as evidence against it."""
        found: dict[str, list[Evidence]] = {}
        for conflict in self._stated_conflicts(ids):
            first, second = conflict.sides
            is_claim = self._is_claimed(conflict)
            pairs = [(second, first)]
            if conflict.kind is ConflictKind.CONTRADICTION:
                pairs.append((first, second))
            for told, telling in pairs:
                memory = self._memory_of(telling.node.id)
                if memory is not None and told.node.id in ids:
                    line = telling.line or 1
                    lines = LineRange(line, line)
                    found.setdefault(told.node.id, []).append(
                        Evidence(
                            memory.id, memory.title, memory.path, lines, telling.text,
                            conflict.kind.value, is_claim,
                        )
                    )  # fmt: skip
        return found

    def _is_claimed(self, conflict: Conflict) -> bool:
        """Whether somebody other than the person wrote the line that states a conflict."""
        side = next(each for each in conflict.sides if each.line is not None)
        memory = self._memory_of(side.node.id)
        if memory is None or side.line is None:
            return True
        return not memory.provenance.of_lines(LineRange(side.line, side.line)).is_person

    # -- the verdict ----------------------------------------------------------------------------

    def verdict(
        self,
        memory: Memory,
        claims: Sequence[Claim],
        pool: Sequence[Claim],
        opposed: Sequence[Evidence] = (),
        lines: LineRange | None = None,
    ) -> Verification:
        """The verification of a memory, from its own claims and those of others.

        Args:
            lines: the found passage; decides whose words they are if no claim answers the question.
        """
        own_claims = [claim for claim in claims if self._origin(claim).is_person]
        claims = _with_their_days(own_claims or claims)
        against, confirmed, sure = self._weighed(claims, pool)
        answers = bool(claims)
        shown = (*opposed, *against)[:MAX_SHOWN]
        if memory.verified:
            return Verification(
                Status.VERIFIED, 1.0, True, answers, confirmed, shown, marked=True
            )  # fmt: skip
        own = self._is_own(memory, claims, lines)
        strong = [each for each in (*opposed, *against) if not (own and each.is_claim)]
        if strong:
            witnesses = len({each.note_id for each in strong})
            backed = len({each.note_id for each in confirmed})
            score = DOUBT * (1 + backed) / (1 + backed + witnesses)
            return Verification(Status.CONTRADICTED, score, own, answers, confirmed, shown)
        if (own or sure) and not _marked_wrong(memory):
            stated = tuple(dict.fromkeys(claim.sentence for claim in claims))
            return Verification(
                Status.VERIFIED, 1.0, own, answers, confirmed, shown, stated=stated
            )  # fmt: skip
        return Verification(Status.UNVERIFIED, DOUBT, own, answers, confirmed, shown)

    def _is_own(self, memory: Memory, claims: Sequence[Claim], lines: LineRange | None) -> bool:
        """Whether the answering claims, or else the found lines, are the person's words."""
        provenance = memory.provenance
        if provenance.is_person:
            return True
        if claims:
            return all(self._origin(claim).is_person for claim in claims)
        return lines is not None and provenance.is_mixed and not provenance.covers(lines)

    def _origin(self, claim: Claim) -> Origin:
        return origin_of(claim, self._memory_of(claim.source.note_id))

    def _confirms(self, witness: Claim, claim: Claim) -> bool:
        """Whether the person made a witness's statement, and independently of the claim."""
        said = self._origin(witness).witness
        is_person = said == "person" or (
            said == "import" and self._origin(claim).witness != "import"
        )
        return is_person and independent(claim, witness) and not self._is_set_apart(witness)

    def _is_set_apart(self, claim: Claim) -> bool:
        """Whether its note quotes it, strikes it out or has yet to do it."""
        source = claim.source
        if source.is_property:
            return False
        try:
            text = self._read(source.path).decode("utf-8", "replace")
        except MemvaultError:
            return True
        lines = text.splitlines()[source.lines.first - 1 : source.lines.last]
        return is_set_apart(lines, claim.sentence, claim.shown)

    def _weighed(
        self, claims: Sequence[Claim], pool: Sequence[Claim]
    ) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...], bool]:
        """The evidence against these claims, for them, and whether every claim is confirmed.

        If the days of two notes are known, the later prevails: the earlier note is no evidence
        against it, and notes from before a change do not confirm the new value.
        """
        against: dict[str, Evidence] = {}
        confirmed: dict[str, Evidence] = {}
        sure = any(claim.asserted and not claim.outdated for claim in claims)
        for claim in claims:
            if claim.outdated:
                continue
            told = [
                (other, compare(claim, other))
                for other in pool
                if other.source.note_id != claim.source.note_id
            ]
            differing = [other for other, verdict in told if verdict is Verdict.DIFFERS]
            alike = [other for other, verdict in told if verdict is Verdict.AGREES]
            for other in differing:
                if self._holds_against(other, claim):
                    against.setdefault(other.source.note_id, self._evidence(other))
            good = [
                o
                for o in alike
                if self._confirms(o, claim) and not any(is_older(o, d) for d in differing)
            ]
            for other in good:
                confirmed.setdefault(other.source.note_id, self._evidence(other))
            sure = sure and bool(good) and not self._disputed(claim, differing)
        return tuple(against.values()), tuple(confirmed.values())[:MAX_SHOWN], sure

    def _evidence(self, claim: Claim) -> Evidence:
        source = claim.source
        memory = self._memory_of(source.note_id)
        is_claim = not self._origin(claim).is_person and not (memory and memory.verified)
        said = f"{claim.label}: {claim.shown}"
        return Evidence(
            source.note_id, source.title, source.path, source.lines, claim.sentence, said, is_claim
        )

    def _holds_against(self, other: Claim, claim: Claim) -> bool:
        own, theirs = self._memory_of(claim.source.note_id), self._memory_of(other.source.note_id)
        if theirs is not None and theirs.verified:
            return own is None or not own.verified
        if moment(claim) is None and own is not None and self._origin(claim).is_person:
            # The person's note without a day says what holds since it was written.
            day = moment(other)
            return day is None or day >= own.created_at.date()
        return not is_older(other, claim)

    def _disputed(self, claim: Claim, differing: Sequence[Claim]) -> bool:
        return any(self._holds_against(other, claim) for other in differing)


def names_in(rules: NameMatcher) -> FindNames:
    """A function that finds the certain names of the vault in a text, without tags."""

    def find(text: str, exclude: str | None) -> list[tuple[int, int, str]]:
        return [
            (mention.start, mention.end, mention.name.target)
            for mention in rules.find(text, exclude=exclude)
            if mention.certain and mention.name.kind != NodeKind.TAG
        ]

    return find


def origin_of(claim: Claim, memory: Memory | None) -> Origin:
    """The origin of a claim of this memory."""
    if memory is None:
        return Origin(kind=OriginKind.MEMVAULT)
    if claim.source.is_property:
        return memory.provenance.of_property(claim.sentence)
    return memory.provenance.of_sentence(claim.sentence, claim.source.lines)


def source_of(memory: Memory, heading: str, lines: LineRange) -> Source:
    when = memory.date.date() if memory.date is not None else None
    if when is not None and not _is_own_day(when, memory):
        when = None
    return Source(
        memory.id, memory.path, memory.title, heading, lines, memory.type, memory.project, when
    )


def _is_own_day(day: date, memory: Memory) -> bool:
    """Whether a note's day is from its path or its writer's properties, and not from a property
    that a client set in the person's note."""
    provenance = memory.provenance
    if not provenance.is_mixed:
        return True
    said = (memory.path, *provenance.own_properties)
    days = (read_date(text) for text in said)
    digits = f"{day:%Y %m %d}"  # as `plain_words` leaves a date
    return any(each is not None and each.date() == day for each in days) or any(
        digits in text for text in said
    )


def _with_their_days(claims: Sequence[Claim]) -> list[Claim]:
    """The claims of a note without those that another one repeats with a day."""
    since = [claim for claim in claims if moment(claim) is not None]
    return [
        claim
        for claim in claims
        if moment(claim) is not None
        or all(compare(claim, other) is not Verdict.AGREES for other in since)
    ]


def _may_answer(claim: Claim, asked: Asked) -> bool:
    """Whether a claim's kind of value may answer: no day for "how much", no sum for "when"."""
    never = _NO_ANSWERS.get(asked.kind) if asked.kind is not None else None
    return never is None or isinstance(claim.value, str) or claim.value.kind not in never


def _fits(claim: Claim, asked: Asked) -> bool:
    if isinstance(claim.value, str):
        return asked.who and claim.value.startswith(NAME)
    return claim.value.kind is asked.kind


def _marked_wrong(memory: Memory) -> bool:
    """Whether the person marked the note as wrong."""
    said = memory.metadata.get("verified") is False
    return said and memory.provenance.of_property("verified: false").is_person
