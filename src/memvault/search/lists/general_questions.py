"""Questions that name no subject: for what is latest, for the person, or for all of a type.

AI clients ask them when a session starts. No text has to fit them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from itertools import pairwise

from memvault.search.lists.comparisons import comparison_in
from memvault.search.question_languages import languages_of
from memvault.search.task_words import asks_how
from memvault.search.times.question_time import NEWEST
from memvault.search.times.time_question_words import words_beyond
from memvault.stores.vectors import bm25
from memvault.stores.vectors.languages import LANGUAGES
from memvault.text.stems import stems
from memvault.text.words import some_words, without_accents

# "How do I show recent files?" asks for instructions, not for what is recent.
_INSTRUCTION = re.compile(
    r"^\W*(?:how|why|can|could|do|does|is|are|should|what (?:is|are) an?\b)", re.I
)
_WRITE = r"(?:wr(?:ite|ote|itten)|(?:save|store|change|note)d?|(?:add|edit)(?:ed)?)"
_LATEST = re.compile(
    r"\b(?:(?:last|previous|earlier|past) (?:time|sessions?|conversations?|chats?|discussions?)|"
    rf"last (?:things?|notes?|entry|entries)|just {_WRITE}|(?:{_WRITE} last|last {_WRITE})(?=\W*$)|"
    r"(?:we|i) (?:left|stopped|ended)|le(?:ft|ave) off|catch me up|"
    r"(?:bring|get) me up to (?:date|speed)|(?:what'?s|what is|anything|something) new|"
    r"(?:was|were|am|are) (?:i|we) (?:\w+ly )?(?:working|doing)|"
    r"gibt es (?:etwas )?neues|novità|novedades|novidades|(?:hay|algo) (?:de )?nuevo|"
    r"há de novo|(?:wat is er|iets) nieuws?|что нового|co nowego|"
    r"letzte[nrs]? (?:mal|gespräch|sitzung|unterhaltung)|"
    r"quoi de neuf|dernière (?:fois|conversation|séance)|"
    r"última (?:vez|conversa|conversación|sesión)|ultima (?:volta|conversazione|sessione)|"
    r"(?:gerade|eben|zuletzt) (?:geändert|geschrieben|gespeichert|notiert)|"
    r"viens d(?:e |['’])(?:changer|modifier|écrire|enregistrer|noter)|"
    r"acabo de (?:cambiar|escribir|guardar|anotar)|"
    r"appena (?:cambiato|modificato|scritto|salvato|annotato)|"
    r"acabei de (?:mudar|alterar|escrever|guardar|salvar|anotar)|"
    r"(?:net|zojuist|(?:het )?laatst) (?:veranderd|gewijzigd|geschreven|opgeslagen|genoteerd)|"
    r"(?:właśnie|ostatnio) (?:zmieni|napisa|zapisa)\w+|"
    r"только что (?:измени|написа|сохрани|записа)\w+)\b|"
    r"最後に(?:書い|変更し|保存し)た(?:もの|こと)?|刚(?:刚|才)?(?:改|写|保存|记)了?",
    re.I,
)
_LATEST_WORDS = (
    "working stored recorded remember remembered memories context conversation conversations chat "
    "chats discussion discussions project projects us worüber gesprochen besprochen parlé discuté "
    "hablado hablamos parlato falamos wurde wurden hast"
)
_PERSON = re.compile(
    r"\b(?:about (?:me|myself|the user)|(?:know|remember) me|who (?:am i|is the user)|who i am|"
    r"(?:user|my|personal) (?:profile|details|info(?:rmation)?|background|facts)|"
    r"über mich|wer bin ich|von mir|(?:sur|de) moi|qui suis je|(?:sobre|de) m[ií]|quién soy|"
    r"(?:su )?di me|chi sono|(?:sobre|de) mim|quem sou eu|(?:over|van) mij|wie ben ik|обо мне|"
    r"про меня|кто я|o mnie|kim jestem)\b|私(?:のこと|について)|关于我|我是谁",
    re.I,
)
_PERSON_WORDS = (  # in the form of `str.casefold`
    "know known remember remembered stored everything fact facts information info details profile "
    "background personal user memories please basic key important weisst alles erzähl weißt kennst "
    "erinnerst sais savez connais souviens rappelles parle raconte sabes conoces recuerdas cuenta "
    "cuéntame háblame sai conosci ricordi parlami raccontami sabe conhece lembra conta fala weet "
    "kent herinner vertel wiesz pamiętasz opowiedz знаешь помнишь расскажи"
)
_LIST_WORDS = (
    "existing got have keep kept know known made own recorded stored taken total use overview "
    "summarize summarise überblick zusammenfassen aperçu résumer resumir riassumi overzicht "
    "podsumuj"
)
_ALL = re.compile(
    r"\b(?:all|every|each|list|how many|count|alle[rn]?|liste|wie viele|tou(?:s|tes)|"
    r"combien d(?:e|['’])|tod[oa]s|lista|cuánt[oa]s|quant(?:[ei]|[oa]s)|tutt[ie]|elenca|lijst|"
    r"wszystk\w+|wymień|wypisz|ile|ilu|все[хм]?|список)\b|全て|すべて|全部|一覧|いくつ|所有|列出",
    re.I,
)
# "Where is the car?" asks for a fact, not for the notes in the folder "car".
_FACT = re.compile(
    r"\b(?:when|where|why|whose|(?:who|what|which)(?:['’]s| (?:is|was|does|did|has|had|will|can))|"
    r"wann|wo|wohin|woher|warum|wessen|(?:wer|was) (?:ist|war|hat|macht|kann|wird)|"
    r"quand|où|pourquoi|(?:qui|que|quelle?) (?:est|était|fait|a)|qu['’]est[ -]ce|"
    r"cuándo|dónde|(?:quién|qué|cuál) (?:es|era|fue|hace|tiene)|"
    r"quando|dove|perché|(?:chi|cosa|qual) (?:è|era|fa|ha)|cos['’]è|"
    r"onde|(?:quem|que|qual) (?:é|era|faz|tem)|"
    r"wanneer|waar|waarom|(?:wie|wat) (?:is|was|doet|heeft)|"
    r"kiedy|gdzie|dlaczego|(?:kto|co) (?:to|jest|był|była|było|robi|ma)|"
    r"когда|где|куда|почему|кто|что такое)\b|"
    r"いつ|どこ|誰|とは|何時|什么时候|哪里|哪儿|谁|是什么|什么是",
    re.I,
)
_SINGLE_LETTER = re.compile(
    r"(?<![\w'’.])(?:[B-HJ-Z]|\w+[+#]+)(?![\w'’.])"
)  # "books on C", "on C++"
_WORD = re.compile(r"[^\W_]+")
_MAX_TYPE_WORDS = 2
_TYPE_START = 4  # first letters that a type shares with the verb for it


def asks_only_for_latest(question: str) -> bool:
    """Whether a question asks only for the latest: "What did we talk about last time?"."""
    if _INSTRUCTION.search(question):
        return False
    rest, latest = _LATEST.subn(" ", question.casefold())
    rest, newest = NEWEST.subn(" ", rest)
    return bool(latest or newest) and not words_beyond(_LATEST_WORDS.split(), rest, question)


def asks_only_for_person(question: str) -> bool:
    """Whether a question asks only what is known of the person: "What do you know about me?"."""
    rest, count = _PERSON.subn(" ", question.casefold())
    return bool(count) and not words_beyond(_PERSON_WORDS.split(), rest, question)


def asks_for_all(question: str) -> bool:
    """Whether a question asks for all notes of a kind, or for their number."""
    return _ALL.search(question) is not None


def asks_for_fact(question: str) -> bool:
    """Whether a question asks when, where or what something is, so no list of notes answers it."""
    return _FACT.search(question) is not None


def type_asked_for(question: str, types: Callable[[], Collection[str]]) -> str | None:
    """The type of which a question asks for all notes, and for nothing else: "List all recipes".

    Args:
        types: returns the types that notes have; called only if the question may name one.
    """
    words = words_beyond(_LIST_WORDS.split(), question, question)
    if not 0 < len(words) <= _MAX_TYPE_WORDS or _INSTRUCTION.search(question) or asks_how(question):
        return None
    if _SINGLE_LETTER.search(question) or comparison_in(question) is not None:
        return None
    if _names_one_by_number(question, words):
        return None
    text, starts = " ".join(words), {_bare(word[:1]) for word in words}  # to compare few of many
    alike = (kind for kind in types() if kind != "note" and _bare(kind[:1]) in starts)
    return next((kind for kind in alike if _have_same_stems(kind, text, question)), None)


@lru_cache(maxsize=1_000)
def _bare(letter: str) -> str:
    """A letter in lower case without its accent: the first of "Apfel" and "Äpfel"."""
    return without_accents(letter.casefold())


def begins_as_a_word_of(question: str) -> Callable[[str], bool]:
    """A function that says whether a type begins as a word of the question does: "decided" and
    decision, "entschieden" and Entscheidung, but for the type of all notes that have none."""
    starts = {word[:_TYPE_START] for word in set(some_words(question)) if len(word) > _TYPE_START}
    return lambda kind: kind != "note" and kind.casefold()[:_TYPE_START] in starts


def _names_one_by_number(question: str, words: Collection[str]) -> bool:
    """Whether a number follows a word: "chapter 1", "invoice 2026-093", but not "5 recipes"."""
    are_numbers = [word.isdigit() for word in _WORD.findall(question.casefold()) if word in words]
    return any(after and not before for before, after in pairwise(are_numbers))


def stems_by_language(text: str, question: str) -> list[frozenset[object]]:
    """The stems of a text as English, and as each language that a question may be in."""
    languages = [name for name in languages_of(question).names if name in LANGUAGES]
    return [frozenset(stems(text)), *(bm25.terms_in_language(text, name) for name in languages)]


def _have_same_stems(first: str, second: str, question: str) -> bool:
    """Whether two texts have the same stems in a language of the question: "libro", "libri"."""
    pairs = zip(
        stems_by_language(first, question), stems_by_language(second, question), strict=True
    )
    return any(stems_of_first == stems_of_second for stems_of_first, stems_of_second in pairs)
