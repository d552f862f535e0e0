"""A question as a graph: the things it asks about and names, and the words that join them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from memvault.retrieval.roads.when import Span

PERSON_WORDS = frozenset((
    "who", "whom", "whose", "whoever", "whomever", "someone", "somebody", "anyone", "anybody",
    "everyone", "everybody", "person", "people"
))  # fmt: skip
ANYTHING = frozenset(("something", "anything", "everything"))
BARE_ASKING = frozenset(("where", "when", "what", "which"))
# Words that say nothing of a relation's meaning by themselves.
LIGHT = frozenset((
    "whose", "have", "has", "had", "having", "do", "does", "did", "from", "of", "in", "on", "at",
    "with", "by", "to", "for", "was", "were", "is", "are", "be", "been", "that", "get", "got"
))  # fmt: skip
_IDLE = frozenset((
    "a", "an", "the", "of", "in", "on", "at", "by", "to", "for", "with", "from", "and", "or", "we",
    "i", "is", "was", "were", "are", "be", "it", "its", "that", "this", "our", "us", "me", "my",
    "x", "has", "have", "had", "do", "did", "does"
))  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_ENDING = re.compile(r"(ations?|ators?|ings?|ions?|ors?|ers?|ed|es|e|s|al|als)$")


@dataclass(frozen=True, slots=True)
class Thing:
    """Something asked about, or named.

    Attributes:
        token: its place among the parsed words.
        text: its noun, lower case, in the singular.
        modifiers: words that narrow it (*storage* decisions).
        nodes: ids of the graph's nodes that its name stands for; None where it is not named.
        person: whether only a person can be meant.
        asked: the question word that stands for it or before it.
        role: whether the noun is a relation to something (*who is the lead*) rather than a kind.
        plural: whether several may be meant.
        bare: whether it stands alone behind a preposition (*in charge of*).
        times: when.
    """

    token: int
    text: str
    modifiers: tuple[str, ...] = ()
    nodes: tuple[str, ...] | None = None
    person: bool = False
    asked: str | None = None
    role: bool = False
    plural: bool = False
    bare: bool = False
    times: tuple[Span, ...] = ()

    @property
    def named(self) -> bool:
        return self.nodes is not None

    @property
    def is_question_word(self) -> bool:
        return self.asked is not None and self.asked == self.text and self.text in BARE_ASKING

    @property
    def phrase(self) -> str:
        return " ".join((*self.modifiers, self.text))


@dataclass(frozen=True, slots=True)
class Relation:
    """The words that join thing ``a`` to thing ``b``, of which ``a`` is nearer to what is asked.

    ``lemmas`` are the content words in their base form.
    """

    a: int
    b: int
    words: str
    lemmas: frozenset[str] = frozenset()
    times: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """``root`` is the thing asked for; the relations form a tree that leads away from it.

    ``contracted`` counts the nouns that were read as words of a relation.
    """

    things: tuple[Thing, ...]
    relations: tuple[Relation, ...]
    root: int
    contracted: int = 0

    def below(self, thing: int) -> list[Relation]:
        return [relation for relation in self.relations if relation.a == thing]

    @property
    def asked(self) -> Thing:
        return self.things[self.root]

    @property
    def names_something(self) -> bool:
        return any(thing.named for thing in self.things)


def joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its commonest English endings."""
    word = word.lower()
    return _ENDING.sub("", word) if len(word) > 3 else word


def stems(text: str) -> frozenset[str]:
    """Stems of the words that say something; the mask ``X`` is none."""
    found: Iterable[str] = _WORD.findall(text)
    return frozenset(stem(word) for word in found if word.lower() not in _IDLE)
