"""Whether a word found in text is meant as the name it equals but for case.

The rules are cautious, since a wrong edge misleads more than a missing one:

- A name of several words, one of them telling, counts in any case.
- So does one whose shape no common word has: ``DuckDB``, ``GPT4o``.
- A single word counts as its owner wrote it, capitalised, or all in capitals; a tag or a project's
  id, which people write in lower case whatever they mean, only in capitals.
- Names of two letters and function words (``Go``, ``IT``, ``Will``) count exactly as written, and
  only if written with a capital.
- A capital at the head of a sentence or in a heading proves nothing for a plain note: such a
  mention is uncertain, and counts only if the note surely means the same thing elsewhere.
- Scripts without capitals count as they are.
"""

from __future__ import annotations

import re

from memvault.model.graph import NodeKind
from memvault.text.names import Name, Standing
from memvault.text.words import STOP_WORDS, WORD_NAMES, is_uncased, words

_SHAPED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[a-z][A-Z]")
_NAMED_KINDS = frozenset(
    (
        NodeKind.PERSON,
        NodeKind.PROJECT,
        NodeKind.ORGANISATION,
        NodeKind.TOOL,
        NodeKind.EVENT,
        NodeKind.PLACE,
    )
)


def counts(found: str, name: Name) -> bool:
    """Whether text spelled so can mean the name."""
    parts = [part for part in words(name.text) if part[0].isalnum()]
    if is_uncased(name.text) or _is_telling(name.text, parts):
        return True
    if len(parts) > 1 or len(found) < 3 or parts[0] in STOP_WORDS:
        return found == name.text and not found.islower()
    if found.islower():
        return found == name.text and name.standing not in (Standing.TAG, Standing.IDENTIFIER)
    return found == name.text or found.isupper() or found == found[:1].upper() + found[1:].lower()


def counts_in_question(found: str, name: Name) -> bool:
    """The same for a question, which people type without capitals."""
    return counts(found, name) or (len(found) > 2 and found.lower() not in STOP_WORDS)


def is_certain(found: str, name: Name, at_head: bool) -> bool:
    """Whether a spelling that counts is proof enough; ``at_head`` says that grammar or title case
    asks for a capital there."""
    if not at_head or is_uncased(found) or " " in found or _SHAPED.search(found):
        return True
    if found.islower() or (found.isupper() and len(found) > 1):
        return True
    lower = found.lower()
    return name.kind in _NAMED_KINDS and lower not in STOP_WORDS and lower not in WORD_NAMES


def _is_telling(text: str, parts: list[str]) -> bool:
    if len(parts) > 1:
        return any(len(part) > 2 and part not in STOP_WORDS for part in parts)
    return len(text) > 3 and _SHAPED.search(text) is not None
