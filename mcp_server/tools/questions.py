"""epistemic_action and entailment_query."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cachetools import LRUCache
from fastmcp.tools import tool

from mcp_server.answers.reasoning import (
    EntailmentAnswer,
    EntailmentStep,
    EpistemicAnswer,
    SettledShape,
    SettlesShape,
)
from mcp_server.tools.arguments import FULL, READS, SessionId
from mcp_server.tools.reasoning import NodeName
from mcp_server.tools.toolbox import Toolbox, Tools
from memvault.curation.tasks.open_questions import OpenQuestion, open_questions

SESSIONS = 200  # for which the last question is remembered
PATIENCE_SECONDS = 5.0  # for the search for tasks after the answer was stored


class QuestionTools(Tools):
    """epistemic_action and entailment_query."""

    def __init__(self, box: Toolbox) -> None:
        super().__init__(box)
        self._last_questions: LRUCache[str, OpenQuestion] = LRUCache(SESSIONS)
        self._lock = threading.Lock()

    @tool(annotations=READS, tags=FULL, title="Find the question to ask")
    def epistemic_action(self, session_id: SessionId = None) -> EpistemicAnswer:
        """Find the one question for the person whose answer would settle most.

        It comes from notes that contradict each other, sensitive claims that nobody confirmed,
        outdated facts, names without a note, and gaps. Ask the person, store their answer, and
        call again: `last` then compares the entropy before and after.
        """
        session = self._box.touch(session_id)
        container = self._box.container
        with self._lock:
            last = self._last_questions.pop(session.id, None)
        container.curation.wait(PATIENCE_SECONDS)
        questions = open_questions(
            container.curation.open_tasks(),
            list(container.live.catalogue.all()),
            container.live.graph_view,
        )
        question = questions[0] if questions else None
        if question is not None:
            with self._lock:
                self._last_questions[session.id] = question
        return EpistemicAnswer(
            question=question.text if question else None,
            reason=question.reason if question else None,
            settles=self._settles(question) if question else [],
            entropy_before=question.entropy if question else None,
            open_questions=len(questions),
            last=_compared(last, questions),
            pulse=self._box.meter.of_vault(),
        )

    @tool(annotations=READS, tags=FULL, title="Check whether one memory is part of another")
    def entailment_query(
        self, general: NodeName, specific: NodeName, session_id: SessionId = None
    ) -> EntailmentAnswer:
        """Report whether notes state that `specific` is a kind, or a part, of `general`.

        `chain` has every step, with the note and the sentence that state it.
        """
        self._box.touch(session_id)
        above, below = self._box.lookup.node(general), self._box.lookup.node(specific)
        chain = self._box.container.live.hierarchy.chain(below.id, above.id)
        steps, specific_name = [], below.name
        for step in chain or ():
            steps.append(EntailmentStep.of(step, specific=specific_name))
            specific_name = step.node.name
        return EntailmentAnswer(
            entails=chain is not None, chain=steps, pulse=self._box.meter.of_vault()
        )

    def _settles(self, question: OpenQuestion) -> list[SettlesShape]:
        memories = self._box.container.live.catalogue.by_ids(question.settles)
        return [SettlesShape.of(memory) for memory in memories]


def _compared(last: OpenQuestion | None, questions: Sequence[OpenQuestion]) -> SettledShape | None:
    """The effect of the session's last question; None if it is still the first to ask."""
    if last is None or (questions and questions[0].key == last.key):
        return None
    entropy = next((question.entropy for question in questions if question.key == last.key), 0.0)
    return SettledShape(question=last.text, entropy_before=last.entropy, entropy_after=entropy)
