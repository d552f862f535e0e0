"""Patterns of written times, with the names of days, months and seasons."""

from __future__ import annotations

import re

from memvault.model.months import MONTHS, NAMED_MONTHS, WEEKDAYS
from memvault.text.words import any_of

NO_MONTHS = frozenset(("may", "march", "mar", "dec", "jan", "jun"))  # in lower case
_ENGLISH_MONTH = any_of(MONTHS)
_MONTH = any_of(NAMED_MONTHS)
_ORDINALS = dict(enumerate((
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth",
), 1))  # fmt: skip
DAYS = {name: number for number, name in _ORDINALS.items()} | {"thirtieth": 30}
DAYS |= {f"twenty-{_ORDINALS[n]}": 20 + n for n in range(1, 10)} | {"thirty-first": 31}
_DAY = any_of(DAYS)
COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fourteen": 14, "fifteen": 15,
    "twenty": 20, "thirty": 30, "couple of": 2, "few": 3, "several": 4,
}  # fmt: skip
_COUNT = r"\d{1,3}|(?:a )?couple of|(?:a )?few|" + any_of(COUNTS)
_UNIT = "day|week|fortnight|month|year"
_WEEKDAY = "|".join(WEEKDAYS)
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # their first months
_SEASON = "|".join(SEASONS)
DAYS_FROM_TODAY = {
    "today": 0, "tonight": 0, "this day": 0, "current day": 0, "yesterday": -1, "last day": -1,
    "past day": -1, "previous day": -1, "tomorrow": 1, "day after tomorrow": 2,
    "day before yesterday": -2, "this morning": 0, "this afternoon": 0, "this evening": 0,
    "last night": -1,
}  # fmt: skip
_WHICH_YEAR = r",?(?: of)? (?P<{}>last|this|next) year\b"  # "24 December last year"
_NTH = r"(?:st|nd|rd|th|er|º|°|\.(?! (?:may|march)\b))?"
_DAYS = (
    r"(?P<iso>\d{4}-\d{2}-\d{2}|(?<![\w/])\d{4}/\d{1,2}/\d{1,2}(?![\w/]))",
    rf"(?:the )?(?P<d1>\d{{1,2}}|(?:{_DAY})(?= of )){_NTH}(?: of| de)? (?P<m1>{_MONTH})\b\.?,?"
    rf"(?:(?: del?)? (?P<y1>\d{{4}})|{_WHICH_YEAR.format('of1')})?",
    rf"(?P<m2>{_ENGLISH_MONTH})\b\.? (?P<d2>\d{{1,2}}){_NTH}\b"
    rf"(?:,? (?P<y2>\d{{4}})|{_WHICH_YEAR.format('of2')})?",
    r"(?P<dotted>\d{1,2}\. ?\d{1,2}\. ?\d{4}|(?<![\w.])\d{1,2}\.\d{1,2}\.\d{2}(?!\.?\d))\b",
    r"(?P<slashed>(?<![\w/-])\d{1,2}(?P<sep>[/-])\d{1,2}(?P=sep)\d{4})(?![\w/-])",
)
PARTS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}
_PART = (
    r"(?:beginning|start|middle|end) of|early|mid|late|anfang|mitte|ende|"
    rf"(?:{'|'.join(PARTS)}) week (?:of|in)|(?:first|second) half of"
)
# "in 1862", but not "in 1862 words".
_EARLIER_YEAR = (
    r"(?(prep)(?<!for )1[5-8]\d{2}(?=\W*$|[?.!,;:)]|"
    r" (?:and|or|to|until|on|at|in|for|with|by|about)\b)|(?!))"
)
# A weekday directly before a date belongs to it, and the date says the day: "Friday 18 September".
_ITS_WEEKDAY = rf"(?:(?:(?:last|past|this|next|coming) )?(?P<its_weekday>{_WEEKDAY}),? (?:the )?)?"
_OF_A_TIME = rf" (?:of|in) (?:{_MONTH}|\d{{4}})\b"  # "the last week of August"
_POINTS = (
    rf"(?:(?:the )?(?P<around>week|weekend) of )?{_ITS_WEEKDAY}(?:{'|'.join(_DAYS)})",
    r"(?P<numbered_week>\d{4}-w\d{2}|\d{4}[- ]kw ?\d{1,2}|(?:the )?week \d{1,2} (?:of )?\d{4}|"
    r"(?:(?<!\d )(?!(?-i:kW))kw|kalenderwoche|calendar week) ?\d{1,2}(?:(?:/| (?:of )?)\d{4})?)\b",
    r"(?P<iso_month>\d{4}-\d{2})(?![-\d])",
    r"(?P<easter>(?:at|over|around) easter|(?(prep)easter|(?!)))"
    r"(?: (?:of )?(?P<easter_year>\d{4}|(?:last|this|next) year))?(?=[?.!,]|$)",
    rf"(?:(?:the )?(?P<part>{_PART})[ -])?"
    rf"(?:(?P<which_year>last|past|this|next|coming) )?(?P<m3>{_MONTH})\b\.?,?"
    rf"(?:(?: del?)? (?P<y3>\d{{4}})|{_WHICH_YEAR.format('of3')})?",
    r"(?P<quarter>\d{4}-q[1-4]|q[1-4](?: (?:of )?\d{4})?|h[12] (?:of )?\d{4}"
    r"|(?:the )?(?:first|second|third|fourth) quarter (?:of )?\d{4})\b",
    rf"(?P<year>(?<![./])(?:(?:19|20)\d{{2}}|{_EARLIER_YEAR}))\b",
    r"(?P<near>today|tonight|(?:(?:the )?day before )?yesterday|(?:(?:the )?day after )?tomorrow|"
    rf"this (?:morning|afternoon|evening)|last night|"
    rf"(?:the )?(?:{_UNIT}|weekend) (?:before last|after next)|the weekend(?! of\b)|"
    rf"(?:the )?(?:last|past|this|previous|current|next|coming) (?:{_UNIT}|quarter|weekend)"
    rf"(?!{_OF_A_TIME}))\b",
    r"(?<!every )(?<!each )(?:(?P<which>last|past|this|next|this coming|coming) )?"
    rf"(?P<weekday>{_WEEKDAY})\b"
    r"(?:,? (?:of )?(?P<week>(?:last|this|next) week)\b"
    r"|(?P<bare>(?=['’]s\b|[?.!]*$| (?:morning|afternoon|evening|night)\b)))?",
    rf"(?:the )?(?:(?P<whose>last|past|this|next|coming) )?(?P<season>{_SEASON})\b"
    r"(?: (?:of )?(?P<season_year>\d{4}|(?:last|this|next) year)\b)?",
    rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT}|weekend)s? (?P<side>ago|from now)\b",
    r"(?:the )?(?P<end>end|rest|beginning|start|middle) of "
    r"(?P<ending>(?:(?:the|this|next|last) )?(?:week|month|year))\b",
    r"(?P<to_come>upcoming|coming up|in the (?:near )?future|next up|(?:(?<= is )|(?<= are ))next"
    r"(?=\W*$)|(?:(?<=when is the )|(?<=when is my )|(?<=when is our ))next)\b",
)
_PREPOSITION = any_of(
    ("after", "since", "before", "until", "till", "by", "from", "in", "on", "for", "during",
     "within", "as of", "up to", "starting", "throughout", "im", "en", "em", "w", "в", "во")
)  # fmt: skip
IN_LOWER_CASE = re.compile(rf"(?<![\w-])(?:(?P<prep>{_PREPOSITION})\s+)?(?:{'|'.join(_POINTS)})")
EXPRESSION = re.compile(IN_LOWER_CASE.pattern, re.IGNORECASE)
YEAR = re.compile(r"(?<![\w.,/£$€-])(1[5-9]\d\d|20\d\d)(?![\w%/-]|[.,]\d| ?[%£$€])")
AMBIGUOUS_DAY = re.compile(r"\b\d{1,2}([/-])\d{1,2}\1\d{4}\b")  # 4/12/2026: day or month first
DAY_IN_DIGITS = re.compile(r"\d-\d{1,2}-\d|\d-[Ww]\d|\d\. ?\d{1,2}\. ?\d|\d/\d{1,2}/\d")
# A day of a month that its weekday makes certain: "Saturday the 28th".
WEEKDAY_AND_DAY = re.compile(
    rf"(?<!every )(?<!each )\b(?:(on|by|until|till|before|after|since) )?({_WEEKDAY}),? (?:the )?"
    rf"(\d{{1,2}})(?:st|nd|rd|th)\b(?! (?:of )?(?:{_MONTH})\b)",
    re.I,
)
AT_END = re.compile(r"[?.!,]|$")  # follows a time that no preposition marks as one
WORD = re.compile(r"[^\W\d_]+")
# Without one of these or a date in digits a line names no day.
DAY_WORDS = frozenset((*NAMED_MONTHS, *WEEKDAYS, "today", "tonight", "yesterday", "tomorrow",
    "ago", "now", "week", "kw", "kalenderwoche"))  # fmt: skip
