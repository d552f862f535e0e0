"""What a thing uses, and what it has moved away from: "the API uses JWT tokens", "the API migrated
to OAuth2", "we replaced JWT with OAuth2", "no longer uses JWT"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memvault.verification.clause import stems_of

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
class Practice:
    """``uses`` and ``left`` are stems of what a thing uses and of what it does not use; ``moved``
    tells that it uses this in place of something."""

    subject: frozenset[str]
    uses: frozenset[str]
    left: frozenset[str]
    moved: bool


def practices_in(sentence: str) -> Iterator[Practice]:
    """What a sentence says of this, mostly nothing."""
    for pattern in (_MOVED, _REPLACED, _LEFT):
        match = pattern.search(sentence)
        if match is not None:
            groups = match.groupdict()
            yield Practice(
                stems_of(match["subject"]),
                stems_of(groups.get("now") or ""),
                stems_of(groups.get("before") or ""),
                moved=True,
            )
            return
    match = _USES.search(sentence)
    if match is not None:
        yield Practice(stems_of(match["subject"]), stems_of(match["now"]), frozenset(), moved=False)


def opposed(claim: Practice, told: Practice) -> float:
    """How surely what is told speaks against a claim of use, in [0, 1].

    1 where it says that just this was given up; 0.8 where the same thing is said to have moved to
    something else; 0 where it does not say.
    """
    if not told.moved or not claim.uses:
        return 0.0
    if told.left and (claim.uses & told.left) and not (claim.uses & told.uses):
        return 1.0
    same_thing = bool(claim.subject & told.subject)
    if told.uses and same_thing and not (claim.uses & told.uses):
        return 0.8
    return 0.0
