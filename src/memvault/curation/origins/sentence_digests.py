"""Digests of a note's sentences, by which the journal records who wrote each of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from memvault.curation.origins.sentence_frames import frames
from memvault.model.provenance import plain_words, without_targets, written_form
from memvault.vault.lines import bare_lines
from memvault.vault.markdown.labelled_sentences import journal_sentences_in

_FINGERPRINT_SENTENCES = 16  # own sentences that identify a renamed note
SNIFFED = 8192  # bytes of a file that show whether it is text
_SAYS_SOMETHING = re.compile(r"[^\W_]|[^\x00-\x7f]")
_MIN_LINKING_WORDS = 3  # besides its links, by which a sentence is known whatever they link to
_MARK = re.compile(r"\s*(?:>\s*)*([-*+]|\d+[.)])\s")
_PAIRED = ("`", "%%", "~~", "$$")


class SentenceUnit(NamedTuple):
    """A sentence of one line; a line of the frontmatter is one, too.

    Attributes:
        written: see `written_form`.
        before: the same of the sentence before it.
        text: as in the note.
        frame: see `sentence_frames`.
        block: the number of its paragraph, list or table.
        section: the number of the part below one heading.
        is_prose: see `sentence_frames.Line`.
        around: the digest of the block in written form.
        below: the digest of the section in written form.
    """

    line: int
    written: str
    before: str
    is_body: bool
    text: str
    frame: str = ""
    block: int = 0
    section: int = 0
    is_prose: bool = False
    around: str = ""
    below: str = ""

    @property
    def words(self) -> str:
        return plain_words(self.text)

    @property
    def digest(self) -> str:
        return _digest(self.written)

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests by which the journal may record who wrote the sentence.

        That of the sentence, that of the sentence in its place, the short one of its words, which
        journals have until format 25, and the one without the targets of its links.
        """
        in_place = _digest(f"{self.before}\n{self.written}")
        found = (self.digest, in_place, _short_digest(self.words))
        return (*found, _digest(self.unlinked)) if self.unlinked else found

    @property
    def unlinked(self) -> str:
        """The sentence without the targets of its links; "" if it has none, or few other words."""
        if not _has_link(self):
            return ""
        unlinked = without_targets(self.text)
        return unlinked if len(plain_words(unlinked).split()) >= _MIN_LINKING_WORDS else ""

    @property
    def mark(self) -> str:
        """The mark of a list item, or what reads as one: a symbol, or the day in "5. März"."""
        match = _MARK.match(self.text)
        return match[1].replace("*", "-") if match else ""

    @property
    def framed(self) -> tuple[str, str, str]:
        return self.frame, self.written, self.mark

    @property
    def places(self) -> tuple[str, str, str]:
        """Short digests of the sentence in its frame, also in its block and order, and also in its
        section and order."""
        place = "\0".join(self.framed[:2])
        if self.mark not in ("", "-"):  # older journals have these places without a mark
            place += f"\0{self.mark}"
        return (
            _place_digest(place),
            _place_digest(f"{place}\0{self.around}\0{self.before}"),
            _place_digest(f"{place}\0{self.below}\0{self.before}\0section"),
        )

    @property
    def says_something(self) -> bool:
        """Whether it is more than ASCII punctuation."""
        return _SAYS_SOMETHING.search(self.written) is not None

    @property
    def is_statement(self) -> bool:
        """Whether it says something in the body and is no heading."""
        is_heading = self.frame.rpartition("\n")[2].startswith("heading ")
        return self.is_body and self.says_something and not is_heading

    @property
    def opens_mark(self) -> bool:
        """Whether it has a mark, such as one of code, that other sentences may close."""
        text = self.text
        unequal = any(text.count(a) != text.count(b) for a, b in ("[]", "<>"))
        return unequal or any(text.count(mark) % 2 for mark in _PAIRED)


def units(data: bytes) -> Iterator[SentenceUnit]:
    """The sentences of a note, line by line; lines of ASCII punctuation alone are left out."""
    return (unit for unit in units_and_marks(data) if unit.says_something)


def units_and_marks(data: bytes) -> Iterator[SentenceUnit]:
    """The sentences of a note, and its lines of punctuation alone."""
    lines = bare_lines(data.decode("utf-8", "replace"))
    head = _frontmatter_lines(lines)
    places = frames(lines, head)
    blocks: dict[int, list[str]] = defaultdict(list)
    sections: dict[int, list[str]] = defaultdict(list)
    for line, place in zip(lines, places, strict=True):
        if line.strip():
            written = written_form(line)
            blocks[place.block].append(written)
            sections[place.section].append(written)
    arounds, belows = _digests(blocks), _digests(sections)
    before = ""
    for number, (line, place) in enumerate(zip(lines, places, strict=True), 1):
        if not line.strip():
            continue
        around, below = arounds.get(place.block, ""), belows.get(place.section, "")
        for part in [line] if number <= head else journal_sentences_in(line):
            if part.strip():
                written = written_form(part)
                unit = SentenceUnit(
                    number, written, before, number > head, part, *place, around, below
                )
                yield unit
                before = written if unit.says_something else before


