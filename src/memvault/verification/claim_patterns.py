"""Claims that follow a pattern of words: who holds a role, and which tools something uses.

Roles: "Ada leads Aurora", "Aurora is led by Ada", "the lead of Aurora is Ada". Usage: "the API uses
JWT tokens", "the API migrated to OAuth2", "we replaced JWT with OAuth2", "no longer uses JWT".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memvault.verification.claims import NAME, Claim
from memvault.verification.clause import ROLE_VERBS, Clause, Token, stems_of

_IS = frozenset(("is", "was", "be", "became"))
_LETTERS = re.compile(r"[^\W\d_]+")
_NEAR = 4  # words between a name and its role
_MOST_ROLE = 3  # words of a role


@dataclass(frozen=True, slots=True)
class _Name:
    first: int
    last: int
    key: str
    text: str


def may_state_role(text: str) -> bool:
    """Whether a text may state a role; a quick check before `roles_in`."""
    words = _LETTERS.findall(text.lower())
    said = not _IS.isdisjoint(words) and ("the" in words or "s" in words)
    return said or "as" in words or not ROLE_VERBS.keys().isdisjoint(words)


def roles_in(clause: Clause) -> Iterator[Claim]:
    """The claims of a clause about who holds a role; none if it has more than two names."""
    names = _names(clause.tokens)
    if len(names) == 1:
        found = _of_one(clause, names[0]) or _said_of_one(clause, names[0])
    elif len(names) == 2:
        found = _of_two(clause, names[0], names[1]) or _said_of_two(clause, names[0], names[1])
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


def _said_of_two(clause: Clause, one: _Name, other: _Name) -> Claim | None:
    """Any noun behind *is the*, or in front of *is*, that joins two names."""
    between = clause.tokens[one.last + 1 : other.first]
    low = [token.low for token in between]
    if low[-1:] in (["of"], ["for"]) and (first := _behind_is(low)) > 0:  # N is the R of S
        return _sole(clause, between[first:-1], other.key, one)
    if low[:1] == ["'s"] and low[-1:] and low[-1] in _IS:  # S's R is N
        return _sole(clause, between[1:-1], one.key, other)
    before = clause.tokens[: one.first]
    of = before and before[0].low == "the" and before[-1].low in ("of", "for")
    if of and len(low) == 1 and low[0] in _IS:  # the R of S is N
        return _sole(clause, before[1:-1], one.key, other)
    return None


def _said_of_one(clause: Clause, name: _Name) -> Claim | None:
    """The same in a note that is itself about the other: "the caretaker is Ada"."""
    default = clause.about.default
    if len(default) != 1 or name.key in default:
        return None
    subject = next(iter(default))
    before, after = clause.tokens[: name.first], clause.tokens[name.last + 1 :]
    if len(before) > 2 and before[0].low == "the" and before[-1].low in _IS:
        return _sole(clause, before[1:-1], subject, name)
    low = [token.low for token in after]
    first = _behind_is(low)
    return _sole(clause, after[first:], subject, name) if first > 0 else None


def _behind_is(low: Sequence[str]) -> int:
    """Where the noun starts after *is the*, *became the*, *took over as*; 0 without them."""
    if len(low) > 2 and low[0] in _IS and low[1] == "the":
        return 2
    place = low.index("as") if "as" in low[:3] else 0
    if place and low[0] in ("took", "takes", "serves", "acts", "works"):
        return place + (2 if low[place + 1 : place + 2] == ["the"] else 1)
    return 0


def _sole(clause: Clause, words: Sequence[Token], subject: str, value: _Name) -> Claim | None:
    if not 1 <= len(words) <= _MOST_ROLE or not all(token.is_content for token in words):
        return None
    role = [token.low for token in words]
    return clause.claim(role, NAME + value.key, value.text, subject=subject, sole=True)


def _role(words: Sequence[str]) -> str | None:
    roles = {ROLE_VERBS[word] for word in words if word in ROLE_VERBS}
    return roles.pop() if len(roles) == 1 else None


_THING = r"(?P<{}>[\w#+./-]+(?: [\w#+./-]+){{0,3}}?)"
_END = (
    r"(?=\s+(?:for|in|on|at|since|as|because|instead|and|but|when|after|to|from|with|by|last|this|"
    r"now|tokens?|authentication)\b|[.,;:!?()]|\s*$)"
)
_USES = re.compile(
    r"^(?P<subject>.*?)\b(?:uses?|is using|are using|using|runs? on|is built (?:on|with)|"
    r"relies on|rely on|is based on|is written in|works with|is hosted on|stores? .* in)\s+"
    r"(?:the |an? )?" + _THING.format("now") + _END,
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"^(?P<subject>.*?)\b(?:migrated|moved(?: over)?|switched(?: over)?|changed|converted|ported|"
    r"upgraded|went)\s+(?:from (?:the )?" + _THING.format("before") + r" )?to (?:the |an? )?"
    + _THING.format("now") + _END,
    re.IGNORECASE,
)  # fmt: skip
_REPLACED = re.compile(
    r"^(?P<subject>.*?)\b(?:replaced|swapped)\s+(?:the )?" + _THING.format("before")
    + r"\s+(?:with|by|for)\s+(?:the |an? )?" + _THING.format("now") + _END,
    re.IGNORECASE,
)  # fmt: skip
_LEFT = re.compile(
    r"^(?P<subject>.*?)\b(?:no longer (?:uses?|using|runs? on|relies on)|stopped using|dropped|"
    r"abandoned|retired|got rid of|does not use|doesn't use|do not use|don't use|never used)\s+"
    r"(?:the )?" + _THING.format("before") + _END,
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ToolUsage:
    """Stems of the tools that a subject uses and that it stopped using; ``moved``: whether it
    switched to them."""

    subject: frozenset[str]
    uses: frozenset[str]
    left: frozenset[str]
    moved: bool


def tool_usages_in(sentence: str) -> Iterator[ToolUsage]:
    """The tool usages in a sentence; most sentences have none."""
    for pattern in (_MOVED, _REPLACED, _LEFT):
        match = pattern.search(sentence)
        if match is not None:
            groups = match.groupdict()
            yield ToolUsage(
                stems_of(match["subject"]),
                stems_of(groups.get("now") or ""),
                stems_of(groups.get("before") or ""),
                moved=True,
            )
            return
    match = _USES.search(sentence)
    if match is not None:
        yield ToolUsage(
            stems_of(match["subject"]), stems_of(match["now"]), frozenset(), moved=False
        )


def opposed(claim: ToolUsage, told: ToolUsage) -> float:
    """How strongly another usage contradicts a claimed one, in [0, 1].

    1 if it says that this tool was given up; 0.8 if the same subject switched to another; else 0.
    """
    if not told.moved or not claim.uses:
        return 0.0
    if told.left and (claim.uses & told.left) and not (claim.uses & told.uses):
        return 1.0
    same_thing = bool(claim.subject & told.subject)
    if told.uses and same_thing and not (claim.uses & told.uses):
        return 0.8
    return 0.0
