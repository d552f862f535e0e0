"""Captures sessions in the background, one after another.

Each capture is saved as a file in the state folder before its hook is answered, so a killed engine
captures it at its next start. The file is deleted when the note is written.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.hooks.client_formats import HookCall, read_call
from mcp_server.hooks.sampling_clients import SamplingClients
from mcp_server.hooks.session_records import SessionRecords, modified_at
from memvault.capture.capturer import Captured, CaptureProgress, Capturer
from memvault.capture.extract import Item, Statements
from memvault.capture.hook_input import kept_input
from memvault.capture.session_note import CapturedSession
from memvault.capture.summary import MAX_LINES, MIN_LINES, prompt_of, supported_sentences
from memvault.capture.transcripts import TranscriptTurn, read_turns
from memvault.config.hook_files import HookFiles
from memvault.model.errors import MalformedFrontmatter, MemvaultError
from memvault.text.secrets import without_secrets
from memvault.vault.session_lines import ItemKind

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

_log = logging.getLogger(__name__)
RETRY_SECONDS = 30.0  # after a capture that could not be written
ABANDONED_SECONDS = 3_600.0
CAPTURE, RETRY = "capture sessions", "retry captures"
WAIT_SECONDS = 4.0
AGENTS = (
    "embedding-specialist", "search-agent", "comparison-agent",
    "goal-agent", "distillation-agent", "dream-agent",
)  # fmt: skip


class CaptureQueue:
    """Saves captures and makes them, one at a time. Thread-safe.

    Args:
        project_of: the project of a folder.
        excluded: whether capturing is off in a folder.
    """

    def __init__(
        self,
        container: Container,
        files: HookFiles,
        records: SessionRecords,
        project_of: Callable[[str], str | None],
        excluded: Callable[[str], bool],
    ) -> None:
        self._container = container
        self._files = files
        self._records = records
        self._project_of = project_of
        self._excluded = excluded
        self._folder = Path(files.pending)
        self._capturer = Capturer(container.curator, container.path_of)
        self._sampling = SamplingClients()  # none, until a server has connections
        self._worker = container.worker
        self._started = False

    def start(self) -> None:
        """Make the captures that an earlier engine left, then new ones as they arrive."""
        oldest = time.time() - ABANDONED_SECONDS
        for unfinished in self._folder.glob("*.tmp"):  # of hooks that were killed
            if modified_at(unfinished) < oldest:
                unfinished.unlink(missing_ok=True)
        self._started = True
        self._schedule()

    def summarise_with(self, sampling: SamplingClients) -> None:
        """Use the models of these connections for summaries from now on."""
        self._sampling = sampling

    def add(self, client: str, event: str, data: bytes) -> None:
        """Save a capture and return; it is made soon.

        Raises:
            OSError: it cannot be saved.
            ValueError: it is not a hook's input.
        """
        needed = kept_input(data)
        if needed is None:
            raise ValueError("the input is not a JSON object")
        self._files.keep(client, event, needed)
        if self._started:
            self._schedule()

    def wait(self, timeout: float = WAIT_SECONDS) -> bool:
        """Wait until everything is captured; False if the time ran out."""
        return self._worker.wait(CAPTURE, timeout)

    def _schedule(self) -> None:
        self._worker.run(CAPTURE, self._capture_all)

    def _capture_all(self) -> None:
        """Make all captures that can be made; retry the others later."""
        complete = True
        for file in sorted(self._folder.glob("*.hook")):
            if self._worker.stopped:  # the others wait for the next start
                return
            try:
                captured = self._capture_file(file)
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
        if not complete:
            self._worker.run(RETRY, self._schedule, after=RETRY_SECONDS)

    def _capture_file(self, file: Path) -> bool:
        head, _, data = file.read_bytes().partition(b"\n")
        words = head.decode("utf-8", "replace").split()
        try:
            client, event = words
            call = read_call(client, event, data)
        except ValueError as error:
            self._files.log("memvault", "capture", f"dropped: {error}")
            return True
        if self._excluded(call.folder):
            return True
        if event == "SessionStart":
            with self._records.lock(call.client, call.session_id):
                record = self._records.get(call.client, call.session_id)
                record.missed_start = True
                self._records.save(record)
        else:
            self._capture(call)
        return True

    def _capture(self, call: HookCall) -> None:
        extra_turns: Sequence[TranscriptTurn] = ()
        if call.message and call.event in ("Stop", "SubagentStop"):
            extra_turns = (TranscriptTurn("assistant", call.message),)
        transcript = Path(call.transcript) if call.transcript else None
        if transcript is not None and not transcript.is_file():
            transcript = None
        record = self._records.get(call.client, call.session_id)
        self._reward_citations(call, record.given_ids)
        if call.event == "SubagentStop":
            extra_turns, files = _of_subagent(call, transcript)
            record.files = list(dict.fromkeys([*record.files, *files]))
            transcript = None
        folder = call.folder or record.folder
        session = CapturedSession(call.client, call.session_id, folder, self._project_of(folder))
        progress = CaptureProgress(record.offset, record.note_path)
        captured = self._capturer.capture(
            session,
            transcript,
            progress,
            more=extra_turns,
            files=record.files,
            known=self._repeats(record.given_ids),
        )
        self._remember(call, folder, captured)
        if captured.change is not None:
            self._container.indexing.index_written([captured.progress.path or ""])
            self._files.log(
                call.client,
                call.event,
                f"captured {len(captured.items)} in {captured.progress.path}",
            )
            self._container.worker.run(
                f"summarise session {session.note_id}", lambda: self._summarise(session)
            )

    def _reward_citations(self, call: HookCall, given_ids: Sequence[str]) -> None:
        """Reward the given memories whose paths the reply cites."""
        memories = self._container.live.catalogue.by_ids(given_ids)
        cited = [memory.id for memory in memories if memory.path in call.message]
        self._container.learning.record_citations(call.client, cited)

    def _summarise(self, session: CapturedSession) -> None:
        """Add a summary of the new lines by the client's own model, if it may be asked."""
        with self._records.lock(session.client, session.id):
            lines = list(self._records.get(session.client, session.id).unsummarised)
        if len(lines) < MIN_LINES:
            return
        summary = self._sampling.ask(session.client, prompt_of(lines))
        sentences = supported_sentences(without_secrets(summary), lines) if summary else []
        if not sentences:
            return
        items = tuple(Item(ItemKind.SUMMARY, sentence, "assistant") for sentence in sentences)
        with self._records.lock(session.client, session.id):
            record = self._records.get(session.client, session.id)
            progress = CaptureProgress(record.offset, record.note_path)
            saved = self._capturer.write(session, progress, items, ())
            del record.unsummarised[: len(lines)]
            if saved.change is not None:
                record.changes.append(saved.change)
            self._records.save(record)
        if saved.change is not None:
            self._container.indexing.index_written([saved.progress.path or ""])
            self._files.log(session.client, "summary", f"{len(sentences)} sentences")

    def _repeats(self, memory_ids: Sequence[str]) -> Callable[[Item], bool]:
        """A function that says whether an item is the assistant repeating one of these memories."""
        texts: list[str] = []
        for memory_id in memory_ids:
            memory = self._container.live.catalogue.by_id(memory_id)
            if memory is not None:
                with suppress(MemvaultError):  # deleted or in quarantine since it was given
                    texts.append(self._container.vault.read(memory.path).decode("utf-8", "replace"))
        given = Statements(texts)
        return lambda item: item.speaker == "assistant" and given.repeated_by(item.text)

    def _remember(self, call: HookCall, folder: str, captured: Captured) -> None:
        with self._records.lock(call.client, call.session_id):
            record = self._records.get(call.client, call.session_id)
            record.folder, record.project = folder, self._project_of(folder)
            record.offset, record.note_path = captured.progress.offset, captured.progress.path
            if captured.change is not None:
                record.changes.append(captured.change)
                texts = [item.text for item in captured.items]
                record.unsummarised = [*record.unsummarised, *texts][-MAX_LINES:]
            self._records.save(record)


def _of_subagent(
    call: HookCall, transcript: Path | None
) -> tuple[Sequence[TranscriptTurn], list[str]]:
    """The last message of a subagent, and the files that it edited.

    The message is kept only of memvault's own agents: it says what they learned.
    """
    last = TranscriptTurn("assistant", call.message) if call.message else None
    files: list[str] = []
    for turn, _ in read_turns(transcript, of_subagent=True) if transcript else ():
        files += turn.files
        if turn.speaker == "assistant" and turn.text and not call.message:
            last = turn
    is_own = call.agent.endswith(AGENTS)
    return ((last,) if is_own and last is not None else ()), files
