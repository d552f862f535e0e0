"""What a sensitive question may be answered with: the person's words, and claims they confirm."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.provenance import own_lines
from memvault.model.search import Hit, Status, Verification

MOST_OWN_CHARS = 8_000  # of a note whose best passage is another's
_FRONTMATTER = re.compile(r"\A---\r?\n.*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)


class Gate:
    """Narrows what hits show; safe in any thread.

    Args:
        read: a note's bytes, by path.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read

    def narrow(self, hit: Hit) -> None:
        """Leave of a verified hit the person's words and the claims that they confirm; withhold the
        text of any other. Claims that nobody confirms are not quoted as evidence either."""
        hit.gated = True
        check = hit.verification
        against = tuple(
            replace(each, sentence="", said="") if each.is_claim else each
            for each in check.contradicted_by
        )
        hit.verification = replace(check, contradicted_by=against)
        provenance = hit.memory.provenance
        if check.marked or provenance.is_person:
            return
        if check.verified and not check.by_person:
            hit.text = "\n".join(check.stated)
            hit.withheld = not hit.text
        elif check.by_person:
            self._keep_own(hit)
        else:
            self._own_part(hit)

    def _keep_own(self, hit: Hit) -> None:
        text = self._own_text(hit.memory, hit.lines)
        if text:
            hit.text, hit.own_only = text, True
        else:
            self._own_part(hit)

    def _own_part(self, hit: Hit) -> None:
        """The person's words in a note whose best passage is another's; withheld if there are
        none. So nobody can hide the person's words behind a passage that fits better."""
        text = self._own_text(hit.memory) if hit.memory.provenance.is_mixed else ""
        if not text:
            hit.withheld = True
            return
        hit.text, hit.own_only = text, True
        hit.verification = Verification(Status.VERIFIED, 1.0, by_person=True, answers=False)

    def _own_text(self, memory: Memory, lines: LineRange | None = None) -> str:
        """The person's words in these lines, or in the whole body, of a note that others wrote in,
        too."""
        try:
            data = own_lines(self._read(memory.path), memory.provenance)
        except MemvaultError:
            return ""
        text = data.decode("utf-8", "replace")
        if lines is None:
            return _FRONTMATTER.sub("", text).strip()[:MOST_OWN_CHARS]
        return "\n".join(text.split("\n")[lines.first - 1 : lines.last]).strip()
