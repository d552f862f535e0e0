"""Finds the names of the vault in the texts of notes and in questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memvault.model.graph import NodeKind
from memvault.text.name_matcher import NameMatcher

Span = tuple[int, int, str]  # start, end and key of a name
# Finds the names in a text, except those of one node.
FindNames = Callable[[str, str | None], Sequence[Span]]


def names_in(rules: NameMatcher) -> FindNames:
    """A function that finds the certain names of the vault in a text, without tags."""

    def find(text: str, exclude: str | None) -> list[Span]:
        return [
            (mention.start, mention.end, mention.name.target)
            for mention in rules.find(text, exclude=exclude)
            if mention.certain and mention.name.kind != NodeKind.TAG
        ]

    return find


def names_in_question(rules: NameMatcher) -> FindNames:
    """A function that finds the spans of a question that name nodes, ignoring case and tags."""

    def find(text: str, exclude: str | None) -> list[Span]:
        return [
            (mention.start, mention.end, mention.name.target)
            for mention in rules.find(text, exclude=exclude, question=True)
            if mention.name.kind != NodeKind.TAG
        ]

    return find