def _digests(texts: Mapping[int, Sequence[str]]) -> dict[int, str]:
    return {number: _place_digest("\n".join(text)) for number, text in texts.items()}


def _frontmatter_lines(lines: list[str]) -> int:
    if not lines or lines[0].strip("\ufeff ").rstrip() != "---":
        return 0
    closing = (index for index, line in enumerate(lines[1:], 2) if line.rstrip() == "---")
    return next(closing, 0)


def _digest(written: str) -> str:
    return blake2b(written.encode(), digest_size=16).hexdigest()


def _place_digest(place: str) -> str:
    return blake2b(place.encode(), digest_size=8).hexdigest()


def _short_digest(words: str) -> str:
    return blake2b(words.encode(), digest_size=6).hexdigest() if words else ""


_VERIFIED = "verified true"
VERIFIED_DIGESTS = frozenset((_digest("verified: true"), _short_digest(_VERIFIED)))


def says_verified(data: bytes) -> bool:
    """Whether the frontmatter says ``verified: true``."""
    return any(map(marks_verified, units(data)))


def marks_verified(unit: SentenceUnit) -> bool:
    return not unit.is_body and unit.words == _VERIFIED


def added(before: bytes | None, after: bytes) -> list[str]:
    """The digests of the sentences that a version adds or moves.

    An added sentence counts by its own digest, and by that without the targets of its links; a
    moved one by its digest in its new place. Bytes that are no text have none.
    """
    if b"\0" in after[:SNIFFED]:
        return []
    old, new = list(units(before)) if before else [], list(units(after))
    old_sentences = {unit.written for unit in old}
    new_sentences = [unit for unit in new if unit.written not in old_sentences]
    digests = [unit.digest for unit in new_sentences]
    if linked := [unit.unlinked for unit in new_sentences if unit.unlinked]:
        known_unlinked = {unit.unlinked for unit in old}
        digests += [_digest(unlinked) for unlinked in linked if unlinked not in known_unlinked]
    digests += [unit.digests[1] for unit in _moved(old, new)]
    return list(dict.fromkeys(digests))


def relinked(before: bytes, after: bytes) -> dict[str, str]:
    """The digest of each sentence in which only links changed, and that of the earlier sentence.

    Empty if the sentences with links cannot be paired, as after any other edit of one.
    """
    old, new = list(units(before)), list(units(after))
    old_sentences, new_sentences = {unit.written for unit in old}, {unit.written for unit in new}
    removed = [unit for unit in old if unit.written not in new_sentences and _has_link(unit)]
    changed = [unit for unit in new if unit.written not in old_sentences and _has_link(unit)]
    if len(removed) != len(changed):
        return {}
    return {
        digest: earlier.digest
        for unit, earlier in zip(changed, removed, strict=True)
        for digest in (unit.digest, *([_digest(unit.unlinked)] if unit.unlinked else []))
        if digest != earlier.digest
    }


def read_alike(before: bytes, after: bytes) -> bool:
    """Whether two versions of a note have the same words, whatever their links lead to."""
    return [unit.words for unit in units(before)] == [unit.words for unit in units(after)]


def _has_link(unit: SentenceUnit) -> bool:
    return "](" in unit.text or "[[" in unit.text


def _moved(old: Sequence[SentenceUnit], new: Sequence[SentenceUnit]) -> list[SentenceUnit]:
    """The sentences that both versions have once, in another order."""
    places, counts = {u.written: k for k, u in enumerate(old)}, Counter(u.written for u in old)
    new_counts = Counter(unit.written for unit in new)
    common = [u for u in new if counts[u.written] == 1 and new_counts[u.written] == 1]
    staying = increasing([places[unit.written] for unit in common])
    return [unit for index, unit in enumerate(common) if index not in staying]


def increasing(numbers: Sequence[int]) -> set[int]:
    """The indexes of a longest increasing sequence of these numbers (patience sorting)."""
    tops: list[int] = []  # the least last number of a sequence of each length
    lengths: list[int] = []  # of each number the length of the sequence that it ends
    for number in numbers:
        length = bisect_left(tops, number)
        tops[length : length + 1] = [number]
        lengths.append(length)
    places, length = set(), len(tops) - 1
    for index in range(len(numbers) - 1, -1, -1):
        if lengths[index] == length:
            length -= 1
            places.add(index)
    return places


def fingerprint(before: bytes, after: bytes) -> tuple[str, ...]:
    """The digests of the longest sentences that a change keeps: they identify a renamed note."""
    remaining = {unit.written for unit in units(after)}
    return longest_digests(
        unit for unit in units(before) if unit.is_body and unit.written in remaining
    )


def longest_digests(sentences: Iterable[SentenceUnit]) -> tuple[str, ...]:
    """The digests of the longest of these sentences."""
    longest_first = sorted(sentences, key=lambda unit: -len(unit.words))
    return tuple(dict.fromkeys(unit.digest for unit in longest_first))[:_FINGERPRINT_SENTENCES]
