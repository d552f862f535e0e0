"""Parses the text of a question into terms and relations.

Names are replaced by a given name and nouns that name the vault's own kinds by a plain noun before
the parser sees them: it was trained on newspapers and takes a rare noun for a verb.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memvault.search.relations.grammar import Grammar
from memvault.search.relations.interpretations import merged, with_verb
from memvault.search.relations.question import Question, Relation
from memvault.search.time_expressions import Calendar, Cut, EventDay, cut_times

if TYPE_CHECKING:
    from spacy.tokens import Doc

Parser = Callable[[str], Any]

_PLACEHOLDER = "Mary"
_ROLE = "nephew"
_KIND, _KINDS = "car", "cars"
_VERB = "mention"
_VAGUE = frozenset((
    "other", "new", "old", "more", "many", "recent", "all", "the", "of", "kind"
))  # fmt: skip
_KIND_AND_VERB = re.compile(r"(which|what) (\w+) (\w+)\b", re.IGNORECASE)
_DO_QUESTION = re.compile(rf"(.*?)\b(?:do|does|did) (.*\b{_PLACEHOLDER}) ((?:\w+ ?){{1,4}})\?$")


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """A name in a question, and the nodes that have it."""

    start: int
    end: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The vocabulary of a vault.

    Attributes:
        find_names: the names in a text, in order, none overlapping another.
        kinds: words for its kinds of notes, singular, lower case.
        roles: names of relations with a preposition (*man of the match*), lower case.
        event_day: returns the day of the event that a text names, if any.
    """

    find_names: Callable[[str], list[NamedSpan]]
    kinds: Collection[str]
    roles: Collection[str]
    event_day: EventDay


@dataclass(slots=True)
class _Plain:
    """A question in words that the parser knows, and what they replace."""

    text: str
    nouns: dict[str, str]
    modifiers: dict[str, str]
    verb: str = ""  # stands in the text as `_VERB`


class QuestionReader:
    """Reads questions with a trained pipeline."""

    def __init__(self, parse: Parser) -> None:
        self._parse = parse

    def read(self, text: str, words: Vocabulary, today: Calendar) -> Question:
        """Things and relations; a question without any has none."""
        text, cuts = cut_times(" ".join(text.split()), today, words.event_day)
        names = words.find_names(text)
        text, cuts = _masked(text, names, cuts)
        text = text.strip()
        plain = _plain(text, words) if text else _Plain(text, {}, {})
        doc, asking = self._parsed(plain.text)
        clearer = _with_plain_verb(plain, doc, words)
        if clearer is not None:
            plain = clearer
            doc, asking = self._parse(plain.text), None
        tokens = [token.i for token in doc if token.text == _PLACEHOLDER]
        nodes = {token: name.nodes for token, name in zip(tokens, names, strict=False)}
        question = merged(_restored(Grammar(doc, nodes).read(), doc, plain), doc)
        if asking is not None and question.things:
            question = with_verb(question, *asking)
        for cut in cuts:
            question = _dated(question, doc, cut)
        return question

    def _parsed(self, text: str) -> tuple[Doc, tuple[str, str] | None]:
        """The parse; a question with *do* is parsed without it, for the parser often loses the
        verb behind a long subject, and its question word and verb are given beside it."""
        doc = self._parse(text)
        head = next((token for token in doc if token.dep_ == "ROOT"), None)
        match = _DO_QUESTION.match(text)
        if head is None or head.lemma_ != "do" or match is None or not match[1].strip():
            return doc, None
        return self._parse(f"Who are {match[2]}?"), (match[1].strip(), match[3].strip())


def _masked(text: str, names: list[NamedSpan], cuts: list[Cut]) -> tuple[str, list[Cut]]:
    """The text with every name replaced by one plain given name."""
    parts, position = [], 0
    for name in names:
        parts += [text[position : name.start], _PLACEHOLDER]
        position = name.end
    masked = "".join([*parts, text[position:]])
    moved = []
    for cut in cuts:
        before = [name for name in names if name.end <= cut.at]
        shift = sum(len(_PLACEHOLDER) - (name.end - name.start) for name in before)
        moved.append(replace(cut, at=cut.at + shift))
    if not cuts:
        masked = re.sub(rf"\bthe ([a-z]+) {_PLACEHOLDER}\b", _PLACEHOLDER, masked)
        masked = re.sub(r"^\s*please\b,?\s*", "", masked, flags=re.IGNORECASE)
        masked = re.sub(r"\s+([?.,!])", r"\1", masked)
    return masked, moved


