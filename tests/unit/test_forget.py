"""Notes go to the trash and come back byte for byte, and nothing else is ever touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memvault.curation.targets import Target
from memvault.curation.trash.forget import Forgetter, Why
from memvault.curation.trash.forgotten import Forgotten, Step
from memvault.model.errors import AmbiguousTarget, InvalidParams, NoteNotFound, StorageError
from memvault.model.graph import GraphNode
from memvault.model.memory import Memory, id_of_path
from memvault.vault.files import Vault
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.parse import content_hash, parse_note

START = datetime(2026, 1, 10, 12, tzinfo=UTC)
WHY = Why("a client", "They asked me to forget it.")
ASKED = Why("a client", "They asked me to delete it.", "user_requested")
NOTE = b"---\r\ntitle:  odd   spacing # kept\r\n---\r\nText\twith \xff a stray byte\r\n\r\n"


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class Desk:
    """A vault, its journal and who forgets; `again` is the next start of the engine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.vault = Vault(root)
        self.journal = Journal(self.vault)
        self.clock = Clock()
        self.deleted: list[str] = []
        self.again()

    def again(self) -> None:
        self.forgetter = Forgetter(
            self.vault,
            self.journal,
            Forgotten.read(self.journal),
            clock=self.clock,
            deleted=lambda tombstone: self.deleted.append(tombstone.path or ""),
        )

    def put(self, path: str, data: bytes = NOTE) -> Target:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return Target(Path(path).stem, self.memory(path, data))

    def memory(self, path: str, data: bytes) -> Memory:
        return memory_of(parse_note(path, data), fallback_time=START)

    def files(self) -> dict[str, bytes]:
        found = (each for each in self.root.rglob("*") if each.is_file())
        tree = {each.relative_to(self.root).as_posix(): each.read_bytes() for each in found}
        return {path: data for path, data in tree.items() if not path.startswith(".memvault/")}


@pytest.fixture
def desk(vault_folder: Path) -> Desk:
    return Desk(vault_folder)


def test_a_forgotten_note_lies_in_the_trash_under_its_own_name_as_obsidian_does(desk: Desk):
    tombstone = desk.forgetter.forget(desk.put("deep/down/Plan.md"), WHY)
    assert desk.files() == {".trash/Plan.md": NOTE}
    assert tombstone.restorable_until - tombstone.forgotten_at == timedelta(days=30)
    assert (tombstone.path, tombstone.content_hash) == ("deep/down/Plan.md", content_hash(NOTE))


def test_a_name_that_the_trash_has_already_gets_a_number(desk: Desk):
    desk.put(".trash/Plan.md", b"the person's own")
    desk.forgetter.forget(desk.put("a/Plan.md", b"one"), WHY)
    desk.forgetter.forget(desk.put("b/Plan.md", b"two"), WHY)
    assert desk.files() == {
        ".trash/Plan.md": b"the person's own",
        ".trash/Plan 1.md": b"one",
        ".trash/Plan 2.md": b"two",
    }


def test_the_tombstone_in_the_journal_tells_when_who_what_and_why(desk: Desk):
    why = Why("some client", "It is there twice.", "duplicate")
    desk.forgetter.forget(desk.put("Plan.md"), why)
    (entry,) = desk.journal.entries({"forgotten"})
    assert (entry.actor.name, entry.rationale, entry.path) == (
        "some client", "It is there twice.", "Plan.md",
    )  # fmt: skip
    assert entry.note_id == id_of_path("Plan.md") and entry.before == content_hash(NOTE)
    assert {"trash_path": ".trash/Plan.md", "reason": "duplicate"}.items() <= entry.data.items()


@pytest.mark.parametrize("by", ["reversal_hash", "path", "id", "name"])
def test_a_note_comes_back_to_its_path_byte_for_byte_even_after_a_restart(desk: Desk, by: str):
    tombstone = desk.forgetter.forget(desk.put("deep/Grand plan.md"), WHY)
    (desk.root / "deep").rmdir()
    desk.again()
    names = {
        "reversal_hash": tombstone.reversal_hash,
        "path": "deep/Grand plan.md",
        "id": tombstone.node_ids[0],
        "name": "GRAND PLAN",
    }
    assert desk.forgetter.restore(names[by], WHY).path == "deep/Grand plan.md"
    assert desk.files() == {"deep/Grand plan.md": NOTE}
    desk.again()
    assert desk.forgetter.forgotten.kept() == []


def test_a_restored_note_never_overwrites_the_one_that_stands_there_now(desk: Desk):
    desk.forgetter.forget(desk.put("Plan.md", b"old"), WHY)
    desk.put("Plan.md", b"new")
    assert desk.forgetter.restore("Plan.md", WHY).path == "Plan 2.md"
    assert desk.files() == {"Plan.md": b"new", "Plan 2.md": b"old"}


