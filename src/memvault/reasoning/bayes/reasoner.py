"""Answers questions about probability from the statements of notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memvault.config.settings import ReasoningSettings
from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.search import Hit, Scope
from memvault.reasoning.bayes.competing_values import (
    VALUE,
    CompetingValues,
    Witness,
    add_contest,
    answering,
    contest_of,
)
from memvault.reasoning.bayes.inference import posterior
from memvault.reasoning.bayes.influences import Influence, Influences, Stated
from memvault.reasoning.bayes.network import FALSE, TRUE, Network, Surroundings, surroundings
from memvault.reasoning.bayes.question import (
    EvidenceUsed,
    Outcome,
    ProbabilityAnswer,
    Question,
    read_question,
)
from memvault.reasoning.bayes.source_weights import REPLACED, moment_of, recency, weight, wilson
from memvault.search.scope import in_scope
from memvault.stores.graph_view import GraphView, node_ref
from memvault.verification.agreement import day_of, is_older
from memvault.verification.claim_sources import origin_of
from memvault.verification.claims import Claim
from memvault.verification.vault_names import FindNames

LOOKED_AT = 20  # memories that may state the answer
WHOLE_NOTE = "what the note itself says"
NOTHING = (
    "No note states a value for this, and none names a cause of it or a reason against it. Use "
    "recall_memory for what the notes say, or give the note or concept as target."
)
UNCONFIRMED = "Not the person's word, and confirmed by nobody: {values}."
NOT_CONNECTED = "Changes nothing, since no note connects it with what is asked: {names}."

FindMemories = Callable[[str, int, Scope | None], Sequence[Hit]]
ClaimsOf = Callable[[str, Sequence[Hit], Scope | None], Sequence[Claim]]
Truths = Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class ProbabilityQuery:
    """A question, or the id of a target node.

    ``given`` are observations by node id, ``done`` are interventions by node id.
    """

    query: str = ""
    target: str | None = None
    given: Truths = field(default_factory=dict)
    done: Truths = field(default_factory=dict)
    scope: Scope | None = None


class Reasoner:
    """Answers questions about probability. Thread-safe.

    Args:
        claims_of: gives the claims about a question in these memories and others found with them.
        find_names: finds the spans of a text that name nodes of the vault.
    """

    def __init__(
        self,
        edges: GraphView,
        memory_of: Callable[[str], Memory | None],
        *,
        find: FindMemories,
        claims_of: ClaimsOf,
        find_names: FindNames,
        settings: ReasoningSettings,
    ) -> None:
        self._edges = edges
        self._memory_of = memory_of
        self._find = find
        self._claims_of = claims_of
        self._find_names = find_names
        self._settings = settings

    def ask(self, asked: ProbabilityQuery) -> ProbabilityAnswer:
        """The probability of each answer.

        Raises:
            CausalInferenceError: the observations contradict each other.
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        question = read_question(asked.query)
        asked = self._with_conditions(asked, question)
        named = list(dict.fromkeys(key for *_, key in self._find_names(question.matter, None)))
        if asked.target is not None:
            return self._of_thing(asked, asked.target)
        moved = [key for key in named if self._is_influenced(key, asked.scope)]
        if question.of_chance and moved:
            return self._of_thing(asked, self._likeliest(moved))
        contest = self._contest(asked, question)
        if contest is not None:
            return self._of_values(asked, contest)
        target = self._likeliest(moved) if moved else self._followed(asked)
        if target is None:
            return ProbabilityAnswer(question.matter, notice=NOTHING)
        return self._of_thing(asked, target)

    # -- the question -----------------------------------------------------------------------------

    def _with_conditions(self, asked: ProbabilityQuery, question: Question) -> ProbabilityQuery:
        given, done = dict(asked.given), dict(asked.done)
        for condition in question.conditions:
            for *_, key in self._find_names(condition.text, None):
                if key not in asked.given and key not in asked.done:
                    (done if condition.done else given)[key] = condition.holds
        return ProbabilityQuery(asked.query, asked.target, given, done, asked.scope)

    def _is_influenced(self, key: str, scope: Scope | None) -> bool:
        influences = self.influences([key]).of(key)
        allowed = self.allowed(scope)
        return allowed(key) and any(allowed(i.cause) and allowed(i.effect) for i in influences)

    def _likeliest(self, moved: Sequence[str]) -> str:
        """The node that is influenced most, since questions usually ask about effects."""

        def borne(key: str) -> float:
            return sum(i.strength for i in self.influences([key]).of(key) if i.effect == key)

        return max(moved, key=borne)

    def _followed(self, asked: ProbabilityQuery) -> str | None:
        """The node most affected by the evidence, or None; for a question that names no target."""
        known = {**asked.given, **asked.done}
        if not asked.query or not known:
            return None
        allowed = self.allowed(asked.scope)
        borne = [
            each
            for key in known
            for each in self.influences([key]).of(key)
            if each.cause == key and each.effect not in known and allowed(each.effect)
        ]
        return max(borne, key=lambda i: i.strength).effect if borne else None

    def _contest(self, asked: ProbabilityQuery, question: Question) -> CompetingValues | None:
        found = self._find(question.matter, LOOKED_AT, asked.scope)
        claims = self._claims_of(question.matter, found, asked.scope)
        return contest_of(answering(claims, question.matter), self._group_of)

    def _group_of(self, claim: Claim) -> str:
        """The group that made a claim; "" for a claim that the person made or verified.

        All clients are one group, since they choose their own names.
        """
        memory = self._memory_of(claim.source.note_id)
        group = origin_of(claim, memory).witness or "memvault"
        is_persons = group in ("person", "import") or (memory is not None and memory.verified)
        return "" if is_persons else group

    # -- answers ----------------------------------------------------------------------------------

    def _of_thing(self, asked: ProbabilityQuery, target: str) -> ProbabilityAnswer:
        known = dict.fromkeys((*asked.given, *asked.done))
        reader = self.influences([target, *known])
        around = surroundings([target, *known], reader.of, self.allowed(asked.scope))
        network = around.network(reader.sources_of, self.name_of)
        bearing = [each for each in around.influences if target in (each.cause, each.effect)]
        own = reader.sources_of(target)
        if not bearing and self._memory_of(target) is None:
            return ProbabilityAnswer(self.name_of(target), notice=NOTHING)
        stating = {s.memory_id: s.weight for each in bearing for s in each.stated}
        stating.pop(target, None)
        probable = self._posterior(asked, network, target, {}, own + sum(stating.values()))
        return replace(
            probable,
            evidence=self._evidence(asked, target, around, network),
            notice=self._unconnected(asked, around, [target]),
        )

    def _of_values(self, asked: ProbabilityQuery, contest: CompetingValues) -> ProbabilityAnswer:
        known = dict.fromkeys((*asked.given, *asked.done))
        notes = list(dict.fromkeys(each.claim.source.note_id for each in contest.witnesses))
        weights = self._weights(contest)
        reader = self.influences(notes)

        def between_words(key: str) -> Iterable[Influence]:
            return (each for each in reader.of(key) if each.of_words)

        around = surroundings([*notes, *known], between_words, self.allowed(asked.scope))
        strongest = {
            note: max(w for each, w in weights if each.claim.source.note_id == note)
            for note in notes
        }
        network = around.network(
            lambda key: strongest[key] if key in strongest else reader.sources_of(key),
            self.name_of,
        )
        spoken = add_contest(network, contest)
        sources = sum(each.share * w for each, w in weights)
        probable = self._posterior(asked, network, VALUE, spoken, sources)
        evidence = [self._of_witness(each, w, contest) for each, w in weights]
        evidence += [
            each
            for each in self._evidence(asked, VALUE, around, network)
            if each.memory_id not in notes
        ]
        return replace(
            probable,
            evidence=tuple(sorted(evidence, key=lambda each: -each.weight)),
            notice=_joined(_unconfirmed(contest), self._unconnected(asked, around, notes)),
        )

    def _posterior(
        self,
        asked: ProbabilityQuery,
        network: Network,
        target: str,
        seen: Mapping[str, int],
        sources: float,
    ) -> ProbabilityAnswer:
        changed = network.done(_states(asked.done))
        evidence = {**seen, **_states(asked.given)}
        for key, value in asked.done.items():
            evidence[key] = evidence.get(key, int(value))
        found = posterior(changed, target, evidence, self._settings.exact_ms / 1e3)
        variable = network.variables[target]
        outcomes = [
            Outcome(name, chance, *wilson(min(1.0, max(0.0, chance)), sources))
            for name, chance in zip(variable.states, found.probabilities, strict=True)
        ]
        return ProbabilityAnswer(
            variable.name,
            tuple(sorted(outcomes, key=lambda each: -each.probability)),
            given=tuple((node_ref(key, self._edges), v) for key, v in asked.given.items()),
            done=tuple((node_ref(key, self._edges), v) for key, v in asked.done.items()),
            approximate=found.approximate,
        )

    # -- the evidence -----------------------------------------------------------------------------

    def _weights(self, contest: CompetingValues) -> list[tuple[Witness, float]]:
        """Each witness with the weight of its note; ages count from the latest witness.

        An unconfirmed claim weighs no more than any claim of the person.
        """
        told = [
            (each, memory, moment_of(memory, day_of(each.claim)))
            for each in contest.witnesses
            if (memory := self._memory_of(each.claim.source.note_id)) is not None
        ]
        latest = max((when for *_, when in told), default=datetime.now(UTC))
        half_life = self._settings.half_life_days
        weights = [
            (each, weight(memory, recency(when, latest, half_life)) * _left(each, contest))
            for each, memory, when in told
        ]
        least = min((w for each, w in weights if not each.group), default=None)
        return [
            (each, w if least is None or not each.group else min(w, least)) for each, w in weights
        ]

    def _of_witness(
        self, witness: Witness, note_weight: float, contest: CompetingValues
    ) -> EvidenceUsed:
        source = witness.claim.source
        says = contest.values[witness.value]
        return EvidenceUsed(
            source.note_id,
            source.title,
            source.path,
            f"{'denies' if witness.claim.negated else 'states'} {contest.label}: {says}",
            witness.share * note_weight,
            source.lines,
            witness.claim.sentence,
            str(origin_of(witness.claim, self._memory_of(source.note_id)).kind),
        )

    def _evidence(
        self, asked: ProbabilityQuery, target: str, around: Surroundings, network: Network
    ) -> tuple[EvidenceUsed, ...]:
        """The statements that inform the target, first those about the target itself."""
        known = {*asked.given, *asked.done}
        told = network.done(_states(asked.done)).narrowed([target, *known, *_spoken(network)])
        telling = told.active(target, known | _spoken(network))
        used: list[tuple[int, EvidenceUsed]] = []
        own = self._memory_of(target)
        if own is not None:
            weighs = self.influences([own.id]).sources_of(own.id)
            used.append((0, EvidenceUsed(own.id, own.title, own.path, WHOLE_NOTE, weighs)))
        for each in around.influences:
            kept = each.cause in told.parents.get(each.effect, ())
            if not kept or telling.isdisjoint((each.cause, each.effect)):
                continue
            said = f"{self.name_of(each.cause)} {each.kind} {self.name_of(each.effect)}"
            far = 1 if target in (each.cause, each.effect) else 2
            used += [(far, self._of_statement(stated, said)) for stated in each.stated]
        used.sort(key=lambda pair: (pair[0], -pair[1].weight, pair[1].path))
        return tuple(each for _, each in used)

    def _of_statement(self, stated: Stated, bearing: str) -> EvidenceUsed:
        memory = self._memory_of(stated.memory_id)
        assert memory is not None  # the reader gives statements of known memories only
        return EvidenceUsed(
            memory.id, memory.title, memory.path, bearing, stated.weight,
            LineRange(stated.line, stated.line), stated.sentence,
        )  # fmt: skip

    def _unconnected(
        self, asked: ProbabilityQuery, around: Surroundings, targets: Sequence[str]
    ) -> str | None:
        reached = _connected(targets, around.influences)
        loose = [key for key in (*asked.given, *asked.done) if key not in reached]
        if not loose:
            return None
        return NOT_CONNECTED.format(names=", ".join(map(self.name_of, dict.fromkeys(loose))))

    # -- for effects and inference ----------------------------------------------------------------

    def influences(self, about: Iterable[str]) -> Influences:
        """A reader of influences; ages count from the latest note about or naming these nodes."""
        keys = list(about)
        near = {e.source for key in keys for e in self._edges.of(key)[:20]} | set(keys)
        memories = (self._memory_of(key) for key in near)
        moments = [moment_of(memory) for memory in memories if memory is not None]
        latest = max(moments, default=datetime.now(UTC))
        return Influences(self._edges, self._memory_of, latest, self._settings.half_life_days)

    def allowed(self, scope: Scope | None) -> Callable[[str], bool]:
        def is_allowed(key: str) -> bool:
            memory = self._memory_of(key)
            return memory is None or in_scope(memory, scope)

        return is_allowed

    def name_of(self, key: str) -> str:
        return node_ref(key, self._edges).name or key


