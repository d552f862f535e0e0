"""The text of a note, with the spans that edits replace.

A section is the text below a heading, up to the next heading of the same or a higher level.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice

from memvault.model.errors import InvalidParams, NoteConflict
from memvault.model.note import ParsedNote
from memvault.model.unicode_forms import as_written, without_invisible
from memvault.vault.compose import closed_note, storable_text
from memvault.vault.frontmatter.yaml_text import malformed_line
from memvault.vault.lines import bare_lines, lines_of, newline_of, note_text
from memvault.vault.markdown.plugins import split_anchor
from memvault.vault.parse import frontmatter_of, parse_note
from memvault.vault.plugin_data import hidden_parts, is_board, split_plugin_data
from memvault.vault.readable import sentences

MAX_SHOWN = 10  # headings, lines or parts that an error lists
MAX_LINE = 300  # characters of a line that an error quotes
MAX_PART = 40  # characters of such a part
HIDES_REST = (
    "The text opens a comment or code that it does not close (%%, <!-- or ```), which would hide "
    "what follows it; close it"
)

_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\s*$")
_COMPLETE = "**Complete**"  # at the start of a list of a board, whose cards are done
_HEADING_MARKS = re.compile(r"^#{1,6}[ \t]+|(?<![ \t])[ \t]+#+[ \t]*$")

Replacement = tuple[int, int, str]  # the start and end of a span, and its new text


class EditableText:
    """The text of a note with its lines and headings."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.text = note_text(path, data)
        self.newline = newline_of(self.text)
        self.lines = lines_of(self.text)
        self._text_lines = len(lines_of(split_plugin_data(self.text)[0]))
        self.parsed: ParsedNote = parse_note(path, data)

    def with_line_endings(self, content: str) -> str:
        """The content with the line endings of the note."""
        return content.replace("\n", self.newline)

    def appending(self, content: str, section: str | None) -> Replacement:
        """The replacement that adds the content at the end of the section or of the note."""
        self._check_board(content, section)
        line = self._text_lines if section is None else self.section_end(self._heading(section))
        at = self._offset(line)
        above = self.text[:at]
        ended = self._ended(above if self.text[at:].strip() else closed_note(above))
        is_same_list = ended == self._ended(above) and self._continues_list(line, content)
        is_below_text = any(each.strip() for each in bare_lines(ended)[-2:])
        gap = self.newline if is_below_text and not is_same_list else ""
        return at, at, ended[at:] + gap + self._block(content)

    def prepending(self, content: str, section: str | None) -> Replacement:
        """The replacement that adds the content below the heading of the section or the title."""
        if is_board(self.parsed.frontmatter):
            raise InvalidParams(f"{self.path} is a Kanban board: append a card to one of its lists")
        body = self.parsed.body_line - 1
        title = title_line(self.parsed, self.lines)
        line = self._heading(section) if section is not None else title or body
        is_below_heading = line > body
        while is_below_heading and line < len(self.lines) and not self.lines[line].strip():
            line += 1
        at = self._offset(line)
        before = "" if self._ends_line(at) else self.newline
        if is_below_heading and self.lines[line - 1].strip():
            before += self.newline
        after = self.newline if line < len(self.lines) else ""
        return at, at, before + self._block(content) + after

    def replacing_section(
        self, content: str, section: str | None, expected: str | None
    ) -> Replacement:
        """The replacement of all text of a section, whose text must still be as expected.

        Raises:
            NoteConflict: there is no such section, several, or it has another text by now; or the
                content lacks a part that answers do not show, unless all text was expected.
        """
        if not section:
            raise InvalidParams("replace_section needs the section's heading", parameter="section")
        heading = self._heading(section)
        first, last = heading, self.section_end(heading)
        while first < last and not self.lines[first].strip():
            first += 1
        start, end = self._offset(first), self._offset(last)
        current = self.text[start:end]
        if self._is_above_rule(last):  # a client may have read the rule as the section's
            content = _without_last_rule(content)
            expected = expected and _without_last_rule(expected)
        if expected is not None and _plain(current) != _plain(expected):
            raise NoteConflict(
                f"The section {section!r} of {self.path} has another text by now",
                path=self.path, current=current,
            )  # fmt: skip
        head, _, below_heading = content.partition(self.newline)
        its_keys = map(_heading_key, (section, self.lines[heading - 1]))
        if _HEADING_MARKS.match(head) and _heading_key(head) in its_keys:
            content = below_heading  # the heading stays as it is
        if expected is None:
            self._check_keeps_hidden(current, content, section)
        block = content.strip("\r\n")
        if block:
            self._check_board(block.removeprefix(_COMPLETE).lstrip(), section)
        if first == last:  # nothing below the heading yet
            before = "" if self._ends_line(start) else self.newline
            return start, end, f"{before}{self.newline}{block}{self.newline}"
        return start, end, block + (self.newline if current.endswith(("\n", "\r")) else "")

    def _check_board(self, content: str, section: str | None) -> None:
        """Refuse text that the plugin Kanban would remove: it keeps only cards in lists."""
        if not is_board(self.parsed.frontmatter):
            return
        if section is None or not _LIST_ITEM.match(content):
            headings = [heading.text for heading in self.parsed.headings[:MAX_SHOWN]]
            lists = ", ".join(headings) or "it has none yet"
            raise InvalidParams(
                f"{self.path} is a Kanban board, whose plugin removes text outside its lists: "
                f"give cards as list items (- [ ] …), with the list as `section` ({lists})"
            )

    def _check_keeps_hidden(self, current: str, content: str, section: str) -> None:
        """Refuse to remove what the client may not have seen."""
        kept = _plain(content)
        shown = "\n".join(block.text for block in self.parsed.blocks)  # with marks in inline code
        hidden = (each for each in hidden_parts(current) if each[0] == "^" or each not in shown)
        lost = list(islice((part for part in hidden if _plain(part) not in kept), MAX_SHOWN))
        if lost:
            raise NoteConflict(
                f"The section {section!r} of {self.path} has parts that answers do not show "
                f"({_listed(lost)}); keep them in the new text, change the rest with "
                "replace_text, or give all of the section's text as `find` to remove them",
                path=self.path, current=current,
            )  # fmt: skip

    def span_of(self, find: str | None) -> tuple[int, int]:
        """The start and end of a text that occurs once in the body."""
        text = self.with_line_endings(storable_text(find or ""))
        if not text.strip():
            raise InvalidParams("replace_text needs the text to find", parameter="find")
        body = self._offset(self.parsed.body_line - 1)
        count = self.text.count(text, body)
        if text == without_invisible(text):  # answers leave out invisible characters
            count = without_invisible(self.text[body:]).count(text)
        if self.text.find(text, body) < 0:
            text = as_written(self.text[body:], text) or text
        start = self.text.find(text, body)
        if start < 0:
            nearest = self._nearest_lines(text)
            # Whole, so that what is in quarantine is recognised in the message.
            short = next((line for line in nearest if len(line) <= MAX_LINE), None)
            hint = f"; the nearest line is: {short}" if short is not None else ""
            raise NoteConflict(
                f"{self.path} does not contain the text to replace{hint}", path=self.path,
                nearest=nearest,
            )  # fmt: skip
        if count > 1:
            raise NoteConflict(
                f"{self.path} contains the text to replace {count} times; give more of the text "
                "around it", path=self.path, count=count,
            )  # fmt: skip
        return start, start + len(text)

    def check_takes(self, text: str) -> None:
        """Check that a text may be written into the note.

        Raises:
            MalformedFrontmatter: the note's properties cannot be read.
            InvalidParams: the text would be in another encoding than the note.
        """
        if (problem := self.parsed.frontmatter_problem) is not None:
            raise malformed_line(problem.line - 2, problem.message)
        if not text.isascii() and not _is_utf8(self.data):
            raise InvalidParams(
                f"{self.path} is not in UTF-8, so that other letters than English ones cannot be "
                "added to it; save it as UTF-8 in an editor, then try again",
                path=self.path,
            )

    def replaced(self, start: int, end: int, after: str) -> bytes:
        """The note's bytes with this span replaced.

        Raises:
            MalformedFrontmatter, InvalidParams: see `check_takes`; also if the text would become
                part of the frontmatter.
        """
        self.check_takes(after)
        changed = (self.text[:start] + after + self.text[end:]).encode("utf-8", "surrogateescape")
        if frontmatter_of(changed) != frontmatter_of(self.data):
            raise InvalidParams("The text would become properties of the note; use set_property")
        return changed

    def new_sentences(self, start: int, end: int, after: str) -> str:
        """The whole sentences that are new in the note once this span is replaced."""
        line_start = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        line_end = self.text[end:].partition("\n")[0]
        old_sentences = set(sentences(self.text))
        changed = sentences(line_start + after + line_end)
        return "\n".join(sentence for sentence in changed if sentence not in old_sentences)

    def section_end(self, heading: int) -> int:
        """The number of lines up to the end of a section, without blank lines at its end, the
        rule that separates it from the next one, and the data of a plugin.

        Args:
            heading: the line of the section's heading, counted from 1.
        """
        level = next(other.level for other in self.parsed.headings if other.line == heading)
        next_headings = (
            other.line - 1
            for other in self.parsed.headings
            if other.line > heading and other.level <= level
        )
        following = next(next_headings, None)
        end = self._above_blank_lines(heading, following or self._text_lines)
        if following and self._is_rule(end - 1) and end - 1 > heading:
            end = self._above_blank_lines(heading, end - 1)
        return end

    def _is_above_rule(self, end: int) -> bool:
        """Whether the first text below the end of a section is a rule."""
        below = (k for k in range(end, self._text_lines) if self.lines[k].strip())
        return (line := next(below, None)) is not None and self._is_rule(line)

    def _above_blank_lines(self, first: int, line: int) -> int:
        while line > first and not self.lines[line - 1].strip():
            line -= 1
        return line

    def _is_rule(self, line: int) -> bool:
        """Whether a line, counted from 0, is a rule; one below text may be a heading's mark."""
        return _RULE.match(self.lines[line]) is not None and not self.lines[line - 1].strip()

    def _heading(self, section: str) -> int:
        key = _heading_key(section)
        matching = [
            heading
            for heading in self.parsed.headings
            if key == _heading_key(heading.text)
            or (heading.anchor and key == f"#{heading.anchor}".casefold())
        ]
        if len(matching) == 1:
            return matching[0].line
        headings = [heading.text for heading in self.parsed.headings][:MAX_SHOWN]
        problem = f"has {len(matching)} sections" if matching else "has no section"
        raise NoteConflict(
            f"{self.path} {problem} {section!r}; its headings are {', '.join(headings) or 'none'}",
            path=self.path, headings=headings,
        )  # fmt: skip

    def _offset(self, line: int) -> int:
        return sum(map(len, self.lines[:line]))

    def _ends_line(self, at: int) -> bool:
        return at == 0 or self.text[at - 1] in "\r\n"

    def _ended(self, text: str) -> str:
        return text if not text or text[-1] in "\r\n" else text + self.newline

    def _block(self, content: str) -> str:
        return content.strip("\r\n") + self.newline

    def _continues_list(self, line: int, content: str) -> bool:
        """Whether both the content and the line before it are list items."""
        is_item = _LIST_ITEM.match(content) is not None
        return is_item and line > 0 and _LIST_ITEM.match(self.lines[line - 1]) is not None

    def _nearest_lines(self, text: str) -> list[str]:
        lines = [line.strip() for line in self.lines[self.parsed.body_line - 1 :] if line.strip()]
        return get_close_matches(text.strip().split(self.newline)[0], lines, 3, cutoff=0.4)


