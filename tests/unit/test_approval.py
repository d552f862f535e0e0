"""Which changes of clients wait for the person, whichever tool asks for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memvault.curation.approval import Approvals
from memvault.curation.changes.curator import ChangeResult, Curator
from memvault.curation.changes.forgetting import USER_REQUESTED, stage_forgetting
from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.edit import EditOperation, EditResult, NoteEdit, stage_edit
from memvault.curation.operations.remember import remember
from memvault.model.change import ChangeKind
from tests.desk import Desk

EVE = Attribution("eve", "It belongs there now.", USER_REQUESTED)
BOB = Attribution("bob", "It belongs there now.")
PERSON = Attribution("page", "moved on the page", kind="person")


class AskingDesk(Desk):
    """A desk whose curator asks for the person's approval, as the engine's does."""

    def open(self) -> None:
        super().open()
        approvals = Approvals(self.vault, self.curator.history, lambda: self.known().memories)
        self.curator = Curator(
            self.vault, self.journal, clock=self._clock, approval=approvals.needed
        )

    def store(self, title: str, client: str) -> str:
        draft = Draft.checked(
            title=title, content="Kept for later.", rationale="asked to keep this",
            project="mill", client=client,
        )  # fmt: skip
        return remember(self.curator, draft).result.path


@pytest.fixture
def desk(vault_folder: Path) -> AskingDesk:
    return AskingDesk(vault_folder)


def reason(done: ChangeResult[Any]) -> str:
    assert done.change is None and done.approval is not None
    return done.approval.reason


def test_a_client_moves_its_own_note_but_not_the_persons(desk: AskingDesk) -> None:
    desk.write("Quay.md", "The quay is closed.\n")
    own = desk.store("Tide", "eve")
    assert desk.move(own, "ideas/", EVE).change is not None
    assert reason(desk.move("Quay.md", "ideas/", EVE)).startswith("Quay.md is their own note")
    assert "Quay.md" in desk.tree()
    assert desk.move("Quay.md", "ideas/", PERSON).change is not None


def test_a_client_makes_no_note_permanent_by_moving_it(desk: AskingDesk) -> None:
    path = desk.store("Tide", "eve")
    assert "would become permanent" in reason(desk.move(path, "permanent/", EVE))
    assert path in desk.tree()


def test_a_client_undoes_only_its_own_changes(desk: AskingDesk) -> None:
    moved = desk.move(desk.store("Tide", "bob"), "ideas/", BOB)
    assert moved.change is not None
    hashes = [moved.change.reversal_hash]
    refused = desk.curator.undo(hashes, EVE)
    assert refused.change is None and refused.approval is not None
    assert "another client" in refused.approval.reason and "ideas/Tide.md" in desk.tree()
    assert desk.curator.undo(hashes, BOB).change is not None


def test_a_client_sets_the_project_of_its_own_note_but_not_of_the_persons(
    desk: AskingDesk,
) -> None:
    desk.write("Quay.md", "The quay is closed.\n")
    own = desk.store("Tide", "eve")
    project = NoteEdit(EditOperation.SET_PROPERTY, "harbour", property="PROJECT")
    assert edited(desk, own, project).change is not None
    assert reason(edited(desk, "Quay.md", project)).startswith("Quay.md is their own note")
    appended = NoteEdit(EditOperation.APPEND, "It opens in May.")
    assert edited(desk, "Quay.md", appended).change is not None


def test_a_client_forgets_its_own_note_but_not_the_persons(desk: AskingDesk) -> None:
    desk.write("Quay.md", "The quay is closed.\n")
    assert forgotten(desk, desk.store("Tide", "eve")).change is not None
    assert reason(forgotten(desk, "Quay.md")).startswith("Quay.md is their own note")
    assert "Quay.md" in desk.tree()


def test_a_client_deletes_for_good_only_what_it_alone_stored(desk: AskingDesk) -> None:
    assert forgotten(desk, desk.store("Tide", "eve"), permanent=True).change is not None
    path = desk.store("Ebb", "bob")
    assert "not your note alone" in reason(forgotten(desk, path, permanent=True))
    assert path in desk.tree()


def forgotten(desk: AskingDesk, path: str, *, permanent: bool = False) -> ChangeResult[None]:
    target = desk.target(path)
    return desk.curator.perform(
        lambda staging: stage_forgetting(staging, target, permanent=permanent),
        ChangeKind.FORGOTTEN, (target.name,), target.node_ids, EVE,
    )  # fmt: skip


def edited(desk: AskingDesk, path: str, edit: NoteEdit) -> ChangeResult[EditResult]:
    target = desk.target(path)
    return desk.curator.perform(
        lambda staging: stage_edit(staging, target, edit),
        ChangeKind.EDITED, (target.name,), target.node_ids, EVE,
    )  # fmt: skip
