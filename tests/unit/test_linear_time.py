"""Repeated marks in a text take time in proportion to its length."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memvault.capture.extract import Statements, extract
from memvault.capture.transcripts import TranscriptTurn, spoken
from memvault.curation.changes.change_entries import JournalPhase
from memvault.curation.changes.change_recorder import ChangeRecorder
from memvault.curation.changes.history import History
from memvault.curation.moved_paths import RENAMED, MovedPaths
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.editable_text import EditableText
from memvault.curation.tasks.dream_tasks import _NO_PLACE, MAX_LINE_CHARS
from memvault.curation.tasks.note_wording import Title, note_wording
from memvault.model.change import SYSTEM, Change, ChangeKind, FileChange
from memvault.model.errors import InvalidParams, NoteConflict
from memvault.model.memory import id_of_path
from memvault.model.note import ParsedNote
from memvault.search.question_names import unseen_names
from memvault.stores.vectors.languages import without_ending
from memvault.text.repeats import without_repeats
from memvault.text.secrets import find_secrets
from memvault.vault.file_names import safe_name
from memvault.vault.files import Vault
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.parse import parse_note
from memvault.vault.plugin_data import hidden_parts
from memvault.vault.readable import readable
from memvault.vault.version_store import VersionStore
from memvault.verification.claims.amount_parsing import amounts_in
from tests.timing import seconds_of

CHARS = 60_000  # of a memory that a client may store
SECONDS = 3.0  # hundreds of times what it takes; without the rule it takes minutes


@pytest.mark.parametrize("mark", ["[", "[[", "[[a", "![[a", "[a](", "[a]((a)", "[a|"])
def test_a_text_of_open_links_is_made_readable(mark: str) -> None:
    assert seconds_of(lambda: readable(f"kite {mark * (CHARS // len(mark))} end")) < SECONDS


@pytest.mark.parametrize("mark", ["> ", "- ", "1. ", "# ", "* ", "|", "| ", "# | "])
def test_a_line_of_markers_is_made_readable(mark: str) -> None:
    assert seconds_of(lambda: readable(mark * (CHARS // len(mark)) + "end")) < SECONDS


@pytest.mark.parametrize("space", [" ", "\t"])
def test_a_heading_of_spaces_is_looked_for(space: str) -> None:
    note = EditableText("Kite.md", b"# Kite\n\nIt is red.\n")

    def edit() -> None:
        with pytest.raises(NoteConflict):
            note.appending("It flies.", f"kite{space * CHARS}end")

    assert seconds_of(edit) < SECONDS


@pytest.mark.parametrize("mark", ["<% ", "<%\n", "> <%\n", "<!-- ", "%%a\n", "<div><br ", "^a\n"])
def test_a_note_of_open_commands_and_comments_is_read(mark: str) -> None:
    text = mark * (CHARS // len(mark))

    def read() -> None:
        parse_note("Kite.md", f"{text}\n\n%>".encode())
        hidden_parts(text)

    assert seconds_of(read) < SECONDS


@pytest.mark.parametrize("line", [f"kite{' ' * CHARS}end", f"((kite{'`' * CHARS}"])
def test_a_paragraph_of_spaces_or_of_signs_of_code_is_read(line: str) -> None:
    assert seconds_of(lambda: parse_note("Kite.md", f"It flies.\n{line}\n".encode())) < SECONDS


@pytest.mark.parametrize("words", ["a. b ", "e.g. b ", "3. b "])
def test_a_paragraph_of_stops_that_end_no_sentence_is_read(words: str) -> None:
    """The time doubles with the text; with the square of its length it would be four times."""

    def seconds(chars: int) -> float:
        data = (words * (chars // len(words))).encode()
        return seconds_of(lambda: parse_note("kite.md", data), times=3)

    assert seconds(4 * CHARS) < 3.0 * seconds(2 * CHARS)


def test_a_link_is_not_proposed_within_code_of_any_marks() -> None:
    line = "``a ` Kite`` `Kite` Kite"
    assert [line[slice(*span.span())] for span in _NO_PLACE.finditer(line)] == [
        "``a ` Kite``",
        "`Kite`",
    ]
    assert seconds_of(lambda: list(_NO_PLACE.finditer("`" * MAX_LINE_CHARS))) < SECONDS / 10


def test_closing_marks_of_a_heading_are_no_part_of_it() -> None:
    note = EditableText("Kite.md", b"# Kite  ##\n\nIt is red.\n")
    assert note.appending("It flies.", "kite ##")[2].strip() == "It flies."


@pytest.mark.parametrize("value", ["1 ", "1-1 ", "€1 ", "monthly 1 ", "2026 ", ",111", ".111"])
def test_a_line_of_numbers_is_searched_for_values(value: str) -> None:
    """A second of a busy processor for thousands of numbers; with the square, ten."""

    def seconds(chars: int) -> float:
        return seconds_of(lambda: amounts_in(value * (chars // len(value))), times=2)

    assert seconds(CHARS // 4) < 3.0 * seconds(CHARS // 8) + SECONDS / 60


@pytest.mark.parametrize("space", [" ", "\t"])
def test_a_line_of_spaces_is_compared_with_what_is_known(space: str) -> None:
    text = f"{space * 20_000}kite\n"
    assert seconds_of(lambda: without_repeats(text, ["It flies."])) < SECONDS


@pytest.mark.parametrize(
    "tag",
    ["<rules", "<rules ", "<a-b>\n", "<a-", "<private", "<user_query>", "</a ",
     "[Request interrupted by user"],
)  # fmt: skip
def test_a_prompt_of_open_tags_is_read(tag: str) -> None:
    assert seconds_of(lambda: spoken(tag * (CHARS // len(tag)))) < SECONDS


def test_a_prompt_of_different_open_tags_is_read() -> None:
    text = "".join(f"<a-{chr(97 + i % 26) * (i % 500 + 1)}>\n" for i in range(20_000))
    assert seconds_of(lambda: spoken(text)) < SECONDS


@pytest.mark.parametrize("unit", [".md", ".md.markdown", ". ", "a.md "])
def test_a_file_name_of_extensions_is_made_safe(unit: str) -> None:
    assert seconds_of(lambda: safe_name(unit * CHARS + "x")) < SECONDS


@pytest.mark.parametrize("sign", [".", "(", ". ", " ", "\u3000"])
def test_a_question_of_signs_is_searched_for_names(sign: str) -> None:
    question = f"kite {sign * (CHARS // len(sign))}"
    assert seconds_of(lambda: unseen_names(question, None, lambda _: False)) < SECONDS


def test_data_of_open_addresses_is_refused() -> None:
    def store() -> None:
        with pytest.raises(InvalidParams):
            Draft.checked(content_base64="data:" * CHARS, rationale="A kite in the sky.")

    assert seconds_of(store) < SECONDS


@pytest.mark.parametrize("mark", ["[[", "[[a", "[[a|", "[[a#"])
def test_a_note_of_open_links_is_compared_with_others(mark: str) -> None:
    data = (mark * (CHARS // len(mark))).encode()
    assert seconds_of(lambda: note_wording(Title("kite"), data)) < SECONDS


@pytest.mark.parametrize("unit", ["cookie:", "password: a ", "password:$", 'token: "a ', "PIN "])
def test_a_line_of_names_of_secrets_is_searched_for_secrets(unit: str) -> None:
    assert seconds_of(lambda: find_secrets(unit * (5 * CHARS // len(unit)))) < SECONDS


@pytest.mark.parametrize("unit", ["**a ", "__a ", "~~a ", "cookie:"])
def test_a_message_of_open_marks_is_captured(unit: str) -> None:
    turn = TranscriptTurn("person", unit * (CHARS // len(unit)))
    assert seconds_of(lambda: list(extract([turn]))) < SECONDS


def test_a_word_of_vowel_signs_loses_its_ending() -> None:
    word = f"\u0915{chr(0x93E) * CHARS}\u0915"
    assert seconds_of(lambda: without_ending(word)) < SECONDS
    assert without_ending("\u0915\u0915\u093e") == "\u0915\u0915"


def test_frontmatter_that_has_a_key_again_and_again_is_read() -> None:
    data = ("---\n" + "k: |\n" * CHARS + "---\nA kite.\n").encode()
    read: list[ParsedNote] = []
    assert seconds_of(lambda: read.append(parse_note("Kite.md", data))) < 2 * SECONDS
    (warning,) = read[0].warnings
    assert "in lines 2, 3, 4, 5, 6, … and 60001, and" in warning


def test_the_statements_of_a_long_session_are_compared_by_their_words() -> None:
    texts = [f"kite{n} shed{n * 7} lamp{n * 3}" for n in range(10_000)]
    stated = Statements(texts[:8_000])
    assert seconds_of(lambda: [stated.repeated_by(text) for text in texts[-2_000:]]) < SECONDS
    assert stated.repeated_by(f"the {texts[0]}") and not stated.repeated_by(texts[-1])


def test_the_earlier_paths_of_notes_are_read_only_from_what_is_new(tmp_path: Path) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    journal = Journal(Vault(tmp_path))
    moved = MovedPaths(journal)

    def rename(number: int) -> str:
        path = f"{number}.md"
        data = {"new_paths": {path: f"old/{path}"}, "ids": {path: id_of_path(path)}}
        entry = JournalEntry(ts=at, kind=RENAMED, actor=SYSTEM, data=data)
        journal.append(entry, flush=False)
        return moved.inherited_ids()[f"old/{path}"]

    assert seconds_of(lambda: [rename(number) for number in range(1_000)]) < SECONDS
    assert moved.inherited_ids()["old/7.md"] == id_of_path("7.md")


def test_the_versions_of_a_change_of_many_notes_are_looked_for_without_reading_all_of_it(
    tmp_path: Path,
) -> None:
    vault = Vault(tmp_path)
    journal, many = Journal(vault), [f"{number:032x}" for number in range(6_000)]
    change = Change(
        reversal_hash="f" * 32, kind=ChangeKind.EDITED, at=datetime(2026, 1, 1, tzinfo=UTC),
        actor=SYSTEM, files=tuple(FileChange(path=f"{k}.md", before=k, after=k) for k in many),
    )  # fmt: skip
    recorder = ChangeRecorder(journal, VersionStore(vault))
    for phase in (JournalPhase.BEGUN, JournalPhase.DONE):
        recorder.record(phase, change)
    history = History(vault, journal, VersionStore(vault))
    assert seconds_of(lambda: [history.content(version) for version in many]) < SECONDS
