"""Finds which words of a statement a sentence of a note has, also as synonyms or opposites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memvault.model.note import Embed
from memvault.reasoning.sentences.sentence_words import KINDS, LIGHT, OPPOSITE, SentenceWords
from memvault.verification.claims.claim_stems import canonical_stem, stems_of

_MIN_STEM = 5  # letters of a stem, if a longer stem that begins with it counts as the same
_SAME_WORD = 0.62  # cosine from which two words count as synonyms
_OBJECT = re.compile(
    r"\b(?:of|with|at|for|from|by|in)\s+(?:(?:the|an?|my|our|his|her|their)\s+)?(\w+)",
    re.IGNORECASE,
)


class Difference(NamedTuple):
    """The keys of differing words of one kind, in the statement and in the sentence."""

    kind: str
    statement_keys: frozenset[str]
    sentence_keys: frozenset[str]


class WordOverlap:
    """The words that a statement and a sentence of a note share.

    Args:
        context: the note's title and headings, which name the sentence's subject.
        embed: gives the normalised vectors of words, (n, d) float32.

    Attributes:
        note_stems: the stems of the sentence and its context.
        synonyms: the sentence's synonym of each word of the statement that has one.
        opposites: the statement's words whose opposite the sentence has, and not the word itself.
        missing: the statement's other words that neither sentence nor context has, without light
            words if it has others.
        missing_names: the statement's names that neither has.
        share: the share of the statement's words and names that sentence or context has.
        own_share: the share that the sentence has.
    """

    def __init__(
        self,
        statement: SentenceWords,
        sentence: SentenceWords,
        context: SentenceWords,
        embed: Embed,
    ) -> None:
        self.statement, self.sentence, self.context = statement, sentence, context
        self._embed = embed
        self.note_stems = sentence.stems() | context.stems()
        self.missing_names = self._missing_names()
        words, names = statement.keys("word"), statement.keys("name")
        missing = words - self.note_stems
        self.synonyms: dict[str, str] = {}
        if missing and len(missing) <= max(2, len(words) // 2):
            self.synonyms = self._synonyms_of(missing)
            missing -= self.synonyms.keys()
        self.opposites = missing & {
            canonical_stem(word)
            for word in statement.lower_words
            if OPPOSITE.get(word, set()) & sentence.lower_words
        }
        missing -= self.opposites
        content = words - LIGHT or words
        self.missing = missing & content
        total = len(content) + len(names)
        covered = total - len(self.missing) - len(self.missing_names)
        present = (content - self.missing) | (names - self.missing_names)
        only_in_context = present - sentence.stems()
        self.share = covered / total if total else 1.0
        self.own_share = (covered - len(only_in_context)) / total if total else 1.0

    def _missing_names(self) -> frozenset[str]:
        statement, sentence, context = self.statement, self.sentence, self.context
        words = sentence.keys("word") | context.keys("word")
        other_names = [
            *sentence.words.get("name", {}).values(),
            *context.words.get("name", {}).values(),
        ]
        return frozenset(
            key
            for key in statement.keys("name") - sentence.keys("name") - context.keys("name")
            if not _mentions_name(statement.words["name"][key], words, other_names)
        )

    def _synonyms_of(self, stems: frozenset[str]) -> dict[str, str]:
        """The synonym in the sentence of each of these stems that has one."""
        statement, sentence = self.statement, self.sentence
        missing = sorted(stems)
        candidates = sorted(sentence.keys("word") - statement.keys("word"))
        if not candidates:
            return {}
        missing_vectors = self._embed([statement.words["word"][stem] for stem in missing])
        vectors = self._embed([sentence.words["word"][stem] for stem in candidates])
        cosines = missing_vectors @ vectors.T
        cosines += [[float(is_derived(stem, other)) for other in candidates] for stem in missing]
        best = zip(missing, cosines.argmax(axis=1), cosines.max(axis=1), strict=True)
        return {stem: candidates[index] for stem, index, cosine in best if cosine >= _SAME_WORD}

    def has_values(self) -> bool:
        """Whether sentence or context has all values of the statement."""
        return not any(
            self.statement.keys(kind) - self.sentence.keys(kind) - self.context.keys(kind)
            for kind in KINDS
        )

    def replaced_words(self) -> Iterator[tuple[str, str]]:
        """Each word that the sentence lacks, with a word that it has in the same place."""
        statement, sentence = self.statement, self.sentence
        for stem in sorted(self.missing):
            for kind in ("word", "name"):
                for other in sorted(sentence.keys(kind) - statement.stems()):
                    neighbours = statement.neighbours.get(stem, ("", ""))
                    if _share_neighbour(neighbours, sentence.neighbours.get(other, ("", ""))):
                        yield statement.words["word"][stem], sentence.words[kind][other]

    def is_of_other_object(self) -> bool:
        """Whether the sentence's values belong to another object.

        Then the statement's object is missing ("with the dentist"), or another word replaces it
        ("the new sofa", "the new kitchen").
        """
        objects = {canonical_stem(match[1]) for match in _OBJECT.finditer(self.statement.text)}
        return bool(objects & self.missing) or any(True for _ in self.replaced_words())


def is_derived(stem: str, other: str) -> bool:
    """Whether one stem begins with the other ("refund", "refundable")."""
    short, long = sorted((stem, other), key=len)
    return len(short) >= _MIN_STEM and long.startswith(short)


def _share_neighbour(first: tuple[str, str], second: tuple[str, str]) -> bool:
    """Whether the same word precedes or follows two words."""
    return any(key and key == other for key, other in zip(first, second, strict=True))


def _mentions_name(name: str, words: frozenset[str], other_names: Sequence[str]) -> bool:
    """Whether a sentence has at least half of a name's words.

    Names that share only a part of it do not count ("Sync Standard" is not "Sync Plus").
    """
    stems = stems_of(name)
    mentioned, of_siblings = set(words), set[str]()
    for part in map(stems_of, other_names):
        is_same = part <= stems or stems <= part
        (mentioned if is_same else of_siblings).update(part & stems)
    return 2 * len(stems & (mentioned - of_siblings)) >= len(stems) > 0
