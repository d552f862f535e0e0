"""Parses a note's bytes."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from memvault.model.dates_in_words import is_date_without_year
from memvault.model.note import CodeBlock, Link, LinkStyle, ParsedNote, Tag
from memvault.vault.documents import PDF, is_canvas, is_unread_canvas, parse_pages
from memvault.vault.file_names import folded_name, safe_name
from memvault.vault.frontmatter.fences import match_frontmatter
from memvault.vault.frontmatter.read import Frontmatter, is_malformed, read_frontmatter, strings_of
from memvault.vault.logseq import link_names, page_name
from memvault.vault.markdown import parse_markdown
from memvault.vault.markdown.blocks import Content, read_blocks, short_name
from memvault.vault.markdown.plugins import clean_tag
from memvault.vault.markdown.wikilink import Wikilink, find_wikilinks, without_wikilinks
from memvault.vault.plugin_data import is_drawing

BINARY_PROBE_BYTES = 8192
_MAX_CONTROL_SHARE = 0.1
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_NEWLINE = re.compile(r"\r\n?")
_UNCLOSED = re.compile(r"---[ \t]*\n[a-z][\w-]*:[ \t\n]")  # a rule, then a property
_NUMBER = re.compile(r"\A\d+[ _-]+(?=\S)")
_MOMENT = re.compile(r"((?:19|20)\d{6})(\d{4}(?:\d\d)?)(?!\d)")
_CONFLICT = "<<<<<<< "  # the start of one, as Git marks it
# As the names of daily notes; eight digits alone may be an id.
_DAY = re.compile(r"\d{4}([-_.])\d{2}\1\d{2}|\d{1,2}([-.])\d{1,2}\2\d{4}")
_DATED = re.compile(rf"{_DAY.pattern}|\d{{4}}[-_. ]?(?:K?W|Q)?\d{{1,2}}")  # a month, a week …
# In Japanese and Chinese, which have no spaces, a weekday has three characters.
_SEVERAL_WORDS = re.compile(r"\S\s+\S|[\u3041-\u30ff\u4e00-\u9fff]{4}")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_PLACEHOLDER = re.compile(r"\{\{|<%")  # of a template


class Decoded(NamedTuple):
    """``text`` has ``\\n`` line ends and no byte order mark; empty if the bytes are binary."""

    text: str
    warnings: tuple[str, ...]


def decode(data: bytes, max_bytes: int) -> Decoded:
    """Decode at most `max_bytes` of a note, up to the end of a line."""
    warnings: list[str] = []
    if len(data) > max_bytes:
        cut = data.rfind(b"\n", 0, max_bytes) + 1
        warnings.append(
            f"it is longer than {max_bytes / 1e6:.3g} MB, and what comes after these is not "
            f"indexed ({len(data) - max_bytes:,} bytes); split the note to index all of it"
        )
        data = data[: cut or max_bytes]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
        warnings.append("the note is UTF-16; save it as UTF-8 so that memvault can also write it")
    elif is_binary(data):
        return Decoded("", (*warnings, "the file is not text and is not indexed"))
    else:
        text = data.decode("utf-8-sig", errors="replace")
        if "\ufffd" in text and (invalid_count := _count_invalid(data)):
            plural = "byte is" if invalid_count == 1 else "bytes are"
            warnings.append(
                f"{invalid_count} invalid {plural} ignored; the file is unchanged; save the note "
                "as UTF-8"
            )
    if "\r" in text:
        text = _NEWLINE.sub("\n", text)
    return Decoded(text.replace("\0", "\ufffd"), tuple(warnings))


def is_binary(data: bytes) -> bool:
    """Whether there is a NUL near the start (git's rule), or too many control characters."""
    probe = data[:BINARY_PROBE_BYTES]
    if b"\0" in probe:
        return True
    return len(_CONTROL.findall(probe)) > _MAX_CONTROL_SHARE * len(probe)


def _count_invalid(data: bytes) -> int:
    """The number of bytes that are not part of a UTF-8 character."""
    return len(data) - len(data.decode("utf-8", errors="ignore").encode("utf-8"))


MAX_PARSED_BYTES = 16_000_000
MAX_LINES_NAMED = 5  # with the same key of the frontmatter
MAX_TAGS = 1_000  # different ones of a note: each is a name to be found in all notes

_TAG_KEYS = ("tags", "tag")
_ALIAS_KEYS = ("aliases", "alias")
_TAG_GAPS = re.compile(r"[,\s]+")


def parse_note(path: str, data: bytes, *, max_bytes: int = MAX_PARSED_BYTES) -> ParsedNote:
    """Parse a note. A pure function; never raises, whatever the bytes.

    The title is the first of: the property ``title`` if its YAML is readable, a first-level
    heading at the start of the body, the name of the Logseq page, the file's stem. No title is
    a heading of one word ("Monday") or a date without its year in a file that is named by a day,
    nor the first of several first-level headings, unless the file's name has it or says nothing.

    Args:
        path: relative to the vault, with forward slashes.
        max_bytes: more is not read, which a warning reports.
    """
    text, warnings = decode(data, max_bytes)
    if path.lower().endswith(PDF):
        return _parsed_pdf(path, text, content_hash(data), warnings)
    if is_canvas(path) and is_unread_canvas(text):
        warnings += ("the canvas is damaged: its JSON cannot be read, so only its name is indexed",)
    frontmatter = read_frontmatter(text)
    warnings += _repeated_keys(frontmatter)
    if _UNCLOSED.match(text) and match_frontmatter(text) is None:
        warnings += ("its properties are not read; add the line --- below them",)
    content = read_blocks(
        parse_markdown(text[frontmatter.body_start :]),
        frontmatter.body_line,
        is_drawing=is_drawing(frontmatter.values),
    )
    if content.too_deep:
        warnings += ("text nested deeper than 50 levels is not indexed",)
    warnings += _conflict(text, content.code)
    title = _frontmatter_title(frontmatter)
    names_given = [text.strip() for _, text in _strings_under(frontmatter, _ALIAS_KEYS)]
    names_given += link_names(path, content, title)
    tags = [*_frontmatter_tags(frontmatter), *content.tags]
    names = list(dict.fromkeys(tag.name for tag in tags))
    if len(names) > MAX_TAGS:
        warnings += (f"only the first {MAX_TAGS:,} of its {len(names):,} tags are indexed",)
        indexed_names = set(names[:MAX_TAGS])
        tags = [tag for tag in tags if tag.name in indexed_names]
    return ParsedNote(
        path=path,
        title=short_name(title) or _title_in(content, path) or name_of(path),
        content_hash=content_hash(data),
        frontmatter=frontmatter.values,
        blocks=tuple(content.blocks),
        headings=tuple(content.headings),
        links=(*_frontmatter_links(frontmatter), *content.links),
        tags=tuple(tags),
        fields=tuple(content.fields),
        aliases=tuple(dict.fromkeys(short_name(name) for name in names_given if name)),
        key_lines={key: lines[-1] for key, lines in frontmatter.key_lines.items()},
        body_line=frontmatter.body_line,
        line_count=max(1, text.count("\n") + (not text.endswith("\n"))),
        frontmatter_problem=frontmatter.problem,
        warnings=warnings,
        code=tuple(content.code),
        tasks=tuple(content.tasks),
    )


def _title_in(content: Content, path: str) -> str | None:
    """The first heading, unless the file's name says more: where it says less than the day,
    week or month that is the file's name, and where it is one of several sections."""
    heading, stem = content.title, stem_of(path)
    if heading is None or _PLACEHOLDER.search(heading):
        return None
    if _DATED.fullmatch(stem) and is_date_without_year(heading):
        return None
    if _DAY.fullmatch(stem):
        return heading if _SEVERAL_WORDS.search(heading) else None
    if _letters_of(safe_name(heading)) in _letters_of(stem) or not _LETTERS.search(stem):
        return heading
    return heading if sum(other.level == 1 for other in content.headings) == 1 else None


def _letters_of(name: str) -> str:
    """Its letters and digits: "why-eggs" is the name of "Why eggs?"."""
    return "".join(filter(str.isalnum, folded_name(name)))


def _parsed_pdf(path: str, text: str, hash: str, warnings: tuple[str, ...]) -> ParsedNote:
    title, headings, blocks = parse_pages(text)
    if not blocks:
        warnings += ("the PDF has no text that can be read: it is scanned, damaged or locked",)
    return ParsedNote(
        path=path,
        title=short_name(title) or stem_of(path),
        content_hash=hash,
        frontmatter={"type": "pdf"},
        blocks=tuple(blocks),
        headings=tuple(headings),
        line_count=max(1, text.count("\n")),
        warnings=warnings,
    )


def frontmatter_of(data: bytes) -> dict[str, Any]:
    """A note's frontmatter as `parse_note` returns it, without parsing the rest."""
    return read_frontmatter(decode(data, MAX_PARSED_BYTES)[0]).values


def content_hash(data: bytes) -> str:
    """blake2b-128 of a note's bytes, hex."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def stem_of(path: str) -> str:
    """The file's name without its extension, by which links resolve."""
    return PurePosixPath(path).stem


def name_of(path: str) -> str:
    """The name of the Logseq page in the file, or the file's stem, without the moment by which a
    slip box numbers its notes, and without the ``.excalidraw`` of a drawing."""
    stem = stem_of(path).removesuffix(".excalidraw") or stem_of(path)
    return page_name(path) or (_NUMBER.sub("", stem) if moment_of_name(path) else stem)


def moment_of_name(path: str) -> datetime | None:
    """The moment at the start of a file's name ("202611271305 Tides"), by which a slip box numbers
    its notes."""
    match = _MOMENT.match(stem_of(path))
    try:
        return datetime.fromisoformat(f"{match[1]}T{match[2]}Z") if match else None
    except ValueError:
        return None


def _repeated_keys(frontmatter: Frontmatter) -> tuple[str, ...]:
    return tuple(
        f"the frontmatter has {key!r} in lines {_listed(lines[:-1])} and {lines[-1]}, "
        f"and only the value in line {lines[-1]} is read; keep one of them"
        for key, lines in frontmatter.key_lines.items()
        if len(lines) > 1
    )


def _conflict(text: str, code: Sequence[CodeBlock]) -> tuple[str, ...]:
    """A warning about two versions of a text between Git's marks, unless they are in code."""
    middle = text.rfind("\n=======\n", 0, max(0, text.rfind("\n>>>>>>> ")) + 1)
    starts = (
        number
        for number, line in enumerate(text[: max(0, middle)].split("\n"), 1)
        if line.startswith(_CONFLICT)
        and not any(block.lines.first <= number <= block.lines.last for block in code)
    )
    if (line := next(starts, None)) is None:
        return ()
    return (
        f"Git could not merge two versions from line {line} on, and both are read; keep one and "
        "remove the lines that begin with <<<<<<<, ======= and >>>>>>>",
    )


def _listed(lines: Sequence[int]) -> str:
    """The first of the lines, as text."""
    more = ", …" if len(lines) > MAX_LINES_NAMED else ""
    return ", ".join(map(str, lines[:MAX_LINES_NAMED])) + more


def _frontmatter_links(frontmatter: Frontmatter) -> list[Link]:
    if "[[" not in frontmatter.source:
        return []
    lines = _LineFinder(frontmatter)
    return [
        Link(
            target=wikilink.target,
            style=LinkStyle.FRONTMATTER,
            subpath=wikilink.subpath,
            shown=wikilink.shown,
            relation=key,
            sentence=sentence,
            line=lines.of(key, wikilink),
        )
        for key, value in frontmatter.values.items()
        for text in strings_of(value)
        for sentence in (f"{key}: {without_wikilinks(text)}",)  # once, not for each link
        for wikilink in find_wikilinks(text)
    ]


class _LineFinder:
    """Finds the line of the frontmatter that contains a key's link."""

    def __init__(self, frontmatter: Frontmatter) -> None:
        self._frontmatter = frontmatter
        self._lines = frontmatter.source.split("\n")
        self._found_lines: dict[tuple[str, str], int] = {}
        self._last_line: dict[str, int] = {}

    def of(self, key: str, link: Wikilink) -> int:
        key_line = _key_line(self._frontmatter, key)
        if link.target not in self._frontmatter.source:
            return key_line
        start = self._found_lines.get((key, link.target), key_line - 1) + 1
        expected = max(
            start, self._last_line.get(key, start)
        )  # links are mostly in the order of the lines
        for line in chain(range(expected, len(self._lines) + 2), range(start, expected)):
            if link.target in self._lines[line - 2]:
                self._found_lines[key, link.target] = self._last_line[key] = line
                return line
        return key_line


def _frontmatter_tags(frontmatter: Frontmatter) -> list[Tag]:
    return [
        Tag(name, _key_line(frontmatter, key))
        for key, text in _strings_under(frontmatter, _TAG_KEYS)
        for word in _TAG_GAPS.split(text)
        if (name := clean_tag(word)) is not None
    ]


def _frontmatter_title(frontmatter: Frontmatter) -> str:
    for key, text in _strings_under(frontmatter, ("title",)):
        if not _PLACEHOLDER.search(text) and not _has_malformed(frontmatter, key):
            return " ".join(text.split())
    return ""


def _has_malformed(frontmatter: Frontmatter, key: str) -> bool:
    """Whether the value of a key is malformed; a malformed frontmatter has readable ones, too."""
    if frontmatter.problem is None:
        return False
    line = frontmatter.source.split("\n")[_key_line(frontmatter, key) - 2]
    return is_malformed(line.partition(":")[2].strip())


def _strings_under(frontmatter: Frontmatter, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for key, value in frontmatter.values.items():
        if key.casefold() in names:
            items: list[Any] = value if isinstance(value, list) else [value]
            for item in items:
                if item is not None and not isinstance(item, list | dict):
                    yield key, str(item)


def _key_line(frontmatter: Frontmatter, key: str) -> int:
    """The line of the file that contains a key of the frontmatter."""
    for number, line in enumerate(frontmatter.source.split("\n"), start=2):
        if line.lstrip("\"' ").startswith(key):
            return number
    return 2
