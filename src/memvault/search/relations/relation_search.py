"""Questions that name relations, answered without a language model.

As in HippoRAG (arXiv 2405.14831) and HippoRAG 2 (arXiv 2502.14802), the terms that a question
names seed a walk over the graph of all notes. Instead of a random walk, the question's own grammar
says which relations to follow in which order, and the sentence of every edge says how well it
states them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Protocol

from memvault.model.distinct import distinct_by
from memvault.model.errors import MemvaultError, ModelUnavailable
from memvault.model.priority import making_way
from memvault.model.search import Hit, Scope
from memvault.model.state import Background
from memvault.search.association import FIXED_PLACES, descending
from memvault.search.relations.array_graph import ArrayGraph
from memvault.search.relations.edge_index import EdgeIndex
from memvault.search.relations.lexicon import Lexicon, PersonKinds
from memvault.search.relations.paths import QuestionWords, masked
from memvault.search.relations.question import Question
from memvault.search.relations.question_masking import QuestionReader
from memvault.search.relations.results import FoundNote, Inquiry, answering_notes
from memvault.search.scope import MemoryLookup
from memvault.search.times.question_time import day_named
from memvault.search.times.time_expressions import cut_times
from memvault.search.times.time_spans import Calendar
from memvault.stores.graph_view import GraphView
from memvault.stores.open import Stores
from memvault.text.encoders.embedding import Embedder
from memvault.text.name_matcher import NameMatcher
from memvault.text.phrase_vectors import PhraseVectors
from memvault.text.question_parser import question_parser

logger = logging.getLogger(__name__)
MAX_HOPS = 5
PATIENCE = 2.0  # seconds that a question waits for relations of notes that have just changed
FIRST_PATIENCE = 3.0  # seconds that the first questions wait until all relations are read
MAX_CHANGED_NOTES = 16  # notes; while more are read, questions use the relations read before
MIN_PATH_SCORE = 3.0  # of paths that count; most questions about no relation find none
MAX_PARSED = 4  # results of the parsed question that come before those of paths
MIN_SURE_CONFIDENCE = 0.25  # confidence of the parsed question below which MAX_PARSED is halved
RELATION_SHARE = 0.8  # share of results that relations lead to, before those found by their text


class Indexed(Protocol):
    """The indexer's knowledge of the vault."""

    @property
    def catalogue(self) -> MemoryLookup: ...

    @property
    def names(self) -> NameMatcher: ...


@dataclass(frozen=True, slots=True)
class WordsAndNames:
    """The words of a question, and the nodes that it names."""

    words: QuestionWords
    named: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RelationQuestion:
    """A question as terms and relations and as mere words, with the lexicon of its names."""

    lexicon: Lexicon
    parsed: Question
    plain: WordsAndNames


