"""The history of a memory, and the log of forgotten and merged memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import (
    LineageAnswer,
    LineageEntry,
    LogEntry,
    LogsAnswer,
    actor_shape,
)
from mcp_server.tools.arguments import FULL, READS, MaxCount, MemoryId
from mcp_server.tools.toolbox import Tools
from memvault.consolidation.dreams.record import PhaseReport
from memvault.curation.changes.change_text import description, explanation, said_in
from memvault.curation.changes.history import History
from memvault.curation.quarantine import QuarantinedText
from memvault.model.change import Change, ChangeKind
from memvault.model.graph import uuid_of
from memvault.model.memory import MAX_CONTENT_CHARS
from memvault.model.moments import in_utc
from memvault.vault.parse import frontmatter_of

WITHHELD = (
    "Withheld: it looks like orders to an AI model. The person finds it on the Activity page."
)
NO_NOTE = (
    "No note with this id is open to you now, so its earlier texts are not shown; the person finds "
    "them on the Activity page."
)
USUAL_SPAN = timedelta(hours=24)

ChangeType = Literal["created", "merged", "annotated", "dreamed", "boosted", "pruned", "restored"]
Action = Literal["quarantine", "prune", "merge", "dream_consolidation", "adversarial_block"]
LogType = Annotated[
    Literal["all", "quarantine", "prune", "merge", "dream_actions", "adversarial_blocks"],
    Field(description="The kind of entries."),
]

# Change types of graph-tools; any other change is "annotated".
_TYPES: dict[ChangeKind, ChangeType] = {
    ChangeKind.CREATED: "created",
    ChangeKind.IMPORTED: "created",
    ChangeKind.MERGED: "merged",
    ChangeKind.BOOSTED: "boosted",
    ChangeKind.FORGOTTEN: "pruned",
    ChangeKind.PURGED: "pruned",
    ChangeKind.RESTORED: "restored",
    ChangeKind.UNDONE: "restored",
    ChangeKind.DREAMED: "dreamed",
}
_ACTIONS: dict[str, Action] = {
    "prune": "prune",
    "merge": "merge",
    "dream_actions": "dream_consolidation",
    "quarantine": "quarantine",
    "adversarial_blocks": "adversarial_block",
}


class HistoryTools(Tools):
    """Read-only tools over the history."""

    @tool(annotations=READS, tags=FULL, title="History of a memory")
    def get_node_lineage(
        self,
        node_id: MemoryId,
        *,
        depth: Annotated[int, Field(ge=1, le=20, description="How many changes back.")] = 5,
        include_content_diffs: Annotated[
            bool, Field(description="Also the note's text before and after each change.")
        ] = False,
    ) -> LineageAnswer:
        """List the changes of a memory: what, who, when and why, newest first.

        A note's title or path will do for the id. undo_change undoes a change by its
        `reversal_hash`.
        """
        container = self._box.container
        history = container.curator.history
        memory = container.live.catalogue.by_id(node_id)
        changes = history.lineage(node_id, depth, memory.path if memory else None)
        if memory is None and not changes and not container.live.stores.graph.nodes([node_id]):
            memory = self._box.lookup.memory_named(node_id)
            node_id = memory.id
            changes = history.lineage(node_id, depth, memory.path)
        all_changes = history.changes(node_id=node_id)
        active = [change for change in all_changes if change.undone_by is None]
        paths = {memory.path} if memory else {p for change in changes for p in change.paths}
        with_texts = include_content_diffs and memory is not None
        return LineageAnswer(
            notice=NO_NOTE if include_content_diffs and memory is None else None,
            node_id=node_id,
            current_content=self._box.lookup.text_of(memory) if memory else "",
            lineage=[
                self._entry(change, node_id, paths, with_content=with_texts) for change in changes
            ],
            merged_from=_distinct(
                key for change in active if node_id in change.node_ids for key in change.merged_from
            ),
            forked_to=_distinct(
                key for change in active if node_id in change.merged_from for key in change.node_ids
            ),
            pulse=self._box.meter.of_vault(),
        )

    @tool(annotations=READS, tags=FULL, title="Log of forgotten, merged and withheld memories")
    def get_system_logs(
        self,
        *,
        log_type: LogType = "all",
        node_id: MemoryId | None = None,
        since: Annotated[
            datetime | None, Field(description="Start, ISO 8601; default: 24 hours ago.")
        ] = None,
        limit: MaxCount = 20,
    ) -> LogsAnswer:
        """List what was forgotten, deleted, merged or put in quarantine, by whom and why.

        Call it when the person asks why you do not remember something; show them
        `explanation_for_user`.
        """
        now = datetime.now(UTC)
        start = now - USUAL_SPAN if since is None else in_utc(since)
        history = self._box.container.curator.history
        changes = history.changes(node_id=node_id, since=start)
        wanted_action = None if log_type == "all" else _ACTIONS[log_type]
        logged = [
            (change, action)
            for change in changes
            for action in _actions(change)
            if wanted_action is None or action == wanted_action
        ][:limit]
        held_texts = [
            text
            for text in self._box.container.guarded.held_texts()
            if text.at >= start and node_id in (None, text.note_id)
        ]
        blocked = [_held_entry(text, wanted_action) for text in held_texts]
        entries = [_log_entry(change, action, now, history) for change, action in logged]
        entries += [entry for entry in blocked if wanted_action in (None, entry.action)]
        if wanted_action in (None, "dream_consolidation"):
            reports = self._box.container.dreaming.record.reports()
            dreams = [_dream_entry(report) for report in reports if report.at >= start]
            entries += [entry for entry in dreams if node_id is None or node_id in entry.node_ids]
        entries.sort(key=lambda entry: entry.timestamp, reverse=True)
        lists_quarantine = wanted_action in (None, "quarantine", "adversarial_block")
        return LogsAnswer(
            entries=[self._safe_entry(entry) for entry in entries[:limit]],
            explanation_for_user=self._safe(
                explanation(
                    list({change.reversal_hash: change for change, _ in logged}.values()),
                    start,
                    len(held_texts) if lists_quarantine else 0,
                )
            ),
            pulse=self._box.meter.of_vault(),
        )

    def _entry(
        self, change: Change, node_id: str, paths: set[str], *, with_content: bool
    ) -> LineageEntry:
        before, after = self._contents(change, node_id, paths) if with_content else (None, None)
        return LineageEntry.of(
            change,
            change_type=_type_of(change, node_id),
            actor=actor_shape(change),
            description=self._safe(description(change), described=True),
            content_before=before and self._safe(before),
            content_after=after and self._safe(after),
            reversal_hash=change.reversal_hash if change.undoable else None,
        )

    def _safe(self, text: str, *, described: bool = False) -> str:
        """The text, or a notice if it looks like orders to a model; ``described``: it is the
        description of a change.

        Clients write names, reasons and earlier texts, which other clients read here.
        """
        written, check = said_in(text) if described else (text,), self._box.container.immunity.check
        return WITHHELD if any(check(part).adversarial for part in written) else text

    def _safe_entry(self, entry: LogEntry) -> LogEntry:
        return entry.model_copy(
            update={
                "reason": self._safe(entry.reason),
                "details": self._safe(entry.details, described=True),
            }
        )

    def _contents(
        self, change: Change, node_id: str, paths: set[str]
    ) -> tuple[str | None, str | None]:
        """The note's text before and after a change, as far as it is kept."""
        container = self._box.container
        if not all(map(container.vault.is_note, paths)):
            return None, None  # the person hid it, and the index does not know yet
        if any(container.guarded.held_at(path) is not None for path in paths):
            return None, None  # in quarantine
        if any(paths & {tombstone.path} for tombstone in container.curator.tombstones.kept()):
            return None, None  # forgotten: no tool shows it any more
        history = container.curator.history
        file = next((file for file in change.files if paths & set(file.paths)), None)
        if file is None:
            return None, None
        versions = (file.before, file.final_hash)
        kept_versions = [None if key is None else history.content(key) for key in versions]
        texts = [
            data.decode("utf-8", "replace")
            if data is not None and _id_in_frontmatter(data) in (None, node_id)
            else None  # of another note, which had this path before
            for data in kept_versions
        ]
        before, after = (None if text is None else text[:MAX_CONTENT_CHARS] for text in texts)
        return before, after


