"""The origin of a note's words: the person, or others who wrote into the note."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel

from memvault.model.note import LineRange
from memvault.model.unicode_forms import normalized

_WORD = re.compile(r"\w+")
_LINE_END = re.compile(rb"(\r\n|\r|\n)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_LINE_MARK = re.compile(r"^\s*(?:>\s*)*(?:(?:[-*+]|\d+[.)])\s+)?(?:#{1,6}\s+)?")
_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)")
_MARKER = re.compile(r"^\s*(?:>\s*)*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[.\]\s+)?(?:#{1,6}\s+)?")


class OriginKind(StrEnum):
    PERSON = "person"  # typed in an editor or on the page
    CLIENT = "client"  # an AI client wrote it
    IMPORT = "import"  # a conversation that was imported
    WEB = "web"  # a client says that it fetched it
    MEMVAULT = "memvault"  # upkeep, a dream, a brief, a merge


SPOKEN_BY_PERSON = "person"  # the session of what the person said in an imported conversation


class Origin(BaseModel, frozen=True):
    """``name`` is the client's own name for itself, or where an import came from; ``session`` the
    client's session, or `SPOKEN_BY_PERSON`."""

    kind: OriginKind = OriginKind.PERSON
    name: str = ""
    session: str = ""

    @property
    def is_person(self) -> bool:
        return self.kind is OriginKind.PERSON

    @property
    def writer(self) -> str:
        """The writer's name; the kind of one without a name."""
        return self.name or str(self.kind)

    @property
    def witness(self) -> str | None:
        """The group that this origin speaks for; two statements of one group are one witness.

        All clients are one group, since they name themselves. It includes texts that they say they
        fetched, and an assistant's words in an imported conversation. None for memvault's own
        texts, which are derived from others and confirm nothing.
        """
        if self.kind is OriginKind.PERSON:
            return "person"
        if self.kind is OriginKind.MEMVAULT:
            return None
        return "import" if self.is_spoken else "clients"

    @property
    def is_spoken(self) -> bool:
        """Whether the person said it in an imported conversation."""
        return self.kind is OriginKind.IMPORT and self.session == SPOKEN_BY_PERSON

    @property
    def trust(self) -> int:
        """Rank of trust: 2 for the person, 1 for their words in an import, 0 for others."""
        return 2 if self.is_person else int(self.is_spoken)


PERSON = Origin()


class OriginSpan(NamedTuple):
    """Lines of a note, counted from 1, in which somebody other than the person wrote."""

    first: int
    last: int
    origin: Origin


class Provenance(BaseModel, frozen=True):
    """The origins of a note's words.

    Attributes:
        origin: who wrote most of the body.
        spans: the lines with words of others, in order; empty for the person's own note.
        own: the words of each sentence of the person's in a note that others wrote in, too, on a
            line of their own (see `plain_words`).
        own_numbers: for each of these sentences the number of its line in the note.
        spoken: the person's sentences in an imported conversation, in the same form.
        verifiable: whether the person's ``verified: true`` covers the whole note; it does not cover
            text that a client added to a note that was already verified.
        own_properties: the words of the person's lines of the frontmatter.
        own_parts: line numbers with the person's sentences in lines that others wrote in, too.
        has_reframed: whether a client put sentences of the person into another frame.
        mtime_ns: when the person had saved the note before memvault first changed it.
        stamp: changes whenever the journal has something new about this note.
    """

    origin: Origin = PERSON
    spans: tuple[OriginSpan, ...] = ()
    own: str = ""
    own_numbers: tuple[int, ...] = ()
    spoken: str = ""
    own_properties: tuple[str, ...] = ()
    own_parts: tuple[tuple[int, str], ...] = ()
    verifiable: bool = True
    has_reframed: bool = False
    mtime_ns: int | None = None
    stamp: str = ""

    @property
    def is_person(self) -> bool:
        """Whether all words of the note are the person's."""
        return not self.spans

    @property
    def is_mixed(self) -> bool:
        return bool(self.spans) and bool(self.own)

    @property
    def kinds(self) -> frozenset[OriginKind]:
        """The kinds of origins that the note has words of."""
        foreign_kinds = {span.origin.kind for span in self.spans}
        return frozenset(
            foreign_kinds | ({OriginKind.PERSON} if self.own or not foreign_kinds else set())
        )

    @property
    def claimant(self) -> Origin:
        """Who wrote most of the body; if that is the person, the first other writer, if any."""
        return self.origin if not self.origin.is_person else self._first_other

    @property
    def _first_other(self) -> Origin:
        """The first other writer, but memvault only if it is the only one: it adds names and
        headings to texts that it merges."""
        origins = (span.origin for span in self.spans)
        return min(origins, key=lambda origin: origin.kind is OriginKind.MEMVAULT, default=PERSON)

    def of_lines(self, lines: LineRange) -> Origin:
        """The origin of these lines: the person if no other wrote in them, else the least trusted.

        In a note without the person's words, lines without words are not theirs either.
        """
        origins = [span.origin for span in self._spans_in(lines)]
        if not origins and not self.own and not self.own_properties:
            origins = [span.origin for span in self.spans]
        return min(origins, key=lambda origin: origin.trust, default=PERSON)

    def _spans_in(self, lines: LineRange) -> Iterator[OriginSpan]:
        return (s for s in self.spans if s.first <= lines.last and lines.first <= s.last)

    def has_claims_in(self, lines: LineRange) -> bool:
        """Whether others than memvault, whose texts are derived, wrote in these lines."""
        return any(s.origin.kind is not OriginKind.MEMVAULT for s in self._spans_in(lines))

    def covers(self, lines: LineRange) -> bool:
        """Whether others wrote in each of these lines."""
        return any(s.first <= lines.first and lines.last <= s.last for s in self.spans)

    def of_sentence(self, sentence: str, lines: LineRange) -> Origin:
        """The origin of a sentence in these lines.

        Part of a sentence of the person's is not theirs: "I doubt that it leaks" does not say that
        it leaks. Nor is a copy of it in other lines.
        """
        origin = self.of_lines(lines)
        if origin.is_person:
            return origin
        words = plain_words(sentence)
        for first, last in _whole_sentences(self.own, words):
            if lines.first <= self.own_numbers[first] and self.own_numbers[last] <= lines.last:
                return PERSON
        if any(s.origin.is_spoken for s in self._spans_in(lines)) and any(
            _whole_sentences(self.spoken, words)
        ):
            return Origin(kind=OriginKind.IMPORT, name=origin.name, session=SPOKEN_BY_PERSON)
        return origin

    def is_own_sentence(self, words: str) -> bool:
        """Whether the person wrote these words (see `plain_words`) as a whole sentence."""
        return any(_whole_sentences(self.own, words))

    def own_heading(self, heading: str) -> str:
        """A heading's path, or "" if others wrote part of it in the person's note.

        Above the person's words, such a heading would pass for theirs.
        """
        parts = heading.split(" > ") if self.is_mixed or self.has_reframed else ()
        return heading if all(self.is_own_sentence(plain_words(part)) for part in parts) else ""

    def of_property(self, line: str) -> Origin:
        """The origin of a line of the frontmatter."""
        if self.is_person or plain_words(line) in self.own_properties:
            return PERSON
        return self._first_other


