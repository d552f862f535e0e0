from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.curation.operations.fade import FadedText, stage_fading
from memvault.curation.operations.importing import ImportReport, import_conversations
from memvault.model.change import ChangeKind
from memvault.model.errors import InvalidParams, StorageError
from memvault.vault.ignore import IGNORE_FILE
from memvault.vault.note_folders import NoteFolders
from tests.desk import MORNING, WHY, Desk
from tests.property_examples import slow_property


def talk(number: int, *texts: str, title: str = "Seeds") -> dict[str, Any]:
    return {
        "uuid": f"u-{number}",
        "name": title,
        "created_at": "2026-03-01T10:00:00Z",
        "chat_messages": [
            {"sender": "human" if index % 2 == 0 else "assistant", "text": text}
            for index, text in enumerate(texts)
        ],
    }


class ImportDesk(Desk):
    """A desk with an export file that grows."""

    def __init__(self, folder: Path) -> None:
        (folder / "vault").mkdir()
        super().__init__(folder / "vault")
        self.file = folder / "conversations.json"

    def take(self, *talks: Any) -> ImportReport:
        self.file.write_text(json.dumps(talks), encoding="utf-8")
        return self.take_file(self.file)

    def take_file(self, export: Path) -> ImportReport:
        self.open()
        return import_conversations(self.curator, export, "claude")

    def notes(self) -> dict[str, bytes]:
        files = self.root.rglob("*.md")
        return {file.relative_to(self.root).as_posix(): file.read_bytes() for file in files}


@pytest.fixture
def desk(tmp_path: Path) -> ImportDesk:
    return ImportDesk(tmp_path)


def test_each_conversation_becomes_one_dated_note(desk: ImportDesk) -> None:
    report = desk.take(talk(1, "Hello", "Hi"), talk(2, "What?", "That."))
    assert report.added == ["sessions/2026-03-01/Seeds.md", "sessions/2026-03-01/Seeds 2.md"]
    text = desk.notes()["sessions/2026-03-01/Seeds.md"].decode()
    assert "type: session\n" in text and "source: claude\n" in text
    assert "created: 2026-03-01T10:00:00Z\ndate: 2026-03-01\n" in text
    assert text.endswith("---\n\n# Seeds\n\n**You:** Hello\n\n**Claude:** Hi\n")


def test_conversations_go_to_the_chosen_folder_and_are_known_there(desk: ImportDesk) -> None:
    desk.vault.folders = NoteFolders("AI")
    assert desk.take(talk(1, "Hello", "Hi")).added == ["AI/sessions/2026-03-01/Seeds.md"]
    assert desk.take(talk(1, "Hello", "Hi")).unchanged == 1


def test_importing_twice_adds_nothing(desk: ImportDesk) -> None:
    desk.take(talk(1, "Hello", "Hi"), talk(2, "What?"))
    before = desk.notes()
    report = desk.take(talk(1, "Hello", "Hi"), talk(2, "What?"))
    assert (report.added, report.updated, report.unchanged) == ([], [], 2)
    assert desk.notes() == before


def test_a_conversation_that_went_on_is_brought_up_to_date_wherever_its_note_is(
    desk: ImportDesk,
) -> None:
    (old,) = desk.take(talk(1, "Hello", "Hi")).added
    new = desk.root / "kept" / "Renamed.md"
    new.parent.mkdir()
    (desk.root / old).rename(new)
    new.write_bytes(new.read_bytes().replace(b"lifecycle: ephemeral", b"lifecycle:  permanent # !"))
    report = desk.take(talk(1, "Hello", "Hi", "And now?"))
    assert (report.added, report.updated) == ([], ["kept/Renamed.md"])
    data = new.read_bytes()
    assert b"lifecycle:  permanent # !\n" in data
    assert data.endswith(b"**Claude:** Hi\n\n**You:** And now?\n")
    assert desk.take(talk(1, "Hello", "Hi", "And now?", "Yes")).updated == ["kept/Renamed.md"]


def test_an_older_export_takes_no_turn_away(desk: ImportDesk) -> None:
    desk.take(talk(1, "Hello", "Hi", "What?"))
    before = desk.notes()
    report = desk.take(talk(1, "Hello", "Hi"))
    assert (report.updated, report.unchanged, desk.notes()) == ([], 1, before)
    assert desk.take(talk(1, "Hello", "Hi", "What?", "That.")).updated
    assert desk.take(talk(1, "Hello", "Hello")).updated  # the person asked for another answer


