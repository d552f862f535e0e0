"""Notes go to the trash and come back byte for byte, and nothing else is ever touched."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memvault.curation.changes.change_entries import JournalPhase
from memvault.curation.changes.forgetting import stage_forgetting
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.tombstones import Tombstones
from memvault.curation.targets import Target
from memvault.model.change import SYSTEM, ChangeKind
from memvault.model.errors import (
    AmbiguousTarget,
    InvalidParams,
    NoteNotFound,
    OutsideVault,
    StorageError,
)
from memvault.model.graph import GraphNode
from memvault.model.memory import Tombstone, id_of_path
from memvault.vault.files import Vault
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.parse import content_hash
from tests.desk import WHY, Desk

START = datetime(2026, 1, 10, 12, tzinfo=UTC)
ASKED = Attribution("a client", "They asked me to delete it.", "user_requested")
NOTE = b"---\r\ntitle:  odd   spacing # kept\r\n---\r\nText\twith \xff a stray byte\r\n\r\n"


class TrashDesk(Desk):
    """A desk that counts every file of the vault, but for memvault's own."""

    def put(self, path: str, data: bytes = NOTE) -> Target:
        self.write(path, data)
        return Target(Path(path).stem, self.memory(path))

    def files(self) -> dict[str, bytes]:
        found = (each for each in self.root.rglob("*") if each.is_file())
        tree = {each.relative_to(self.root).as_posix(): each.read_bytes() for each in found}
        return {path: data for path, data in tree.items() if not path.startswith(".memvault/")}


@pytest.fixture
def desk(vault_folder: Path) -> TrashDesk:
    return TrashDesk(vault_folder)


def test_a_forgotten_note_lies_in_the_trash_under_its_own_name_as_obsidian_does(desk: TrashDesk):
    tombstone = desk.forget(desk.put("deep/down/Plan.md"))
    assert desk.files() == {".trash/Plan.md": NOTE}
    assert tombstone.restorable_until - tombstone.forgotten_at == timedelta(days=30)
    assert (tombstone.path, tombstone.content_hash) == ("deep/down/Plan.md", content_hash(NOTE))


def test_a_name_that_the_trash_has_already_gets_a_number(desk: TrashDesk):
    desk.put(".trash/Plan.md", b"the person's own")
    desk.forget(desk.put("a/Plan.md", b"one"))
    desk.forget(desk.put("b/Plan.md", b"two"))
    assert desk.files() == {
        ".trash/Plan.md": b"the person's own",
        ".trash/Plan 1.md": b"one",
        ".trash/Plan 2.md": b"two",
    }


@pytest.mark.parametrize("name", ["é" * 126 + ".md", "x" * 252 + ".md", "👩‍👩‍👧" * 14 + ".md"])
def test_names_as_long_as_a_system_allows_are_numbered_and_come_back_whole(
    desk: TrashDesk, name: str
):
    first = desk.forget(desk.put(f"a/{name}", b"one"))
    second = desk.forget(desk.put(f"b/{name}", b"two"))
    desk.put(f"b/{name}", b"three")
    desk.restore(first.reversal_hash)
    restored = desk.restore(second.reversal_hash).path
    assert restored.startswith("b/") and restored.endswith(" 2.md")
    assert desk.files() == {f"a/{name}": b"one", f"b/{name}": b"three", restored: b"two"}


def test_no_name_differs_only_in_case_or_accents_from_another(desk: TrashDesk):
    first, second = desk.put("a/Café.md", b"one"), desk.put("b/cafe\u0301.md", b"two")
    desk.curator.perform(
        lambda staging: [stage_forgetting(staging, target) for target in (first, second)],
        ChangeKind.FORGOTTEN, ("both",), (), WHY,
    )  # fmt: skip
    assert desk.files() == {".trash/Café.md": b"one", ".trash/cafe\u0301 1.md": b"two"}
    desk.put("a/CAFÉ.md", b"three")
    desk.restore("a/Café.md")
    assert desk.files()["a/Café 2.md"] == b"one"


def test_the_tombstone_in_the_journal_tells_when_who_what_and_why(desk: TrashDesk):
    why = Attribution("some client", "It is there twice.", "duplicate")
    desk.forget(desk.put("Plan.md"), why)
    (entry,) = desk.journal.entries({"change_done"})
    assert (entry.actor.name, entry.rationale) == ("some client", "It is there twice.")
    (tombstone,) = entry.data["forgot"]
    assert tombstone["node_ids"] == [id_of_path("Plan.md")]
    assert tombstone["content_hash"] == content_hash(NOTE)
    assert (tombstone["path"], tombstone["trash_path"]) == ("Plan.md", ".trash/Plan.md")
    assert tombstone["reason"] == "duplicate"


