"""Splits a block into sentences, and finds the labels before them.

A field ``key:: value`` fills a line. A label ``Label: rest`` starts a line or a sentence, so
"Lead: [[A]]. Team: [[B]], C." has two sentences with different labels.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from memvault.vault.markdown.formulas import DISPLAYED
from memvault.vault.markdown.inline_text import InlineText

_LATIN_STOPS = ".!?…"
_END = re.compile(r"(?P<stop>[.!?…。！？｡।॥؟۔።։]+)(?P<quote>[\"'”’»)\]」』）】]*)(?P<gap>\s*)")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]*\Z")
_LETTERS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")  # J, U.S, p.m
_LIST_LETTER = re.compile(r"[a-z]|[ivx]{2,4}")
_LIST_MARKS = re.compile(r"[-*+ \t\n]*")
_WORD_WINDOW = 40

# Abbreviations before names or examples: a capital letter after them does not start a sentence.
_ABBREVIATIONS = frozenset({
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "mt", "hr", "fr", "sr", "sra", "dra", "mme",
    "mlle", "rev", "gen", "col", "sgt", "capt", "lt", "gov", "hon", "messrs", "e.g", "i.e", "eg",
    "ie", "cf", "vs", "viz", "resp", "incl", "excl", "approx", "ca", "z.b", "d.h", "u.a", "bzw",
    "bspw", "p.ex", "vgl", "ggf", "evtl", "inkl", "bzgl", "dipl", "ing", "al", "aka",
    "dept", "univ", "ed", "eds", "rs",
})  # fmt: skip
# Abbreviations only before a number: "no. 5", but "She said no. Then".
_NUMBERED = frozenset({
    "no", "nr", "nos", "fig", "figs", "eq", "eqs", "sec", "art", "ch", "vol", "p", "pp", "para",
    "tab", "ex", "abs", "bd", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept",
    "oct", "okt", "nov", "dec", "dez", "ver", "v", "est",
})  # fmt: skip
# Those of both kinds that the journal does not know.
_MORE_ABBREVIATIONS = (
    "mw mevr dhr mej drs afd blz bijv abt str hl fam dña srta avda dpto exmo exma dott avv geom"
    " p ul al pl mgr inż lek św ks np tzn tzw tj m.in godz ул стр"
)
_MORE_NUMBERED = (
    "tel tél tlf núm núms pág págs pag cap kap chap bl lok kam ong aprox env gl тел кв гл janv févr"
    " avr juil déc ene abr dic febr mrt gen giu lug ott fev dez"
    " ok ext ref refs max opp op apt apto expt temp"
    " b c d e f g h j k l m n q r s t u w x z д г"  # "room k. 12"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class _Abbreviations(NamedTuple):
    """Abbreviations before names or examples, and those only before a number; ``has_list_letters``
    is whether a letter in front is that of a list ("b. Second")."""

    anywhere: frozenset[str]
    before_numbers: frozenset[str]
    has_list_letters: bool


# The journal has digests of sentences that end by these: they must not change.
_OF_JOURNAL = _Abbreviations(_ABBREVIATIONS, _NUMBERED, has_list_letters=False)
_ALL = _Abbreviations(
    _ABBREVIATIONS | _words(_MORE_ABBREVIATIONS),
    _NUMBERED | _words(_MORE_NUMBERED),
    has_list_letters=True,
)
_DAY = re.compile(r"\d{1,2}\.\d{1,2}")
# German has a stop after ordinals, often followed by a capital letter: "bis 15. Januar", "im 2.
# Stock".
_GERMAN_MONTH = re.compile(
    r"(?:Jan(?:uar)?|Jän(?:ner)?|Feb(?:ruar|er)?|März?|Apr(?:il)?|Mai|Juni?|Juli?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Okt(?:ober)?|Nov(?:ember)?|Dez(?:ember)?)\b"
)
_BEFORE_ORDINAL = re.compile(r"(?<!\bI )\b(?:am|im|vom|zum|zur|beim|der|den|dem|des)\Z")


def sentence_starts(
    text: str,
    protected: Sequence[tuple[int, int]] = (),
    abbreviations: _Abbreviations = _ALL,
) -> list[int]:
    """Offsets at which sentences start, the first always 0.

    Args:
        text: one paragraph; line ends count as spaces.
        protected: ordered, disjoint spans in which no sentence ends, such as the text of a link.
    """
    starts = [0]
    span_starts = [start for start, _ in protected]
    for match in _END.finditer(text):
        end = match.end()
        if end >= len(text):
            break
        latin = match["stop"][-1] in _LATIN_STOPS
        if latin and not match["gap"]:
            continue
        span_index = bisect_right(span_starts, match.start()) - 1
        if span_index >= 0 and match.end("stop") < protected[span_index][1]:
            continue
        if not latin or _ends_sentence(text, match, starts[-1], abbreviations):
            starts.append(end)
    return starts


def sentences_in(text: str) -> list[str]:
    """The sentences of one paragraph, each with the spaces after it."""
    return _split(text, sentence_starts(text))


def journal_sentences_in(text: str) -> list[str]:
    """The sentences of one paragraph as the journal has them; see `_OF_JOURNAL`."""
    return _split(text, sentence_starts(text, abbreviations=_OF_JOURNAL))


def _split(text: str, starts: Sequence[int]) -> list[str]:
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _ends_sentence(
    text: str, match: re.Match[str], sentence_start: int, abbreviations: _Abbreviations
) -> bool:
    stop, is_quoted, following = match["stop"], bool(match["quote"]), text[match.end()]
    if stop[-1] in "!?" or (len(stop) > 1 and stop != "..."):
        return not (is_quoted and following.islower())
    if stop != ".":
        return not following.islower()
    preceding = text[max(sentence_start, match.start() - _WORD_WINDOW) : match.start()]
    word = _last_word(preceding)
    marks = _LIST_MARKS.match(text, sentence_start)
    is_first = marks is not None and marks.end() >= match.start() - len(word)
    if is_first and abbreviations.has_list_letters and _LIST_LETTER.fullmatch(word):
        return False
    if word.isdigit() or _DAY.fullmatch(word):
        if is_first:
            return False  # "1. First" is a list number, "12.12. Concert" a day
        is_ordinal = _BEFORE_ORDINAL.search(preceding[: -len(word)].rstrip())
        if len(word) <= 3 and (is_ordinal or _GERMAN_MONTH.match(text, match.end())):
            return False
    if _is_abbreviation(word, following, abbreviations):
        return False
    if _LETTERS.fullmatch(word) and not is_quoted and (word.isupper() or "." in word):
        return False
    return not following.islower() or (len(word) >= 4 and word.islower())


def _last_word(text: str) -> str:
    word = text.rpartition(" ")[2]
    if word.isalnum():  # as most are, which is quicker than the pattern
        return word
    match = _LAST_WORD.search(text)
    return match[0] if match else ""


def _is_abbreviation(word: str, following: str, abbreviations: _Abbreviations) -> bool:
    folded = word.casefold()
    is_before_number = folded in abbreviations.before_numbers and following.isdigit()
    return folded in abbreviations.anywhere or is_before_number


MAX_LABEL_CHARS = 40
MAX_LABEL_WORDS = 4
MIN_FULL_LINE = 60

_FIELD = re.compile(r"(?m:^)[ \t]*([^\W\d_][^\n:\[\](){}|<>]{0,59}?)[ \t]*::[ \t]+(?=\S)")
_COLON = re.compile(r":[ \t]+(?=\S)|：[ \t]*(?=\S)")
_LABEL = re.compile(
    r"(?:(?:^|(?<=[\n。！？；]))[ \t]*|(?<=[.!?;,|·•])[ \t]+)"
    r"(?P<name>[^\W\d_][^\n:：;!?,\[\](){}|<>=\"“”]*)\Z"
)
_SEPARATORS = frozenset(";|·•；")
_LABEL_TEXT = re.compile(r"[^\W\d_][^\n:：;!?,`\[\](){}|<>=\"“”]*")
# Several words before a colon are a sentence if they contain one of `_SENTENCES` ("They had two
# children: …"), and an adverbial if they start with one of `_ADVERBIALS` ("For example: …").
_SENTENCES = """
i you he she it we they there is are was were am be has have had do does did can could will would
shall should may might must include includes included including follows following says said states
stated wrote writes reads
"""
_ADVERBIALS = """
for in on at with without when while if because as according like next to from under over after
before during since until and or but so then
"""
_SENTENCE_WORDS, _ADVERBIAL_WORDS = frozenset(_SENTENCES.split()), frozenset(_ADVERBIALS.split())


class LabelledSentence(NamedTuple):
    """A sentence at [start, end) of a block's text, and its label.

    Attributes:
        label: the label, if any; its value starts at ``value``.
        value_end: the end of the labelled value: of the sentence, or of the line of a field.
        explicit: the label is a field (``key::``).
    """

    start: int
    end: int
    label: str | None = None
    value: int = 0
    value_end: int = 0
    explicit: bool = False


class _Label(NamedTuple):
    start: int
    value: int
    text: str
    explicit: bool


def is_label(text: str) -> bool:
    """Whether text before a colon, or in a table's first cell, can be a label.

    A label is a short noun or verb phrase without punctuation, not a sentence or an adverbial.
    """
    words = text.casefold().split()
    if not _LABEL_TEXT.fullmatch(text.strip()) or len(words) > MAX_LABEL_WORDS:
        return False
    if len(words) == 1:
        return True
    return words[0] not in _ADVERBIAL_WORDS and _SENTENCE_WORDS.isdisjoint(words)


def split_sentences(inline: InlineText) -> list[LabelledSentence]:
    """The sentences of a block in order, covering its text."""
    text = inline.text
    punctuation = sentence_starts(text, inline.protected)
    labels = _labels(inline, punctuation)
    starts = sorted({*punctuation, *inline.breaks, *labels, *_deliberate_lines(inline), 0})
    starts = [start for start in starts if start < len(text)]
    parts: list[LabelledSentence] = []
    field: _Label | None = None
    field_end = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        label = labels.get(start)
        if label is not None and label.explicit:
            field, field_end = label, _line_end(text, label.value)
        if label is not None:
            value_end = field_end if label.explicit else end
            parts.append(
                LabelledSentence(start, end, label.text, label.value, value_end, label.explicit)
            )
        elif field is not None and start < field_end:
            parts.append(LabelledSentence(start, end, field.text))
        else:
            parts.append(LabelledSentence(start, end))
    return parts


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _labels(inline: InlineText, punctuation: list[int]) -> dict[int, _Label]:
    """The labels by the offset at which their sentence starts."""
    text = inline.text
    labels = _field_lines(inline) if "::" in text else {}
    field_starts = list(labels)
    last_value_start, labelled_line_end = 0, -1
    for colon in _COLON.finditer(text):
        field_index = bisect_right(field_starts, colon.start()) - 1
        if field_index >= 0 and colon.start() < _line_end(
            text, labels[field_starts[field_index]].value
        ):
            continue
        label = _label_before(inline, punctuation, colon, last_value_start, labelled_line_end)
        if label is not None:
            labels[label.start] = label
            last_value_start, labelled_line_end = colon.end(), _line_end(text, colon.end())
    return labels


def _field_lines(inline: InlineText) -> dict[int, _Label]:
    return {
        match.start(): _Label(match.start(), match.end(), match[1].strip(), True)
        for match in _FIELD.finditer(inline.text)
        if not inline.touches_protected(match.start(1), match.end())
    }


def _label_before(
    inline: InlineText,
    punctuation: list[int],
    colon: re.Match[str],
    last_value_start: int,
    labelled_line_end: int,
) -> _Label | None:
    """The label that ends at a colon.

    Args:
        last_value_start: start of the previous label's value; no label starts before it.
        labelled_line_end: end of a line that already has a label; on it, another label may follow a
            comma ("Time: 10:30, Place: Oslo").
    """
    text = inline.text
    position = max(last_value_start, colon.start() - MAX_LABEL_CHARS)
    while match := _LABEL.search(text, position, colon.start()):
        start, (name_start, name_end) = match.start(), match.span("name")
        preceding = text[start - 1] if start else "\n"
        is_listed = preceding == "," and start <= labelled_line_end and "." not in match["name"]
        may_start_here = is_listed or preceding == "\n" or preceding in _SEPARATORS
        if (may_start_here or preceding != ",") and _is_label(
            inline, match, punctuation, may_start_here
        ):
            label_start = start if preceding == "\n" else name_start
            return _Label(label_start, colon.end(), text[name_start:name_end].strip(), False)
        position = name_start + 1
    return None


def _is_label(
    inline: InlineText, match: re.Match[str], punctuation: list[int], may_start_here: bool
) -> bool:
    """Whether the match is a label.

    Args:
        may_start_here: a label may start here even if no sentence does.
    """
    name_start, name_end = match.span("name")
    if not is_label(match["name"]) or inline.touches_protected(name_start, name_end):
        return False
    if bisect_left(punctuation, name_end) > bisect_right(punctuation, name_start):
        return False
    sentence_start = punctuation[bisect_right(punctuation, name_start) - 1]
    if may_start_here or name_start == sentence_start:
        return True
    # "Ann B. Team: …": an initial ends a sentence only if a label follows. "J. Smith:" is a label.
    preceding_words = inline.text[
        max(sentence_start, name_start - MAX_LABEL_CHARS) : name_start
    ].split()
    return (
        len(preceding_words) > 1
        and len(preceding_words[-1]) == 2
        and preceding_words[-1].endswith(".")
    )


def _deliberate_lines(inline: InlineText) -> list[int]:
    """Line starts that the person chose, in contrast to lines that an editor wrapped.

    An editor wraps a line only if the next word does not fit. So a line break is deliberate if
    the next word would have fitted within the paragraph's widest line and is not in lower case.
    """
    text = inline.text
    if "\n" not in text:
        return []
    rows = text.split("\n")
    width = max(MIN_FULL_LINE, *map(len, rows))
    starts, offset = [], 0
    for row, following in pairwise(rows):
        offset += len(row) + 1
        word = following.split(None, 1)[0] if following.strip() else ""
        if word.startswith(DISPLAYED) or inline.touches_protected(offset, offset):
            continue  # a formula is part of its sentence
        if word and len(row) + 1 + len(word) <= width and not word[0].islower():
            starts.append(offset)
    return starts
