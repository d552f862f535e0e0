"""Answers to questions that ask for nothing but a time, or for nothing but what is to do.

No text has to fit such a question: what is of the time, or has an open task, is listed.
"""

from __future__ import annotations

from memvault.model.search import Hit, Scope
from memvault.search.association import POOL
from memvault.search.dates import AskedTime, asks_only_for_tasks
from memvault.search.hybrid import HybridSearch
from memvault.search.relations.relation_search import Indexed
from memvault.search.scope import all_in_scope
from memvault.search.task_words import asks_for_tasks
from memvault.text.chunking import OPEN_TASK


class Listing:
    """Lists notes; safe in any thread."""

    def __init__(self, hybrid: HybridSearch, indexed: Indexed) -> None:
        self._hybrid = hybrid
        self._indexed = indexed

    def of(self, question: str, asked: AskedTime | None, limit: int, scope: Scope) -> list[Hit]:
        """At most ``limit`` notes, with relevance 1; none for a question that asks for more.

        Args:
            asked: the time that the question names, if any.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        if asked is None and asks_only_for_tasks(question):
            hits = self._with_open_tasks(scope)[:limit]
        elif asked is not None and asked.only_time:
            hits = self._of_the_time(question, asked, limit, scope)
        else:
            return []
        for hit in hits:
            hit.relevance = 1.0  # to be listed is all that is asked
        return hits

    def _of_the_time(self, question: str, asked: AskedTime, limit: int, scope: Scope) -> list[Hit]:
        """What is of the time, or names a day of it, and open tasks if these are asked for."""
        catalogue = self._indexed.catalogue
        is_to_do = asks_for_tasks(question) and not asked.past
        tasks = self._with_open_tasks(scope) if is_to_do else []
        also = [hit.memory for hit in tasks]
        of_it = asked.all_of_it(all_in_scope(catalogue, scope), catalogue.days_named, also)
        found = self._hybrid.search(question, POOL, asked.narrowed(scope))
        near = {hit.memory.id: hit for hit in (*found, *tasks)}
        hits = [near.get(each.id) or Hit(each, 0.0) for each in of_it[:limit]]
        for hit in hits:
            if not hit.text and not asked.is_of_it(hit.memory):
                hit.chunk_id = None  # what names the day is shown
        self._hybrid.read_passages(question, hits, asked.names_a_day_of_it)
        return hits

    def _with_open_tasks(self, scope: Scope) -> list[Hit]:
        hits = self._hybrid.search(OPEN_TASK, POOL, scope)
        self._hybrid.read_passages(OPEN_TASK, hits)
        return [hit for hit in hits if OPEN_TASK in hit.context]
