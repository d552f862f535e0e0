"""Lines are counted in one way: only CR and LF end a line, as in every editor."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memvault.curation.changes.plan import lines_changed
from memvault.vault.lines import bare_lines, ended_lines, lines_of
from memvault.vault.parse import parse_note

ROOT = Path(__file__).parents[2]
# Files that split the output of programs, the system's files or text for the terminal, not notes.
SPLIT_NO_NOTES = {
    "src/memvault/cli/ask.py",
    "src/memvault/cli/client_plugins.py",
    "src/memvault/cli/hooks.py",
    "src/memvault/stores/vectors/edge_shard.py",
    "src/memvault/text/encoders/export.py",
    "src/memvault/text/encoders/reranker.py",
    "src/memvault/text/encoders/torch_model.py",
    "mcp_server/engine/launcher.py",
    "mcp_server/security/peer_user.py",
}
SOURCES = ("src", "mcp_server", "indexer")
LINES = st.text(st.sampled_from("ab \r\n\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e"), max_size=40)


def test_no_code_splits_a_note_with_splitlines() -> None:
    files = [file for folder in SOURCES for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 300
    using = {
        file.relative_to(ROOT).as_posix() for file in files if ".splitlines(" in file.read_text()
    }
    assert using <= SPLIT_NO_NOTES, "use `bare_lines`, whose numbers are those of the parser"


@given(LINES)
def test_lines_with_and_without_their_endings_are_the_same(text: str) -> None:
    assert ended_lines(text) == [line.rstrip("\r\n") for line in lines_of(text)]
    assert bare_lines(text)[: len(ended_lines(text))] == ended_lines(text)


@given(LINES)
def test_the_parser_numbers_lines_in_the_same_way(text: str) -> None:
    text = f"{'text that is not binary, ' * 9}{text}\n\nlast words\n"
    note = parse_note("n.md", text.encode())
    lines = bare_lines(text)
    assert lines[note.blocks[-1].lines.last - 1] == "last words"


def test_a_changed_line_has_the_number_that_an_editor_shows() -> None:
    before = "one\u2028and more\ntwo\n"
    (change,) = lines_changed("n.md", before.encode(), before.replace("two", "2").encode())
    assert (change.line, change.before, change.after) == (2, "two", "2")