def test_of_two_forgotten_notes_of_one_name_the_hash_tells_which(desk: Desk):
    desk.forgetter.forget(desk.put("Plan.md", b"first"), WHY)
    second = desk.forgetter.forget(desk.put("Plan.md", b"second"), WHY)
    with pytest.raises(AmbiguousTarget) as refused:
        desk.forgetter.restore("Plan", WHY)
    offered = [each["reversal_hash"] for each in refused.value.data["candidates"]]
    assert offered[1] == second.reversal_hash and len(set(offered)) == 2
    desk.forgetter.restore(second.reversal_hash, WHY)
    assert (desk.root / "Plan.md").read_bytes() == b"second"


def test_a_note_can_be_restored_for_thirty_days_and_no_longer(desk: Desk):
    desk.forgetter.forget(desk.put("Plan.md"), WHY)
    desk.clock.now += timedelta(days=29, hours=23)
    assert desk.forgetter.purge() == []
    desk.clock.now += timedelta(hours=1)
    with pytest.raises(NoteNotFound, match="deleted for good"):
        desk.forgetter.restore("Plan.md", WHY)
    assert [each.path for each in desk.forgetter.purge()] == ["Plan.md"]
    assert desk.files() == {} and desk.deleted == ["Plan.md"]
    desk.again()
    with pytest.raises(NoteNotFound, match="deleted for good"):
        desk.forgetter.restore("Plan.md", WHY)
    assert desk.forgetter.purge() == []


def test_the_sweep_deletes_only_the_very_bytes_that_were_forgotten(desk: Desk):
    desk.put(".trash/Other.md", NOTE)
    desk.forgetter.forget(desk.put("Plan.md"), WHY)
    (desk.root / ".trash/Plan.md").write_bytes(b"a person wrote here")
    desk.clock.now += timedelta(days=31)
    desk.forgetter.purge()
    assert desk.files() == {".trash/Other.md": NOTE, ".trash/Plan.md": b"a person wrote here"}


def test_an_emptied_trash_is_said_and_a_changed_note_comes_back_as_it_is_now(desk: Desk):
    desk.forgetter.forget(desk.put("Gone.md"), WHY)
    desk.forgetter.forget(desk.put("Kept.md"), WHY)
    (desk.root / ".trash/Gone.md").unlink()
    (desk.root / ".trash/Kept.md").write_bytes(b"edited in the trash")
    with pytest.raises(NoteNotFound, match="someone emptied or moved it"):
        desk.forgetter.restore("Gone.md", WHY)
    desk.forgetter.restore("Kept.md", WHY)
    assert desk.files() == {"Kept.md": b"edited in the trash"}


@pytest.mark.parametrize("reason", [None, "duplicate", "User_Requested"])
def test_permanent_deletion_wants_the_persons_own_wish(desk: Desk, reason: str | None):
    target = desk.put("Plan.md")
    with pytest.raises(InvalidParams) as refused:
        desk.forgetter.forget(target, Why("c", "No longer needed.", reason), permanent=True)
    assert refused.value.message == "Permanent deletion requires reason='user_requested'"
    assert desk.files() == {"Plan.md": NOTE} and list(desk.journal.entries()) == []


def test_permanent_deletion_leaves_nothing_to_restore_and_no_word_in_the_journal(desk: Desk):
    secret = b"The secret is " + b"x" * 40
    tombstone = desk.forgetter.forget(desk.put("Plan.md", secret), ASKED, permanent=True)
    assert desk.files() == {} and desk.deleted == ["Plan.md"]
    assert all(b"secret is" not in file.read_bytes() for file in desk.journal.files())
    with pytest.raises(NoteNotFound, match="deleted for good"):
        desk.forgetter.restore(tombstone.reversal_hash, WHY)


