"""Parses ``manifest.md`` into memvault's lines and a person's remarks.

memvault's lines are the following; every other line, blank ones included, is a remark:

- ``## Active Concepts``, the heading of the list; below it ``### …``, the heading of a group, and
  ``- Name`` with the concept's counts, one line per concept;
- ``[MERGE: Keep, Other]`` and ``[NOTE: Name] text``, anywhere, on a line of their own;
- the last line, which identifies the version and shows that the text is complete.

Lines in code blocks are remarks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memvault.vault.compose import CodeFences, lines_of

ACTIVE = "## Active Concepts"
_END = re.compile(r"%%\s*memvault:\s*end of the manifest\b(?P<rest>.*)%%\s*\Z")
_WRITING = re.compile(r"\s+(?P<id>[0-9a-f]{8,64})\b")
_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+(?P<text>.*?)[ \t]*#*[ \t]*\Z")
_BULLET = re.compile(r"(?P<indent>[ \t]*)[-*+][ \t]+(?P<rest>\S.*?)[ \t]*\Z")
_DIRECTIVE = re.compile(
    r"(?:[-*+][ \t]+)?\[(?:(?P<loud>MERGE|NOTE)\b|(?P<word>(?i:merge|note))[ \t]*:)(?P<rest>.*)\Z"
)
_BETWEEN = " · "
_NOTES = re.compile(r"no note|\d+ notes?")
_NAMING = re.compile(r"named in \d+ notes?")
_NOT_UTF8 = re.compile("[\ud800-\udfff]")
_CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ")


class LineKind(StrEnum):
    REMARK = "remark"
    ACTIVE = "active"
    GROUP = "group"
    CONCEPT = "concept"
    MERGE = "merge"
    NOTE = "note"
    END = "end"


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        raw: the line as written, with its line end.
        name: of a group or concept; the concept of a NOTE; the version in the last line.
        names: the names of a MERGE, in order.
        text: the text of a NOTE; the counts after a concept's name.
        nested: a concept's line is indented, so it may be a remark on the concept above.
        fault: what is wrong with a directive, which then has no names.
    """

    raw: str
    kind: LineKind = LineKind.REMARK
    name: str = ""
    names: tuple[str, ...] = ()
    text: str = ""
    nested: bool = False
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in the manifest; lines are counted from 1."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


def read_lines(text: str) -> list[Line]:
    """Parse every line; the ``raw`` texts joined are the text. Never fails (see `faults`)."""
    return list(_read(text))


def faults(lines: Sequence[Line]) -> list[Fault]:
    """The errors of a manifest: it is empty, truncated or malformed.

    Invalid UTF-8 is expected as surrogates."""
    if not any(line.raw.strip() for line in lines):
        return [Fault(1, "the manifest is empty; `memvault manifest` writes a new one")]
    found = [
        Fault(number, "a conflict marker of git or a sync tool; resolve the conflict first")
        for number, line in enumerate(lines, 1)
        if line.raw.startswith(_CONFLICT_MARKS)
    ]
    found += [
        Fault(number, "this is not UTF-8")
        for number, line in enumerate(lines, 1)
        if _NOT_UTF8.search(line.raw)
    ]
    found += [Fault(number, line.fault) for number, line in enumerate(lines, 1) if line.fault]
    found += _once(lines, LineKind.ACTIVE, f"the heading `{ACTIVE}`")
    found += _once(lines, LineKind.END, "the last line, `%% memvault: end of the manifest … %%`,")
    end = next((n for n, line in enumerate(lines, 1) if line.kind is LineKind.END), len(lines))
    active = next((n for n, line in enumerate(lines, 1) if line.kind is LineKind.ACTIVE), 1)
    if end < active:
        found.append(Fault(end, f"the last line is above `{ACTIVE}`"))
    if end <= len(lines) and lines[end - 1].kind is LineKind.END and not lines[end - 1].name:
        found.append(Fault(end, "the last line no longer identifies the version"))
    return sorted(found, key=lambda fault: fault.line)


def named(name: str) -> tuple[str, str]:
    """Split the text after a dash into a concept's name and its counts."""
    bare = name
    for counted in (_NAMING, _NOTES):
        rest, between, last = bare.rpartition(_BETWEEN)  # a name, too, may end with a dot
        if between and counted.fullmatch(last):
            bare = rest
    return (bare.rstrip(), name[len(bare) :]) if bare.strip() else (name, "")


def counts(name: str, notes: int, naming: int) -> str:
    """The counts of a concept: its notes, unless it has one, and the notes that name it.

    The number of notes is always written after a name that itself ends like counts, so that
    `named` can separate them.
    """
    of = ""
    if notes != 1 or named(name)[1]:
        of = " · no note" if notes == 0 else f" · {notes} note{'s' if notes != 1 else ''}"
    by = f" · named in {naming} note{'s' if naming != 1 else ''}" if naming else ""
    return of + by


