"""Names that stand in a role to another: "Ada leads Aurora", "Aurora is led by Ada", "the lead of
Aurora is Ada", "Ada is Aurora's lead"; and in a note about Aurora "led by Ada"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memvault.reasoning.verification.claims import NAME, Claim
from memvault.reasoning.verification.clause import Clause, Token
from memvault.reasoning.verification.wording import ROLE_VERBS

_IS = frozenset(("is", "was", "be", "became"))
_NEAR = 4  # words between a name and its role


@dataclass(frozen=True, slots=True)
class _Name:
    first: int
    last: int
    key: str
    text: str


def roles_in(clause: Clause) -> Iterator[Claim]:
    """The claims of a clause that say who holds a role; none where more than two names stand."""
    names = _names(clause.tokens)
    if len(names) == 1:
        found = _of_one(clause, names[0])
    elif len(names) == 2:
        found = _of_two(clause, names[0], names[1])
    else:
        found = None
    if found is not None:
        yield found


def _names(tokens: Sequence[Token]) -> list[_Name]:
    found: list[_Name] = []
    for k, token in enumerate(tokens):
        if token.name is None:
            continue
        if found and found[-1].key == token.name and found[-1].last == k - 1:
            before = found.pop()
            found.append(_Name(before.first, k, token.name, f"{before.text} {token.text}"))
        else:
            found.append(_Name(k, k, token.name, token.text))
    return found


def _of_one(clause: Clause, name: _Name) -> Claim | None:
    default = clause.about.default
    if len(default) != 1 or name.key in default:
        return None
    before = clause.tokens[max(0, name.first - _NEAR) : name.first]
    after = clause.tokens[name.last + 1 : name.last + 1 + _NEAR]
    role = _role([token.low for token in (*before, *after)])
    if role is None or any(token.amount >= 0 for token in (*before, *after)):
        return None
    return clause.claim([role], NAME + name.key, name.text, subject=next(iter(default)))


def _of_two(clause: Clause, one: _Name, other: _Name) -> Claim | None:
    low = [token.low for token in clause.tokens]
    between = low[one.last + 1 : other.first]
    before = low[max(0, one.first - _NEAR) : one.first]
    behind = low[other.last + 1 : other.last + 1 + _NEAR]
    role, first_is_subject = _role(between), "by" in between or between[:1] == ["'s"]
    if role is None and _IS.intersection(between):
        role, first_is_subject = _role(before), True
        if role is None and behind[:1] == ["'s"]:
            role, first_is_subject = _role(behind), False
    if role is None:
        return None
    subject, value = (one, other) if first_is_subject else (other, one)
    return clause.claim([role], NAME + value.key, value.text, subject=subject.key)


def _role(words: Sequence[str]) -> str | None:
    roles = {ROLE_VERBS[word] for word in words if word in ROLE_VERBS}
    return roles.pop() if len(roles) == 1 else None
