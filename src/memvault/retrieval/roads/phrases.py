"""The words in which a note would state the relations that a question asks about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memvault.retrieval.roads.question import LIGHT, Question, Relation, Thing, joined, stems

_TAILS = {"where": "at", "when": "on"}
_BE = frozenset(("is", "are", "was", "were"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """Ways to state a relation, ``X`` for what it leads to, and the stems of its words.

    Without stems the words say little, and any relation may be meant.
    """

    ways: tuple[str, ...]
    stems: frozenset[str] = frozenset()

    @property
    def is_weak(self) -> bool:
        return not self.stems


def phrase_of(question: Question, relation: Relation, has_kind: Sequence[bool]) -> Phrase:
    """
    Args:
        has_kind: for each thing whether its noun alone says a kind of note.
    """
    near, far = question.things[relation.a], question.things[relation.b]
    words = [word for word in relation.words.split() if word not in _BE]
    content = [word for word in words if word.lower() not in LIGHT]
    of, front = words[:1] in ([], ["of"]), words[:1]
    asked_for = relation.a == question.root
    if not content and asked_for and not has_kind[relation.a] and front != ["of"]:
        return Phrase(("X",))
    if front == ["whose"]:
        return _field(_noun(far))
    near_noun, far_noun = _noun(near), _noun(far)
    if of and not near.named and near_noun and not near.is_question_word:
        ways = (f"{near_noun} of X", f"{near_noun}: X", near_noun)
        return Phrase(ways, stems(joined(near_noun, *content)))
    told_by_verb = asked_for and front != ["have"] and not has_kind[relation.a]
    if not content and not far.named and far_noun and not told_by_verb:
        return _field(far_noun)
    text = " ".join(words)
    if not content:
        return Phrase((f"{text or near.text} X",))
    found = stems(joined(text, *relation.lemmas))
    if near.is_question_word and near.text in _TAILS:
        return Phrase((f"{text} {_TAILS[near.text]} X",), found)
    return Phrase((f"{text} X", f"X {text}", text), found)


def _field(noun: str) -> Phrase:
    return Phrase((f"{noun}: X", noun), stems(noun))


def _noun(thing: Thing) -> str:
    return thing.phrase if not thing.person or thing.role else ""
