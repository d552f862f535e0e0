"""Detects the language of a note or a question, and its function words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain

import qdrant_edge as qdrant

from memvault.model.unicode_forms import normalized
from memvault.text.words import MARKS

WORD = re.compile(rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*")
_INDIAN = re.compile("[\u0900-\u0dff]")
_VOWEL_SIGNS = re.compile(rf"(?<![{MARKS}])[{MARKS}]+$")

# A text's language is that of which it has most of these words, at least two. A trained detector
# (py3langid) is more exact for single words, but takes 95 MB and 0.4 ms a note.
_COMMON_WORDS = {
    "english": "the of and to in is that it for was with as on be this are at by from or an have",
    "catalan": "els les amb és però més dels també aquest aquesta són pel pels hi ho què quan",
    "croatian": "na je se da su za od kao ali ili što koji koja koje nije bi ako samo kada gdje",
    "czech": "na se je že to jako ale jsou od po při nebo které který která být jak pokud můžete"
    " také však když jen není ve ze si co kde kdy proč",
    "danish": "og ikke jeg det er på af til som med den der har men fra også være blev hvad en",
    "dutch": "de het een en van niet dat zijn voor met ook naar maar wordt deze werd ik op aan",
    "estonian": "ja on ei et see kui ka mis aga või oma seda mida ning saab kas nii siis kuidas",
    "finnish": "ja on ei se että hän oli mutta joka ovat olla myös kun sekä tai mitä joka tämä",
    "french": "le la les et des une est dans que pour pas qui sur avec sont cette aux du en un",
    "german": "der die das und ist nicht ein eine mit den von auf für auch dem sich wird im des zu"
    " am sind wurde wir nach aus bei wie einen einer",
    "hungarian": "és az hogy nem egy van ez volt csak meg mint már vagy mi kell a",
    "indonesian": "dan yang di untuk dengan ini itu dari pada tidak dalam akan ke atau adalah"
    " anda bisa dapat juga karena oleh jika apa bagaimana",
    "italian": "il di che è per non una della sono con gli anche del nel più la le dei un",
    "latvian": "un ir uz ka ar no ne tas kā bet vai ja var būt par pēc kas šis arī lai kur",
    "lithuanian": "ir yra į kad su iš ne tai kaip bet arba jei gali būti dėl per apie nuo kas kur",
    "norwegian": "og ikke jeg det er på av til som med har men fra også være ble hva en",
    "polish": "na nie się do że jest to jak po za przez dla od są czy ale może tego które który"
    " która lub oraz jeśli gdy co gdzie kiedy dlaczego mi",
    "portuguese": "o de que não uma os para com por mais como dos das são é ao em um da",
    "romanian": "și este nu să cu care pe din mai sunt lui fost pentru la un o în",
    "slovak": "na sa je že to ako ale sú od po pri alebo ktoré ktorý ktorá byť ak môžete tiež"
    " však keď len nie vo zo si čo kde kedy prečo",
    "slovene": "in na je se da so za od kot ali kaj ki ni bi če lahko samo še ko iz po do tudi pa"
    " kje",
    "spanish": "el de que los las una por con para es como pero más del está la en un se",
    "swedish": "och inte jag det är på av till som med har men från också var ett en den",
    "turkish": "ve bir bu için ile çok daha olarak gibi değil ama olan ne da de",
    "vietnamese": "và của là có không các một được trong cho với để này khi những bạn đã như từ"
    " hoặc vào nếu thì gì nào sao",
    # Recognised by their scripts; these words are used for questions only.
    "hindi": "है हैं का की के में से को और पर यह वह कि नहीं एक या भी इस उस कर तो ही जो था थी थे क्या कैसे"
    " कब कहाँ कहां कौन कौनसा किस क्यों कितने कितना कितनी लिए गया गए जाता जाती जाते",
    "hebrew": "של את על לא זה עם הוא היא גם או כי אם כל יש אל מה איך אני כדי אבל רק איפה למה",
    "korean": "이 그 저 및 또는 그리고 수 있는 하는 어떻게 무엇을 왜 때 것 대한 어디",
}
# Languages with rich endings have few such words: a word with one of these endings counts as much.
_ENDINGS = {
    "finnish": ("ssa", "ssä", "sta", "stä", "lla", "llä", "lta", "ltä", "iin", "tään", "taan",
                "vat", "vät", "seen", "ista", "ita", "jen", "lle"),
    "hungarian": ("ban", "ben", "nak", "nek", "ból", "ből", "hoz", "hez", "ság", "ség"),
    "turkish": ("lar", "ler", "dan", "den", "nın", "nin", "yor", "dır", "dir"),
}  # fmt: skip
_ANY_ENDING = tuple(ending for endings in _ENDINGS.values() for ending in endings)
_ENDED_CHARS = 6  # least length of words that are judged by their endings
_LANGUAGE_OF_WORDS = {language: frozenset(w.split()) for language, w in _COMMON_WORDS.items()}
_COMMON = frozenset().union(*_LANGUAGE_OF_WORDS.values())
_LANGUAGES_OF_COMMON = {
    word: tuple(language for language, words in _LANGUAGE_OF_WORDS.items() if word in words)
    for word in _COMMON
}
# Letters that few other languages have: each counts as a word, up to `_MAX_LETTERS`.
_OWN_LETTERS = {
    "croatian": "đć", "czech": "ěřů", "danish": "æø", "estonian": "õ", "french": "œ",
    "german": "ß", "hungarian": "őű", "latvian": "āēīģķļņ", "lithuanian": "ėįųąę",
    "norwegian": "æø", "polish": "ąęłńśźż", "portuguese": "ãõ", "romanian": "țșăşţ",
    "slovak": "ľĺŕ", "spanish": "ñ¿¡", "turkish": "ğış",
    "vietnamese": "đơưạảấầẩậắằẵặẻẽẹếềểễệỉĩịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}  # fmt: skip
_MAX_LETTERS = 3
_LANGUAGES_OF_LETTER = {
    letter: frozenset(language for language, letters in _OWN_LETTERS.items() if letter in letters)
    for letter in "".join(_OWN_LETTERS.values())
}
_LANGUAGE_OF_SCRIPT = {
    "russian": re.compile("[\u0400-\u04ff]"),
    "greek": re.compile("[\u0370-\u03ff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "armenian": re.compile("[\u0530-\u058f]"),
    "hebrew": re.compile("[\u0590-\u05ff]"),
    "korean": re.compile("[\uac00-\ud7af]"),
    "hindi": re.compile("[\u0900-\u097f]"),  # and other languages in Devanagari
    "bengali": re.compile("[\u0980-\u09ff]"),
    "punjabi": re.compile("[\u0a00-\u0a7f]"),
    "gujarati": re.compile("[\u0a80-\u0aff]"),
    "odia": re.compile("[\u0b00-\u0b7f]"),
    "tamil": re.compile("[\u0b80-\u0bff]"),
    "telugu": re.compile("[\u0c00-\u0c7f]"),
    "kannada": re.compile("[\u0c80-\u0cff]"),
    "malayalam": re.compile("[\u0d00-\u0d7f]"),
    "sinhala": re.compile("[\u0d80-\u0dff]"),
}
# Snowball has no stemmer for these, and Qdrant for most of them no list of function words.
WITHOUT_STEMMER = frozenset(
    ("bengali", "catalan", "croatian", "czech", "estonian", "gujarati", "hebrew", "hindi",
     "indonesian", "kannada", "korean", "latvian", "lithuanian", "malayalam", "odia", "polish",
     "punjabi", "sinhala", "slovak", "slovene", "telugu", "vietnamese")
)  # fmt: skip
_WITHOUT_STOP_WORDS = frozenset(("armenian", "tamil"))
# Question words that the lists of function words of these languages lack.
_ASKING_WORDS = {
    "danish": "hvem hvis hvornår hvor hvorfor hvordan hvilken hvilket hvilke",
    "dutch": "wanneer waar waarom welk welke hoeveel wiens waarheen",
    "finnish": "milloin miten kuinka kumpi paljonko",
    "french": "quoi quand où comment pourquoi combien quel quelle quels quelles lequel laquelle",
    "german": "wer wen wem wessen wann wohin woher warum wieso weshalb wieviel wieviele woran"
    " womit wofür worüber wovon wogegen wozu worum worauf",
    "greek": "ποιος ποιοι ποιες πότε πού γιατί πώς πόσο πόσα πόσοι",
    "hungarian": "hol hova honnan melyik mennyi hány",
    "italian": "cosa quando quali qual",
    "norwegian": "hvilket",
    "polish": "w z u jak jaki jaka jakie jakich jaką jakim ile ilu kto kogo komu kim czyj czyja"
    " czego czym którą których którym którzy skąd dokąd czemu we ze tym tej ma mam mój moja moje",
    "portuguese": "onde quais quanto quanta quantos quantas porquê",
    "romanian": "când câți câtă",
    "russian": "откуда почему какие какое сколько чей",
    "spanish": "quién quiénes cuándo dónde cómo cuál cuáles cual cuales cuánto cuánta cuántos"
    " cuántas cuanto cuanta cuantos cuantas adónde",
    "turkish": "hangi kaç",
}
_ASKS = {language: frozenset(words.split()) for language, words in _ASKING_WORDS.items()}
LANGUAGES = tuple(sorted({*_COMMON_WORDS, *_LANGUAGE_OF_SCRIPT} - {"english"}))
_SAMPLE_CHARS = 1_000  # characters of a text by which its language is detected
_FEWEST_WORDS = 2
_SURELY_ENGLISH = 7  # common English words; texts in other languages have fewer


def language_of(text: str) -> str | None:
    """The language of a text, "english" or one of `LANGUAGES`; None for another language, and for
    a text with too few function words of any: a list, a table."""
    return _language_of(text[:_SAMPLE_CHARS].lower())


@lru_cache(maxsize=1_000)  # more notes than one write has; it detects each language twice
def _language_of(sample: str) -> str | None:
    if (by_script := _language_of_script(sample)) is not None:
        return by_script
    words = frozenset(sample.split())  # three times as fast as a regular expression
    if len(words & _LANGUAGE_OF_WORDS["english"]) >= _SURELY_ENGLISH:
        return "english"
    letters = _letters_by_language(sample)
    common = words & _COMMON  # mostly few, or none
    counts = letters + Counter(chain.from_iterable(map(_LANGUAGES_OF_COMMON.__getitem__, common)))
    if max(counts.values(), default=0) <= 2 * _FEWEST_WORDS:
        long_words = (word.rstrip(".,:;!?") for word in words if len(word) >= _ENDED_CHARS)
        words_with_ending = [word for word in long_words if word.endswith(_ANY_ENDING)]
        for language, endings in _ENDINGS.items() if words_with_ending else ():
            counts[language] += sum(word.endswith(endings) for word in words_with_ending)
    best_language = _most_counted(counts)
    if counts[best_language] < _FEWEST_WORDS:  # a list, a table, a few lines
        bare_words = {
            word.strip("()[].,:;!?") for word in words
        }  # only letters: no address or option
        plain = (word for word in bare_words if word.isalpha() and len(word) > 1)
        counts = letters + Counter(chain.from_iterable(map(_languages_of_function_word, plain)))
        best_language = _most_counted(counts)
    return best_language if counts[best_language] >= _FEWEST_WORDS else None


def _most_counted(counts: Counter[str]) -> str:
    """The language with the highest count; of equal ones the first."""
    return max(_COMMON_WORDS, key=lambda language: counts[language])


def _letters_by_language(text: str) -> Counter[str]:
    """For each language the number of a text's letters that few other languages have."""
    if text.isascii():
        return Counter()
    letters = _LANGUAGES_OF_LETTER.keys() & set(text)
    counts = Counter(chain.from_iterable(_LANGUAGES_OF_LETTER[letter] for letter in letters))
    return Counter({language: min(_MAX_LETTERS, count) for language, count in counts.items()})


