"""A vault of any size that reads like notes: people, projects, decisions, sessions, their links.

The prose is a Markov chain over this repository's own documents, so nothing has to be fetched and
the words follow a natural distribution. The same seed gives the same vault.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIRST = [
    "Ada",
    "Bela",
    "Ciro",
    "Dana",
    "Edda",
    "Faro",
    "Gil",
    "Hedy",
    "Ilja",
    "Jun",
    "Kaja",
    "Lior",
    "Mina",
    "Noor",
    "Otto",
    "Pia",
    "Ravi",
    "Sena",
]
LAST = [
    "Abel",
    "Brandt",
    "Conti",
    "Dorn",
    "Ekman",
    "Faure",
    "Gruber",
    "Halme",
    "Ivanov",
    "Jansen",
    "Kaya",
    "Lund",
    "Moretti",
    "Nagy",
]
THINGS = [
    "harbour",
    "lantern",
    "orchard",
    "meadow",
    "quarry",
    "lighthouse",
    "granary",
    "mill",
    "bridge",
    "archive",
]


class Prose:
    """Sentences from a Markov chain of order two."""

    between = "\n\n"  # a note's own line and its text
    after = " "  # the first sentence of a person's note

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._next: dict[tuple[str, str], list[str]] = defaultdict(list)
        sources = [
            *ROOT.glob("docs/*.md"),
            *ROOT.glob("vault_template/**/*.md"),
            ROOT / "README.md",
        ]
        text = " ".join(source.read_text(encoding="utf-8") for source in sorted(sources))
        words = re.findall(r"[A-Za-z][a-z'-]+[.,]?", re.sub(r"```.*?```", " ", text, flags=re.S))
        for first, second, third in zip(words, words[1:], words[2:], strict=False):
            self._next[first, second].append(third)
        self._starts = sorted(self._next)

    def sentence(self) -> str:
        pair = self._dice.choice(self._starts)
        words = list(pair)
        for _ in range(self._dice.randint(8, 22)):
            options = self._next.get((words[-2], words[-1]))
            if not options:
                break
            words.append(self._dice.choice(options))
        return " ".join(words).rstrip(".,").capitalize() + "."

    def paragraph(self, sentences: int) -> str:
        return " ".join(self.sentence() for _ in range(sentences))

    def text(self) -> str:
        dice = self._dice
        return "\n\n".join(self.paragraph(dice.randint(2, 4)) for _ in range(dice.randint(1, 3)))

    def written(self, number: int) -> tuple[str, str]:
        """Name and text of the note of this number; the name may begin with a folder."""
        return f"{self._dice.choice(THINGS).capitalize()} {number}", self.text()


class Repeated(Prose):
    """The same so many texts again and again, each always under the same title, as a vault of any
    size that can be indexed without embedding each. What stands in no other note is a section of
    its own, and short."""

    between = after = "\n\n## Text\n\n"

    def __init__(self, dice: random.Random, texts: int) -> None:
        super().__init__(dice)
        usual = Prose(dice)
        self._texts = [usual.text() for _ in range(texts)]

    def paragraph(self, sentences: int) -> str:
        return self._dice.choice(self._texts)

    def written(self, number: int) -> tuple[str, str]:
        block, which = divmod(number, len(self._texts))
        thing = THINGS[which % len(THINGS)].capitalize()
        return f"{block}/{thing} {which}", self._texts[which]


def generate(folder: Path, notes: int, seed: int = 1, texts: int | None = None) -> None:
    """Write this many notes: a tenth people, a twentieth projects, the rest decisions, sessions
    and plain notes of 40 to 250 words; with ``texts``, of no more different texts than that."""
    dice = random.Random(seed)
    prose = Prose(dice) if texts is None else Repeated(dice, texts)
    people = _names(notes // 10 or 1, [FIRST, LAST])
    projects = _names(notes // 20 or 1, [[t.capitalize() for t in THINGS], LAST])
    for number in range(notes):
        path, text = _note(number, notes, people, projects, prose, dice)
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _names(count: int, parts: list[list[str]]) -> list[str]:
    names = []
    for number in range(count):
        first, rest = parts[0][number % len(parts[0])], number // len(parts[0])
        last, more = parts[1][rest % len(parts[1])], rest // len(parts[1])
        names.append(f"{first} {last}" + (f" {more + 1}" if more else ""))
    return names


def _note(
    number: int,
    notes: int,
    people: list[str],
    projects: list[str],
    prose: Prose,
    dice: random.Random,
) -> tuple[str, str]:
    if number < len(people):
        name = people[number]
        body = f"Works on [[{dice.choice(projects)}]].{prose.after}{prose.paragraph(4)}"
        return f"permanent/people/{name}.md", f"---\ntype: person\n---\n\n# {name}\n\n{body}\n"
    person, project = dice.choice(people), dice.choice(projects)
    if number < len(people) + len(projects):
        name = projects[number - len(people)]
        body = f"Lead: [[{person}]]. Team: {dice.choice(people)}, [[{dice.choice(people)}]]."
        text = f"# {name}\n\n{body}{prose.between}{prose.paragraph(6)}\n"
        return f"projects/{name}/{name}.md", text
    day = f"20{dice.randint(20, 26)}-{dice.randint(1, 12):02d}-{dice.randint(1, 28):02d}"
    name, text = prose.written(number)
    title = name.rpartition("/")[2]
    if number % 3 == 0:
        head = f"---\ntype: decision\nproject: {project}\ndate: {day}\n---\n\n# {title}\n\n"
        body = f"Proposed by [[{person}]].{prose.between}{text}\n"
        return f"projects/{project}/decisions/{name}.md", head + body
    if number % 3 == 1:
        head = f"---\ntype: session\ndate: {day}\n---\n\n# {title}\n\n"
        return f"sessions/{day}/{name}.md", f"{head}Talked with {person}.{prose.between}{text}\n"
    return f"permanent/{name}.md", f"# {title}\n\n{text}\n\n#{dice.choice(THINGS)} [[{project}]]\n"
