"""Interpretations of a question: which nouns are terms, and which are part of a relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

from memvault.search.relations.question import (
    ANYTHING,
    FORMS_OF_BE,
    Question,
    Relation,
    Term,
    join_words,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc

MAX_CONTRACTED = 2
_LINKING = FORMS_OF_BE | {"", "be", "been"}


def interpretations(question: Question, kinds: Sequence[bool]) -> list[Question]:
    """The question as parsed, and with nouns that name no kind of note as part of their relation
    (*in charge of*, *the budget of*), best guess first.

    Args:
        kinds: for each term whether its noun names a kind of note.
    """
    for k, term in enumerate(question.terms):
        is_plain = _is_plain_noun(term, names_kind=kinds[k])
        if term.bare and is_plain and k != question.root and question.below(k):
            question = contracted(question, k)
    return _contractions(_folded(question, kinds), kinds)


def _is_plain_noun(term: Term, *, names_kind: bool) -> bool:
    """Whether a term means no node, so that it may be part of a relation."""
    return not (term.named or term.person or names_kind) and term.text not in ANYTHING


def _contractions(question: Question, kinds: Sequence[bool]) -> list[Question]:
    """The question with none, some and all of the plain nouns between two terms contracted."""
    degree = [sum(k in (r.near, r.far) for r in question.relations) for k in range(len(kinds))]
    plain_nouns = [
        k
        for k, term in enumerate(question.terms)
        if k != question.root and degree[k] == 2 and _is_plain_noun(term, names_kind=kinds[k])
    ]
    counts = range(min(len(plain_nouns), MAX_CONTRACTED) + 1)
    contractions = []
    for chosen in chain.from_iterable(combinations(plain_nouns, count) for count in counts):
        interpretation = question
        for k in chosen:
            interpretation = contracted(interpretation, k)
        contractions.append(replace(interpretation, contracted=len(chosen)))
    return contractions


def contracted(question: Question, term_index: int) -> Question:
    """The question with this term merged into the relations that it connected."""
    term = question.terms[term_index]
    above = next((r for r in question.relations if r.far == term_index), None)
    if above is None:
        return question
    below = question.below(term_index)
    relations = [r for r in question.relations if r is not above and r not in below]
    front = "" if above.words in ("of", "whose") else above.words
    for relation in below:
        lemmas = above.lemmas | relation.lemmas | {term.text}
        words = join_words(front, term.phrase, relation.words)
        times = above.times + relation.times + term.times
        relations.append(Relation(above.near, relation.far, words, lemmas, times))
    return replace(question, relations=tuple(relations))


def _folded(question: Question, kinds: Sequence[bool]) -> Question:
    """Merge each noun that has no further relation and names no kind into its neighbour."""
    terms, relations = list(question.terms), list(question.relations)
    while True:
        leaf = next(
            (
                r
                for r in relations
                if r.far != question.root
                and _is_plain_noun(terms[r.far], names_kind=kinds[r.far])
                and not any(other.near == r.far for other in relations)
            ),
            None,
        )
        if leaf is None:
            return replace(question, terms=tuple(terms), relations=tuple(relations))
        relations.remove(leaf)
        noun = terms[leaf.far].phrase
        siblings = [
            k
            for k, r in enumerate(relations)
            if r.near == leaf.near
            and (r.words == leaf.words or (leaf.words and r.words.startswith(leaf.words)))
        ]
        for k in siblings:
            relation = relations[k]
            lemmas = relation.lemmas | {terms[leaf.far].text}
            relations[k] = replace(relation, words=join_words(noun, relation.words), lemmas=lemmas)
        if not siblings:
            owner = terms[leaf.near]
            words = join_words(leaf.words, noun)
            terms[leaf.near] = replace(owner, modifiers=(*owner.modifiers, words))


def merged(question: Question, doc: Doc) -> Question:
    """Merge two words for one term: *the project X*, *who is the lead*, *X is the lead of*."""
    if not question.terms:
        return question
    while True:
        for relation in question.relations:
            smaller = _merged_over(question, relation, doc)
            if smaller is not None:
                question = smaller
                break
        else:
            return _outward(question)


def _merged_over(question: Question, relation: Relation, doc: Doc) -> Question | None:
    near_term, far_term = question.terms[relation.near], question.terms[relation.far]
    first_token, second_token = sorted((near_term.token, far_term.token))
    is_adjacent = second_token - first_token == 1 and doc[first_token].tag_ != "POS"
    if not relation.words and is_adjacent and near_term.named != far_term.named:
        named_index, noun_index = (
            (relation.near, relation.far) if near_term.named else (relation.far, relation.near)
        )
        return _without(question, relation, drop=noun_index, keep=named_index)
    is_root = relation.near == question.root
    word = (
        near_term.question_word if near_term.person or near_term.text in ("what", "who") else None
    )
    if (
        relation.words in _LINKING
        and is_root
        and word
        and not far_term.named
        and not far_term.person
    ):
        terms = list(question.terms)
        terms[relation.far] = replace(
            far_term, person=near_term.person, question_word=word, role=True
        )
        question = replace(question, terms=tuple(terms))
        return _without(question, relation, drop=relation.near, keep=relation.far)
    if relation.words in FORMS_OF_BE and far_term.named and not near_term.named and not is_root:
        return _without(
            _moved_to_relation_above(question, relation, near_term),
            relation,
            relation.near,
            relation.far,
        )
    return None


def _moved_to_relation_above(question: Question, relation: Relation, noun: Term) -> Question:
    """*the project that X is the lead of*: the noun's words go to the relation above it."""
    relations = list(question.relations)
    for k, above in enumerate(relations):
        if above.far == relation.near:
            front = above.words if above.words != "of" else ""
            words = join_words(front, noun.phrase, "is")
            relations[k] = replace(above, words=words, lemmas=above.lemmas | {noun.text})
            break
    return replace(question, relations=tuple(relations))


def _without(question: Question, relation: Relation, drop: int, keep: int) -> Question:
    """The question with term ``drop`` merged into ``keep``, which takes over its relations."""

    def moved(k: int) -> int:
        return keep if k == drop else k

    relations = tuple(
        replace(r, near=moved(r.near), far=moved(r.far))
        for r in question.relations
        if (r.near, r.far) != (relation.near, relation.far)
    )
    terms = list(question.terms)
    times = terms[keep].times + terms[drop].times
    terms[keep] = replace(terms[keep], times=times)
    return replace(question, terms=tuple(terms), relations=relations, root=moved(question.root))


def _outward(question: Question) -> Question:
    """Direct every relation away from the term asked for."""
    relations: list[Relation] = []
    reached_terms, waiting = {question.root}, list(question.relations)
    while True:
        relation = next(
            (r for r in waiting if r.near in reached_terms or r.far in reached_terms), None
        )
        if relation is None:
            return replace(question, relations=tuple(relations))
        waiting.remove(relation)
        if relation.near not in reached_terms:
            relation = replace(relation, near=relation.far, far=relation.near)
        relations.append(relation)
        reached_terms.add(relation.far)
