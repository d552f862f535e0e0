"""Two computers with one vault, and a sync tool that keeps their copies alike."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from memvault.curation.changes.curator import Curator
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.remember import remember
from memvault.curation.origins.provenance import Provenances
from memvault.model.change import Change, ChangeKind
from memvault.model.provenance import Provenance
from memvault.vault.files import Vault
from memvault.vault.frontmatter.fences import claimed_id
from memvault.vault.journal import Journal
from memvault.vault.write import TEMPORARY_SUFFIX

BY_CLIENT = Attribution("eve", "because it was asked")
BY_PERSON = Attribution("page", "verified on the page", kind="person")
PATHS = ("Bank.md", "Yard.md")
FIRST = "# Bank\n\nThe card is blue.\n"


class Killed(BaseException):
    """Ends the work as a kill of the process would."""


class Ahead(datetime):
    """The clock of a computer that is five minutes ahead."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime.now(tz) + timedelta(minutes=5)


class Computer:
    """One computer's copy of the vault, and what it knows of the journal."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(exist_ok=True)
        self.name, self.vault = name, Vault(folder)
        self.start()

    def start(self) -> None:
        """As the engine does at its start."""
        self.journal = Journal(self.vault, writer=self.name)
        self.provenances = Provenances(self.journal, self.vault)
        self.curator = Curator(self.vault, self.journal)
        self.recovered = self.curator.recover()

    def store(self, content: str, title: str) -> str:
        draft = Draft.checked(
            content=content, title=title, rationale="asked to keep this", client="eve"
        )
        return remember(self.curator, draft).result.path

    def append(self, path: str, line: str) -> Change:
        """A client adds a line to a note."""

        def stage(staging: Staging) -> None:
            staging.write(path, staging.read(path) + f"\n{line}\n".encode())

        done = self.curator.perform(stage, ChangeKind.EDITED, ("it",), (), BY_CLIENT)
        assert done.change is not None
        return done.change

    def move(self, path: str, target: str) -> None:
        """A client moves a note."""
        self.curator.perform(
            lambda staging: staging.move(path, target), ChangeKind.MOVED, ("it",), (), BY_CLIENT
        )

    def verify(self, path: str) -> None:
        """The person marks a note as right."""

        def stage(staging: Staging) -> None:
            body = staging.read(path).removeprefix(b"---\n")
            opening = b"---\nverified: true\n"
            staging.write(path, opening + (body if body != staging.read(path) else b"---\n" + body))

        ids = (claimed_id(self.vault.read(path)),)
        self.curator.perform(
            stage, ChangeKind.VERIFIED, ("it",), tuple(filter(None, ids)), BY_PERSON
        )

    def origins(self) -> dict[str, Provenance]:
        """Whose words each note has."""
        return {
            note.path: self.provenances.of(
                note.path, claimed_id(self.vault.read(note.path)) or "", self.vault.read(note.path)
            ).model_copy(update={"stamp": ""})
            for note in self.vault.walk()
        }

    def files(self) -> dict[str, Path]:
        root = self.vault.root
        files = (file for file in root.rglob("*") if file.is_file())
        passing = (".lock", TEMPORARY_SUFFIX)
        return {
            file.relative_to(root).as_posix(): file
            for file in files
            if not file.name.endswith(passing)
        }


@pytest.fixture
def desktop(tmp_path: Path) -> Computer:
    return Computer(tmp_path / "desktop", "d1")


@pytest.fixture
def laptop(tmp_path: Path) -> Computer:
    return Computer(tmp_path / "laptop", "a2")


def copy(path: str, source: Computer, target: Computer) -> None:
    place = target.vault.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source.vault.root / path, place)


def sync(first: Computer, second: Computer, wanted: str = "") -> None:
    """Copy the files whose path begins with a text; of two versions the newer one stays."""
    for path in sorted(first.files().keys() | second.files().keys()):
        if path.startswith(wanted):
            has = [each.files().get(path) for each in (first, second)]
            times = [file.stat().st_mtime_ns if file else 0 for file in has]
            newer, older = (first, second) if times[0] >= times[1] else (second, first)
            copy(path, newer, older)
