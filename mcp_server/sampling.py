"""Asking the client's own model, where the client lets a server do that (MCP sampling)."""

from __future__ import annotations

import logging

import mcp_types as mt
from fastmcp.server.dependencies import get_context
from mcp import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

logger = logging.getLogger(__name__)
PATIENCE_SECONDS = 120.0  # that a person may take to let their model be asked


def can_sample() -> bool:
    """Whether the calling client said that its model may be asked."""
    capabilities = get_context().session.client_capabilities
    return capabilities is not None and capabilities.sampling is not None


async def sample(
    key: str, prompt: str, system: str, max_tokens: int
) -> str | mt.InputRequiredResult | None:
    """What the client's model answers; None if it gives no text or the person declines.

    Where the protocol knows no questions from server to client, the result is to be returned from
    the tool: the client then calls the tool again, and the answer is there under ``key``.
    """
    context = get_context()
    given = (context.input_responses or {}).get(key)
    if given is not None:
        return _text(given)
    question = mt.SamplingMessage(role="user", content=mt.TextContent(type="text", text=prompt))
    params = mt.CreateMessageRequestParams(
        messages=[question], system_prompt=system, max_tokens=max_tokens
    )
    if context.session.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return mt.InputRequiredResult(input_requests={key: mt.CreateMessageRequest(params=params)})
    try:
        result = await context.session.send_request(
            mt.CreateMessageRequest(params=params),
            mt.CreateMessageResult,
            request_read_timeout_seconds=PATIENCE_SECONDS,
            metadata=ServerMessageMetadata(related_request_id=context.request_id),
        )
    except (MCPError, ValidationError) as error:
        logger.info("the client's model was not asked: %s", type(error).__name__)
        return None
    return _text(result)


def _text(result: object) -> str | None:
    content = getattr(result, "content", None)
    text = getattr(content, "text", None)
    return text.strip() or None if isinstance(text, str) else None
