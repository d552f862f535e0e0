"""A distilled context, and the notes that it cites."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mcp_server.answers.base import Answer, Lines, Moment, Rounded, Shape, optional, read_from
from mcp_server.answers.memories import StateShape
from mcp_server.answers.reasoning import InsightsShape
from memvault.search.context.forms import ContextForm


class SourceShape(Shape):
    """A memory that the context quotes under ``[node_…]``, the first digits of its id; ``heading``
    and ``lines`` hold all that is quoted. ``id`` and ``state`` only at verbosity 2:
    ``nodes_retrieved`` has the ids in this order. At verbosity 0, where nothing is quoted, only
    title and path."""

    id: str | None = optional("memory.id")
    title: str = read_from("memory.title")
    path: str = read_from("memory.path")
    heading: str | None = optional()
    lines: Lines | None = optional()
    state: StateShape | None = optional()


class UTLMetrics(Shape):
    """Entropy and coherence of the memories retrieved; ``learning_score`` is high where they are
    varied, important, and cohere better than the vault as a whole."""

    entropy: float
    coherence: float
    learning_score: Rounded


class GatingWarning(Shape):
    """Says that no memory found is likely to answer, so the context may miss the point.

    ``ignored`` counts the warnings in a row after which the session called none of the suggested
    tools; from 3 on ``pattern`` is entropy-blind.
    """

    triggered: bool
    entropy_score: float
    message: str
    suggested_tools: list[str]
    auto_retry_after: bool
    ignored: int | None = optional()
    pattern: Literal["entropy-blind"] | None = optional()


class ContextAnswer(Answer):
    """Left out at verbosity 0: all but ``nodes_retrieved`` and ``sources``, which have one order.

    ``tokens_used`` are the context's, ``tokens_before_distillation`` those of the whole text of
    the memories found. ``summary`` is the client's own model's.
    """

    context: str | None = optional()
    tokens_used: int | None = optional()
    tokens_before_distillation: int | None = optional()
    distillation_applied: ContextForm | None = optional()
    compression_ratio: Rounded | None = optional()
    nodes_retrieved: list[str]
    sources: list[SourceShape] | None = optional()
    utl_metrics: UTLMetrics | None = optional()
    tool_gating_warning: GatingWarning | None = optional()
    insights: InsightsShape | None = optional()
    summary: str | None = optional()


class LinkedMemoryShape(Shape):
    """A memory one relation away."""

    id: str = read_from("node.id")
    title: str = read_from("node.name")
    path: str = read_from("node.path")
    relation: str


class ExpansionShape(Shape):
    """``raw_content`` are ``lines`` of the note as it is on disk; ``more`` is the next line. A tag
    of no memory has an ``error``."""

    citation_tag: str
    error: str | None = optional()
    id: str | None = optional()
    title: str | None = optional()
    path: str | None = optional()
    lines: Lines | None = optional()
    raw_content: str | None = optional()
    more: int | None = optional()
    importance: float | None = optional()
    created_at: Moment | None = optional()
    agent_id: str | None = optional()
    neighbors: list[LinkedMemoryShape] | None = optional()


class CitationsAnswer(Answer):
    expansions: list[ExpansionShape] = Field(min_length=1)
    tokens_used: int