@pytest.mark.parametrize("by", ["reversal_hash", "path", "id", "name"])
def test_a_note_comes_back_to_its_path_byte_for_byte_even_after_a_restart(desk: TrashDesk, by: str):
    tombstone = desk.forget(desk.put("deep/Grand plan.md"))
    (desk.root / "deep").rmdir()
    desk.open()
    names = {
        "reversal_hash": tombstone.reversal_hash,
        "path": "deep/Grand plan.md",
        "id": tombstone.node_ids[0],
        "name": "GRAND PLAN",
    }
    assert desk.restore(names[by]).path == "deep/Grand plan.md"
    assert desk.files() == {"deep/Grand plan.md": NOTE}
    desk.open()
    assert desk.kept() == []


def test_a_restored_note_never_overwrites_the_note_at_its_path(desk: TrashDesk):
    desk.forget(desk.put("Plan.md", b"old"))
    desk.put("Plan.md", b"new")
    assert desk.restore("Plan.md").path == "Plan 2.md"
    assert desk.files() == {"Plan.md": b"new", "Plan 2.md": b"old"}


def test_of_two_forgotten_notes_of_one_name_the_hash_tells_which(desk: TrashDesk):
    desk.forget(desk.put("Plan.md", b"first"))
    second = desk.forget(desk.put("Plan.md", b"second"))
    with pytest.raises(AmbiguousTarget) as refused:
        desk.restore("Plan")
    offered = [each["reversal_hash"] for each in refused.value.data["candidates"]]
    assert offered[1] == second.reversal_hash and len(set(offered)) == 2
    desk.restore(second.reversal_hash)
    assert (desk.root / "Plan.md").read_bytes() == b"second"


def test_a_note_can_be_restored_for_thirty_days_and_no_longer(desk: TrashDesk):
    desk.forget(desk.put("Plan.md"))
    desk.now += timedelta(days=29, hours=23)
    assert desk.curator.purge() == []
    desk.now += timedelta(hours=1)
    with pytest.raises(NoteNotFound, match="deleted for good"):
        desk.restore("Plan.md")
    assert [each.path for each in desk.curator.purge()] == ["Plan.md"]
    assert desk.files() == {} and desk.deleted == ["Plan.md"]
    desk.open()
    with pytest.raises(NoteNotFound, match="deleted for good"):
        desk.restore("Plan.md")
    assert desk.curator.purge() == []


def test_a_note_that_is_forgotten_while_the_clock_is_years_behind_stays_thirty_days(
    desk: TrashDesk,
):
    desk.forget(desk.put("Earlier.md"))
    right = desk.now
    desk.now -= timedelta(days=9_000)
    desk.forget(desk.put("Plan.md"))
    desk.now = right + timedelta(days=29)
    assert desk.curator.purge() == []
    desk.now = right + timedelta(days=31)
    assert [tombstone.path for tombstone in desk.curator.purge()] == ["Earlier.md", "Plan.md"]


def test_the_sweep_deletes_only_the_very_bytes_that_were_forgotten(desk: TrashDesk):
    desk.put(".trash/Other.md", NOTE)
    desk.forget(desk.put("Plan.md"))
    (desk.root / ".trash/Plan.md").write_bytes(b"a person wrote here")
    desk.now += timedelta(days=31)
    desk.curator.purge()
    assert desk.files() == {".trash/Other.md": NOTE, ".trash/Plan.md": b"a person wrote here"}


def test_an_emptied_trash_is_said_and_a_changed_note_comes_back_as_it_is_now(desk: TrashDesk):
    desk.forget(desk.put("Gone.md"))
    desk.forget(desk.put("Kept.md"))
    (desk.root / ".trash/Gone.md").unlink()
    (desk.root / ".trash/Kept.md").write_bytes(b"edited in the trash")
    with pytest.raises(NoteNotFound, match="deleted or moved from there"):
        desk.restore("Gone.md")
    desk.restore("Kept.md")
    assert desk.files() == {"Kept.md": b"edited in the trash"}


