"""The English time that adjacent words for times mean, by their kinds rather than their order.

A word has one or more kinds: "number", "unit" (day to year), "units" (of several: "few days"),
"which" (last, this, next), "ago", "from now", "day" (today, tomorrow), "weekday", "weekend",
"date" (of a month), "month", "season", "year", "feast", "part" (beginning, middle, end), "bound"
(until, since), "on" and "the".
"""

from __future__ import annotations

Meaning = tuple[tuple[str, str], ...]  # kinds of words, each with its word in English

# The day of a feast, and what is meant by "at" it.
FEASTS = {
    "christmas": ("25 december", "between 24 and 26 december"),
    "easter": ("easter", "at easter"),
    "new year": ("1 january", "1 january"),
}
_PARTS = {"begin": "the beginning of", "middle": "the middle of", "end": "the end of"}
AUXILIARY_KINDS = ("bound", "on", "the")  # of words before a time, which name none themselves
# The meaning of adjacent words, by their kinds.
_MEANINGS = {
    "day": "{day}",
    "unit which": "{which} {unit}",
    "number unit which": "the {which} {number} {unit}s",
    "ago number unit": "{number} {unit}s ago",
    "from now number unit": "{number} {unit}s from now",
    "weekday which": "{which} {weekday}",
    "unit weekday which": "{weekday} {which} {unit}",
    "season year": "{season} of {year}",
    "season which": "{which} {season}",
    "season unit which": "{season} of {which} {unit}",
    "weekend which": "{which} weekend",
    "unit weekend which": "{which} weekend",
    "month which": "{which} {month}",
    "part unit": "{part} the {unit}",
    "part unit which": "{part} {which} {unit}",
    "month part": "{part} {month}",
    "month part year": "{part} {month} {year}",
    "month part which": "{part} {which} {month}",
    "month part unit which": "{part} {month} {which} {unit}",
    "units which": "the {which} few {units}s",
    "number units which": "the {which} {number} {units}s",
    "date month": "{date} {month}",
    "date month year": "{date} {month} {year}",
    "date month unit which": "{date} {month} {which} {unit}",
    "feast": "{feast}",
    "feast year": "{feast} {year}",
    "feast unit which": "{feast} {which} {unit}",
}
# The meaning of words that name a time only after a word like "on" or "until".
MEANINGS_WITH_PREPOSITION = {
    "weekday": ("on", "{weekday}"),
    "weekend": ("on", "the weekend"),
    "season": ("in", "{season}"),
    "month": ("in", "{month}"),
    "month year": ("in", "{month} {year}"),
    "month unit": ("in", "{month}"),
    "month unit year": ("in", "{month} {year}"),
    "month unit which": ("in", "{month} {which} {unit}"),
    "year": ("in", "{year}"),
}


def in_english(parts: Meaning) -> str | None:
    """The English time that adjacent words mean; None if they do not mean one time."""
    kinds = {kind for kind, _ in parts if kind not in AUXILIARY_KINDS}
    word_of = dict(sorted(parts, key=lambda part: part[1] != "this"))
    if "which" in kinds and word_of.get("number") == "1":
        kinds.remove("number")
    if word_of.get("which") == "this" and kinds & {"number", "units"}:
        word_of["which"] = "last"
    word_of["month"] = word_of.get("month", "").capitalize()  # "since march" may be a march
    word_of["part"] = _PARTS.get(word_of.get("part", ""), "")
    word_of["feast"] = FEASTS.get(word_of.get("feast", ""), ("", ""))["bound" not in word_of]
    if kinds in ({"month", "unit"}, {"month", "unit", "year"}) and word_of["unit"] != "month":
        return None  # "nel mese di ottobre"
    key = " ".join(sorted(kinds))
    if key in _MEANINGS:
        return f"{word_of.get('bound', '')} {_MEANINGS[key].format(**word_of)}".strip()
    if key in MEANINGS_WITH_PREPOSITION:
        preposition, meaning = MEANINGS_WITH_PREPOSITION[key]
        return f"{word_of.get('bound', preposition)} {meaning.format(**word_of)}"
    return None
