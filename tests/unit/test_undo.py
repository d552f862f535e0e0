"""Taking back what was done, in whatever order, to the byte."""

from __future__ import annotations

import random
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memvault.curation.changes.history import History
from memvault.curation.changes.staging import Staging
from memvault.curation.changes.undo import undoable
from memvault.curation.operations.annotate import stage_annotation
from memvault.curation.operations.properties import (
    stage_importance,
    stage_lifecycle,
    stage_verification,
)
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import MemvaultError
from memvault.model.memory import Lifecycle
from memvault.vault.version_store import VersionStore
from tests.desk import MORNING, WHY, Desk
from tests.integration.vault_moves import PATHS, notes
from tests.property_examples import slow_property

TODAY = MORNING.date()
_path = st.sampled_from(PATHS[:6])  # few, so that one note is changed many times
vaults = st.dictionaries(_path, notes(), min_size=2, max_size=5)
_moves = st.one_of(
    st.tuples(st.just("merge"), _path, _path),
    st.tuples(st.just("merge"), _path, _path),
    st.tuples(st.just("forget"), _path),
    st.tuples(st.just("create"), _path),
    st.tuples(st.just("restore"), st.integers(0, 9)),
    st.tuples(st.just("annotate"), _path),
    st.tuples(st.just("boost"), _path, st.sampled_from([0.2, -0.2])),
    st.tuples(st.just("set"), _path, st.sampled_from(list(Lifecycle))),
    st.tuples(st.just("verify"), _path, st.booleans()),
    st.tuples(st.just("undo"), st.integers(0, 9)),
)
_edits = st.tuples(st.just("edit"), _path, notes())
_taking_back = st.tuples(st.just("take back"), st.integers(0, 2))
_many = slow_property(25)


@contextmanager
def a_desk(start: Mapping[str, bytes]) -> Iterator[Desk]:
    """A vault of these notes, with a curator."""
    with tempfile.TemporaryDirectory() as home:
        desk = Desk(Path(home))
        for path, data in start.items():
            desk.write(path, data)
        yield desk


def do(desk: Desk, move: tuple[Any, ...], edited: dict[str, bytes]) -> None:
    what, *given_ = move
    try:
        if what == "merge":
            desk.merge(given_[0], into=given_[1])
        elif what == "forget":
            desk.forget(given_[0])
        elif what == "create":
            create(desk, given_[0])
        elif what == "restore":
            kept = desk.kept()
            if kept:
                desk.restore(kept[given_[0] % len(kept)].reversal_hash)
        elif what == "undo":
            standing = left(desk)
            if standing:
                desk.curator.undo([standing[given_[0] % len(standing)].reversal_hash], WHY)
        elif what == "edit":
            desk.write(*given_)
            edited[given_[0]] = given_[1]
        elif desk.vault.stat(given_[0]) is not None:
            set_(desk, what, *given_)
    except MemvaultError:  # the note is not there, or its YAML is broken
        pass


def set_(desk: Desk, what: str, path: str, value: Any = None) -> None:
    target = desk.target(path)
    match what:
        case "annotate":
            desk.do(
                ChangeKind.ANNOTATED, target, lambda s: stage_annotation(s, target, "So.", TODAY)
            )
        case "boost":
            desk.do(ChangeKind.BOOSTED, target, lambda s: stage_importance(s, target, delta=value))
        case "set":
            desk.do(ChangeKind.LIFECYCLE_SET, target, lambda s: stage_lifecycle(s, target, value))
        case "verify":
            desk.do(
                ChangeKind.VERIFIED,
                target,
                lambda s: stage_verification(s, target, verified=value, by="Ada", on=TODAY),
            )


def create(desk: Desk, path: str) -> None:
    desk.curator.perform(
        lambda staging: staging.create(path, b"New.\n"), ChangeKind.CREATED, (path,), (), WHY
    )


def folders(root: Path) -> set[str]:
    """The visible ones."""
    found = (each.relative_to(root).as_posix() for each in root.rglob("*") if each.is_dir())
    return {each for each in found if not each.startswith(".")}


def left(desk: Desk) -> list[Change]:
    changes = desk.curator.history.changes(limit=None)
    wanted = set(undoable(changes))
    return [each for each in changes if each.reversal_hash in wanted and not each.undone_by]


