"""Writes chosen sentences as passages, as prose, as bullets, or around code.

Every form gives the sentences word for word, in the order of the note, memory by memory. Each
memory has a citation tag; a sentence keeps its list marker, task box, callout type or table head.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.search.context.outline import Code, Statement

DIGITS = 8  # least number of the id's 32 digits in a tag
SHORTEST = 4  # least number of digits that are read as a tag
TAG = re.compile(r"\[node_([0-9a-f]{4,32})\]")

Starting = Callable[[str], Sequence[str]]  # the ids that begin with these digits

_GIVEN = re.compile(r"\[?\s*(?:node_)?([0-9a-f-]{4,36})\s*\]?", re.IGNORECASE)


def digits(memory_id: str) -> str:
    """The hexadecimal digits of an id."""
    return memory_id.replace("-", "").lower()


def tags(ids: Collection[str], starting: Starting) -> dict[str, str]:
    """``node_…`` for each id: its first eight digits, or more if another id begins with them."""
    return {each: "node_" + _start(digits(each), starting) for each in ids}


def _start(own: str, starting: Starting) -> str:
    alike = {digits(other) for other in starting(own[:DIGITS])} - {own}
    length = DIGITS
    while length < len(own) and any(other.startswith(own[:length]) for other in alike):
        length += 1
    return own[:length]


def cited(tag: str, starting: Starting) -> list[str] | None:
    """The ids that a tag may mean; None if it is no tag.

    A tag may lack brackets or ``node_``, have more or fewer digits, or be a whole id.
    """
    given = _GIVEN.fullmatch(tag.strip())
    start = digits(given[1]) if given else ""
    return list(starting(start)) if SHORTEST <= len(start) <= 32 else None


_ENDED = re.compile(r"[.!?…:;,。！？।؟۔][\"'”’»)\]」』）*]*\Z")
_LONG = LineRange(1000, 1000)


JOINED = " · "  # between properties


class Form(StrEnum):
    RAW = "raw"
    NARRATIVE = "narrative"
    STRUCTURED = "structured"
    CODE_FOCUSED = "code_focused"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The shown part of one memory, in the order of its note.

    ``properties`` are frontmatter fields relevant to the question (``status: done``). ``named``
    asks for the title above prose that does not contain it. ``superseded_by`` is the title of the
    memory that supersedes this one.
    """

    memory: Memory
    tag: str
    statements: tuple[Statement, ...]
    code: tuple[Code, ...] = ()
    properties: tuple[str, ...] = ()
    named: bool = True
    superseded_by: str | None = None

    @property
    def lines(self) -> LineRange:
        spans = [each.lines for each in self.statements] + [each.lines for each in self.code]
        return LineRange(min(span.first for span in spans), max(span.last for span in spans))

    @property
    def heading(self) -> str:
        """The heading path that all sentences share, ``A > B``; empty if there is none."""
        paths = [each.heading for each in self.statements]
        paths += [each.block.heading for each in self.code]
        shared = paths[0]
        for path in paths[1:]:
            length = 0
            while length < min(len(shared), len(path)) and shared[length] == path[length]:
                length += 1
            shared = shared[:length]
        return " > ".join(shared)


def written(form: Form, excerpts: Sequence[Excerpt]) -> str:
    """The context's text."""
    write = {
        Form.RAW: _raw,
        Form.NARRATIVE: _narrative,
        Form.STRUCTURED: _structured,
        Form.CODE_FOCUSED: _code_focused,
    }[form]
    return "\n\n".join(write(each) for each in excerpts)


def frame(
    form: Form,
    memory: Memory,
    tag: str,
    properties: Sequence[str] = (),
    *,
    named: bool = True,
    superseded_by: str | None = None,
) -> str:
    """An excerpt's text other than its sentences, to count its tokens in advance."""
    head = _header(form, memory, tag, _LONG)
    if form is Form.NARRATIVE:
        head = f"{memory.title} [{tag}]" if named else f"[{tag}]"
    return head + JOINED.join(properties) + _outdated(superseded_by)


def _outdated(superseded_by: str | None) -> str:
    """The mark behind the tag or header of a memory that another supersedes."""
    return f" (superseded by {superseded_by})" if superseded_by is not None else ""


def _header(form: Form, memory: Memory, tag: str, lines: LineRange) -> str:
    mark = "## " if form is Form.STRUCTURED else ""
    return f"{mark}{memory.title} ({memory.path}:{lines.first}-{lines.last}) [{tag}]"


def _raw(excerpt: Excerpt) -> str:
    head = _header(Form.RAW, excerpt.memory, excerpt.tag, excerpt.lines) + _outdated(
        excerpt.superseded_by
    )
    return "\n".join([head, *_property_line(excerpt), *_in_place(excerpt)])


def _property_line(excerpt: Excerpt) -> list[str]:
    """The line of its properties, if it has any."""
    return [JOINED.join(excerpt.properties)] if excerpt.properties else []


def _in_place(excerpt: Excerpt) -> list[str]:
    """Sentences and code as they follow each other, a line for each line of the note."""
    lines: list[str] = []
    last: Statement | None = None
    code = sorted(excerpt.code, key=lambda each: each.lines)
    for each in excerpt.statements:
        while code and code[0].lines.first < each.lines.first:
            lines.append(code.pop(0).fenced)
            last = None
        if last is not None and each.lines.first <= last.lines.last:
            lines[-1] += " " + each.shown
        elif each.shown:
            lines.append(each.shown)
        last = each
    return [*lines, *(each.fenced for each in code)]


def _narrative(excerpt: Excerpt) -> str:
    """A paragraph, below its note's title unless its sentences contain it."""
    said = f"{_flowing(excerpt.statements)} [{excerpt.tag}]{_outdated(excerpt.superseded_by)}"
    text = "\n".join([*_property_line(excerpt), said])
    title = excerpt.memory.title
    is_named = not excerpt.named or title.casefold() in text.casefold()
    return text if is_named else f"{title}\n{text}"


def _flowing(statements: Sequence[Statement]) -> str:
    """One paragraph; a line break follows text that does not end like a sentence."""
    text = ""
    for each in filter(None, (each.quoted for each in statements)):
        glue = " " if _ENDED.search(text) else "\n"
        text += glue + each if text else each
    return text


def _structured(excerpt: Excerpt) -> str:
    head = _header(Form.STRUCTURED, excerpt.memory, excerpt.tag, excerpt.lines) + _outdated(
        excerpt.superseded_by
    )
    said = (f"- {each.quoted}" for each in excerpt.statements if each.shown)
    return "\n".join([head, *_property_line(excerpt), *said])


def _code_focused(excerpt: Excerpt) -> str:
    """Code first, each piece with the sentence before it, then the other sentences."""
    head = _header(Form.CODE_FOCUSED, excerpt.memory, excerpt.tag, excerpt.lines) + _outdated(
        excerpt.superseded_by
    )
    lines = [head, *_property_line(excerpt)]
    told: set[int] = set()  # places of statements
    for each in excerpt.code:
        above = [
            k for k, said in enumerate(excerpt.statements) if said.lines.last < each.lines.first
        ]
        if above and above[-1] not in told:
            lines.append(excerpt.statements[above[-1]].quoted)
            told.add(above[-1])
        lines.append(each.fenced)
    rest = [each for k, each in enumerate(excerpt.statements) if k not in told]
    if rest:
        lines.append(_flowing(rest))
    return "\n".join(lines)
