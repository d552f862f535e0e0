"""Requests to a client's own model (MCP sampling): what the hooks and the tools share."""

from __future__ import annotations

import mcp_types as mt
from mcp import MCPError
from mcp.server.session import ServerSession
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from memvault.model.unicode_forms import without_invisible

PATIENCE_SECONDS = 120.0  # in which the person may allow the request to their model
REFUSALS = (MCPError, ValidationError)  # raised by a request that the client does not answer


def can_sample(session: ServerSession) -> bool:
    """Whether the client supports sampling."""
    capabilities = session.client_capabilities
    return capabilities is not None and capabilities.sampling is not None


def takes_requests(session: ServerSession) -> bool:
    """Whether the protocol has requests from the server to the client."""
    return session.protocol_version not in MODERN_PROTOCOL_VERSIONS


def sampling_request(prompt: str, system: str, max_tokens: int) -> mt.CreateMessageRequest:
    """The request for an answer of the client's model."""
    content = mt.TextContent(type="text", text=without_invisible(prompt))
    question = mt.SamplingMessage(role="user", content=content)
    return mt.CreateMessageRequest(
        params=mt.CreateMessageRequestParams(
            messages=[question], system_prompt=system, max_tokens=max_tokens
        )
    )


def answer_text(result: object) -> str | None:
    """The text of a model's answer; None if it has none."""
    text = getattr(getattr(result, "content", None), "text", None)
    return text.strip() or None if isinstance(text, str) else None
