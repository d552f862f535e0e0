"""How well questions that name relations are answered in vaults of other worlds.

Each file of ``worlds`` has the kinds of notes of one world, twenty relations (stated as a field of
the frontmatter, an inline field, a line or prose), and questions along one to three of them, each
in six wordings. A vault is made of it, and every wording is asked of another note of that vault.

Each world is judged with weights of paths that were fitted on the other worlds; ``--in-use`` asks
with those of the product.

``python -m tests.benchmarks.bench_relation_questions [--worlds NAME …] [--keep DIR] [--in-use] [--missed]``
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

import numpy as np
import yaml
from scipy.optimize import minimize

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.model.search import Mode
from memvault.search.relations import paths
from memvault.search.relations.paths import PathFinder
from tests.waiting import until

WORLDS = Path(__file__).parent / "worlds"
SHOWN = 10
STATED = 0.85  # share of the notes that state a relation of their kind
LINKED = 0.7  # share of the names in a text that are links
MAX_GOLD = 5
PENALTY = 0.003  # of large weights
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
            fitting = [name for name, gold in golds.items() if 0 < len(gold) <= MAX_GOLD]
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
    until(lambda: (status := container.indexing.status()) and not status.entities_waiting, 300)
    container.live.searcher.warm_up()
    return world, container


def found(container: Container, text: str) -> list[str]:
    result = container.live.searcher.search(text, mode=Mode.DEFAULT, top_k=SHOWN)
    return [hit.memory.path for hit in result.hits]


class Recorder(PathFinder):
    """Keeps the features of the paths that it weighs, in the order of `paths`."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.rows: list[Any] = []

    def _scores(self, level: Any, tried: Any) -> list[float]:
        features = self._features(level, tried)
        self.rows += list(np.column_stack([features[name] for name in paths._WEIGHTS]))
        return [-float(len(self.rows) - len(tried) + k) for k in range(len(tried))]


def examples(world: World, container: Container) -> list[tuple[Any, Any]]:
    """For each question the features of its paths, and which of them lead to what answers it."""
    search, catalogue = container.live.searcher.candidates._relations, container.live.catalogue
    lexicon = search._refreshed_lexicon(-1.0)
    assert lexicon is not None
    graph, found = lexicon.graph, []
    path_of = {graph.number_of[memory.id]: memory.path for memory in catalogue.all()}
    for asked in world.asked():
        plain = search.read_words(lexicon, asked.text)
        if not plain.named or not plain.words.content:
            continue
        usable = np.ones(len(graph.node_ids), np.bool_)
        recorder = Recorder(graph, usable, search._vectors, plain.words)
        stating = [
            {path_of[source] for source in graph.source[path.edges[:, 0]].tolist()}
            for path in recorder.paths(plain.named)
        ]
        right = np.array([notes <= asked.gold for notes in stating], np.float64)
        if right.any():
            found.append((np.stack(recorder.rows).astype(np.float64), right))
    return found


def fitted(some: Sequence[tuple[Any, Any]]) -> dict[str, float]:
    """The weights that make the right paths of these questions most probable."""
    rows = np.concatenate([features for features, _ in some])
    mean_, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    right = np.concatenate([each for _, each in some])
    lengths = [len(each) for _, each in some]
    starts = np.cumsum([0, *lengths[:-1]])
    rows = (rows - mean_) / spread

    def loss(weights: Any) -> tuple[float, Any]:
        scores = rows @ weights
        likely = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
        total, hit = np.add.reduceat(likely, starts), np.add.reduceat(likely * right, starts)
        wrong = likely / np.repeat(total, lengths) - likely * right / np.repeat(hit, lengths)
        value = -np.log(hit / total).mean() + PENALTY * weights @ weights
        return value, rows.T @ wrong / len(some) + 2 * PENALTY * weights

    best = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x / spread
    return dict(zip(paths._WEIGHTS, best.tolist(), strict=True))


def asked_of(name: str, folder: Path, *, missed: bool) -> dict[int, float]:
    """The share of questions of a world that find all that answers them, by hops."""
    right: dict[int, list[bool]] = defaultdict(list)
    world, container = opened(name, folder)
    for asked in world.asked():
        all_found = asked.gold <= set(found(container, asked.text))
        right[asked.hops].append(all_found)
        if missed and not all_found:
            print(asked.hops, asked.path, "|", asked.text)
    container.close()
    return {hops: mean(each) for hops, each in right.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    known = sorted(file.stem for file in WORLDS.glob("*.yaml"))
    parser.add_argument("--worlds", nargs="*", default=known)
    parser.add_argument("--keep", type=Path, help="a folder with the vaults, made if missing")
    parser.add_argument("--in-use", action="store_true", help="with the weights of the product")
    parser.add_argument("--missed", action="store_true", help="print the questions that fail")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = given.keep or Path(scratch)
        os.environ["MEMVAULT_STATE"] = str(folder / "state")
        seen = {}
        kept, paths._MAX_PATHS = paths._MAX_PATHS, 10_000  # what is fitted sees all paths
        for name in () if given.in_use else known:
            world, container = opened(name, folder)
            seen[name] = examples(world, container)
            container.close()
        paths._MAX_PATHS = kept
        print("| world | 1 hop | 2 hops | 3 hops |\n| --- | --- | --- | --- |")
        totals = []
        for name in given.worlds:
            if seen:
                others = [each for other in known if other != name for each in seen[other]]
                paths._WEIGHTS.update(fitted(others))
            totals.append(asked_of(name, folder, missed=given.missed))
            print(f"| {name} | " + " | ".join(f"{totals[-1][h]:.2f}" for h in (1, 2, 3)) + " |")
        means = (mean(each[hops] for each in totals) for hops in (1, 2, 3))
        print("| mean | " + " | ".join(f"{each:.3f}" for each in means) + " |")


if __name__ == "__main__":
    main()