def _language_of_script(text: str) -> str | None:
    """The language whose script a quarter of a text is in; None if there is none."""
    if not text.isascii():
        for language, letters in _LANGUAGE_OF_SCRIPT.items():
            if 2 * len(letters.findall(text)) > len(text) // 2:
                return language
    return None


def is_foreign(text: str) -> bool:
    """Whether a text is not in English, judged by its letters and most common words."""
    letters = [letter for letter in text if letter.isalpha()]
    is_ascii = 2 * sum(map(str.isascii, letters)) >= len(letters)
    return not is_ascii or language_of(text) not in ("english", None)


@lru_cache(maxsize=256)  # a question is read several times
def language_of_query(text: str, languages: tuple[str, ...]) -> str | None:
    """The language of the query's script, or with most function words in it; None if there is
    none, or if English and another language have equally many in a query with an accent.

    Args:
        languages: the languages, other than English, that the query may be in.
    """
    if not languages:
        return "english"
    if (by_script := _language_of_script(text)) in languages:
        return by_script
    spoken = ("english", *languages)
    counts = Counter(function_words_by_language(text, spoken))
    best_language, highest_count = counts.most_common(1)[0]  # of equal ones the first
    highest_foreign_count = max(counts[language] for language in languages)
    if not text.isascii() and best_language == "english" and highest_foreign_count == highest_count:
        return None  # "conjugação do verbo", "meetings in Zürich"
    return best_language if highest_count else None


