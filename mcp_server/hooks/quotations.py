"""Quotations from notes for the model: their origin, their order, and whether they say anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mcp_server.middleware.origin_marks import origin_shown
from memvault.capture.changes_of_mind import content_stems, replaced
from memvault.capture.extract import MASKED_WORDS, ItemKind, content_words
from memvault.capture.session_note import FILES
from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.provenance import Origin
from memvault.search.excerpt import Excerpt
from memvault.text.secrets import MASK
from memvault.vault.compose import bare_lines
from memvault.vault.session_lines import without_speaker

LASTING = ("decision", "preference")
PREFERENCES = "Preferences of the person"
# The sections of a session note whose lines replace older ones about the same matter, and those
# whose lines are replaced.
_REPLACING = ("Decisions", PREFERENCES, "Facts stated by the person")
_REPLACED = (*_REPLACING, "Open questions")
SAME_MATTER = 0.55  # cosine from which two sentences are about one matter
NAMED_MATTER = 0.4  # cosine, if the newer sentence names what it replaces in the older one
EARLIER = "(earlier)"
_BY_ASSISTANT = (ItemKind.SUMMARY.value, ItemKind.REPORT.value)
_ASSISTANT = 0.8  # weight of the assistant's words; the person's have 1
_NEXT_SHARE = 0.7  # of the best line's worth, from which another line of a session is quoted
MIN_WORDS = 2  # content words; fewer say nothing ("Welcome.")
_CUT = "…"

# The joints between items of an excerpt: list marks, and headings in brackets.
_JOINT = re.compile(r"(?:… )?\[[^\]]{1,80}\] (?:- )?| … - | - (?=[A-Z\"])")
_CLAUSE = re.compile(r"[,;:](?= )| [–—-](?= )")
_ENDED = re.compile(r"[.!?:;。！？)\]\"'”’]\Z")
_CUT_FROM = 1.5  # times the limit; excerpts cut a sentence at twice the limit
MAX_POINTER_CHARS = 100

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words quoted from a memory.

    Attributes:
        lines: where the note has them.
        heading: the section of a session note that has them.
        origin: who wrote them; None for the origin of the lines.
    """

    memory: Memory
    text: str
    lines: tuple[int, int] | None = None
    heading: str = ""
    origin: Origin | None = None

    @property
    def key(self) -> str:
        """A key that equal quotations share: the memory's id, as one quotation of a note is enough.

        The text is part of the key for a session's note, which has many different lines.
        """
        text = self.text.removeprefix(EARLIER).strip().casefold()
        return f"{self.memory.id} {text}" if self.memory.type == "session" else self.memory.id

    @property
    def normalised(self) -> str:
        """The text without its speaker, in lower case; equal for what sessions repeat."""
        text = without_speaker(self.text).removeprefix(EARLIER)
        return " ".join(text.casefold().split())

    @property
    def is_preference(self) -> bool:
        return self.memory.type == "preference" or self.heading == PREFERENCES

    def line(self) -> str:
        """The quotation on one line; its angle brackets are replaced, so it cannot end the
        marks."""
        words = self.text.replace("<", "‹").replace(">", "›")
        lines = f":{self.lines[0]}" if self.lines else ""
        kind = f", {self.memory.type}" if self.memory.type in LASTING else ""
        return f'- "{words}" ({self.memory.path}{lines}{kind}{self._claim()})'

    def _claim(self) -> str:
        """The claimant, if the person neither wrote nor confirmed the words; else empty."""
        lines = list(self.lines) if self.lines else None
        origin = self.origin or origin_shown(self.memory, lines)
        if origin.is_person or self.memory.verified:
            return ""
        by = (origin.name or str(origin.kind)).replace("<", "‹").replace(">", "›")
        return f", claimed by {' '.join(by.split())[:60]}"


def distinct(quotations: Sequence[Quotation]) -> list[Quotation]:
    """The quotations without later ones of the same text."""
    first = {each.normalised: each for each in reversed(quotations)}
    return list(first.values())[::-1]


def by_origin(memory: Memory, text: str, lines: LineRange) -> list[tuple[str, Origin | None]]:
    """The lines of an excerpt, those of each origin together; the whole text with the origin None
    if one party wrote the note or the person verified it."""
    if memory.verified or not memory.provenance.is_mixed:
        return [(text, None)]
    parts: dict[Origin, list[str]] = {}
    for line in filter(str.strip, bare_lines(text)):
        parts.setdefault(memory.provenance.of_sentence(line, lines), []).append(line)
    return [("\n".join(own), origin) for origin, own in parts.items()]


