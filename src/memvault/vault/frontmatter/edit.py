"""Edits one key of a note's frontmatter without changing any other byte."""

from __future__ import annotations

import codecs
import re
from datetime import datetime
from typing import Any, NamedTuple

from memvault.model.errors import MalformedFrontmatter
from memvault.vault.frontmatter.fences import match_frontmatter
from memvault.vault.frontmatter.read import load_yaml
from memvault.vault.frontmatter.yaml_text import (
    Entry,
    find_entries,
    flow_text,
    items_text,
    key_text,
    line_start,
    malformed_line,
    scalar_text,
)

_NEWLINE = re.compile(rb"\r\n|\n|\r")
_LINE_END = re.compile(r"\r\n|\n|\r|\Z")
_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")
_LITERAL_COMMENT = re.compile(r"[|>][-+0-9]*([ \t]+#[^\r\n]*)")
_DEFAULT_INDENT = "  "


class _Parts(NamedTuple):
    """A note split at its fences; joined again, the parts are the note, byte for byte."""

    before: bytes  # byte order mark and opening fence
    header: str
    closing: bytes  # closing fence; empty without frontmatter
    body: bytes
    newline: str


def set_key(data: bytes, key: str, value: object) -> bytes:
    """Set a key; every byte outside its old value stays.

    A new key is added last; a note without frontmatter gets one.

    Args:
        value: string, number, bool, None, date, datetime, or a list of these.

    Raises:
        MalformedFrontmatter: the YAML cannot be edited safely; ``data["line"]`` is the line.
        InvalidParams: the key or value cannot be written.
    """
    parts = _split(data)
    entry = _entry(parts.header, key)
    if entry is None:
        header = _appended(parts, key, value)
    else:
        header = _replaced(parts.header, entry, value, parts.newline)
    _verify(parts.header, header, key, value)
    return _join(parts, header)


def remove_key(data: bytes, key: str) -> bytes:
    """Remove a key with its lines; empty frontmatter is removed, too.

    Without the key, the bytes are returned unchanged.

    Raises:
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    parts = _split(data)
    entry = _entry(parts.header, key)
    if entry is None:
        return data
    end = _LINE_END.search(parts.header, entry.value.end if entry.block else _end(entry))
    header = parts.header[: entry.line] + parts.header[end.end() if end else len(parts.header) :]
    _verify(parts.header, header, key, None, removed=True)
    if not header:
        bare = _bom(data) + parts.body
        if not _split(bare).closing:
            return bare
    return _join(parts, header)


def body_of(data: bytes) -> bytes:
    """The text after the frontmatter; without frontmatter, all but a byte order mark.

    Raises:
        MalformedFrontmatter: the frontmatter is not UTF-8.
    """
    return _split(data).body


def with_body(data: bytes, body: bytes) -> bytes:
    """The note with another body; every byte of the frontmatter stays.

    Raises:
        MalformedFrontmatter: the frontmatter is not UTF-8.
    """
    return data[: len(data) - len(body_of(data))] + body


def _split(data: bytes) -> _Parts:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise MalformedFrontmatter("the note is UTF-16; save it as UTF-8, then try again", line=1)
    match = match_frontmatter(data)
    if match is None:
        newline = _NEWLINE.search(data)
        bom = _bom(data)
        return _Parts(bom, "", b"", data[len(bom) :], newline[0].decode() if newline else "\n")
    try:
        header = match["header"].decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(_NEWLINE.findall(match["header"][: error.start]))
        raise malformed_line(line, "it is not UTF-8") from error
    start, end = match.span("header")
    newline_text = match["newline"].decode()
    return _Parts(data[:start], header, data[end : match.end()], data[match.end() :], newline_text)


def _bom(data: bytes) -> bytes:
    return codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""


def _join(parts: _Parts, header: str) -> bytes:
    text = header.encode("utf-8")
    if parts.closing:
        return parts.before + text + parts.closing + parts.body
    fence = f"---{parts.newline}".encode()
    return parts.before + fence + text + fence + parts.body


def _entry(header: str, key: str) -> Entry | None:
    entries = [entry for entry in find_entries(header) if entry.key == key]
    if len(entries) > 1:
        line = len(re.findall(r"\r\n|\n|\r", header[: entries[1].line]))
        raise malformed_line(line, f"{key!r} appears twice")
    return entries[0] if entries else None


def _end(entry: Entry) -> int:
    return max(entry.colon, entry.value.end)


def _appended(parts: _Parts, key: str, value: object) -> str:
    entries = find_entries(parts.header)
    indent = " " * entries[0].column if entries else ""
    line = f"{indent}{key_text(key)}:"
    if isinstance(value, list) and value:
        line += items_text(value, indent + _DEFAULT_INDENT, parts.newline)
    else:
        line += _inline(value)
    return parts.header + line + parts.newline


def _inline(value: object) -> str:
    """The text after the colon on the same line."""
    if value is None:
        return ""
    return " " + (flow_text(value) if isinstance(value, list) else scalar_text(value))


def _replaced(header: str, entry: Entry, value: object, newline: str) -> str:
    if isinstance(value, list) and value and entry.block and entry.items:
        changed = _edited_items(header, entry, value, newline)
        if changed is not None:
            return changed
    if isinstance(value, list) and value and not entry.flow:
        return _as_lines(header, entry, value, newline)
    start, end = entry.colon, _end(entry)
    if entry.block:
        key_line_end = _line_end(header, start)
        comment = header[start:key_line_end].rstrip()
        return header[:start] + _inline(value) + comment + header[end:]
    if entry.literal:
        return header[:start] + _inline(value) + _literal_comment(header, entry) + header[end:]
    gap = header[start : entry.value.start]
    new_text = _inline(value)
    if new_text and gap.strip(" \t") == "" and gap:
        new_text = gap + new_text[1:]
    return header[:start] + new_text + header[end:]


def _as_lines(header: str, entry: Entry, values: list[object], newline: str) -> str:
    """Replace the value by a block list; a comment after the old one stays on the key's line."""
    start, end = entry.colon, _end(entry)
    indent = " " * entry.column + _DEFAULT_INDENT
    if entry.block:
        line_end = _line_end(header, start)
        comment = header[start:line_end].rstrip()
        if entry.items:
            indent = _indent_of(header, entry.items[0].start)
    elif entry.literal:
        comment = _literal_comment(header, entry)
    else:
        comment_after = _COMMENT.match(header, end)
        comment = comment_after[0] if comment_after else ""
        end += len(comment)
    return header[:start] + comment + items_text(values, indent, newline) + header[end:]


