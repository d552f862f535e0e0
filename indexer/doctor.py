"""Finds problems of indexes and notes, and says what to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from indexer.indexer import Indexer
from memvault.model.errors import OutsideVault, StorageError
from memvault.model.memory import Lifecycle, Memory
from memvault.stores.faults import disk_full
from memvault.vault.file_names import original_of_copy
from memvault.vault.files import vault_missing
from memvault.vault.journal import Journal
from memvault.vault.leftovers import leftovers, own_leftovers


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem; ``severity`` is error (answers may be wrong, or stop) or note (for the person)."""

    severity: str
    what: str
    advice: str
    path: str | None = None
    repaired_by_scan: bool = False


def examine(indexer: Indexer, *, indexing: bool = False) -> list[Problem]:
    """Compare the vault, the catalogue and the stores; change nothing.

    Args:
        indexing: notes are being indexed, so differences are no error.
    """
    if indexer.vault.is_missing():
        missing = vault_missing(indexer.vault.root).message
        return [
            Problem("error", missing, "nothing is lost; the index is kept until the folder is back")
        ]
    journal = _journal(indexer)
    if any(problem.severity == "error" for problem in journal):
        return journal  # notes are compared with what the journal says of them
    failing = _failing_stores(indexer)
    indexing = indexing or bool(failing)
    differing = _waiting(indexer) if indexing else [*_unindexed(indexer), *_mismatched(indexer)]
    return [
        *failing,
        *differing,
        *_unusable_folders(indexer),
        *_troubled_notes(indexer),
        *journal,
        *_leftovers(indexer),
    ]


def known_problems(indexer: Indexer) -> list[str]:
    """The problems of notes and journal, one line each, without comparing the indexes (slow)."""
    if indexer.vault.is_missing():
        return [vault_missing(indexer.vault.root).message]
    problems = [*_unusable_folders(indexer), *_troubled_notes(indexer), *_journal(indexer)]
    return _failures(indexer) + [
        f"{problem.path}: {problem.what}" if problem.path else problem.what for problem in problems
    ]


def _error(problem: str, path: str | None = None) -> Problem:
    advice = "run `memvault doctor --fix`; your notes are not at risk"
    return Problem("error", problem, advice, path, repaired_by_scan=True)


def _failures(indexer: Indexer) -> list[str]:
    return indexer.stores.problems() + ([disk_full().message] if indexer.lacks_space else [])


def _failing_stores(indexer: Indexer) -> list[Problem]:
    """The servers that do not answer or are full, and a full disk: notes wait until they accept
    writes again, and no scan helps."""
    problems = []
    for message in _failures(indexer):
        what, _, advice = message.rstrip(".").partition(". ")
        problems.append(Problem("error", what, f"{advice[:1].lower()}{advice[1:]}"))
    return problems


def _waiting(indexer: Indexer) -> list[Problem]:
    count = len(indexer.comparison.differing().changed)
    problem = f"{count:,} {'note is' if count == 1 else 'notes are'} not indexed yet"
    advice = "`memvault status` shows how far indexing is"
    return [Problem("note", problem, advice)] if count else []


def _unindexed(indexer: Indexer) -> list[Problem]:
    waiting = indexer.comparison.differing()
    with_new_authors = waiting.changed.keys() & indexer.comparison.with_new_provenance()
    problems = [
        _error(
            "the journal has new entries on its authors since it was indexed"
            if path in with_new_authors and indexer.comparison.is_same_file(waiting.changed[path])
            else "changed on disk since it was indexed",
            path,
        )
        for path in sorted(waiting.changed)
    ]
    return problems + [
        _error("indexed, but deleted from the vault", p) for p in sorted(waiting.deleted)
    ]


def _mismatched(indexer: Indexer) -> list[Problem]:
    mismatch = indexer.comparison.mismatch()
    strays = {"graph": mismatch.stray_nodes, "vector index": mismatch.stray_chunks}
    lacks_chunks = "missing from the vector index, in whole or in part"
    return [
        *(_error("missing from the graph", path) for path in sorted(mismatch.without_node)),
        *(
            _error(f"{len(ids)} notes in the {store} that the catalogue lacks")
            for store, ids in strays.items()
            if ids
        ),
        *(_error(lacks_chunks, path) for path in sorted(mismatch.without_chunks)),
    ]


