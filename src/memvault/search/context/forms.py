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
from memvault.model.unicode_forms import without_invisible, without_line_breaks
from memvault.search.context.outline import Code, Statement
from memvault.vault.markdown.wikilink import without_wikilinks

MIN_TAG_DIGITS = 8  # least number of the id's 32 digits in a tag
MIN_CITED_DIGITS = 4  # least number of digits that are read as a tag
TAG = re.compile(r"\[node_([0-9a-f]{4,32})\]")

Starting = Callable[[str], Sequence[str]]  # the ids that begin with these digits

_CITATION = re.compile(r"\[?\s*(?:node_)?([0-9a-f-]{4,36})\s*\]?", re.IGNORECASE)


def digits(memory_id: str) -> str:
    """The hexadecimal digits of an id."""
    return memory_id.replace("-", "").lower()


def tags(ids: Collection[str], starting: Starting) -> dict[str, str]:
    """``node_…`` for each id: its first eight digits, or more if another id begins with them."""
    return {memory_id: "node_" + _shortest_start(digits(memory_id), starting) for memory_id in ids}


def _shortest_start(all_digits: str, starting: Starting) -> str:
    similar = {digits(other) for other in starting(all_digits[:MIN_TAG_DIGITS])} - {all_digits}
    length = MIN_TAG_DIGITS
    while length < len(all_digits) and any(
        other.startswith(all_digits[:length]) for other in similar
    ):
        length += 1
    return all_digits[:length]


def ids_of_citation(tag: str, starting: Starting) -> list[str] | None:
    """The ids that a tag may mean; None if it is no tag.

    A tag may lack brackets or ``node_``, have more or fewer digits, or be a whole id.
    """
    match = _CITATION.fullmatch(tag.strip())
    start = digits(match[1]) if match else ""
    return list(starting(start)) if MIN_CITED_DIGITS <= len(start) <= 32 else None


_ENDED = re.compile(r"[.!?…:;,。！？।؟۔][\"'”’»)\]」』）*]*\Z")
_LONGEST_LINES = LineRange(1000, 1000)  # takes as many tokens as lines in a header ever do


PROPERTY_SEPARATOR = " · "  # between properties


class ContextForm(StrEnum):
    RAW = "raw"
    NARRATIVE = "narrative"
    STRUCTURED = "structured"
    CODE_FOCUSED = "code_focused"


@dataclass(frozen=True, slots=True)
class ContextExcerpt:
    """The shown part of one memory, in the order of its note.

    ``properties`` are frontmatter fields relevant to the question (``status: done``). ``mark``
    follows its tag or header: who else wrote it, what supersedes it, and newer claims.
    """

    memory: Memory
    tag: str
    statements: tuple[Statement, ...]
    code: tuple[Code, ...] = ()
    properties: tuple[str, ...] = ()
    mark: str = ""

    @property
    def lines(self) -> LineRange:
        spans = [statement.lines for statement in self.statements]
        spans += [piece.lines for piece in self.code]
        return LineRange(min(span.first for span in spans), max(span.last for span in spans))

    @property
    def heading(self) -> str:
        """The heading path that all sentences share, ``A > B``; empty if there is none."""
        paths = [statement.heading for statement in self.statements]
        paths += [piece.block.heading for piece in self.code]
        shared = paths[0]
        for path in paths[1:]:
            length = 0
            while length < min(len(shared), len(path)) and shared[length] == path[length]:
                length += 1
            shared = shared[:length]
        return " > ".join(shared)


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """The size limit of a context.

    Attributes:
        tokens: of the text and of naming its memories.
        naming_tokens: returns for each memory the tokens that naming it costs outside of the text.
        first_memory_tokens: tokens of text that the first memory may always have.
    """

    tokens: int
    naming_tokens: Callable[[Sequence[Memory]], Sequence[int]] | None = None
    first_memory_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """A distilled ``text`` of ``tokens`` tokens, made of text and code of ``source_tokens``.

    ``compression`` is 1 - tokens / source_tokens, or 0 if nothing was omitted. ``excerpts`` has the
    shown part of each memory, the most relevant memory first.
    """

    text: str
    form: ContextForm
    tokens: int
    source_tokens: int
    compression: float
    excerpts: tuple[ContextExcerpt, ...]


def context_text(form: ContextForm, excerpts: Sequence[ContextExcerpt]) -> str:
    """The context's text."""
    write = {
        ContextForm.RAW: _as_passages,
        ContextForm.NARRATIVE: _as_prose,
        ContextForm.STRUCTURED: _as_bullets,
        ContextForm.CODE_FOCUSED: _around_code,
    }[form]
    return "\n\n".join(write(excerpt) for excerpt in excerpts)


