"""get_graph_manifest, get_neighborhood and get_recent_context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.base import brief
from mcp_server.answers.status import (
    KnownShape,
    ManifestAnswer,
    NeighbourhoodAnswer,
    NeighbourShape,
    RecentAnswer,
    RecentProject,
    RecentShape,
)
from mcp_server.tools.arguments import FULL, READS, InProject, MaxCount, SessionId, Verbosity
from mcp_server.tools.toolbox import Tools
from memvault.model.errors import GraphQueryError, InvalidParams, StoreUnavailable
from memvault.model.memory import MemoryActivity, claimant
from memvault.model.moments import in_utc
from memvault.model.search import Neighbour, VerbosityLevel
from memvault.reasoning.neighbours import neighbours
from memvault.reasoning.recent_activity import RecentEvent, recent
from memvault.reasoning.vault_overview import VaultOverview, vault_overview
from memvault.search.scope import MemoryLookup, allowed_in, in_scope

DAY = timedelta(hours=24)
# Entries of each list of an overview, by level of verbosity. At level 1 the whole answer has about
# 300 of the model's tokens, which tests/integration/test_navigation.py checks.
LISTED = {
    VerbosityLevel.RAW_ONLY: 0,
    VerbosityLevel.TEXT_AND_IDS: 5,
    VerbosityLevel.FULL_INSIGHTS: 20,
}
NAMED = 5  # of each, in the fragment
NAME_CHARS = 40
NO_GRAPH = "The graph is unreachable; concepts and relations are missing from this answer."

NodeId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1024,
        description="Title, alias, file name, path or id of a note; a person, project or #tag.",
    ),
]
Hops = Annotated[int, Field(ge=1, le=3, description="Longest chain of relations.")]
Since = Annotated[
    datetime | None,
    Field(description="Start, ISO 8601; default: 24 hours ago."),
]


class NavigationTools(Tools):
    """get_graph_manifest, get_neighborhood and get_recent_context."""

    @tool(annotations=READS, tags=FULL, title="Overview")
    def get_graph_manifest(
        self, verbosity_level: Verbosity = None, session_id: SessionId = None
    ) -> ManifestAnswer:
        """Summarise the memory: projects, most named people and concepts, tags, relations, time
        span, and a text to keep in your context.

        Call it once at the start, or when you do not know what to ask.
        """
        level = self._box.touch(session_id).level(verbosity_level)
        live, notice = self._box.container.live, None
        try:
            overview = live.overviews.current()
        except (StoreUnavailable, GraphQueryError):
            overview, notice = vault_overview(live.catalogue.all(), None), NO_GRAPH
        limit = LISTED[level]
        full = level is VerbosityLevel.FULL_INSIGHTS
        return ManifestAnswer(
            prompt_fragment=_fragment(overview, live.catalogue),
            notes=overview.notes,
            first_day=overview.first,
            last_day=overview.last,
            kinds=dict(overview.kinds[:limit]) or None,
            projects=dict(overview.projects[:limit]) if full else None,
            tags=dict(overview.tags[:limit]) if full else None,
            relations=dict(overview.relations[:limit]) if full else None,
            concepts=[KnownShape.of(concept) for concept in overview.concepts[:limit]]
            if full
            else None,
            pulse=self._box.meter.of_vault(),
            notice=notice,
        )

    @tool(annotations=READS, tags=FULL, title="Neighbours")
    def get_neighborhood(
        self,
        node_id: NodeId,
        *,
        hops: Hops = 2,
        limit: MaxCount = 20,
        project: InProject = None,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
    ) -> NeighbourhoodAnswer:
        """List what a note, person, project or tag is related to, strongest first, with the
        sentences that state it. To answer a question, use graph_query.
        """
        session = self._box.touch(session_id)
        centre = self._box.lookup.node(node_id)
        live = self._box.container.live
        edges, scope = live.graph_view, self._box.scope(project)
        near = neighbours(
            centre.id,
            edges,
            hops=hops,
            limit=limit,
            relevance=lambda keys: live.similarity_index.similarities(centre.id, keys),
            allowed=allowed_in(scope, live.catalogue.by_id),
        )
        memories = [neighbour.node.id for neighbour in near if neighbour.node.path is not None]
        own_id = [centre.id] if centre.path is not None else []
        self._box.record_shown(session, [*own_id, *memories])
        level = session.level(verbosity_level)
        return NeighbourhoodAnswer(
            id=centre.id,
            title=centre.name,
            path=centre.path,
            neighbors=[_neighbour(neighbour, level) for neighbour in near],
            total=len(edges.of(centre.id)),
            pulse=self._box.meter.of([*own_id, *memories]),
        )

    @tool(annotations=READS, tags=FULL, title="Recent notes")
    def get_recent_context(
        self,
        *,
        since: Since = None,
        limit: MaxCount = 20,
        project: InProject = None,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
    ) -> RecentAnswer:
        """List notes written, changed or read recently, by project; those of this session first.

        To continue where the person, or another assistant, stopped.
        """
        session = self._box.touch(session_id)
        now = datetime.now(UTC)
        start = in_utc(since) if since is not None else now - DAY
        if start > now:
            raise InvalidParams("since must not lie in the future")
        scope = self._box.scope(project)
        activity = self._box.container.activity.all()
        used_here = session.working_set[: limit // 2] if session_id is not None else []
        records = self._box.container.live.catalogue.records()
        if project is not None:
            records = [record for record in records if in_scope(record.memory, scope)]
        accessed = {key: used.last_accessed for key, used in activity.items() if used.last_accessed}
        recent_activity = recent(records, accessed, start, limit, used_here)
        return RecentAnswer(
            since=start,
            projects=_by_project(recent_activity.first, activity, session.level(verbosity_level)),
            total=recent_activity.total,
            pulse=self._box.meter.of([event.memory.id for event in recent_activity.first]),
        )


def _fragment(overview: VaultOverview, catalogue: MemoryLookup) -> str:
    """A summary for a client's context, of about 150 tokens at most.

    It leaves out titles of notes that the person did not write, as a title may be a claim.
    """
    if not overview.notes:
        return "The person's memory is still empty: nothing can be recalled from it yet."
    days = f", from {overview.first} to {overview.last}" if overview.first else ""
    named = [
        (concept.node.name, concept.notes)
        for concept in overview.concepts
        if not claimant(catalogue.by_id(concept.node.id))
    ]
    sentences = [
        f"The person's memory holds {overview.notes} notes{days}.",
        _list("Projects", overview.projects),
        _list("Named most", named),
        _list("Tags", overview.tags),
        _list("Relations people state", overview.relations),
        "Recall before answering anything that may touch these; the numbers count notes.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _list(label: str, counted: Sequence[tuple[str, int]]) -> str:
    items = [f"{name} ({count})" for name, count in counted if len(name) <= NAME_CHARS][:NAMED]
    return f"{label}: {', '.join(items)}." if items else ""


def _neighbour(neighbour: Neighbour, level: VerbosityLevel) -> NeighbourShape:
    """A neighbour with the fields of this level; the others are None."""
    hidden = {"outgoing", "relevance"} if level is not VerbosityLevel.FULL_INSIGHTS else set()
    if level is VerbosityLevel.RAW_ONLY:
        hidden |= {"kind", "via", "sentence", "stated_in", "line"}
    elif neighbour.distance == 1:
        hidden.add("via")
    shape = NeighbourShape.of(neighbour).model_copy(update=dict.fromkeys(hidden))
    if level is VerbosityLevel.TEXT_AND_IDS:
        return shape.model_copy(update={"sentence": brief(neighbour.source.sentence)})
    return shape


def _by_project(
    events: list[RecentEvent], activity: Mapping[str, MemoryActivity], level: VerbosityLevel
) -> list[RecentProject]:
    groups: dict[str | None, list[RecentShape]] = {}
    for event in events:
        used = activity.get(event.memory.id)
        shape = _recent(event, used.access_count if used else 0, level)
        groups.setdefault(event.memory.project, []).append(shape)
    return [RecentProject(project=project, memories=shapes) for project, shapes in groups.items()]


def _recent(event: RecentEvent, access_count: int, level: VerbosityLevel) -> RecentShape:
    full = level is VerbosityLevel.FULL_INSIGHTS
    shape = RecentShape.of(
        event,
        working_set=event.in_working_set or None,
        access_count=access_count if full else None,
    )
    if level is VerbosityLevel.RAW_ONLY:
        return shape.model_copy(update={"type": None, "working_set": None})
    return shape