def test_what_was_saved_in_the_last_moment_is_what_lies_in_the_trash(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    target = desk.put("Plan.md", b"as it was read")
    move = Vault.move

    def save_then_move(vault: Vault, source: str, to: str) -> bool:
        (desk.root / "Plan.md").write_bytes(b"saved meanwhile")
        return move(vault, source, to)

    monkeypatch.setattr(Vault, "move", save_then_move)
    tombstone = desk.forgetter.forget(target, WHY)
    assert tombstone.content_hash == content_hash(b"saved meanwhile")
    assert desk.files() == {".trash/Plan.md": b"saved meanwhile"}


class Killed(BaseException):
    """The process ended here."""


def killed_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the process before its n-th stroke: an entry of the journal or a move."""
    strokes = 0

    def stroke(do: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **named: object) -> object:
            nonlocal strokes
            strokes += 1
            if strokes == number:
                raise Killed
            return do(*arguments, **named)

        return counted

    monkeypatch.setattr(Journal, "append", stroke(Journal.append))
    monkeypatch.setattr(Vault, "move", stroke(Vault.move))
    monkeypatch.setattr(Vault, "delete", stroke(Vault.delete))


@pytest.mark.parametrize("stroke", [1, 2, 3])
def test_forgetting_that_was_cut_off_is_wholly_done_or_undone_at_the_next_start(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, stroke: int
):
    target = desk.put("Plan.md")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killed_at(stroke, patch)
        desk.forgetter.forget(target, WHY)
    desk.again()
    desk.forgetter.mend()
    moved = stroke == 3
    assert desk.files() == {".trash/Plan.md" if moved else "Plan.md": NOTE}
    assert len(desk.forgetter.forgotten.kept()) == moved
    assert desk.forgetter.mend() == []
    if moved:
        assert desk.forgetter.restore("Plan", WHY).path == "Plan.md"


@pytest.mark.parametrize("stroke", [1, 2, 3])
def test_restoring_that_was_cut_off_is_wholly_done_or_undone_at_the_next_start(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, stroke: int
):
    desk.forgetter.forget(desk.put("Plan.md"), WHY)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killed_at(stroke, patch)
        desk.forgetter.restore("Plan.md", WHY)
    desk.again()
    desk.forgetter.mend()
    back = stroke == 3
    assert desk.files() == {"Plan.md" if back else ".trash/Plan.md": NOTE}
    assert len(desk.forgetter.forgotten.kept()) == (not back)
    assert desk.forgetter.mend() == []


@pytest.mark.parametrize("stroke", [4, 5])
def test_permanent_deletion_that_was_cut_off_is_done_by_the_next_sweep(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, stroke: int
):
    target = desk.put("Plan.md")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killed_at(stroke, patch)
        desk.forgetter.forget(target, ASKED, permanent=True)
    desk.again()
    desk.forgetter.mend()
    desk.forgetter.purge()
    assert desk.files() == {} and desk.forgetter.forgotten.kept() == []


def test_a_name_reserved_for_a_move_that_never_came_is_given_back(desk: Desk):
    """Where the file system cannot rename to a free name in one step, the name is reserved."""
    desk.forgetter.forget(desk.put("Plan.md"), WHY)
    (forgotten,) = desk.journal.entries({"forgotten"})
    desk.put("Other.md")
    desk.put(".trash/Other.md", b"")
    tale = json.dumps(forgotten.data).replace("Plan.md", "Other.md")
    data = json.loads(tale) | {"reversal_hash": "f" * 32}
    desk.journal.append(JournalEntry(ts=START, kind=Step.FORGETTING, actor=WHY.actor, data=data))
    desk.again()
    desk.forgetter.mend()
    assert desk.files() == {".trash/Plan.md": NOTE, "Other.md": NOTE}


def test_a_journal_that_cannot_be_written_leaves_the_note_where_it_is(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    target = desk.put("Plan.md")
    append, entries = Journal.append, []

    def full(journal: Journal, entry: JournalEntry) -> None:
        entries.append(entry.kind)
        if entry.kind == Step.FORGOTTEN:
            raise StorageError("no room")
        append(journal, entry)

    monkeypatch.setattr(Journal, "append", full)
    with pytest.raises(StorageError, match="no room"):
        desk.forgetter.forget(target, WHY)
    assert desk.files() == {"Plan.md": NOTE}
    assert entries == ["forgetting", "forgotten", "forgetting_withdrawn"]
    assert desk.forgetter.forgotten.kept() == []


def test_a_trash_that_leads_out_of_the_vault_is_not_used(desk: Desk, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.root / ".trash").symlink_to(outside, target_is_directory=True)
    target = desk.put("Plan.md")
    with pytest.raises(InvalidParams):
        desk.forgetter.forget(target, WHY)
    assert (desk.root / "Plan.md").read_bytes() == NOTE and not list(outside.iterdir())


def test_without_one_step_renames_nothing_is_overwritten_either(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memvault.vault.write.rename_if_free", lambda *_: False)
    desk.put(".trash/Plan.md", b"theirs")
    desk.forgetter.forget(desk.put("Plan.md"), WHY)
    assert desk.files() == {".trash/Plan.md": b"theirs", ".trash/Plan 1.md": NOTE}
    assert desk.vault.move(".trash/Plan 1.md", ".trash/Plan.md") is False
    assert desk.files() == {".trash/Plan.md": b"theirs", ".trash/Plan 1.md": NOTE}


def test_a_concept_without_a_note_is_hidden_until_it_is_restored(desk: Desk):
    node = GraphNode("11111111-2222-4333-8444-555555555555", "concept", "Night Watch")
    tombstone = desk.forgetter.forget(Target("Night Watch", nodes=(node,)), WHY)
    assert node.id in desk.forgetter.forgotten.hidden and tombstone.restorable_until is None
    desk.clock.now += timedelta(days=400)
    assert desk.forgetter.purge() == []
    desk.again()
    assert node.id in desk.forgetter.forgotten.hidden
    assert desk.forgetter.restore("night watch", WHY).path is None
    desk.again()
    assert desk.forgetter.forgotten.hidden == frozenset()


def test_the_order_in_which_the_journals_files_are_read_does_not_matter(desk: Desk):
    desk.forgetter.forget(desk.put("A.md"), WHY)
    desk.forgetter.forget(desk.put("B.md"), WHY)
    desk.forgetter.restore("A.md", WHY)
    entries = list(desk.journal.entries())
    for order in (entries, entries[::-1], entries[1::2] + entries[::2]):
        told = Forgotten(order)
        assert [each.path for each in told.kept()] == ["B.md"]
        assert told.being_restored() == [] and told.begun() == []
