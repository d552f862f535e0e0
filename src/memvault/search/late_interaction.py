"""Orders the first results by how well the tokens of their passages fit those of the question.

See `text.encoders.token_signs`. A vector of a passage says what it is about; its tokens, whether
it says what is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from memvault.model.search import FoundBy, Hit
from memvault.text.encoders.token_signs import Floats, fit

FIRST = 20  # results that are compared
TOKEN_WEIGHT = 0.15  # of the fit of the tokens, next to a relevance in [0, 1]


def by_tokens(question: Floats, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, those of the first that were found by their text in the order of relevance plus
    fit; what the question names and what links, relations and lists found keeps its place.

    Args:
        question: (k, BITS), the projections of its tokens, see `Embedder.query_tokens`.
    """
    ordered = list(hits)
    places = [
        place
        for place, hit in enumerate(hits[:FIRST])
        if hit.found_by is FoundBy.TEXT and hit.token_signs and not hit.is_named
    ]
    if len(question) == 0 or len(places) < 2:
        return ordered
    # The first stages give some hits a place for another reason than their relevance.
    relevances = accumulate((hits[place].relevance for place in places), min)
    worth = {
        place: relevance + TOKEN_WEIGHT * fit(question, hits[place].token_signs)
        for place, relevance in zip(places, relevances, strict=True)
    }
    best_first = sorted(places, key=lambda place: -worth[place])
    for place, best in zip(places, best_first, strict=True):
        ordered[place] = hits[best]
    return ordered
