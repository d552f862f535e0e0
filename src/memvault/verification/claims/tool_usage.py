"""Finds which tools are used: "the API uses JWT tokens", "we replaced JWT with OAuth2"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memvault.text.replacements import TOOL, TOOL_CHANGES, TOOL_END, replacements
from memvault.verification.claims.claim_stems import stems_of

_SWITCHED = 0.8  # strength of a conflict with a note that the subject switched to another tool
_USES = re.compile(
    r"^(?P<subject>.*?)\b(?:uses?|is using|are using|using|runs? on|is built (?:on|with)|"
    r"relies on|rely on|is based on|is written in|works with|is hosted on|stores? .* in)\s+"
    r"(?:the |an? )?" + TOOL.format("new") + TOOL_END,
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ToolUsage:
    """The tools that a subject uses, and those that it stopped using, as stems.

    ``changed`` is whether the sentence states a change of tools.
    """

    subject: frozenset[str]
    uses: frozenset[str]
    stopped: frozenset[str]
    changed: bool


def tool_usages_in(sentence: str) -> Iterator[ToolUsage]:
    """The tool usages in a sentence; most sentences have none."""
    for change in replacements(sentence, TOOL_CHANGES):
        yield ToolUsage(
            stems_of(change.subject), stems_of(change.new), stems_of(change.old), changed=True
        )
        return
    match = _USES.search(sentence)
    if match is not None:
        yield ToolUsage(
            stems_of(match["subject"]), stems_of(match["new"]), frozenset(), changed=False
        )


def usage_conflict(claimed: ToolUsage, other: ToolUsage) -> float:
    """The strength, in [0, 1], with which another usage contradicts a claimed one.

    1 if the claimed tool was given up, `_SWITCHED` if the same subject switched to another tool,
    else 0.
    """
    if not other.changed or not claimed.uses:
        return 0.0
    still_used = bool(claimed.uses & other.uses)
    if claimed.uses & other.stopped and not still_used:
        return 1.0
    if other.uses and claimed.subject & other.subject and not still_used:
        return _SWITCHED
    return 0.0