def _troubled_notes(indexer: Indexer) -> list[Problem]:
    problems = []
    for record in indexer.catalogue.records():
        path = record.memory.path
        holder = indexer.catalogue.by_id(record.claimed_id) if record.claimed_id else None
        is_of_first_path = record.memory.provenance.stamp.endswith(f"@{record.claimed_id}")
        original = original_of_copy(path)
        if original != path and indexer.catalogue.by_path(original):
            problems.append(
                Problem(
                    "note",
                    f"a sync tool made this copy, as {original} changed on two devices",
                    f"compare both, keep in {original} what you need, and delete the copy",
                    path,
                )
            )
        elif holder is not None and holder.path != path and not is_of_first_path:
            problems.append(
                Problem(
                    "note",
                    f"same id as {holder.path}",
                    "if it is a copy, delete it or its id; a tool that is given the id finds the "
                    "other note",
                    path,
                )
            )
        if record.frontmatter_problem:
            problems.append(
                Problem(
                    "note",
                    f"part of the frontmatter cannot be read ({record.frontmatter_problem})",
                    "correct the YAML in your editor; until then memvault will not write to it",
                    path,
                )
            )
        problems += [
            Problem("note", warning, "look at the file in your editor", path)
            for warning in record.warnings
        ]
    return problems + [_not_read(path, why) for path, why in indexer.problems.items()]


def _not_read(path: str, why: str) -> Problem:
    """The problem of a file that is not read; most reasons end with what to do."""
    what, _, advice = why.rpartition("; ")
    return Problem(
        "note", what or why, advice if what else "it will be read when this is corrected", path
    )


def _unusable_folders(indexer: Indexer) -> list[Problem]:
    """The folders of new notes that can hold none: what clients want to keep is refused."""
    vault = indexer.vault
    refused: dict[str, Problem] = {}  # by reason, which several folders may share
    for lifecycle in Lifecycle:
        try:
            vault.note_folder(vault.folders.of(lifecycle, None, datetime.now().astimezone().date()))
        except (OutsideVault, StorageError) as error:
            what, _, advice = error.message.rstrip(".").rpartition(". ")
            reason = error.message.partition(": ")[2]
            problem = Problem("note", what, advice[:1].lower() + advice[1:])
            refused.setdefault(reason, problem)
    return list(refused.values())


def _journal(indexer: Indexer) -> list[Problem]:
    try:
        torn_lines = Journal(indexer.vault).torn_lines()
    except StorageError as error:
        return [Problem("error", error.message, "until then no note is read or changed")]
    problems = [
        Problem("note", f"journal: {torn}", "all other entries are readable") for torn in torn_lines
    ]
    stored = sum(_lacks_history(record.memory) for record in indexer.catalogue.records())
    if stored:
        notes = "note" if stored == 1 else "notes"
        what = f"the history is missing of {stored:,} {notes} that AI clients or imports wrote"
        advice = (
            "synchronise .memvault/ with the notes, or copy it here; until then all words of such "
            "notes count as the client's, and what clients added to your own notes counts as yours"
        )
        problems.append(Problem("note", what, advice))
    return problems


def _lacks_history(memory: Memory) -> bool:
    """Whether only the note itself says that others wrote it (`stated_origin`)."""
    provenance = memory.provenance
    return not provenance.is_person and not provenance.stamp.partition("@")[0]


def _leftovers(indexer: Indexer) -> list[Problem]:
    advice = "compare it with the notes in its folder; delete it if it contains nothing of yours"
    advice_by_path = [(path, advice) for path in leftovers(indexer.vault)]
    own_advice = "memvault removes it about a minute after its engine starts"
    advice_by_path += [(path, own_advice) for path in own_leftovers(indexer.vault)]
    return [
        Problem("note", "an interrupted write left this file", how, path)
        for path, how in advice_by_path
    ]
