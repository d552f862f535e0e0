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
from memvault.vault.compose import compose_note
from memvault.vault.conversations.conversation import (
    Conversation,
    ConversationTurn,
    UnreadableEntry,
)
from memvault.vault.conversations.export_files import read_export
from memvault.vault.parse import parse_note

EPOCH = 1_772_360_000.5  # 2026-03-01 10:13:20 UTC


def message(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    return {"author": {"role": role}, "content": content, "recipient": "all", **more}


def chatgpt(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A conversation whose messages follow one another."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    parent = "root"
    for number, each in enumerate(messages):
        mapping[f"n{number}"] = {"id": f"n{number}", "message": each, "parent": parent}
        parent = f"n{number}"
    return {
        "title": "Seeds",
        "create_time": EPOCH,
        "mapping": mapping,
        "current_node": parent,
        "conversation_id": "c-1",
    } | more


def claude(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "uuid": "u-1",
        "name": "Seeds",
        "created_at": "2026-03-01T23:30:00.5+02:00",
        "chat_messages": list(messages),
    } | more


def said(sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {"sender": sender, "text": text, "content": [{"type": "text", "text": text}]} | more


def read(folder: Path, provider: Any, *entries: Any) -> list[Conversation | UnreadableEntry]:
    file = folder / "conversations.json"
    file.write_text(json.dumps(entries), encoding="utf-8")
    return list(read_export(file, provider))


def only(found: list[Conversation | UnreadableEntry]) -> Conversation:
    (conversation,) = found
    assert isinstance(conversation, Conversation)
    return conversation


def test_a_chatgpt_conversation_is_read_as_its_two_sides_saw_it(tmp_path: Path) -> None:
    found = only(
        read(
            tmp_path,
            "chatgpt",
            chatgpt(
                message("system", "You are …"),
                message("user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
                message("user", "How do I dry beans?"),
                message("assistant", "search('beans')", recipient="browser"),
                message("tool", "a web page"),
                message("assistant", "In the shade\ue200cite\ue202turn0search1\ue201."),
                message("assistant", "For two weeks."),
            ),
        )
    )
    assert found.turns == (
        ConversationTurn(True, "How do I dry beans?"),
        ConversationTurn(False, "In the shade.\n\nFor two weeks."),
    )
    assert found.created == datetime.fromtimestamp(EPOCH, UTC)
    assert found.title == "Seeds"


def test_of_a_regenerated_answer_only_the_last_version_is_kept(tmp_path: Path) -> None:
    entry = chatgpt(message("user", "Hello"), message("assistant", "second"))
    entry["mapping"]["other"] = {"message": message("assistant", "first"), "parent": "n0"}
    assert [turn.text for turn in only(read(tmp_path, "chatgpt", entry)).turns] == [
        "Hello",
        "second",
    ]
    del entry["current_node"]
    assert only(read(tmp_path, "chatgpt", entry)).turns[1].text == "first"


def test_messages_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    entry = chatgpt(message("user", "Hello"), message("assistant", "Hi"))
    entry["mapping"]["root"]["parent"] = "n1"
    assert len(only(read(tmp_path, "chatgpt", entry)).turns) == 2


def test_pictures_voices_files_and_code_leave_their_mark(tmp_path: Path) -> None:
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        {"content_type": "audio_transcription", "text": "as I said"},
        "look",
    ]
    user = message("user", *parts, metadata={"attachments": [{"name": "a.pdf"}]})
    user["content"]["content_type"] = "multimodal_text"
    code = message("assistant")
    code["content"] = {"content_type": "code", "language": "python", "text": "a = '```'"}
    found = only(read(tmp_path, "chatgpt", chatgpt(user, code)))
    assert found.turns[0].text == "*(image)*\n\nas I said\n\nlook\n\n*(file: a.pdf)*"
    assert found.turns[1].text == "````python\na = '```'\n````"


def test_a_claude_conversation_keeps_text_and_pasted_files(tmp_path: Path) -> None:
    answer = said("assistant", "")
    answer["content"] = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "In the shade."},
        {"type": "tool_use", "name": "x"},
    ]
    pasted = {"file_name": "", "extracted_content": "long ``` text"}
    found = only(
        read(
            tmp_path,
            "claude",
            claude(
                said("human", "How?", attachments=[pasted], files=[{"file_name": "b.png"}]),
                answer,
            ),
        )
    )
    assert found.turns[0].text.startswith(
        "How?\n\n*(pasted text)*\n\n````text\nlong ``` text\n````"
    )
    assert found.turns[0].text.endswith("*(file: b.png)*")
    assert found.turns[1].text == "In the shade."
    assert found.created == datetime(2026, 3, 1, 21, 30, 0, 500_000, UTC)


def test_old_claude_exports_without_content_blocks_are_read(tmp_path: Path) -> None:
    old = {"sender": "human", "text": "Hello"}
    assert only(read(tmp_path, "claude", claude(old))).turns == (ConversationTurn(True, "Hello"),)


def test_a_malformed_entry_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "chatgpt",
        "nonsense",
        {"title": "Broken"},
        chatgpt(message("user", "x"), conversation_id=None),
        chatgpt(message("user", "x"), create_time="yesterday"),
        chatgpt(message("system", "x")),
        chatgpt(message("user", "Hello")),
    )
    reasons = [item.reason for item in found if isinstance(item, UnreadableEntry)]
    assert reasons == [
        "it is not a conversation",
        "it has no messages (mapping)",
        "it has no id",
        "it has no date",
        "empty conversation",
    ]
    assert "Broken" in found[1].name  # type: ignore[union-attr]
    assert isinstance(found[-1], Conversation)


