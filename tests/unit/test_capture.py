"""A session's transcript becomes one note, which the person may edit at any time."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.hooks.client_formats import read_call
from memvault.capture.capturer import CaptureProgress, Capturer
from memvault.capture.edited_files import edited_files
from memvault.capture.extract import extract, says_little
from memvault.capture.session_note import CapturedSession, extended_note, new_note
from memvault.capture.transcripts import TranscriptTurn, read_turns, spoken, without_private
from memvault.model.errors import DiskFull
from memvault.text.replacements import replaced_choices
from memvault.vault.note_folders import NoteFolders
from memvault.vault.parse import parse_note
from memvault.vault.session_lines import ItemKind
from tests.desk import Desk

RECORDED = Path(__file__).parents[1] / "data" / "hooks"
CLIENTS = ["claude-code", "codex", "gemini-cli", "cursor", "vscode"]
SESSION = CapturedSession("claude-code", "s-1", "/home/ada/aurora", "aurora")
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def local(at: datetime) -> str:
    """The day and time in a session's name, by the person's clock."""
    return f"{at.astimezone():%Y-%m-%d %H.%M}"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "vault")


@pytest.fixture
def capturer(desk: Desk) -> Capturer:
    desk.root.mkdir(exist_ok=True)
    return Capturer(desk.curator, lambda _: None)


def person_turns(*sentences: str) -> list[TranscriptTurn]:
    return [TranscriptTurn("person", sentence, NOW) for sentence in sentences]


def transcript(folder: Path, *turns: tuple[str, str]) -> Path:
    path = folder / "transcript.jsonl"
    with path.open("a", encoding="utf-8") as file:
        for role, text in turns:
            entry = {
                "type": role,
                "message": {"role": role, "content": text},
                "timestamp": "2026-03-01T09:00:00Z",
            }
            file.write(json.dumps(entry) + "\n")
    return path


@pytest.mark.parametrize("client", CLIENTS)
def test_each_clients_transcript_tells_who_said_what_and_which_file_was_edited(client: str) -> None:
    turns = [turn for turn, _ in read_turns(RECORDED / f"{client}.transcript.jsonl")]
    assert {turn.speaker for turn in turns if turn.text} == {"person", "assistant"}
    assert not any("hook added" in turn.text for turn in turns)
    assert not any("environment_context" in turn.text for turn in turns)
    if client != "codex":  # the recorded session ran a command and edited nothing
        assert [Path(file).suffix for turn in turns for file in turn.files] != []


PATCH = "*** Begin Patch\n*** Update File: a.py\r\n*** Add File: b.py\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "arguments", "files"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "1"}, ("a.py",)),
        ("editFiles", {"files": ["a.py", "b.py"]}, ("a.py", "b.py")),
        ("multi_replace_string_in_file",
         {"replacements": [{"filePath": "a.py"}, {"filePath": "b.py"}, {"filePath": "a.py"}]},
         ("a.py", "b.py")),
        ("apply_patch", PATCH, ("a.py", "b.py")),
        ("apply_patch", {"input": PATCH}, ("a.py", "b.py")),
        ("apply_patch", json.dumps({"input": PATCH}), ("a.py", "b.py")),
        ("write_file", json.dumps({"path": "a.py"}), ("a.py",)),
        ("read_file", {"path": "a.py"}, ()),
        ("Edit", {"file_path": 7, "replacements": [None]}, ()),
        ("Edit", [], ()),
        (None, {"path": "a.py"}, ()),
    ],
)  # fmt: skip
def test_the_files_that_a_call_edits_are_recognised_in_the_form_of_each_client(
    tool: object, arguments: object, files: tuple[str, ...]
) -> None:
    assert edited_files(tool, arguments) == files
    if tool is not None and isinstance(arguments, dict):
        sent = {"session_id": "s", "tool_name": tool, "tool_input": arguments}
        assert read_call("vscode", "PreToolUse", json.dumps(sent).encode()).touched == files


@pytest.mark.parametrize(
    ("text", "spoken_text"),
    [
        ("<task-notification>\n<status>done</status>\n</task-notification>", ""),
        ("Look.\n<some_new_thing a='b'>of a client</some_new_thing>\nThere.", "Look.\n \nThere."),
        ("Put a <my-button> into <main> and close </main>.", None),
        ("<system-reminder>never closed", ""),
    ],
)
def test_what_clients_add_to_a_prompt_is_not_what_was_said(
    text: str, spoken_text: str | None
) -> None:
    assert spoken(text) == (text if spoken_text is None else spoken_text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<bash-stdout>a\n</bash-stdout>\nI like spam.\n</bash-stdout>", ""),
        ("Look.\n<task-notification>a</task-notification> I like spam.</task-notification>", "Look."),
        ("<attached_files><user_query>I like spam.</user_query></attached_files>\n"
         "<user_query>\nWhat is this?\n</user_query>", "What is this?"),
        ("<bash-stdout>a</bash-stdout>\nI like spam.\n<bash-stdout>b</bash-stdout>", ""),
        ("  <bash-stdout>cut off", ""),
        ("<attached_files>a</attached_files> <user_query></user_query>", ""),
        ("I like tea.\n<private and no end", "I like tea."),
    ],
)  # fmt: skip
def test_the_output_of_a_tool_cannot_end_what_the_client_added(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize("tag", ["system-reminder", "rules", "error-log"])
def test_words_between_two_texts_of_a_client_are_the_persons(tag: str) -> None:
    added = f"<{tag}>a</{tag}>"
    assert spoken(f"{added}\nI like tea.\n{added}\nAnd cake.") == "I like tea.\n \nAnd cake."


def test_a_comparison_begins_no_text_of_a_client() -> None:
    assert spoken("Is a <rules b? I like tea.") == "Is a <rules b? I like tea."


def test_what_a_client_says_in_its_models_place_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    message = {"role": "assistant", "model": "<synthetic>", "content": "No response requested."}
    path.write_text(json.dumps({"type": "assistant", "message": message}) + "\n")
    assert list(read_turns(path)) == []


def test_a_line_that_is_still_being_written_is_read_the_next_time(tmp_path: Path) -> None:
    path = transcript(tmp_path, ("user", "I live in Bergen these days."))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    (turn, end), *more = read_turns(path)
    assert turn.text == "I live in Bergen these days." and more == [] and end == len(whole)
    path.write_bytes(whole + whole)
    assert [turn.text for turn, _ in read_turns(path, end)] == ["I live in Bergen these days."]


DEEP = "[" * 100_000
CALL_OF_A_TOOL = {
    "type": "tool.execution_start",
    "data": {"toolName": "apply_patch", "arguments": DEEP},
}


@pytest.mark.parametrize("text", ["[\n" + DEEP, json.dumps(CALL_OF_A_TOOL) + "\n"])
def test_a_transcript_that_is_nested_too_deeply_yields_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.jsonl").write_text(text)
    assert list(read_turns(tmp_path / "t.jsonl")) == []


@given(st.binary(max_size=400))
def test_bytes_that_are_no_transcript_yield_nothing_and_no_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(data)
    assert list(read_turns(path)) == []


@given(st.text(max_size=40), st.text(alphabet="abc <>/\n", max_size=30), st.text(max_size=40))
def test_text_in_private_marks_is_never_read(before: str, hidden: str, after: str) -> None:
    secret = f"xq{hidden}qx"
    assert secret not in without_private(f"{before}<private>{secret}</private>{after}")
    assert secret not in without_private(f"{before}<PRIVATE>{secret}")


def test_a_decision_keeps_its_reason_and_its_speaker() -> None:
    turns = [
        TranscriptTurn(
            "assistant",
            "We decided to use SQLite for the cache. Because it needs no server, set-up stays short.",
        )
    ]
    (item,) = extract(turns)
    assert item.kind is ItemKind.DECISION and item.speaker == "assistant"
    assert "needs no server" in item.text


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Wir haben uns nach langem Hin und Her für PostgreSQL entschieden.", ItemKind.DECISION),
        ("Ab sofort bauen wir jeden Montag eine neue Fassung.", ItemKind.DECISION),
        ("Nous avons finalement décidé de garder le serveur à Lyon.", ItemKind.DECISION),
        ("Hemos decidido usar tarifas planas para los clientes.", ItemKind.DECISION),
        ("来週から新しいサーバーを使うことにしました。", ItemKind.DECISION),
        ("Ich bevorzuge kurze Antworten ohne Aufzählungen.", ItemKind.PREFERENCE),
        ("Je préfère les réponses courtes et sans listes.", ItemKind.PREFERENCE),
        ("Prefiero las respuestas cortas y sin listas.", ItemKind.PREFERENCE),
        ("短い答えのほうがいいです、箇条書きは要りません。", ItemKind.PREFERENCE),
        ("Es ist noch nicht entschieden, wer den Umzug bezahlt.", ItemKind.OPEN_QUESTION),
        ("Ce n'est pas encore clair qui paie le déménagement.", ItemKind.OPEN_QUESTION),
        ("El presupuesto de la mudanza sigue pendiente de Ana.", ItemKind.OPEN_QUESTION),
        ("引っ越しの費用は未定なので、アナに聞きます。", ItemKind.OPEN_QUESTION),
        ("Das Büro liegt im dritten Stock neben der Bäckerei.", ItemKind.FACT),
        ("会議室は三階のパン屋の隣にあります。", ItemKind.FACT),
    ],
)
def test_what_marks_a_sentence_is_known_in_five_languages(sentence: str, kind: ItemKind) -> None:
    (item,) = extract([TranscriptTurn("person", sentence)])
    assert (item.kind, item.text) == (kind, sentence)


@pytest.mark.parametrize(
    ("said", "old"),
    [
        ("We moved from Jenkins to Buildkite in spring.", "jenkin"),
        ("We write the guide in AsciiDoc instead of Markdown.", "markdown"),
        ("Use AsciiDoc instead of Markdown.", "markdown"),
        ("We no longer support Ubuntu.", "ubuntu"),
        ("We dropped Ubuntu because nobody uses it.", "ubuntu"),
        ("The port is not 8080 but 8443.", "8080"),
        ("Wir sind von Jenkins auf Buildkite umgestiegen.", "jenkin"),
        ("Wir nehmen jetzt Matrix statt Slack.", "slack"),
        ("Wir nutzen kein Slack mehr.", "slack"),
        ("Nous sommes passés de Jenkins à Buildkite.", "jenkin"),
        ("Nous utilisons Matrix au lieu de Slack.", "slack"),
        ("Nous n'utilisons plus Slack.", "slack"),
        ("Hemos pasado de Jenkins a Buildkite.", "jenkin"),
        ("Usamos Matrix en lugar de Slack.", "slack"),
        ("Ya no usamos Slack en la oficina.", "slack"),
        ("JenkinsからBuildkiteに移行しました。", "jenkin"),
    ],
)
def test_a_change_of_mind_is_a_decision_and_names_what_it_replaces(said: str, old: str) -> None:
    (item,) = extract([TranscriptTurn("person", said)])
    assert item.kind is ItemKind.DECISION
    assert any(old in words for words in replaced_choices(said))


@pytest.mark.parametrize(
    "said",
    [
        "I moved to Bergen in May.",
        "My sister moved from Ghent to Bergen.",
        "The old link no longer works.",
        "It is not fast but quite cheap to run.",
        "Das ist nicht nur schnell, sondern auch billig.",
        "We walked from the harbour to the mill.",
    ],
)
def test_a_remark_about_what_was_before_is_no_decision(said: str) -> None:
    (item,) = extract([TranscriptTurn("person", said)])
    assert item.kind is ItemKind.FACT


def test_an_assistants_echo_and_its_next_step_are_no_decisions() -> None:
    turns = [
        TranscriptTurn("person", "From now on we write the guide in AsciiDoc. Who hosts the wiki?"),
        TranscriptTurn(
            "assistant", "Noted: the guide in AsciiDoc from now on. You decided on Hugo last year."
        ),
        TranscriptTurn(
            "assistant", "I'll use the old theme for the first page. Anna hosts the wiki."
        ),
    ]
    kinds = {item.text: item.kind for item in extract(turns)}
    assert list(kinds.values()).count(ItemKind.DECISION) == 1
    assert kinds["Anna hosts the wiki."] is ItemKind.REPORT
    assert not any(text.startswith(("Noted", "I'll use")) for text in kinds)


def test_what_a_removed_secret_leaves_is_kept_only_if_it_says_something() -> None:
    key = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e"
    items = list(extract(person_turns(
        f"The API key is {key}.",
        f"The nightly import of the tide tables fails without the key {key}.",
    )))  # fmt: skip
    assert [item.text.split()[1] for item in items] == ["nightly"]


def test_what_a_person_says_is_recognised() -> None:
    items = extract(
        person_turns(
            "I moved to Bergen in May. I prefer tabs over spaces. Please fix the failing test in the parser.",
            "It is not yet clear whether we keep Redis.",
            "thanks, go on",
        )
    )
    assert [item.kind for item in items] == [
        ItemKind.FACT, ItemKind.PREFERENCE, ItemKind.REQUEST, ItemKind.OPEN_QUESTION,
    ]  # fmt: skip


def test_code_logs_and_narration_are_not_kept() -> None:
    text = "Let me look at the file.\n\n```py\nsecret_plan = 'x'\n```\n2026-01-01T00:00:00 ERROR boom\n| a | b |"
    assert list(extract([TranscriptTurn("assistant", text)])) == []


@pytest.mark.parametrize(
    "text", ["thanks", "go on", "ok, sounds good", "LGTM, ship it", "Yes please!", "👍"]
)
def test_an_acknowledgement_says_little(text: str) -> None:
    assert says_little(text)


def test_the_note_is_a_session_of_the_client_and_holds_no_links_or_tags_of_the_transcript() -> None:
    items = list(
        extract(person_turns("We decided on [[Old plan]] and #urgent work, status:: done."))
    )
    composed = new_note(SESSION, items, [], NOW)
    assert composed is not None
    path, data = composed
    note = parse_note(path, data)
    assert note.frontmatter["type"] == "session" and note.frontmatter["source"] == "claude-code"
    assert note.links == () and note.tags == () and note.fields == ()


def test_a_session_goes_to_the_chosen_folder(
    desk: Desk, capturer: Capturer, tmp_path: Path
) -> None:
    desk.vault.folders = NoteFolders("AI")
    path = transcript(tmp_path, ("user", "I moved to Bergen in May."))
    captured = capturer.capture(SESSION, path, CaptureProgress()).progress
    assert str(captured.path).startswith(f"AI/sessions/{local(NOW)[:10]}/")


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process is set on POSIX only")
def test_a_session_is_named_by_the_day_and_time_of_the_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        evening = datetime(2026, 3, 1, 20, 30, tzinfo=UTC)
        turn = TranscriptTurn("person", "I moved to Bergen in May.", evening)
        composed = new_note(SESSION, list(extract([turn])), [], evening)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert composed is not None
    assert composed[0].startswith("sessions/2026-03-02/")
    assert composed[0].endswith("2026-03-02 05.30.md")


def test_a_second_capture_adds_what_is_new_and_nothing_else(
    desk: Desk, capturer: Capturer, tmp_path: Path
) -> None:
    path = transcript(tmp_path, ("user", "I moved to Bergen in May."))
    first = capturer.capture(SESSION, path, CaptureProgress())
    transcript(tmp_path, ("user", "I moved to Bergen in May."), ("user", "My dog is called Rex."))
    second = capturer.capture(SESSION, path, first.progress)
    assert first.progress.path == second.progress.path is not None
    text = desk.read(second.progress.path)
    assert text.count("Bergen") == 1 and "My dog is called Rex." in text
    assert capturer.capture(SESSION, path, second.progress).change is None


def test_a_capture_that_was_cut_off_is_repeated_without_doubling(
    desk: Desk, capturer: Capturer, tmp_path: Path
) -> None:
    path = transcript(tmp_path, ("user", "I moved to Bergen in May."))
    first = capturer.capture(SESSION, path, CaptureProgress())
    again = capturer.capture(SESSION, path, CaptureProgress())  # as if the progress had been lost
    assert again.progress == first.progress and again.change is None
    assert len(list((desk.root / "sessions").rglob("*.md"))) == 1


def test_what_the_person_edits_in_the_note_stays(
    desk: Desk, capturer: Capturer, tmp_path: Path
) -> None:
    path = transcript(tmp_path, ("user", "I moved to Bergen in May."))
    first = capturer.capture(SESSION, path, CaptureProgress())
    note = first.progress.path
    assert note is not None
    edited = desk.read(note).replace("in May", "in June") + "\n## My own\r\n\r\nA line of mine.\r\n"
    desk.write(note, edited)
    transcript(tmp_path, ("user", "My dog is called Rex."))
    capturer.capture(SESSION, path, first.progress)
    changed = desk.root.joinpath(note).read_bytes().decode()
    assert changed.replace("- My dog is called Rex.\n", "") == edited


def test_a_note_that_the_person_removed_is_not_written_again(
    desk: Desk, capturer: Capturer, tmp_path: Path
) -> None:
    path = transcript(tmp_path, ("user", "I moved to Bergen in May."))
    first = capturer.capture(SESSION, path, CaptureProgress())
    assert first.progress.path is not None
    (desk.root / first.progress.path).unlink()
    transcript(tmp_path, ("user", "My dog is called Rex."))
    assert capturer.capture(SESSION, path, first.progress).change is None
    assert not (desk.root / first.progress.path).exists()


def test_a_capture_can_be_taken_back(desk: Desk, capturer: Capturer, tmp_path: Path) -> None:
    path = transcript(tmp_path, ("user", "I moved to Bergen in May."))
    captured = capturer.capture(SESSION, path, CaptureProgress())
    assert captured.change is not None
    history = desk.curator.history.change(captured.change)
    assert history.client == "claude-code" and history.kind == "captured"


def test_a_full_disk_loses_nothing(
    desk: Desk, capturer: Capturer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = transcript(tmp_path, ("user", "I moved to Bergen in May."))
    with monkeypatch.context() as full:
        full.setattr(desk.vault, "create_at", _full)
        with pytest.raises(DiskFull):
            capturer.capture(SESSION, path, CaptureProgress())
    assert capturer.capture(SESSION, path, CaptureProgress()).change is not None


def _full(path: str, data: bytes) -> bool:
    raise DiskFull("The disk is full")


SENTENCES = st.lists(st.text(alphabet="abcdef ghij.klmno", min_size=12, max_size=60), max_size=5)


@given(SENTENCES, SENTENCES)
def test_extending_only_inserts_lines(first: list[str], second: list[str]) -> None:
    composed = new_note(SESSION, list(extract(person_turns("The start is made.", *first))), [], NOW)
    assert composed is not None
    path, data = composed
    items = list(extract(person_turns(*second)))
    longer = extended_note(SESSION, path, data, items, ["a.py"])
    remaining = iter(longer.splitlines())
    assert all(line in remaining for line in data.splitlines())  # in order
    assert extended_note(SESSION, path, longer, items, ["a.py"]) == longer


def test_a_session_captured_again_from_its_start_keeps_its_note_apart_from_another_sessions(
    desk: Desk, capturer: Capturer, tmp_path: Path
) -> None:
    path = transcript(tmp_path, ("user", "We decided to build only on Mondays."))
    sessions = [
        CapturedSession("claude-code", key, "/home/ada/aurora", "aurora") for key in ("s-1", "s-2")
    ]
    for session in [*sessions, *sessions]:
        capturer.capture(session, path, CaptureProgress())
    assert [each.rpartition("/")[2] for each in sorted(desk.tree())] == [
        f"aurora {local(NOW)} 2.md", f"aurora {local(NOW)}.md",
    ]  # fmt: skip


def test_sessions_of_several_days_have_different_file_names_so_that_links_find_them() -> None:
    times = [NOW, NOW + timedelta(days=1)]
    items = [
        next(iter(extract([TranscriptTurn("person", "I moved to Bergen.", at)]))) for at in times
    ]
    notes = [new_note(SESSION, [item], [], NOW) for item in items]
    names = [Path(note[0]).name for note in notes if note is not None]
    assert names == [f"aurora {local(at)}.md" for at in times]