def _id_in_frontmatter(data: bytes) -> str | None:
    """The id in a note's frontmatter."""
    text = str(frontmatter_of(data).get("id", "")).strip()
    return uuid_of(text) or None


def _type_of(change: Change, node_id: str) -> ChangeType:
    if any(node_id in tombstone.node_ids for tombstone in change.forgot):
        return "pruned"
    if change.merged_from:
        return "merged"
    return _TYPES.get(change.kind, "annotated")


def _actions(change: Change) -> list[Action]:
    """The actions that the log lists for a change; none if it only adds."""
    actions: list[Action] = []
    if change.forgot or change.kind is ChangeKind.PURGED:
        actions.append("prune")
    if change.merged_from:
        actions.append("merge")
    if change.kind is ChangeKind.DREAMED:
        actions.append("dream_consolidation")
    return actions


def _held_entry(text: QuarantinedText, wanted_action: Action | None) -> LogEntry:
    """The entry of a text in quarantine: a whole note, or a part of one."""
    as_block = wanted_action == "adversarial_block" or not text.whole
    return LogEntry.of(
        text,
        action="adversarial_block" if as_block else "quarantine",
        node_ids=[text.note_id] if text.note_id else [],
        reason=f"It looks like orders to an AI model: {', '.join(text.kinds)}",
        details=f"{text.path}, written by {text.origin}. Nothing is deleted; the person can "
        "release it on the Curate page.",
        recoverable=True,
        recovery_tool=None,
    )


def _dream_entry(report: PhaseReport) -> LogEntry:
    counts = Counter(str(proposal.kind).replace("_", " ") for proposal in report.found)
    proposed = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing"
    return LogEntry.of(
        report,
        action="dream_consolidation",
        node_ids=list(dict.fromkeys(key for proposal in report.found for key in proposal.notes)),
        reason=f"{report.phase.upper()} phase of a dream",
        details=f"replayed {report.replayed} memories, asked {report.queries} questions, "
        f"proposed {proposed}; nothing was changed",
        recoverable=False,
        recovery_tool=None,
    )


def _log_entry(change: Change, action: Action, now: datetime, history: History) -> LogEntry:
    in_time = all(tombstone.restorable(now) for tombstone in change.forgot)
    is_kept = in_time and history.keeps_merged(change)
    recoverable = change.undoable and change.undone_by is None and is_kept
    is_forgotten = change.kind is ChangeKind.FORGOTTEN
    tool_name = "restore_concept" if is_forgotten else "undo_change"
    ids = change.merged_from if action == "merge" else change.node_ids
    return LogEntry.of(
        change,
        action=action,
        node_ids=list(ids),
        reason=change.reason or change.rationale or str(change.kind),
        details=f"{description(change)} (reversal_hash {change.reversal_hash})",
        recoverable=recoverable,
        recovery_tool=tool_name if recoverable else None,
    )


def _distinct(keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(keys))