TURNS = (
    "Is {} here?",
    "It is {}.",
    "%%bash\n{}",
    "```\n{}",
    "- {}\r\n- b",
    "---\nat: {}\n---",
    "# {}",
)
_number = st.integers(0, 1)
_steps = st.one_of(
    st.tuples(st.just("import"), _number, st.integers(1, 5)),
    st.tuples(st.just("import"), _number, st.integers(1, 5)),
    st.tuples(st.just("edit"), _number, st.booleans()),
    st.tuples(st.just("rename"), _number, st.integers(0, 9)),
)


@slow_property(15)
@given(
    shapes=st.lists(st.sampled_from(TURNS), min_size=5, max_size=5),
    steps=st.lists(_steps, min_size=2, max_size=7),
)
def test_whatever_is_imported_in_whatever_order_no_turn_and_no_word_of_the_persons_is_lost(
    shapes: list[str], steps: list[tuple[str, int, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk, words = ImportDesk(Path(folder)), set[str]()
        edited: set[int] = set()
        for count, (step, number, value) in enumerate(steps):
            turns = [shape.format(f"w{number}{k}w") for k, shape in enumerate(shapes)]
            if step == "import":
                desk.take(talk(number, *turns[:value], title=f"Talk {number}"))
                words |= set() if number in edited else {f"w{number}{k}w" for k in range(value)}
            elif found := [note for note in desk.root.rglob("*.md") if f"{number}" in note.name]:
                text, word = found[0].read_text(encoding="utf-8"), f"o{count}o"
                if step == "rename":
                    found[0].rename(desk.root / f"Renamed {number}.md")
                else:
                    head, mark, body = text.partition("\n---\n")
                    new = (head, f"\n{word}: 1", mark, body) if value else (text, f"\n{word}\n")
                    found[0].write_text("".join(new), encoding="utf-8")
                    words.add(word)
                    edited |= set() if value else {number}
            written = b"\n".join(desk.notes().values()).decode()
            assert all(word in written for word in words)


def test_a_note_that_the_person_edited_stays_and_is_reported(desk: ImportDesk) -> None:
    (path,) = desk.take(talk(1, "Hello", "Hi")).added
    with (desk.root / path).open("a") as stream:
        stream.write("my own remark\n")
    before = desk.notes()
    report = desk.take(talk(1, "Hello", "Hi", "And now?"))
    assert [(each.path, each.reason) for each in report.left_alone] == [
        (path, "its note was edited")
    ]
    assert desk.notes() == before


def test_a_note_that_the_person_removed_stays_away(desk: ImportDesk) -> None:
    (path,) = desk.take(talk(1, "Hello", "Hi")).added
    (desk.root / path).unlink()
    report = desk.take(talk(1, "Hello", "Hi"))
    assert [each.reason for each in report.left_alone] == ["its note was removed"]
    assert desk.notes() == {}


def test_no_note_counts_as_removed_while_none_is_read(desk: ImportDesk) -> None:
    desk.take(talk(1, "Seeds?"))
    before = desk.notes()
    (desk.root / IGNORE_FILE).mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        desk.take(talk(1, "Seeds?"), talk(2, "Bees?"))
    assert desk.notes() == before


def test_malformed_entries_are_skipped_by_name_and_the_rest_imported(desk: ImportDesk) -> None:
    report = desk.take({"name": "Lost", "chat_messages": 3}, talk(1, "Hello"))
    assert len(report.added) == 1
    assert [(each.name, each.reason) for each in report.skipped] == [
        ("conversations.json, conversation 1 (Lost)", "it has no messages (chat_messages)")
    ]


def test_titles_that_are_paths_stay_in_the_session_folder(desk: ImportDesk) -> None:
    report = desk.take(
        *(talk(n, "x", title=t) for n, t in enumerate(("../../up", "CON", "a/b\0c")))
    )
    assert len(report.added) == 3
    assert all(path.startswith("sessions/2026-03-01/") for path in desk.notes())
    assert all(path.count("/") == 2 for path in desk.notes())


def test_progress_counts_each_conversation(desk: ImportDesk) -> None:
    desk.file.write_text(json.dumps([talk(1, "a"), "x", talk(2, "b")]))
    seen: list[int] = []
    import_conversations(desk.curator, desk.file, "claude", progress=seen.append)
    assert seen == [1, 2, 3]


def test_the_wrong_providers_export_writes_nothing(desk: ImportDesk) -> None:
    desk.file.write_text(json.dumps([talk(1, "a")]))
    with pytest.raises(InvalidParams, match="Claude"):
        import_conversations(desk.curator, desk.file, "chatgpt")
    assert desk.notes() == {}


PROJECT = {
    "uuid": "p-1",
    "name": "Seed library",
    "description": "Lending seeds to neighbours.",
    "prompt_template": "Answer briefly.",
    "created_at": "2026-01-05T08:00:00Z",
    "docs": [{"uuid": "d-1", "filename": "Rules.md", "content": "Bring back twice as many."}],
}
MEMORIES = {
    "account_uuid": "a-1",
    "conversations_memory": "Grows tomatoes.",
    "project_memories": {"p-1": "Has forty members."},
}


@pytest.mark.parametrize("layout", ["list", "folder"])
def test_an_export_of_claude_brings_its_projects_and_memories(
    layout: str, desk: ImportDesk, tmp_path: Path
) -> None:
    export = tmp_path / "data.zip"
    single, whole = ("projects/p-1.json", PROJECT), ("projects.json", [PROJECT])
    name, projects = whole if layout == "list" else single
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("memories.json", json.dumps([MEMORIES]))
        archive.writestr(name, json.dumps(projects))
        archive.writestr("conversations.json", json.dumps([talk(1, "Hello", "Hi")]))
        archive.writestr("users.json", json.dumps([{"uuid": "a-1"}]))
    report = desk.take_file(export)
    assert report.skipped == []
    assert sorted(report.added) == [
        "permanent/What Claude remembers.md",
        "projects/Seed library/Rules.md",
        "projects/Seed library/Seed library.md",
        "projects/Seed library/What Claude remembers of Seed library.md",
        "sessions/2026-03-01/Seeds.md",
    ]
    notes = desk.notes()
    project = notes["projects/Seed library/Seed library.md"].decode()
    assert "project: Seed library\n" in project and "created: 2026-01-05T08:00:00Z\n" in project
    assert project.endswith("Lending seeds to neighbours.\n\n## Instructions\n\nAnswer briefly.\n")
    assert notes["permanent/What Claude remembers.md"].endswith(b"\n\nGrows tomatoes.\n")
    again = desk.take_file(export)
    assert (again.added, again.updated, again.unchanged) == ([], [], 5)
    assert desk.notes() == notes


def test_a_damaged_project_is_skipped_and_the_rest_imported(
    desk: ImportDesk, tmp_path: Path
) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    damaged = [{"name": "No id"}, PROJECT | {"docs": [{"uuid": "d-2"}, 3]}, 7]
    (folder / "projects.json").write_text(json.dumps(damaged))
    report = desk.take_file(folder)
    assert report.added == ["projects/Seed library/Seed library.md"]
    assert len(report.skipped) == 4


def test_an_import_is_one_change_that_can_be_undone_and_made_again(desk: ImportDesk) -> None:
    desk.take(talk(1, "Hello"))
    before = desk.notes()
    talks = (talk(1, "Hello", "And now?"), talk(2, "What?"), talk(3, "Why?"))
    desk.take(*talks)
    after = desk.notes()
    made = desk.curator.history.changes()[0]
    assert len(desk.curator.history.changes()) == 2 and len(made.files) == 3
    desk.curator.undo([made.reversal_hash], WHY)
    assert {path: data for path, data in desk.notes().items() if ".trash" not in path} == before
    again = desk.take(*talks)
    assert (len(again.added), len(again.updated), again.left_alone) == (2, 1, [])
    assert {path: data for path, data in desk.notes().items() if ".trash" not in path} == after


def test_a_note_that_has_faded_counts_as_imported_until_its_conversation_goes_on(
    desk: ImportDesk,
) -> None:
    (path,) = desk.take(talk(1, "Hello " * 50)).added
    memory = desk.memory(path)
    faded = FadedText(memory, "keys", "Hello\n", memory.content_hash, MORNING)
    desk.do(ChangeKind.FADED, desk.target(path), lambda staging: stage_fading(staging, faded, None))
    assert desk.take(talk(1, "Hello " * 50)).unchanged == 1
    (left,) = desk.take(talk(1, "Hello " * 50, "Hi")).left_alone
    assert left.reason == "its note has faded; bring back its full text first"
