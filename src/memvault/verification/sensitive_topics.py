"""Recognises sensitive questions: about law, money, health or the rules of an organisation.

One word of `sensitive_words` is enough, in any language, unless the question only asks who did
something, or where or why: such a question is about neither law nor money although it names a
contract or a bank.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from memvault.text.words import without_accents
from memvault.verification.sensitive_words import SPACED, UNSPACED, SensitiveTopic

# Questions about an event: who did something, or where or why. They have a question word and, in
# other languages than English, a form of the past. "Who has a right to" asks about no event.
_EVENT_QUESTIONS = tuple(
    (re.compile(rf"\W*(?:{question_word})\b"), re.compile(verb))
    for question_word, verb in (
        ("who|whom|where|why|with whom", r"\b(?:did|does|do|was|were|has|have|had)\b"),
        (
            "(?:mit |von |bei )?(?:wer|wen|wem)|wo|wohin|woher|warum|wieso|weshalb",
            r"\b(?:hat|haben|hast|hatten?|waren?|wurden?)\b(?! (?:das )?(?:recht|anspruch))",
        ),
        (
            "(?:avec |[aà] |chez |par )?qui|(?:d['’])?o[uù]|pourquoi",
            r"\b(?:a-t-|ont-|as-tu|ai-je|avons-|avez-|avai(?:t|ent)|étai(?:t|ent))"
            r"|\bqui (?:a|ont) (?!(?:le )?droit)",
        ),
        (
            "(?:a |con |de )?qui[eé]n(?:es)?|(?:a|de )?d[oó]nde|por qu[eé]",
            r"\w(?:ó|[aei]ron|[ai]ste)\b|\b(?:ha|han|había|habían) \w+[dh]o\b",
        ),
        (
            "(?:con |a |da )?chi|(?:da )?dove|perch[eéè]",
            r"\b(?:ha|hanno|hai|aveva|avevano)\b(?! (?:il )?diritto)|\b(?:è|sono) stat[oaie]\b",
        ),
        ("(?:com |a |de )?quem|a?onde|por ?qu[eê]", r"\w\w(?:ou|iu|[aei]ram)\b"),
        (
            "(?:met |van |bij )?wie|waar|waarom|waarheen",
            r"\b(?:heeft|hebben|heb|had|hadden|was|waren|werd)\b(?! recht)",
        ),
        (
            "(?:z |od |do |u )?(?:kto|kogo|komu|kim)|gdzie|dokąd|skąd|dlaczego|czemu",
            r"\w\w(?:ł[ao]?|li|ł[ae][mś]|liśmy|łyśmy)\b",
        ),
        ("кто|кого|кому|с кем|где|куда|откуда|почему|зачем", r"\w\wл[аои]?(?:сь|ся)?\b"),
        (".{0,12}(?:誰|だれ|どこ|なぜ|どうして).*", r"[ただ](?:の|か|のか|のですか)?\W*$"),
        (".{0,12}(?:谁|誰|哪里|哪裡|哪儿|在哪|为什么|為什麼).*", "[了过過]"),
    )
)


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else without_accents(text.lower())


def _any_of(words: Mapping[str, str]) -> str:
    """One expression of all entries, grouped by their first letter so that most are not tried."""
    by_first: dict[str, list[str]] = {}
    for entry in dict.fromkeys(_folded(" ".join(words.values())).split()):
        first = entry[0] if entry[0].isalpha() or entry[0] == "*" else ""
        by_first.setdefault(first, []).append(entry.removeprefix(first))
    groups = (f"{first}(?:{'|'.join(entries)})" for first, entries in by_first.items())
    return "|".join(groups).replace("*", r"\w*").replace("_", " ")


_SPACED = {topic: re.compile(rf"\b(?=\w)(?:{_any_of(words)})\b") for topic, words in SPACED.items()}
_UNSPACED = {topic: re.compile(_any_of(words)) for topic, words in UNSPACED.items()}
_HAN_OR_KANA = re.compile("[\u3041-\u9fff]")


def sensitive_topic_of(query: str) -> SensitiveTopic | None:
    """The sensitive topic of a question in any of eleven languages, or None. Takes microseconds.

    Legal are laws, contracts, rights in works and claims against somebody; financial are budgets,
    taxes, insurance, bank details and what somebody earns, owes, pays or owns, but no mere price;
    medical are medicines, allergies, diagnoses, vaccinations and treatments; policy is what the
    rules of an office or a firm permit or entitle to.
    """
    words = " ".join(_folded(query).replace("’", "'").split())
    topic = _first_match(_SPACED, words)
    if topic is None and not words.isascii() and _HAN_OR_KANA.search(words):
        topic = _first_match(_UNSPACED, words)
    return None if topic is None or _is_about_event(query) else topic


def _first_match(
    patterns: Mapping[SensitiveTopic, re.Pattern[str]], words: str
) -> SensitiveTopic | None:
    return next((topic for topic, pattern in patterns.items() if pattern.search(words)), None)


def _is_about_event(query: str) -> bool:
    text = " ".join(query.lower().split())
    return " owe" not in text and any(
        question_word.match(text) and verb.search(text) for question_word, verb in _EVENT_QUESTIONS
    )
