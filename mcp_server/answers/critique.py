"""What speaks against a piece of reasoning."""

from __future__ import annotations

from pydantic import Field

from mcp_server.answers.base import Answer, Lines, Shape
from memvault.reasoning.verification.critique import Advice, ConflictType


class ContradictionShape(Shape):
    node_id: str
    title: str
    path: str
    lines: Lines
    content_snippet: str = Field(max_length=200)
    contradiction_type: ConflictType
    confidence: float
    explanation: str


class CritiqueAnswer(Answer):
    contradictions_found: bool
    contradiction_count: int
    contradicting_nodes: list[ContradictionShape]
    suggested_action: Advice