def of_excerpt(
    memory: Memory, excerpt: Excerpt, limit: int, *, is_pointer: bool
) -> list[Quotation]:
    """The quotations of an excerpt, one for each origin.

    Args:
        limit: bytes that the excerpt was to have; a much longer sentence in it was cut.
        is_pointer: quote little, and without lines.
    """
    lines = None if is_pointer else (excerpt.lines.first, excerpt.lines.last)
    quotations = []
    for part, origin in by_origin(memory, excerpt.text, excerpt.lines):
        text = _JOINT.sub(" … ", " ".join(part.split())).strip(" …-")
        is_cut = len(text.encode()) > _CUT_FROM * limit and not _ENDED.search(text)
        if is_pointer and (is_cut or len(text) > MAX_POINTER_CHARS):
            text = _pointer(text, memory.title)
        elif is_cut:
            text = f"{text} {_CUT}"
        elif text and not is_pointer and not says_something(text):
            text = f"{memory.title}: {text}"  # "Carpenter." says something below its title
        quotations.append(Quotation(memory, text, lines, origin=origin))
    return quotations


def _pointer(text: str, title: str) -> str:
    """The first clauses of a text, else the title: never a part of a clause."""
    ends = [match.start() for match in _CLAUSE.finditer(text, 0, MAX_POINTER_CHARS)]
    return f"{text[: ends[-1]]} {_CUT}" if ends and ends[-1] >= MAX_POINTER_CHARS // 2 else title


def says_something(text: str) -> bool:
    """Whether a quotation says anything after secrets were removed or a sentence was cut."""
    plain = without_speaker(text).replace(_CUT, " ")
    bare = plain.replace(MASK, " ")
    words = len(content_stems(bare))
    if bare != plain:
        return words >= MASKED_WORDS
    return words >= MIN_WORDS or not plain.isascii()


def latest_first(
    quotations: Sequence[Quotation], embed: Embed, newer: Sequence[Quotation] = ()
) -> list[Quotation]:
    """The quotations in their order, except that lines of sessions come last and are marked as
    earlier if a newer quotation is about the same matter.

    Args:
        embed: normalised vectors of texts.
        newer: further quotations, which are added where they replace one of the others.
    """
    if not any(_is_replaceable(each) for each in quotations):
        return list(quotations)
    every = distinct([*quotations, *newer])
    vectors = embed([without_speaker(each.text) for each in every])
    cosines = vectors @ vectors.T
    words = [content_words(without_speaker(each.text)) for each in every]
    gone = [replaced(each.text) if _replaces(each) else [] for each in every]

    def replaces(new: int, old: int) -> bool:
        if not (_replaces(every[new]) and _is_newer(every[new], every[old])):
            return False
        names = any(each <= words[old] for each in gone[new])
        if not names and words[old].difference(*gone[old]) <= words[new]:
            return False  # they agree
        return bool(cosines[old, new] >= (NAMED_MATTER if names else SAME_MATTER))

    places = range(len(every))
    replacing = {
        old: [new for new in places if replaces(new, old)]
        for old in places
        if _is_replaceable(every[old])
    }
    ordered: list[Quotation] = []
    for place, quotation in enumerate(every[: len(quotations)]):
        latest = [new for new in replacing.get(place, []) if not replacing.get(new)]
        ordered += [every[new] for new in latest if new >= len(quotations)]
        if not replacing.get(place):
            ordered.append(quotation)
    marked = [
        replace(each, text=f"{EARLIER} {each.text}")
        for place, each in enumerate(every[: len(quotations)])
        if replacing.get(place)
    ]
    return distinct(ordered) + marked


def _is_replaceable(quotation: Quotation) -> bool:
    return quotation.memory.type == "session" and quotation.heading in _REPLACED


def _replaces(quotation: Quotation) -> bool:
    """Whether a quotation settles its matter: the person's own note, or a line of a session that is
    no question or report."""
    if quotation.memory.type == "session":
        return quotation.heading in _REPLACING
    return quotation.memory.type in LASTING


def _is_newer(one: Quotation, other: Quotation) -> bool:
    if one.memory.id == other.memory.id:
        return (one.lines or (0, 0)) > (other.lines or (0, 0))
    return one.memory.created_at > other.memory.created_at


def best_lines(
    items: Mapping[str, Sequence[tuple[int, str]]], worth: Callable[[int], float], limit: int
) -> list[tuple[str, int, str]]:
    """The heading, line and text of the lines of a session that are worth most, best first.

    The person's words count more than the assistant's.

    Args:
        items: the lines by heading, see `items_by_heading`.
        worth: the worth of the line with a number.
    """
    lines = [
        (worth(number) * (_ASSISTANT if _is_assistants(heading, text) else 1.0), heading, number)
        for heading, below in items.items()
        for number, text in below
        if heading != FILES and says_something(text)
    ]
    lines.sort(key=lambda each: -each[0])
    texts = {number: text for below in items.values() for number, text in below}
    return [
        (heading, number, texts[number])
        for score, heading, number in lines[:limit]
        if score >= _NEXT_SHARE * lines[0][0]
    ]


def _is_assistants(heading: str, text: str) -> bool:
    return heading in _BY_ASSISTANT or text.endswith(" (assistant)")
