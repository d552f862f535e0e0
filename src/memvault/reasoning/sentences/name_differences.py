"""Finds sentences that say of another name what a statement says of its own."""

from __future__ import annotations

import re

from memvault.reasoning.sentences.word_overlap import Difference, WordOverlap
from memvault.verification.claims.claim_stems import stems_of

_EXCEPT = re.compile(r"\b(?:others?|else|rest|except|remaining)\b", re.IGNORECASE)


def other_subjects(overlap: WordOverlap) -> frozenset[str] | None:
    """The names in the sentence's clauses that have the statement's words but not its name."""
    statement, sentence = overlap.statement, overlap.sentence
    shared = statement.keys("name") & sentence.keys("name")
    if not shared or sentence.keys("name") <= statement.keys("name"):
        return None
    clauses = {
        word.clause
        for word in sentence.tokens
        if word.kind == "word" and word.key in statement.keys("word")
    }
    names = {
        clause: {
            word.key for word in sentence.tokens if (word.kind, word.clause) == ("name", clause)
        }
        for clause in clauses
    }
    if not clauses or any(not keys or keys & shared for keys in names.values()):
        return None
    return frozenset().union(*names.values())


def other_name(overlap: WordOverlap) -> Difference | None:
    """The name that the sentence has in place of the statement's missing name, or None."""
    statement, sentence, missing = overlap.statement, overlap.sentence, overlap.missing_names
    others = frozenset(
        key
        for key in sentence.keys("name") - statement.keys("name") - overlap.context.keys("name")
        if not stems_of(sentence.words["name"][key]) <= statement.stems()
    )
    clauses = {word.clause for word in sentence.tokens if word.key in statement.keys("name")}
    if clauses:
        others &= {word.key for word in sentence.tokens if word.clause in clauses}
    if len(overlap.missing) > 1 or not overlap.has_values():
        return None
    if _EXCEPT.search(sentence.text):
        return None
    if sentence.says_only and not statement.denied and not overlap.missing:
        others = others or sentence.keys("name")
        return Difference("name", missing, others) if others else None
    if statement.denied or not others:
        return None
    in_same_place = [
        (name, other)
        for name in missing
        for other in others
        if set(statement.neighbours.get(name, ())) & set(sentence.neighbours.get(other, ())) - {""}
    ]
    if in_same_place:
        names, replacements = zip(*in_same_place, strict=True)
        return Difference("name", frozenset(names), frozenset(replacements))
    if not overlap.missing and len(others) == len(missing) == 1:
        return Difference("name", missing, others)
    return None
