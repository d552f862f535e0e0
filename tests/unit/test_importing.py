from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memvault.curation.operations.importing import ImportReport, import_conversations
from memvault.model.errors import InvalidParams
from memvault.vault.files import Vault
from memvault.vault.journal import Journal


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


class Desk:
    """A vault, and an export file that grows."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.root.mkdir()
        self.file = folder / "conversations.json"

    def take(self, *talks: Any) -> ImportReport:
        self.file.write_text(json.dumps(talks), encoding="utf-8")
        vault = Vault(self.root)
        return import_conversations(vault, Journal(vault), self.file, "claude")

    def notes(self) -> dict[str, bytes]:
        files = self.root.rglob("*.md")
        return {file.relative_to(self.root).as_posix(): file.read_bytes() for file in files}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_each_conversation_becomes_one_dated_note(desk: Desk) -> None:
    report = desk.take(talk(1, "Hello", "Hi"), talk(2, "What?", "That."))
    assert report.added == ["sessions/2026-03-01/Seeds.md", "sessions/2026-03-01/Seeds 2.md"]
    text = desk.notes()["sessions/2026-03-01/Seeds.md"].decode()
    assert "type: session\n" in text and "source: claude\n" in text
    assert "created: 2026-03-01T10:00:00Z\ndate: 2026-03-01\n" in text
    assert text.endswith("---\n\n# Seeds\n\n**You:** Hello\n\n**Claude:** Hi\n")


def test_importing_twice_adds_nothing(desk: Desk) -> None:
    desk.take(talk(1, "Hello", "Hi"), talk(2, "What?"))
    before = desk.notes()
    report = desk.take(talk(1, "Hello", "Hi"), talk(2, "What?"))
    assert (report.added, report.updated, report.unchanged) == ([], [], 2)
    assert desk.notes() == before


def test_a_conversation_that_went_on_is_brought_up_to_date_wherever_its_note_is(
    desk: Desk,
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


def test_a_note_that_the_person_edited_stays_and_is_reported(desk: Desk) -> None:
    (path,) = desk.take(talk(1, "Hello", "Hi")).added
    with (desk.root / path).open("a") as stream:
        stream.write("my own remark\n")
    before = desk.notes()
    report = desk.take(talk(1, "Hello", "Hi", "And now?"))
    assert [(each.path, each.reason) for each in report.left_alone] == [
        (path, "its note was edited")
    ]
    assert desk.notes() == before


def test_a_note_that_the_person_removed_stays_away(desk: Desk) -> None:
    (path,) = desk.take(talk(1, "Hello", "Hi")).added
    (desk.root / path).unlink()
    report = desk.take(talk(1, "Hello", "Hi"))
    assert [each.reason for each in report.left_alone] == ["its note was removed"]
    assert desk.notes() == {}


def test_malformed_entries_are_skipped_by_name_and_the_rest_imported(desk: Desk) -> None:
    report = desk.take({"name": "Lost", "chat_messages": 3}, talk(1, "Hello"))
    assert len(report.added) == 1
    assert [(each.name, each.reason) for each in report.skipped] == [
        ("conversations.json, conversation 1 (Lost)", "it has no messages (chat_messages)")
    ]


def test_titles_that_are_paths_stay_in_the_session_folder(desk: Desk) -> None:
    report = desk.take(
        *(talk(n, "x", title=t) for n, t in enumerate(("../../up", "CON", "a/b\0c")))
    )
    assert len(report.added) == 3
    assert all(path.startswith("sessions/2026-03-01/") for path in desk.notes())
    assert all(path.count("/") == 2 for path in desk.notes())


def test_progress_counts_each_conversation(desk: Desk) -> None:
    desk.file.write_text(json.dumps([talk(1, "a"), "x", talk(2, "b")]))
    vault = Vault(desk.root)
    seen: list[int] = []
    import_conversations(vault, Journal(vault), desk.file, "claude", progress=seen.append)
    assert seen == [1, 2, 3]


def test_the_wrong_providers_export_writes_nothing(desk: Desk) -> None:
    desk.file.write_text(json.dumps([talk(1, "a")]))
    vault = Vault(desk.root)
    with pytest.raises(InvalidParams, match="Claude"):
        import_conversations(vault, Journal(vault), desk.file, "chatgpt")
    assert desk.notes() == {}
