"""Reads text in which each letter is replaced: rotated, mirrored, upside down, or in Braille."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MAX_LINE = 4_000  # characters of a line that are read
# Words that most attacks contain, by which a rotated or reversed attack is recognised.
_TELLING = (
    "ignore", "instruction", "assistant", "system", "previous", "password", "prompt", "disregard",
    "reveal", "forward",
)  # fmt: skip
BRAILLE_RUN = re.compile("[\u2801-\u28ff](?:[\u2800-\u28ff]|[ \t](?=[\u2800-\u28ff])){11,4000}")
# The letters a to z; other cells, such as that before a capital letter, are left out.
_BRAILLE = dict(zip("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", "abcdefghijklmnopqrstuvwxyz", strict=True))


def from_braille(run: str) -> str:
    return "".join(_BRAILLE.get(char, " " if char in " \t\u2800" else "") for char in run)


def _shift(text: str, places: int) -> str:
    lower, upper = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    table = str.maketrans(
        lower + upper, lower[places:] + lower[:places] + upper[places:] + upper[:places]
    )
    return text.translate(table)


def _atbash(text: str) -> str:
    low = "abcdefghijklmnopqrstuvwxyz"
    return text.translate(str.maketrans(low + low.upper(), low[::-1] + low[::-1].upper()))


_ROTATED = {_shift(word, by): -by % 26 for word in _TELLING for by in range(1, 26)}
_MIRRORED = {_atbash(word): "atbash" for word in _TELLING} | {w[::-1]: "reversed" for w in _TELLING}
_UPRIGHT = str.maketrans("ɐqɔpǝɟƃɓɥᴉıɾʞʃɯuodbɹsʇnʌʍʎ¡", "abcdefgghiijklmnopqrstuvwyi")
_UPSIDE_DOWN = tuple(
    "".join("[ᴉı¡]" if char == "i" else "[ƃɓ]" if char == "g" else char for char in flipped)
    for flipped in (
        word[::-1].translate(str.maketrans("abcdefhjkmnpqrtuvwy", "ɐqɔpǝɟɥɾʞɯudbɹʇnʌʍʎ"))
        for word in _TELLING
    )
)
_KNOWN = sorted({*_ROTATED, *_MIRRORED}, key=len, reverse=True)


def deciphered(text: str) -> Iterator[tuple[str, int, int]]:
    """Lines in a letter-by-letter cipher, backwards or upside down: decoded, with their span."""
    lowered = text.lower()
    words = [word for word in _KNOWN if word in lowered]
    if not text.isascii():
        words += _UPSIDE_DOWN
    if not words:
        return
    line_starts: set[int] = set()
    for match in re.finditer("|".join(words), text, re.IGNORECASE):
        start = text.rfind("\n", 0, match.start()) + 1
        if start in line_starts:
            continue
        line_starts.add(start)
        end = text.find("\n", match.end())
        line = text[start : len(text) if end < 0 else end][:_MAX_LINE]
        key = match[0].lower()
        if key in _ROTATED:
            decoded = _shift(line, _ROTATED[key])
        elif key in _MIRRORED:
            decoded = _atbash(line) if _MIRRORED[key] == "atbash" else line[::-1]
        else:
            decoded = line[::-1].translate(_UPRIGHT)
        yield decoded, start, start + len(line)
