"""How well questions that name relations are answered in vaults of other worlds.

Each file of ``worlds`` has the kinds of notes of one world, twenty relations (stated as a field of
the frontmatter, an inline field, a line or prose), and questions along one to three of them, each
in six wordings. A vault is made of it, and every wording is asked of another note of that vault.

``python -m tests.benchmarks.bench_worlds [--worlds NAME …] [--keep DIR] [--missed]``
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import yaml

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.model.search import Mode
from tests.waiting import until

WORLDS = Path(__file__).parent / "worlds"
SHOWN = 10
STATED = 0.85  # share of the notes that state a relation of their kind
LINKED = 0.7  # share of the names in a text that are links
MOST_GOLD = 5
ASIDES = ("See also {}.", "{} came up in the same conversation.", "Compare with {}.")


@dataclass(frozen=True)
class Asked:
    text: str
    hops: int
    gold: frozenset[str]
    path: str


class World:
    """One world: its notes, what they state, and the questions about it."""

    def __init__(self, file: Path) -> None:
        plan = yaml.safe_load(file.read_text("utf-8"))
        self._dice = random.Random(file.stem)
        self._kinds: Mapping[str, Any] = plan["kinds"]
        self._relations = {name: text.split(" | ") for name, text in plan["relations"].items()}
        self._names = {kind: _names(made) for kind, made in self._kinds.items()}
        self._kind_of = {name: kind for kind, names in self._names.items() for name in names}
        self._edges = {name: self._stated(*ends[0].split(" > ")) for name, ends in
                       self._relations.items()}  # fmt: skip
        self._questions = plan["questions"]

    def _stated(self, source: str, target: str) -> dict[str, str]:
        found = {}
        for name in self._names[source]:
            other = self._dice.choice(self._names[target])
            if other != name and self._dice.random() < STATED:
                found[name] = other
        return found

    def write(self, vault: Path) -> None:
        for kind, made in self._kinds.items():
            for name in self._names[kind] if "folder" in made else ():
                path = vault / self._path(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self._note(name, kind), "utf-8")

    def _path(self, name: str) -> str:
        return f"{self._kinds[self._kind_of[name]]['folder']}/{name}.md"

    def _note(self, name: str, kind: str) -> str:
        head, lines, inline, prose = [f"type: {kind}"], [], [], []
        for relation, (_, style, words) in self._relations.items():
            other = self._edges[relation].get(name)
            if other is None:
                continue
            if style == "field":
                head.append(f'{words}: "{self._link(other, always=True)}"')
            elif style == "line":
                lines.append(f"- {words}: {self._link(other)}")
            elif style == "inline":
                inline.append(f"{words}:: {self._link(other, always=True)}")
            else:
                sentence = self._dice.choice(words.split(" / "))
                prose.append(sentence.replace("{s}", name).replace("{}", self._link(other)))
        if self._dice.random() < 0.5:
            aside = self._dice.choice([each for each in self._kind_of if each != name])
            prose.append(self._dice.choice(ASIDES).format(self._link(aside)))
        parts = ["\n".join(lines), " ".join(prose), "\n".join(inline)]
        body = "\n\n".join(part for part in parts if part)
        return "---\n" + "\n".join(head) + f"\n---\n\n# {name}\n\n{body}\n"

    def _link(self, name: str, *, always: bool = False) -> str:
        noted = "folder" in self._kinds[self._kind_of[name]]
        return f"[[{name}]]" if noted and (always or self._dice.random() < LINKED) else name

    def asked(self) -> list[Asked]:
        """Every wording once, of a note from which its path leads to few others."""
        found, dice = [], random.Random("questions")
        for question in self._questions:
            steps = self._steps(question["path"])
            first, inverse = steps[0]
            ends = self._relations[first][0].split(" > ")
            golds = {name: self._gold(name, steps) for name in self._names[ends[inverse]]}
            fitting = [name for name, gold in golds.items() if 0 < len(gold) <= MOST_GOLD]
            for wording in question["ask"]:
                name = dice.choice(fitting)
                gold = frozenset(self._path(each) for each in golds[name])
                text = wording.replace("{x}", name).replace("the The ", "The ")
                found.append(Asked(text, len(steps), gold, question["path"]))
        return found

    def _steps(self, path: str) -> list[tuple[str, bool]]:
        """The relations of a path, each with whether it is followed against its direction."""
        steps = []
        while path:
            bare = path.removeprefix("~")
            name = max((r for r in self._relations if f"{bare} ".startswith(f"{r} ")), key=len)
            steps.append((name, bare != path))
            path = bare[len(name) :].strip()
        return steps

    def _gold(self, name: str, steps: Sequence[tuple[str, bool]]) -> set[str]:
        """The notes that state the last step."""
        reached, stating = {name}, set()
        for relation, inverse in steps:
            edges = self._edges[relation].items()
            taken = [(a, b) for a, b in edges if (b if inverse else a) in reached]
            reached = {a if inverse else b for a, b in taken}
            stating = {a for a, _ in taken}
        return stating


def _names(made: Mapping[str, Any]) -> list[str]:
    firsts, lasts = str(made["first"]).split() or [""], str(made["last"]).split()
    pairs = [(first, last) for last in lasts for first in firsts][: made["count"]]
    return [made.get("join", " ").join(filter(None, pair)) for pair in pairs]


def opened(name: str, folder: Path) -> tuple[World, Container]:
    """A world with the engine's container over its vault, which is indexed."""
    world, vault = World(WORLDS / f"{name}.yaml"), folder / name
    if not vault.is_dir():
        world.write(vault)
    container = Container(vault, Settings(), StateFolder.of_vault(vault))
    container.start(watch=False)
    until(lambda: (status := container.indexing.standing()) and not status.entities_waiting, 300)
    container.live.searcher.warm_up()
    return world, container


def found(container: Container, text: str) -> list[str]:
    result = container.live.searcher.search(text, mode=Mode.DEFAULT, top_k=SHOWN)
    return [hit.memory.path for hit in result.hits]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    known = sorted(file.stem for file in WORLDS.glob("*.yaml"))
    parser.add_argument("--worlds", nargs="*", default=known)
    parser.add_argument("--keep", type=Path, help="a folder with the vaults, made if missing")
    parser.add_argument("--missed", action="store_true", help="print the questions that fail")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = given.keep or Path(scratch)
        os.environ["MEMVAULT_STATE"] = str(folder / "state")
        print("| world | 1 hop | 2 hops | 3 hops |\n| --- | --- | --- | --- |")
        totals: dict[int, list[float]] = defaultdict(list)
        for name in given.worlds:
            world, container = opened(name, folder)
            right: dict[int, list[bool]] = defaultdict(list)
            for asked in world.asked():
                all_found = asked.gold <= set(found(container, asked.text))
                right[asked.hops].append(all_found)
                if given.missed and not all_found:
                    print(asked.hops, asked.path, "|", asked.text)
            container.close()
            for hops, each in right.items():
                totals[hops].append(mean(each))
            print(f"| {name} | " + " | ".join(f"{mean(right[h]):.2f}" for h in (1, 2, 3)) + " |")
        print("| mean | " + " | ".join(f"{mean(totals[h]):.2f}" for h in (1, 2, 3)) + " |")


if __name__ == "__main__":
    main()
