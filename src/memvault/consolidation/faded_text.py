"""Writes the text of a faded session: a summary in its own sentences, and its keys (triple 2.9).

The summary's sentences are chosen by maximal marginal relevance. Relevance is the mean of the
cosine to the centroid of all sentences (centroid summarisation: Radev and others, Information
Processing & Management 40, 2004) and the rarity of their words. The topics are the words with the
greatest tf-idf. Both work in every language.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from memvault.model.distinct import distinct_by
from memvault.model.memory import Memory
from memvault.model.note import Embed, LinkStyle, ParsedNote, Sentence
from memvault.search.modes import centrality, diverse
from memvault.text.words import STOP_WORDS, composed, name_key, some_words, words
from memvault.vault.compose import inert

SUMMARY_WORDS = 200
SHORT_WORDS = 300  # a note with at most this many does not fade
MIN_WORDS, MAX_WORDS = 4, 60  # length of a sentence in the summary
MAX_SENTENCES = 400  # compared sentences; of more, only every second, third, … is
VARIETY = 0.4  # weight of novelty in maximal marginal relevance
TOPICS = 40  # words
MAX_NAMES = 30  # participants or links that are listed
OUTCOME_WORDS = 60
OUTCOMES = frozenset({"outcome", "outcomes", "decision", "decisions", "decided", "result",
                      "results", "conclusion", "conclusions", "agreed"})  # fmt: skip
ARCHIVED = "The full text is archived; `memvault reconstruct` or the note's page brings it back."


class FadingStage(StrEnum):
    """How far a memory has faded."""

    SUMMARY = "summary"  # summary and keys
    KEYS = "keys"


class Rarity:
    """The inverse document frequency of words, ln((1 + n) / (1 + n(word))), in sample texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._count = 0
        self._with: Counter[str] = Counter()
        for text in texts:
            self._count += 1
            self._with.update(set(some_words(text)))

    def of(self, word: str) -> float:
        return math.log((1 + self._count) / (1 + self._with[word])) if self._count else 1.0


@dataclass(frozen=True, slots=True)
class Original:
    """A session before it fades; ``people`` are the persons that it names, by the graph."""

    note: ParsedNote
    memory: Memory
    people: tuple[str, ...] = ()


def faded_body(
    original: Original,
    stage: FadingStage,
    embed: Embed,
    rarity: Rarity,
    *,
    is_order: Callable[[str], bool] = lambda text: False,
) -> str:
    """The text that replaces the note's body, with ``\\n`` line endings.

    Args:
        embed: gives the vectors of texts, (n, dim), L2-normalised.
        is_order: whether a text looks like an order to a model. Lines that do, alone or together
            with the lines before them, are left out: out of their context they would put the note
            in quarantine.
    """
    note = original.note
    has_title = bool(note.headings) and note.headings[0].text == note.title
    parts = [f"# {inert(note.title)}"] if has_title else []
    sentences: list[str] = []
    if stage is FadingStage.SUMMARY:
        speakers = _speaker_of(note)
        sentences = [
            f"- {_ended(inert(sentence.text))} ({speakers.get(sentence, '')}line {sentence.line})"
            for sentence in summary_sentences(note, embed, rarity)
            if not is_order(sentence.text)
        ]
    # Marked unlike the summary, or Markdown would join both lists.
    keys = [f"* {name}: {value}" for name, value in _keys(original, rarity)]
    keys = [line for line in keys if not is_order(line)]
    if is_order("\n".join([*sentences, *keys])):
        sentences, keys = _harmless(sentences, keys, is_order)
    parts += ["\n".join(lines) for lines in (sentences, keys) if lines]
    return "\n\n".join([*parts, ARCHIVED]) + "\n"


def _harmless(
    sentences: list[str], keys: list[str], is_order: Callable[[str], bool]
) -> tuple[list[str], list[str]]:
    """The lines without those that look like an order together with the lines before them."""
    before: list[str] = []
    harmless: tuple[list[str], list[str]] = [], []
    for lines, harmless_lines in zip((sentences, keys), harmless, strict=True):
        for line in lines:
            if not is_order("\n".join([*before, line])):
                before.append(line)
                harmless_lines.append(line)
    return harmless


def is_worth_fading(note: ParsedNote) -> bool:
    """Whether a note is longer than its summary and keys could be."""
    return sum(word_count(block.text) for block in note.blocks) > SHORT_WORDS


