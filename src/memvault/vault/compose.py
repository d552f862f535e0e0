"""Composes the text of notes: frontmatter, titles, and appended text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import yaml

from memvault.model.memory import DEFAULT_IMPORTANCE, IMPORTANCE_NAMES
from memvault.model.moments import iso_utc
from memvault.vault.frontmatter.fences import split_frontmatter
from memvault.vault.lines import CodeFences, bare_lines, lines_of, newline_of
from memvault.vault.markdown.labelled_sentences import sentence_starts
from memvault.vault.open_marks import closing_line
from memvault.vault.plugin_data import split_plugin_data
from memvault.vault.readable import plain_text

MAX_TITLE_CHARS = 80
MIN_TITLE_CHARS = 20  # after a shorter first sentence, the title continues

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>.+)")
_BACKTICKS = re.compile(r"`{3,}")
_RULE = re.compile(r" {0,3}([-*_=])[ \t]*(\1[ \t]*){2,}$")
_LIST_OR_QUOTE = re.compile(r"^\s*(?:>\s*(?:\[!\w+\][-+]?)?|[-*+]\s+(?:\[.\]\s+)?|\d{1,9}[.)]\s+)+")


class _Dumper(yaml.SafeDumper):
    """Writes YAML as people do: dates in ISO form, multi-line text as a block."""


class _Properties(dict[str, Any]):
    """The outermost mapping, always written with one key per line."""


def _represent_properties(dumper: yaml.SafeDumper, value: _Properties) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=False)


def _represent_datetime(dumper: yaml.SafeDumper, value: datetime) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:timestamp", iso_utc(value))


def _represent_str(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(_Properties, _represent_properties)
_Dumper.add_representer(datetime, _represent_datetime)
_Dumper.add_representer(str, _represent_str)
_Dumper.add_implicit_resolver(  # YAML 1.2 readers, such as Obsidian, read this text as a number
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def storable_text(text: str) -> str:
    """The text without lone surrogates and NUL, and with ``\\n`` line ends only."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\x00", "\ufffd").replace("\r\n", "\n").replace("\r", "\n")


def frontmatter(properties: Mapping[str, Any]) -> str:
    """The frontmatter block with its ``---`` lines; keys keep their order.

    Values may be text, numbers, booleans, dates, and lists and mappings of these. A list of plain
    values is written on one line.
    """
    text = yaml.dump(
        _Properties(properties),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=2**31 - 1,
    )
    return f"---\n{text}---\n"


def compose_note(properties: Mapping[str, Any], body: str) -> bytes:
    """A whole note, UTF-8, ending in one newline."""
    return (frontmatter(properties) + "\n" + body.strip("\n") + "\n").encode("utf-8")


def importance_word(importance: float) -> str | float | None:
    """The name of an importance, else the number; None for the default."""
    if importance == DEFAULT_IMPORTANCE:
        return None
    words = {value: word for word, value in IMPORTANCE_NAMES.items()}
    return words.get(importance, importance)


def first_heading(content: str) -> str | None:
    """The text of the heading at the start of the content, if any."""
    for line in bare_lines(content):
        if line.strip():
            match = _HEADING.match(line)
            return plain_text(_without_end(match["text"])) if match else None
    return None


def title_of(content: str) -> str:
    """A title for untitled text: its first heading, else its first sentence.

    At most `MAX_TITLE_CHARS`; a cut is made between words and marked by ``…``. Empty if the text
    has no words outside code.
    """
    line = _first_words(content)
    if not line:
        return ""
    ends = (start for start in sentence_starts(line) if start > MIN_TITLE_CHARS)
    line = line[: next(ends, None)].rstrip().rstrip(" .。:;,")
    if len(line) <= MAX_TITLE_CHARS:
        return line
    cut, following = line[: MAX_TITLE_CHARS - 1], line[MAX_TITLE_CHARS - 1]
    at_word = cut.rsplit(" ", 1)[0] if " " in cut and not following.isspace() else cut
    return at_word.rstrip(" .,:;-") + "…"


def _without_end(heading: str) -> str:
    """The text of a heading without the ``#`` that may close it."""
    return heading.rstrip().rstrip("#").rstrip()


def related_line(links: Iterable[str]) -> str:
    """The labelled line ``Related: [[A]], [[B]]``, which is parsed as relations."""
    return "Related: " + ", ".join(links)


def closed(text: str) -> str:
    """The text with open code, comments and HTML closed, so that text after it is not hidden."""
    line = closing_line(text)
    return _ended(text, newline_of(text)) + line if line else text


def closed_note(text: str) -> str:
    """Like `closed`, for the text of a note, whose frontmatter opens nothing."""
    line = closing_line(split_frontmatter(text)[1])
    return _ended(text, newline_of(text)) + line if line else text


def fenced(text: str, language: str) -> str:
    """Code between fences longer than any in it."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _first_words(content: str) -> str:
    """The first line of text outside code, without markup."""
    fences = CodeFences()
    for line in bare_lines(content):
        if fences.is_code(line) or _RULE.match(line):
            continue
        heading = _HEADING.match(line)
        text = plain_text(
            _without_end(heading["text"]) if heading else _LIST_OR_QUOTE.sub("", line)
        )
        if any(character.isalnum() for character in text):
            return text
    return ""


def appended(text: str, addition: str) -> str:
    """Append text after an empty line, above the data of a plugin.

    Open code, comments and HTML are closed first.
    """
    newline = newline_of(text)
    text, data = split_plugin_data(text)
    text = closed_note(text)
    if not text:
        return addition + data
    return _ended(text, newline) + ("" if _ends_blank(text) else newline) + addition + data


def inserted(text: str, line: int, addition: str) -> str:
    """Insert a list or a section before this line, counted from 0.

    Below the last text, open code, comments and HTML are closed first. An empty line is added
    above, unless there is one, or a list that goes on.
    """
    lines, newline = lines_of(text), newline_of(text)
    above, below = "".join(lines[:line]), "".join(lines[line:])
    if not below.strip():
        above = closed_note(above)
    last_line = lines_of(above)[-1] if above else ""
    if last_line.strip():
        above = _ended(above, newline) + ("" if _IN_LIST.match(last_line) else newline)
    return above + addition + below


def _ended(text: str, newline: str) -> str:
    return text if text.endswith(("\n", "\r")) else text + newline


def _ends_blank(text: str) -> bool:
    lines = lines_of(text)
    return bool(lines) and not lines[-1].strip()


_IN_LIST = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|[ \t]{2}")
_TAG = re.compile(r"(^|\s)#(?=\w)")
_BLOCK_ID = re.compile(r"\^(?=[\w-]+$)")
_HTML = re.compile(r"<(?=[A-Za-z/!])")


def inert(text: str) -> str:
    """The text on one line, escaped so that it has no markup.

    A note shows it without links, tags, fields, comments or HTML.
    """
    text = text.replace("[[", "\\[\\[").replace("::", ":\\:").replace("%%", "%\\%")
    text = _TAG.sub(r"\1\\#", text)
    text = _HTML.sub(r"\\<", text)
    return _BLOCK_ID.sub(r"\\^", " ".join(text.split()))