@pytest.mark.parametrize("reason", [None, "duplicate", "User_Requested"])
def test_permanent_deletion_wants_the_persons_own_wish(desk: TrashDesk, reason: str | None):
    target = desk.put("Plan.md")
    with pytest.raises(InvalidParams) as refused:
        desk.forget(target, Attribution("c", "No longer needed.", reason), permanent=True)
    assert refused.value.message == "Permanent deletion requires reason='user_requested'"
    assert desk.files() == {"Plan.md": NOTE} and list(desk.journal.entries()) == []


def test_permanent_deletion_leaves_nothing_to_restore_and_no_word_in_the_journal(desk: TrashDesk):
    secret = b"The secret is " + b"x" * 40
    tombstone = desk.forget(desk.put("Plan.md", secret), ASKED, permanent=True)
    assert desk.files() == {} and desk.deleted == ["Plan.md"]
    assert all(b"secret is" not in file.read_bytes() for file in desk.journal.files())
    with pytest.raises(NoteNotFound, match="deleted for good"):
        desk.restore(tombstone.reversal_hash)


def edited(desk: TrashDesk, path: str, text: bytes) -> str:
    """A client's edit of a note; returns its hash."""
    return desk.do(
        ChangeKind.EDITED, desk.target(path), lambda staging: staging.write(path, text)
    ).change.reversal_hash


def test_deleting_a_note_for_good_leaves_the_versions_of_the_next_note_at_its_path(
    desk: TrashDesk,
):
    desk.forget(desk.put("Meeting.md", b"first"))
    desk.put("Meeting.md", b"the person's own")
    edit = edited(desk, "Meeting.md", b"a client's")
    desk.now += timedelta(days=31)
    desk.curator.purge()
    assert desk.undo([edit]).conflicts == ()
    assert desk.files() == {"Meeting.md": b"the person's own"}


def test_deleting_a_note_for_good_leaves_the_versions_of_one_that_was_moved_away(desk: TrashDesk):
    desk.put("Meeting.md", b"the person's own")
    edit = edited(desk, "Meeting.md", b"a client's")
    move = desk.move("Meeting.md", "old/").change.reversal_hash
    desk.forget(desk.put("Meeting.md", b"second"), ASKED, permanent=True)
    assert desk.undo([move, edit]).conflicts == ()
    assert desk.files() == {"Meeting.md": b"the person's own"}


def test_deleting_a_note_for_good_deletes_its_versions_at_all_its_paths(desk: TrashDesk):
    desk.put("Plan.md", b"a secret")
    edited(desk, "Plan.md", b"no longer a secret")
    desk.move("Plan.md", "old/")
    desk.restore(desk.forget("old/Plan.md").reversal_hash)
    desk.forget("old/Plan.md", ASKED, permanent=True)
    assert desk.curator.history.content(content_hash(b"a secret")) is None
    assert list((desk.root / ".memvault/history").glob("*.zip")) == []


def test_deleting_a_note_for_good_deletes_what_was_merged_into_it(desk: TrashDesk):
    for name in ("Cave", "Cavern", "Grotto"):
        desk.put(f"{name}.md", f"Gold in the {name}.\n".encode())
    desk.merge("Grotto.md", into="Cavern.md")
    desk.merge("Cavern.md", into="Cave.md")
    desk.move("Cave.md", "old/")
    desk.forget("old/Cave.md", ASKED, permanent=True)
    assert desk.files() == {}
    assert list((desk.root / ".memvault/history").glob("*.zip")) == []


def test_deleting_a_note_for_good_leaves_what_came_out_of_it_again(desk: TrashDesk):
    for name in ("Cave", "Cavern", "Grotto"):
        desk.put(f"{name}.md", f"Gold in the {name}.\n".encode())
    merge = desk.merge("Cavern.md", into="Cave.md").reversal_hash
    desk.undo([merge])
    desk.merge("Grotto.md", into="Cave.md")
    desk.rename_outside(".trash/Grotto.md", "Grotto.md")
    desk.forget("Cave.md", ASKED, permanent=True)
    expected = {f"{name}.md": f"Gold in the {name}.\n".encode() for name in ("Cavern", "Grotto")}
    assert desk.files() == expected


def test_what_was_merged_into_a_forgotten_note_stays_in_the_trash_after_its_30_days(
    desk: TrashDesk,
):
    for name in ("Cave", "Cavern"):
        desk.put(f"{name}.md", f"Gold in the {name}.\n".encode())
    desk.merge("Cavern.md", into="Cave.md")
    desk.forget("Cave.md")
    desk.now += timedelta(days=31)
    desk.curator.purge()
    assert desk.files() == {".trash/Cavern.md": b"Gold in the Cavern.\n"}