def frame_text(
    form: ContextForm,
    memory: Memory,
    tag: str,
    properties: Sequence[str],
    mark: str,
) -> str:
    """An excerpt's text other than its sentences, to count its tokens in advance."""
    head = _header(form, memory, tag, _LONGEST_LINES)
    if form is ContextForm.NARRATIVE:
        head = f"{without_tags(memory.title)} [{tag}]"
    return head + properties_text(properties) + mark


def properties_text(properties: Sequence[str]) -> str:
    """``key: value`` lines as one line, with the text that their wikilinks show."""
    return without_wikilinks(PROPERTY_SEPARATOR.join(properties))


def _header(form: ContextForm, memory: Memory, tag: str, lines: LineRange) -> str:
    mark = "## " if form is ContextForm.STRUCTURED else ""
    place = f"{without_line_breaks(memory.path)}:{lines.first}-{lines.last}"
    return f"{mark}{without_tags(memory.title)} ({place}) [{tag}]"


def without_tags(text: str) -> str:
    """The text with round brackets around what reads like a citation tag, so that it cites
    nothing."""
    return TAG.sub(r"(node_\1)", without_invisible(text))


def _as_passages(excerpt: ContextExcerpt) -> str:
    head = _header(ContextForm.RAW, excerpt.memory, excerpt.tag, excerpt.lines) + excerpt.mark
    return "\n".join([head, *_property_line(excerpt), *_lines_in_order(excerpt)])


def _property_line(excerpt: ContextExcerpt) -> list[str]:
    """The line of its properties, if it has any."""
    return [properties_text(excerpt.properties)] if excerpt.properties else []


def _lines_in_order(excerpt: ContextExcerpt) -> list[str]:
    """Sentences and code as they follow each other, a line for each line of the note."""
    lines: list[str] = []
    previous: Statement | None = None
    code = sorted(excerpt.code, key=lambda piece: piece.lines)
    for statement in excerpt.statements:
        while code and code[0].lines.first < statement.lines.first:
            lines.append(code.pop(0).fenced)
            previous = None
        if previous is not None and statement.lines.first <= previous.lines.last:
            lines[-1] += " " + statement.shown
        elif statement.shown:
            lines.append(statement.shown)
        previous = statement
    return [*lines, *(piece.fenced for piece in code)]


def _as_prose(excerpt: ContextExcerpt) -> str:
    """A paragraph, below its note's title unless its sentences contain it."""
    mark = f"[{excerpt.tag}]{excerpt.mark}"
    text = "\n".join([*_property_line(excerpt), f"{_paragraph(excerpt.statements)} {mark}"])
    title = without_tags(excerpt.memory.title)
    return text if title.casefold() in text.casefold() else f"{title}\n{text}"


def _paragraph(statements: Sequence[Statement]) -> str:
    """One paragraph; a line break follows text that does not end like a sentence."""
    text = ""
    for sentence in filter(None, (sentence.quoted for sentence in statements)):
        glue = " " if _ENDED.search(text) else "\n"
        text += glue + sentence if text else sentence
    return text


def _as_bullets(excerpt: ContextExcerpt) -> str:
    head = (
        _header(ContextForm.STRUCTURED, excerpt.memory, excerpt.tag, excerpt.lines) + excerpt.mark
    )
    bullets = (f"- {statement.quoted}" for statement in excerpt.statements if statement.shown)
    return "\n".join([head, *_property_line(excerpt), *bullets])


def _around_code(excerpt: ContextExcerpt) -> str:
    """Code first, each piece with the sentence before it, then the other sentences."""
    head = (
        _header(ContextForm.CODE_FOCUSED, excerpt.memory, excerpt.tag, excerpt.lines) + excerpt.mark
    )
    lines = [head, *_property_line(excerpt)]
    shown_places: set[int] = set()  # indexes of statements
    for piece in excerpt.code:
        places_above = [
            index
            for index, statement in enumerate(excerpt.statements)
            if statement.lines.last < piece.lines.first
        ]
        if places_above and places_above[-1] not in shown_places:
            lines.append(excerpt.statements[places_above[-1]].quoted)
            shown_places.add(places_above[-1])
        lines.append(piece.fenced)
    others = [
        statement for index, statement in enumerate(excerpt.statements) if index not in shown_places
    ]
    if others:
        lines.append(_paragraph(others))
    return "\n".join(lines)
