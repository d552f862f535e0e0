"""Whether the notes know the answer to a question, judged by what was found."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from memvault.model.errors import StoreUnavailable
from memvault.model.search import FoundBy, Hit
from memvault.search.calibration import confidence_if_right, text_with_properties
from memvault.search.candidates import BEST_NOTES
from memvault.search.hybrid import HybridSearch
from memvault.search.request import SearchRequest
from memvault.stores.open import Stores

MIN_KNOWLEDGE = 0.34  # knowledge from which the notes surely know an answer
MIN_KNOWLEDGE_SHOWN = 0.3  # knowledge from which the nearest notes are shown, marked as unsure
MIN_CONFIDENCE = 0.2  # confidence of the best memory from which the notes surely know an answer
LARGE_VAULT_CHUNKS = 300  # chunks; in a vault of fewer, the nearest unrelated chunk is less near
ALL_WORDS_BONUS = 0.3  # added to the relevance for having all words of the question
OTHER_LANGUAGE_BONUS = 0.06  # the same, if question and notes are in different languages

# Words that request an answer without naming a subject: notes need not have them.
_REQUEST = re.compile(r"^\W*(?:please )?(?:list|show|find|give|tell|name)\b(?: me| us)?", re.I)


def surely_known(knowledge: float, hits: Sequence[Hit]) -> bool:
    """Whether the notes surely know an answer, by their knowledge (`Knowledge.of`) and by the best
    confidence of the hits, unless something else than relevance speaks for them.

    Notes that contradict each other do, so the confidence before that counts.
    """
    if knowledge >= 1.0:
        return True
    best_confidence = max(map(confidence_if_right, hits), default=1.0)
    return knowledge >= MIN_KNOWLEDGE and best_confidence >= MIN_CONFIDENCE


class Knowledge:
    """Judges how surely the notes know an answer; safe in any thread."""

    def __init__(self, hybrid: HybridSearch, stores: Stores) -> None:
        self._hybrid = hybrid
        self._vectors = stores.vectors
        self._keywords_only = stores.outdated

    def of(self, request: SearchRequest, hits: Sequence[Hit]) -> float:
        """How surely the notes know the answer; they do from `MIN_KNOWLEDGE` on.

        They do if relations lead to an answer, if the best texts are relevant and have the
        question's words, or if one text has every content word or a similar one (a word that most
        notes have makes none of them relevant).

        Results of filters are always shown, since the person chose among them. So are the results
        of a question without content words, and of one that asks only for a time.
        """
        if not hits or request.is_narrowed:
            return 1.0
        if request.time is not None and request.time.only_time:
            return 1.0
        return self._of_hits(request, hits, self._language_bonus(request.query))

    def is_answer(self, request: SearchRequest, hit: Hit) -> bool:
        """Whether a vault of only this hit would know the answer (see `of`).

        In a language that the model does not know, its words have to show it.
        """
        bonus = min(self._language_bonus(request.query), OTHER_LANGUAGE_BONUS)
        return self._of_hits(request, [hit], bonus) >= MIN_KNOWLEDGE

    def _of_hits(self, request: SearchRequest, hits: Sequence[Hit], bonus: float) -> float:
        if self._keywords_only:  # without vectors all relevances are low
            return 1.0
        if any(hit.found_by is FoundBy.RELATION for hit in hits):
            return 1.0
        relevance = max(hit.relevance for hit in hits)
        if relevance >= MIN_KNOWLEDGE:
            return relevance
        texts = [f"{text_with_properties(hit, request.query)} {hit.context}" for hit in hits]
        shares = self._hybrid.vocabulary.shares(_REQUEST.sub("", request.query), texts)
        if not shares or max(shares) == 1.0:
            return 1.0
        share = max(shares[:BEST_NOTES])
        return relevance + ALL_WORDS_BONUS * share + bonus

    def least_shown(self, query: str) -> float:
        """The least knowledge to show hits; below `MIN_KNOWLEDGE` they are marked as unsure.

        It is less in a small vault, since the nearest of few texts is less near, and 0 if the model
        does not know the language, since relevances then say little about what is unknown.
        """
        try:
            if self._hybrid.languages.is_in_unknown_language(query):
                return 0.0
            chunks = self._hybrid.chunk_count()
        except StoreUnavailable:
            return MIN_KNOWLEDGE_SHOWN
        size = math.log(2.0 + chunks) / math.log(2.0 + LARGE_VAULT_CHUNKS)
        return min(MIN_KNOWLEDGE_SHOWN, MIN_KNOWLEDGE * size)

    def _language_bonus(self, query: str) -> float:
        """What to add to the knowledge for a question that is not in English.

        It is 1 if the model does not know the language, since relevances then say little about what
        is unknown. It is `OTHER_LANGUAGE_BONUS` if the model does and the notes are in another
        language, whose words the question cannot have.
        """
        try:
            language = self._vectors.language_of(query)
            if self._hybrid.languages.is_foreign_and_known(query, language):
                return OTHER_LANGUAGE_BONUS if language is None else 0.0
        except StoreUnavailable:
            return 0.0
        return 0.0 if language is None else 1.0
