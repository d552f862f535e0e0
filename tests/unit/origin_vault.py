"""A vault of sentences whose writers are known, and what the person does to it in an editor.

Each sentence has a word of its own that says who wrote it, such as ``own12`` or ``eve7``.
"""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from memvault.curation.changes.plan import Attribution
from memvault.curation.guarded_vault import GuardedVault
from memvault.curation.origins.provenance import Provenances
from memvault.curation.quarantine import Quarantine
from memvault.vault.journal import Journal
from memvault.verification.immunity import Immunity
from tests.desk import Desk

EVE = Attribution("eve", "They asked me to.")
PERSON = Attribution("page", "The person did it.", kind="person")
UPKEEP = Attribution("memvault", "Upkeep.", kind="system")
PATHS = ("Boat.md", "Hut.md", "ideas/Kite.md", "ideas/Hut.md")
FOLDERS = ("ideas", "permanent", "projects/kelp", "")
NOUNS = ("kite", "harbour", "lantern", "cellar", "orchard", "bicycle", "letter", "garden")
WORD = re.compile(r"\b(?:own|eve|said|bot)\d+\b")

paths = st.sampled_from(PATHS)
numbers = st.integers(0, 30)
attributions = st.sampled_from([EVE, EVE, PERSON])
forms = st.sampled_from(["{}\n", "{}\n", "- {}\n", "## {}\n", "> {}\n", "{} {}\n", "{}\n\n{}\n"])


def words(text: str | bytes) -> set[str]:
    return set(WORD.findall(text.decode() if isinstance(text, bytes) else text))


class EditedByPerson(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.first: dict[str, bytes] = {}
        self._home = tempfile.TemporaryDirectory()
        home = Path(self._home.name)
        (home / "vault").mkdir()
        (home / "outside.md").write_text("Not in the vault.\n")
        self.desk = Desk(home / "vault")
        self.live = self._guarded()
        self.count = 0
        self.shared: set[str] = set()  # words that more than one hand wrote
        self.vouched: set[str] = set()  # words in verified versions that the person brought back
        self.doubtful: dict[str, set[str]] = {}  # by change: words that it may give another writer
        self.versions: list[dict[str, bytes]] = []
        self.edited = False  # whether the person saved a file in an editor

    def teardown(self) -> None:
        try:
            self.finish()
        finally:
            self._home.cleanup()

    def _guarded(self) -> GuardedVault:
        desk = self.desk
        journal = Journal(desk.vault)
        return GuardedVault(
            desk.vault, Provenances(journal, desk.vault), Quarantine(journal),
            Immunity(embed=None), desk.curator.moved,
        )  # fmt: skip

    # -- what is written ------------------------------------------------------------------------

    def sentence(self, by: str) -> str:
        self.count += 1
        noun, other = NOUNS[self.count % 8], NOUNS[(self.count // 8 + 3) % 8]
        return f"The {noun} {by}{self.count} is near the {other} of {by}{self.count}."

    def text(self, by: str, form: str) -> str:
        return form.format(*(self.sentence(by) for _ in range(form.count("{}"))))

    def notes(self) -> list[str]:
        return sorted(self.desk.tree())

    def note(self, number: int) -> str:
        found = self.notes()
        return found[number % len(found)]

    # -- the person -----------------------------------------------------------------------------

    def save(self, path: str, data: str | bytes) -> None:
        self.edited = True
        self.desk.write(path, data)

    @initialize(forms=st.lists(forms, min_size=1, max_size=4), more=st.lists(forms, max_size=3))
    def begin(self, forms: list[str], more: list[str]) -> None:
        for path, some in zip(PATHS, (forms, more), strict=False):
            if some:
                self.desk.write(path, "\n".join(self.text("own", form) for form in some))
        self.first = self.desk.tree()
        self.remember_versions()

    def remember_versions(self) -> None:
        tree = self.desk.tree()
        if not self.versions or self.versions[-1] != tree:
            self.versions.append(tree)

    @rule(path=paths, form=forms)
    def writes_note(self, path: str, form: str) -> None:
        if not (self.desk.root / path).exists():
            self.save(path, self.text("own", form))

    @precondition(lambda self: self.notes())
    @rule(number=numbers, at=numbers, form=forms)
    def types(self, number: int, at: int, form: str) -> None:
        path = self.note(number)
        lines = self.desk.read(path).split("\n")
        head = lines.index("---", 1) + 1 if lines[0] == "---" else 0
        at = head + at % (len(lines) - head + 1)
        lines[at:at] = ["", self.text("own", form).rstrip("\n"), ""]
        self.save(path, "\n".join(lines))

    @precondition(lambda self: self.notes())
    @rule(number=numbers, at=numbers)
    def deletes_line(self, number: int, at: int) -> None:
        path = self.note(number)
        lines = self.desk.read(path).split("\n")
        head = lines.index("---", 1) + 1 if lines[0] == "---" else 0
        full = [k for k in range(head, len(lines)) if lines[k].strip()]
        if full:
            del lines[full[at % len(full)]]
            self.save(path, "\n".join(lines))

    @precondition(lambda self: self.notes())
    @rule(number=numbers, dice=st.integers(0, 9))
    def reorders(self, number: int, dice: int) -> None:
        path = self.note(number)
        text = self.desk.read(path)
        head, body = re.match(r"(?s)(---\n.*?\n---\n|)(.*)", text).groups()  # type: ignore[union-attr]
        parts = body.strip("\n").split("\n\n")
        random.Random(dice).shuffle(parts)
        self.save(path, head + "\n\n".join(parts) + "\n")

    @precondition(lambda self: self.notes())
    @rule(number=numbers, other=numbers, at=numbers)
    def pastes(self, number: int, other: int, at: int) -> None:
        lines = [line for line in self.desk.read(self.note(number)).split("\n") if words(line)]
        if lines:
            line = lines[at % len(lines)]
            self.shared |= words(line)
            path = self.note(other)
            self.save(path, f"{self.desk.read(path).rstrip()}\n\n{line}\n")

    @precondition(lambda self: self.notes())
    @rule(number=numbers, path=paths)
    def renames(self, number: int, path: str) -> None:
        source, target = self.desk.root / self.note(number), self.desk.root / path
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
            self.edited = True

    @precondition(lambda self: self.notes())
    @rule(number=numbers)
    def deletes(self, number: int) -> None:
        (self.desk.root / self.note(number)).unlink()
        self.edited = True

    def bring_back(self, path: str, data: bytes) -> None:
        if b"\nverified: true\n" in data:
            self.vouched |= words(data)
        self.save(path, data)

    @precondition(lambda self: self.versions)
    @rule(number=numbers, at=numbers)
    def restores_version(self, number: int, at: int) -> None:
        version = self.versions[number % len(self.versions)]
        if version:
            path = sorted(version)[at % len(version)]
            self.bring_back(path, version[path])

    @precondition(lambda self: self.versions)
    @rule(number=numbers)
    def checks_out(self, number: int) -> None:
        version = self.versions[number % len(self.versions)]
        for path in self.notes():
            if path not in version:
                (self.desk.root / path).unlink()
        for path, data in version.items():
            self.bring_back(path, data)
