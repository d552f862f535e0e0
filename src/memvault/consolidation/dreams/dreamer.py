"""The two phases of a dream (REQ-AUTO-34, REQ-AUTO-35).

NREM replays recent memories: pairs that mean much the same, or were used together, get stronger by
the Hebbian rule Δw = η · pre · post, and clusters without a summary are proposed for one. REM
explores: it looks for missing links and for blind spots, and asks the vault questions.

Nothing is changed here. Each phase returns what it found, which is recorded at its end.
"""

from __future__ import annotations

import logging
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

import igraph
import numpy as np

from memvault.cognition.blind_spots import FAR_APART, MOST_AROUND, blind_spots
from memvault.cognition.similarity_index import SimilarityIndex
from memvault.consolidation.dreams.links import (
    NAMED,
    GoOn,
    Linked,
    MissingLink,
    are_linked,
    missing_links,
)
from memvault.consolidation.dreams.record import (
    MOST_STRENGTHENED,
    Discovery,
    DiscoveryKind,
    DreamPhase,
    Evidence,
    PhaseReport,
    Strengthened,
)
from memvault.model.errors import MemvaultError
from memvault.model.graph import (
    SHORTCUT_REWARD,
    SHORTCUT_TRAVERSALS,
    EdgeOrigin,
    GraphNode,
    NodeKind,
)
from memvault.model.memory import Lifecycle, Memory
from memvault.stores.graph_view import GraphView, edge_source

logger = logging.getLogger(__name__)
REPLAYED = 100  # recent memories
QUERIES = 50
LEARNING_RATE = 0.1  # η of the Hebbian rule
STRONG = 0.25  # strength from which two memories should be linked: some ten replays
RELATED_COSINE = 0.7  # from which two linked memories are strengthened together
RELATED = 20  # of each memory that are compared
CLUSTERED = 2_000  # nodes that are clustered at once: Leiden takes 30 ms for them
CLUSTER_SIZES = (4, 12)
CLUSTER_COSINE = 0.45  # mean, of a cluster about one subject
SUBJECT_SPREAD = 3  # notes that name the subject of a cluster, for each one in it
KEY_SENTENCES = 6
WALK_STEPS = 6
ANSWERED = 0.5  # relevance from which a memory answers a question
MOST_LINKS, MOST_SPOTS, MOST_SUMMARIES, MOST_QUESTIONS, MOST_ANSWERS = 3, 2, 2, 2, 2
MOST_SHORTCUTS = MOST_STRONG = 1
"""What one dream proposes at most, best first: a person decides about each."""
_SHARED_KINDS = {
    NodeKind.PERSON: "person", NodeKind.DATE: "date", NodeKind.EVENT: "event",
}  # fmt: skip


