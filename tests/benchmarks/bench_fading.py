"""How much smaller the indexes are once sessions fade, and whether old sessions are still found.

``python -m tests.benchmarks.bench_fading [--per-day N] [--dialogues DIR] [--limit N] [--used DIR]``

*A year*: sessions of some 600 words, so many a day (a person's 20 scaled down; the share does not
depend on it), all indexed, then aged with a moved clock by the fading service as in an engine, then
both indexed anew, so that no store holds space that it would give back. *Found*: the questions of a
question set (a folder with ``vault/`` and ``queries.json``), whose sessions are new, 45 and 90 days
old. *Used*: such a set for a year, in which a person asks some of its questions every week, opens what
is found, now and then brings a text back, writes into a faded note or pins one, and upkeep runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.curation.changes.plan import Attribution
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.generated_vault import FIRST, Prose
from tests.benchmarks.measured_vaults import SETTINGS

START = datetime(2040, 1, 1, tzinfo=UTC)  # after the time at which the files are really written
YEAR, WEEK = timedelta(days=365), timedelta(days=7)
TURNS = 25
SHOWN = 10
ASKED_WEEKLY = 5
ADDED = b"\nThey called about it again.\n"
ME = Attribution("page", "a year of use", kind="person")
DIALOGUES = Path(__file__).resolve().parents[3] / "shared" / "eval" / "locomo-dev"


class Clock:
    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


@contextmanager
def opened(vault: Path, state: Path, clock: Clock) -> Iterator[Container]:
    container = Container(vault, SETTINGS, StateFolder.of_vault(vault, state), clock=clock)
    try:
        container.start(watch=False)
        yield container
    finally:
        container.close()


def write_year(vault: Path, per_day: int, last: datetime) -> int:
    """Sessions of every day of the year before this moment; returns how many."""
    dice = random.Random(3)
    prose = Prose(dice)
    count = 0
    for day in range(YEAR.days):
        at = last - timedelta(days=day)
        for number in range(per_day):
            both = dice.sample(FIRST, 2)
            turns = [f"- **{both[turn % 2]}:** {prose.paragraph(2)}" for turn in range(TURNS)]
            path = vault / "sessions" / f"{at:%Y-%m-%d}" / f"Talk {number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = f"---\ntype: session\n---\n\n# Talk {number} of {at:%Y-%m-%d}\n\n" + "\n".join(
                turns
            )
            path.write_text(text + "\n", encoding="utf-8")
            count += 1
    return count


def set_age(vault: Path, at: datetime | None) -> None:
    """Make the files as old as the dates of their folders, or all of one moment."""
    for file in vault.rglob("sessions/**/*.md"):
        moment = at or datetime.fromisoformat(file.parent.name).replace(tzinfo=UTC)
        os.utime(file, (moment.timestamp(),) * 2)


def fade(container: Container) -> int:
    """What the background does in a day."""
    fading = container.fading
    fading.announce()
    due = fading.due()
    rarity = fading.rarity()
    return sum(fading.fade(each, rarity) is not None for each in due)


def size_of(vault: Path, state: Path, clock: Clock) -> dict[str, int]:
    """What fresh indexes of the vault hold."""
    with opened(vault, state, clock) as container:
        status = container.status()
        rows = [f.stat().st_blocks * 512 for f in container.state.indexes.rglob("*") if f.is_file()]
    return {
        "chunks": status["chunks"],
        "disk": sum(rows),
        "notes": sum(file.stat().st_size for file in vault.rglob("sessions/**/*.md")),
    }


def year(per_day: int) -> list[Figure]:
    end = START + YEAR
    with tempfile.TemporaryDirectory() as scratch:
        vault = Path(scratch, "vault")
        count = write_year(vault, per_day, end)
        set_age(vault, None)
        clock = Clock(end)
        whole = size_of(vault, Path(scratch, "whole"), clock)
        clock.at = end - 2 * WEEK
        with opened(vault, Path(scratch, "state"), clock) as container:
            done = 0
            while clock.at <= end:
                done += fade(container)
                clock.at += WEEK
        left = size_of(vault, Path(scratch, "fresh"), clock)
        archive = sum(f.stat().st_size for f in (vault / ".memvault" / "archive").iterdir())
    note = f"{count:,} sessions, {done:,} fadings; {{}} before, {{}} after"
    shares = [
        Figure(
            f"{what}, after a year of fading against keeping all", 100 * left[key] / whole[key], "%",
            "40", "20", note.format(f"{whole[key]:,}", f"{left[key]:,}"),
        )
        for key, what in (
            ("chunks", "chunks (vectors)"),
            ("disk", "indexes on disk, in bytes"), ("notes", "notes, in bytes"),
        )
    ]  # fmt: skip
    return [*shares, Figure("archive, against the notes", 100 * archive / whole["notes"], "%")]


def recall(container: Container, questions: Sequence[Mapping[str, object]]) -> float:
    """R@10."""
    shares = []
    for question in questions:
        gold = set(question["gold"])  # type: ignore[call-overload]
        hits = container.live.searcher.find(str(question["question"]), SHOWN)
        shares.append(len(gold & {hit.memory.path for hit in hits}) / len(gold))
    return mean(shares)


def found(dialogues: Path, limit: int) -> list[Figure]:
    questions = [
        q for q in json.loads((dialogues / "queries.json").read_text("utf-8")) if q["gold"]
    ]
    if limit:
        questions = random.Random(0).sample(questions, min(limit, len(questions)))
    clock, figures = Clock(START), list[Figure]()
    with tempfile.TemporaryDirectory() as scratch:
        vault = Path(scratch, "vault")
        shutil.copytree(dialogues / "vault", vault)
        set_age(vault, START)
        with opened(vault, Path(scratch, "state"), clock) as container:
            new = recall(container, questions)
            figures.append(Figure("R@10 of new sessions", new, ""))
            for days, least, aim in ((45, "0.85", "0.95"), (90, "0.6", "0.8")):
                while clock.at < START + timedelta(days=days):
                    clock.at += timedelta(days=1)
                    fade(container)
                stages = [memory.faded for memory in container.live.catalogue.all()]
                score = recall(container, questions)
                left = ", ".join(
                    f"{stages.count(each)} {each or 'whole'}" for each in dict.fromkeys(stages)
                )
                figures.append(
                    Figure(f"R@10 at {days} days, of that when new", score / new, "", least, aim,
                           f"R@10 {score:.3f}; {len(questions)} questions; {left}")
                )  # fmt: skip
    return figures


def use_for_a_week(container: Container, questions: Sequence[str], week: int) -> None:
    """Ask and open what is found; now and then do more with it."""
    for number, question in enumerate(questions):
        hits = container.live.searcher.find(question, SHOWN)
        container.learning.record_shown_to_person(question, hits)
        opened = [hit.memory for hit in hits[:1]]
        container.activity.accessed([each.id for each in opened])
        for memory in opened:
            container.learning.record_read_by_person(memory.id)
            if memory.faded and number == 0 and week % 4 == 1:
                container.actions.reconstruct(memory.path, ME)
            elif memory.faded and number == 0 and week % 4 == 3:
                file = container.vault.root / memory.path
                file.write_bytes(file.read_bytes() + ADDED)
                container.indexing.index_written([memory.path])
            elif number == 0 and week == 10:
                container.actions.pin(memory.path, ME, pinned=True)


def lost_bytes(container: Container, originals: Mapping[str, bytes]) -> int:
    """The bytes of lines that no note has once every full text was brought back."""
    lost = 0
    for path, data in originals.items():
        memory = container.live.catalogue.by_path(path)
        if memory is not None and memory.faded:
            container.actions.reconstruct(path, ME)
        now = container.vault.read(path)
        lost += sum(len(line) for line in data.splitlines() if line not in now.splitlines())
    return lost


def used(dialogues: Path, limit: int) -> list[Figure]:
    questions = [
        q for q in json.loads((dialogues / "queries.json").read_text("utf-8")) if q["gold"]
    ]
    if limit:
        questions = random.Random(0).sample(questions, min(limit, len(questions)))
    clock, dice = Clock(START), random.Random(5)
    with tempfile.TemporaryDirectory() as scratch:
        vault = Path(scratch, "vault")
        shutil.copytree(dialogues / "vault", vault)
        set_age(vault, START)
        originals = {
            file.relative_to(vault).as_posix(): file.read_bytes() for file in vault.rglob("*.md")
        }
        whole = size_of(vault, Path(scratch, "whole"), clock)
        with opened(vault, Path(scratch, "state"), clock) as container:
            new = recall(container, questions)
            for week in range(52):
                some = [str(q["question"]) for q in dice.sample(questions, ASKED_WEEKLY)]
                use_for_a_week(container, some, week)
                container.learning.learnt.flush()
                for _ in range(7):
                    clock.at += timedelta(days=1)
                    fade(container)
                if week % 4 == 3:
                    container.upkeep.run()
            stages = [memory.faded for memory in container.live.catalogue.all()]
            score = recall(container, questions)
        left = size_of(vault, Path(scratch, "fresh"), clock)
        with opened(vault, Path(scratch, "state"), clock) as container:
            lost = lost_bytes(container, originals)
    kept = ", ".join(f"{stages.count(each)} {each or 'whole'}" for each in dict.fromkeys(stages))
    note = f"{dialogues.name}: R@10 {new:.3f} when new, {score:.3f}; {len(questions)} questions; {kept}"
    return [
        Figure("R@10 after a year of use, of that when new", score / new, "", "0.6", "0.8", note),
        Figure("bytes lost", lost, "", "0", "0"),
        Figure("chunks after a year of use", 100 * left["chunks"] / whole["chunks"], "%",
               note=f"{whole['chunks']:,} before, {left['chunks']:,} after"),
        Figure("indexes on disk after a year of use", 100 * left["disk"] / whole["disk"], "%",
               note=f"{whole['disk']:,} before, {left['disk']:,} after"),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-day", type=int, default=1)
    parser.add_argument("--dialogues", type=Path, default=DIALOGUES)
    parser.add_argument("--limit", type=int, default=0, help="questions; 0 for all")
    parser.add_argument("--used", type=Path, help="only this: a set that is used for a year")
    given = parser.parse_args()
    if given.used is not None:
        show("fading, used for a year", used(given.used, given.limit))
        return
    figures = found(given.dialogues, given.limit) if given.dialogues.is_dir() else []
    show("fading", [*figures, *year(given.per_day)])


if __name__ == "__main__":
    main()
