"""Identifies the calling client and its connection, and chooses the tools that it sees.

Every tool costs a model tokens, so most clients see the core set. A connection asks for all tools
with ``/bridge?tools=full`` or ``/mcp?tools=full``. A tool that is not listed can still be called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from hashlib import blake2b
from secrets import compare_digest
from urllib.parse import parse_qs
from uuid import uuid4
from weakref import WeakKeyDictionary

import mcp_types as mt
from fastmcp.server.dependencies import get_context, get_http_request
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from fastmcp.tools.base import Tool
from mcp.server.session import ServerSession

from mcp_server.engine import ToolSet
from mcp_server.engine.client import COMMAND_LINE, proof_of_person
from mcp_server.middleware import CallTool, ToolCall
from mcp_server.security.access_policy import WEB_CLIENT
from memvault.cognition.sessions import Sessions
from memvault.verification.immunity import Immunity
from memvault.verification.immunity.folding import fold, lookalike_key

_requested_tools: ContextVar[ToolSet | None] = ContextVar("tools_wanted", default=None)


def tools_in_query(query: str) -> ToolSet | None:
    """The tool set that a URL's query requests, if any."""
    match parse_qs(query).get("tools"):
        case ["full"]:
            return "full"
        case ["core"]:
            return "core"
    return None


@contextmanager
def connection_with(tools: ToolSet | None) -> Iterator[None]:
    """Mark requests served within the block as from a connection that requested this set."""
    token = _requested_tools.set(tools)
    try:
        yield
    finally:
        _requested_tools.reset(token)


def requested_tools() -> ToolSet | None:
    """The set that the connection of this call requested, if any."""
    return _requested_tools.get() or _tools_in_http_query()


class ToolSets(Middleware):
    """Lists the tools of the set that the connection requested, by default the engine's set."""

    def __init__(self, default: ToolSet) -> None:
        self._default: ToolSet = default

    async def on_list_tools(
        self,
        context: MiddlewareContext[mt.ListToolsRequest],
        call_next: CallNext[mt.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        tools = await call_next(context)
        if (requested_tools() or self._default) == "full":
            return tools
        return [tool for tool in tools if "core" in tool.tags]


def _tools_in_http_query() -> ToolSet | None:
    try:
        return tools_in_query(get_http_request().url.query)
    except RuntimeError:  # not over HTTP
        return None


_pipe_ids: WeakKeyDictionary[object, str] = WeakKeyDictionary()


def connection_id() -> str:
    """The id of the calling connection, the same for all of its calls.

    A bridge or in-memory client is identified by its pipe, and a client of the handshake protocols
    over HTTP by its MCP session. The stateless protocol over HTTP has neither: there, calls with
    the same token (without one, from the same machine) and client name are one connection.
    """
    return connection_of(get_context().session)


def connection_of(session: ServerSession) -> str:
    """As `connection_id`, for the session of a request."""
    # The SDK creates a session for each request, so the connection below identifies the client. The
    # stateless protocol creates that for each request, too, but not its outbound channel.
    connection = session._connection
    if connection.session_id is not None:
        return connection.session_id
    if connection.has_standalone_channel:
        return _pipe_ids.setdefault(connection.outbound, uuid4().hex)
    request, parameters = get_http_request(), session.client_params
    token = request.headers.get("authorization")
    host = request.client.host if request.client else "unknown"
    caller = blake2b(token.encode(), digest_size=8).hexdigest() if token else host
    return f"{caller} {parameters.client_info.name if parameters is not None else ''}".rstrip()


MAX_NAME_CHARS = 80
# Words of names that would pass for the person, for memvault, or for a check by one of them.
_POSING = frozenset(
    {"you", "me", "myself", "page", "person", "user", "owner", "human", "memvault", "verified"}
    | {"confirmed", "approved", "trusted"}
)
_WORD = re.compile(r"[^\W_]+")
_persons_names: set[frozenset[str]] = set()
_proofs: set[str] = set()
_approved_names: Callable[[], Set[str]] = frozenset


def accept_person(engine_token: str) -> None:
    """Accept the proof made with this engine's token as the person's."""
    _proofs.add(proof_of_person(engine_token))


def reserve_names(approved: Callable[[], Set[str]]) -> None:
    """Mark other clients whose names have one of these keys, those of approved clients."""
    global _approved_names  # noqa: PLW0603 - one engine runs in a process
    _approved_names = approved


def reserve_name(person: str) -> None:
    """Mark clients that have the person's name, too."""
    if words := frozenset(_WORD.findall(fold(person).text.casefold())):
        _persons_names.add(words)
        _safe_name.cache_clear()


def is_person() -> bool:
    """Whether the caller is the person's command line, not a client."""
    parameters = get_context().session.client_params
    if parameters is None or parameters.client_info.name != COMMAND_LINE:
        return False
    proof_sent = parameters.client_info.title or ""
    return any(compare_digest(proof_sent.encode(), proof.encode()) for proof in _proofs)


def client_name() -> str | None:
    """The calling client's name: for a web client, the name that the person approved; for any other
    than the command line the name that it gave in the handshake, marked if it is that of an
    approved client."""
    with suppress(RuntimeError):  # not over HTTP
        if approved := getattr(get_http_request().state, WEB_CLIENT, None):
            return _safe_name(approved.name)
    if is_person():
        return "memvault's command line"
    parameters = get_context().session.client_params
    if parameters is None:
        return None
    name = _safe_name(parameters.client_info.name)
    return f"{name} (not signed in)" if lookalike_key(name) in _approved_names() else name


@lru_cache(maxsize=256)
def _safe_name(name: str) -> str:
    """A client's name made safe to show: one line, no instruction, and not a name that means the
    person or memvault."""
    short = " ".join(name.split())[:MAX_NAME_CHARS]
    words = set(_WORD.findall(fold(short).text.casefold()))
    if not _POSING.isdisjoint(words) or any(name <= words for name in _persons_names):
        return f"a client named {short}"
    return "a client" if Immunity(None).check(short).adversarial else short


class TrackSessions(Middleware):
    """Keeps the connection's session alive, and counts each call for the session that it names."""

    def __init__(self, sessions: Callable[[], Sessions]) -> None:
        self._sessions = sessions

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        sessions, call = self._sessions(), context.message
        connection_session = connection_id()
        sessions.touch(connection_session, client_name(), renewable=True)
        session_id = (call.arguments or {}).get("session_id")
        sessions.tool_called(
            session_id if isinstance(session_id, str) else connection_session, call.name
        )
        return await call_next(context)