def last_line(writing: str) -> str:
    return f"%% memvault: end of the manifest {writing}. Keep this line as it is. %%"


def _read(text: str) -> Iterator[Line]:
    fences = CodeFences()
    listing = False
    for raw in lines_of(text):
        line = raw.rstrip("\r\n")
        if fences.is_code(line):
            yield Line(raw)
            continue
        found = _own(raw, line, listing)
        if found.kind is LineKind.ACTIVE:
            listing = True
        elif found.kind is LineKind.END or line.startswith(("# ", "## ")):
            listing = False
        yield found


def _own(raw: str, line: str, listing: bool) -> Line:
    """Parse a line; ``listing``: it is below the heading of the concepts."""
    if line.startswith("#"):
        return _heading(raw, line, listing)
    end = _END.match(line) if line.startswith("%%") else None
    if end:
        writing = _WRITING.match(end["rest"])
        return Line(raw, LineKind.END, writing["id"] if writing else "")
    directive = _DIRECTIVE.match(line) if "[" in line else None
    if directive:
        word = (directive["loud"] or directive["word"]).upper()
        rest = directive["rest"] if directive["word"] else directive["rest"].lstrip()
        if directive["loud"]:
            if not rest.startswith(":"):
                return _faulty(raw, word)
            rest = rest[1:]
        return _merge(raw, rest) if word == "MERGE" else _note(raw, rest)
    bullet = _BULLET.match(line)
    if listing and bullet:
        name, text = named(bullet["rest"])
        return Line(raw, LineKind.CONCEPT, name, text=text, nested=bool(bullet["indent"]))
    return Line(raw)


def _heading(raw: str, line: str, listing: bool) -> Line:
    heading = _HEADING.match(line)
    if heading and f"{heading['marks']} {heading['text']}".casefold() == ACTIVE.casefold():
        return Line(raw, LineKind.ACTIVE)
    if heading and listing and heading["marks"] == "###":
        return Line(raw, LineKind.GROUP, heading["text"])
    return Line(raw)


def _merge(raw: str, rest: str) -> Line:
    body = rest.strip()
    if not body.endswith("]"):
        return _faulty(raw, "MERGE")
    names = _names(body[:-1])
    if len(names) < 2 or not all(names):
        return _faulty(raw, "MERGE")
    return Line(raw, LineKind.MERGE, names=names)


def _note(raw: str, rest: str) -> Line:
    name, closed, text = _first_name(rest.strip())
    if not (closed and name and text.strip()):
        return _faulty(raw, "NOTE")
    return Line(raw, LineKind.NOTE, name, text=text.strip())


def _faulty(raw: str, word: str) -> Line:
    example = {"MERGE": "[MERGE: Keep, Other]", "NOTE": "[NOTE: Name] what you want to add"}[word]
    kind = LineKind.MERGE if word == "MERGE" else LineKind.NOTE
    return Line(raw, kind, fault=f"this should read `{example}`")


def _names(text: str) -> tuple[str, ...]:
    """Names separated by commas; quoted or bracketed names may contain commas."""
    found = re.findall(r'\s*(\[\[[^\]]*\]\]|"[^"]*"|[^,]*?)\s*(?:,|\Z)', text)
    return tuple(_bare(name) for name in found[:-1] if name or found.count("") > 1)


def _first_name(text: str) -> tuple[str, bool, str]:
    """The name at the start, whether a bracket closes it, and the rest."""
    for opening, closing in (("[[", "]]"), ('"', '"')):
        if text.startswith(opening) and (end := text.find(closing, len(opening))) > 0:
            rest = text[end + len(closing) :].lstrip()
            return _bare(text[: end + len(closing)]), rest.startswith("]"), rest[1:]
    name, bracket, rest = text.partition("]")
    return name.strip(), bool(bracket), rest


def _bare(name: str) -> str:
    """The name without quotes or the brackets of a link."""
    if name.startswith("[[") and name.endswith("]]"):
        return name[2:-2].partition("|")[0].strip()
    return name.strip('"').strip() if name.startswith('"') else name.strip()


def _once(lines: Sequence[Line], kind: LineKind, called: str) -> list[Fault]:
    places = [number for number, line in enumerate(lines, 1) if line.kind is kind]
    if len(places) == 1:
        return []
    if not places and kind is LineKind.END:
        return [Fault(len(lines), f"the manifest is truncated: {called} is missing")]
    if not places:
        return [Fault(1, f"{called} is missing")]
    return [Fault(number, f"{called} appears again here") for number in places[1:]]
