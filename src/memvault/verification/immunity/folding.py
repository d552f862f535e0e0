"""Normalises text: removes invisible characters, look-alike letters and spelling tricks."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from memvault.model.unicode_forms import normalized

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# Letters of other scripts that look like Latin ones (Unicode TR 39, the lower-case intersection).
_PAIRS = (
    "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ԍg ӏl кk мm тt пn гr вb нh ԉn "
    "ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ᴛt ᴜu ᴠv ᴡw ʏy ᴢz ꜱs ꜰf "
    "αa βb γy εe ηn ιi κk νv οo ρp τt υu χx ωw ϲc ıi ɡg ɑa օo ոn սu յj հh"
)
_LOOK_ALIKE = str.maketrans({pair[0]: pair[1] for pair in _PAIRS.split()})
_LEET = str.maketrans("01345789@$!|", "oieastbgasii")
_WORD = re.compile(r"[^\W\d_]+")
_LEET_WORD = re.compile(r"(?=\S{0,20}[a-z])(?=\S{0,20}[013457@$!|])[a-z013457@$!|]{4,}")
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_LATIN = re.compile(r"[a-z]")
# Longer runs of marks and spaces say no more than their ends, and take quadratic time to match.
_LONG_RUN = re.compile(r"[\W_]{13,}")
_RUN_ENDS = 6
_REPEATED_WORD = re.compile(r"\b(\w{2,20})(?:[ \t,;]{1,3}\1\b)+")
_LINK = re.compile(
    r"!?\[\[(?:[^\[\]|\n]{0,200}\|)?([^\[\]|\n]{0,200})\]\]|!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,400}\)"
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text; `places[i]` is the original offset of `text[i]`.

    `places` is None if no offset changed.
    """

    text: str
    places: list[int] | None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in the original of a span of the folded text."""
        if self.places is None:
            return start, end
        if not self.places:
            return 0, 0
        return self.places[start], self.places[max(start, end - 1)] + 1


def folded_as_read(text: str) -> Folded:
    """The folded text as a person sees it.

    HTML entities of letters and spaces are decoded, a repeated word is kept once, and a long run of
    marks and spaces is cut to its two ends.
    """
    unescaped = _replaced(Folded(text, None), _ENTITY, _character) if "&" in text else None
    if unescaped is None or unescaped.places is None:
        return _shortened(fold(text))
    places = unescaped.places
    folded = fold(unescaped.text)
    if folded.places is not None:
        places = [places[index] for index in folded.places]
    return _shortened(Folded(folded.text, places))


def without_links(folded: Folded) -> Folded:
    """The text with each link as the words that it shows."""
    if "[[" not in folded.text and "](" not in folded.text:
        return folded
    return _replaced(folded, _LINK, lambda match: match[1] or match[2] or "")


def _shortened(folded: Folded) -> Folded:
    """The text without repetitions of a word, and with only the ends of long runs."""
    without_repetitions = _replaced(folded, _REPEATED_WORD, lambda match: match[1])
    return _replaced(without_repetitions, _LONG_RUN, _ends)


def _character(match: re.Match[str]) -> str:
    char = html.unescape(match[0])
    return char if len(char) == 1 and (char.isalnum() or char.isspace()) else match[0]


def _ends(match: re.Match[str]) -> str:
    run = match[0]
    gap = "\n" if "\n" in run[_RUN_ENDS:-_RUN_ENDS] else ""
    return run[:_RUN_ENDS] + gap + run[-_RUN_ENDS:]


def _replaced(
    folded: Folded, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]
) -> Folded:
    """The text with each match replaced by what is shown for it, which is no longer than it."""
    parts: list[str] = []
    places: list[int] = []
    position = 0
    for match in pattern.finditer(folded.text):
        new = replacement(match)
        if new == match[0]:
            continue
        parts += [folded.text[position : match.start()], new]
        places += range(position, match.start())
        first_half = (len(new) + 1) // 2
        places += range(match.start(), match.start() + first_half)
        places += range(match.end() - len(new) + first_half, match.end())
        position = match.end()
    if not parts:
        return folded
    parts.append(folded.text[position:])
    places += range(position, len(folded.text))
    former_places = folded.places
    return Folded(
        "".join(parts),
        places if former_places is None else [former_places[index] for index in places],
    )


def fold(text: str) -> Folded:
    """The text in lower case and NFKC, without invisible characters and accents on Latin letters.

    Look-alike letters of other scripts become the Latin letters that they imitate.
    """
    if text.isascii():
        return Folded(text.lower(), None)
    parts: list[str] = []
    places: list[int] = []
    for index, char in enumerate(text):
        folded = _folded(char)
        if not folded:
            continue
        parts.append(folded)
        places.extend([index] * len(folded))
    folded_text = "".join(parts)
    return Folded(_latinised(folded_text), places)


def lookalike_key(name: str) -> str:
    """A key that is equal for names that look the same."""
    return "".join(fold(name).text.split())


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    if _INVISIBLE.match(char):
        return ""
    if unicodedata.category(char) == "Mn" and unicodedata.combining(char):
        return "" if char < "\u0590" or "\u1ab0" <= char <= "\u20ff" else char
    normal = normalized(char, "NFKC").lower()
    base = normalized(normal, "NFKD")
    return (
        base[0]
        if len(base) > 1
        and base[0].isascii()
        and base[0].isalpha()
        and all(unicodedata.combining(mark) for mark in base[1:])
        else normal
    )


def _latinised(text: str) -> str:
    """The text with look-alike letters replaced in words that probably imitate Latin ones.

    These are words that mix scripts, and words of another script in a mostly Latin text.
    """
    latin = len(_LATIN.findall(text))
    mostly_latin = latin * 2 > len(text) * 0.8

    def shape(match: re.Match[str]) -> str:
        word = match[0]
        if word.isascii():
            return word
        imitated = word.translate(_LOOK_ALIKE)
        if imitated.isascii() and (mostly_latin or _LATIN.search(word)):
            return imitated
        return word

    return _WORD.sub(shape, text)


def unleeted(folded: str) -> str:
    """The text with digits and signs inside words as the letters that they imitate, same length."""
    return _LEET_WORD.sub(lambda match: match[0].translate(_LEET), folded)


def squeezed(folded: str) -> str:
    """The letters of a text only, so that spaces and punctuation inside words hide no word."""
    return _NOT_LETTERS.sub("", folded)
