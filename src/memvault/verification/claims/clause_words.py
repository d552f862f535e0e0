"""Words and phrases that decide what a clause states: its end, hedges, negations, changes."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that are part of no attribute: verbs that set or change a value, words of precision.
NOT_ATTRIBUTES = _words(
    "set sets raise raised raises cut cuts reduce reduced reduces increase increased increases "
    "lower lowered cap capped fix fixed agree agreed agrees move moved moves push pushed change "
    "changed changes update updated revise revised limit limited extend extended shorten shortened "
    "bump bumped trim trimmed stand stands stood remain remains remained amount amounts amounted "
    "come comes came total totals totalled totaled equal equals reach reaches reached hit hits go "
    "goes went keep keeps kept settle settled sit sits get gets got make makes made become becomes "
    "became bring brings brought put puts use uses used need needs needed say says said state "
    "states stated confirm confirmed confirms note noted record recorded decide decided sign "
    "signed approve approved approves grant grants granted allow allows allowed give gives gave "
    "given have offer offers provide provides lasts "
    "postpone postponed delay delayed reschedule rescheduled shift shifted slip slipped switch "
    "switched grow grew grown fall fell fallen drop dropped double doubled halve halved "
    "currently roughly approximately approx exactly nearly almost about around today officially "
    "finally recently originally formerly previously initially meanwhile however instead right "
    "everyone anyone somebody someone nobody team board client yesterday tomorrow"
)  # fmt: skip
# Words after which the paid item follows the sum: "it costs us 900 a month in rent".
PAYING_WORDS = _words(
    "cost costs pay pays paid charge charges charged spend spends spent bill bills us"
)
# Words after an amount that make it a distance in time or space, not a value.
RELATIVE_WORDS = _words("ago later earlier after before old long left apart away")
# Types of notes whose title names an occasion rather than the subject of their sentences.
OCCASION_TYPES = _words(
    "session daily weekly meeting chat log journal conversation minutes preference diary"
)

CLAUSE_BREAK = re.compile(
    r";|,?\s+(?:but|while|whereas|although|though)\s+|,\s+(?:and|so|which|then)\s+|\s[–—]\s|"
    r"\s+and\s+(?=(?:the|its|our|a|an|his|her|their)\s+\w+)",
    re.IGNORECASE,
)
_HEDGES = sorted(
    _words(
        "if maybe perhaps possibly probably might could would should hopes? hoped hoping wants? "
        "wanted wish(?:es|ed)? asks? asked requested requesting propos(?:e|es|ed|al|ing) "
        "suggest(?:s|ed|ing|ion)? consider(?:s|ed|ing)? discuss(?:es|ed|ing)? rumou?rs? rumou?red "
        "heard allegedly apparently supposedly reportedly estimates? estimated guess(?:es|ed)? "
        "thinks? thought believes? believed expects? expected assum(?:e|es|ed) hypothetical draft "
        "tentative(?:ly)? unconfirmed unsure unclear imagine offers? offered "
        "negotiat(?:e|es|ed|ing|ion) tbc tbd targets? targeted targeting goal claims? claimed "
        "rejected declined whether suppos(?:e|es|ing) wonder(?:s|ed|ing)? "
        "doubt(?:s|ed|ful)? pretend presumably"
    )
)
_HEDGED_PHRASES = (
    r"(?<!in )(?<!of )(?<!\d )may(?! \d)(?!,)",  # not the month
    "not sure", "no idea", "(?:do not|don't|don’t|doesn't|does not) know", "for example",
    r"e\.g\.", "remind me", "to be confirmed", "turned down",
)  # fmt: skip
HEDGED = re.compile(rf"\?|[^\w](?:{'|'.join((*_HEDGES, *_HEDGED_PHRASES))})[^\w]")
NEGATED = re.compile(
    r"[^\w](?:not|no longer|never|isn't|isn’t|wasn't|wasn’t|aren't|aren’t|doesn't|doesn’t|didn't|"
    r"didn’t|won't|won’t|cannot|can't|neither|nor)[^\w]"
)
DENIED = re.compile(r"[^\w](?:wrong|false|incorrect|mistaken|untrue|not true|a mistake)[^\w]")
FORMER = re.compile(
    r"[^\w](?:formerly|previously|originally|used to|no longer|until recently|in the past|back "
    r"then|at first|initially|had been|was once|old figure|outdated)[^\w]|"
    r"^\W*until (?:the|we|our|my|last|then|(?:19|20)\d\d)\b"
)
# Sentences that retract the one before: "That was a mistake.", "This was before the move."
RETRACTION = re.compile(
    r"^\W*(?:but |and |sorry,? )?(?:that|this|it|which|all that) "
    r"(?:(?:was|is|were|proved|proves) (?:(?:all|just|simply|not|now|no longer) )?"
    r"(?:an? )?(?:wrong|false|incorrect|mistake|mistaken|untrue|true|error|typo|joke|guess|rumou?r|"
    r"outdated|obsolete|over|history)\b|turned out (?:to be )?(?:wrong|false|incorrect|otherwise)|"
    r"(?:was|were) (?:before|until|under|back|in (?:19|20)\d\d|with the old|when)\b|"
    r"(?:no longer|does not|doesn't|did not|didn't) (?:hold|hold true|apply|last|work out)\b|"
    r"has (?:since )?changed)",
    re.IGNORECASE,
)
UPDATES = re.compile(
    r"[^\w](?:rais(?:e|es|ed)|cut|reduced|increased|lowered|moved|pushed|changed|updated|revised|"
    r"extended|shortened|bumped|trimmed|postponed|delayed|rescheduled|shifted|slipped|switched|"
    r"migrated|replaced|renamed|corrected|now|as of|since|from now on|went (?:up|down)|grew|fell|"
    r"dropped|took over|takes over|handed over|brought forward)[^\w]"
)


def occurs(pattern: re.Pattern[str], text: str) -> bool:
    """Whether one of the patterns above occurs in a text, in upper or lower case."""
    return pattern.search(f" {text.lower()} ") is not None
