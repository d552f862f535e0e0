"""Conversations with Gemini, from the activities in Google Takeout."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.model.errors import InvalidParams
from memvault.vault.conversations.conversation import Conversation, UnreadableEntry
from memvault.vault.conversations.export_files import read_export
from memvault.vault.conversations.gemini import conversations

PLACE = "Takeout/My Activity/Gemini Apps/MyActivity.json"


def prompted(text: str, at: str, *html: str, **more: Any) -> dict[str, Any]:
    answer = {"safeHtmlItem": [{"html": part} for part in html]} if html else {}
    return {
        "header": "Gemini Apps", "title": text, "time": at, "products": ["Gemini Apps"],
    } | answer | more  # fmt: skip


def read(folder: Path, *records: Any) -> list[Conversation | UnreadableEntry]:
    file = folder / "MyActivity.json"
    file.write_text(json.dumps(records), encoding="utf-8")
    return list(read_export(file, "gemini"))


def test_prompts_without_a_long_pause_are_one_conversation_the_oldest_first(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        prompted("Prompted And peas?", "2026-03-02T10:20:00.000Z", "<p>The same.</p>"),
        prompted("Asked Can I grow rice?", "2026-03-02T14:00:00.000Z", "<p>Hardly.</p>"),
        prompted(
            "Prompted How do I dry beans?",
            "2026-03-02T10:00:00.000Z",
            "<p>On a <strong>rack</strong>:</p><ul><li>shell them</li><li>turn them</li></ul>",
        ),
    )
    first, second = found
    assert isinstance(first, Conversation) and isinstance(second, Conversation)
    assert (first.title, first.created) == (
        "How do I dry beans?", datetime(2026, 3, 2, 10, tzinfo=UTC),
    )  # fmt: skip
    assert [turn.text for turn in first.turns] == [
        "How do I dry beans?",
        "On a **rack**:\n\n- shell them\n- turn them",
        "And peas?",
        "The same.",
    ]
    assert [turn.text for turn in second.turns] == ["Can I grow rice?", "Hardly."]
    assert first.body().startswith("# How do I dry beans?\n\n**You:** How do I dry beans?")
    assert "**Gemini:** The same." in first.body()


def test_a_conversation_that_went_on_keeps_its_id(tmp_path: Path) -> None:
    start = prompted("Prompted Beans?", "2026-03-02T10:00:00.000Z", "<p>Yes.</p>")
    (before,) = read(tmp_path, start)
    (after,) = read(tmp_path, prompted("Prompted Peas?", "2026-03-02T10:29:00Z"), start)
    assert isinstance(before, Conversation) and isinstance(after, Conversation)
    assert (before.id, len(before.turns), len(after.turns)) == (after.id, 2, 3)


@pytest.mark.filterwarnings("error")
def test_an_answer_that_is_no_proper_html_stops_no_import(tmp_path: Path) -> None:
    texts = ("notes.txt", "a \ud800 b", "<div>" * 3000, "")
    times = (f"2026-03-02T10:0{minute}:00Z" for minute in range(4))
    records = [prompted("Prompted x", at, text) for at, text in zip(times, texts, strict=True)]
    nested, found = read(tmp_path, *records)
    assert nested == UnreadableEntry(
        "MyActivity.json, prompt 3", "its answer is nested too deeply"
    )  # fmt: skip
    assert isinstance(found, Conversation)
    assert [turn.text for turn in found.turns] == [
        "x", "notes.txt", "x", "a � b", "x",
    ]  # fmt: skip


def test_other_activities_and_programs_are_left_out(tmp_path: Path) -> None:
    search = prompted(
        "Searched for beans", "2026-03-02T10:00:00Z", header="Search", products=["Search"]
    )
    found = read(
        tmp_path,
        search,
        prompted("Gave feedback: good", "2026-03-02T10:01:00Z"),
        prompted("Eingabe: Bohnen trocknen?", "2026-03-02T10:02:00Z", "<p>Ja.</p>"),
        prompted("Prompted Beans?", "no date"),
        "damaged",
    )
    unreadable, conversation = found
    assert unreadable == UnreadableEntry("MyActivity.json, prompt 4", "it has no date")
    assert isinstance(conversation, Conversation)
    assert [turn.text for turn in conversation.turns] == ["Eingabe: Bohnen trocknen?", "Ja."]


def test_an_answer_to_a_prompt_without_words_is_kept(tmp_path: Path) -> None:
    (found,) = read(tmp_path, prompted("Prompted", "2026-03-02T10:00:00Z", "<p>A heron.</p>"))
    assert isinstance(found, Conversation)
    assert [(turn.is_person, turn.text) for turn in found.turns] == [(False, "A heron.")]


def test_takeouts_zip_and_its_unpacked_folder_are_read_in_any_language(tmp_path: Path) -> None:
    records = json.dumps([prompted("Prompted Beans?", "2026-03-02T10:00:00Z")])
    german = "Takeout/Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.json"
    for number, place in enumerate((PLACE, german)):
        folder = tmp_path / str(number)
        (folder / place).parent.mkdir(parents=True)
        (folder / place).write_text(records)
        assert len(list(read_export(folder, "gemini"))) == 1
        with zipfile.ZipFile(tmp_path / "takeout.zip", "w") as archive:
            archive.writestr(place, records)
        assert len(list(read_export(tmp_path / "takeout.zip", "gemini"))) == 1


def test_an_export_as_html_or_of_another_program_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "MyActivity.html").write_text("<html></html>")
    with pytest.raises(InvalidParams, match="choose JSON as the format of My Activity"):
        list(read_export(tmp_path, "gemini"))
    (tmp_path / "MyActivity.json").write_text(json.dumps([prompted("Prompted x", "2026-03-02")]))
    with pytest.raises(InvalidParams, match="of Gemini, not of Claude"):
        list(read_export(tmp_path / "MyActivity.json", "claude"))
    with pytest.raises(InvalidParams, match="of ChatGPT, not of Gemini"):
        read(tmp_path, {"mapping": {}})


ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["html", "title", "time", "header"]), inner, max_size=3)
    ),
    max_leaves=6,
)
RECORDS = st.dictionaries(
    st.sampled_from(["header", "title", "time", "products", "safeHtmlItem"]),
    ANY | st.sampled_from(["Prompted hi", "2026-03-02T10:00:00Z", "Gemini Apps"]),
)


@given(st.lists(RECORDS | ANY, max_size=6))
def test_no_record_however_odd_stops_an_import(records: list[Any]) -> None:
    for found in conversations(records, "file"):
        assert isinstance(found, Conversation | UnreadableEntry)
