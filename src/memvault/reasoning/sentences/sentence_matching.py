"""Finds the sentence in the notes that supports a statement or is most comparable with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.note import Embed, LineRange
from memvault.model.search import Hit
from memvault.model.verification import ConflictKind
from memvault.reasoning.conflicts import stated_conflicts
from memvault.reasoning.sentences.alignment import Alignment, Stance, align
from memvault.reasoning.sentences.sentence_words import TOKEN, SentenceWords
from memvault.search.context.outline import Outline, Outlines
from memvault.search.context.outline import Statement as NoteSentence
from memvault.search.question_languages import is_function_word_in
from memvault.stores.graph_view import GraphView
from memvault.text.words import letter_runs
from memvault.vault.readable import is_open_task
from memvault.verification.claims.amounts import AmountKind
from memvault.verification.claims.claim_stems import stems_among, stems_of
from memvault.verification.vault_names import FindNames

_MIN_SHARED = 0.34  # least share of the statement's words that a compared sentence has
_MAX_WORDS = 20_000  # words whose vectors are cached


class SentenceMatch(NamedTuple):
    """A sentence of a note, its lines, and the result of its comparison with a statement."""

    alignment: Alignment
    memory: Memory
    lines: LineRange
    sentence: str


class SentenceMatcher:
    """Compares statements with the sentences of notes; safe in any thread."""

    def __init__(
        self, outlines: Outlines, view: GraphView, find_names: FindNames, embed: Embed
    ) -> None:
        self._outlines = outlines
        self._view = view
        self._find_names = find_names
        self._embed = _WordVectors(embed)

    def best(self, statement: str, hits: Sequence[Hit]) -> SentenceMatch | None:
        """The sentence that supports a statement, else the one that covers most of it.

        None if no sentence is comparable with the statement.
        """
        words = SentenceWords(statement, self._find_names)
        stems = _stems_compared(words)
        matches = (
            SentenceMatch(alignment, hit.memory, sentence.lines, sentence.quoted)
            for hit, outline in zip(hits, self._outlines.of(hits), strict=True)
            if outline is not None
            for sentence, text in self._comparable_texts(statement, stems, hit, outline)
            if (alignment := self._aligned(words, text, sentence, hit)) is not None
        )
        return max(matches, key=lambda match: _rank(match.alignment), default=None)

    def _comparable_texts(
        self, statement: str, stems: frozenset[str], hit: Hit, outline: Outline
    ) -> Iterator[tuple[NoteSentence, str]]:
        """The sentences of a note, or parts of them, that have enough of a statement's words."""
        linked = self._linked(hit.memory)
        for sentence in outline.statements:
            if not is_open_task(sentence.shown):
                of_headings = stems_of(_headings(hit, sentence))
                for text in _parts_of(sentence, statement):
                    if len(stems & (stems_of(text) | of_headings)) >= _MIN_SHARED * len(stems):
                        yield sentence, _with_targets(text, sentence, linked)

    def _aligned(
        self, statement: SentenceWords, text: str, sentence: NoteSentence, hit: Hit
    ) -> Alignment | None:
        words = SentenceWords(text, self._find_names, hit.memory.id)
        if words.is_hedged:
            return None
        context = SentenceWords(_headings(hit, sentence), self._find_names)
        return align(statement, words, context, self._embed)

    def superseded_by_others(
        self, ids: Collection[str], allowed: Callable[[str], bool]
    ) -> set[str]:
        """Those of these memories that a node for which ``allowed`` is true supersedes."""
        superseded = set()
        for conflict in stated_conflicts(self._view, ids):
            new, old = (side.node.id for side in conflict.sides)
            if conflict.kind is ConflictKind.SUPERSESSION and old in ids and allowed(new):
                superseded.add(old)
        return superseded

    def _linked(self, memory: Memory) -> Mapping[int, Sequence[str]]:
        """The names of the link targets on each line of a note."""
        try:
            edges = self._view.stated_by(memory.id)
        except (StoreUnavailable, GraphQueryError):
            return {}
        linked: dict[int, list[str]] = {}
        for edge in edges:
            if (target := self._view.node(edge.target)) is not None:
                linked.setdefault(edge.line, []).append(target.name)
        return linked


def _headings(hit: Hit, sentence: NoteSentence) -> str:
    """The title and headings above a sentence."""
    return f"{hit.memory.title}. {'. '.join(sentence.heading)}"


def _stems_compared(statement: SentenceWords) -> frozenset[str]:
    """The stems of a statement, without function words and those of times of day ("Uhr")."""
    text = statement.text
    times = (amount for amount in statement.amounts if amount.kind is AmountKind.TIME)
    for amount in sorted(times, key=lambda time: -time.start):
        text = f"{text[: amount.start]} {text[amount.end :]}"
    words = letter_runs(text)
    return stems_among(
        word for word in words if not is_function_word_in(statement.text, word.lower())
    )


class _WordVectors:
    """Embeds words, each once."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}

    def __call__(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        new = [word for word in dict.fromkeys(words) if word not in self._vectors]
        if new:
            if len(self._vectors) > _MAX_WORDS:
                self._vectors = {}
                new = list(dict.fromkeys(words))
            self._vectors.update(zip(new, self._embed(new), strict=True))
        return np.stack([self._vectors[word] for word in words])


def _parts_of(sentence: NoteSentence, statement: str) -> list[str]:
    """The texts to compare: the sentence, or the cells of a table row, each with the row's subject.

    Only cells whose column heads have most words of the statement are returned.
    """
    cells = [cell.partition(": ") for cell in sentence.quoted.split(" | ")]
    if len(cells) < 2:
        return [sentence.text]
    subject = cells[0][2] or cells[0][0]
    words = set(TOKEN.findall(statement.lower()))
    shared = [len(words.intersection(TOKEN.findall(head.lower()))) for head, _, _ in cells[1:]]
    return [
        f"{head} of {subject}: {value}"
        for (head, _, value), count in zip(cells[1:], shared, strict=True)
        if count == max(shared)
    ]


def _with_targets(text: str, sentence: NoteSentence, linked: Mapping[int, Sequence[str]]) -> str:
    """A sentence with the link targets that its text does not show.

    Otherwise "Son" in ``[[Tom Holt|Son]]`` would count as another name in place of "Tom Holt".
    """
    lines = range(sentence.lines.first, sentence.lines.last + 1)
    names = dict.fromkeys(name for line in lines for name in linked.get(line, ()))
    hidden = [name for name in names if name.casefold() not in sentence.text.casefold()]
    return f"{text} ({', '.join(hidden)})" if hidden else text


def _rank(alignment: Alignment) -> tuple[bool, float, float, float]:
    return (
        alignment.stance is Stance.SUPPORTS,
        alignment.coverage,
        alignment.own_coverage,
        alignment.confidence,
    )
