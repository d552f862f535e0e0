"""Whose words a note holds: the person's, or what others wrote into it."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from memvault.model.note import LineRange

_WORD = re.compile(r"\w+")
_MARKER = re.compile(r"^\s*(?:>\s*)*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[.\]\s+)?(?:#{1,6}\s+)?")


class OriginKind(StrEnum):
    PERSON = "person"  # typed in an editor or on the page
    CLIENT = "client"  # an AI client wrote it
    IMPORT = "import"  # a conversation that was imported
    WEB = "web"  # a client says that it fetched it
    MEMVAULT = "memvault"  # upkeep, a dream, a brief, a merge


SPOKEN_BY_PERSON = "person"  # the session of what the person said in an imported conversation


class Origin(BaseModel):
    """``name`` is the client's own name for itself, or where an import came from; ``session`` the
    client's session, or `SPOKEN_BY_PERSON`."""

    model_config = ConfigDict(frozen=True)

    kind: OriginKind = OriginKind.PERSON
    name: str = ""
    session: str = ""

    @property
    def is_person(self) -> bool:
        return self.kind is OriginKind.PERSON

    @property
    def witness(self) -> str | None:
        """The group that it speaks for: two statements of one group are one witness. All clients
        are one group, since they name themselves; with them goes what they say that they fetched,
        and what an assistant said in an imported conversation. memvault's own texts are derived
        from others and confirm nothing: None."""
        if self.kind is OriginKind.PERSON:
            return "person"
        if self.kind is OriginKind.MEMVAULT:
            return None
        spoken = self.kind is OriginKind.IMPORT and self.session == SPOKEN_BY_PERSON
        return "import" if spoken else "clients"


PERSON = Origin()


class OriginSpan(NamedTuple):
    """Lines of a note, counted from 1, in which others than the person wrote."""

    first: int
    last: int
    origin: Origin


class Provenance(BaseModel):
    """Where a note's words come from.

    Attributes:
        origin: whose most of the body is.
        spans: the lines that hold words of others, in order; none in the person's own note.
        own: the person's words in a note that others wrote in, too (see `plain_words`).
        own_properties: the same of the frontmatter's lines that are the person's.
        stamp: another whenever the journal says something new of this note.
    """

    model_config = ConfigDict(frozen=True)

    origin: Origin = PERSON
    spans: tuple[OriginSpan, ...] = ()
    own: str = ""
    own_properties: tuple[str, ...] = ()
    stamp: str = ""

    @property
    def is_person(self) -> bool:
        """Whether all of it is the person's."""
        return not self.spans

    @property
    def is_mixed(self) -> bool:
        return bool(self.spans) and bool(self.own)

    def of_lines(self, lines: LineRange) -> Origin:
        """The person if no other wrote in these lines, else the first who did."""
        for span in self.spans:
            if span.first <= lines.last and lines.first <= span.last:
                return span.origin
        return PERSON

    def of_sentence(self, sentence: str, lines: LineRange) -> Origin:
        """Whose a sentence is that stands in these lines."""
        found = self.of_lines(lines)
        if found.is_person or not self.own:
            return found
        words = plain_words(sentence)
        return PERSON if words and f" {words} " in f" {self.own} " else found


def plain_words(text: str) -> str:
    """The words of a text in lower case, without markup or punctuation."""
    return " ".join(_WORD.findall(_MARKER.sub("", text).casefold()))
