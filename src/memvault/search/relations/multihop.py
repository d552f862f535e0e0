"""Questions whose answer stands several relations away, answered without a language model.

As in HippoRAG (arXiv 2405.14831) and HippoRAG 2 (arXiv 2502.14802), the things that a question
names seed a walk over the graph of all notes. Instead of a random walk, the question's own grammar
says which relations to follow in which order, and the sentence of every edge says how well it
states them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from itertools import zip_longest
from typing import Protocol

from memvault.model.errors import GraphQueryError, MemvaultError, StoreUnavailable
from memvault.model.search import Recalled, Scope
from memvault.search.hybrid import Recall
from memvault.search.neighbourhood import Neighbourhood
from memvault.search.relations.edge_index import Memories, StepIndex
from memvault.search.relations.kinds import PersonKinds
from memvault.search.relations.lexicon import Lexicon
from memvault.search.relations.question import PhraseVectors, Question
from memvault.search.relations.question_masking import QuestionReader
from memvault.search.relations.results import Inquiry
from memvault.search.relations.settings import RoadSettings
from memvault.search.relations.solving import Solution
from memvault.stores.graph_view import GraphView
from memvault.stores.open import Stores
from memvault.text.embedding import Embedder
from memvault.text.entities import NameMatcher
from memvault.text.spacy_pipeline import QuestionParser, open_question_parser

logger = logging.getLogger(__name__)
MOST_HOPS = 5
PATIENCE = 2.0  # seconds that a question waits for the steps of what has just changed
FIRST_PATIENCE = 10.0  # the same when they are read for the first time
MANY = 256  # notes; when more have changed, questions are answered meanwhile as before
ROAD_SHARE = 0.8  # of the results where the roads are sure; hybrid recall's come after
UNSURE_SHARE = 0.3
PLAIN_FIRST = 3  # of hybrid recall's, before roads that are not sure
UNSURE = 0.2  # confidence below which roads and hybrid recall take turns

NO_PARSER = (
    "Relations were followed without reading the question's grammar: install memvault[ner] for "
    "exact answers."
)
NOT_READY = "The index of relations is being prepared: ask again in a moment for exact answers."
NO_GRAPH = "The graph does not answer; these are the notes nearest to the question."


class Indexed(Protocol):
    """What the indexer knows of the vault."""

    @property
    def catalogue(self) -> Memories: ...

    @property
    def names(self) -> NameMatcher: ...


@dataclass(frozen=True, slots=True)
class Reached:
    """Memories, best first; ``notice`` says what could not be asked."""

    memories: list[Recalled]
    notice: str | None = None


class MultiHop:
    """Follows the relations of a question through the graph; safe in any thread."""

    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        indexed: Indexed,
        view: GraphView,
        *,
        settings: RoadSettings | None = None,
        today: Callable[[], date] = date.today,
    ) -> None:
        self._stores = stores
        self._embedder = embedder
        self._indexed = indexed
        self._settings = settings or RoadSettings()
        self._today = today
        self._recall = Recall(stores.vectors, embedder)
        self._neighbourhood = Neighbourhood(stores, embedder, indexed.catalogue)
        self._vectors = PhraseVectors(embedder)
        self._view = view
        self._steps = StepIndex(view, indexed.catalogue, embedder.embed)
        self._opening = threading.Lock()
        self._opened = False
        self._parser: QuestionParser | None = None
        self._reader: QuestionReader | None = None
        self._people: PersonKinds | None = None
        self._lexicon: Lexicon | None = None
        self._refreshing: threading.Thread | None = None
        # Questions are parsed while the candidates are searched for.
        self._reading = ThreadPoolExecutor(2, thread_name_prefix="memvault-questions")

    # -- questions ------------------------------------------------------------------------------

    def ask(
        self,
        query: str,
        top_k: int,
        scope: Scope | None = None,
        max_hops: int = MOST_HOPS,
    ) -> Reached:
        """The ``top_k`` notes that answer best, each with the road that led to it; where roads are
        few or unsure, what hybrid recall finds stands among and after them.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        plain = self._recall.recall(query, top_k, scope)
        try:
            if not self._open():
                near = self._neighbourhood.answer(query, top_k, max_hops, scope)
                return Reached(near, NO_PARSER)
            lexicon = self._current(FIRST_PATIENCE)
            if lexicon is None:
                near = self._neighbourhood.answer(query, top_k, max_hops, scope)
                return Reached(near, NOT_READY)
            inquiry = self._inquiry(
                lexicon, self._read(lexicon, query), scope, min(max_hops, MOST_HOPS)
            )
            solution = inquiry.solution()
            if solution is None:
                return Reached(self._neighbourhood.answer(query, top_k, max_hops, scope))
            roads, best = inquiry.memories(solution, top_k, plain)
        except (StoreUnavailable, GraphQueryError):
            return Reached(plain, NO_GRAPH)
        return Reached(_together(roads, plain, top_k, _share(solution, top_k, best)))

    def recall(self, query: str, top_k: int, scope: Scope | None = None) -> list[Recalled]:
        """As `find`, without saying what could not be asked."""
        return self.find(query, top_k, scope).memories

    def find(self, query: str, top_k: int, scope: Scope | None = None) -> Reached:
        """What hybrid recall finds; where a question is sure to need roads, what they lead to, and
        where it may need them, that after the best of hybrid recall.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        try:
            lexicon = self._lexicon_for(query)
        except (StoreUnavailable, GraphQueryError):
            return Reached(self._recall.recall(query, top_k, scope), NO_GRAPH)
        if lexicon is None:
            return Reached(self._recall.recall(query, top_k, scope))
        reading = self._reading.submit(self._read, lexicon, query)
        plain = self._recall.recall(query, top_k, scope)
        try:
            inquiry = self._inquiry(lexicon, reading.result(), scope, MOST_HOPS)
            solution = inquiry.solution() if inquiry.may_need_roads() else None
            if solution is None or not self._is_possible(solution):
                return Reached(plain)
            grounded = inquiry.is_grounded(solution)
            sure = grounded and solution.confidence >= self._least(solution)
            if not sure and len(solution.question.relations) < 2:
                return Reached(plain)
            roads, best = inquiry.memories(solution, top_k, plain)
        except (StoreUnavailable, GraphQueryError):
            return Reached(plain, NO_GRAPH)
        if sure:
            return Reached(_together(roads, plain, top_k, _share(solution, top_k, best)))
        in_turns = not grounded or solution.confidence < self._settings.likely
        return Reached(_behind(plain, roads, top_k, in_turns=in_turns))

    def _is_possible(self, solution: Solution) -> bool:
        return solution.confidence >= min(self._settings.possible, self._least(solution))

    def _least(self, solution: Solution) -> float:
        """The confidence that a question needs which did not ask for roads."""
        alone = len(solution.question.relations) < 2
        return self._settings.confident_alone if alone else self._settings.confident

    # -- what it needs --------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Load the parser and read the graph now rather than with the first question: seconds,
        and as long as indexing took where most steps are new."""
        try:
            if self._open():
                self._lexicon_of_now(-1.0)
        except MemvaultError as error:
            logger.warning("relations are not ready for questions: %s", error.message)

    def warm_up_soon(self) -> None:
        """As `warm_up`, in a thread of its own."""
        with self._opening:
            if self._refreshing is None or not self._refreshing.is_alive():
                self._refreshing = threading.Thread(
                    target=self.warm_up, name="memvault-steps", daemon=True
                )
                self._refreshing.start()

    def close(self, timeout: float) -> None:
        """Wait for what runs in the background, so many seconds at most."""
        if self._refreshing is not None:
            self._refreshing.join(timeout)

    def _open(self) -> bool:
        """Load the parser once; False where it is not installed."""
        if not self._opened:
            with self._opening:
                if not self._opened:
                    parser = open_question_parser()
                    if parser is not None:
                        self._people = PersonKinds(parser.people)
                        self._reader = QuestionReader(parser)
                    self._opened = True
        return self._reader is not None

    def _lexicon_for(self, query: str) -> Lexicon | None:
        """What a question that names something of the vault is read with; None for any other, or
        where nothing reads questions yet."""
        if self._reader is None:
            return None
        known = self._lexicon
        if known is not None and not known.known_names(query):
            return None
        return self._current()

    def _current(self, first_patience: float = 0.0) -> Lexicon | None:
        """The lexicon of the vault as it is, or as it was if much is changing; None if it is not
        ready after so many seconds."""
        if self._lexicon is not None and self._steps.waiting > MANY:
            self.warm_up_soon()
            return self._lexicon
        return self._lexicon_of_now(PATIENCE if self._lexicon is not None else first_patience)

    def _lexicon_of_now(self, patience: float) -> Lexicon | None:
        graph = self._steps.refresh(patience)
        if graph is None or self._people is None:
            return None
        lexicon = self._lexicon
        if lexicon is None or lexicon.graph is not graph:
            lexicon = Lexicon(graph, self._indexed.names, self._people, self._vectors)
            self._lexicon = lexicon
        return lexicon

    def _read(self, lexicon: Lexicon, query: str) -> Question:
        assert self._reader is not None
        return self._reader.read(query, lexicon.vocabulary, self._today())

    def _inquiry(
        self, lexicon: Lexicon, question: Question, scope: Scope | None, max_hops: int
    ) -> Inquiry:
        return Inquiry(
            stores=self._stores,
            view=self._view,
            memories=self._indexed.catalogue,
            lexicon=lexicon,
            vectors=self._vectors,
            settings=self._settings,
            question=question,
            scope=scope or Scope(),
            max_hops=max_hops,
        )