def _plain(text: str, words: Vocabulary) -> _Plain:
    plain = _Plain(text, {}, {})
    for role in words.roles:
        plain.text, count = re.subn(rf"\b{re.escape(role)}\b", _ROLE, plain.text, flags=re.I)
        if count:
            plain.nouns[_ROLE] = role
    kinds = {form: kind for kind in words.kinds for form in _forms(kind)}

    def replaced(match: re.Match[str]) -> str:
        noun = match[2].lower()
        kind = kinds.get(noun)
        word = _KIND if noun == kind else _KINDS
        if kind is None or plain.nouns.get(word, kind) != kind:
            return match[0]
        plain.nouns[word] = kind
        front = match[1].split()
        if front[0].lower() in ("which", "what") and len(front) > 1:
            if front[1].lower() not in _VAGUE:
                plain.modifiers[word] = front[1]
            return f"{front[0]} {word}"
        return match[1] + word

    pattern = r"\b((?:which|what) (?:\w+ )?|(?:the|a|an|of|all|any|list|in) )(\w+)\b"
    plain.text = re.sub(pattern, replaced, plain.text, flags=re.IGNORECASE)
    return plain


def _with_plain_verb(plain: _Plain, doc: Doc, words: Vocabulary) -> _Plain | None:
    """Where the kind of note that is asked for was not taken for a noun of its own ("which
    complaints concern …"), the question with a kind and a verb that are; else None."""
    match = _KIND_AND_VERB.match(plain.text)
    if match is None or len(doc) < 3:
        return None
    token, noun = doc[1], match[2].lower()
    kind = plain.nouns.get(noun) or next((k for k in words.kinds if noun in _forms(k)), None)
    lost = token.tag_.startswith("VB") or (token.dep_ == "compound" and token.head.dep_ == "ROOT")
    if kind is None or not lost or plain.nouns.get(_KINDS, kind) != kind:
        return None
    text = f"{match[1]} {_KINDS} {_VERB}{plain.text[match.end() :]}"
    return _Plain(text, {**plain.nouns, _KINDS: kind}, plain.modifiers, match[3])


def _forms(kind: str) -> tuple[str, ...]:
    return (kind, kind + "s", kind + "es", kind[:-1] + "ies") if kind.isalpha() else ()


def _restored(question: Question, doc: Doc, plain: _Plain) -> Question:
    """The vault's own nouns put back in place of the plain ones."""
    things = list(question.things)
    for k, thing in enumerate(things):
        word = doc[thing.token].text
        if word in plain.nouns and not thing.named:
            before = (plain.modifiers[word],) if word in plain.modifiers else ()
            modifiers = (*before, *thing.modifiers)
            things[k] = replace(thing, text=plain.nouns[word], modifiers=modifiers)
    relations = question.relations
    if plain.verb:
        relations = tuple(_saying(relation, plain.verb) for relation in relations)
    return replace(question, things=tuple(things), relations=relations)


def _saying(relation: Relation, verb: str) -> Relation:
    """The relation with the question's own verb back in place of the plain one."""
    words = " ".join(verb if word == _VERB else word for word in relation.words.split())
    lemmas = relation.lemmas - {_VERB} | {verb} if _VERB in relation.lemmas else relation.lemmas
    return replace(relation, words=words, lemmas=lemmas)


def _dated(question: Question, doc: Doc, cut: Cut) -> Question:
    """The time given to the noun or to the relation that it stood behind, else to what is
    asked for."""
    if not question.things:
        return question
    last = [token for token in doc if token.idx < cut.at][-1:] or [doc[0]]
    things, relations = list(question.things), list(question.relations)
    for k, thing in enumerate(things):
        if thing.token == last[0].i and not thing.named:
            things[k] = replace(thing, times=(*thing.times, cut.span))
            return replace(question, things=tuple(things))
    for k in reversed(range(len(relations))):
        relation = relations[k]
        lemma, text = last[0].lemma_.lower(), last[0].text
        behind = last[0].i == things[relation.b].token
        if behind or lemma in relation.lemmas or text in relation.words.split():
            relations[k] = replace(relation, times=(*relation.times, cut.span))
            return replace(question, relations=tuple(relations))
    root = question.root
    things[root] = replace(things[root], times=(*things[root].times, cut.span))
    return replace(question, things=tuple(things))
