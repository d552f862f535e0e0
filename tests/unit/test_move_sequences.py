"""Any sequence of moves and undos in any vault: links lead where they led, and bytes come back."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memvault.curation.changes.undo import undoable
from memvault.model.errors import InvalidParams, NoteConflict, NoteNotFound
from memvault.vault.documents import document_text, is_canvas
from memvault.vault.links import LinkIndex
from memvault.vault.parse import parse_note
from tests.desk import Desk
from tests.property_examples import slow_property

FOLDERS = ("", "a", "a/b", "b", "日本", "projects/kelp", "permanent", "it's (new)")
STEMS = ("Plan", "plan", "Ada Berg", "記憶", "café", "v1.2", "Rock & roll, 50%")
SHAPES = (
    "[[{}]]", "[[{}|x y]]", "![[{}]]", "[[{}#Aim]]", "[[{}#^b|x]]", "rel:: [[{}]]", "`[[{}]]`",
    "- [ ] [[{}]] 📅 2026-03-01", "> [[{}]]\r", "| [[{}\\|x]] | b |\n| --- | --- |",
    "%% [[{}]] %%", "[x]({}.md)", "[x](<{}.md>)", "![x]({}.md#Aim)",
)  # fmt: skip
BOARDS = ("Board.canvas", "a/Board.canvas", "日本/Board.canvas")
paths = st.builds(
    lambda folder, stem: f"{folder}/{stem}.md".lstrip("/"),
    st.sampled_from(FOLDERS), st.sampled_from(STEMS),
)  # fmt: skip


@st.composite
def _lines(draw: st.DrawFn) -> str:
    shape, path = draw(st.sampled_from(SHAPES)), draw(paths).removesuffix(".md")
    starts = st.sampled_from(["", "", "./", "/", "../"])
    target = draw(st.sampled_from([path.rpartition("/")[2], draw(starts) + path]))
    spaced = target.replace("%", "%25").replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    return shape.format(spaced if "](" in shape and "<" not in shape else target)


_aliases = st.sampled_from(["", "---\naliases: [Plan, the jars]\nlead: '[[Plan]]'\n---\n"])
_notes = st.builds(
    lambda head, lines: (head + "\n\n".join(lines) + "\n").encode(),
    _aliases, st.lists(_lines(), max_size=4),
)  # fmt: skip


@st.composite
def _canvases(draw: st.DrawFn) -> bytes:
    card = st.one_of(
        st.builds(lambda path: {"type": "file", "file": path, "x": 1.5}, paths),
        st.builds(lambda lines: {"text": "\n\n".join(lines), "type": "text"}, st.lists(_lines())),
    )
    nodes = draw(st.lists(card, max_size=4))
    style = {"ensure_ascii": draw(st.booleans()), "indent": draw(st.sampled_from([None, "\t", 1]))}
    text = json.dumps({"nodes": nodes, "edges": []}, **style)
    text = text.replace("/", "\\/") if draw(st.booleans()) else text
    ends = draw(st.sampled_from([("", ""), ("\ufeff", "\r\n"), ("", "}")]))  # the last is no JSON
    return text.join(ends).encode()


vaults = st.builds(
    lambda notes, boards: notes | boards,
    st.dictionaries(paths, _notes, min_size=2, max_size=6),
    st.dictionaries(st.sampled_from(BOARDS), _canvases(), max_size=2),
)
_folders = st.sampled_from(FOLDERS)
steps = st.one_of(
    st.tuples(st.just("move"), st.integers(0, 9), paths | _folders),
    st.tuples(st.just("move"), st.integers(0, 9), paths | _folders),
    st.tuples(st.just("move folder"), _folders, _folders | st.sampled_from(["a/", "new", "b/new"])),
    st.tuples(st.just("undo"), st.integers(0, 9), st.just("")),
)


class Moving:
    """A vault in which notes move; each is known by its first path."""

    def __init__(self, root: Path, files: Mapping[str, bytes]) -> None:
        self.desk = Desk(root)
        for path, data in files.items():
            self.desk.write(path, data)
        self.before = self.bytes()
        self.places = {path: path for path in self.before}  # first path → path now
        self.led = self.leads()

    def bytes(self) -> dict[str, bytes]:
        files = (file for file in self.desk.root.rglob("*") if file.is_file())
        found = {file.relative_to(self.desk.root).as_posix(): file.read_bytes() for file in files}
        return {path: data for path, data in found.items() if not path.startswith(".")}

    def leads(self) -> dict[str, list[str | None]]:
        """What each link leads to, by first paths; of a canvas those in its text cards."""
        first = {path: note for note, path in self.places.items()}
        data, index = self.bytes(), LinkIndex()
        parsed = {
            path: parse_note(path, _text_cards(path, each) if is_canvas(path) else each)
            for path, each in data.items()
        }
        for path, note in parsed.items():
            index.add(path, note.aliases)
        return {
            first[path]: [
                first.get(index.resolve(link.target, path) or "")
                for link in note.links
                if link.target
            ]
            for path, note in parsed.items()
        }

    def shown(self) -> dict[str, list[str | None]]:
        """The note of each file card of the canvases that are valid JSON, by first paths."""
        first = {path: note for note, path in self.places.items()}
        found: dict[str, list[str | None]] = {}
        for path, data in self.bytes().items():
            if is_canvas(path) and not data.endswith(b"}}"):
                cards = json.loads(data.decode("utf-8-sig"))["nodes"]
                found[path] = [first.get(card["file"]) for card in cards if "file" in card]
        return found

    def do(self, step: tuple[str, int | str, str]) -> None:
        kind, what, destination = step
        if kind == "undo":
            changes = self._undoable()
            if changes:
                self.undo(changes[int(what) % len(changes)])
            return
        try:
            if kind == "move":
                notes = sorted(path for path in self.bytes() if not is_canvas(path))
                done = self.desk.move(notes[int(what) % len(notes)], destination or "/")
            else:
                done = self.desk.move_folder(str(what), destination or "/")
        except (InvalidParams, NoteConflict, NoteNotFound):
            return
        self._follow(dict(done.plan.moves))

    def undo(self, reversal_hash: str) -> None:
        undone = self.desk.undo([reversal_hash])
        self._follow(dict(undone.plan.moves) if undone.change else {})

    def undo_all(self) -> None:
        """Undo the last change until none is left."""
        while changes := self._undoable():
            self.undo(changes[0])

    def _undoable(self) -> list[str]:
        return undoable(self.desk.curator.history.changes(limit=None))

    def _follow(self, moves: Mapping[str, str]) -> None:
        self.places = {note: moves.get(path, path) for note, path in self.places.items()}

    def check(self) -> None:
        for path, links in self.leads().items():
            led = self.led[path]
            assert [now for now, was in zip(links, led, strict=True) if was] == [
                was for was in led if was
            ], path
        now = self.bytes()
        for path, data in self.before.items():
            if not is_canvas(path):
                assert _without_links(now[self.places[path]]) == _without_links(data)


def _text_cards(path: str, data: bytes) -> bytes:
    """The text of a canvas without its file cards, which show the note of exactly one path."""
    return document_text(path, re.sub(rb'"type":\s*"file"', b'"type": "group"', data))


def _without_links(text: bytes) -> bytes:
    return re.sub(rb"\[\[.*?\]\]|\]\((?:<.*?>|.*?\))|project: .*|lifecycle: .*", b"", text)


@slow_property(few=60)
@given(vaults, st.lists(steps, max_size=6))
def test_after_any_moves_and_undos_all_links_lead_where_they_led_and_every_byte_comes_back(
    files: dict[str, bytes], wanted: list[tuple[str, int | str, str]]
) -> None:
    memory = Path("/dev/shm")  # flushing thousands of files takes minutes elsewhere
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as home:
        vault = Moving(Path(home), files)
        shown = vault.shown()
        for step in wanted:
            vault.do(step)
            vault.check()
            after = vault.shown()
            for board, cards in shown.items():
                assert all(was in (None, now) for now, was in zip(after[board], cards, strict=True))
        vault.undo_all()
        assert vault.bytes() == vault.before