def function_words_by_language(text: str, languages: Iterable[str]) -> dict[str, int]:
    """For each language the number of a text's function words, such as "what"."""
    counts = Counter(chain.from_iterable(map(_languages_of_function_word, words_of(text))))
    return {language: counts[language] for language in languages}


def function_words(text: str, language: str) -> list[str]:
    """The function words of a text in a language."""
    return [word for word in words_of(text) if is_function_word(word, language)]


def is_function_word(word: str, language: str) -> bool:
    """Whether a word is a function word of a language, as "what" is in English.

    Args:
        language: "english", one of `LANGUAGES`, "chinese" or "japanese".
    """
    if word in _ASKS.get(language, ()):
        return True
    if language in WITHOUT_STEMMER:
        return word in _LANGUAGE_OF_WORDS.get(language, ())
    return language not in _WITHOUT_STOP_WORDS and not (
        _without_function_words(language).embed_query(word).indices
    )


@lru_cache(maxsize=20_000)  # each word of a question is checked in all languages
def _languages_of_function_word(word: str) -> tuple[str, ...]:
    """The languages in which a word is a function word."""
    return tuple(name for name in ("english", *LANGUAGES) if is_function_word(word, name))


@cache
def _without_function_words(language: str) -> qdrant.Bm25:
    return qdrant.Bm25(qdrant.Bm25Config(tokenizer=qdrant.TokenizerType.Word, language=language))


def words_of(text: str) -> list[str]:
    """The words of a text in `normal` form."""
    return WORD.findall(normal(text))


def without_ending(word: str) -> str | None:
    """A word of India's scripts without the vowel signs that it ends in; None for other words."""
    return _VOWEL_SIGNS.sub("", word) if _INDIAN.match(word) else None


def normal(text: str) -> str:
    """The text in lower case, with accents, which stemmers need."""
    return normalized(text, "NFKC").lower()