class TimeOver(Exception):
    """The time of a phase is over; what it found until then counts."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Nodes that were walked from the first to the last, how often, and the reward of that."""

    nodes: tuple[str, ...]
    times: int
    reward: float


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that answers a question, with the sentence that does."""

    memory: Memory
    relevance: float
    evidence: Evidence


@dataclass(frozen=True)
class Dreamer:
    """What a dream reads.

    Args:
        memory_of: the indexed memory of an id.
        recent: ids of so many memories, the last used or written first.
        together: pairs of memories that were used together.
        chains: chains of nodes that led to memories.
        strengths: what dreams added to the relations of a memory so far, by the other memory.
        utility: the rewards of a memory; negative if use speaks against it.
        key_sentences: the most central sentences of some notes.
        lead: a note's first sentence.
        ask: what the vault finds for a question, best first.
        questions: what the notes leave open, with the ids of the notes concerned, the weightiest
            first.
        unanswered: questions that found nothing, with when they were asked and by which client
            (empty for the person).
        answer: what was written since then and answers such a question.
        known: keys of the proposals that were made before.
        go_on: called between steps of some milliseconds; may pause, and raises to stop.
    """

    view: GraphView
    index: SimilarityIndex
    memory_of: Callable[[str], Memory | None]
    recent: Callable[[int], Sequence[str]]
    together: Sequence[tuple[str, str]]
    chains: Sequence[Chain]
    strengths: Callable[[str], Mapping[str, float]]
    utility: Callable[[str], float]
    key_sentences: Callable[[Sequence[Memory], int], Sequence[Evidence]]
    lead: Callable[[Memory], Evidence | None]
    ask: Callable[[str], Sequence[Found]]
    questions: Callable[[], Sequence[tuple[str, tuple[str, ...]]]]
    unanswered: Sequence[tuple[str, datetime, str]]
    answer: Callable[[str, datetime], Found | None]
    known: Collection[str]
    go_on: GoOn

    # -- NREM -----------------------------------------------------------------------------------

    def nrem(self, now: datetime) -> PhaseReport:
        """Replay recent memories."""
        found: list[Discovery] = []
        strengthened: dict[tuple[str, str], float] = {}
        replayed: list[str] = []
        complete = True
        try:
            for key in self.recent(REPLAYED):
                self.go_on()
                strengthened.update(self._replay(key))
                replayed.append(key)
            self._add(found, self._shortcuts(), MOST_SHORTCUTS)
            self._add(found, self._strong(strengthened), MOST_STRONG)
            self._add(found, self._summaries(replayed), MOST_SUMMARIES)
        except TimeOver:
            complete = False
        strongest = sorted(strengthened.items(), key=lambda item: (-item[1], item[0]))
        stronger = {key for pair in strengthened for key in pair}
        return PhaseReport(
            phase=DreamPhase.NREM,
            at=now,
            complete=complete,
            replayed=len(replayed),
            consolidated=len(stronger & set(replayed)),
            strengthened=tuple(
                Strengthened(first=one, second=other, added=round(added, 4))
                for (one, other), added in strongest[:MOST_STRENGTHENED]
            ),
            found=tuple(found),
        )

    def _replay(self, key: str) -> dict[tuple[str, str], float]:
        """What a memory's relations gain, by pair."""
        together = {other for pair in self.together if key in pair for other in pair}
        others = {*self.index.related(key, RELATED), *together} - {key}
        vectors = self.index.vectors([key, *others])
        own = vectors.get(key)
        gained: dict[tuple[str, str], float] = {}
        for other in others:
            vector = vectors.get(other)
            near = own is not None and vector is not None and float(own @ vector) > RELATED_COSINE
            if near or other in together:
                pair = (key, other) if key < other else (other, key)
                gained[pair] = LEARNING_RATE * self._activation(key) * self._activation(other)
        return gained

    def _activation(self, key: str) -> float:
        """Of a replayed memory, in [0, 1]: its importance, or what use says for it if that is
        more."""
        return max(self.index.importance(key), min(1.0, self.utility(key)))

    def _shortcuts(self) -> Iterator[Discovery]:
        """Chains that were walked more than five times and rewarded, and whose ends are not
        linked."""
        walked = sorted(self.chains, key=lambda chain: (-chain.times, chain.nodes))
        for chain in walked:
            self.go_on()
            if chain.times <= SHORTCUT_TRAVERSALS or chain.reward <= SHORTCUT_REWARD:
                continue
            one, other = self.memory_of(chain.nodes[0]), self.memory_of(chain.nodes[-1])
            if one and other and one.id != other.id and not self._linked(one.id, other.id):
                names = [node.name for key in chain.nodes[1:-1] if (node := self.view.node(key))]
                reason = f"you went {chain.times} times from one to the other by {', '.join(names)}"
                yield self._link(DiscoveryKind.SHORTCUT, (one, other), reason)

    def _strong(self, gained: Mapping[tuple[str, str], float]) -> Iterator[Discovery]:
        """Pairs that many dreams have strengthened and that are not linked, the strongest first."""
        strong = [
            (self.strengths(one).get(other, 0.0) + added, one, other)
            for (one, other), added in gained.items()
        ]
        for strength, one, other in sorted(strong, reverse=True):
            self.go_on()
            first, second = self.memory_of(one), self.memory_of(other)
            if strength < STRONG:
                return
            if first and second and not self._linked(one, other):
                reason = "they were used together, or are about the same, and in use for some time"
                yield self._link(DiscoveryKind.LINK, (first, second), reason)

    def _summaries(self, recent: Sequence[str]) -> Iterator[Discovery]:
        """Clusters of recent memories about one subject that no note sums up, the tightest first.

        Leiden: Traag and others, From Louvain to Leiden, Scientific Reports 9, 2019.
        """
        scored = []
        for members in self._clusters(recent):
            self.go_on()
            rows = self.index.rows(members)
            if len(rows.ids) < CLUSTER_SIZES[0]:
                continue
            centre = rows.matrix.mean(axis=0)
            cohesion = float(centre @ centre)  # the mean cosine of all pairs, their own included
            if cohesion >= CLUSTER_COSINE and not self._summed_up(rows.ids):
                nearest = np.argsort(-(rows.matrix @ centre))[: CLUSTER_SIZES[1]]
                scored.append((cohesion, [rows.ids[place] for place in nearest.tolist()]))
        for _, ids in sorted(scored, key=lambda each: (-each[0], each[1])):
            self.go_on()
            memories = [memory for key in ids if (memory := self.memory_of(key)) is not None]
            subject = self._subject([memory.id for memory in memories])
            sentences = self.key_sentences(memories, KEY_SENTENCES) if subject else ()
            if sentences:
                yield Discovery(
                    kind=DiscoveryKind.SUMMARY,
                    notes=tuple(memory.id for memory in memories),
                    paths=tuple(memory.path for memory in memories),
                    title=f"About {subject}",
                    reason=f"no note sums up {len(memories)} notes about {subject}",
                    evidence=tuple(sentences),
                )

    def _clusters(self, recent: Sequence[str]) -> list[list[str]]:
        """Clusters of the recent memories and what they are linked with; of the right size."""
        place: dict[str, int] = {}
        for key in recent:
            for near in (key, *self.index.related(key, RELATED)):
                if len(place) < CLUSTERED and self._may_link(near):
                    place.setdefault(near, len(place))
            self.go_on()
        weights: dict[tuple[int, int], float] = defaultdict(float)
        for key, at in place.items():
            for other in self.index.related(key, RELATED):
                if other in place:
                    pair = (min(at, place[other]), max(at, place[other]))
                    weights[pair] += 1.0
            self.go_on()
        if not weights:
            return []
        graph = igraph.Graph(n=len(place), edges=list(weights))
        parts = graph.community_leiden(
            objective_function="modularity", weights=list(weights.values())
        )
        ids = list(place)
        return [[ids[at] for at in part] for part in parts if len(part) >= CLUSTER_SIZES[0]]

    def _subject(self, ids: Sequence[str]) -> str | None:
        """The name of what at least half of these notes are linked with or name, and few others."""
        counts = Counter(
            end
            for key in ids
            for end in {e for edge in self.view.touching(key) for e in (edge.source, edge.target)}
            if end != key
        )
        for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            if count * 2 < len(ids):
                break
            node, edges = self.view.node(key), self.view.touching(key)
            if node is not None and len({edge.source for edge in edges}) <= SUBJECT_SPREAD * count:
                return node.name
        return None

    def _summed_up(self, ids: Sequence[str]) -> bool:
        """Whether some note links to half of these or more."""
        linking: dict[str, int] = defaultdict(int)
        for key in ids:
            for source in {edge.source for edge in self.view.touching(key)} - {key}:
                linking[source] += 1
        return max(linking.values(), default=0) * 2 >= len(ids)

    # -- REM ------------------------------------------------------------------------------------

    def rem(self, now: datetime) -> PhaseReport:
        """Explore: links, blind spots, questions."""
        found: list[Discovery] = []
        asked: list[bool] = []
        complete = True
        try:
            ids = [key for key in self.index.memory_ids() if self._may_link(key)]
            rows = self.index.rows(ids)
            links = missing_links(self.view, rows, len(self.known) + 10 * MOST_LINKS, self.go_on)
            self._add(found, map(self._proposed, links), MOST_LINKS)
            self._add(found, self._blind_spots(set(ids)), MOST_SPOTS)
            self._add(found, self._answered(asked), MOST_ANSWERS)
            self._add(found, self._asked(asked), MOST_QUESTIONS)
            self._walk(ids, random.Random(now.toordinal()), asked)
        except TimeOver:
            complete = False
        return PhaseReport(
            phase=DreamPhase.REM,
            at=now,
            complete=complete,
            queries=len(asked),
            unanswered=asked.count(False),
            found=tuple(found),
        )

    def _proposed(self, link: MissingLink) -> Discovery | None:
        one, other = self.memory_of(link.source), self.memory_of(link.target)
        if one is None or other is None or (link.naming and "[[" in link.naming.sentence):
            return None  # what brackets are left in a plain sentence stand in code
        if link.naming is not None:
            said = Evidence(path=one.path, line=link.naming.line, sentence=link.naming.sentence)
            reason = "one names the other without a link"
            return self._link(DiscoveryKind.LINK, (one, other), reason, ([said], []))
        node = self.view.node(link.shared or "")
        reason = "they are about similar things"
        if node is not None:
            reason += f" and both linked with {node.name}"
        said_of = (self._saying(one, link.shared), self._saying(other, link.shared))
        return self._link(DiscoveryKind.LINK, (one, other), reason, said_of)

    def _blind_spots(self, ids: set[str]) -> Iterator[Discovery]:
        """Notes that are far apart in meaning and share a cause; then a person or a day."""
        for spot in blind_spots(self.view, self.index, go_on=self.go_on):
            self.go_on()
            if spot.first in ids and spot.second in ids:
                yield from self._spot(spot.first, spot.second, spot.shared, "cause or effect")
        linked = Linked.of(self.view, ids, self.go_on)
        sharing: dict[str, set[str]] = defaultdict(set)
        for key, around in linked.around.items():
            node = self.view.node(key)
            if node is not None and node.kind in _SHARED_KINDS and self._is_certain(node):
                sharing[key] = around & ids
        for edge in (edge for edge in self.view.all() if edge.origin in NAMED):
            self.go_on()
            if edge.source in ids and edge.target in sharing:
                sharing[edge.target].add(edge.source)
        rare = sorted(sharing.items(), key=lambda item: (len(item[1]), item[0]))
        for shared, some in rare:
            if not 2 <= len(some) <= MOST_AROUND:
                continue
            self.go_on()
            vectors = self.index.vectors(some)
            for one, other in combinations(sorted(some), 2):
                first, second = vectors.get(one), vectors.get(other)
                if first is None or second is None or float(first @ second) >= FAR_APART:
                    continue
                if linked.around.get(one, set()) & linked.around.get(other, set()) <= {shared}:
                    node = self.view.node(shared)
                    yield from self._spot(
                        one, other, shared, _SHARED_KINDS[NodeKind(node.kind)] if node else ""
                    )

    def _is_certain(self, node: GraphNode) -> bool:
        """Whether the person says that there is such a thing, rather than only the recogniser,
        for which Linux is a person."""
        if node.path is not None or node.kind is NodeKind.DATE:
            return True
        return any(edge.origin is not EdgeOrigin.ENTITY for edge in self.view.touching(node.id))

    def _spot(self, one: str, other: str, shared: str, kind: str) -> Iterator[Discovery]:
        first, second, node = self.memory_of(one), self.memory_of(other), self.view.node(shared)
        if first and second and node and not self._linked(one, other):
            reason = f"they are about different things and have a {kind} in common: {node.name}"
            said = (self._saying(first, shared), self._saying(second, shared))
            yield self._link(DiscoveryKind.BLIND_SPOT, (first, second), reason, said)

    def _answered(self, asked: list[bool]) -> Iterator[Discovery]:
        """Notes that may answer what found nothing when it was asked."""
        for question, at, client in self.unanswered[:QUERIES]:
            self.go_on()
            found = self.answer(question, at)
            asked.append(found is not None)
            if found is not None:
                yield Discovery(
                    kind=DiscoveryKind.ANSWER,
                    notes=(found.memory.id,),
                    paths=(found.memory.path,),
                    title=question,
                    reason=f"{client or 'you'} asked this on {at:%Y-%m-%d} and no note told; "
                    f"“{found.memory.title}” now may",
                    evidence=(found.evidence,),
                )

    def _asked(self, asked: list[bool]) -> Iterator[Discovery]:
        """What the notes leave open: a note that may answer it, or the question itself."""
        for question, ids in self.questions()[:QUERIES]:
            self.go_on()
            concerned = [memory for key in ids if (memory := self.memory_of(key)) is not None]
            if not concerned:
                continue
            answers = [each for each in self.ask(question) if each.memory.id not in ids]
            asked.append(bool(answers) and answers[0].relevance >= ANSWERED)
            if asked[-1] and not self._linked(concerned[0].id, answers[0].memory.id):
                yield self._link(
                    DiscoveryKind.LINK,
                    (concerned[0], answers[0].memory),
                    f"the second may answer what the first leaves open: {question}",
                    ([], [answers[0].evidence]),
                )
            elif not asked[-1]:
                title, _, reason = question.partition("?")
                yield Discovery(
                    kind=DiscoveryKind.QUESTION,
                    notes=tuple(memory.id for memory in concerned[:2]),
                    paths=tuple(memory.path for memory in concerned[:2]),
                    title=f"{title}?",
                    reason=reason.strip(" .") or "no note answers it",
                    evidence=tuple(each for one in concerned[:2] for each in self._leads(one)),
                )

    def _walk(self, ids: Sequence[str], dice: random.Random, asked: list[bool]) -> None:
        """Walk from one subject to a far one, and ask what both have to do with each other."""
        for start in dice.sample(ids, min(len(ids), QUERIES)):
            if len(asked) >= QUERIES:
                return
            self.go_on()
            end = self._far_from(start, dice)
            one, other = self.memory_of(start), self.memory_of(end)
            if one is not None and other is not None and start != end:
                answers = self.ask(f"{one.title} {other.title}")
                asked.append(
                    any(
                        each.memory.id not in (start, end) and each.relevance >= ANSWERED
                        for each in answers
                    )
                )

    def _far_from(self, start: str, dice: random.Random) -> str:
        """Where a walk from a memory ends that goes to what is farthest in meaning."""
        own, at = self.index.vectors([start]).get(start), start
        for _ in range(WALK_STEPS):
            near = self.index.related(at, RELATED)
            vectors = self.index.vectors(near)
            far = [
                (float(own @ vector), key)
                for key, vector in vectors.items()
                if own is not None and vector is not None and key != start
            ]
            if not far:
                break
            at = dice.choice([key for _, key in sorted(far)[:3]])
        return at

    # -- both -----------------------------------------------------------------------------------

    def _may_link(self, key: str) -> bool:
        memory = self.memory_of(key)
        if memory is None or memory.type == "preference":
            return False
        return memory.lifecycle is not Lifecycle.EPHEMERAL

    def _linked(self, one: str, other: str) -> bool:
        return are_linked(one, other, self.view)

    def _link(
        self,
        kind: DiscoveryKind,
        ends: tuple[Memory, Memory],
        reason: str,
        said: tuple[list[Evidence], list[Evidence]] = ([], []),
    ) -> Discovery:
        """With one sentence about each note: the given one, or its first."""
        both = [
            sentence
            for memory, given in zip(ends, said, strict=True)
            for sentence in given or self._leads(memory)
        ]
        return Discovery(
            kind=kind,
            notes=tuple(memory.id for memory in ends),
            paths=tuple(memory.path for memory in ends),
            reason=reason,
            evidence=tuple(both),
        )

    def _leads(self, memory: Memory) -> list[Evidence]:
        lead = self.lead(memory)
        return [lead] if lead is not None else []

    def _saying(self, memory: Memory, about: str | None) -> list[Evidence]:
        """The sentence of a note that names a node."""
        for edge in self.view.stated_by(memory.id):
            is_it = edge.target == about and edge.origin is not EdgeOrigin.FRONTMATTER
            source = edge_source(edge, self.view) if is_it else None
            if source is not None and source.sentence:
                return [Evidence(path=source.path, line=source.line, sentence=source.sentence)]
        return []

    def _add(
        self, found: list[Discovery], candidates: Iterator[Discovery | None], most: int
    ) -> None:
        """Add the first that were never proposed."""
        known = {*self.known, *(each.key for each in found)}
        try:
            for each in candidates:
                if each is not None and each.key not in known:
                    known.add(each.key)
                    found.append(each)
                    most -= 1
                if most <= 0:
                    break
        except MemvaultError as error:  # a store or a note that cannot be read now
            logger.warning("a dream is incomplete: %s", error.message)
