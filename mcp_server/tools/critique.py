"""Checks a client's reasoning against the person's notes, and texts for orders."""

from __future__ import annotations

from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.reasoning import (
    AdversarialAnswer,
    AdversarialEvidence,
    ContradictionShape,
    CritiqueAnswer,
)
from mcp_server.tools.arguments import FULL, READS, MemoryId, SessionId
from mcp_server.tools.toolbox import Tools
from memvault.model.errors import InvalidParams
from memvault.model.memory import MAX_CONTENT_CHARS

Reasoning = Annotated[
    str,
    Field(
        description="Your reasoning or conclusions, in plain sentences.",
        json_schema_extra={"minLength": 20, "maxLength": 2000},
        min_length=20,
        max_length=2000,
    ),
]
FocalNodes = Annotated[
    list[str] | None,
    Field(max_length=100, description="Ids of memories to check against (default: all)."),
]
Checked = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=MAX_CONTENT_CHARS,
        description="The text to check; or give node_id.",
    ),
]
Threshold = Annotated[
    float,
    Field(ge=0.3, le=0.9, description="0.3 also reports weak conflicts, 0.9 only clear ones."),
]


class CritiqueTools(Tools):
    """Tools over `Critic`."""

    @tool(annotations=READS, tags=FULL, title="Critique reasoning")
    def critique_context(
        self,
        reasoning_summary: Reasoning,
        focal_nodes: FocalNodes = None,
        contradiction_threshold: Threshold = 0.5,
        session_id: SessionId = None,
    ) -> CritiqueAnswer:
        """Find memories that contradict your reasoning, before you rely on it.

        Call this when you have summed up what you recalled, or are about to state a fact about the
        person's affairs. It compares values, dates, negations and replaced
        facts, sentence by sentence; finding nothing proves nothing.
        """
        session = self._box.touch(session_id)
        focal = [self._box.lookup.memory(key).id for key in focal_nodes or ()]
        contradictions, advice = self._box.container.live.critic.critique(
            reasoning_summary, focal, contradiction_threshold
        )
        ids = [contradiction.memory.id for contradiction in contradictions]
        self._box.record_shown(session, ids)
        return CritiqueAnswer(
            contradictions_found=bool(contradictions),
            contradiction_count=len(contradictions),
            contradicting_nodes=[
                ContradictionShape.of(contradiction) for contradiction in contradictions
            ],
            suggested_action=advice,
            notice=None
            if contradictions
            else "No memory contradicts this, which does not confirm it.",
            pulse=self._box.meter.of(
                ids, [contradiction.confidence for contradiction in contradictions]
            ),
        )


class ImmunityTools(Tools):
    """Tools over `Immunity`."""

    @tool(annotations=READS, tags=FULL, title="Check a text for orders")
    def check_adversarial(
        self,
        content: Checked = None,
        node_id: MemoryId | None = None,
        session_id: SessionId = None,
    ) -> AdversarialAnswer:
        """Report whether a text, or a memory, tries to give orders to the model that reads it.

        It looks for instructions aimed at models, imitated roles and tool calls, hidden text and
        encodings, and links that carry data out. Nothing is stored or changed; `action` is what
        memvault does with such a text of a client, an import or the web.
        """
        if (content is None) == (node_id is None):
            raise InvalidParams("Provide exactly one of content or node_id")
        self._box.touch(session_id)
        container = self._box.container
        title = ""
        if node_id is not None:
            place, title = self._place(node_id)
            content = container.vault.read(place).decode("utf-8", "replace")
        assessment = container.immunity.check(content or "", title)
        return AdversarialAnswer(
            adversarial=assessment.adversarial,
            kinds=list(assessment.kinds) if assessment.adversarial else [],
            evidence=[AdversarialEvidence.of(excerpt) for excerpt in assessment.evidence]
            if assessment.adversarial
            else [],
            action=assessment.action,
            score=assessment.score,
            pulse=self._box.meter.of_vault(),
        )

    def _place(self, node_id: str) -> tuple[str, str]:
        """Path and title of a memory, in quarantine or not."""
        held_texts = self._box.container.guarded.held_texts()
        held_text = next((text for text in held_texts if text.note_id == node_id), None)
        if held_text is not None:
            return held_text.path, ""
        memory = self._box.lookup.memory(node_id)
        return memory.path, memory.title