def _share(solution: Solution, top_k: int, best: int) -> int:
    """How many results the roads give before hybrid recall's come."""
    sure = len(solution.question.relations) > 1 and solution.confidence >= UNSURE
    if not sure:
        return round(top_k * UNSURE_SHARE)
    return max(best, round(top_k * ROAD_SHARE))


def _together(
    roads: Sequence[Recalled], plain: Sequence[Recalled], top_k: int, share: int
) -> list[Recalled]:
    """The first of the roads' ends, the best of hybrid recall, and the rest of both, each note
    once."""
    turn = min(share, max(1, top_k - share))
    return _once((*roads[:share], *plain[:turn], *roads[share:], *plain[turn:]), top_k)


def _behind(
    plain: Sequence[Recalled], roads: Sequence[Recalled], top_k: int, *, in_turns: bool
) -> list[Recalled]:
    """The best of hybrid recall, then the ends of roads that are not sure: all of them, or in turns
    with the rest of hybrid recall."""
    first, rest = plain[:PLAIN_FIRST], plain[PLAIN_FIRST:]
    if not in_turns:
        return _once((*first, *roads, *rest), top_k)
    pairs = zip_longest(roads, rest)
    return _once((*first, *(each for pair in pairs for each in pair if each is not None)), top_k)


def _once(some: Sequence[Recalled], top_k: int) -> list[Recalled]:
    """The first notes of these, each once, none more relevant than the one before."""
    kept: dict[str, Recalled] = {}
    for each in some:
        kept.setdefault(each.note_id, each)
    found: list[Recalled] = []
    for each in list(kept.values())[:top_k]:
        most = found[-1].relevance if found else 1.0
        found.append(replace(each, relevance=min(each.relevance, most)))
    return found
