"""Interpretations of a question: which nouns are terms, and which are part of a relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

from memvault.search.relations.question import ANYTHING, Question, Relation, Term, joined

if TYPE_CHECKING:
    from spacy.tokens import Doc

MAX_CONTRACTED = 2
_BE = frozenset(("is", "are", "was", "were"))
_LINKING = _BE | {"", "be", "been"}


def readings(question: Question, kinds: Sequence[bool]) -> list[Question]:
    """The question as parsed, and with nouns that name no kind of note as part of their relation
    (*in charge of*, *the budget of*), best guess first.

    Args:
        kinds: for each term whether its noun names a kind of note.
    """
    for k, term in enumerate(question.terms):
        is_plain = _is_plain_noun(term, names_kind=kinds[k])
        if term.bare and is_plain and k != question.root and question.below(k):
            question = contracted(question, k)
    return _contractions(_with_one_owner(_folded(question, kinds), kinds), kinds)


def _is_plain_noun(term: Term, *, names_kind: bool) -> bool:
    """Whether a term means no node, so that it may be part of a relation."""
    return not (term.named or term.person or names_kind) and term.text not in ANYTHING


def _contractions(question: Question, kinds: Sequence[bool]) -> list[Question]:
    """The question with none, some and all of the plain nouns between two terms contracted."""
    degree = [sum(k in (r.a, r.b) for r in question.relations) for k in range(len(kinds))]
    plain_nouns = [
        k
        for k, term in enumerate(question.terms)
        if k != question.root and degree[k] == 2 and _is_plain_noun(term, names_kind=kinds[k])
    ]
    counts = range(min(len(plain_nouns), MAX_CONTRACTED) + 1)
    interpretations = []
    for chosen in chain.from_iterable(combinations(plain_nouns, count) for count in counts):
        interpretation = question
        for k in chosen:
            interpretation = contracted(interpretation, k)
        interpretations.append(replace(interpretation, contracted=len(chosen)))
    return interpretations


def contracted(question: Question, k: int) -> Question:
    """The question with term ``k`` merged into the relations that it connected."""
    term = question.terms[k]
    above = next((r for r in question.relations if r.b == k), None)
    if above is None:
        return question
    below = question.below(k)
    relations = [r for r in question.relations if r is not above and r not in below]
    front = "" if above.words in ("of", "whose") else above.words
    for relation in below:
        lemmas = above.lemmas | relation.lemmas | {term.text}
        words = joined(front, term.phrase, relation.words)
        times = above.times + relation.times + term.times
        relations.append(Relation(above.a, relation.b, words, lemmas, times))
    return replace(question, relations=tuple(relations))


def _folded(question: Question, kinds: Sequence[bool]) -> Question:
    """Merge each noun that has no further relation and names no kind into its neighbour."""
    terms, relations = list(question.terms), list(question.relations)
    while True:
        leaf = next(
            (
                r
                for r in relations
                if r.b != question.root
                and _is_plain_noun(terms[r.b], names_kind=kinds[r.b])
                and not any(other.a == r.b for other in relations)
            ),
            None,
        )
        if leaf is None:
            return replace(question, terms=tuple(terms), relations=tuple(relations))
        relations.remove(leaf)
        noun = terms[leaf.b].phrase
        siblings = [
            k
            for k, r in enumerate(relations)
            if r.a == leaf.a
            and (r.words == leaf.words or (leaf.words and r.words.startswith(leaf.words)))
        ]
        for k in siblings:
            relation = relations[k]
            lemmas = relation.lemmas | {terms[leaf.b].text}
            relations[k] = replace(relation, words=joined(noun, relation.words), lemmas=lemmas)
        if not siblings:
            owner = terms[leaf.a]
            words = joined(leaf.words, noun)
            terms[leaf.a] = replace(owner, modifiers=(*owner.modifiers, words))


def _with_one_owner(question: Question, kinds: Sequence[bool]) -> Question:
    """Move all but the first relation of a value (a place, a day) to the term it belongs to."""
    value, below = question.root_term, question.below(question.root)
    if len(below) < 2 or kinds[question.root] or value.person or value.named:
        return question
    owner, rest = below[0].b, below[1:]
    moved = (replace(r, a=owner) if r in rest else r for r in question.relations)
    return replace(question, relations=tuple(moved))


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
    near, far = question.terms[relation.a], question.terms[relation.b]
    first, second = sorted((near.token, far.token))
    is_adjacent = second - first == 1 and doc[first].tag_ != "POS"
    if not relation.words and is_adjacent and near.named != far.named:
        named, noun = (relation.a, relation.b) if near.named else (relation.b, relation.a)
        return _without(question, relation, drop=noun, keep=named)
    is_root = relation.a == question.root
    word = near.question_word if near.person or near.text in ("what", "who") else None
    if relation.words in _LINKING and is_root and word and not far.named and not far.person:
        terms = list(question.terms)
        terms[relation.b] = replace(far, person=near.person, question_word=word, role=True)
        question = replace(question, terms=tuple(terms))
        return _without(question, relation, drop=relation.a, keep=relation.b)
    if relation.words in _BE and far.named and not near.named and not is_root:
        return _without(
            _moved_to_relation_above(question, relation, near), relation, relation.a, relation.b
        )
    return None


def _moved_to_relation_above(question: Question, relation: Relation, noun: Term) -> Question:
    """*the project that X is the lead of*: the noun's words go to the relation above it."""
    relations = list(question.relations)
    for k, above in enumerate(relations):
        if above.b == relation.a:
            front = above.words if above.words != "of" else ""
            words = joined(front, noun.phrase, "is")
            relations[k] = replace(above, words=words, lemmas=above.lemmas | {noun.text})
            break
    return replace(question, relations=tuple(relations))


def _without(question: Question, relation: Relation, drop: int, keep: int) -> Question:
    """The question with term ``drop`` merged into ``keep``, which takes over its relations."""

    def moved(k: int) -> int:
        return keep if k == drop else k

    relations = tuple(
        replace(r, a=moved(r.a), b=moved(r.b))
        for r in question.relations
        if (r.a, r.b) != (relation.a, relation.b)
    )
    terms = list(question.terms)
    times = terms[keep].times + terms[drop].times
    terms[keep] = replace(terms[keep], times=times)
    return replace(question, terms=tuple(terms), relations=relations, root=moved(question.root))


def _outward(question: Question) -> Question:
    """Direct every relation away from the term asked for."""
    relations: list[Relation] = []
    reached, rest = {question.root}, list(question.relations)
    while True:
        relation = next((r for r in rest if r.a in reached or r.b in reached), None)
        if relation is None:
            return replace(question, relations=tuple(relations))
        rest.remove(relation)
        if relation.a not in reached:
            relation = replace(relation, a=relation.b, b=relation.a)
        relations.append(relation)
        reached.add(relation.b)