def _unconfirmed(contest: CompetingValues) -> str | None:
    """A notice of the values that only clients or memvault state, or None."""
    confirmed = {each.value for each in contest.witnesses if not each.group}
    claimed = [value for k, value in enumerate(contest.values) if k not in confirmed]
    return UNCONFIRMED.format(values=", ".join(claimed)) if claimed else None


def _joined(*notices: str | None) -> str | None:
    return " ".join(filter(None, notices)) or None


def _left(witness: Witness, contest: CompetingValues) -> float:
    """The share of its weight that a statement keeps after a later note states a change."""
    replaced = any(
        other.claim.updates
        and other.value != witness.value
        and is_older(witness.claim, other.claim)
        for other in contest.witnesses
    )
    return REPLACED if replaced else 1.0


def _spoken(network: Network) -> set[str]:
    """The variables of the witnesses, whose statements are evidence."""
    return {key for key, parents in network.parents.items() if VALUE in parents}


def _states(truths: Truths) -> dict[str, int]:
    return {key: TRUE if value else FALSE for key, value in truths.items()}


def _connected(start: Iterable[str], influences: Sequence[Influence]) -> set[str]:
    reached = set(start)
    waiting = list(reached)
    near: dict[str, list[str]] = {}
    for each in influences:
        near.setdefault(each.cause, []).append(each.effect)
        near.setdefault(each.effect, []).append(each.cause)
    while waiting:
        for far in near.get(waiting.pop(), ()):
            if far not in reached:
                reached.add(far)
                waiting.append(far)
    return reached
