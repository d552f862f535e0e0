"""What dreams read: the notes, what was learnt of their use, and answers to questions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from memvault.consolidation.dreams.links import GoOn
from memvault.consolidation.dreams.phase import FoundAnswer, Phase
from memvault.consolidation.dreams.record import CitedSentence, DreamRecord
from memvault.curation.operations.brief import key_facts
from memvault.curation.tasks.open_questions import open_questions
from memvault.model.batched import batched
from memvault.model.change import TaskType
from memvault.model.memory import Memory
from memvault.model.note import Embed
from memvault.model.search import Mode

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container
    from mcp_server.runtime.generations import Generation

NOT_TASKS = ("gap", TaskType.UNRESOLVED_LINKS)  # the other open questions are tasks already
TEXTS_AT_ONCE = 4  # embedded in one step
ANSWERS = 3  # that a dream reads for a question
ANSWER_BYTES = 240  # of text in a proposal


def in_steps(container: Container, go_on: GoOn) -> Embed:
    """A function that embeds texts, a few in each step."""

    def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = []
        for batch in batched(texts, TEXTS_AT_ONCE):
            go_on()
            rows.append(container.embedder.embed_few(batch))
        return np.concatenate(rows)

    return embed


class DreamReading:
    """Gives a dream its input from the indexes of a generation.

    Args:
        go_on: called between steps of some milliseconds; may pause, and raises to stop.
    """

    def __init__(self, container: Container, live: Generation, go_on: GoOn) -> None:
        self._container, self._live, self._go_on = container, live, go_on
        self._embed = in_steps(container, go_on)

    def phase(self, kind: type[Phase], record: DreamRecord, now: datetime) -> Phase:
        """A phase with its input.

        Args:
            record: the reports and proposals of earlier dreams.
        """
        live, learnt = self._live, self._container.learning.learnt
        return kind(
            view=live.graph_view,
            index=live.similarity_index,
            memory_of=live.catalogue.by_id,
            recent=self._recent,
            together=[(first, second) for first, second, _ in learnt.together()],
            chains=learnt.chains(),
            strengths=lambda key: record.strengths(key, now),
            utility=learnt.utility,
            key_sentences=self._key_sentences,
            lead=self._lead,
            ask=self._ask,
            questions=self._questions,
            unanswered=learnt.unanswered(),
            answer=self._answer,
            known=record.known(),
            go_on=self._go_on,
        )

    def _lead(self, memory: Memory) -> CitedSentence | None:
        lead_sentence = self._live.lead_sentences.of(memory)
        if lead_sentence is None:
            return None
        sentence, line = lead_sentence
        return CitedSentence(path=memory.path, line=line, sentence=sentence)

    def _key_sentences(self, memories: Sequence[Memory], limit: int) -> list[CitedSentence]:
        facts = key_facts(memories, self._container.guarded.read, self._embed, limit)
        return [
            CitedSentence(path=fact.memory.path, line=fact.line, sentence=fact.text)
            for fact in facts
        ]

    def _ask(self, question: str) -> list[FoundAnswer]:
        """Search by meaning alone: a full search loads models that an idle engine unloaded."""
        vector = self._container.embedder.embed_query(question)
        hits = self._live.similarity_index.nearest(vector, ANSWERS)
        scored = [(self._live.catalogue.by_id(key), score) for key, score in hits]
        return [
            FoundAnswer(memory, score, evidence)
            for memory, score in scored
            if memory is not None and (evidence := self._lead(memory)) is not None
        ]

    def _questions(self) -> list[tuple[str, tuple[str, ...]]]:
        tasks = self._container.curation.open_tasks()
        memories = list(self._live.catalogue.all())
        return [
            (question.text, question.settles)
            for question in open_questions(tasks, memories, self._live.graph_view)
            if question.reason in NOT_TASKS
        ]

    def _answer(self, question: str, since: datetime) -> FoundAnswer | None:
        """The best memory written since then that answers a question, or None.

        Runs a full search only if a search by meaning finds a new memory.
        """
        records = self._live.catalogue.records()
        new = {note.memory.id for note in records if note.changed_at > since}
        if not any(answer.memory.id in new for answer in self._ask(question)):
            return None
        result = self._live.searcher.search(question, mode=Mode.DEFAULT, top_k=ANSWERS)
        hits = [hit for hit in result.hits if hit.memory.id in new and not hit.withheld]
        if not hits or not result.known:
            return None
        (excerpt,) = self._container.excerpts.of(question, hits[:1], [ANSWER_BYTES])
        memory = hits[0].memory
        evidence = CitedSentence(path=memory.path, line=excerpt.lines.first, sentence=excerpt.text)
        return FoundAnswer(memory, hits[0].relevance, evidence)

    def _recent(self, limit: int) -> list[str]:
        """Ids of the memories last used or written, latest first."""
        used, last_use = self._container.activity.all(), dict[str, float]()
        for record in self._live.catalogue.records():
            activity = used.get(record.memory.id)
            accessed = activity.last_accessed if activity is not None else None
            last_use[record.memory.id] = max(
                record.changed_at.timestamp(), accessed.timestamp() if accessed else 0.0
            )
        return sorted(last_use, key=lambda key: (-last_use[key], key))[:limit]