def _literal_comment(header: str, entry: Entry) -> str:
    """The comment after the mark of a ``|`` or ``>`` text."""
    comment = _LITERAL_COMMENT.match(header, entry.value.start)
    return comment[1] if comment else ""


def _edited_items(header: str, entry: Entry, values: list[Any], newline: str) -> str | None:
    """The header with removed items' lines deleted and new items appended.

    Comments and quoting of other items stay. None if the new list differs in other ways.
    """
    spans = entry.items
    starts = [line_start(header, span.start) for span in spans]
    if len(set(starts)) < len(starts) or starts[0] <= entry.line:
        return None
    old_items = load_yaml("items:\n" + header[starts[0] : entry.value.end])[0].get("items")
    if not isinstance(old_items, list) or len(old_items) != len(spans):
        return None
    wanted = set(map(repr, values))
    kept_indexes = [index for index, item in enumerate(old_items) if repr(item) in wanted]
    if not kept_indexes or repr([old_items[index] for index in kept_indexes]) != repr(
        values[: len(kept_indexes)]
    ):
        return None
    indent = _indent_of(header, spans[0].start)
    end = _line_end(header, entry.value.end)
    pieces, position = [], 0
    for index, (start, span) in enumerate(zip(starts, spans, strict=True)):
        if index not in kept_indexes:
            pieces.append(header[position:start])
            position = min(_line_end(header, span.end) + len(newline), len(header))
    tail = header[position:end] if position <= end else ""
    text = "".join(pieces) + tail
    added = items_text(values[len(kept_indexes) :], indent, newline)
    if position > end:  # the last item was removed with its line end
        return text + added[len(newline) :] + (newline if added else "") + header[position:]
    return text + added + header[end:]


def _indent_of(text: str, offset: int) -> str:
    """The spaces at the start of the line of an offset, up to it."""
    lead = text[line_start(text, offset) : offset]
    return lead[: len(lead) - len(lead.lstrip())]


def _line_end(text: str, offset: int) -> int:
    match = _LINE_END.search(text, offset)
    return match.start() if match else len(text)


def _verify(before: str, after: str, key: str, value: object, *, removed: bool = False) -> None:
    """Check that both headers differ only in this key's value.

    Raises:
        MalformedFrontmatter: they differ elsewhere, for instance in values that use an anchor.
    """
    values_before, _problem = load_yaml(before)
    values_after, problem = load_yaml(after)
    others_before = {name: repr(values_before[name]) for name in values_before if name != key}
    others_after = {name: repr(values_after[name]) for name in values_after if name != key}
    is_set = (
        key not in values_after
        if removed
        else key in values_after and _same(values_after[key], value)
    )
    if problem is not None or others_before != others_after or not is_set:
        line = next((entry.line for entry in find_entries(before) if entry.key == key), len(before))
        raise malformed_line(
            len(re.findall(r"\r\n|\n|\r", before[:line])),
            f"{key!r} cannot be changed alone, because other keys depend on its value",
        )


def _same(written: Any, value: Any) -> bool:
    if isinstance(value, list):
        return (
            isinstance(written, list)
            and len(written) == len(value)
            and all(_same(left, right) for left, right in zip(written, value, strict=True))
        )
    if isinstance(value, datetime) and isinstance(written, datetime):
        return written == value
    return repr(written) == repr(value)