class RelationSearch:
    """Follows the relations of a question through the graph; safe in any thread."""

    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        indexed: Indexed,
        view: GraphView,
        *,
        today: Callable[[], Calendar],
        background: Background | None,
    ) -> None:
        self._stores = stores
        self._indexed = indexed
        self._today = today
        self._vectors = PhraseVectors(embedder)
        self._view = view
        self._edges = EdgeIndex(view, indexed.catalogue, embedder.embed)
        self._background = background
        parser = question_parser()
        self._reader = None if parser is None else QuestionReader(parser)
        self._people = None if parser is None else PersonKinds(parser.people)
        self._lexicon: Lexicon | None = None
        self._refreshed = threading.Condition()
        # How often the background worker has begun, and has finished, to read changes.
        self._refreshes_begun = self._refreshes_finished = 0
        self._first_deadline: float | None = None  # no question waits longer for the first refresh

    # -- questions ------------------------------------------------------------------------------

    @property
    def are_read(self) -> bool:
        """Whether the relations of the vault have been read, and questions need not wait."""
        return self._lexicon is not None

    def lexicon_for(self, query: str, patience: float = 0.0) -> Lexicon | None:
        """The lexicon to parse a question with; None for one that no relation can answer.

        Parsing takes as long as a search, so only questions are parsed that name a term with a
        relation that several notes state.

        Args:
            patience: seconds to wait for relations that are read for the first time; unless it is
                0, a relation stated in one note counts too.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        if self._reader is None:
            return None
        may_answer = Lexicon.known_names if patience else _names_related_node
        earlier = self._lexicon
        if earlier is not None and not may_answer(earlier, query):
            return None
        if earlier is None and not self._indexed.names.find(query, question=True):
            return None
        try:
            lexicon = self._current_lexicon(patience)
        except ModelUnavailable:
            self._disable_parser()
            return None
        if lexicon is None or (lexicon is not earlier and not may_answer(lexicon, query)):
            return None
        return lexicon

    def parse(self, lexicon: Lexicon, query: str) -> RelationQuestion | None:
        """Parse a question while its words are embedded; None without a parser."""
        if self._reader is None:
            return None
        plain = self.read_words(lexicon, query)
        self._vectors.begin([*plain.words.phrases, plain.words.text])
        try:
            event_day = partial(day_named, self._indexed.names, self._indexed.catalogue)
            question = self._reader.read(query, lexicon.known_names, event_day, self._today())
        except ModelUnavailable:
            self._disable_parser()
            return None
        self._vectors.begin(lexicon.open_nouns(question))
        return RelationQuestion(lexicon, question, plain)

    def follow(
        self,
        question: RelationQuestion,
        hits: Sequence[Hit],
        top_k: int,
        scope: Scope | None = None,
        max_hops: int = MAX_HOPS,
        *,
        explain: bool = False,
    ) -> list[Hit]:
        """The memories that the question's relations lead to, then the hits.

        These memories come first only if relations that the person states repeatedly lead to the
        best of them; sentences that merely sound like the question mislead. The parsed question
        distinguishes roles. What it misses, because notes use other words, is found by paths with
        the same meaning (`paths`). A question for one relation is answered by the note of the term
        itself, too.

        Args:
            explain: also show other relations that lead to hits, and after these hits the other
                memories that they lead to.

        Raises:
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        plain, inquiry = question.plain, self._inquiry(question, scope or Scope(), max_hops)
        solve = inquiry.begin_solving()
        by_paths, score = inquiry.notes_by_paths(plain.words, plain.named, MIN_PATH_SCORE)
        solution = solve()
        is_grounded = solution is not None and inquiry.is_grounded(solution)
        parsed: list[FoundNote] = []
        if solution is not None and (is_grounded or explain):
            parsed = inquiry.in_scope(answering_notes(solution, question.lexicon.graph), top_k)
        if score < MIN_PATH_SCORE:
            if not parsed and not is_grounded:
                return list(hits)
            parsed_hits = inquiry.hits(parsed, hits) if parsed else []
            if not is_grounded:
                return _explained(hits, parsed_hits, top_k)
            share = max(_best_count(parsed), round(top_k * RELATION_SHARE))
            return _relations_before_text(parsed_hits, hits, top_k, share)
        by_paths = inquiry.in_scope(by_paths, top_k)
        if solution is None or not is_grounded:
            path_hits = inquiry.hits(by_paths[: top_k - FIXED_PLACES], hits)
            return descending(_merged(hits[:FIXED_PLACES], path_hits, hits))
        notes = _parsed_and_by_paths(parsed, by_paths, solution.confidence)
        relation_hits = inquiry.hits(notes[:top_k], hits)
        if len(solution.question.relations) == 1:
            named_ids = {question.lexicon.graph.node_ids[node] for node in plain.named}
            term_itself = [hit for hit in hits if hit.memory.id in named_ids]
            relation_hits = _merged(relation_hits[: top_k - 1], term_itself[:1], relation_hits)
        return descending(_merged(relation_hits, hits))

    def _inquiry(self, question: RelationQuestion, scope: Scope, max_hops: int) -> Inquiry:
        return Inquiry(
            stores=self._stores,
            view=self._view,
            memories=self._indexed.catalogue,
            lexicon=question.lexicon,
            vectors=self._vectors,
            question=question.parsed,
            scope=scope,
            max_hops=min(max_hops, MAX_HOPS),
        )

    # -- the lexicon ----------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Read the graph now rather than at the first question.

        Takes seconds, or as long as indexing if most steps are new.
        """
        try:
            self._refreshed_lexicon(-1.0)
        except ModelUnavailable:
            self._disable_parser()
        except MemvaultError as error:
            logger.warning("relations are not ready for questions: %s", error.message)

    def _disable_parser(self) -> None:
        """Answer without relations from now on, since the parser is damaged (the log says so)."""
        self._reader = self._people = None

    def _current_lexicon(self, first_patience: float) -> Lexicon | None:
        """The lexicon of the vault, or an earlier one if much is changing; None if none is ready.

        Long work is done in the background, since it may have to wait for a batch that is being
        embedded.
        """
        earlier, changed_count = self._lexicon, self._edges.waiting
        if self._background is None or (earlier is not None and not changed_count):
            return self._refreshed_lexicon(PATIENCE if earlier is not None else first_patience)
        with self._refreshed:
            turn = self._refreshes_begun + 1
            self._background.run("read changed relations", self._read_changes)
            patience = PATIENCE
            if earlier is None:
                now = time.monotonic()
                self._first_deadline = self._first_deadline or now + FIRST_PATIENCE
                patience = max(0.0, self._first_deadline - now)
            if earlier is None or changed_count <= MAX_CHANGED_NOTES:
                self._refreshed.wait_for(
                    lambda: self._refreshes_finished >= turn, max(patience, first_patience)
                )
        return self._lexicon

    def _read_changes(self) -> None:
        """Read changed relations in the background, and wake the questions that wait for them."""
        with self._refreshed:
            self._refreshes_begun += 1
            turn = self._refreshes_begun
        with making_way(None):  # a question may wait for it
            self.warm_up()
        with self._refreshed:
            self._refreshes_finished = turn
            self._refreshed.notify_all()

    def _refreshed_lexicon(self, patience: float) -> Lexicon | None:
        """The lexicon of the vault as it is now; see `EdgeIndex.refresh` for ``patience``."""
        if self._people is None:
            return None
        graph = self._edges.refresh(patience)
        if graph is None:
            return None
        lexicon = self._lexicon
        if lexicon is None or lexicon.graph is not graph:
            lexicon = Lexicon(graph, self._indexed.names, self._people, self._vectors)
            self._lexicon = lexicon
        return lexicon

    def read_words(self, lexicon: Lexicon, query: str) -> WordsAndNames:
        """The words of a question without its times, and the nodes that it names."""
        text = cut_times(query, self._today())[0]
        number_of, names = lexicon.graph.number_of, lexicon.known_names(text)
        nodes = {number_of[node] for name in names for node in name.nodes if node in number_of}
        words = QuestionWords.read(masked(text, [(name.start, name.end) for name in names]))
        return WordsAndNames(words, tuple(sorted(nodes)))


def _names_related_node(lexicon: Lexicon, query: str) -> bool:
    """Whether a question names something with a relation that several notes state."""
    graph = lexicon.graph
    return any(
        _is_related(graph, node_id) for name in lexicon.known_names(query) for node_id in name.nodes
    )


def _is_related(graph: ArrayGraph, node_id: str) -> bool:
    number = graph.number_of.get(node_id)
    if number is None or number + 1 >= len(graph.half_start):
        return False
    edges = graph.half_edge[graph.half_start[number] : graph.half_start[number + 1]]
    return bool(graph.repeated[edges].any())


def _best_count(notes: Sequence[FoundNote]) -> int:
    """How many of the notes end one of the best paths, or state its last step."""
    return sum(note.is_best for note in notes)


def _parsed_and_by_paths(
    parsed: Sequence[FoundNote], by_paths: Sequence[FoundNote], confidence: float
) -> list[FoundNote]:
    """The best notes of the parsed question, those of paths, and its other notes, each once."""
    is_sure = confidence >= MIN_SURE_CONFIDENCE
    first_count = min(_best_count(parsed), MAX_PARSED if is_sure else MAX_PARSED // 2)
    notes = (*parsed[:first_count], *by_paths, *parsed)
    return distinct_by(notes, lambda note: note.note_id)


def _explained(hits: Sequence[Hit], relation_hits: Sequence[Hit], top_k: int) -> list[Hit]:
    """The first hits, with the relations that lead to them; then the other memories that relations
    lead to, then the other hits."""
    shown = {hit.memory.id: hit for hit in hits[:top_k]}
    for hit in relation_hits:
        if hit.memory.id in shown:
            shown[hit.memory.id].hops = hit.hops
    other_hits = [hit for hit in relation_hits if hit.memory.id not in shown]
    return descending([*hits[:top_k], *other_hits, *hits[top_k:]])


def _merged(*lists: Sequence[Hit]) -> list[Hit]:
    """The hits of all lists in order, each memory once."""
    return distinct_by(chain.from_iterable(lists), lambda hit: hit.memory.id)


def _relations_before_text(
    relation_hits: Sequence[Hit], hits: Sequence[Hit], top_k: int, share: int
) -> list[Hit]:
    """The first ``share`` memories that relations lead to, the best hits, and the rest of both,
    each once."""
    best_count = min(share, max(1, top_k - share))
    return descending(
        _merged(relation_hits[:share], hits[:best_count], relation_hits[share:], hits[best_count:])
    )
