"""What learning from use changes: simulated users ask again and again about some notes.

Each user cares about a tenth of the notes that questions are about, about some far more often than
about others, asks `PER_DAY` questions a day for `DAYS` days, and opens the note that answers if it
is among the first ten results. Half of the questions about these notes are never asked: they show
whether what was learnt helps with other questions about the same notes. All remaining questions
show what it costs elsewhere.

usage: python -m tests.benchmarks.bench_learning SET ... (folders with queries.json, and vault/ or
a vault given by --vault)
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.consolidation.learning import FOLDER
from memvault.consolidation.modulation import Modulation, RewardSignal, RewardType
from memvault.model.search import Hit, Mode
from tests.benchmarks.figures import Figure, median, percentile, show, timed
from tests.benchmarks.measured_vaults import vault_of

USERS, DAYS, PER_DAY = 3, 30, 5
CARED_FOR = 0.1  # of the notes that questions are about
SHOWN = 10
START = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass
class User:
    """Whom a seed makes: what they care for, and which questions they ask."""

    notes: list[str]
    asked: dict[str, list[str]]  # questions by note
    groups: dict[str, str] = field(default_factory=dict)  # by question


def user(questions: Sequence[dict[str, list[str]]], seed: int) -> User:
    chance = random.Random(seed)
    about = defaultdict(list)
    for each in questions:
        for note in each["gold"]:
            about[note].append(str(each["question"]))
    notes = sorted(about)
    cared = chance.sample(notes, max(1, round(CARED_FOR * len(notes))))
    asked = {}
    groups = dict.fromkeys((str(each["question"]) for each in questions), "elsewhere")
    for note in cared:
        own = chance.sample(about[note], len(about[note]))
        asked[note] = own[: -(-len(own) // 2)]
        groups.update(dict.fromkeys(own, "on what is used, not asked before"))
    for own in asked.values():
        groups.update(dict.fromkeys(own, "asked again"))
    return User(cared, asked, groups)


class Simulation:
    """One vault with its questions."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        shutil.copytree(vault_of(folder), scratch / "vault")
        known = json.loads((folder / "queries.json").read_text())
        self.questions = [each for each in known if each["gold"]]
        self.now = START
        settings = Settings(index=IndexSettings(ner="off"))
        self.container = Container(
            scratch / "vault", settings, StateFolder.of_vault(scratch / "vault", scratch)
        )
        self.container.indexing.scan()
        self.learnt = self.container.learning.learnt
        self.learnt._clock = self.container.learning._uses.clock = lambda: self.now

    def ask(self, question: str) -> list[Hit]:
        searcher = self.container.live.searcher
        return searcher.search(question, mode=Mode.DEFAULT, top_k=SHOWN).hits

    def live(self, one: User, seed: int) -> None:
        """The days of a user."""
        chance, service = random.Random(seed), self.container.learning
        often = [1.0 / place for place in range(1, len(one.notes) + 1)]
        for day in range(DAYS):
            self.now = START + timedelta(days=day)
            for number in range(PER_DAY):
                note = chance.choices(one.notes, often)[0]
                question = chance.choice(one.asked[note])
                hits = self.ask(question)
                connection = f"{seed} {day} {number}"
                service.shown(connection, "user", connection, question, hits)
                service.read(connection, [h.memory.id for h in hits if h.memory.path == note])
            service._write()

    def found(self) -> list[list[str]]:
        """The paths that each question finds."""
        return [[hit.memory.path for hit in self.ask(each["question"])] for each in self.questions]

    def ranks(self, one: User, found: Sequence[Sequence[str]]) -> dict[str, float]:
        """The reciprocal rank of each question's note; of what the user cares for, if it is."""
        cared, ranks = set(one.notes), {}
        for each, paths in zip(self.questions, found, strict=True):
            gold = set(each["gold"]) & cared or set(each["gold"])
            rank = next((k for k, path in enumerate(paths, 1) if path in gold), 0)
            ranks[str(each["question"])] = 1 / rank if rank else 0.0
        return ranks

    def forget(self) -> None:
        shutil.rmtree(self.container.vault.root / FOLDER, ignore_errors=True)
        self.learnt.refresh()


def measure(folder: Path) -> list[Figure]:
    with tempfile.TemporaryDirectory() as home:
        simulation = Simulation(folder, Path(home))
        service = simulation.container.learning
        changes: dict[str, list[tuple[float, float]]] = defaultdict(list)
        unlearnt = simulation.found()
        for seed in range(USERS):
            one = user(simulation.questions, seed)
            before = simulation.ranks(one, unlearnt)
            simulation.live(one, seed)
            after = simulation.ranks(one, simulation.found())
            for group in dict.fromkeys(one.groups.values()):
                own = [q for q in after if one.groups[q] == group]
                changes[group].append((mean(before[q] for q in own), mean(after[q] for q in own)))
            ids = [memory.id for memory in simulation.container.live.catalogue.all()][:SHOWN]
            question = str(simulation.questions[seed]["question"])
            spent = median(timed(lambda a=question, i=ids: service.preference(a, i), 50))  # type: ignore[misc]
            simulation.forget()
        simulation.container.close()
    figures = []
    for group, values in changes.items():
        was, now = (mean(side) for side in zip(*values, strict=True))
        least = min(after - before for before, after in values)
        figures += [
            Figure(f"MRR {group}, before", was, ""),
            Figure(f"MRR {group}, after", now, ""),
            Figure(f"MRR {group}, smallest change of a user", least, "", "-0.01", "0"),
        ]
    return [*figures, Figure("what use says of ten memories, p50", spent, "ms", "0.2", "0.05")]


def modulation() -> list[Figure]:
    """What each answer and reward costs (graph-tools 3.5: 200 µs at most)."""
    levels, reward = Modulation(), RewardSignal(RewardType.REWARD, 0.5)
    calls = {
        "an answer moves the levels, p99": lambda: levels.answered("one", 0.4, 5),
        "a reward moves a level, p99": lambda: levels.rewarded("one", reward),
        "search reads its knobs, p99": levels.tuning,
    }
    return [
        Figure(what, percentile(timed(call, 5_000), 0.99), "ms", "0.2")
        for what, call in calls.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", type=Path)
    show("modulation", modulation())
    for folder in parser.parse_args().sets:
        show(f"learning from use, {folder.name}", measure(folder))


if __name__ == "__main__":
    main()
