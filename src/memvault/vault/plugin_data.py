"""What plugins of Obsidian write into notes for their own use, below or within the person's text.

Kanban and Excalidraw keep a board's settings, or a drawing, at the end of the note, as code in a
comment. Kanban finds its settings only there, and Excalidraw removes what is written below the
heading of its data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memvault.vault.frontmatter.fences import split_frontmatter
from memvault.vault.lines import FENCE, CodeFences, lines_of

# Languages of code that a plugin replaces by what it finds or makes: the code itself says nothing.
COMPUTED = frozenset({
    "dataview", "dataviewjs", "tasks", "query", "base", "datacorejs", "datacorejsx", "button",
    "meta-bind", "meta-bind-button", "meta-bind-embed", "toc", "table-of-contents",
    "folder-overview", "todoist", "tracker",
})  # fmt: skip

_COMPUTED_INLINE = re.compile(  # of Dataview, Meta Bind and Dice Roller
    r"\$=.*\bdv\..*|=.*(?:\bthis\.|\[\[[^\[\]]+\]\]\.)\w.*|INPUT\[[^:]*:.*\]|VIEW\[[^{]*\{.*\]"
    r"|BUTTON\[[a-z][\w, -]*\]|dice(?:-\w+)?: *(?:[\d(+ -]*d[\d%F]|\[\[|#).*",
    re.DOTALL,
)

_BOARD, _DRAWING = "kanban-plugin", "excalidraw-plugin"
_DRAWING_KEY = re.compile(rf"^{_DRAWING}[ \t]*:", re.MULTILINE)
_DRAWING_DATA = re.compile(
    r"^(?:%%[ \t]*\r?\n)?#{1,2}[ \t]+(?:Excalidraw Data|Text Elements)[ \t\r]*$", re.MULTILINE
)
_COMMENT = "%%"
_COMMENTS = ((_COMMENT, _COMMENT), ("<!--", "-->"))
_BLOCK_ID = re.compile(r"(?<!\S)\^[A-Za-z0-9-]{1,100}(?=[ \t\r]*$)", re.MULTILINE)


def is_board(frontmatter: Mapping[str, Any]) -> bool:
    """Whether a note is a board of the plugin Kanban, by its properties."""
    return _BOARD in frontmatter


def is_drawing(frontmatter: Mapping[str, Any]) -> bool:
    """Whether a note is a drawing of the plugin Excalidraw, by its properties."""
    return _DRAWING in frontmatter


def is_computed(code: str) -> bool:
    """Whether a plugin replaces this inline code by what it finds or makes."""
    return _COMPUTED_INLINE.fullmatch(code.strip()) is not None


def split_plugin_data(note: str) -> tuple[str, str]:
    """The text of a note, and the plugin's data at its end with the blank lines above them.

    Without such data, the whole note and "".
    """
    start = _start_of_data(note)
    if start == len(note):
        return note, ""
    lines = lines_of(note[:start])
    while lines and not lines[-1].strip():
        lines.pop()
    end = sum(map(len, lines))
    return note[:end], note[end:]


def _start_of_data(note: str) -> int:
    header, body = split_frontmatter(note)
    body_start = len(note) - len(body)
    if _DRAWING_KEY.search(header) and (heading := _DRAWING_DATA.search(body)):
        return body_start + heading.start()
    lines = lines_of(body)
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or lines.pop().strip() != _COMMENT:
        return len(note)
    has_code = False
    while lines:
        line = lines.pop()
        has_code = has_code or FENCE.match(line) is not None
        if _COMMENT in line:
            above = "".join(lines)
            opens = line.startswith(_COMMENT) and above.count(_COMMENT) % 2 == 0
            return body_start + len(above) if opens and has_code else len(note)
    return len(note)


def hidden_parts(text: str) -> list[str]:
    """The parts of a text that no answer shows: comments, ids of blocks, and code in `COMPUTED`."""
    parts: list[str] = []
    visible: list[str] = []
    for is_code, block in _runs(text):
        if not is_code:
            visible.append(block)
        elif _language(block) in COMPUTED:
            parts.append(block.strip())
    shown = "".join(visible)
    ids = (match[0] for match in _BLOCK_ID.finditer(shown))
    return list(dict.fromkeys([*ids, *_comments(shown), *parts]))


def _comments(text: str) -> Iterator[str]:
    for opening, closing in _COMMENTS:
        start = text.find(opening)
        while start >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
            yield text[start : end + len(closing)]
            start = text.find(opening, end + len(closing))


def _language(block: str) -> str:
    words = block.split("\n", 1)[0].strip().lstrip("`~").split(maxsplit=1)
    return words[0].lower() if words else ""


def _runs(text: str) -> Iterator[tuple[bool, str]]:
    """The text and the fenced code in it, in order."""
    fences, run, was_code = CodeFences(), "", False
    for line in lines_of(text):
        was_open = bool(fences.open)
        is_code = fences.is_code(line.rstrip("\r\n"))
        if is_code != was_code or (is_code and not was_open):
            if run:
                yield was_code, run
            run, was_code = "", is_code
        run += line
    if run:
        yield was_code, run
