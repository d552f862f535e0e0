"""*ask*: the answer that an AI client would get, and why each memory is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.shown_versions import indexed_versions
from mcp_server.pages.site import Site
from mcp_server.tools.memory_presenter import PASSAGE_BYTES
from memvault.consolidation.cases import Case
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.model.search import Hit, Mode, Ranking, Scope
from memvault.search.excerpt import Excerpt

MAX_CHARS = 1_000  # of a question
MAX_CASES = 5  # similar earlier questions
LOOKED_AT = 200  # best passages of each search that are ranked


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank of a memory among all notes, and its score: cosine or BM25."""

    place: int
    score: float


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a memory is in the answer; a rank is None if that search did not find it."""

    hit: Hit
    excerpt: Excerpt
    by_meaning: Rank | None
    by_words: Rank | None


class AskPage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [site.page("/ask", self._show)]

    def _show(self, request: Request) -> Response:
        query = request.query_params.get("q", "").strip()[:MAX_CHARS]
        mode = request.query_params.get("mode", "auto")
        chosen = Mode(mode) if mode in {known_mode.value for known_mode in Mode} else None
        modes = ["auto", *(known_mode.value for known_mode in Mode)]
        shared_context: dict[str, Any] = {
            "query": query,
            "asked_mode": chosen or "auto",
            "modes": modes,
        }
        if not query:
            return self._site.render(
                "ask.html",
                request,
                answered=None,
                seen={},
                reasons=[],
                earlier=[],
                **shared_context,
            )
        answered = self._site.container.live.searcher.search(query, mode=chosen)
        versions = indexed_versions(self._site.container, [hit.memory for hit in answered.hits])
        learning = self._site.container.learning
        learning.record_shown_to_person(query, answered.hits)
        learning.record_question("", query, answered, Scope())
        return self._site.render(
            "ask.html",
            request,
            answered=answered,
            reasons=self._reasons(query, answered.hits),
            earlier=self._earlier(query, {hit.memory.id for hit in answered.hits}),
            seen=versions,
            pulse=self._site.box.meter.of_hits(answered.hits),
            **shared_context,
        )

    def _earlier(self, query: str, shown_ids: set[str]) -> list[tuple[Case, Memory]]:
        """Memories that helped with similar questions and are not in the answer."""
        container = self._site.container
        cases = [
            (case, memory)
            for case in container.learning.cases.like(query, MAX_CASES)
            if (memory := container.live.catalogue.by_id(case.memory)) is not None
        ]
        return [(case, memory) for case, memory in cases if memory.id not in shown_ids]

    def _reasons(self, query: str, hits: Sequence[Hit]) -> list[Reason]:
        container = self._site.container
        vectors = container.live.stores.vectors
        try:
            vector = container.embedder.embed_query(query)
            meaning = _ranks(vectors.rank_dense(vector, LOOKED_AT))
            words = _ranks(vectors.rank_keywords(query, LOOKED_AT))
        except MemvaultError:  # the page then shows the memories without their ranks
            meaning, words = {}, {}
        excerpts = container.excerpts.of(query, hits, [PASSAGE_BYTES] * len(hits))
        return [
            Reason(
                hit,
                excerpt,
                meaning.get(hit.memory.id),
                words.get(hit.memory.id),
            )
            for hit, excerpt in zip(hits, excerpts, strict=True)
        ]


def _ranks(ranking: Ranking) -> dict[str, Rank]:
    """The rank of each note by its best passage, by note id."""
    ranks: dict[str, Rank] = {}
    for note_id, score in zip(ranking.note_ids, ranking.scores.tolist(), strict=True):
        if note_id not in ranks and score > 0.0:
            ranks[note_id] = Rank(len(ranks) + 1, score)
    return ranks