def undo_all(desk: Desk, dice: Any) -> list[Change]:
    """Take back everything that can be, in a random order; gives what cannot."""
    while True:
        standing = left(desk)
        dice.shuffle(standing)
        taken = [
            each for each in standing if desk.curator.undo([each.reversal_hash], WHY).change
        ]  # fmt: skip
        if not taken:
            return standing


@_many
@given(start=vaults, done=st.lists(_moves, min_size=1, max_size=8), dice=st.randoms())
def test_everything_undone_in_any_order_leaves_the_vault_as_at_first(
    start: dict[str, bytes], done: list[tuple[Any, ...]], dice: Any
) -> None:
    with a_desk(start) as desk:
        first = desk.tree(), folders(desk.root)
        for move in done:
            do(desk, move, {})
        assert undo_all(desk, dice) == []
        assert (desk.tree(), folders(desk.root)) == first
        assert desk.kept() == []


@_many
@given(
    start=vaults,
    done=st.lists(st.one_of(_moves, _taking_back, _taking_back),
                  min_size=2, max_size=10),
)  # fmt: skip
@example(start={"A.md": b"A.\n"}, done=[("forget", "A.md"), ("take back", 0), ("take back", 0)])
def test_a_history_that_is_followed_is_the_one_that_is_read_whole(
    start: dict[str, bytes], done: list[tuple[Any, ...]]
) -> None:
    with a_desk(start) as desk:
        history = desk.curator.history
        for move in done:
            if move[0] == "take back":  # also what was itself a taking back
                take_back(desk, move[1])
            else:
                do(desk, move, {})
            whole = History(desk.vault, desk.journal, VersionStore(desk.vault))
            assert history.changes(limit=None) == whole.changes(limit=None)
            assert history.facts() == whole.facts()
            assert history.latest() == whole.latest()


def take_back(desk: Desk, number: int) -> None:
    changes = [each for each in desk.curator.history.changes(limit=None) if not each.undone_by]
    if changes:
        with suppress(MemvaultError):
            desk.curator.undo([changes[number % len(changes)].reversal_hash], WHY)


@_many
@given(start=vaults, done=st.lists(_moves, min_size=1, max_size=8))
def test_everything_undone_at_once_leaves_the_vault_as_at_first(
    start: dict[str, bytes], done: list[tuple[Any, ...]]
) -> None:
    with a_desk(start) as desk:
        first = desk.tree(), folders(desk.root)
        for move in done:
            do(desk, move, {})
        while wanted := undoable(desk.curator.history.changes(limit=None)):
            undone = desk.curator.undo(wanted, WHY)
            assert undone.change is not None, undone.conflicts
        assert (desk.tree(), folders(desk.root)) == first and desk.kept() == []


