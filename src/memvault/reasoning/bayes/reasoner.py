"""Answers questions about probability from the statements of notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain

from memvault.config.settings import ReasoningSettings
from memvault.model.memory import MemoryOf
from memvault.model.note import LineRange
from memvault.model.search import FindMemories, Hit, Scope
from memvault.reasoning.bayes.competing_values import (
    VALUE,
    CompetingValues,
    Witness,
    add_competing_values,
    claims_answering,
    competing_values_of,
    weighed_witnesses,
)
from memvault.reasoning.bayes.inference import posterior
from memvault.reasoning.bayes.influence_graph import InfluenceGraph, influence_graph
from memvault.reasoning.bayes.influences import Influence, Influences, InfluenceSource
from memvault.reasoning.bayes.network import FALSE, TRUE, Network, reachable
from memvault.reasoning.bayes.probability import (
    EvidenceUsed,
    Outcome,
    ProbabilityQuery,
    ProbabilityQuestion,
    ProbabilityResult,
    Truths,
    read_question,
)
from memvault.reasoning.bayes.source_weights import moment_of, wilson
from memvault.search.scope import allowed_in
from memvault.stores.graph_view import GraphView, node_ref
from memvault.verification.claims.claim_sources import origin_of_claim
from memvault.verification.claims.claims import Claim
from memvault.verification.vault_names import FindNames

MAX_MEMORIES = 20  # that may state the answer
MAX_EDGES_DATED = 20  # edges of a node whose notes are compared to find the latest
WHOLE_NOTE = "what the note itself says"
NOTHING = (
    "No note states a value for this, and none names a cause of it or a reason against it. Use "
    "recall_memory for what the notes say, or give the note or concept as target."
)
UNCONFIRMED = "Not the person's word, and confirmed by nobody: {values}."
NOT_CONNECTED = "Changes nothing, since no note connects it with what is asked: {names}."

ClaimsOf = Callable[[str, Sequence[Hit], Scope | None], Sequence[Claim]]


@dataclass(frozen=True, slots=True)
class Reasoner:
    """Answers questions about probability. Thread-safe.

    Attributes:
        claims_of: gives the claims about a question in these memories and others found with them.
        find_names: finds the spans of a text that name nodes of the vault.
    """

    edges: GraphView
    memory_of: MemoryOf
    find: FindMemories
    claims_of: ClaimsOf
    find_names: FindNames
    settings: ReasoningSettings

    def ask(self, query: ProbabilityQuery) -> ProbabilityResult:
        """The probability of each answer.

        Raises:
            CausalInferenceError: the observations contradict each other.
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        question = read_question(query.text)
        query = self._with_conditions(query, question)
        named_ids = list(dict.fromkeys(key for *_, key in self.find_names(question.text, None)))
        if query.target is not None:
            return self._answer_for_node(query, query.target)
        influenced = [key for key in named_ids if self._is_influenced(key, query.scope)]
        competing = self._competing_values(query, question)
        is_on_value = competing is not None and question.names_value_like(competing.values)
        if question.asks_chance and influenced and not is_on_value:
            return self._answer_for_node(query, self._most_influenced(influenced))
        if competing is not None and (is_on_value or not question.is_on_statement):
            return self._answer_for_values(query, competing)
        target = self._most_influenced(influenced) if influenced else self._most_affected(query)
        if target is None:
            return ProbabilityResult(question.text, notice=NOTHING)
        return self._answer_for_node(query, target)

    # -- the question -----------------------------------------------------------------------------

    def _with_conditions(
        self, query: ProbabilityQuery, question: ProbabilityQuestion
    ) -> ProbabilityQuery:
        given, interventions = dict(query.given), dict(query.interventions)
        for condition in question.conditions:
            for *_, key in self.find_names(condition.text, None):
                if key not in query.evidence:
                    (interventions if condition.is_intervention else given)[key] = condition.holds
        return replace(query, given=given, interventions=interventions)

    def _is_influenced(self, key: str, scope: Scope | None) -> bool:
        influences = self.influences([key]).of(key)
        allowed = self.allowed(scope)
        return allowed(key) and any(allowed(i.cause) and allowed(i.effect) for i in influences)

    def _most_influenced(self, keys: Sequence[str]) -> str:
        """The node that is influenced most, since questions usually ask about effects."""

        def total_strength(key: str) -> float:
            return sum(i.strength for i in self.influences([key]).of(key) if i.effect == key)

        return max(keys, key=total_strength)

    def _most_affected(self, query: ProbabilityQuery) -> str | None:
        """The node most affected by the evidence, or None; for a question that names no target."""
        evidence = query.evidence
        if not query.text or not evidence:
            return None
        allowed = self.allowed(query.scope)
        affecting = [
            influence
            for key in evidence
            for influence in self.influences([key]).of(key)
            if influence.cause == key
            and influence.effect not in evidence
            and allowed(influence.effect)
        ]
        return max(affecting, key=lambda i: i.strength).effect if affecting else None

    def _competing_values(
        self, query: ProbabilityQuery, question: ProbabilityQuestion
    ) -> CompetingValues | None:
        hits = self.find(question.text, MAX_MEMORIES, query.scope)
        claims = self.claims_of(question.text, hits, query.scope)
        return competing_values_of(claims_answering(claims, question.text), self._group_of)

    def _group_of(self, claim: Claim) -> str:
        """The group that made a claim; "" for a claim that the person made or verified.

        All clients are one group, since they choose their own names.
        """
        memory = self.memory_of(claim.source.note_id)
        group = origin_of_claim(claim, memory).witness or "memvault"
        is_persons = group in ("person", "import") or (memory is not None and memory.verified)
        return "" if is_persons else group

    # -- answers ----------------------------------------------------------------------------------

    def _answer_for_node(self, query: ProbabilityQuery, target: str) -> ProbabilityResult:
        node_ids = [target, *query.evidence]
        reader = self.influences(node_ids)
        graph = influence_graph(node_ids, reader.of, self.allowed(query.scope))
        network = graph.network(reader.sources_of, self.name_of)
        touching = [
            influence
            for influence in graph.influences
            if target in (influence.cause, influence.effect)
        ]
        own_weight = reader.sources_of(target)
        if not touching and self.memory_of(target) is None:
            return ProbabilityResult(self.name_of(target), notice=NOTHING)
        stating_weights = {
            s.memory_id: s.weight for influence in touching for s in influence.stated
        }
        stating_weights.pop(target, None)
        answer = self._posterior(
            query, network, target, {}, own_weight + sum(stating_weights.values())
        )
        return replace(
            answer,
            evidence=self._evidence(query, target, graph, network),
            notice=self._unconnected(query, graph, [target]),
        )

    def _answer_for_values(
        self, query: ProbabilityQuery, competing: CompetingValues
    ) -> ProbabilityResult:
        notes = list(dict.fromkeys(witness.claim.source.note_id for witness in competing.witnesses))
        weights = weighed_witnesses(competing, self.memory_of, self.settings.half_life_days)
        reader = self.influences(notes)

        def between_notes_only(key: str) -> Iterable[Influence]:
            return (influence for influence in reader.of(key) if influence.between_notes)

        graph = influence_graph(
            [*notes, *query.evidence], between_notes_only, self.allowed(query.scope)
        )
        strongest = {
            note: max(w for witness, w in weights if witness.claim.source.note_id == note)
            for note in notes
        }
        network = graph.network(
            lambda key: strongest[key] if key in strongest else reader.sources_of(key),
            self.name_of,
        )
        statements = add_competing_values(network, competing)
        sources = sum(witness.share * w for witness, w in weights)
        answer = self._posterior(query, network, VALUE, statements, sources)
        evidence = [self._of_witness(witness, w, competing) for witness, w in weights]
        evidence += [
            used
            for used in self._evidence(query, VALUE, graph, network)
            if used.memory_id not in notes
        ]
        notices = (_unconfirmed(competing), self._unconnected(query, graph, notes))
        return replace(
            answer,
            evidence=tuple(sorted(evidence, key=lambda used: -used.weight)),
            notice=" ".join(filter(None, notices)) or None,
        )

    def _posterior(
        self,
        query: ProbabilityQuery,
        network: Network,
        target: str,
        statements: Mapping[str, int],
        sources: float,
    ) -> ProbabilityResult:
        changed = network.intervened(_states(query.interventions))
        evidence = {**_states(query.interventions), **statements, **_states(query.given)}
        result = posterior(changed, target, evidence, self.settings.exact_ms / 1e3)
        variable = network.variables[target]
        outcomes = [
            Outcome(name, chance, *wilson(min(1.0, max(0.0, chance)), sources))
            for name, chance in zip(variable.states, result.probabilities, strict=True)
        ]
        return ProbabilityResult(
            variable.name,
            tuple(sorted(outcomes, key=lambda outcome: -outcome.probability)),
            given=tuple((node_ref(key, self.edges), v) for key, v in query.given.items()),
            done=tuple((node_ref(key, self.edges), v) for key, v in query.interventions.items()),
            approximate=result.approximate,
        )

    # -- the evidence -----------------------------------------------------------------------------

    def _of_witness(
        self, witness: Witness, note_weight: float, competing: CompetingValues
    ) -> EvidenceUsed:
        source = witness.claim.source
        says = competing.values[witness.value]
        return EvidenceUsed(
            source.note_id,
            source.title,
            source.path,
            f"{'denies' if witness.claim.negated else 'states'} {competing.label}: {says}",
            witness.share * note_weight,
            source.lines,
            witness.claim.sentence,
            str(origin_of_claim(witness.claim, self.memory_of(source.note_id)).kind),
        )

    def _evidence(
        self, query: ProbabilityQuery, target: str, graph: InfluenceGraph, network: Network
    ) -> tuple[EvidenceUsed, ...]:
        """The statements that inform the target, first those about the target itself."""
        evidence_ids = query.evidence.keys() | _statement_variables(network)
        changed = network.intervened(_states(query.interventions))
        relevant = changed.restricted([target, *evidence_ids])
        informing = relevant.active(target, evidence_ids)
        used: list[tuple[int, EvidenceUsed]] = []
        note = self.memory_of(target)
        if note is not None:
            sources = self.influences([note.id]).sources_of(note.id)
            used.append((0, EvidenceUsed(note.id, note.title, note.path, WHOLE_NOTE, sources)))
        for influence in graph.influences:
            is_kept = influence.cause in relevant.parents.get(influence.effect, ())
            ends = (influence.cause, influence.effect)
            if not is_kept or informing.isdisjoint(ends):
                continue
            bearing = f"{self.name_of(ends[0])} {influence.kind} {self.name_of(ends[1])}"
            distance = 1 if target in ends else 2
            used += [(distance, self._of_statement(stated, bearing)) for stated in influence.stated]
        used.sort(key=lambda pair: (pair[0], -pair[1].weight, pair[1].path))
        return tuple(evidence for _, evidence in used)

    def _of_statement(self, stated: InfluenceSource, bearing: str) -> EvidenceUsed:
        memory = self.memory_of(stated.memory_id)
        assert memory is not None  # the reader gives statements of known memories only
        return EvidenceUsed(
            memory.id, memory.title, memory.path, bearing, stated.weight,
            LineRange(stated.line, stated.line), stated.sentence,
        )  # fmt: skip

    def _unconnected(
        self, query: ProbabilityQuery, graph: InfluenceGraph, targets: Sequence[str]
    ) -> str | None:
        ends = [(influence.cause, influence.effect) for influence in graph.influences]
        reached = reachable(targets, lambda key: chain.from_iterable(e for e in ends if key in e))
        unreached = [key for key in query.evidence if key not in reached]
        if not unreached:
            return None
        return NOT_CONNECTED.format(names=", ".join(map(self.name_of, unreached)))

    # -- for effects and inference ----------------------------------------------------------------

    def influences(self, node_ids: Iterable[str]) -> Influences:
        """A reader of influences; ages count from the latest note about or naming these nodes."""
        keys = list(node_ids)
        edges = (edge for key in keys for edge in self.edges.of(key)[:MAX_EDGES_DATED])
        notes = {edge.source for edge in edges} | set(keys)
        memories = (self.memory_of(key) for key in notes)
        moments = [moment_of(memory) for memory in memories if memory is not None]
        latest = max(moments, default=datetime.now(UTC))
        return Influences(self.edges, self.memory_of, latest, self.settings.half_life_days)

    def allowed(self, scope: Scope | None) -> Callable[[str], bool]:
        return allowed_in(scope, self.memory_of)

    def name_of(self, key: str) -> str:
        return node_ref(key, self.edges).name or key


def _unconfirmed(competing: CompetingValues) -> str | None:
    """A notice of the values that only clients or memvault state, or None."""
    confirmed = {witness.value for witness in competing.witnesses if not witness.group}
    claimed = [value for k, value in enumerate(competing.values) if k not in confirmed]
    return UNCONFIRMED.format(values=", ".join(claimed)) if claimed else None


def _statement_variables(network: Network) -> set[str]:
    """The variables of the witnesses, whose statements are evidence."""
    return {key for key, parents in network.parents.items() if VALUE in parents}


def _states(truths: Truths) -> dict[str, int]:
    return {key: TRUE if value else FALSE for key, value in truths.items()}
