"""The part of a passage that answers a question: whole sentences, word for word, in order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memvault.stores.vectors import bm25
from memvault.text.words import some_words
from memvault.vault.markdown.labelled_sentences import sentence_starts

CUT = "…"
_LONGEST = 2  # times the limit: a sentence longer than that is cut at a word
# What a sentence says is often taken up by the next one ("When was it?" "In May"), and prepared
# by the one before.
_AFTER, _BEFORE = 0.5, 0.25


class _Sentence(NamedTuple):
    start: int
    end: int
    size: int  # UTF-8 bytes
    terms: Collection[int]


def excerpts(query: str, passages: Sequence[str], limit: int) -> list[str]:
    """Of each passage the sentences that share most with the question, as many as fit.

    A word counts by its weight in the question (`bm25.query`) times log(1 + N / n), for N
    sentences of all the passages, n of them with the word; a sentence by its words and, at half
    and a quarter, by those of the sentences before and after it. ``…`` stands where something was
    left out.

    Args:
        limit: UTF-8 bytes of an excerpt, about four for a token of English; one sentence is
            shown even if it is longer.
    """
    long = [passage for passage in passages if len(passage.encode()) > limit]
    read = {passage: _sentences(passage) for passage in long}
    weights = _weights(query, [each for own in read.values() for each in own])
    return [
        _excerpt(passage, read[passage], weights, limit) if passage in read else passage.strip()
        for passage in passages
    ]


def _weights(query: str, sentences: Sequence[_Sentence]) -> dict[int, float]:
    asked = bm25.query(query)
    seen = Counter(term for each in sentences for term in each.terms)
    return {
        term: weight * math.log(1 + len(sentences) / seen[term])
        for term, weight in zip(asked.indices, asked.values, strict=True)
        if term in seen
    }


def _excerpt(
    passage: str, sentences: Sequence[_Sentence], weights: Mapping[int, float], limit: int
) -> str:
    chosen = _chosen(sentences, weights, limit)
    only = sentences[chosen[0]]
    if len(chosen) == 1 and only.size > _LONGEST * limit:
        return f"{_head(passage[only.start : only.end], _LONGEST * limit)} {CUT}"
    text = CUT + " " if chosen[0] > 0 else ""
    for one, following in pairwise([*chosen, len(sentences)]):
        if following == one + 1 and following < len(sentences):
            text += passage[sentences[one].start : sentences[following].start]
            continue
        text += passage[sentences[one].start : sentences[one].end].rstrip()
        if one < len(sentences) - 1:
            text += f" {CUT} "
    return text.strip()


def _chosen(sentences: Sequence[_Sentence], weights: Mapping[int, float], limit: int) -> list[int]:
    own = [sum(weights.get(term, 0.0) for term in each.terms) for each in sentences]
    worth = [
        value + _AFTER * before + _BEFORE * after
        for before, value, after in zip([0.0, *own], own, [*own[1:], 0.0], strict=False)
    ]
    chosen: list[int] = []
    left = limit
    for number in sorted(range(len(worth)), key=lambda k: (-worth[k], k)):
        if not chosen or sentences[number].size <= left:
            chosen.append(number)
            left -= sentences[number].size
    return sorted(chosen)


@lru_cache(maxsize=4_000)
def _sentences(passage: str) -> tuple[_Sentence, ...]:
    """A line ends one."""
    found: list[_Sentence] = []
    offset = 0
    for line in passage.splitlines(keepends=True):
        if line.strip():
            starts = sentence_starts(line)
            for start, end in pairwise([*starts, len(line)]):
                text = line[start:end].rstrip()
                terms = {term for word in some_words(text) for term in _terms(word)}
                found.append(_Sentence(offset + start, offset + end, len(text.encode()), terms))
        offset += len(line)
    return tuple(found)


@lru_cache(maxsize=20_000)
def _terms(word: str) -> tuple[int, ...]:
    return tuple(bm25.terms(word))


def _head(text: str, limit: int) -> str:
    """At most ``limit`` bytes of a text, cut after a word if one ends in their second half."""
    head = text.strip().encode()[:limit].decode(errors="ignore")
    word = max(head.rfind(" "), head.rfind("\n"))
    return (head[:word] if word >= len(head) // 2 else head).rstrip()