def test_a_forgetting_and_its_restoring_are_undone_together(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write("Plan.md", b"A plan.\n")
    desk.restore(desk.forget("Plan.md").reversal_hash)
    today = undoable(desk.curator.history.changes(day=desk.now.date(), limit=None))
    shown = desk.curator.undo(today, WHY, preview=True)
    assert len(shown.undone) == 2 and shown.plan.moves == []
    undone = desk.curator.undo(today, WHY)
    assert desk.tree() == {"Plan.md": b"A plan.\n"} and desk.kept() == []
    assert undone.change is not None and undoable(desk.curator.history.changes()) == []


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process is set on POSIX only")
def test_a_day_is_the_one_of_the_persons_clock(tmp_path: Path, monkeypatch) -> None:
    desk = Desk(tmp_path)
    desk.now = datetime(2026, 3, 2, 4, 30, tzinfo=UTC)
    desk.write("Plan.md", b"A plan.\n")
    desk.forget("Plan.md")
    monkeypatch.setenv("TZ", "America/Lima")
    time.tzset()
    try:
        history = desk.curator.history
        assert len(history.changes(day=date(2026, 3, 1))) == 1
        assert history.changes(day=date(2026, 3, 2)) == []
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_restoring_of_an_earlier_forgetting_is_undone_alone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write("Plan.md", b"A plan.\n")
    forgotten = desk.forget("Plan.md").reversal_hash
    desk.now += timedelta(days=1)
    desk.restore(forgotten)
    today = undoable(desk.curator.history.changes(day=desk.now.date(), limit=None))
    assert desk.curator.undo(today, WHY, preview=True).plan.moves == [("Plan.md", ".trash/Plan.md")]
    desk.curator.undo(today, WHY)
    assert desk.tree() == {} and len(desk.kept()) == 1


def test_a_concept_that_was_restored_twice_is_undone_in_order(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    first = desk.forget("Kelp").reversal_hash
    desk.restore("Kelp")
    desk.curator.undo([left(desk)[0].reversal_hash], WHY)
    desk.restore("Kelp")
    [refused] = desk.curator.undo([first], WHY).conflicts
    assert "undo the later change first: Restored “Kelp”" in refused.reason
    assert undo_all(desk, random.Random(1)) == [] and desk.kept() == []


def test_a_merge_into_a_restored_note_is_undone_with_its_forgetting(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    first = {"Other.md": b"Another text.\n", "Plan.md": b"A plan.\n"}
    for path, data in first.items():
        desk.write(path, data)
    desk.restore(desk.forget("Plan.md").reversal_hash)
    desk.merge("Other.md", into="Plan.md")
    desk.curator.undo(undoable(desk.curator.history.changes(limit=None)), WHY)
    assert desk.tree() == first


def test_a_new_note_that_went_to_the_trash_twice_is_taken_back_with_both(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write("Kept.md", b"One.\n")
    create(desk, "New.md")
    desk.merge("New.md", into="Kept.md")
    desk.curator.undo([left(desk)[0].reversal_hash], WHY)
    desk.merge("New.md", into="Kept.md")
    standing = left(desk)
    undone = desk.curator.undo([each.reversal_hash for each in standing], WHY)
    assert len(undone.undone) == 2 and not undone.conflicts
    assert desk.tree() == {"Kept.md": b"One.\n"} and left(desk) == []
    [kept] = [each.read_bytes() for each in (tmp_path / ".trash").iterdir()]
    assert kept == b"New.\n"


def test_a_new_note_that_was_forgotten_is_taken_back_after_its_forgetting(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    create(desk, "New.md")
    [made] = left(desk)
    desk.forget("New.md")
    [refused] = desk.curator.undo([made.reversal_hash], WHY).conflicts
    assert "undo the later change first: Forgot “New”" in refused.reason
    assert "(" + left(desk)[0].reversal_hash[:8] + ")" in refused.reason
    assert len(desk.curator.undo([each.reversal_hash for each in left(desk)], WHY).undone) == 2
    assert desk.tree() == {} and left(desk) == []


def test_undoing_everything_removes_a_new_note_restored_next_to_another(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    create(desk, "New.md")
    first = left(desk)[0].reversal_hash
    forgotten = desk.forget("New.md").reversal_hash
    create(desk, "New.md")
    desk.restore(forgotten)
    assert set(desk.tree()) == {"New.md", "New 2.md"}
    assert desk.curator.undo([first], WHY).conflicts
    assert undo_all(desk, random.Random(1)) == [] and desk.tree() == {}


def test_a_note_whose_place_in_the_trash_was_taken_is_forgotten_again_and_restored(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    desk.write("Plan.md", b"The old plan.\n")
    forgotten = desk.forget("Plan.md").reversal_hash
    create(desk, "Plan.md")
    made = left(desk)[0].reversal_hash
    restored = desk.restore(forgotten)
    assert restored.path == "Plan 2.md"
    desk.curator.undo([made], WHY)  # now this one lies where the old plan lay
    assert undo_all(desk, random.Random(1)) == []
    assert desk.tree() == {"Plan.md": b"The old plan.\n"}
    assert desk.kept() == []


def test_a_folder_that_only_undone_notes_were_in_goes_and_one_of_the_person_stays(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    (tmp_path / "sessions").mkdir()
    create(desk, "sessions/today/one.md")
    create(desk, "sessions/today/two.md")
    second, first = left(desk)
    desk.curator.undo([first.reversal_hash], WHY)
    assert folders(tmp_path) == {"sessions", "sessions/today"}
    undone = desk.curator.undo([second.reversal_hash], WHY).change
    assert folders(tmp_path) == {"sessions"}
    assert undone is not None
    desk.curator.undo([undone.reversal_hash], WHY)
    assert set(desk.tree()) == {"sessions/today/two.md"}


def test_what_was_set_and_set_again_since_is_not_taken_back_before_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write("Plan.md", b"A plan.\n")
    set_(desk, "set", "Plan.md", Lifecycle.TEMPORARY)
    first = left(desk)[0]
    once = desk.read("Plan.md")
    set_(desk, "set", "Plan.md", Lifecycle.EPHEMERAL)
    set_(desk, "set", "Plan.md", Lifecycle.TEMPORARY)
    assert desk.read("Plan.md") == once  # as if nothing had come after the first
    [refused] = desk.curator.undo([first.reversal_hash], WHY).conflicts
    assert "Changed the lifecycle of “Plan”" in refused.reason and desk.read("Plan.md") == once
    assert undo_all(desk, random.Random(1)) == [] and desk.read("Plan.md") == "A plan.\n"


@_many
@given(
    start=vaults,
    done=st.lists(st.one_of(_moves, _edits), min_size=2, max_size=10),
    dice=st.randoms(),
)
def test_what_a_person_edited_since_stays_and_all_else_is_as_at_first(
    start: dict[str, bytes], done: list[tuple[Any, ...]], dice: Any
) -> None:
    with a_desk(start) as desk:
        edited: dict[str, bytes] = {}
        for move in done:
            do(desk, move, edited)
        standing = undo_all(desk, dice)
        for change in standing:
            conflicts = desk.curator.undo([change.reversal_hash], WHY, preview=True).conflicts
            assert conflicts and all(each.reason for each in conflicts)
        theirs = {path for change in standing for path in change.paths}
        wanted = {path: data for path, data in (start | edited).items() if path not in theirs}
        assert {path: data for path, data in desk.tree().items() if path not in theirs} == wanted
        for path, data in edited.items():
            kept = [each.read_bytes() for each in desk.root.rglob("*.md")]
            assert path in theirs or data in kept


def test_changes_after_a_jump_of_the_clock_have_their_own_time_and_keep_their_order(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    desk.write("Plan.md", b"A plan.\n")

    def annotate(text: str) -> Change:
        done = desk.do(
            ChangeKind.ANNOTATED,
            desk.target("Plan.md"),
            lambda staging: stage_annotation(staging, desk.target("Plan.md"), text, TODAY),
        )
        assert done.change is not None
        return done.change

    before = annotate("Before.")
    desk.now += timedelta(days=1500)
    jumped = annotate("In the future.")
    desk.now = MORNING + timedelta(hours=1)  # set right again
    after = [annotate("After."), annotate("Later.")]
    assert [each.at for each in after] == [MORNING + timedelta(hours=1, seconds=n) for n in (1, 2)]
    expected = [key.reversal_hash for key in (*reversed(after), jumped, before)]
    for _ in range(2):
        history = desk.curator.history
        assert [each.reversal_hash for each in history.changes()] == expected
        hour = history.changes(since=MORNING + timedelta(hours=1))
        assert [each.reversal_hash for each in hour] == expected[:3]
        conflicts = desk.curator.undo([after[0].reversal_hash], WHY, preview=True).conflicts
        assert "undo the later change first" in conflicts[0].reason
        desk.open()  # and as read from the journal
    undone = desk.curator.undo(expected, WHY)
    assert len(undone.undone) == 4 and desk.read("Plan.md") == "A plan.\n"


def test_the_old_versions_of_a_change_of_many_notes_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {f"{number}.md": f"Note {number}.\n".encode() for number in range(50)}
    desk = Desk(tmp_path)
    for path, data in many.items():
        desk.write(path, data)

    def stage(staging: Staging) -> None:
        for path in many:
            staging.write(path, b"Rewritten.\n")

    change = desk.do(ChangeKind.EDITED, desk.target("0.md"), stage).change
    opened, read = [], zipfile.ZipFile

    def counted(file: Any, *how: Any, **more: Any) -> zipfile.ZipFile:
        if isinstance(file, Path) and file.stem == change.reversal_hash:
            opened.append(file)
        return read(file, *how, **more)

    monkeypatch.setattr(zipfile, "ZipFile", counted)
    assert desk.undo([change.reversal_hash]).conflicts == ()
    assert desk.tree() == many and len(opened) == 1
