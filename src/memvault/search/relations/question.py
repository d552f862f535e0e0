"""A question as terms and relations, and the phrases that state a relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memvault.search.times.time_spans import Span
from memvault.text.stems import stems

PERSON_WORDS = frozenset((
    "who", "whom", "whose", "whoever", "whomever", "someone", "somebody", "anyone", "anybody",
    "everyone", "everybody", "person", "people"
))  # fmt: skip
ANYTHING = frozenset(("something", "anything", "everything"))
BARE_QUESTION_WORDS = frozenset(("where", "when", "what", "which"))
# Words without meaning for a relation.
LIGHT_WORDS = frozenset((
    "whose", "have", "has", "had", "having", "do", "does", "did", "from", "of", "in", "on", "at",
    "with", "by", "to", "for", "was", "were", "is", "are", "be", "been", "that", "get", "got"
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a question: a noun or a name.

    Attributes:
        token: its index among the parsed words.
        text: its noun, lower case, in the singular.
        modifiers: words that narrow it (*storage* decisions).
        nodes: ids of the graph's nodes with its name; None if it is no name.
        person: whether only a person can be meant.
        question_word: the question word that it is, or that precedes it.
        role: whether the noun is a relation to something (*who is the lead*) rather than a kind.
        bare: whether it follows a preposition alone (*in charge of*).
        times: the times that the question gives for it.
    """

    token: int
    text: str
    modifiers: tuple[str, ...] = ()
    nodes: tuple[str, ...] | None = None
    person: bool = False
    question_word: str | None = None
    role: bool = False
    bare: bool = False
    times: tuple[Span, ...] = ()

    @property
    def named(self) -> bool:
        return self.nodes is not None

    @property
    def is_question_word(self) -> bool:
        return self.question_word == self.text and self.text in BARE_QUESTION_WORDS

    @property
    def phrase(self) -> str:
        return " ".join((*self.modifiers, self.text))


@dataclass(frozen=True, slots=True)
class Relation:
    """The words that connect two terms.

    Attributes:
        near: number of the term that is nearer to the term asked for.
        far: number of the other term.
        lemmas: the content words in their base form.
    """

    near: int
    far: int
    words: str
    lemmas: frozenset[str] = frozenset()
    times: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question: ``root`` is the term asked for, the relations form a tree from it.

    ``contracted`` counts the nouns that were read as part of a relation.
    """

    terms: tuple[Term, ...]
    relations: tuple[Relation, ...]
    root: int
    contracted: int = 0

    def below(self, term: int) -> list[Relation]:
        """The relations from a term away from the root."""
        return [relation for relation in self.relations if relation.near == term]

    @property
    def root_term(self) -> Term:
        return self.terms[self.root]

    @property
    def names_something(self) -> bool:
        return any(term.named for term in self.terms)


def join_words(*parts: str) -> str:
    return " ".join(part for part in parts if part)


_PREPOSITION_OF = {"where": "at", "when": "on"}
# "Who works at X?" is answered by a field that has no word of it.
_EMPLOYED = frozenset(("work", "employ"))
_EMPLOYER = ("company: X", "employer: X")
FORMS_OF_BE = frozenset(("is", "are", "was", "were"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """Texts that state a relation, with ``X`` for its target, and the stems of its words.

    Without stems any relation may be meant.
    """

    wordings: tuple[str, ...]
    stems: frozenset[str] = frozenset()

    @property
    def is_weak(self) -> bool:
        return not self.stems


def relation_phrase(question: Question, relation: Relation, has_kind: Sequence[bool]) -> Phrase:
    """The phrase that states a relation of a question.

    Args:
        has_kind: for each term whether its noun alone names a kind of note.
    """
    near_term, far_term = question.terms[relation.near], question.terms[relation.far]
    words = [word for word in relation.words.split() if word not in FORMS_OF_BE]
    content = [word for word in words if word.lower() not in LIGHT_WORDS]
    first_word = words[:1]
    is_root = relation.near == question.root
    if not content and is_root and not has_kind[relation.near] and first_word != ["of"]:
        return Phrase(("X",))
    if first_word == ["whose"]:
        return _field_phrase(_noun_words(far_term))
    near_noun, far_noun = _noun_words(near_term), _noun_words(far_term)
    if (
        first_word in ([], ["of"])
        and not near_term.named
        and near_noun
        and not near_term.is_question_word
    ):
        wordings = (f"{near_noun} of X", f"{near_noun}: X", near_noun)
        return Phrase(wordings, stems(join_words(near_noun, *content)))
    needs_verb = is_root and first_word != ["have"] and not has_kind[relation.near]
    if not content and not far_term.named and far_noun and not needs_verb:
        return _field_phrase(far_noun)
    text = " ".join(words)
    if not content:
        return Phrase((f"{text or near_term.text} X",))
    word_stems = stems(join_words(text, *relation.lemmas))
    employer = () if relation.lemmas.isdisjoint(_EMPLOYED) else _EMPLOYER
    if near_term.is_question_word and near_term.text in _PREPOSITION_OF:
        return Phrase((f"{text} {_PREPOSITION_OF[near_term.text]} X", *employer), word_stems)
    return Phrase((f"{text} X", f"X {text}", text, *employer), word_stems)


def _field_phrase(noun: str) -> Phrase:
    return Phrase((f"{noun}: X", noun), stems(noun))


def _noun_words(term: Term) -> str:
    return term.phrase if not term.person or term.role else ""
