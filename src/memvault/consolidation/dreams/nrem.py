"""NREM: replay (REQ-AUTO-34).

Pairs of recent memories that are similar or were used together get stronger by the Hebbian rule
Δw = η · pre · post. Summaries are proposed for clusters without one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import igraph
import numpy as np

from memvault.consolidation.dreams.phase import Phase, TimeOver
from memvault.consolidation.dreams.record import (
    MAX_STRENGTHENED,
    Discovery,
    DiscoveryKind,
    DreamPhase,
    PhaseReport,
    Strengthened,
)
from memvault.model.graph import SHORTCUT_REWARD, SHORTCUT_TRAVERSALS

MAX_REPLAYED = 100  # recent memories
LEARNING_RATE = 0.1  # η of the Hebbian rule
STRONG = 0.25  # strength from which a link is proposed: about ten replays
RELATED_COSINE = 0.7  # above which two related memories are strengthened
MAX_RELATED = 20  # related memories with which each one is compared
MAX_CLUSTERED = 2_000  # nodes that are clustered at once: Leiden takes 30 ms for them
CLUSTER_SIZES = (4, 12)
CLUSTER_COSINE = 0.45  # least mean cosine within a cluster about one subject
SUBJECT_SPREAD = 3  # most notes that name the subject, for each such note in the cluster
KEY_SENTENCES = 6
MAX_SHORTCUTS = MAX_STRONG = 1
MAX_SUMMARIES = 2
"""What one dream proposes at most, best first: a person decides about each."""


class Nrem(Phase):
    """Replays recent memories."""

    def run(self, now: datetime) -> PhaseReport:
        """Replay recent memories, and propose links and summaries."""
        discoveries: list[Discovery] = []
        strengthened: dict[tuple[str, str], float] = {}
        replayed: list[str] = []
        complete = True
        try:
            for key in self.recent(MAX_REPLAYED):
                self.go_on()
                strengthened.update(self._replay(key))
                replayed.append(key)
            self.add(discoveries, self._shortcuts(now.toordinal()), MAX_SHORTCUTS)
            self.add(discoveries, self._strong(strengthened), MAX_STRONG)
            self.add(discoveries, self._summaries(replayed), MAX_SUMMARIES)
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
                Strengthened(first=first, second=second, added=round(added, 4))
                for (first, second), added in strongest[:MAX_STRENGTHENED]
            ),
            found=tuple(discoveries),
        )

    def _replay(self, key: str) -> dict[tuple[str, str], float]:
        """The strength that each pair with this memory gains."""
        together = {partner for pair in self.together if key in pair for partner in pair}
        partners = {*self.index.related(key, MAX_RELATED), *together} - {key}
        vectors = self.index.vectors([key, *partners])
        key_vector = vectors.get(key)
        gained: dict[tuple[str, str], float] = {}
        for partner in partners:
            vector = vectors.get(partner)
            is_similar = (
                key_vector is not None
                and vector is not None
                and float(key_vector @ vector) > RELATED_COSINE
            )
            if is_similar or partner in together:
                pair = (key, partner) if key < partner else (partner, key)
                gained[pair] = LEARNING_RATE * self._activation(key) * self._activation(partner)
        return gained

    def _activation(self, key: str) -> float:
        """The activation of a memory, in [0, 1]: the greater of its importance and its utility."""
        return max(self.index.importance(key), min(1.0, self.utility(key)))

    def _shortcuts(self, today: int) -> Iterator[Discovery]:
        """Links between the unlinked ends of chains walked more than five times and rewarded."""
        for nodes, use in sorted(self.chains, key=lambda chain: (-chain[1].times, chain[0])):
            self.go_on()
            if use.times <= SHORTCUT_TRAVERSALS or use.utility(today) <= SHORTCUT_REWARD:
                continue
            start, end = self.memory_of(nodes[0]), self.memory_of(nodes[-1])
            if start and end and start.id != end.id and not self.linked(start.id, end.id):
                names = [node.name for key in nodes[1:-1] if (node := self.view.node(key))]
                reason = f"you went {use.times} times from one to the other by {', '.join(names)}"
                yield self.link(DiscoveryKind.SHORTCUT, (start, end), reason)

    def _strong(self, gained: Mapping[tuple[str, str], float]) -> Iterator[Discovery]:
        """Links between unlinked memories that many dreams have strengthened, strongest first."""
        strong = [
            (self.strengths(first_id).get(second_id, 0.0) + added, first_id, second_id)
            for (first_id, second_id), added in gained.items()
        ]
        for strength, first_id, second_id in sorted(strong, reverse=True):
            self.go_on()
            first, second = self.memory_of(first_id), self.memory_of(second_id)
            if strength < STRONG:
                return
            if first and second and not self.linked(first_id, second_id):
                reason = "they were used together, or are about the same, and in use for some time"
                yield self.link(DiscoveryKind.LINK, (first, second), reason)

    def _summaries(self, recent: Sequence[str]) -> Iterator[Discovery]:
        """Summaries of clusters about one subject that no note sums up, most cohesive first.

        Leiden: Traag and others, From Louvain to Leiden, Scientific Reports 9, 2019.
        """
        scored = []
        for members in self._clusters(recent):
            self.go_on()
            rows = self.index.rows(members)
            if len(rows.ids) < CLUSTER_SIZES[0]:
                continue
            centre = rows.matrix.mean(axis=0)
            cohesion = float(centre @ centre)  # mean cosine of all pairs, self-pairs included
            if cohesion >= CLUSTER_COSINE and not self._summed_up(rows.ids):
                nearest = np.argsort(-(rows.matrix @ centre))[: CLUSTER_SIZES[1]]
                scored.append((cohesion, [rows.ids[index] for index in nearest.tolist()]))
        for _, ids in sorted(scored, key=lambda cluster: (-cluster[0], cluster[1])):
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
        """Large enough clusters of the recent memories and their related ones."""
        number_of: dict[str, int] = {}
        for key in recent:
            for related in (key, *self.index.related(key, MAX_RELATED)):
                if len(number_of) < MAX_CLUSTERED and self.may_link(related):
                    number_of.setdefault(related, len(number_of))
            self.go_on()
        weights: dict[tuple[int, int], float] = defaultdict(float)
        for key, number in number_of.items():
            for neighbour in self.index.related(key, MAX_RELATED):
                if neighbour in number_of:
                    pair = (min(number, number_of[neighbour]), max(number, number_of[neighbour]))
                    weights[pair] += 1.0
            self.go_on()
        if not weights:
            return []
        graph = igraph.Graph(n=len(number_of), edges=list(weights))
        parts = graph.community_leiden(
            objective_function="modularity", weights=list(weights.values())
        )
        ids = list(number_of)
        return [[ids[number] for number in part] for part in parts if len(part) >= CLUSTER_SIZES[0]]

    def _subject(self, ids: Sequence[str]) -> str | None:
        """The name of a node that at least half of these notes name or link to, and few others."""
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
        """Whether one note links to or names at least half of these notes."""
        linking: dict[str, int] = defaultdict(int)
        for key in ids:
            for source in {edge.source for edge in self.view.touching(key)} - {key}:
                linking[source] += 1
        return max(linking.values(), default=0) * 2 >= len(ids)