def _whole_sentences(sentences: str, words: str) -> Iterator[tuple[int, int]]:
    """The numbers of the first and last of successive sentences that are exactly these words.

    Args:
        sentences: the words of each on its line.
    """
    text = f" {sentences} ".replace("\n", " ") if words else ""
    start = text.find(f" {words} ")
    while start >= 0:
        end = start + len(words)
        if sentences[:start][-1:] in ("", "\n") and sentences[end : end + 1] in ("", "\n"):
            yield sentences.count("\n", 0, start), sentences.count("\n", 0, end)
        start = text.find(f" {words} ", start + 1)


_FADED = re.compile(rb"(?:faded|archived): \"?[0-9a-z]+\"?")

_ROW = re.compile(rb"[ \t>]*\|")


def own_lines(data: bytes, provenance: Provenance) -> bytes:
    """A note's bytes without the sentences of others.

    Every line keeps its number, and the lines that say that the note has faded stay. A row below
    another row of a table is empty instead: without it, the table would end there.
    """
    parts = _LINE_END.split(data)  # lines, and between them their ends
    own_parts = dict(provenance.own_parts)
    for span in provenance.spans:
        for number in range(span.first, min(span.last, len(parts) // 2 + 1) + 1):
            index = 2 * (number - 1)
            if _FADED.fullmatch(parts[index]):
                continue
            is_row = number > 1 and _ROW.match(parts[index]) and _ROW.match(parts[index - 2])
            parts[index] = own_parts.get(number, "|" if is_row else "").encode()
            if not parts[index] and parts[index - 1 : index + 2 : 2] == [b"\r", b"\n"]:
                parts[index] = b" "  # else both line endings would be one
    return b"".join(parts)


def written_form(text: str) -> str:
    """A sentence without what a formatter may change.

    That is letter case, spaces, and the marks of lists, quotes, headings and emphasis. Symbols,
    punctuation and targets of links stay."""
    if not text.isascii():
        text = normalized(text)
    text = _LINE_MARK.sub("", text)
    if "*" in text or "_" in text:  # searching for emphasis takes most of the time
        text = _EMPHASIS.sub("", text)
    return " ".join(text.casefold().split())


def without_targets(text: str) -> str:
    """The written form without wikilinks and the targets of links.

    Obsidian rewrites these when a note is renamed."""
    return written_form(_LINK.sub(r"[\1]()", _WIKILINK.sub("[[]]", text)))


def plain_words(text: str) -> str:
    """The words of a text in lower case, without markup or punctuation."""
    if "[" in text:
        text = _LINK.sub(r"\1", _WIKILINK.sub(r"\1", text))
    return " ".join(_WORD.findall(_MARKER.sub("", text).casefold()))
