"""Questions that name no subject: for what is latest, and for what is known of the person.

AI clients ask them when a session starts. No text has to fit them.
"""

from __future__ import annotations

import re

from memvault.search.dates import NEWEST, says_nothing_but

# "How do I show recent files?" asks for a note that says it, not for what is recent.
_INSTRUCTION = re.compile(
    r"^\W*(?:how|why|can|could|do|does|is|are|should|what (?:is|are) an?\b)", re.I
)
_LATEST = re.compile(
    r"\b(?:(?:last|previous|earlier|past) (?:time|sessions?|conversations?|chats?|discussions?)|"
    r"(?:we|i) (?:left|stopped|ended)|le(?:ft|ave) off|catch me up|"
    r"(?:bring|get) me up to (?:date|speed)|(?:what'?s|what is|anything|something) new|"
    r"(?:was|were|am|are) (?:i|we) (?:\w+ly )?(?:working|doing)|"
    r"gibt es (?:etwas )?neues|letzte[nrs]? (?:mal|gespräch|sitzung|unterhaltung)|"
    r"quoi de neuf|dernière (?:fois|conversation|séance)|"
    r"última (?:vez|conversa|conversación|sesión)|ultima (?:volta|conversazione|sessione))\b",
    re.I,
)
_LATEST_WORDS = (
    "working stored recorded remember remembered memories context conversation conversations chat "
    "chats discussion discussions project projects us gesprochen besprochen parlé discuté hablado "
    "hablamos parlato falamos"
)
_PERSON = re.compile(
    r"\b(?:about (?:me|myself|the user)|who (?:am i|is the user)|who i am|"
    r"(?:user|my|personal) (?:profile|details|info(?:rmation)?|background|facts)|"
    r"über mich|wer bin ich|sur moi|qui suis je|sobre mí|quién soy|su di me|chi sono|sobre mim)\b",
    re.I,
)
_PERSON_WORDS = (
    "know known remember remembered stored everything fact facts information info details profile "
    "background personal user memories please basic key important weißt alles erzähl sais sabes "
    "sai sabe"
)


def asks_only_for_latest(question: str) -> bool:
    """Whether a question asks for whatever is latest: "What did we talk about last time?"."""
    if _INSTRUCTION.search(question):
        return False
    rest, found = _LATEST.subn(" ", question.casefold())
    rest, also = NEWEST.subn(" ", rest)
    return bool(found or also) and says_nothing_but(_LATEST_WORDS.split(), rest, question)


def asks_only_for_person(question: str) -> bool:
    """Whether a question asks for whatever is known of the person: "What do you know about me?"."""
    rest, found = _PERSON.subn(" ", question.casefold())
    return bool(found) and says_nothing_but(_PERSON_WORDS.split(), rest, question)
