"""Finds the names of the vault in the texts of notes and in questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memvault.model.graph import NodeKind
from memvault.text.name_matcher import NameMatcher

Span = tuple[int, int, str]  # start, end and key of a name
# Finds the names in a text, except those of one node.
FindNames = Callable[[str, str | None], Sequence[Span]]


def names_in(rules: NameMatcher, *, question: bool = False) -> FindNames:
    """A function that finds the certain names of the vault in a text, without tags.

    Args:
        question: also find names that are not certain, such as those in lower case.
    """

    def find(text: str, exclude: str | None) -> list[Span]:
        return [
            (mention.start, mention.end, mention.name.target)
            for mention in rules.find(text, exclude=exclude, question=question)
            if (mention.certain or question) and mention.name.kind != NodeKind.TAG
        ]

    return find
