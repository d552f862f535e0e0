"""Stems by which attributes are compared: all words for the same attribute have one stem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from memvault.text.stems import stem
from memvault.text.words import letter_runs
from memvault.verification.claims.amount_words import STOPS

# Words that do not name an attribute by themselves.
_GENERIC_WORDS = (
    "date day time amount number value figure total overall approved agreed current new final "
    "latest planned official exact actual full whole limit level size monthly annual yearly "
    "weekly daily quarterly confirmed revised updated original initial maximum minimum max min "
    "annum version run runs running ran has have"
)
GENERIC_WORDS = frozenset(_GENERIC_WORDS.split())
IRREGULAR_FORMS = {
    "ran": "run", "held": "hold", "paid": "pay", "sold": "sell", "built": "build",
    "began": "begin", "begun": "begin", "people": "person", "spent": "spend", "lent": "lend",
    "took": "take", "takes": "take", "bought": "buy", "wrote": "write", "met": "meet",
}  # fmt: skip
_SYNONYMS = (
    "end expire expires expiry finish terminate close lapse",
    "start begin commence kickoff onset",
    "cost price priced",
    "salary wage",
    "renew renewal renews",
    "launch release ship golive",
    "deadline due",
    "staff headcount employee",
    "licence license",
    "weight weigh weighed heavy mass",
    "height tall",
    "width wide",
    "depth deep",
    "capacity volume",
    "warranty guarantee",
    "supplier supply supplies supplied vendor",
)
_COMMON_STEM = {stem(word): stem(group.split()[0]) for group in _SYNONYMS for word in group.split()}
# Verbs and nouns of roles that one person holds at a time, each with the role's noun.
ROLE_VERBS = {
    form: role
    for role, forms in {
        "lead": "lead leads led leader leading heads headed head",
        "owner": "owns owned owner",
        "manager": "manages managed manager",
        "chair": "chairs chaired chair chairperson chairman chairwoman",
        "maintainer": "maintains maintained maintainer",
        "treasurer": "treasurer",
        "landlord": "landlord landlady",
        "director": "director directs directed",
    }.items()
    for form in forms.split()
}


@lru_cache(maxsize=20_000)
def canonical_stem(word: str) -> str:
    """The stem of a word; the same for all words that name the same attribute."""
    word = word.lower()
    role = ROLE_VERBS.get(word)
    if role is not None:
        return role
    word_stem = stem(IRREGULAR_FORMS.get(word, word))
    joined_stem = stem(word.replace("-", "")) if "-" in word else word_stem
    return _COMMON_STEM.get(joined_stem) or _COMMON_STEM.get(word_stem, word_stem)


@lru_cache(maxsize=1_000)
def substrings_for(stems: frozenset[str]) -> tuple[str, ...]:
    """Substrings, one of which is in every lower-case sentence that has a word with these stems.

    They allow a quick check before a sentence is read.
    """
    forms = {word for word in (*ROLE_VERBS, *IRREGULAR_FORMS) if canonical_stem(word) in stems}
    synonyms = {word_stem for word_stem, common in _COMMON_STEM.items() if common in stems}
    return tuple(stems | forms | synonyms)


def attribute_of(words: Sequence[str]) -> frozenset[str]:
    """The stems of the words that name an attribute, without generic words if others remain."""
    special = [
        word
        for word in words
        if word not in GENERIC_WORDS and word.rstrip("s") not in GENERIC_WORDS
    ]
    return frozenset(canonical_stem(word) for word in special or words[-1:])


@lru_cache(maxsize=4_000)
def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's content words; synonyms have one stem."""
    return stems_among(letter_runs(text))


def stems_among(words: Iterable[str]) -> frozenset[str]:
    """The stems of the content words among these words; synonyms have one stem."""
    return frozenset(canonical_stem(word) for word in words if word not in STOPS)
