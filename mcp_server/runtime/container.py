"""The composition root: opens all objects of an engine, once for one vault."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from indexer.entity_cache import EntityCache
from indexer.generation_folders import FilePointer, GenerationFolders
from indexer.indexer import Indexer
from indexer.progress import IndexCounters, Report, ScanReport, report_nothing
from mcp_server.hooks.service import HookService
from mcp_server.runtime.curation_tasks import CurationTasks
from mcp_server.runtime.dreaming import Dreaming
from mcp_server.runtime.engine_log import trim_log
from mcp_server.runtime.fading import FADE, FIRST_SECONDS, fade_due_sessions, open_fading
from mcp_server.runtime.generations import (
    Generation,
    OpenGenerations,
    open_generation,
)
from mcp_server.runtime.index_status import index_status
from mcp_server.runtime.indexing_service import IndexingService
from mcp_server.runtime.learning_service import LearningService
from mcp_server.runtime.models import Models
from mcp_server.runtime.running_requests import RunningRequests
from mcp_server.runtime.upkeep import Upkeep
from mcp_server.runtime.worker import Worker, share_the_processor
from memvault.cognition.activity import FLUSH_SECONDS, Activity
from memvault.cognition.pulse_log import PulseLog
from memvault.cognition.sessions import Sessions
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings, user_id
from memvault.consolidation.distillation import DistillationLog
from memvault.consolidation.dreams.record import DreamRecord
from memvault.consolidation.fading import FadingLog
from memvault.curation.actions import Actions
from memvault.curation.approval import Approvals
from memvault.curation.changes.client_limits import ClientLimits
from memvault.curation.changes.curator import Curator
from memvault.curation.changes.plan import Attribution, Plan
from memvault.curation.decisions import Decisions
from memvault.curation.guarded_vault import GuardedVault
from memvault.curation.indexed_changes import IndexedVault
from memvault.curation.manifest.keeper import ManifestKeeper
from memvault.curation.operations.merge import MergeIndex
from memvault.curation.operations.move import misled_note
from memvault.curation.origins.provenance import Provenances
from memvault.curation.proposals import NeededApproval, Proposals
from memvault.curation.quarantine import Quarantine
from memvault.curation.tasks.dismissed_tasks import DismissedTasks
from memvault.model.change import Change
from memvault.model.errors import MemvaultError
from memvault.model.graph import NotesIndexed
from memvault.model.memory import Memory, Tombstone
from memvault.model.provenance import own_lines
from memvault.search.context.distil import Distiller
from memvault.search.context.note_text import NOTE_TEXTS
from memvault.search.context.outline import Outlines
from memvault.search.excerpt import Excerpts
from memvault.search.fallback import AnswerCache
from memvault.search.times.time_spans import Calendar
from memvault.stores import faults
from memvault.stores.open import drop_from_servers, shared_pointer
from memvault.text.encoders.embedding import Embedder
from memvault.vault.files import Vault
from memvault.vault.journal import Journal
from memvault.vault.leftovers import LONGEST_WRITE_SECONDS, remove_own_leftovers
from memvault.vault.note_folders import NoteFolders
from memvault.verification.claim_gate import ClaimGateLog
from memvault.verification.immunity import Immunity, Verdicts

logger = logging.getLogger(__name__)
BATCH_SECONDS = 3.0  # for the current batch to end when the container closes
LAST_WAIT_SECONDS = 10.0  # after `BATCH_SECONDS`, for work that cannot be interrupted


class Container:
    """The dependency container: every live object of an engine. Thread-safe.

    Args:
        report: called with each long step, in words that follow "memvault is".
        clock: the time, with a zone.

    Raises, when it is made:
        ModelUnavailable: the embedding model is not installed or cannot be exported.
        StoreUnavailable: another process has the indexes open.
        DiskFull: there is no room to open them.
        StorageError: the journal cannot be read.
    """

    def __init__(
        self,
        vault: Path,
        settings: Settings,
        state: StateFolder,
        report: Callable[[str], None] = lambda _: None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        share_the_processor()
        state.create()
        self.settings = settings
        self.state = state
        self.now = clock
        self.requests = RunningRequests()
        self.worker = Worker(self.requests.let_pass)
        self.sessions = Sessions(user_id(settings), timedelta(hours=settings.sessions.expiry_hours))
        self._open_vault(vault)
        with ExitStack() as cleanup:
            self.models = Models(settings, state.embedding_cache, self.worker, report)
            cleanup.callback(self.models.close)
            self._open_readers(cleanup)
            report("opening the indexes")
            self._open_indexes(cleanup)
            cleanup.pop_all()
        self._start_jobs()
        self.hooks = HookService(self)
        self._closed = threading.Event()

    def _open_vault(self, root: Path) -> None:
        """Open the notes, their history, and the actions that change them."""
        self.vault = Vault(
            root,
            self.settings.index.max_document_bytes,
            NoteFolders(self.settings.notes.folder),
        )
        # Only until the catalogue is open. This keeps the engine from writing to an empty mount
        # point.
        self.vault.had_notes = (self.state.indexes / "current").is_file
        self._open_journal()
        self.curator = Curator(
            self.vault, self.journal, clock=self.now, deleted=self._forget_entities_of,
            refuse=self._refuse,
            approval=self._needed_approval,
            path_of_note=self.path_of,
            misled=lambda staging: misled_note(staging, self._merge_index()),
            on_change=self._learn_from,
        )  # fmt: skip
        self.proposals = Proposals(
            self.journal,
            memory_of=self.memory_of,
            is_undone=self.curator.history.is_undone,
        )
        self.curator.recover()
        self.approvals = Approvals(self.vault, self.curator.history, lambda: self.live.catalogue)
        self.client_limits = ClientLimits(
            self.curator.history, self.vault, lambda: self.settings.limits, self.curator.now
        )

        def index_written(paths: Collection[str]) -> None:
            self.indexing.index_written(paths)

        self.actions = Actions(self.curator, self.indexed_vault, index_written)
        self.manifest = ManifestKeeper(self.curator, self.indexed_vault, index_written)

    def _open_journal(self) -> None:
        """Open the journal and what follows it, before anything reads it: so it is read once."""
        self.journal = Journal(self.vault, writer=self.state.device)
        self.quarantine = Quarantine(self.journal)
        self.gate_log = ClaimGateLog(self.journal)
        self.provenances = Provenances(self.journal, self.vault)
        self.dream_record = DreamRecord(self.journal)
        self.distillation_log = DistillationLog(self.journal)
        self.fading_log = FadingLog(self.journal)
        self.pulse_log = PulseLog(self.journal)
        self.dismissed_tasks = DismissedTasks(self.journal)

    def _open_readers(self, cleanup: ExitStack) -> None:
        """Open what reads notes for answers."""
        self._verdicts = Verdicts(self.state.verdicts)
        cleanup.callback(self._verdicts.close)
        self.immunity = Immunity(self.models.phrases.embed_few, self._verdicts)
        self.guarded = GuardedVault(
            self.vault,
            self.provenances,
            self.quarantine,
            self.immunity,
            self.curator.moved,
        )
        embedder, calendar = self.embedder, partial(Calendar.of, self.settings.calendar)
        self.outlines = Outlines(self.guarded.read, embedder, self._stored_note_texts)
        own_outlines = Outlines(self._read_own, embedder)
        self.excerpts = Excerpts(self.outlines, embedder, calendar=calendar)
        self.own_excerpts = Excerpts(own_outlines, embedder, own_only=True, calendar=calendar)

        def ids_starting(digits: str) -> Sequence[str]:
            return self.live.catalogue.ids_starting(digits)

        self.distiller = Distiller(self.outlines, embedder, ids_starting)
        self.own_distiller = Distiller(own_outlines, embedder, ids_starting)

    def _open_indexes(self, cleanup: ExitStack) -> None:
        """Open the live generation of indexes, and the caches that outlive a generation."""
        settings, state = self.settings, self.state
        self.index_counters = IndexCounters()
        self.answer_cache = AnswerCache()
        self.entity_cache = EntityCache(state.entity_cache)
        cleanup.callback(self.entity_cache.close)
        generations = GenerationFolders(
            state,
            shared_pointer(settings, state.root.name) or FilePointer(state.indexes),
            lambda folder: drop_from_servers(settings, folder),
        )
        self._generations = OpenGenerations(generations, self._open_generation, self.worker)
        self.worker.is_busy = lambda: self.live.indexer.progress is not None
        cleanup.callback(self.live.stores.close)
        self.activity = Activity(self.live.stores.keyvalue, self.journal, self.now)
        self.learning = LearningService(self)
        self.decisions = Decisions(
            self.actions,
            self.manifest,
            dreams=self.dream_record,
            vault=self.vault,
            notes=self._merge_index,
            settle=self.learning.settle,
            user=settings.user,
        )
        self.vault.had_notes = lambda: len(self.live.catalogue) > 0

    def _start_jobs(self) -> None:
        """Set up background work: indexing, curation tasks, dreams, fading, upkeep."""
        self.dreaming = Dreaming(self)
        self.upkeep = Upkeep(self)
        self.curation = CurationTasks(
            lambda: self.live,
            self.dismissed_tasks,
            self.worker,
            self.client_limits,
            clock=self.now,
            dream_proposals=self.dreaming.record.waiting,
        )
        self.indexing = IndexingService(
            self.settings,
            self._generations,
            self.entity_cache,
            self.index_counters,
            self.worker,
            on_first_scan=self.curation.start,
            before_switch=lambda fresh: self.activity.move_to(fresh.stores.keyvalue),
            after_switch=lambda: self.curation.changed(()),
        )
        self.fading = open_fading(self)
        self.worker.run(FADE, lambda: fade_due_sessions(self), after=FIRST_SECONDS)
        self.models.start()
        self.worker.run(
            "remove leftovers",
            lambda: remove_own_leftovers(self.vault),
            after=LONGEST_WRITE_SECONDS + 1.0,
        )
        self.worker.run("trim the log", partial(trim_log, self.state))
        self.worker.run("record access counts", self.activity.write, after=FLUSH_SECONDS)

    @property
    def embedder(self) -> Embedder:
        """Embeds notes and questions."""
        return self.models.embedder

    @property
    def live(self) -> Generation:
        """The generation of indexes that answers; a rebuild replaces it."""
        return self._generations.live

    def start(self, *, watch: bool = True, report: Report = report_nothing) -> ScanReport:
        """Index the vault and watch it, as `IndexingService.start`; then start hooks, dreams and
        upkeep."""
        scanned = self.indexing.start(watch=watch, report=report)
        self.hooks.start()
        self.dreaming.start()
        self.upkeep.start()
        return scanned

    def status(self) -> dict[str, Any]:
        """The state of the indexes: counts, stores, progress and problems."""
        return index_status(self)

    def _merge_index(self) -> MergeIndex:
        catalogue = self.live.catalogue
        return MergeIndex(catalogue, self.live.indexer.links, catalogue.linking)

    def memory_of(self, note_id: str) -> Memory | None:
        """The memory with this id in the live indexes, or None."""
        return self.live.catalogue.by_id(note_id)

    def path_of(self, note_id: str) -> str | None:
        """The path of the memory with this id, or None."""
        memory = self.memory_of(note_id)
        return None if memory is None else memory.path

    def indexed_vault(self) -> IndexedVault:
        """The vault as the live generation has it."""
        view, stores = self.live.graph_view, self.live.stores
        return IndexedVault(self._merge_index(), view, stores.graph, stores.keyvalue)

    def full_stores(self) -> list[str]:
        """Names of full stores: servers, and the disk with the state folder."""
        full_disk = ["the disk with the indexes"] if faults.is_disk_full(self.state.root) else []
        return [*self.live.stores.full(), *full_disk]

    def _refuse(self, plan: Plan, why: Attribution) -> None:
        self.client_limits.check(plan, why)
        self.guarded.check_edits(plan, why)

    def _stored_note_texts(self, paths: Collection[str]) -> dict[str, bytes]:
        return self.live.stores.keyvalue.get_many(NOTE_TEXTS, paths)

    def _needed_approval(self, plan: Plan, why: Attribution) -> NeededApproval | None:
        return self.approvals.needed(plan, why)

    def _learn_from(self, change: Change) -> None:
        self.learning.record_change(change)

    def _read_own(self, path: str) -> bytes:
        """The person's own words in a note; the whole note if it is verified."""
        data, memory = self.guarded.read(path), self.live.catalogue.by_path(path)
        if memory is None or memory.verified:
            return data
        return own_lines(data, memory.provenance)

    def wind_down(self) -> None:
        """Stop background work after the current batch; returns at once.

        The next start indexes the rest.
        """
        self.indexing.wind_down()

    def close(self) -> None:
        """Stop all work, then close all objects; further calls do nothing."""
        if self._closed.is_set():
            return
        self._closed.set()
        self.wind_down()
        # A batch may hold a note of many megabytes; its finished embeddings are cached. A timer,
        # because the worker starts no more jobs.
        interrupt_timer = threading.Timer(BATCH_SECONDS, self.models.interrupt)
        interrupt_timer.daemon = True
        interrupt_timer.start()
        self.indexing.stop(LAST_WAIT_SECONDS)
        indexers = [generation.indexer for generation in self._generations.all()]
        if all(indexer.wait_until_idle(LAST_WAIT_SECONDS) for indexer in indexers):
            with suppress(MemvaultError):  # the next start indexes it again
                self.live.indexer.flush()
        else:
            logger.error("closing while the indexer still runs")
        interrupt_timer.cancel()
        # A rebuild closes the generation that it was filling when its scan ends.
        self._generations.wait_until_filled(LAST_WAIT_SECONDS)
        self.activity.close()
        self.learning.close()
        self._generations.close()
        self.models.close()
        self.entity_cache.close()
        self._verdicts.close()

    def _open_generation(self, folder: Path) -> Generation:
        generation = open_generation(folder, self)
        generation.indexer.on_change.append(partial(self._on_notes_indexed, generation.indexer))
        generation.indexer.on_batch.append(self.index_counters.add)
        generation.indexer.let_pass = self.requests.let_pass
        return generation

    def _forget_entities_of(self, tombstone: Tombstone) -> None:
        """Remove the cached entities of a note deleted for good, as they quote its sentences."""
        digest = tombstone.content_hash
        remaining = (m for m in self.live.catalogue.all() if m.path != tombstone.path)
        if digest is not None and all(memory.content_hash != digest for memory in remaining):
            self.entity_cache.remove(digest)

    def _on_notes_indexed(self, indexer: Indexer, indexed: NotesIndexed) -> None:
        self.indexing.notes_indexed(indexer, indexed)
        self.curation.changed(indexed.paths)
