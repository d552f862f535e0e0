"""Notices that many notes are in languages that the embedding model does not know."""

from __future__ import annotations

from contextlib import suppress

from memvault.model.errors import StoreUnavailable
from memvault.search.hybrid import HybridSearch

MULTILINGUAL = (
    'to find more in them, set model = "intfloat/multilingual-e5-small" below [embedding] in '
    "memvault.toml, then run `memvault stop` (docs/models.md compares models)"
)


def language_problem(hybrid: HybridSearch) -> str | None:
    """Names the languages of many notes that the model does not know; None if there are none."""
    languages: list[str] = []
    with suppress(StoreUnavailable):
        languages = hybrid.unknown_languages()
    if not languages:
        return None
    *first, last = [language.capitalize() for language in languages]
    names = f"{', '.join(first)} and {last}" if first else last
    return f"many notes are in {names}, which the embedding model hardly knows"