def test_a_zip_a_folder_and_numbered_parts_are_exports_too(tmp_path: Path) -> None:
    one = json.dumps([chatgpt(message("user", "1"), conversation_id="1")])
    two = json.dumps([chatgpt(message("user", "2"), conversation_id="2")])
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "conversations-000.json").write_text(one, encoding="utf-8")
    (folder / "conversations-001.json").write_text(two, encoding="utf-8")
    (folder / "user.json").write_text("{}", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("export/conversations-000.json", one)
        archive.writestr("export/conversations-001.json", two)
        archive.writestr("export/chat.html", "x")
    from_folder = list(read_export(folder, "chatgpt"))
    assert from_folder == list(read_export(tmp_path / "e.zip", "chatgpt"))
    assert [each.external_id for each in from_folder if isinstance(each, Conversation)] == [
        "1",
        "2",
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{not json", "neither a zip file nor JSON, so it is no export of ChatGPT"),
        ("3", "is not a list"),
        (json.dumps([claude()]), "is an export of Claude, not of ChatGPT"),
    ],
)
def test_what_is_no_export_is_refused_with_a_reason(
    tmp_path: Path, content: str, reason: str
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidParams, match=reason) as caught:
        list(read_export(file, "chatgpt"))
    assert str(tmp_path) not in caught.value.message


def test_a_missing_file_and_a_folder_without_an_export_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParams, match="does not exist"):
        list(read_export(tmp_path / "no.zip", "claude"))
    with pytest.raises(InvalidParams, match=r"no conversations\.json"):
        list(read_export(tmp_path, "claude"))


def test_a_note_of_a_conversation_reads_as_a_talk() -> None:
    talk = Conversation(
        "chatgpt",
        "c",
        "Beans: how?",
        datetime(2026, 3, 1, tzinfo=UTC),
        (
            ConversationTurn(True, "How?"),
            ConversationTurn(False, "- shade\n- time"),
            ConversationTurn(True, "```\nopen fence"),
            ConversationTurn(False, "Fine."),
        ),
    )
    assert talk.body() == (
        "# Beans: how?\n\n**You:** How?\n\n**ChatGPT:**\n\n- shade\n- time\n\n"
        "**You:**\n\n```\nopen fence\n```\n\n**ChatGPT:** Fine."
    )
    note = parse_note("a.md", compose_note(talk.properties(), talk.body()))
    assert note.frontmatter["id"] == talk.id
    assert note.title == "Beans: how?"
    assert note.blocks[-1].text == "ChatGPT: Fine."


def test_an_untitled_conversation_is_named_by_its_first_words(tmp_path: Path) -> None:
    entry = chatgpt(message("user", "How do I dry beans in winter? Quickly!"), title="New chat")
    assert only(read(tmp_path, "chatgpt", entry)).title == "How do I dry beans in winter?"


def test_the_mark_of_a_picture_is_no_name_of_a_conversation(tmp_path: Path) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-a"}
    asked = message("user", "")
    asked["content"] = {"content_type": "multimodal_text", "parts": [picture, "Which fern is it?"]}
    found = only(read(tmp_path, "chatgpt", chatgpt(asked, title="New chat")))
    assert found.turns == (ConversationTurn(True, "*(image)*\n\nWhich fern is it?"),)
    assert found.title == "Which fern is it?"


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "mapping",
                    "current_node",
                    "message",
                    "author",
                    "role",
                    "content",
                    "parts",
                    "parent",
                    "chat_messages",
                    "sender",
                    "text",
                    "uuid",
                    "metadata",
                    "attachments",
                    "files",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(json_like, st.sampled_from(["chatgpt", "claude"]))
def test_no_entry_however_odd_stops_an_import(
    tmp_path_factory: pytest.TempPathFactory, entry: Any, provider: Any
) -> None:
    try:
        (found,) = read(tmp_path_factory.getbasetemp(), provider, entry)
    except InvalidParams as error:
        assert "is an export of" in error.message
        return
    assert isinstance(found, UnreadableEntry)
