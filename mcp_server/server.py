"""The MCP server: tools and prompts over one vault's container."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any

from fastmcp import FastMCP
from fastmcp.decorators import get_fastmcp_meta
from fastmcp.server.middleware import Middleware
from starlette.routing import Mount

from mcp_server.engine import ToolSet
from mcp_server.engine.bridge import ONCE
from mcp_server.engine.startup import Startup, WaitForStartup
from mcp_server.engine_metrics import EngineCollector
from mcp_server.hooks.sampling_clients import SamplingClients, TrackSamplingClients
from mcp_server.metrics import ToolMetrics
from mcp_server.middleware.call_keys import CallKeys
from mcp_server.middleware.client_identity import (
    ToolSets,
    TrackSessions,
    reserve_name,
)
from mcp_server.middleware.early_embedding import EarlyEmbedding
from mcp_server.middleware.errors import AnsweringTool, ResourceErrors, UnknownTools
from mcp_server.middleware.limits import RateLimits
from mcp_server.middleware.origin_marks import OriginMarks
from mcp_server.middleware.quarantine_guard import QuarantineGuard
from mcp_server.middleware.visible_text import VisibleText
from mcp_server.pages import pages_app
from mcp_server.pages.pulse_history import EVERY_SECONDS, record_pulse
from mcp_server.prompts import context_prompt
from mcp_server.resources.manifest import ManifestResources
from mcp_server.resources.state import Resources, resource_methods
from mcp_server.resources.subscriptions import PulseUpdates
from mcp_server.resources.visualize import VisualResources
from mcp_server.runtime.running_requests import CountRequests
from mcp_server.tools.arguments import ANSWER, lean_input
from mcp_server.tools.context import CitationTools, ContextTools
from mcp_server.tools.critique import CritiqueTools, ImmunityTools
from mcp_server.tools.dreams import DreamTools
from mcp_server.tools.forgetting import ForgettingTools
from mcp_server.tools.history import HistoryTools
from mcp_server.tools.instructions import INSTRUCTIONS, InstructionTools
from mcp_server.tools.learning import LearningTools
from mcp_server.tools.listing import ListTools
from mcp_server.tools.manifest import ManifestTools
from mcp_server.tools.moving import MoveTools
from mcp_server.tools.navigation import NavigationTools
from mcp_server.tools.operations import OperationTools
from mcp_server.tools.planning import PlanningTools
from mcp_server.tools.preferences import PreferenceTools
from mcp_server.tools.questions import QuestionTools
from mcp_server.tools.reasoning import ReasoningTools
from mcp_server.tools.recall import ConnectorTools, GraphTools, NoteTools, RecallTools
from mcp_server.tools.status import StatusTools
from mcp_server.tools.store import StoreTools
from mcp_server.tools.toolbox import Toolbox
from mcp_server.tools.undo import UndoTools
from memvault import __version__

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container


GROUPS = (
    RecallTools,
    ContextTools,
    CitationTools,
    GraphTools,
    ReasoningTools,
    StoreTools,
    PreferenceTools,
    NoteTools,
    ConnectorTools,
    ForgettingTools,
    OperationTools,
    MoveTools,
    UndoTools,
    HistoryTools,
    ManifestTools,
    StatusTools,
    InstructionTools,
    NavigationTools,
    ListTools,
    PlanningTools,
    CritiqueTools,
    ImmunityTools,
    QuestionTools,
    DreamTools,
    LearningTools,
)


def build_server(container: Container | Startup, *, tools: ToolSet = "core") -> FastMCP:
    """Build the server; it does not close the container.

    Args:
        tools: the tool set of connections that request none.
    """
    startup = container if isinstance(container, Startup) else Startup.of(container)
    box = Toolbox(startup, tools)
    startup.metrics.watch(EngineCollector(startup, box.memory_nodes, box.meter))
    resources = Resources(box)
    updates = PulseUpdates(resources.seen_by)

    def keep_measuring(container: Container) -> None:
        container.worker.run("warm up the pulse", box.warm_up)
        container.worker.run("record the pulse", partial(record_pulse, box), after=EVERY_SECONDS)

    startup.when_open(keep_measuring)
    startup.when_open(lambda container: reserve_name(container.settings.user))

    sampling = SamplingClients()
    startup.when_open(lambda container: container.hooks.captures.summarise_with(sampling))

    @asynccontextmanager
    async def lifespan(_: FastMCP) -> AsyncIterator[None]:
        yield
        updates.close()

    server: FastMCP[Any] = FastMCP(
        "memvault",
        instructions=INSTRUCTIONS,
        version=__version__,
        lifespan=lifespan,
        middleware=_middleware(startup, box, sampling, tools),
        mask_error_details=True,
        dereference_schemas=False,
    )
    _add_tools(server, box)
    for group in (resources, VisualResources(box), ManifestResources(box)):
        for resource in resource_methods(group):
            server.add_resource(resource)
    updates.register(server)
    server.add_prompt(context_prompt(box))
    server._additional_http_routes.append(Mount("/", app=pages_app(box, startup)))
    # No tool argument is also an HTTP header. Without this, the stateless protocol lists all tools
    # for every call to find such arguments: 8 ms.
    server._mcp_server.get_tool_input_schema = lambda _: None
    return server


def _add_tools(server: FastMCP[Any], box: Toolbox) -> None:
    """Add all tools to the server and the toolbox."""
    for group in GROUPS:
        for tool in _tools_of(group(box)):
            server.add_tool(tool)
            box.tools.add(tool.name)
            if tool.annotations is not None and tool.annotations.read_only_hint:
                box.readers.add(tool.name)
            if "core" in tool.tags:
                box.core_tools.add(tool.name)


def _middleware(
    startup: Startup, box: Toolbox, sampling: SamplingClients, tools: ToolSet
) -> list[Middleware]:
    """The middleware of each request, from the outside in."""

    def begin(question: str) -> None:
        startup.now().live.searcher.begin(question)

    return [
        ToolMetrics(startup.metrics),
        UnknownTools(),
        VisibleText(),
        ResourceErrors(),
        ToolSets(tools),
        WaitForStartup(startup),
        RateLimits(lambda: startup.now().settings.limits),
        EarlyEmbedding(begin),
        TrackSessions(lambda: startup.now().sessions),
        TrackSamplingClients(sampling),
        CallKeys(startup.now),
        OriginMarks(startup.now),
        QuarantineGuard(startup.now, box.readers),
        CountRequests(lambda: startup.now().requests),
    ]


def _tools_of(group: object) -> list[AnsweringTool]:
    """The methods of a group that are marked as tools, in source order."""
    names = [name for name, member in vars(type(group)).items() if get_fastmcp_meta(member)]
    return [_tool(getattr(group, name)) for name in names]


def _tool(method: MethodType) -> AnsweringTool:
    tool = AnsweringTool.from_function(method)
    assert isinstance(tool, AnsweringTool)
    return _with_lean_schemas(tool)


def _with_lean_schemas(tool: AnsweringTool) -> AnsweringTool:
    """The tool with lean schemas without references, which some clients do not follow.

    FastMCP would resolve references for every list, and over HTTP the stateless protocol makes a
    list for every call: 40 ms.
    """
    return tool.model_copy(
        update={
            "parameters": lean_input(tool.parameters),
            "output_schema": ANSWER,
            "meta": {ONCE: True} if _recognises_repeated_calls(tool) else None,
        }
    )


def _recognises_repeated_calls(tool: AnsweringTool) -> bool:
    """Whether the tool is not idempotent and answers with the hash of a change, which it makes
    under the call's key."""
    hints, answer = tool.annotations, tool.output_schema or {}
    if hints is None or hints.read_only_hint or hints.idempotent_hint:
        return False
    return "rationale" in tool.parameters["properties"] and "reversal_hash" in answer["properties"]