def title_line(note: ParsedNote, lines: Sequence[str]) -> int | None:
    """The line of the heading ``# …`` that begins the body, counted from 1; None without one."""
    first = note.headings[0] if note.headings else None
    if first is None or first.level != 1:
        return None
    is_first = not any(line.strip() for line in lines[note.body_line - 1 : first.line - 1])
    return first.line if is_first and lines[first.line - 1].lstrip().startswith("#") else None


def _without_last_rule(text: str) -> str:
    """A text without the rule that is its last line, below an empty one."""
    lines = lines_of(text.rstrip())
    is_rule = lines and _RULE.match(lines[-1]) and not "".join(lines[-2:-1]).strip()
    return "".join(lines[:-1]) if is_rule else text


def _listed(parts: Sequence[str]) -> str:
    """The parts, each on one line and cut."""
    shown = [" ".join(part.split()) for part in parts]
    return ", ".join(part if len(part) <= MAX_PART else part[:MAX_PART] + "…" for part in shown)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _plain(text: str) -> str:
    visible = without_invisible(text)
    return "\n".join(line.rstrip() for line in bare_lines(visible.strip()))


def _heading_key(text: str) -> str:
    text, _anchor = split_anchor(without_invisible(text).strip())
    return " ".join(_HEADING_MARKS.sub("", text).split()).casefold()
