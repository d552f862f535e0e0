"""A client's sentence stays the client's wherever its note is moved, renamed, merged or restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.note_reading import NoteReading, read_note
from memvault.curation.changes.plan import Attribution
from memvault.curation.guarded_vault import GuardedVault
from memvault.curation.operations.edit import EditOperation, NoteEdit, stage_edit
from memvault.curation.operations.merge import stage_merge
from memvault.curation.operations.properties import stage_verification
from memvault.curation.origins.provenance import Provenances
from memvault.curation.quarantine import Quarantine
from memvault.model.change import ChangeKind
from memvault.model.note import LineRange
from memvault.vault.journal import Journal
from memvault.verification.immunity import Immunity
from tests.desk import MORNING, Desk

OWN = "The kite is red.\n\nThe rent is due on the first.\n"
CLAIM = "The deposit was 640 euros."
PERSON = Attribution("page", "The person did it.", kind="person")


class Owned:
    """A vault, and whose words its notes have."""

    def __init__(self, root: Path) -> None:
        self.desk = Desk(root)
        self.live = self.opened()

    def opened(self) -> GuardedVault:
        """As the next start reads it."""
        vault = self.desk.vault
        journal = Journal(vault)
        return GuardedVault(
            vault, Provenances(journal, vault), Quarantine(journal), Immunity(embed=None),
            self.desk.curator.moved,
        )  # fmt: skip

    def edit(self, path: str, edit: NoteEdit) -> None:
        target = self.desk.target(path)
        self.desk.do(ChangeKind.EDITED, target, lambda staging: stage_edit(staging, target, edit))

    def add_claim(self, path: str) -> None:
        self.edit(path, NoteEdit(EditOperation.APPEND, CLAIM))

    def verify(self, path: str) -> None:
        target = self.desk.target(path)
        self.desk.curator.perform(
            lambda s: stage_verification(s, target, verified=True, by="Ada", on=MORNING.date()),
            ChangeKind.VERIFIED, (target.name,), target.node_ids, PERSON,
        )  # fmt: skip

    def merge_as_person(self, path: str, into: str) -> None:
        known, source, target = self.desk.known(), self.desk.target(path), self.desk.target(into)
        self.desk.curator.perform(
            lambda staging: stage_merge(staging, known, [source], target),
            ChangeKind.MERGED, (target.name,), target.node_ids, PERSON,
        )  # fmt: skip

    def rename(self, path: str, target: str) -> None:
        (self.desk.root / path).rename(self.desk.root / target)
        self.note(target)

    def note(self, path: str) -> NoteReading:
        """The note as the engine sees it, which the next start sees as well."""
        found = read_note(self.live, path, 10_000)
        assert found is not None
        assert self.opened().examined(path).provenance == found.provenance
        return found

    def writers(self, path: str, word: str) -> set[str]:
        """The writers of the sentences with this word."""
        found = self.note(path)
        lines = enumerate(found.data.decode().splitlines(), 1)
        origins = (
            found.provenance.of_sentence(line, LineRange(number, number))
            for number, line in lines
            if word in line
        )
        return {str(origin.kind) for origin in origins}


@pytest.fixture
def owned(vault_folder: Path) -> Owned:
    found = Owned(vault_folder)
    found.desk.write("Untitled.md", OWN)
    return found


def test_another_note_under_the_old_name_of_a_renamed_note(owned: Owned) -> None:
    owned.add_claim("Untitled.md")
    owned.rename("Untitled.md", "Flat.md")
    owned.desk.write("Untitled.md", "It rains.\n")
    assert owned.writers("Flat.md", "deposit") == {"client"}
    assert owned.note("Untitled.md").provenance.is_person
    owned.verify("Untitled.md")
    assert owned.writers("Flat.md", "deposit") == {"client"}
    owned.desk.move("Flat.md", "ideas")
    assert owned.writers("ideas/Flat.md", "deposit") == {"client"}


def test_a_note_that_the_person_rewrites_after_it_was_renamed(owned: Owned) -> None:
    owned.add_claim("Untitled.md")
    owned.rename("Untitled.md", "Flat.md")
    owned.desk.write("Flat.md", f"It is small.\n\n{CLAIM}\n")
    assert owned.writers("Flat.md", "deposit") == {"client"}
    assert owned.writers("Flat.md", "small") == {"person"}


def test_a_note_that_the_person_rewrites_before_it_is_renamed(owned: Owned) -> None:
    owned.add_claim("Untitled.md")
    owned.desk.write("Untitled.md", f"It is small.\n\nIt has a stove.\n\n{CLAIM}\n")
    assert owned.writers("Untitled.md", "deposit") == {"client"}
    owned.live = owned.opened()
    owned.rename("Untitled.md", "Flat.md")
    assert owned.writers("Flat.md", "deposit") == {"client"}


def test_a_renamed_note_that_is_merged_into_another(owned: Owned) -> None:
    owned.add_claim("Untitled.md")
    owned.rename("Untitled.md", "Flat.md")
    owned.desk.write("Flat.md", f"It is small.\n\n{CLAIM}\n")
    owned.desk.write("Home.md", "# Home\n\nIt rains.\n")
    owned.merge_as_person("Flat.md", into="Home.md")
    assert owned.writers("Home.md", "deposit") == {"client"}
    assert owned.writers("Home.md", "small") == {"person"}


@pytest.mark.parametrize("leaves", ["moves", "forgets"])
def test_an_old_version_of_a_note_that_memvault_moved(owned: Owned, leaves: str) -> None:
    owned.add_claim("Untitled.md")
    version = owned.desk.read("Untitled.md")
    if leaves == "moves":
        owned.desk.move("Untitled.md", "ideas")
    else:
        owned.desk.forget("Untitled.md")
    owned.desk.write("Untitled.md", version)
    assert owned.writers("Untitled.md", "deposit") == {"client"}
    assert owned.writers("Untitled.md", "kite") == {"person"}


def test_an_old_version_of_a_forgotten_note_under_another_name(owned: Owned) -> None:
    owned.desk.write("Plan.md", "The kite is red.\n")
    owned.add_claim("Plan.md")
    version = owned.desk.read("Plan.md")
    owned.desk.forget("Plan.md")
    owned.desk.write("Flat.md", version)
    assert owned.writers("Flat.md", "deposit") == {"client"}
    assert owned.writers("Flat.md", "kite") == {"person"}


def test_a_claim_in_a_property_that_a_merge_states_in_a_sentence(owned: Owned) -> None:
    owned.edit("Untitled.md", NoteEdit(EditOperation.SET_PROPERTY, "640 euros", property="deposit"))
    owned.desk.write("Home.md", "# Home\n\nIt rains.\n")
    owned.merge_as_person("Untitled.md", into="Home.md")
    assert "It had `deposit: 640 euros`." in owned.desk.read("Home.md")
    assert owned.writers("Home.md", "deposit") == {"memvault"}


def test_what_the_person_merges_of_their_own_notes_is_theirs(owned: Owned) -> None:
    owned.desk.write("Untitled.md", f"---\ndeposit: 640 euros\n---\n{OWN}")
    owned.desk.write("Home.md", "# Home\n\nIt rains.\n")
    owned.merge_as_person("Untitled.md", into="Home.md")
    assert owned.note("Home.md").provenance.is_person


def test_a_claim_that_the_person_merges_into_a_verified_note_is_not_verified(owned: Owned) -> None:
    owned.add_claim("Untitled.md")
    owned.desk.write("Home.md", "# Home\n\nIt rains.\n")
    owned.verify("Home.md")
    owned.merge_as_person("Untitled.md", into="Home.md")
    assert owned.writers("Home.md", "deposit") == {"client"}
    text = owned.desk.read("Home.md")
    owned.desk.write("Home.md", text.replace("# From Untitled\n\n", ""))
    assert not owned.note("Home.md").memory("1").verified


def test_a_version_without_the_persons_mark_is_not_verified(owned: Owned) -> None:
    owned.add_claim("Untitled.md")
    version = owned.desk.read("Untitled.md")
    owned.desk.write("Untitled.md", OWN)
    owned.verify("Untitled.md")
    owned.desk.write("Untitled.md", version)
    assert owned.writers("Untitled.md", "deposit") == {"client"}
