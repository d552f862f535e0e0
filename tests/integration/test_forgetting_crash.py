"""kill -9 while notes are forgotten and restored: each note is whole, once, where it was said."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

from tests.desk import Desk
from tests.forks import forks_of
from tests.integration.forget_child import forget_and_restore

KILLS = 20
LONGEST_DELAY = 0.1  # seconds


def tree(root: Path) -> dict[str, bytes]:
    found = (each for each in root.rglob("*") if each.is_file())
    files = {each.relative_to(root).as_posix(): each.read_bytes() for each in found}
    return {path: data for path, data in files.items() if not path.startswith(".memvault/")}


def test_kills_while_forgetting_and_restoring_lose_and_double_no_note(tmp_path: Path) -> None:
    context = forks_of("tests.integration.forget_child")
    dice = random.Random(5)
    notes = {f"{folder}/Note {n}.md": f"{folder} {n}\n" * 50 for folder in "ab" for n in range(3)}
    for path, text in notes.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, newline="")
    outcomes: Counter[str] = Counter()
    for seed in range(KILLS):
        theirs, ours = context.Pipe(duplex=False)
        child = context.Process(target=forget_and_restore, args=(tmp_path, seed, ours))
        child.start()
        ours.close()
        assert theirs.recv() == ("started", "")
        for _ in range(dice.choice([0, 1, 2])):
            outcomes[theirs.recv()[0]] += 1
        time.sleep(dice.uniform(0.0, LONGEST_DELAY))
        child.kill()
        child.join()
        while theirs.poll():
            try:
                outcomes[theirs.recv()[0]] += 1
            except EOFError:
                break
        desk = Desk(tmp_path)
        kept = {each.path: each for each in desk.kept()}
        expected = {kept[p].trash_path if p in kept else p: t.encode() for p, t in notes.items()}
        assert tree(tmp_path) == expected
        desk.open()
        assert desk.recovered == []
        made = Counter(str(each.kind) for each in desk.curator.history.changes(limit=None))
        assert outcomes["forgotten"] <= made["forgotten"]
        assert outcomes["restored"] <= made["restored"]
    assert outcomes.keys() == {"forgotten", "restored"}
