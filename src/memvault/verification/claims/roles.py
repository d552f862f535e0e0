"""Finds who holds a role: "Ada leads Aurora", "Aurora is led by Ada", "the lead of
Aurora is Ada"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memvault.verification.claims.claim_stems import ROLE_VERBS
from memvault.verification.claims.claims import NAME
from memvault.verification.claims.clause import Clause, StatedValue, Token

_TO_BE = frozenset(("is", "was", "be", "became"))
_MAX_DISTANCE = 4  # words between a name and its role
_MAX_ROLE_WORDS = 3  # words of a role


@dataclass(frozen=True, slots=True)
class _Name:
    first: int
    last: int
    key: str
    text: str


def role_words(words: Sequence[str]) -> Iterator[str]:
    """The words of a text that may name a role in it; a quick check before `roles_in`.

    Args:
        words: the words of the text, in lower case.
    """
    yield from (word for word in words if word in ROLE_VERBS)
    if "as" not in words and _TO_BE.isdisjoint(words):
        return
    for index, word in enumerate(words):
        if word in ("the", "s", "as"):
            yield from words[index + 1 : index + 1 + 2 * _MAX_ROLE_WORDS]  # hyphens split words


def roles_in(clause: Clause) -> Iterator[StatedValue]:
    """The holders of roles that a clause states; none if it has more than two names."""
    names = _names(clause.tokens) if clause.names else []
    if len(names) == 1:
        role = _role_verb_of_one(clause, names[0]) or _role_noun_of_one(clause, names[0])
    elif len(names) == 2:
        role = _role_verb_of_two(clause, *names) or _role_noun_of_two(clause, *names)
    else:
        role = None
    if role is not None:
        yield role


def _names(tokens: Sequence[Token]) -> list[_Name]:
    names: list[_Name] = []
    for k, token in enumerate(tokens):
        if token.name is None:
            continue
        if names and names[-1].key == token.name and names[-1].last == k - 1:
            former = names.pop()
            names.append(_Name(former.first, k, token.name, f"{former.text} {token.text}"))
        else:
            names.append(_Name(k, k, token.name, token.text))
    return names


def _role_verb_of_one(clause: Clause, name: _Name) -> StatedValue | None:
    before = clause.tokens[max(0, name.first - _MAX_DISTANCE) : name.first]
    after = clause.tokens[name.last + 1 : name.last + 1 + _MAX_DISTANCE]
    role = _role([token.low for token in (*before, *after)])
    if role is None or any(token.amount >= 0 for token in (*before, *after)):
        return None
    subject = _only_other(clause, name)
    return clause.stated([role], NAME + name.key, name.text, subject=subject) if subject else None


def _only_other(clause: Clause, name: _Name) -> str | None:
    """The entity that the note is about, if it is a single one other than this name."""
    subjects = clause.note.default_subjects
    return next(iter(subjects)) if len(subjects) == 1 and name.key not in subjects else None


def _role_verb_of_two(clause: Clause, first: _Name, second: _Name) -> StatedValue | None:
    low = [token.low for token in clause.tokens]
    between = low[first.last + 1 : second.first]
    before = low[max(0, first.first - _MAX_DISTANCE) : first.first]
    after = low[second.last + 1 : second.last + 1 + _MAX_DISTANCE]
    role, first_is_subject = _role(between), "by" in between or between[:1] == ["'s"]
    if role is None and _TO_BE.intersection(between):
        role, first_is_subject = _role(before), True
        if role is None and after[:1] == ["'s"]:
            role, first_is_subject = _role(after), False
    if role is None:
        return None
    subject, value = (first, second) if first_is_subject else (second, first)
    return clause.stated([role], NAME + value.key, value.text, subject=subject.key)


def _role_noun_of_two(clause: Clause, first: _Name, second: _Name) -> StatedValue | None:
    """The holder of a role, where any noun after *is the*, or before *is*, joins two names."""
    between = clause.tokens[first.last + 1 : second.first]
    low = [token.low for token in between]
    if low[-1:] in (["of"], ["for"]) and (start := _index_after_is(low)) > 0:  # N is the R of S
        return _holder(clause, between[start:-1], second.key, first)
    if low[:1] == ["'s"] and low[-1:] and low[-1] in _TO_BE:  # S's R is N
        return _holder(clause, between[1:-1], first.key, second)
    before = clause.tokens[: first.first]
    is_the_of = before and before[0].low == "the" and before[-1].low in ("of", "for")
    if is_the_of and len(low) == 1 and low[0] in _TO_BE:  # the R of S is N
        return _holder(clause, before[1:-1], first.key, second)
    return None


def _role_noun_of_one(clause: Clause, name: _Name) -> StatedValue | None:
    """Like `_role_noun_of_two` with one name, in a note about the other: "the caretaker is Ada"."""
    before, after = clause.tokens[: name.first], clause.tokens[name.last + 1 :]
    words: Sequence[Token] = ()
    if len(before) > 2 and before[0].low == "the" and before[-1].low in _TO_BE:
        words = before[1:-1]
    elif (start := _index_after_is([token.low for token in after])) > 0:
        words = after[start:]
    subject = _only_other(clause, name) if words else None
    return _holder(clause, words, subject, name) if subject else None


def _index_after_is(low: Sequence[str]) -> int:
    """The index of the noun after *is the*, *became the* or *took over as*; 0 without them."""
    if len(low) > 2 and low[0] in _TO_BE and low[1] == "the":
        return 2
    index = low.index("as") if "as" in low[:3] else 0
    if index and low[0] in ("took", "takes", "serves", "acts", "works"):
        return index + (2 if low[index + 1 : index + 2] == ["the"] else 1)
    return 0


def _holder(
    clause: Clause, words: Sequence[Token], subject: str, value: _Name
) -> StatedValue | None:
    if not 1 <= len(words) <= _MAX_ROLE_WORDS or not all(token.is_content for token in words):
        return None
    role = [token.low for token in words]
    return clause.stated(role, NAME + value.key, value.text, subject=subject, single_valued=True)


def _role(words: Sequence[str]) -> str | None:
    roles = {ROLE_VERBS[word] for word in words if word in ROLE_VERBS}
    return roles.pop() if len(roles) == 1 else None
