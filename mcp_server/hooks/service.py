"""Answers clients' hooks: gives memories, and queues sessions for capture."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.hooks.capture_queue import CaptureQueue
from mcp_server.hooks.client_formats import HookCall, Reply, read_call, written_reply
from mcp_server.hooks.destructive_calls import (
    REASON,
    destroyed_by_command,
    destroyed_by_tool,
)
from mcp_server.hooks.hook_search import HookSearch
from mcp_server.hooks.recall import HookRecall
from mcp_server.hooks.session_records import GivenEvent, SessionRecord, SessionRecords
from mcp_server.hooks.start_notes import StartNotes
from memvault.capture.project_folder import project_of
from memvault.capture.quotations import Quotation, distinct, quoted_block
from memvault.capture.session_note import CapturedSession
from memvault.capture.session_quotations import SessionQuotations
from memvault.cognition.blind_spots import blind_spots
from memvault.config.hook_files import CAPTURES, HookFiles
from memvault.curation.quarantine import by_note
from memvault.model.change import Priority, TaskType
from memvault.model.errors import MemvaultError
from memvault.model.search import Scope
from memvault.search.scope import allowed_in

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

_log = logging.getLogger(__name__)
BLIND_SPOT_SECONDS = 6 * 3_600.0  # between two searches for blind spots
RETAINED_SHARE = 0.3  # of the memories given, kept over a compaction (REQ-AUTO-06)
MAX_FILES = 500  # edited files that are remembered of a session, the latest
_DESTRUCTIVE = ("forget_concept", "merge_concepts", "reload_manifest", "trigger_dream")


class HookService:
    """Answers the hooks of all clients; one per engine. Thread-safe."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._settings = container.settings.hooks
        self.files = HookFiles(str(container.state.root))
        self.records = SessionRecords(container.state.root / "hooks" / "sessions")
        self._recall = _open_recall(container)
        self._blind_spots: list[tuple[str, ...]] = []
        self.captures = CaptureQueue(
            container, self.files, self.records, self._project, self._excluded
        )
        self._answers: dict[str, Callable[[HookCall, SessionRecord], Reply]] = {
            "SessionStart": self._session_start,
            "UserPromptSubmit": self._prompt,
            "PreToolUse": self._before_tool,
            "PostToolUse": self._after_tool,
            "PermissionRequest": self._permission,
            "Notification": self._notification,
        }

    def start(self) -> None:
        """Make the captures left from an earlier run, and schedule background work."""
        self.records.prune()
        self._container.worker.run("warm up the hooks", self._recall.warm_up)
        self._container.worker.run("look for blind spots", self.look_for_blind_spots, after=60.0)
        self.captures.start()

    def answer(self, client: str, event: str, data: bytes) -> bytes:
        """The hook's output. Never raises: errors are logged, and the output is empty."""
        with self._container.requests.running():
            return self._answer(client, event, data)

    def _answer(self, client: str, event: str, data: bytes) -> bytes:
        began = time.perf_counter()
        outcome = "nothing added"
        output = b""
        try:
            call = read_call(client, event, data)
            if refusal := self._refusal(call):
                output = written_reply(client, event, Reply(denied=refusal))
                outcome = f"refused: {refusal}"
            elif self._excluded(call.folder):
                outcome = "nothing done: the folder is excluded"
            elif event in CAPTURES:
                self.captures.add(client, event, data)
                outcome = "taken for capture"
                if event == "SessionEnd":
                    self._container.dreaming.session_ended()
            elif event in self._answers:
                reply = self._reply(call)
                output = written_reply(client, event, reply)
                outcome = f"added {len(reply.context)} characters" if output else outcome
        except (ValueError, MemvaultError) as error:
            outcome = f"failed: {error}"
        except OSError as error:
            outcome = f"failed: {error.strerror}"
        except Exception as error:
            _log.exception("hook %s of %s failed", event, client)
            outcome = f"failed: {type(error).__name__}"
        took = (time.perf_counter() - began) * 1_000
        self.files.log(client, event, f"{took:.0f} ms {outcome}")
        return output

    def _refusal(self, call: HookCall) -> str:
        """Why a tool call is refused, because it deletes what cannot be restored; else empty."""
        if call.event not in ("PreToolUse", "PermissionRequest"):
            return ""
        root = Path(self._container.vault.root)
        destroyed = destroyed_by_tool(call.tool, call.tool_input)
        destroyed = destroyed or destroyed_by_command(call.command, call.shell_folder, root)
        return REASON.format(destroyed) if destroyed else ""

    def _reply(self, call: HookCall) -> Reply:
        if call.source == "compact":
            self.captures.wait()  # before the lock, which the capture of the session's note needs
        with self.records.lock(call.client, call.session_id):
            record = self.records.get(call.client, call.session_id)
            if call.folder:
                record.folder, record.project = call.folder, self._project(call.folder)
            reply = self._answers[call.event](call, record)
            self.records.save(record)
        return reply

    def _session_start(self, call: HookCall, record: SessionRecord) -> Reply:
        if call.source == "compact":
            return self._after_compaction(record, call)
        record.missed_start = False
        quotations = self._for_start(record, call)
        context = self._quote(
            record, call, quotations, "for this project", self._settings.start_tokens
        )
        return Reply(context, self._notice(record))

    def _for_start(self, record: SessionRecord, call: HookCall) -> list[Quotation]:
        current = CapturedSession(call.client, call.session_id).note_id
        return self._recall.at_session_start(record.folder, record.project, current, call.client)

    def _after_compaction(self, record: SessionRecord, call: HookCall) -> Reply:
        """A reply with the session's own note, the person's preferences, the lines of earlier
        sessions and the best notes that the session was given."""
        quotations = self._recall.sessions.of_note(record.note_path)
        lines = record.given_quotations
        quotations += [
            quotation
            for quotation in self._for_start(record, call)
            if quotation.is_preference or (quotation.heading and quotation.key in lines)
        ]
        given_ids = record.given_ids
        best = self._recall.notes.best(
            record.project, record.project or "", call.client, only=given_ids
        )
        quotations += best[: max(1, round(RETAINED_SHARE * len(given_ids)))] if given_ids else []
        tokens = self._settings.start_tokens
        why = "kept over the compaction"
        return Reply(self._quote(record, call, distinct(quotations), why, tokens))

    def _prompt(self, call: HookCall, record: SessionRecord) -> Reply:
        start = Reply()
        if record.missed_start:
            start = self._session_start(call, record)
        quotations = self._recall.with_prompt(
            call.prompt, record.project, record.given_quotations, call.client
        )
        # Not the session's own words.
        quotations = [q for q in quotations if q.memory.path != record.note_path]
        tokens = self._settings.prompt_tokens
        quoted = self._quote(record, call, quotations, "for this prompt", tokens)
        return Reply("\n".join(filter(None, (start.context, quoted))), start.notice)

    def _before_tool(self, call: HookCall, record: SessionRecord) -> Reply:
        if not call.touched:
            return Reply()
        earlier = [given_event for given_event in record.given if given_event.event == call.event]
        given_keys = {key for given_event in earlier for key in given_event.quotations}
        quotations = self._recall.before_edit(
            call.touched, record.folder, record.project, given_keys, call.client
        )
        tokens = self._settings.prompt_tokens
        return Reply(self._quote(record, call, quotations, "about what is edited", tokens))

    def _after_tool(self, call: HookCall, record: SessionRecord) -> Reply:
        """Remember the edited files, because not every transcript names them."""
        files = [path for path in call.touched if "\n" not in path and " " not in path]
        record.files = list(dict.fromkeys([*record.files, *files]))[-MAX_FILES:]
        return Reply()

    def _permission(self, call: HookCall, record: SessionRecord) -> Reply:
        """Deny destructive tools while a full store prevents undo (REQ-AUTO-10, ERR-AUTO-06)."""
        action = next((name for name in _DESTRUCTIVE if call.tool.endswith(name)), None)
        full = self._container.full_stores() if action else []
        if not full:
            return Reply()
        reason = f"{' and '.join(full)} is full, so the earlier version cannot be kept"
        return Reply(denied=f"Operation {action} denied: {reason}")

    def _notification(self, call: HookCall, record: SessionRecord) -> Reply:
        return Reply(notice=self._notice(record))

    def _quote(
        self,
        record: SessionRecord,
        call: HookCall,
        quotations: list[Quotation],
        why: str,
        tokens: int,
    ) -> str:
        count = self._container.embedder.tokens.count
        context, shown = quoted_block(quotations, why, tokens, count)
        if shown:
            ids = list(dict.fromkeys(quotation.memory.id for quotation in shown))
            keys = [quotation.key for quotation in shown]
            record.given.append(
                GivenEvent(at=record.last_active, event=call.event, memories=ids, quotations=keys)
            )
            self._container.activity.accessed(ids)
            subject = call.prompt or " ".join(call.touched) or record.project or call.event
            memories = [quotation.memory for quotation in shown]
            self._container.learning.record_given(call.client, call.session_id, subject, memories)
        return context

    def _notice(self, record: SessionRecord) -> str:
        """One line about a new conflict, quarantined note or blind spot; each is shown once."""
        if record.notices >= self._settings.notices:
            return ""
        notice = next(filter(self.records.is_news, self._news(record.project)), "")
        record.notices += bool(notice)
        return notice

    def _news(self, project: str | None) -> Iterator[str]:
        """Notices for a session of this project; none about notes of another project."""
        is_in_project = allowed_in(Scope(project=project), self._container.live.catalogue.by_path)
        for task in self._container.curation.tasks():
            is_conflict = task.task_type is TaskType.CONFLICTING_FACTS
            if (
                is_conflict
                and task.priority is Priority.HIGH
                and all(map(is_in_project, task.paths))
            ):
                notes = ", ".join(task.paths)
                yield f"memory_drift_warning: notes disagree ({notes}): {task.detail}"
        for text in by_note(self._container.guarded.held_texts()):
            kept = text.path if text.whole else f"parts of {text.path}"
            yield (
                f"memvault keeps {kept} from AI clients: they look like orders to a model. Release "
                "them on the Curate page."
            )
        for first, second, shared, shared_path in self._blind_spots:
            if all(map(is_in_project, (first, second, shared_path))):
                yield (
                    f"blind_spot_discovered: {first} and {second} have to do with {shared}, and "
                    "nothing links them. A link would let either lead to the other."
                )

    def look_for_blind_spots(self) -> float:
        """Find blind spots in the background, as this reads every edge; returns seconds until the
        next run."""
        live = self._container.live
        node_of = live.graph_view.node
        spots = blind_spots(live.graph_view, live.similarity_index)
        nodes = [[node_of(key) for key in (spot.first, spot.second, spot.shared)] for spot in spots]
        self._blind_spots = [
            (
                *sorted((first.path or first.name, second.path or second.name)),
                shared.name,
                shared.path or "",
            )
            for first, second, shared in nodes
            if first and second and shared
        ]
        return BLIND_SPOT_SECONDS

    def _project(self, folder: str) -> str | None:
        return project_of(folder, self._container.live.catalogue.projects())

    def _excluded(self, folder: str) -> bool:
        if not folder:
            return False
        path = _in_home(folder)
        excluded = map(_in_home, self._settings.exclude)
        return any(path == root or root in path.parents for root in excluded)


def _in_home(folder: str) -> Path:
    """The folder with a leading ``~`` expanded, unless it names a user who does not exist."""
    with suppress(RuntimeError):
        return Path(folder).expanduser()
    return Path(folder)


def _open_recall(container: Container) -> HookRecall:
    """The choice of memories from this container's notes."""
    search = HookSearch(lambda: container.live.searcher, container.gate_log)
    notes = StartNotes(
        search,
        container.indexed_vault,
        access_count=lambda memory_id: container.activity.of(memory_id).access_count,
        distilled=container.distillation_log,
        read=container.guarded.read,
        excerpts=container.excerpts,
    )
    sessions = SessionQuotations(
        lambda: container.live.catalogue,
        container.guarded.read,
        container.outlines,
        container.embedder,
    )
    return HookRecall(
        search,
        notes,
        sessions,
        excerpts=container.excerpts,
        own_excerpts=container.own_excerpts,
        embed_query=container.embedder.embed_query,
        phrases=container.models.phrases,
    )
