"""Captures sessions in the background, one after another.

What is to be captured is a file in the state folder before its hook is answered, so an engine that
is killed captures it at its next start. The file goes when the note is written.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.hooks.clients import HookCall, read_call
from mcp_server.hooks.session_records import SessionRecord, SessionRecords
from memvault.capture.capturer import Captured, Capturer, Progress
from memvault.capture.extract import Item
from memvault.capture.session_note import Session
from memvault.capture.transcripts import Turn
from memvault.config.hook_files import HookFiles
from memvault.model.errors import MalformedFrontmatter, MemvaultError
from memvault.search.relations.question import stems

if TYPE_CHECKING:
    from mcp_server.runtime.container import Services

_log = logging.getLogger(__name__)
RETRY_SECONDS = 30.0  # after a capture that could not be written
CLOSE_SECONDS = 10.0
REPEATED_SHARE = 0.8  # of a sentence's word stems
WAIT_SECONDS = 4.0
AGENTS = (
    "embedding-specialist", "search-agent", "comparison-agent",
    "goal-agent", "distillation-agent", "dream-agent",
)  # fmt: skip


class CaptureQueue:
    """Keeps and works off captures. Thread-safe.

    Args:
        project_of: the project of a folder.
        excluded: whether nothing may be captured in a folder.
    """

    def __init__(
        self,
        services: Services,
        files: HookFiles,
        records: SessionRecords,
        project_of: Callable[[str], str | None],
        excluded: Callable[[str], bool],
    ) -> None:
        self._services = services
        self._files = files
        self._records = records
        self._project_of = project_of
        self._excluded = excluded
        self._folder = Path(files.pending)
        self._capturer = Capturer(services.curator, self._path_of)
        self._condition = threading.Condition()
        self._waiting = True
        self._working = False
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="memvault-capture", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Finish the capture under way; the others wait for the next start."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        if self._thread.is_alive():
            self._thread.join(CLOSE_SECONDS)

    def add(self, client: str, event: str, data: bytes) -> None:
        """Keep a capture and return; it is made soon.

        Raises:
            OSError: it cannot be kept.
        """
        self._files.keep(client, event, data)
        with self._condition:
            self._waiting = True
            self._condition.notify_all()

    def wait(self, timeout: float = WAIT_SECONDS) -> bool:
        """Wait until everything is captured; False when the time ran out."""
        with self._condition:
            return self._condition.wait_for(
                lambda: self._stopped or not (self._waiting or self._working), timeout
            )

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._stopped or self._waiting)
                if self._stopped:
                    return
                self._waiting, self._working = False, True
            done = self._work_off()
            with self._condition:
                self._working = False
                self._condition.notify_all()
                if not done and not self._condition.wait_for(lambda: self._stopped, RETRY_SECONDS):
                    self._waiting = True

    def _work_off(self) -> bool:
        """Whether everything that waited is captured, or never can be."""
        complete = True
        for file in sorted(self._folder.glob("*.hook")):
            if self._stopped:
                return True
            try:
                captured = self._capture_kept(file)
            except MemvaultError as error:
                complete = complete and isinstance(error, MalformedFrontmatter)
                self._files.log("memvault", "capture", f"waits: {error.message}")
                continue
            except Exception:
                _log.exception("a capture failed")
                self._files.log("memvault", "capture", "failed; see the engine's log")
                captured = True
            if captured:
                file.unlink(missing_ok=True)
        return complete

    def _capture_kept(self, file: Path) -> bool:
        head, _, data = file.read_bytes().partition(b"\n")
        words = head.decode("utf-8", "replace").split()
        try:
            client, event = words
            call = read_call(client, event, data)
        except ValueError as error:
            self._files.log("memvault", "capture", f"dropped: {error}")
            return True
        if not self._excluded(call.folder):
            self._capture(call)
        return True

    def _capture(self, call: HookCall) -> None:
        more: Sequence[Turn] = ()
        if call.message and call.event in ("Stop", "SubagentStop"):
            more = (Turn("assistant", call.message),)
        transcript = Path(call.transcript) if call.transcript else None
        if call.event == "SubagentStop":
            if not call.agent.endswith(AGENTS):
                return
            transcript = None  # a subagent's last message is what it learned
        if transcript is not None and not transcript.is_file():
            transcript = None
        record = self._records.get(call.client, call.session_id)
        folder = call.folder or record.folder
        session = Session(call.client, call.session_id, folder, self._project_of(folder))
        progress = Progress(record.offset, record.note_path)
        captured = self._capturer.capture(
            session,
            transcript,
            progress,
            more=more,
            files=record.files,
            known=self._repeats(record.given_ids),
        )
        self._remember(call, folder, captured)
        if captured.change is not None:
            self._services.indexing.index_written([captured.progress.path or ""])
            self._files.log(
                call.client,
                call.event,
                f"captured {len(captured.items)} in {captured.progress.path}",
            )

    def _repeats(self, given: Sequence[str]) -> Callable[[Item], bool]:
        """Whether the assistant repeats one of these memories, which the vault has already."""
        texts: list[str] = []
        for memory_id in given:
            memory = self._services.catalogue.by_id(memory_id)
            if memory is not None:
                with suppress(MemvaultError):
                    texts.append(self._services.vault.read(memory.path).decode("utf-8", "replace"))
        given_words = [frozenset(stems(text)) for text in texts]

        def repeats(item: Item) -> bool:
            words = stems(item.text)
            most = max((len(words & each) for each in given_words), default=0)
            return item.speaker == "assistant" and most >= REPEATED_SHARE * len(words) > 0

        return repeats

    def _remember(self, call: HookCall, folder: str, captured: Captured) -> None:
        with self._records.lock(call.client, call.session_id):
            record: SessionRecord = self._records.get(call.client, call.session_id)
            record.folder, record.project = folder, self._project_of(folder)
            record.offset, record.note_path = captured.progress.offset, captured.progress.path
            if captured.change is not None:
                record.changes.append(captured.change)
            self._records.save(record)

    def _path_of(self, note_id: str) -> str | None:
        memory = self._services.catalogue.by_id(note_id)
        return memory.path if memory is not None else None
