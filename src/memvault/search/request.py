"""A search request, and the candidates that are found for it before they are judged."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from memvault.model.search import Filters, Hit, Scope
from memvault.search.relations.relation_search import MAX_HOPS
from memvault.search.scope import MemoryFilter
from memvault.search.times.question_time import QuestionTime


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question, with the arguments of `Searcher.search`.

    Attributes:
        topic: the sensitive topic that the question is about.
        time: the time that the question names.
    """

    query: str
    scope: Scope = field(default_factory=Scope)
    top_k: int | None = None
    memory_filter: MemoryFilter | None = None
    allow_unverified: bool = False
    max_hops: int = MAX_HOPS
    patience: float = 0.0
    topic: str | None = None
    time: QuestionTime | None = None

    @property
    def is_narrowed(self) -> bool:
        """Whether filters choose among the memories."""
        return self.memory_filter is not None or self.scope.filters not in (None, Filters())

    @property
    def key(self) -> str:
        """Cache key, equal for questions that differ only in case, spaces and number of results."""
        filters = self.scope.filters
        filter_values = filters.model_dump(mode="json") if filters else None
        words = " ".join(self.query.casefold().split())
        return json.dumps([self.max_hops, words, self.scope.project, filter_values])


@dataclass(frozen=True, slots=True)
class Candidates:
    """Hits, best first; ``notice`` says what is missing, such as a store that did not answer.
    ``total``: of how many notes the hits are the first, if the question is for all of a time or all
    tasks; else 0."""

    hits: list[Hit]
    notice: str | None = None
    total: int = 0
