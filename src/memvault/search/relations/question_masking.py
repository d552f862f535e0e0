"""Parses the text of a question into terms and relations.

Names are replaced by a given name before the parser sees them: it was trained on newspapers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memvault.search.relations.grammar import Grammar
from memvault.search.relations.interpretations import merged
from memvault.search.relations.paths import masked
from memvault.search.relations.question import Question
from memvault.search.times.time_expressions import Cut, EventDay, cut_times
from memvault.search.times.time_spans import Calendar

if TYPE_CHECKING:
    from spacy.tokens import Doc

Parser = Callable[[str], Any]

_PLACEHOLDERS = ("Mary", "Anna", "Lucy", "Emma")  # the first that a question does not have


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """A name in a question, and the nodes that have it."""

    start: int
    end: int
    nodes: tuple[str, ...]


FindNames = Callable[[str], list[NamedSpan]]


class QuestionReader:
    """Reads questions with a trained pipeline."""

    def __init__(self, parse: Parser) -> None:
        self._parse = parse

    def read(
        self, text: str, find_names: FindNames, event_day: EventDay, today: Calendar
    ) -> Question:
        """The terms and relations of a question; it may have none.

        Args:
            find_names: the names in a text, in order, none overlapping another.
            event_day: returns the day of the event that a text names, if any.
        """
        text, cuts = cut_times(" ".join(text.split()), today, event_day)
        names = find_names(text)
        unused = (name for name in _PLACEHOLDERS if name not in text)
        placeholder = next(unused, _PLACEHOLDERS[0])
        text, cuts = _masked(text, names, cuts, placeholder)
        doc = self._parse(text.strip())
        tokens = [token.i for token in doc if token.text == placeholder]
        nodes = {token: name.nodes for token, name in zip(tokens, names, strict=False)}
        question = merged(Grammar(doc, nodes).read(), doc)
        for cut in cuts:
            question = _with_time(question, doc, cut)
        return question


def _masked(
    text: str, names: list[NamedSpan], cuts: list[Cut], placeholder: str
) -> tuple[str, list[Cut]]:
    """The text with every name replaced by one plain given name."""
    plain = masked(text, ((name.start, name.end) for name in names), placeholder)
    moved_cuts = []
    for cut in cuts:
        preceding = [name for name in names if name.end <= cut.at]
        shift = sum(len(placeholder) - (name.end - name.start) for name in preceding)
        moved_cuts.append(replace(cut, at=cut.at + shift))
    if not cuts:
        plain = re.sub(rf"\bthe ([a-z]+) {placeholder}\b", placeholder, plain)
        plain = re.sub(r"^\s*please\b,?\s*", "", plain, flags=re.IGNORECASE)
        plain = re.sub(r"\s+([?.,!])", r"\1", plain)
    return plain, moved_cuts


def _with_time(question: Question, doc: Doc, cut: Cut) -> Question:
    """The question with a time added to the noun or relation that it followed, else to its root."""
    if not question.terms:
        return question
    preceding = [token for token in doc if token.idx < cut.at]
    last_token = preceding[-1] if preceding else doc[0]
    terms, relations = list(question.terms), list(question.relations)
    for k, term in enumerate(terms):
        if term.token == last_token.i and not term.named:
            terms[k] = replace(term, times=(*term.times, cut.span))
            return replace(question, terms=tuple(terms))
    for k in reversed(range(len(relations))):
        relation = relations[k]
        is_target = last_token.i == terms[relation.far].token
        is_in_words = last_token.text in relation.words.split()
        if is_target or last_token.lemma_.lower() in relation.lemmas or is_in_words:
            relations[k] = replace(relation, times=(*relation.times, cut.span))
            return replace(question, relations=tuple(relations))
    root = question.root
    terms[root] = replace(terms[root], times=(*terms[root].times, cut.span))
    return replace(question, terms=tuple(terms))
