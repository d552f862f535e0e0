"""Finds text that a model reads but a person does not see, and decodes it.

Text is hidden in comments, invisible styling, link targets, alt text, invisible characters and
encodings. Each hidden text has its place in the original.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import unquote

from memvault.verification.immunity.ciphers import BRAILLE_RUN, deciphered, from_braille

MAX_READ = 4  # most characters of hidden texts, as a multiple of the text's
MIN_READ = 20_000  # the same for a short text
LAYERS = "layers"  # kind of the sign of text hidden in more layers than are read
_LEAST_HIDDEN = 4  # characters of the shortest hidden text that is read
_MAX_HIDDEN = 4_000  # characters of one hidden text that are read
_PRINTABLE, _LETTERS = 0.95, 0.7  # least shares of characters in what decoding turned into text
_LEAST_DECODED = 8  # characters of decoded text
_Decoder = tuple[re.Pattern[str], Callable[[str], str]]
Encoded = TypeVar("Encoded")

_ELEMENT = re.compile(r"<([a-z][a-z0-9]{0,15})((?:\s[^<>]{0,600})?)>", re.IGNORECASE)
_INVISIBLE_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*(?:0?\.0\d*|0)(?![.\d])"
    r"|font-size\s*:\s*(?:0|[01](?:\.\d+)?(?:px|pt|em|%))(?![.\d])|font\s*:\s*0"
    r"|(?<![-\w])color\s*:\s*(?:white|#fff(?:fff)?(?![0-9a-f])|transparent|rgba?\(\s*255\s*,\s*255\s*,\s*255"
    r"|rgba\([^)]{0,40},\s*0?\.?0\s*\))|(?:left|top|text-indent|margin-left)\s*:\s*-\d{3,}"
    r"|(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:;|$|[\"'])|clip(?:-path)?\s*:"
    r"|\bhidden\b|aria-hidden\s*=\s*[\"']?true|color\s*=\s*[\"']?(?:white|#fff)"
    r"|size\s*=\s*[\"']?0|class\s*=\s*[\"'][^\"']*(?:sr-only|visually-hidden|invisible|d-none)",
    re.IGNORECASE,
)
_SILENT_ELEMENTS = frozenset({"template", "noscript", "script", "style", "title", "object"})
_TEXT_ATTRIBUTE = re.compile(
    r"(?:alt|title|aria-label|aria-description|content|placeholder|data-[\w-]{1,30}|summary|value)"
    r"\s*=\s*(?:\"([^\"]{8,})\"|'([^']{8,})')",
    re.IGNORECASE,
)
_LATEX = re.compile(
    r"\\(?:phantom|hphantom|vphantom|(?:text)?color\{(?:white|#fff(?:fff)?)\})\s*\{([^{}]{8,2000})\}"
    r"|\{\\color\{white\}([^{}]{8,2000})\}"
)
_ALT = re.compile(r"!\[([^\[\]]{12,2000})\]")
_LINK_TITLE = re.compile(
    r"\]\(\s*<?[^\s()<>]{0,800}>?\s+(?:\"([^\"]{8,800})\"|'([^']{8,800})')\s*\)"
)
_REFERENCE_COMMENT = re.compile(
    r"^ {0,3}\[[^\]\n]{1,80}\]:\s*(?:<>|#|\S{1,200})\s+"
    r"(?:\"([^\n]{4,})\"|'([^\n]{4,})'|\(([^\n]{4,})\))\s*$",
    re.MULTILINE,
)
_URL = re.compile(
    r"(?:https?:|data:|mailto:|obsidian:|javascript:)[^\s<>\"'`]{4,2000}", re.IGNORECASE
)
_TARGET = re.compile(r"\]\(\s*<([^<>\n]{8,1500})>|\]\(\s*([^\s()<>]{8,1500})")

_BASE64 = re.compile(
    r"(?<![\w+/=-])(?:[A-Za-z0-9+/_-]{4}[ \t]?\r?\n?){5,4000}[A-Za-z0-9+/_-]{0,4}={0,2}"
)
_BASE32 = re.compile(r"(?<!\w)[A-Z2-7]{32,}={0,6}(?!\w)")
# Has no condition on the text after a run: else a longer run would be tried at each later place.
_HEX = re.compile(r"(?<![0-9a-fA-F])(?:(?:\\x|0x)?[0-9a-fA-F]{2}[\s:,-]?){12,4000}")
_BASE85 = re.compile(r"(?<![!-~])(?:<~)?[!-~]{30,4000}")
_BINARY = re.compile(r"(?<!\d)(?:[01]{8}[\s,]?){6,2000}")
_DECIMAL = re.compile(r"(?<!\d)(?:\d{2,3}[\s,;-]{1,2}){11,2000}\d{2,3}(?!\d)")
_PERCENT = re.compile(r"(?:[\w.~+-]{0,40}%[0-9a-fA-F]{2}){4,400}[\w.~+-]{0,80}")
_ENTITIES = re.compile(r"(?:&#x?[0-9a-fA-F]{2,6};\s?){6,2000}")
_ESCAPES = re.compile(r"(?:\\u\{?[0-9a-fA-F]{4}\}?){6,2000}")
_MORSE_RUN = re.compile(r"(?:[.\-·–]{1,6}[ /|]{1,3}){10,2000}[.\-·–]{1,6}")
_TAGS = re.compile("[\U000e0020-\U000e007e]{2,}")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007f]{2,8}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_ZERO_WIDTH = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{8,}")
_SPLIT_WORD = re.compile("(?<=[A-Za-z])[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+(?=[A-Za-z])")
_BIDI_OVERRIDE = re.compile("[\u202d\u202e]([^\u202c\n]{4,})")
_MORSE_CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- "
    "-..- -.-- --.."
)
_MORSE = dict(zip(_MORSE_CODES.split(), "abcdefghijklmnopqrstuvwxyz", strict=True))


@dataclass(frozen=True, slots=True)
class HiddenText:
    """A hidden text.

    Attributes:
        kind: comment, styling, link, alt text, invisible or encoding.
        decoded: the readable text.
        certain: whether nobody hides text in this way by accident.
    """

    kind: str
    decoded: str
    start: int
    end: int
    certain: bool = False


def splits_words(text: str) -> int:
    """The number of places where invisible characters separate two Latin letters."""
    return 0 if text.isascii() else len(_SPLIT_WORD.findall(text))


def hidden_texts(text: str) -> list[HiddenText]:
    """The hidden texts, in the order of the checks.

    If they are much longer than the text, which only nested hiding makes them, the last one is a
    sign of that.
    """
    texts: list[HiddenText] = []
    remaining_chars = max(MIN_READ, MAX_READ * len(text))
    for hidden in _all(text):
        if len(hidden.decoded) < _LEAST_HIDDEN and not hidden.certain:
            continue
        texts.append(hidden)
        remaining_chars -= len(hidden.decoded)
        if remaining_chars < 0:
            return [*texts, HiddenText(LAYERS, "", 0, len(text), certain=True)]
    return texts


def _all(text: str) -> Iterator[HiddenText]:
    if not text.isascii():
        yield from _invisible(text)
    yield from _encoded(text)
    for decoded, start, end in deciphered(text):
        yield HiddenText("encoding", decoded[:_MAX_HIDDEN], start, end)
    if "<" in text:
        yield from _between(text, "<!--", "-->")
        yield from _elements(text)
    if "%%" in text:
        yield from _between(text, "%%", "%%")
    if "](" in text or "]:" in text or "![" in text:
        yield from _of_groups("alt text", _ALT, text)
        yield from _of_groups("link", _LINK_TITLE, text)
        yield from _of_groups("comment", _REFERENCE_COMMENT, text)
        yield from _targets(text)
    elif "://" in text or "data:" in text:
        yield from _targets(text)
    if "\\" in text:
        yield from _of_groups("styling", _LATEX, text)


def _between(text: str, opening: str, closing: str) -> Iterator[HiddenText]:
    at = text.find(opening)
    while at >= 0:
        start = at + len(opening)
        end = text.find(closing, start)
        last = end < 0
        if last and opening == closing:
            return
        inner = text[start : len(text) if last else end][:_MAX_HIDDEN].strip()
        if inner:
            yield HiddenText("comment", inner, at, min(len(text), start + len(inner)))
        if last:
            return
        at = text.find(opening, end + len(closing))


def _elements(text: str) -> Iterator[HiddenText]:
    for match in _ELEMENT.finditer(text):
        name, attributes = match[1].lower(), match[2]
        if name in _SILENT_ELEMENTS or (attributes and _INVISIBLE_STYLE.search(attributes)):
            closing = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(
                text, match.end(), match.end() + _MAX_HIDDEN
            )
            end = closing.start() if closing else min(len(text), match.end() + _MAX_HIDDEN)
            inner = re.sub(r"<[^<>]{0,600}>", " ", text[match.end() : end]).strip()
            if inner and name not in {"script", "style"}:
                yield HiddenText("styling", inner, match.start(), end)
        for attribute in _TEXT_ATTRIBUTE.finditer(attributes or ""):
            value = html.unescape(attribute[1] or attribute[2] or "")
            start = match.start(2) + attribute.start()
            yield HiddenText("alt text", value, start, match.start(2) + attribute.end())


def _of_groups(kind: str, pattern: re.Pattern[str], text: str) -> Iterator[HiddenText]:
    for match in pattern.finditer(text):
        value = next((group for group in match.groups() if group), "")
        yield HiddenText(kind, value[:_MAX_HIDDEN], match.start(), match.end())


def _targets(text: str) -> Iterator[HiddenText]:
    """The link targets that contain sentences, such as `?do=send+all%20notes`."""
    starts: set[int] = set()
    for match in (*_TARGET.finditer(text), *_URL.finditer(text)):
        value = next((group for group in match.groups() if group), match[0])
        start = match.end() - len(value)
        if start in starts or not re.search(r"[-_+%=]", value):
            continue
        starts.add(start)
        words = re.sub(r"[-_+/=&?#.,;:]+", " ", unquote(unquote(value))).strip()
        if words.count(" ") >= 3:
            yield HiddenText("link", words[:_MAX_HIDDEN], start, match.end())


def _invisible(text: str) -> Iterator[HiddenText]:
    flags = [match.span() for match in _FLAG.finditer(text)]
    for match in _TAGS.finditer(text):
        if not any(start <= match.start() < end for start, end in flags):
            decoded = "".join(chr(ord(char) - 0xE0000) for char in match[0])
            yield HiddenText("invisible", decoded, *match.span(), certain=True)
    for match in _SELECTORS.finditer(text):
        raw = bytes(_selector_byte(char) for char in match[0])
        yield HiddenText("invisible", raw.decode("utf-8", "replace"), *match.span(), certain=True)
    for match in _ZERO_WIDTH.finditer(text):
        yield HiddenText("invisible", _zero_width(match[0]), *match.span(), certain=True)
    for match in _BIDI_OVERRIDE.finditer(text):
        yield HiddenText("invisible", match[1][::-1], *match.span(), certain=True)


def _selector_byte(char: str) -> int:
    code = ord(char)
    return code - 0xFE00 if code < 0xFE10 else code - 0xE0100 + 16


def _zero_width(run: str) -> str:
    """The text in a run of two kinds of zero-width characters, read as bits in either polarity."""
    marks = sorted(set(run))
    if len(marks) < 2:
        return ""
    pair = [char for char in run if char in marks[:2]]
    both = ("".join("1" if char == mark else "0" for char in pair) for mark in marks[:2])
    return next(filter(None, map(_from_bits, both)), "")


def _encoded(text: str) -> Iterator[HiddenText]:
    for decoded, match in _decoded(text, _DECODERS):
        if decoded.strip() != match[0].strip():
            for layer in (decoded, *(inner for inner, _ in _decoded(decoded, _DECODERS[:3]))):
                yield HiddenText("encoding", layer[:_MAX_HIDDEN], *match.span())


def _decoded(text: str, decoders: Iterable[_Decoder]) -> Iterator[tuple[str, re.Match[str]]]:
    for pattern, decode in decoders:
        for match in pattern.finditer(text):
            if decoded := decode(match[0]):
                yield decoded, match


def _first_readable(decode: Callable[[Encoded], bytes], *runs: Encoded) -> str:
    """The first of these runs that can be decoded to words, as text; else an empty text."""
    for run in runs:
        with suppress(ValueError):
            if words := _words_in(decode(run).decode("utf-8")):
                return words
    return ""


def _words_in(text: str) -> str:
    """The text if it consists of words, else an empty text."""
    printable = sum(char.isprintable() or char in "\n\t" for char in text)
    letters = sum(char.isalpha() or char == " " for char in text)
    wordy = len(text) >= _LEAST_DECODED and (
        " " in text.strip() or "_" in text or any(c > "\u2e80" for c in text)
    )
    return (
        text
        if wordy and printable >= _PRINTABLE * len(text) and letters >= _LETTERS * len(text)
        else ""
    )


def _from_base64(run: str) -> str:
    compact = "".join(run.split()).rstrip("=").replace("-", "+").replace("_", "/")
    if len(compact) < 16 or compact.isdigit():
        return ""
    parts = (compact[drop:] for drop in range(4))  # it may begin with letters of a word before it
    padded = (part[: len(part) - (len(part) % 4 == 1)] + "===" for part in parts)
    return _first_readable(base64.b64decode, *padded)


def _from_base32(run: str) -> str:
    digits = run.rstrip("=")
    return _first_readable(base64.b32decode, digits + "=" * (-len(digits) % 8))


def _from_base85(run: str) -> str:
    digits = run.removeprefix("<~").partition("~>")[0]
    return _first_readable(base64.a85decode, digits) or _first_readable(base64.b85decode, digits)


def _from_hex(run: str) -> str:
    digits = re.sub(r"\\x|0x|[\s:,-]", "", run)
    return _first_readable(bytes.fromhex, digits[: len(digits) // 2 * 2])


def _from_numbers(run: str) -> str:
    return _first_readable(bytes, map(int, re.findall(r"\d+", run)))


def _from_bits(bits: str) -> str:
    """The text in bytes of eight bits each."""
    return _first_readable(bytes, (int(bits[i : i + 8], 2) for i in range(0, len(bits) - 7, 8)))


def _from_escapes(run: str) -> str:
    codes = (int(digits, 16) for digits in re.findall(r"[0-9a-fA-F]{4}", run))
    return "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)


def _from_morse(run: str) -> str:
    words = re.split(r"\s*[/|]\s*|\s{3,}", run.replace("·", ".").replace("–", "-"))
    decoded = " ".join("".join(_MORSE.get(letter, "") for letter in word.split()) for word in words)
    return decoded if len(decoded.replace(" ", "")) >= 8 else ""


_DECODERS: tuple[_Decoder, ...] = (
    (_BASE64, _from_base64),
    (_HEX, _from_hex),
    (_PERCENT, lambda run: unquote(unquote(run)).replace("+", " ")),
    (_BASE32, _from_base32),
    (_BASE85, _from_base85),
    (BRAILLE_RUN, from_braille),
    (_BINARY, lambda run: _from_bits(re.sub(r"\D", "", run))),
    (_DECIMAL, _from_numbers),
    (_ENTITIES, html.unescape),
    (_ESCAPES, _from_escapes),
    (_MORSE_RUN, _from_morse),
)
