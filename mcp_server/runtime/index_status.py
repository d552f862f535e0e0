"""The state of the indexes, for the command line, the page and the doctor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from indexer.doctor import Problem
from memvault.curation.quarantine import QuarantinedText, by_note
from memvault.model.errors import GraphQueryError, StorageError, StoreUnavailable
from memvault.search.hybrid import HybridSearch
from memvault.stores.open import without_password
from memvault.vault.files import vault_missing
from memvault.vault.ignore import UNKNOWN

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

Result = TypeVar("Result")
MULTILINGUAL = (
    'to find more in them, set model = "intfloat/multilingual-e5-small" below [embedding] in '
    "memvault.toml, then run `memvault stop` (docs/models.md compares models)"
)
DISK_FULL = (
    "The disk is full: recent changes are saved but not searchable yet. Free some space, and "
    "indexing resumes."
)
_NOT_INDEXED_ELSEWHERE = (
    "The process that indexes has not indexed recent changes yet: they are saved, but not "
    "searchable."
)


def index_status(container: Container) -> dict[str, Any]:
    """Counts, stores, progress and problems."""
    vectors, graph = container.live.stores.vectors, container.live.stores.graph
    nodes, edges = _none_if_unreachable(graph.counts) or (None, None)
    scanning, last_scan = container.indexing.scanning, container.indexing.last_scan
    indexing, progress = container.indexing.status(), scanning or container.live.indexer.progress
    return {
        "vault": container.vault.root.name,
        "notes": len(container.live.catalogue),
        "chunks": _none_if_unreachable(vectors.count),
        "nodes": nodes,
        "edges": edges,
        "stores": {
            "vectors": without_password(container.settings.vectors),
            "graph": without_password(container.settings.graph),
            "keyvalue": without_password(container.settings.keyvalue),
        },
        "not_answering": container.live.stores.unreachable(),
        "without_room": container.full_stores(),
        "embedding": container.embedder.model_id,
        "watching": container.indexing.watching(),
        "indexing": None if progress is None else progress.as_dict(),
        "loading": [
            job.partition(" ")[2]
            for job in container.worker.pending
            if job.startswith(("load ", "read the "))
        ],
        "entities_waiting": indexing.entities_waiting if indexing else None,
        "behind_seconds": round(indexing.lag_seconds, 1) if indexing else None,
        "last_scan": last_scan[0].isoformat() if last_scan else None,
        "in_quarantine": len(held_notes(container)),
        "problems": _problems(container),
    }


def _problems(container: Container) -> list[str]:
    problem = language_problem(container.live.searcher.hybrid)
    language_problems = [f"{problem}; {MULTILINGUAL}"] if problem else []
    return [*container.indexing.problems(), *language_problems]


def language_problem(hybrid: HybridSearch) -> str | None:
    """Names the languages of many notes that the model does not know; None if there are none."""
    languages: list[str] = []
    with suppress(StoreUnavailable):
        languages = hybrid.languages.unknown()
    if not languages:
        return None
    *first, last = [language.capitalize() for language in languages]
    names = f"{', '.join(first)} and {last}" if first else last
    return f"many notes are in {names}, which the embedding model hardly knows"


def _quarantine_problem(container: Container) -> str | None:
    """The number of notes in quarantine; None if there are none."""
    notes = held_notes(container)
    if not notes:
        return None
    whole = sum(note.whole for note in notes)
    counts = [(whole, "whole"), (len(notes) - whole, "in part")]
    named = " and ".join(f"{count:,} {how}" for count, how in counts if count)
    return f"in quarantine: {named}, as what others wrote there looks like orders to AI models"


def held_notes(container: Container) -> list[QuarantinedText]:
    """The notes in quarantine; none if the journal cannot be read, which is a problem by itself."""
    with suppress(StorageError):
        return by_note(container.guarded.held_texts())
    return []


def _none_if_unreachable(query_store: Callable[[], Result]) -> Result | None:
    try:
        return query_store()
    except (StoreUnavailable, GraphQueryError):
        return None


def all_problems(container: Container, *, fix: bool) -> list[Problem]:
    """Problems of the indexes and the vault, as `IndexingService.doctor`, and notes about them."""
    problems, last_upkeep = container.indexing.doctor(fix=fix), container.upkeep.last
    if last_upkeep is not None and last_upkeep.removed_any:
        problems.append(Problem("note", str(last_upkeep), "nothing to do"))
    if low_disk := container.upkeep.low_disk():
        problems.append(Problem("note", low_disk, "free some space on that disk"))
    if language := language_problem(container.live.searcher.hybrid):
        problems.append(Problem("note", language, MULTILINGUAL))
    if held := _quarantine_problem(container):
        problems.append(Problem("note", held, "look at them on the Curate page"))
    return problems


def degraded_parts(container: Container) -> dict[str, list[str]]:
    """What an engine lacks: stores that do not answer or are full, and a missing vault."""
    lacking = {
        "not_answering": container.live.stores.unreachable(),
        "without_room": container.full_stores(),
        "missing": ["the vault folder"] if container.vault.is_missing() else [],
    }
    return {key: names for key, names in lacking.items() if names}


def incomplete_because(container: Container) -> str | None:
    """Why answers may be incomplete, in words: a missing vault, a `.memvaultignore` that was never
    read, an unreachable or full store, or notes that another process has not indexed; None if they
    are complete."""
    live = container.live
    if container.vault.is_missing():
        return vault_missing(container.vault.root).message
    if container.vault.ignore_rules.are_unknown:
        return f"{UNKNOWN}."
    if unreachable := live.stores.unreachable():
        return f"{_names_and_verb(unreachable)} unreachable; results may be incomplete."
    if full := live.stores.full():
        return f"{_names_and_verb(full)} full; recent changes are saved but not searchable yet."
    if live.indexer.lacks_space:
        return DISK_FULL
    return _NOT_INDEXED_ELSEWHERE if live.indexer.awaits_others() else None


def _names_and_verb(names: Sequence[str]) -> str:
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"
