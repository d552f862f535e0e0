"""Orders the first results by how well the tokens of their passages fit those of the question.

See `text.encoders.token_signs`. A vector of a passage says what it is about; its tokens, whether
it says what is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from memvault.model.search import FoundBy, Hit
from memvault.text.encoders.token_signs import Floats, fit

FIRST = 20  # results that are compared
TOKEN_WEIGHT = 0.15  # of the fit of the tokens, next to a relevance in [0, 1]


def by_tokens(question: Floats, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, those of the first that were found by their text in the order of relevance plus
    fit; what the question names, and what links, relations and lists found, keeps its place. Each
    place keeps its relevance, so that relevances still descend.

    Args:
        question: (k, BITS), the projections of its tokens, see `Embedder.query_tokens`.
        hits: of descending relevance.
    """
    ordered = list(hits)
    places = [
        index
        for index, hit in enumerate(hits[:FIRST])
        if hit.found_by is FoundBy.TEXT and hit.token_signs and not hit.is_named
    ]
    if len(question) == 0 or len(places) < 2:
        return ordered
    compared = [hits[index] for index in places]
    relevances = [hit.relevance for hit in compared]
    worth = {
        hit.memory.id: hit.relevance + TOKEN_WEIGHT * fit(question, hit.token_signs)
        for hit in compared
    }
    best_first = sorted(compared, key=lambda hit: -worth[hit.memory.id])
    for index, hit, relevance in zip(places, best_first, relevances, strict=True):
        ordered[index], hit.relevance = hit, relevance
    return ordered
