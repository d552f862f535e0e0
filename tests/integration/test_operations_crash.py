"""kill -9 in the middle of a merge, or of taking it back: it is wholly done or wholly undone."""

from __future__ import annotations

import random
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from tests.desk import Desk
from tests.forks import forks_of
from tests.integration.killed_changes import left_by_kills
from tests.integration.merge_child import INTO, merge_and_die, merge_or_undo

KILLS = 10
NOTES = 40  # of the large merge
STEPS = 180  # that it takes


def vault_of(desk: Desk, notes: int) -> None:
    desk.write(INTO, "# Survivor\n\nIts text, and [[Old 1]].\n")
    for number in range(notes):
        desk.write(f"old/Old {number}.md", f"# Old {number}\n\nText {number}, [[Old 0]].\n")
        if number % 4 == 0:
            desk.write(f"links/Link {number}.md", f"See [[Old {number}]] and ![[Old 1]].\n")


def killed_at(context: BaseContext, root: Path, step: int) -> bool:
    """Whether it was killed, and did not end before that step."""
    child = context.Process(target=merge_and_die, args=(root, step))
    child.start()
    child.join()
    return child.exitcode != 0


@pytest.fixture(scope="module")
def context() -> BaseContext:
    return forks_of("tests.integration.merge_child")


def whole(desk: Desk, before: dict[str, bytes], merged: dict[str, bytes]) -> str:
    """What a start makes of it; the next start finds nothing more to do."""
    desk.open()
    tree = desk.tree()
    assert tree in (before, merged)
    desk.open()
    assert desk.recovered == [] and desk.tree() == tree
    return "merged" if tree == merged else "as before"


@pytest.mark.parametrize("taking_back", [False, True], ids=["merge", "undo"])
def test_a_small_merge_killed_at_every_step_is_wholly_done_or_wholly_undone(
    tmp_path: Path, taking_back: bool
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    desk = Desk(vault)
    vault_of(desk, 3)
    trees = [desk.tree()]
    if taking_back:
        merge_or_undo(desk)
        trees.append(desk.tree())
    left = list(left_by_kills(vault, tmp_path, lambda: merge_or_undo(desk)))
    before, merged = [*trees, desk.tree()][:2]
    assert len(merged) < len(before)
    found = {whole(Desk(root), before, merged) for root in left}
    assert found == {"merged", "as before"} and len(left) > 10


def test_a_merge_of_many_notes_killed_anywhere_is_wholly_done_or_wholly_undone(
    tmp_path: Path, context: BaseContext
) -> None:
    desk = Desk(tmp_path)
    vault_of(desk, NOTES)
    before = desk.tree()
    assert not killed_at(context, tmp_path, 10_000)
    desk.open()
    merged = desk.tree()
    assert len(before) - len(merged) == NOTES
    dice = random.Random(3)
    found = []
    for _ in range(KILLS):
        killed_at(context, tmp_path, dice.randrange(STEPS))
        found.append(whole(desk, before, merged))
    assert set(found) == {"merged", "as before"}
