"""REM: exploration (REQ-AUTO-35).

It looks for missing links and for blind spots, and asks the vault questions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations

from memvault.cognition.blind_spots import FAR_APART, MAX_AROUND, blind_spots
from memvault.consolidation.dreams.links import NAMED, LinkedNodes, MissingLink, missing_links
from memvault.consolidation.dreams.phase import Phase, TimeOver
from memvault.consolidation.dreams.record import (
    CitedSentence,
    Discovery,
    DiscoveryKind,
    DreamPhase,
    PhaseReport,
)
from memvault.model.graph import EdgeOrigin, GraphNode, NodeKind

MAX_QUERIES = 50
WALK_STEPS = 6
WALK_CHOICES = 20  # neighbours that each step of a walk chooses from
ANSWERED = 0.5  # relevance from which a memory answers a question
MAX_LINKS, MAX_SPOTS, MAX_QUESTIONS, MAX_ANSWERS = 3, 2, 2, 2
"""What one dream proposes at most, best first: a person decides about each."""
_SHARED_KINDS = {
    NodeKind.PERSON: "person", NodeKind.DATE: "date", NodeKind.EVENT: "event",
}  # fmt: skip


class Rem(Phase):
    """Explores: links, blind spots, questions."""

    def run(self, now: datetime) -> PhaseReport:
        """Explore: links, blind spots, questions."""
        discoveries: list[Discovery] = []
        answered: list[bool] = []  # of each question that was asked
        complete = True
        try:
            ids = [key for key in self.index.memory_ids() if self.may_link(key)]
            linked = LinkedNodes.from_view(self.view, set(ids), self.go_on)
            rows, most = self.index.rows(ids), len(self.known) + 10 * MAX_LINKS
            links = missing_links(linked, rows, most, self.go_on)
            self.add(discoveries, map(self._proposed, links), MAX_LINKS)
            self.add(discoveries, self._blind_spots(set(ids), linked), MAX_SPOTS)
            self.add(discoveries, self._late_answers(answered), MAX_ANSWERS)
            self.add(discoveries, self._open_questions(answered), MAX_QUESTIONS)
            self._walk(ids, random.Random(now.toordinal()), answered)
        except TimeOver:
            complete = False
        return PhaseReport(
            phase=DreamPhase.REM,
            at=now,
            complete=complete,
            queries=len(answered),
            unanswered=answered.count(False),
            found=tuple(discoveries),
        )

    def _proposed(self, link: MissingLink) -> Discovery | None:
        source, target = self.memory_of(link.source), self.memory_of(link.target)
        if source is None or target is None or (link.naming and "[[" in link.naming.sentence):
            return None  # brackets that are left in a plain sentence are code
        if link.naming is not None:
            sentence = CitedSentence(
                path=source.path, line=link.naming.line, sentence=link.naming.sentence
            )
            reason = "one names the other without a link"
            return self.link(DiscoveryKind.LINK, (source, target), reason, ([sentence], []))
        node = self.view.node(link.shared or "")
        reason = "they are about similar things"
        if node is not None:
            reason += f" and both linked with {node.name}"
        return self.link(DiscoveryKind.LINK, (source, target), reason, about=link.shared)

    def _blind_spots(self, ids: set[str], linked: LinkedNodes) -> Iterator[Discovery]:
        """Unlinked notes far apart in meaning that share a cause, else a person, event or day."""
        for spot in blind_spots(self.view, self.index, go_on=self.go_on):
            self.go_on()
            if spot.first in ids and spot.second in ids:
                yield from self._spot(spot.first, spot.second, spot.shared, "cause or effect")
        for node, note_ids in self._sharing(ids, linked):
            self.go_on()
            vectors = self.index.vectors(note_ids)
            for first_id, second_id in combinations(sorted(note_ids), 2):
                first, second = vectors.get(first_id), vectors.get(second_id)
                if first is None or second is None or float(first @ second) >= FAR_APART:
                    continue
                around = (linked.around.get(key, set()) for key in (first_id, second_id))
                if set.intersection(*around) <= {node.id}:
                    kind = _SHARED_KINDS[NodeKind(node.kind)]
                    yield from self._spot(first_id, second_id, node.id, kind)

    def _sharing(self, ids: set[str], linked: LinkedNodes) -> list[tuple[GraphNode, set[str]]]:
        """Persons, events and days with the few notes that share each of them, rarest first."""
        nodes = ((self.view.node(key), around) for key, around in linked.around.items())
        sharing = {
            node.id: (node, around & ids)
            for node, around in nodes
            if node is not None and node.kind in _SHARED_KINDS and self._is_certain(node)
        }
        for edge in (edge for edge in self.view.all() if edge.origin in NAMED):
            self.go_on()
            if edge.source in ids and edge.target in sharing:
                sharing[edge.target][1].add(edge.source)
        rare = sorted(sharing.values(), key=lambda item: (len(item[1]), item[0].id))
        return [item for item in rare if 2 <= len(item[1]) <= MAX_AROUND]

    def _is_certain(self, node: GraphNode) -> bool:
        """Whether a note states that the entity exists, rather than only the entity recogniser.

        The recogniser is often wrong: it takes Linux for a person.
        """
        if node.path is not None or node.kind is NodeKind.DATE:
            return True
        return any(edge.origin is not EdgeOrigin.ENTITY for edge in self.view.touching(node.id))

    def _spot(self, first_id: str, second_id: str, shared: str, kind: str) -> Iterator[Discovery]:
        first, second = self.memory_of(first_id), self.memory_of(second_id)
        node = self.view.node(shared)
        if first and second and node and not self.linked(first_id, second_id):
            reason = f"they are about different things and have a {kind} in common: {node.name}"
            yield self.link(DiscoveryKind.BLIND_SPOT, (first, second), reason, about=shared)

    def _late_answers(self, answered: list[bool]) -> Iterator[Discovery]:
        """Notes that may answer questions that found nothing when they were asked."""
        for question, at, client in self.unanswered[:MAX_QUERIES]:
            self.go_on()
            answer = self.answer(question, at)
            answered.append(answer is not None)
            if answer is not None:
                yield Discovery(
                    kind=DiscoveryKind.ANSWER,
                    notes=(answer.memory.id,),
                    paths=(answer.memory.path,),
                    title=question,
                    reason=f"{client or 'you'} asked this on {at:%Y-%m-%d} and no note "
                    f"answered it; “{answer.memory.title}” now may",
                    evidence=(answer.evidence,),
                )

    def _open_questions(self, answered: list[bool]) -> Iterator[Discovery]:
        """For each open question, a link to a note that may answer it, or the question itself."""
        for question, ids in self.questions()[:MAX_QUERIES]:
            self.go_on()
            concerned = [memory for key in ids if (memory := self.memory_of(key)) is not None]
            if not concerned:
                continue
            answers = [answer for answer in self.ask(question) if answer.memory.id not in ids]
            answered.append(bool(answers) and answers[0].relevance >= ANSWERED)
            if answered[-1] and not self.linked(concerned[0].id, answers[0].memory.id):
                yield self.link(
                    DiscoveryKind.LINK,
                    (concerned[0], answers[0].memory),
                    f"the second may answer what the first leaves open: {question}",
                    ([], [answers[0].evidence]),
                )
            elif not answered[-1]:
                title, _, reason = question.partition("?")
                yield Discovery(
                    kind=DiscoveryKind.QUESTION,
                    notes=tuple(memory.id for memory in concerned[:2]),
                    paths=tuple(memory.path for memory in concerned[:2]),
                    title=f"{title}?",
                    reason=reason.strip(" .") or "no note answers it",
                    evidence=tuple(
                        sentence
                        for memory in concerned[:2]
                        for sentence in self.first_sentence(memory)
                    ),
                )

    def _walk(self, ids: Sequence[str], dice: random.Random, answered: list[bool]) -> None:
        """Walk from a memory to one far in meaning, and search for memories that connect both."""
        for start in dice.sample(ids, min(len(ids), MAX_QUERIES)):
            if len(answered) >= MAX_QUERIES:
                return
            self.go_on()
            end = self._far_from(start, dice)
            first, second = self.memory_of(start), self.memory_of(end)
            if first is not None and second is not None and start != end:
                answers = self.ask(f"{first.title} {second.title}")
                answered.append(
                    any(
                        answer.memory.id not in (start, end) and answer.relevance >= ANSWERED
                        for answer in answers
                    )
                )

    def _far_from(self, start: str, dice: random.Random) -> str:
        """The end of a random walk from a memory, each step to one of the 3 farthest in meaning."""
        start_vector, at = self.index.vectors([start]).get(start), start
        for _ in range(WALK_STEPS):
            related = self.index.related(at, WALK_CHOICES)
            vectors = self.index.vectors(related)
            far = [
                (float(start_vector @ vector), key)
                for key, vector in vectors.items()
                if start_vector is not None and vector is not None and key != start
            ]
            if not far:
                break
            at = dice.choice([key for _, key in sorted(far)[:3]])
        return at
