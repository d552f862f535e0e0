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

from memvault.vault.lines import CodeFences, lines_of

ACTIVE = "## Active Concepts"
_END = re.compile(r"%%\s*memvault:\s*end of the manifest\b(?P<rest>.*)%%\s*\Z")
_VERSION = re.compile(r"\s+(?P<id>[0-9a-f]{8,64})\b")
_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+(?P<text>.*?)[ \t]*#*[ \t]*\Z")
_BULLET = re.compile(r"(?P<indent>[ \t]*)[-*+][ \t]+(?P<rest>\S.*?)[ \t]*\Z")
_DIRECTIVE = re.compile(
    r"(?:[-*+][ \t]+)?\[(?:(?P<loud>MERGE|NOTE)\b|(?P<word>(?i:merge|note))[ \t]*:)(?P<rest>.*)\Z"
)
_COUNTS_GAP = " · "
_NOTE_COUNT = re.compile(r"no note|\d+ notes?")
_NAMING_COUNT = re.compile(r"named in \d+ notes?")
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
class ManifestLine:
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


def read_lines(text: str) -> list[ManifestLine]:
    """Parse every line; the ``raw`` texts joined are the text. Never fails (see `faults`)."""
    return list(_parsed_lines(text))


def faults(lines: Sequence[ManifestLine]) -> list[Fault]:
    """The errors of a manifest: it is empty, truncated or malformed.

    Invalid UTF-8 is expected as surrogates."""
    if not any(line.raw.strip() for line in lines):
        return [Fault(1, "the manifest is empty; `memvault manifest` writes a new one")]
    faults_found: list[Fault] = []
    for number, line in enumerate(lines, 1):
        if line.raw.startswith(_CONFLICT_MARKS):
            problem = "a conflict marker of git or a sync tool; resolve the conflict first"
            faults_found.append(Fault(number, problem))
        if _NOT_UTF8.search(line.raw):
            faults_found.append(Fault(number, "this is not UTF-8"))
        if line.fault:
            faults_found.append(Fault(number, line.fault))
    faults_found += _faults_of_single_line(lines, LineKind.ACTIVE, f"the heading `{ACTIVE}`")
    faults_found += _faults_of_single_line(
        lines, LineKind.END, "the last line, `%% memvault: end of the manifest … %%`,"
    )
    end = next((n for n, line in enumerate(lines, 1) if line.kind is LineKind.END), len(lines))
    active = next((n for n, line in enumerate(lines, 1) if line.kind is LineKind.ACTIVE), 1)
    if end < active:
        faults_found.append(Fault(end, f"the last line is above `{ACTIVE}`"))
    if end <= len(lines) and lines[end - 1].kind is LineKind.END and not lines[end - 1].name:
        faults_found.append(Fault(end, "the last line no longer identifies the version"))
    return sorted(faults_found, key=lambda fault: fault.line)


def split_counts(name: str) -> tuple[str, str]:
    """Split the text after a dash into a concept's name and its counts."""
    name_so_far = name
    for pattern in (_NAMING_COUNT, _NOTE_COUNT):
        before, gap, count = name_so_far.rpartition(_COUNTS_GAP)  # a name, too, may end with a dot
        if gap and pattern.fullmatch(count):
            name_so_far = before
    return (name_so_far.rstrip(), name[len(name_so_far) :]) if name_so_far.strip() else (name, "")


def counts(name: str, notes: int, naming: int) -> str:
    """The counts of a concept: its notes, unless it has one, and the notes that name it.

    The number of notes is always written after a name that itself ends like counts, so that
    `split_counts` can separate them.
    """
    of_notes = ""
    if notes != 1 or split_counts(name)[1]:
        of_notes = " · no note" if notes == 0 else f" · {notes} note{'s' if notes != 1 else ''}"
    of_naming = f" · named in {naming} note{'s' if naming != 1 else ''}" if naming else ""
    return of_notes + of_naming


def last_line(version: str) -> str:
    return f"%% memvault: end of the manifest {version}. Keep this line as it is. %%"


