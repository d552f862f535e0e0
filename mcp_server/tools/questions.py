"""Questions: which one to ask the person, and whether one thing is part of another."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from statistics import fmean

from fastmcp.tools import tool

from mcp_server.answers.insights import brief
from mcp_server.answers.reasoning import (
    EntailmentAnswer,
    EntailmentStep,
    EpistemicAnswer,
    SettledShape,
    SettlesShape,
)
from mcp_server.tools.arguments import FULL, READS, SessionId
from mcp_server.tools.reasoning import ThingName
from mcp_server.tools.toolbox import Toolbox, thing_called
from memvault.curation.tasks.questions import OpenQuestion, best_question
from memvault.reasoning.entailment import chain_of

SESSIONS = 200  # whose last question is remembered


@dataclass(frozen=True, slots=True)
class _Asked:
    question: OpenQuestion
    entropy: float


class QuestionTools:
    """epistemic_action and entailment_query."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box
        self._asked: OrderedDict[str, _Asked] = OrderedDict()
        self._lock = threading.Lock()

    @tool(annotations=READS, tags=FULL, title="Find the question to ask")
    def epistemic_action(self, session_id: SessionId = None) -> EpistemicAnswer:
        """Find the one question for the person whose answer would settle most.

        It comes from notes that contradict each other, sensitive claims that nobody confirmed,
        outdated facts, links without a note, and gaps. Ask the person, store their answer, and
        call again: `last` then compares the entropy before and after.
        """
        session = self._box.touch(session_id)
        services = self._box.services
        with self._lock:
            last = self._asked.pop(session.id, None)
        question = best_question(
            services.curation.tasks(), list(services.catalogue.all()), services.edges
        )
        if question is not None:
            with self._lock:
                self._asked[session.id] = _Asked(question, self._entropy(question))
                while len(self._asked) > SESSIONS:
                    self._asked.popitem(last=False)
        return EpistemicAnswer(
            question=question.text if question else None,
            reason=question.reason if question else None,
            settles=self._settles(question) if question else [],
            entropy_before=round(self._entropy(question), 3) if question else None,
            last=self._compared(last, question),
            pulse=self._box.meter.of_vault(),
        )

    @tool(annotations=READS, tags=FULL, title="Check whether one thing is part of another")
    def entailment_query(
        self, general: ThingName, specific: ThingName, session_id: SessionId = None
    ) -> EntailmentAnswer:
        """Report whether notes state that `specific` is a kind, or a part, of `general`.

        `chain` has every step, with the note and the sentence that state it.
        """
        self._box.touch(session_id)
        services = self._box.services
        above, below = thing_called(services, general), thing_called(services, specific)
        chain = chain_of(below.id, above.id, services.edges, services.catalogue.by_id)
        steps, at = [], below
        for each in chain or ():
            source = each.source
            steps.append(
                EntailmentStep(
                    specific=at.name,
                    general=each.thing.name,
                    why=each.why,
                    path=source.path if source else None,
                    line=source.line if source else None,
                    sentence=brief(source.sentence) if source else None,
                )
            )
            at = each.thing
        return EntailmentAnswer(
            entails=chain is not None, chain=steps, pulse=self._box.meter.of_vault()
        )

    def _settles(self, question: OpenQuestion) -> list[SettlesShape]:
        by_id = self._box.services.catalogue.by_id
        found = (by_id(key) for key in question.settles)
        return [SettlesShape(id=m.id, title=m.title, path=m.path) for m in found if m is not None]

    def _entropy(self, question: OpenQuestion) -> float:
        """The mean entropy of the memories that an answer would settle."""
        by_id = self._box.services.catalogue.by_id
        ids = [key for key in question.settles if by_id(key) is not None]
        states = self._box.meter.states(ids)
        return fmean(states[key].entropy for key in ids) if ids else 0.0

    def _compared(self, last: _Asked | None, now: OpenQuestion | None) -> SettledShape | None:
        """What became of the session's last question; None while it is still the one to ask."""
        if last is None or (now is not None and now.text == last.question.text):
            return None
        return SettledShape(
            question=last.question.text,
            entropy_before=round(last.entropy, 3),
            entropy_after=round(self._entropy(last.question), 3),
        )