# With one of these words, a time that may be past or future ("on Saturday") is past.
PAST = frozenset(("did", "had", "happened", "was", "went", "were"))
FEW = re.compile(
    rf"\b(?:(?:in|over|during|within|for)\s+)?"
    rf"(?:(?:(?:the )?(?:last|past|previous) (?P<count>{_COUNT}) |the (?:last|past) )"
    rf"(?P<unit>hour|{_UNIT})(?P<many>s?)(?!{_OF_A_TIME})|"
    rf"(?:the )?(?:next|coming) (?P<ahead>{_COUNT}) (?P<units>{_UNIT})s?)\b",
    re.IGNORECASE,
)
_WITHIN = rf" ({_COUNT}) ({_UNIT})s?\b(?:['’]? time)?(?=[?.!,]|$)"
_YEAR_OF_FEAST = r"(?:(?:,? in| of)?( (?:last|this|next) year| \d{4}))?(?=[?.!,]|$)"
_TO_FEAST = r"\b(on|by|until|till|before|after|since) "
# Of questions: patterns of times, and what these mean.
SAYINGS = [(re.compile(pattern, re.I), meaning) for pattern, meaning in (
    (r"\b(?:in|during|of) the (1[5-9]\d|20\d)0s\b", r"between \g<1>0 and \g<1>9"),
    (rf"\b(last|this|next) week,?(?: on)? ({_WEEKDAY})\b", r"\2 \1 week"),
    (r"\b(?:at|over|around) christmas" + _YEAR_OF_FEAST, r"between 24 and 26 December\1"),
    (_TO_FEAST + r"christmas(?: day)?" + _YEAR_OF_FEAST, r"\1 25 December\2"),
    (_TO_FEAST + r"christmas eve" + _YEAR_OF_FEAST, r"\1 24 December\2"),
    (_TO_FEAST + r"new year(?:['’]?s)?(?: day)?" + _YEAR_OF_FEAST, r"\1 1 January\2"),
)]  # fmt: skip
# The same, but not for questions about the past, such as "did I read it in two weeks?".
SAYINGS_AHEAD = [(re.compile(pattern, re.I), meaning) for pattern, meaning in (
    (rf"\bin{_WITHIN}", r"\1 \2s from now"),
    (rf"\bwithin{_WITHIN}", r"the next \1 \2s"),
)]  # fmt: skip
WEEKDAY_AT_END = re.compile(rf"(?:{_WEEKDAY})$", re.I)
DAY_OF_MONTH = re.compile(
    r"\b(on|by|until|till|before|after|since) the (\d{1,2})(?:st|nd|rd|th)(?=[?.!,]|$)", re.I
)
# Follows "from May"; without it, "the notes from May" are those of May.
ONWARDS = re.compile(r" (?:on|onwards?|forwards?|until (?:now|today))\b", re.IGNORECASE)
# Words before the beginning of a time, and between its beginning and end, in some languages. In the
# end of "from Monday, 2 March, to Friday, 6 March" a comma follows the weekday.
_TO_FRIDAY = rf"(?:[^\W\d]{{2,20}}, (?:(?:the|de[mnr]) )?(?=\d{{1,2}}\S{{0,2}} (?:{_MONTH})\b))?"
BETWEEN = [
    re.compile(
        rf"\b(?:{before}) (.{{1,30}}?),? (?:{within}) ({_TO_FRIDAY}.{{1,30}}?)"
        rf"(?=\s*(?:[?,]|\.(?!\d| ?(?:{_MONTH})\b))| \w+ed\b|$)",
        re.I,
    )
    for before, within in (
        ("between", "and"), ("from", "to|until"), ("zwischen", "und"), ("vo[nm]", "bis(?: zum)?"),
        ("entre", "et|y|e"), ("del?|du|des?de", "au?|à|al|ao|até|hasta"), ("dal?", "al?"),
        ("tra|fra", "e"), ("tussen", "en"), ("van", "tot"), ("od", "do"), ("со?", "по|до"),
    )
]  # fmt: skip
# "3-10 May", "21 Dec - 4 Jan 2027", "3 to 10 May", "May 3-10, 2027". A number alone is no day if
# there are spaces around the dash: "Part 3 - 10 May"; nor is "may" before a verb a month.
_YEAR_OF_DAY = r"(?:,?(?: del?)? \d{4}(?!\d)|,?(?: of)? (?:last|this|next) year\b)?"
_WHOLE_DAY = (
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}\. ?\d{{1,2}}\. ?\d{{4}}"
    rf"|(?:the )?\d{{1,2}}{_NTH}(?: of| de)? (?:{_MONTH})\b\.?{_YEAR_OF_DAY}"
    rf"|(?:{_ENGLISH_MONTH})\b\.? \d{{1,2}}{_NTH}\b{_YEAR_OF_DAY}"
)
_UNTIL = r" (?:to|until|till|through) "
UNTIL = re.compile(_UNTIL, re.I)
_BEFORE_VERB = (
    r"(?-i:(?<= may)|(?<= march)) "
    rf"(?!(?:{_PREPOSITION}|and|or|at|to|with|last|this|next)\b)(?-i:[a-z])"
)
_CLOCK = (
    r"(?:,? (?:at )?\d{1,2}[:.]\d{2}(?: ?(?:[ap]\.?m\.?|uhr))?)?"  # "12 May 07:10 - 16 May 21:40"
)
_OF_WEEK = rf"(?:(?:{_WEEKDAY}|mon|tue|wed|thu|fri|sat|sun)\.?,? (?:the )?)"
WRITTEN_RANGE = re.compile(
    rf"(?<![\w.,:/£$€–—-])(?:(?P<prep>{_PREPOSITION}|between) )?"
    # "21 Dec - 4 Jan 2027"
    rf"(?:{_OF_WEEK}?(?P<first>{_WHOLE_DAY}){_CLOCK}(?: ?[-–—] ?|{_UNTIL})"
    rf"{_OF_WEEK}?(?P<last>{_WHOLE_DAY})"
    # "3-10 May", "Mon 3 - Fri 7 May"
    rf"|{_OF_WEEK}?(?P<day>\d{{1,2}}{_NTH})(?:(?:(?<=\D) ?[-–—] ?|[-–—]|{_UNTIL}){_OF_WEEK}?"
    rf"| ?[-–—] ?{_OF_WEEK})(?P<of_month>{_WHOLE_DAY})"
    # "May 3-10, 2027"
    rf"|(?P<of>(?:{_ENGLISH_MONTH})\b\.?) (?P<from>\d{{1,2}}){_NTH}[-–—]"
    rf"(?P<to>\d{{1,2}}){_NTH}(?![\d:-]| ?[ap]\.?m\b)(?P<year>{_YEAR_OF_DAY}))(?![\w-]|,? \d{{4}})"
    rf"(?!{_BEFORE_VERB})",
    re.I,
)
# A text with one of these says that a time became another: "moved from 3 May to 10 May".
MOVED = re.compile(
    r"\b(?:moved?|moving|postpon|re-?schedul|shift|push|brought|bring|delay|extend|chang|verschoben|"
    r"verlegt|reporté|décalé|aplaz|spostat|adiad|verzet|verplaatst|przełoż)",
    re.I,
)
ASKS_AHEAD = re.compile(
    r"\b(?:due|deadlines?|need|must|should|ha(?:ve|s) (?:got )?to|to do|will|plan(?:ned|s)?|todos?)"
    r"\b",
    re.I,
)
EVENT = re.compile(
    r"\b(?:(?:in |on )?the (?P<unit>day|week|month|year) )?"
    r"(?P<prep>after|since|before|until)\s+(?P<event>(?:the\s+)?[^?,.]{3,60})",
    re.I,
)