def _parsed_lines(text: str) -> Iterator[ManifestLine]:
    fences = CodeFences()
    is_in_list = False
    for raw in lines_of(text):
        line = raw.rstrip("\r\n")
        if fences.is_code(line):
            yield ManifestLine(raw)
            continue
        parsed = _parsed_line(raw, line, is_in_list)
        if parsed.kind is LineKind.ACTIVE:
            is_in_list = True
        elif parsed.kind is LineKind.END or line.startswith(("# ", "## ")):
            is_in_list = False
        yield parsed


def _parsed_line(raw: str, line: str, is_in_list: bool) -> ManifestLine:
    """Parse a line; ``is_in_list``: it is below the heading of the concepts."""
    if line.startswith("#"):
        return _heading(raw, line, is_in_list)
    end = _END.match(line) if line.startswith("%%") else None
    if end:
        version = _VERSION.match(end["rest"])
        return ManifestLine(raw, LineKind.END, version["id"] if version else "")
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
    if is_in_list and bullet:
        name, text = split_counts(bullet["rest"])
        return ManifestLine(raw, LineKind.CONCEPT, name, text=text, nested=bool(bullet["indent"]))
    return ManifestLine(raw)


def _heading(raw: str, line: str, is_in_list: bool) -> ManifestLine:
    heading = _HEADING.match(line)
    if heading and f"{heading['marks']} {heading['text']}".casefold() == ACTIVE.casefold():
        return ManifestLine(raw, LineKind.ACTIVE)
    if heading and is_in_list and heading["marks"] == "###":
        return ManifestLine(raw, LineKind.GROUP, heading["text"])
    return ManifestLine(raw)


def _merge(raw: str, rest: str) -> ManifestLine:
    body = rest.strip()
    if not body.endswith("]"):
        return _faulty(raw, "MERGE")
    names = _names(body[:-1])
    if len(names) < 2 or not all(names):
        return _faulty(raw, "MERGE")
    return ManifestLine(raw, LineKind.MERGE, names=names)


def _note(raw: str, rest: str) -> ManifestLine:
    name, closed, text = _first_name(rest.strip())
    if not (closed and name and text.strip()):
        return _faulty(raw, "NOTE")
    return ManifestLine(raw, LineKind.NOTE, name, text=text.strip())


def _faulty(raw: str, word: str) -> ManifestLine:
    example = {"MERGE": "[MERGE: Keep, Other]", "NOTE": "[NOTE: Name] what you want to add"}[word]
    kind = LineKind.MERGE if word == "MERGE" else LineKind.NOTE
    return ManifestLine(raw, kind, fault=f"this should read `{example}`")


def _names(text: str) -> tuple[str, ...]:
    """Names separated by commas; quoted or bracketed names may contain commas."""
    names = re.findall(r'\s*(\[\[[^\]]*\]\]|"[^"]*"|[^,]*?)\s*(?:,|\Z)', text)
    return tuple(map(_plain_name, names[:-1]))  # the last match is the empty end


def _first_name(text: str) -> tuple[str, bool, str]:
    """The name at the start, whether a bracket closes it, and the rest."""
    for opening, closing in (("[[", "]]"), ('"', '"')):
        if text.startswith(opening) and (end := text.find(closing, len(opening))) > 0:
            rest = text[end + len(closing) :].lstrip()
            return _plain_name(text[: end + len(closing)]), rest.startswith("]"), rest[1:]
    name, bracket, rest = text.partition("]")
    return name.strip(), bool(bracket), rest


def _plain_name(name: str) -> str:
    """The name without quotes or the brackets of a link."""
    if name.startswith("[[") and name.endswith("]]"):
        return name[2:-2].partition("|")[0].strip()
    return name.strip('"').strip() if name.startswith('"') else name.strip()


def _faults_of_single_line(
    lines: Sequence[ManifestLine], kind: LineKind, description: str
) -> list[Fault]:
    places = [number for number, line in enumerate(lines, 1) if line.kind is kind]
    if len(places) == 1:
        return []
    if not places and kind is LineKind.END:
        return [Fault(len(lines), f"the manifest is truncated: {description} is missing")]
    if not places:
        return [Fault(1, f"{description} is missing")]
    return [Fault(number, f"{description} appears again here") for number in places[1:]]
