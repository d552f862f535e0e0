"""Rewrites the links in Obsidian's canvases, and keeps every other byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from memvault.model.errors import MalformedFrontmatter
from memvault.model.json_text import json_value
from memvault.text.diff import stretches
from memvault.text.words import composed
from memvault.vault.rewrite_links import Redirect, rewrite_links

_BOM = "\ufeff"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.",
    re.DOTALL,
)


def rewrite_canvas(path: str, data: bytes, redirect: Redirect, moved: Mapping[str, str]) -> bytes:
    """Redirect the links of a canvas; every other byte stays.

    Args:
        data: valid JSON in UTF-8 (`is_readable`).
        redirect: the new target of a link in a text card, None to keep it.
        moved: the new path of each note whose file cards change, by its path.
    """
    text = data.decode("utf-8")
    strings = list(_STRING.finditer(text))
    places = {composed(note): place for note, place in moved.items()}
    new: dict[int, str] = {}
    for card in _cards(text, [_read(string[0]) for string in strings]):
        named, file, shown = (_number(card, key) for key in ("type", "file", "text"))
        kind = "" if named is None else _read(strings[named][0])
        if kind == "file" and file is not None:
            place = places.get(composed(_read(strings[file][0])))
            new |= {} if place is None else {file: place}
        elif kind == "text" and shown is not None:
            new[shown] = _redirected(path, _read(strings[shown][0]), redirect)
    pieces, end = [], 0
    for number in sorted(new):
        pieces += [text[end : strings[number].start()], _written(strings[number][0], new[number])]
        end = strings[number].end()
    return "".join([*pieces, text[end:]]).encode("utf-8")


def is_readable(data: bytes) -> bool:
    """Whether the canvas is valid JSON in UTF-8."""
    try:
        json_value(data.decode("utf-8-sig"))
    except ValueError:
        return False
    return True


def _cards(text: str, strings: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The cards of a canvas, with each string value replaced by its number in the text.

    Python's JSON decoder does not give positions.
    """
    numbers = count()
    numbered = _STRING.sub(lambda _: f'"{next(numbers)}"', text.removeprefix(_BOM))

    def with_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {strings[int(number)]: value for number, value in pairs}

    canvas = json_value(numbered, object_pairs_hook=with_keys)
    nodes = canvas.get("nodes") if isinstance(canvas, dict) else None
    return (node for node in (nodes if isinstance(nodes, list) else ()) if isinstance(node, dict))


def _number(card: dict[str, Any], key: str) -> int | None:
    value = card.get(key)
    return int(value) if isinstance(value, str) else None


def _read(token: str) -> str:
    return str(json_value(token, strict=False))


def _redirected(path: str, text: str, redirect: Redirect) -> str:
    try:
        return rewrite_links(path, text.encode("utf-8"), redirect).decode("utf-8")
    except (UnicodeEncodeError, MalformedFrontmatter):  # no text that Obsidian reads links in
        return text


def _written(token: str, text: str) -> str:
    """A JSON string with another text; characters that stay keep how they are escaped."""
    written = _CHARACTER.findall(token[1:-1])
    return '"' + "".join(
        "".join(written[i1:i2]) if equal else json.dumps(text[j1:j2], ensure_ascii=False)[1:-1]
        for equal, i1, i2, j1, j2 in stretches([_read(f'"{each}"') for each in written], text)
    ) + '"'  # fmt: skip