@pytest.mark.parametrize("later", ["forgotten", "merged into another note", "forgotten copy"])
def test_deleting_a_note_for_good_leaves_what_came_out_of_it_and_went_to_the_trash_again(
    desk: TrashDesk, later: str
):
    for name in ("Cave", "Cavern", "Mine"):
        desk.put(f"{name}.md", f"Gold in the {name}.\n".encode())
    desk.merge("Cavern.md", into="Cave.md")
    desk.rename_outside(".trash/Cavern.md", "Cavern.md")
    if later == "forgotten copy":
        desk.rename_outside("Cavern.md", "deep/Cavern.md")
    if later == "merged into another note":
        again = desk.merge("Cavern.md", into="Mine.md").reversal_hash
    else:
        again = desk.forget("deep/Cavern.md" if "copy" in later else "Cavern.md").reversal_hash
    desk.forget("Cave.md", ASKED, permanent=True)
    assert desk.files()[".trash/Cavern.md"] == b"Gold in the Cavern.\n"
    desk.undo([again])
    assert b"Gold in the Cavern.\n" in desk.files().values()
    assert desk.files()["Mine.md"] == b"Gold in the Mine.\n"


def test_deleting_a_note_for_good_deletes_what_was_merged_into_it_once_more(desk: TrashDesk):
    for name in ("Cave", "Cavern"):
        desk.put(f"{name}.md", f"Gold in the {name}.\n".encode())
    merge = desk.merge("Cavern.md", into="Cave.md").reversal_hash
    desk.undo([desk.undo([merge]).change.reversal_hash])
    desk.forget("Cave.md", ASKED, permanent=True)
    assert desk.files() == {}


def test_deleting_a_note_for_good_deletes_all_versions_of_two_equal_notes_in_it(desk: TrashDesk):
    for path in ("Cave.md", "one/Cavern.md", "two/Grotto.md"):
        desk.put(path, b"Gold.\n")
    desk.merge("one/Cavern.md", "two/Grotto.md", into="Cave.md")
    desk.forget("Cave.md", ASKED, permanent=True)
    assert desk.files() == {}
    assert list((desk.root / ".memvault/history").glob("*.zip")) == []


def test_what_was_merged_into_a_note_and_cannot_be_deleted_yet_is_by_the_next_sweep(
    desk: TrashDesk, monkeypatch: pytest.MonkeyPatch
):
    for name in ("Cave", "Cavern"):
        desk.put(f"{name}.md", f"Gold in the {name}.\n".encode())
    desk.merge("Cavern.md", into="Cave.md")
    delete = Vault.delete

    def locked(vault: Vault, path: str) -> None:
        if path == ".trash/Cavern.md":
            raise StorageError("another program has it open")
        delete(vault, path)

    with monkeypatch.context() as patch, pytest.raises(StorageError):
        patch.setattr(Vault, "delete", locked)
        desk.forget("Cave.md", ASKED, permanent=True)
    desk.curator.purge()
    assert desk.files() == {} and desk.kept() == []
    assert list((desk.root / ".memvault/history").glob("*.zip")) == []


def test_what_was_saved_in_the_last_moment_is_what_lies_in_the_trash(
    desk: TrashDesk, monkeypatch: pytest.MonkeyPatch
):
    target = desk.put("Plan.md", b"as it was read")
    move = Vault.move

    def save_then_move(vault: Vault, source: str, to: str) -> bool:
        if source == "Plan.md" and desk.read("Plan.md") == "as it was read":
            desk.write("Plan.md", b"saved meanwhile")
        return move(vault, source, to)

    monkeypatch.setattr(Vault, "move", save_then_move)
    tombstone = desk.forget(target)
    assert tombstone.content_hash == content_hash(b"saved meanwhile")
    assert desk.files() == {".trash/Plan.md": b"saved meanwhile"}


class Killed(BaseException):
    """The process ended here."""