def summary_sentences(note: ParsedNote, embed: Embed, rarity: Rarity) -> list[Sentence]:
    """The chosen sentences of the note, at most `SUMMARY_WORDS` words, in the note's order."""
    sentences = [s for s in note.sentences if MIN_WORDS <= word_count(s.text) <= MAX_WORDS]
    sentences = sentences[:: max(1, -(-len(sentences) // MAX_SENTENCES))]
    if not sentences:
        return []
    vectors = np.asarray(embed([sentence.text for sentence in sentences]), np.float32)
    rare = np.array([_information(sentence.text, rarity) for sentence in sentences])
    worth = (centrality(vectors) + rare / (rare.max() or 1.0)) / 2
    chosen, spent = [], 0
    for index in diverse(worth.tolist(), vectors, len(sentences), VARIETY):
        length = word_count(sentences[index].text)
        if spent + length <= SUMMARY_WORDS:
            chosen.append(index)
            spent += length
    return [sentences[index] for index in sorted(chosen)]


def _information(text: str, rarity: Rarity) -> float:
    """The square root of the summed rarity of a sentence's words, so that length counts less."""
    return math.sqrt(sum(rarity.of(word) for word in set(_content_words(text))))


def _content_words(text: str) -> list[str]:
    return [
        word
        for word in some_words(text)
        if word not in STOP_WORDS and (len(word) > 1 or not word.isascii()) and word.isalnum()
    ]


def _keys(original: Original, rarity: Rarity) -> Iterator[tuple[str, str]]:
    """The names and values of the keys that the note has."""
    note, memory = original.note, original.memory
    if memory.date is not None:
        yield "Date", memory.date.date().isoformat()
    speakers = _speakers(note)
    people = distinct_by([*speakers, *original.people], name_key)
    links = _links(note)
    linked = {name_key(target) for target in links}
    if people := [name for name in people if name_key(name) not in linked][:MAX_NAMES]:
        yield "Participants", ", ".join(map(inert, people))
    if topics := _topics(note, rarity, names=[note.title, *people]):
        yield "Topics", " ".join(topics)
    if outcome := _outcome(note):
        yield "Outcome", inert(outcome)
    if links:
        yield "Links", ", ".join(f"[[{target}]]" for target in links)
    in_frontmatter = {tag.name for tag in note.tags if tag.line < note.body_line}
    if tags := distinct_by((t.name for t in note.tags if t.name not in in_frontmatter), name_key):
        yield "Tags", " ".join(f"#{tag}" for tag in tags)


def _speakers(note: ParsedNote) -> list[str]:
    """The labels that begin more than one sentence: the speakers of a conversation."""
    counted = Counter(sentence.relation for sentence in note.sentences if sentence.relation)
    return [name for name, count in counted.items() if count > 1]


def _speaker_of(note: ParsedNote) -> dict[Sentence, str]:
    """The speaker, with a comma, of each sentence that does not begin with its speaker."""
    names = set(_speakers(note))
    speakers: dict[Sentence, str] = {}
    speaker, heading = "", None
    for block in note.blocks if len(names) > 1 else ():
        if block.heading != heading:
            speaker, heading = "", block.heading
        for sentence in block.sentences:
            if sentence.relation in names:
                speaker = f"{inert(sentence.relation)}, "
            elif sentence.relation is None and speaker:
                speakers[sentence] = speaker
    return speakers


def _topics(note: ParsedNote, rarity: Rarity, names: Sequence[str]) -> list[str]:
    """The words with the greatest tf-idf, in the order of their first use in the note."""
    text = "\n".join(block.text for block in note.blocks)
    counted = Counter(_content_words(text))
    skipped = {word for name in names for word in some_words(name)}
    scored = {
        word: math.log1p(count) * rarity.of(word)
        for word, count in counted.items()
        if word not in skipped
    }
    best = sorted(scored, key=lambda word: (-scored[word], word))[:TOPICS]
    return sorted(best, key=list(counted).index)


def _outcome(note: ParsedNote) -> str:
    """The sentences that the note labels, or has under a heading, as outcome or decision."""
    stated = [
        sentence.text
        for block in note.blocks
        for sentence in block.sentences
        if name_key(sentence.relation or "") in OUTCOMES
        or any(name_key(heading) in OUTCOMES for heading in block.heading)
    ]
    return " ".join(" ".join(stated).split()[:OUTCOME_WORDS])


def _links(note: ParsedNote) -> list[str]:
    """The targets of the body's links, as written."""
    targets = (
        link.target
        for link in note.links
        if link.target and link.style is not LinkStyle.FRONTMATTER
    )
    return distinct_by(targets, name_key)[:MAX_NAMES]


def word_count(text: str) -> int:
    """The number of words; in scripts without spaces each character counts."""
    return sum(word.isalnum() for word in words(composed(text)))


def _ended(sentence: str) -> str:
    """The sentence with a full stop if it lacks one, which separates it from its source."""
    return sentence if sentence and not sentence[-1].isalnum() else f"{sentence}."
