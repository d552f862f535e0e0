"""Recognises a call that the bridge sends again because the engine died before it answered.

The bridge gives every tool call a key of its own. The journal records it with the change that the
call made, so the second sending of a call changes nothing and is answered with that change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult

from mcp_server.engine.bridge import CALL_KEY, MAX_KEY_CHARS
from mcp_server.engine.client import BRIEF
from mcp_server.middleware import CallTool, ToolCall
from mcp_server.middleware.errors import error_result
from memvault.model.errors import MemvaultError

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container


def call_key() -> str:
    """The key of the running tool call; "" for one that did not come over a bridge."""
    key = _meta().get(CALL_KEY)
    return key if isinstance(key, str) and len(key) <= MAX_KEY_CHARS else ""


def is_brief_call() -> bool:
    """Whether the running tool call asks for short quotations, as the command line does."""
    return _meta().get(BRIEF) is True


def _meta() -> Mapping[str, Any]:
    request = get_context().request_context
    return (request.meta or {}) if request is not None else {}


class CallKeys(Middleware):
    """Reports the change of a call that fails after it made one."""

    def __init__(self, container: Callable[[], Container]) -> None:
        self._container = container

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        result = await call_next(context)
        change = None
        if result.is_error and (key := call_key()):
            change = self._container().curator.history.made_by(key)
        if change is None:
            return result
        return error_result(
            MemvaultError(
                f"{context.message.name} made its change, but its answer was lost: do not call it "
                f"again. undo_change with change={change.reversal_hash!r} takes it back.",
                reversal_hash=change.reversal_hash,
            )
        )
