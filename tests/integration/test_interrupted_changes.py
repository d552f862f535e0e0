"""A change that a kill or a full disk interrupts is made completely or not at all, and the history
knows which."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.doctor import examine
from memvault.curation.changes.plan import Edit, Plan
from memvault.curation.origins.provenance import Provenances
from memvault.model.change import ChangeKind
from memvault.model.errors import MemvaultError
from memvault.vault.files import Vault
from memvault.vault.journal import Journal
from tests.desk import WHY, Desk
from tests.integration.killed_changes import (
    CHANGES,
    compress,
    left_by_kills,
    prepared,
    stepping,
)
from tests.integration.small_vault import opened
from tests.waiting import until

OWN = (".memvault/", ".conversations.json")  # files that are no person's
_STAMP = re.compile(rb"^(?:id|created): .*\n", re.MULTILINE)  # differ from run to run


def files(root: Path) -> dict[str, bytes]:
    """All files but memvault's own, without ids and times; a killed process may leave a temporary
    file."""
    found = (each for each in root.rglob("*") if each.is_file())
    tree = {each.relative_to(root).as_posix(): each.read_bytes() for each in found}
    return {
        path: _STAMP.sub(b"", data)
        for path, data in tree.items()
        if not path.startswith(OWN) and not path.rpartition("/")[2].startswith(".memvault-")
    }


def vault_of(folder: Path, change: str) -> tuple[Path, dict[str, bytes], dict[str, bytes]]:
    """A vault to copy, its files, and those that the whole change leaves."""
    start, whole = folder / "start", folder / "whole"
    start.mkdir()
    prepared(Desk(start), change)
    shutil.copytree(start, whole)
    CHANGES[change](Desk(whole))
    return start, files(start), files(whole)


def known(desk: Desk) -> set[str]:
    return {each.reversal_hash for each in desk.curator.history.changes(limit=None)}


def times(root: Path) -> dict[str, int]:
    """When each file was saved, in ns."""
    return {path: (root / path).stat().st_mtime_ns for path in files(root)}


def check(
    root: Path,
    old: set[str],
    before: dict[str, bytes],
    after: dict[str, bytes],
    saved: dict[str, int],
) -> str:
    """What the next start makes of an interrupted change.

    Args:
        saved: when each file was saved before it.
    """
    desk = Desk(root)
    if desk.curator.tombstones.kept():
        desk.curator.purge()  # what was to be deleted for good
    found = files(root)
    new = known(desk) - old
    assert found in (before, after)
    assert bool(new) == (found == after)
    assert new or times(root) == saved
    desk.open()
    assert desk.recovered == [] and files(root) == found
    return "made" if new else "not made"


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_killed_at_any_step_is_made_or_not_made_and_the_history_knows(
    tmp_path: Path, change: str
) -> None:
    start, before, after = vault_of(tmp_path, change)
    desk = Desk(start)
    old, saved = known(desk), times(start)
    left = left_by_kills(start, tmp_path, lambda: CHANGES[change](desk))
    outcomes = [check(root, old, before, after, saved) for root in left]
    assert set(outcomes) == {"made", "not made"} and len(outcomes) > 5


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_on_a_disk_that_becomes_full_at_any_step_is_made_or_not_made(
    tmp_path: Path, change: str
) -> None:
    start, before, after = vault_of(tmp_path, change)
    old, saved, failed = known(Desk(start)), times(start), 0
    for number in range(200):
        root = tmp_path / f"full {number}"
        shutil.copytree(start, root)
        desk = Desk(root)
        steps = iter(range(number))

        def step(steps: Iterator[int] = steps) -> None:
            if next(steps, None) is None:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        try:
            with stepping(step):
                CHANGES[change](desk)
        except MemvaultError:
            failed += 1
            check(root, old, before, after, saved)
            continue
        assert check(root, old, before, after, saved) == "made"
        break
    assert failed > 3


def test_a_note_that_the_person_saves_while_a_failed_change_is_taken_back_has_the_time_of_that_save(
    tmp_path: Path,
) -> None:
    """A sync tool finds changed files by their times."""
    desk = Desk(tmp_path)
    desk.write("Ada.md", "She sails.\n")
    desk.write("Eve.md", "She sings.\n")
    long_ago = 10**18
    os.utime(tmp_path / "Ada.md", ns=(long_ago, long_ago))
    seen = set[str]()

    def step() -> None:
        seen.add(text := desk.read("Ada.md"))
        if len(seen) == 2 and text == "She sails.\n":  # taken back
            desk.write("Ada.md", "She rows.\n")
        elif text == "She swims.\n" and desk.read("Eve.md") == "She sings.\n":
            desk.write("Eve.md", "She hums.\n")

    with stepping(step), pytest.raises(MemvaultError):
        desk.curator.apply(
            Plan(
                ChangeKind.EDITED,
                ("Ada",),
                (),
                (
                    Edit("Ada.md", b"She sails.\n", b"She swims.\n"),
                    Edit("Eve.md", b"She sings.\n", b"She shouts.\n"),
                ),
            ),
            WHY,
        )
    assert (desk.read("Ada.md"), desk.read("Eve.md")) == ("She rows.\n", "She hums.\n")
    assert (tmp_path / "Ada.md").stat().st_mtime_ns > long_ago


def test_a_journal_whose_compression_is_killed_at_any_step_keeps_its_history(
    tmp_path: Path,
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    prepared(Desk(vault), "bring back")
    for change in ("store", "first preference", "import", "restore", "bring back", "forget"):
        CHANGES[change](Desk(vault))

    def reported(root: Path) -> list[object]:
        desk, found = Desk(root), []
        origins = Provenances(Journal(desk.vault), desk.vault)
        found += [origins.of(path, "", data) for path, data in sorted(desk.tree().items())]
        return [desk.curator.history.changes(limit=None), *found]

    before = reported(vault)
    left = list(left_by_kills(vault, tmp_path, lambda: compress(Desk(vault))))
    assert len(left) > 4
    for root in left:
        assert reported(root) == before
        compress(Desk(root))
        assert reported(root) == before
        assert [file.suffix for file in Journal(Vault(root)).files()] == [".gz"]
    done = Desk(vault).curator.undo([before[0][0].reversal_hash], WHY)  # type: ignore[index]
    assert done.change is not None


def test_a_change_whose_outcome_could_not_be_recorded_is_in_the_history_before_the_next_one(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    desk.write("permanent/preferences.md", "- Tone: dry\n")
    full = [False]

    def step() -> None:
        if full[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    recorder = desk.curator._recorder
    record = recorder.record

    def fill_then_record(*arguments: object) -> None:
        full[0] = str(arguments[0]) == "change_done"
        record(*arguments)  # type: ignore[arg-type]

    recorder.record = fill_then_record  # type: ignore[method-assign]
    with stepping(step), pytest.raises(MemvaultError):
        CHANGES["preference"](desk)
    recorder.record = record  # type: ignore[method-assign]
    full[0] = False
    assert desk.read("permanent/preferences.md") == "- Tone: warm\n"  # nothing could be written
    CHANGES["store"](desk)
    stored, preferred = desk.curator.history.changes()
    assert (stored.kind, preferred.kind) == ("created", "preference_set")
    desk.curator.undo([preferred.reversal_hash], WHY)
    assert desk.read("permanent/preferences.md") == "- Tone: dry\n"


def test_an_engine_names_and_removes_what_a_killed_write_left_in_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ".memvault/history/.memvault-x1.tmp"
    left = tmp_path / "My vault" / path
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    os.utime(left, (1e9, 1e9))
    container = opened(tmp_path)
    try:
        assert path in [each.path for each in examine(container.live.indexer)]
    finally:
        container.close()
    monkeypatch.setattr("mcp_server.runtime.container.LONGEST_WRITE_SECONDS", -1.0)
    container = opened(tmp_path)
    try:
        until(lambda: not left.exists())
    finally:
        container.close()