def killed_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the process before its n-th step: an entry of the journal, a move or a deletion."""
    steps = 0

    def step(do: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **named: object) -> object:
            nonlocal steps
            steps += 1
            if steps == number:
                raise Killed
            return do(*arguments, **named)

        return counted

    monkeypatch.setattr(Journal, "append", step(Journal.append))
    monkeypatch.setattr(Vault, "move", step(Vault.move))
    monkeypatch.setattr(Vault, "delete", step(Vault.delete))


@pytest.mark.parametrize("step", [1, 2, 3])
def test_forgetting_that_was_cut_off_is_wholly_done_or_undone_at_the_next_start(
    desk: TrashDesk, monkeypatch: pytest.MonkeyPatch, step: int
):
    target = desk.put("Plan.md")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killed_at(step, patch)
        desk.forget(target)
    desk.open()
    moved = step == 3
    assert desk.files() == {".trash/Plan.md" if moved else "Plan.md": NOTE}
    assert len(desk.kept()) == moved
    desk.open()
    assert desk.recovered == []
    if moved:
        assert desk.restore("Plan").path == "Plan.md"


@pytest.mark.parametrize("step", [1, 2, 3])
def test_restoring_that_was_cut_off_is_wholly_done_or_undone_at_the_next_start(
    desk: TrashDesk, monkeypatch: pytest.MonkeyPatch, step: int
):
    desk.forget(desk.put("Plan.md"))
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killed_at(step, patch)
        desk.restore("Plan.md")
    desk.open()
    back = step == 3
    assert desk.files() == {"Plan.md" if back else ".trash/Plan.md": NOTE}
    assert len(desk.kept()) == (not back)
    desk.open()
    assert desk.recovered == []


@pytest.mark.parametrize("step", [4, 5])
def test_permanent_deletion_that_was_cut_off_is_done_by_the_next_sweep(
    desk: TrashDesk, monkeypatch: pytest.MonkeyPatch, step: int
):
    target = desk.put("Plan.md")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killed_at(step, patch)
        desk.forget(target, ASKED, permanent=True)
    desk.open()
    desk.curator.purge()
    assert desk.files() == {} and desk.kept() == []


def test_a_name_reserved_for_a_move_that_never_came_is_given_back(
    desk: TrashDesk, monkeypatch: pytest.MonkeyPatch
):
    """Where the file system cannot rename to a free name in one step, the name is reserved."""
    target = desk.put("Plan.md")

    def reserve_and_die(vault: Vault, source: str, to: str) -> bool:
        desk.write(to, b"")
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Vault, "move", reserve_and_die)
        desk.forget(target)
    assert desk.files() == {".trash/Plan.md": b"", "Plan.md": NOTE}
    desk.open()
    assert desk.files() == {"Plan.md": NOTE}


def test_a_journal_that_cannot_be_written_leaves_the_note_where_it_is(
    desk: TrashDesk, monkeypatch: pytest.MonkeyPatch
):
    target = desk.put("Plan.md")
    append, entries = Journal.append, []

    def full(journal: Journal, entry: JournalEntry, **how: bool) -> None:
        entries.append(entry.kind)
        if entry.kind == JournalPhase.DONE:
            raise StorageError("no room")
        append(journal, entry, **how)

    monkeypatch.setattr(Journal, "append", full)
    with pytest.raises(StorageError, match="no room"):
        desk.forget(target)
    assert desk.files() == {"Plan.md": NOTE}
    assert entries == ["change_begun", "change_done", "change_withdrawn"]
    assert desk.kept() == []


@pytest.mark.parametrize("folder", [".memvault", ".memvault/history", ".memvault/journal"])
def test_nothing_is_kept_in_a_folder_that_leads_out_of_the_vault(
    vault_folder: Path, tmp_path: Path, folder: str
):
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault_folder / folder).parent.mkdir(exist_ok=True)
    (vault_folder / folder).symlink_to(outside, target_is_directory=True)
    desk = TrashDesk(vault_folder)
    desk.put("Plan.md")
    with pytest.raises(OutsideVault, match=folder):
        edited(desk, "Plan.md", b"a client's")
    assert desk.files()["Plan.md"] == NOTE and list(outside.iterdir()) == []


def test_a_trash_that_leads_out_of_the_vault_is_not_used(desk: TrashDesk, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.root / ".trash").symlink_to(outside, target_is_directory=True)
    target = desk.put("Plan.md")
    with pytest.raises(InvalidParams):
        desk.forget(target)
    assert (desk.root / "Plan.md").read_bytes() == NOTE and not list(outside.iterdir())


def test_without_one_step_renames_nothing_is_overwritten_either(
    desk: TrashDesk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memvault.vault.write.rename_if_free", lambda *_: False)
    desk.put(".trash/Plan.md", b"theirs")
    desk.forget(desk.put("Plan.md"))
    assert desk.files() == {".trash/Plan.md": b"theirs", ".trash/Plan 1.md": NOTE}
    assert desk.vault.move(".trash/Plan 1.md", ".trash/Plan.md") is False
    assert desk.files() == {".trash/Plan.md": b"theirs", ".trash/Plan 1.md": NOTE}


def test_a_concept_without_a_note_is_hidden_until_it_is_restored(desk: TrashDesk):
    node = GraphNode("11111111-2222-4333-8444-555555555555", "concept", "Night Watch")
    tombstone = desk.forget(Target("Night Watch", nodes=(node,)))
    assert node.id in desk.curator.tombstones.suppressed_ids and tombstone.restorable_until is None
    desk.now += timedelta(days=400)
    assert desk.curator.purge() == []
    desk.open()
    assert node.id in desk.curator.tombstones.suppressed_ids
    assert desk.restore("night watch").path is None
    desk.open()
    assert desk.curator.tombstones.suppressed_ids == frozenset()


def test_the_order_in_which_the_journals_files_are_read_does_not_matter(desk: TrashDesk):
    desk.forget(desk.put("A.md"))
    desk.forget(desk.put("B.md"))
    desk.restore("A.md")
    entries = list(desk.journal.entries())
    orders = (entries, entries[::-1], entries[1::2] + entries[::2])
    for number, order in enumerate(orders):
        journal = Journal(Vault(desk.root), Path(f".memvault/order {number}"))
        for entry in order:
            journal.append(entry)
        read = Tombstones(journal)
        assert [each.path for each in read.kept()] == ["B.md"]


def test_what_another_process_is_doing_is_not_taken_for_interrupted(
    desk: TrashDesk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memvault.curation.changes.curator.START_SECONDS", 0.1)
    target, move = desk.put("Plan.md"), Vault.move

    def start_another(vault: Vault, source: str, to: str) -> bool:
        other = TrashDesk(desk.root)  # as an engine that starts at this moment
        assert other.recovered == []
        return move(vault, source, to)

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "move", start_another)
        desk.forget(target)
    desk.open()
    assert desk.files() == {".trash/Plan.md": NOTE} and len(desk.kept()) == 1


def earlier_tombstone() -> Tombstone:
    return Tombstone(
        reversal_hash="a" * 32,
        name="Plan",
        kind="note",
        node_ids=(id_of_path("Plan.md"),),
        path="Plan.md",
        trash_path=".trash/Plan.md",
        content_hash=content_hash(NOTE),
        forgotten_at=START,
        restorable_until=START + timedelta(days=30),
        rationale="They asked me to.",
    )


@pytest.mark.parametrize("is_late", [False, True])
def test_a_restoring_is_known_even_if_it_is_synced_before_what_it_restores(
    desk: TrashDesk, is_late: bool
) -> None:
    tombstones = Tombstones(desk.journal)
    tombstone = earlier_tombstone()
    entries = [{"forgot": [tombstone.model_dump(mode="json")]}, {"restored": ["a" * 32]}]
    for data in reversed(entries) if is_late else entries:
        desk.journal.append(
            JournalEntry(ts=START, kind=JournalPhase.DONE, actor=WHY.actor, data=data)
        )
        tombstones.kept()  # reads it
    assert tombstones.kept() == []
    assert tombstones.tombstone("a" * 32) is not None


@pytest.mark.parametrize(
    "path", ["Will.md", "permanent/Will.md", ".trash/../Will.md", "../Will.md", ".obsidian/Will.md"]
)
def test_a_planted_tombstone_deletes_no_file_outside_the_trash(desk: TrashDesk, path: str) -> None:
    (desk.root / ".trash").mkdir(exist_ok=True)
    desk.write(path, NOTE)
    tombstone = Tombstone(
        reversal_hash="f" * 32, name="Will", kind="note", node_ids=(id_of_path(path),), path=path,
        trash_path=path, content_hash=content_hash(NOTE), forgotten_at=START,
        restorable_until=START, rationale="planted",
    ).model_dump(mode="json")  # fmt: skip
    data = {"forgot": [tombstone]}
    desk.journal.append(JournalEntry(ts=START, kind=JournalPhase.DONE, actor=SYSTEM, data=data))
    desk.open()
    desk.curator.purge()
    assert (desk.root / path).read_bytes() == NOTE
    assert desk.curator.purge() == []  # it is not tried again
