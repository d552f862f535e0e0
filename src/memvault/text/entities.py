"""Entities that are not names of the vault, found by spaCy's trained pipeline."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memvault.model.graph import NodeKind
from memvault.model.memory import id_of_entity
from memvault.model.note import ParsedNote, Sentence
from memvault.model.priority import make_way
from memvault.text.spacy_pipeline import load_trained_pipeline
from memvault.text.words import STOP_WORDS, composed, words
from memvault.vault.frontmatter.dates import read_date

BATCH = 8  # passages per run of the pipeline (some 25 ms); questions go first between runs
# Other labels (numbers, nationalities, languages) are ignored.
KIND_OF_LABEL = {
    "PERSON": NodeKind.PERSON,
    "ORG": NodeKind.ORGANISATION,
    "GPE": NodeKind.PLACE,
    "LOC": NodeKind.PLACE,
    "FAC": NodeKind.PLACE,
    "DATE": NodeKind.DATE,
    "PRODUCT": NodeKind.TOOL,
    "EVENT": NodeKind.EVENT,
    "WORK_OF_ART": NodeKind.CONCEPT,
}
MAX_PASSAGE_CHARS = 1_000
MAX_ENTITY_WORDS = 6
ENGLISH_SHARE = 0.15  # least share of English function words; English prose has 0.3 to 0.5
MIN_WORDS_TO_DECIDE = 30

_DETERMINERS = re.compile(
    r"^(?:the|a|an|my|our|your|his|her|its|their|this|that)\s+", re.IGNORECASE
)
_POSSESSIVE = re.compile(r"['’]s?$")
_MARKUP = re.compile(r"[\[\]{}|#*_=<>`\\^~/@•:]|\n|\.\w{1,4}$")
# The pipeline takes an imperative at the start of a sentence for part of the name: "Call Petra".
_COMMAND = re.compile(
    r"(?:Add|Ask|Book|Buy|Call|Check|Choose|Click|Contact|Create|Draft|Email|Enable|Enter|Find|Fix"
    r"|Get|Go|Install|Invite|Join|Learn|Make|Meet|Message|Move|Open|Order|Pay|Phone|Ping|Plan|Press"
    r"|Read|Remind|Remove|Reply|Review|Run|See|Select|Send|Set|Show|Start|Sync|Talk|Tap|Tell|Text"
    r"|Thank|Toggle|Try|Update|Use|Visit|Watch|Write) (?=[^\W\d_])"
)
# A capital inside a sentence, or a year: other sentences rarely contain an entity.
_PROMISING = re.compile(r"[\w,(\"“‘] ?(?!I\b)[A-ZÀ-ÖØ-Þ]|\d{4}")
_WORD = re.compile(r"[^\W\d_]+")
_PARTIAL_DATE = re.compile(r"(?:(?P<month>[A-Za-z]{3,9})\.?,? )?(?P<year>[12]\d{3})")


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity in a note.

    ``start`` and ``end`` are offsets into ``sentence``, which is in NFC; ``relation`` is the label
    of the sentence, if any.
    """

    kind: str
    name: str
    start: int
    end: int
    sentence: str
    line: int
    relation: str | None = None

    @property
    def id(self) -> str:
        """The id of the entity's node, which depends on the spelling, including case."""
        return id_of_entity(self.kind, self.name)


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences of one block joined to one text, with the offset of each."""

    text: str
    sentences: tuple[tuple[int, Sentence], ...]

    def entity(self, start: int, end: int, label: str) -> tuple[FoundEntity, bool] | None:
        """A span of the text as an entity, and whether it starts a sentence; None if its label is
        unknown, it crosses sentences, or it is noise."""
        kind = KIND_OF_LABEL.get(label)
        offset, sentence = [pair for pair in self.sentences if pair[0] <= start][-1]
        text = composed(sentence.text)
        if kind is None or end > offset + len(text):
            return None
        text_before = text[: start - offset].rstrip(" \"'“”‘’([*-")
        starts_sentence = not text_before or text_before[-1] in ".!?:;…|"
        if starts_sentence and (command := _COMMAND.match(self.text, start, end)):
            start, starts_sentence = command.end(), False
        name = entity_name(self.text[start:end], kind)
        if name is None or (kind != NodeKind.DATE and text_before[-1:].isdigit()):  # a unit: 20 EUR
            return None
        offsets = start - offset, end - offset
        return FoundEntity(
            kind, name, *offsets, text, sentence.line, sentence.relation
        ), starts_sentence


def passages_of(note: ParsedNote) -> Iterator[Passage]:
    """The sentences of a note that may contain entities, joined to passages.

    The pipeline reads English only: notes in other languages have no passages.
    """
    if not is_english(note):
        return
    for block in note.blocks:
        sentences: list[tuple[int, Sentence]] = []
        text = ""
        for sentence in block.sentences:
            if not _PROMISING.search(sentence.text):
                continue
            if text and len(text) + len(sentence.text) > MAX_PASSAGE_CHARS:
                yield Passage(text, tuple(sentences))
                sentences, text = [], ""
            text += " " if text else ""
            sentences.append((len(text), sentence))
            text += composed(sentence.text)[:MAX_PASSAGE_CHARS]
        if text:
            yield Passage(text, tuple(sentences))


def is_english(note: ParsedNote) -> bool:
    """Whether a note is in English, by its share of English function words.

    A note that is too short to decide counts as English if its words are ASCII.
    """
    note_words: list[str] = []
    for block in note.blocks[:40]:
        note_words += [word for word in words(composed(block.text[:2_000])) if word[0].isalpha()]
    if len(note_words) < MIN_WORDS_TO_DECIDE:
        return all(word.isascii() for word in note_words)
    return sum(word in STOP_WORDS for word in note_words) >= ENGLISH_SHARE * len(note_words)


def entity_name(text: str, kind: str) -> str | None:
    """Normalise an entity's name: without determiner and possessive, dates in ISO 8601.

    Returns None for noise: numbers, single letters, function words, markup, words without a
    capital, ambiguous dates.
    """
    name = " ".join(text.split())
    if kind != NodeKind.CONCEPT:  # the title of a work may begin with one: "The Hobbit"
        name = _DETERMINERS.sub("", name)
    name = _POSSESSIVE.sub("", name).strip(" .,;!?\"'-–—()“”‘’")
    if kind == NodeKind.DATE:
        return _iso_date(name)
    parts = name.split()
    if len(name) < 3 or len(parts) > MAX_ENTITY_WORDS or _MARKUP.search(name):
        return None
    if not name[0].isalnum() or name.islower() or sum(c.isalpha() for c in name) * 2 < len(name):
        return None
    return None if all(part.lower() in STOP_WORDS for part in parts) else name


def _iso_date(text: str) -> str | None:
    """``YYYY-MM-DD``, or ``YYYY-MM`` or ``YYYY`` for a partial date."""
    partial = _PARTIAL_DATE.fullmatch(text)
    if partial and partial["month"] is None:
        return partial["year"]
    day = read_date(f"1 {text}" if partial else text)
    if day is None:
        return None
    return day.date().isoformat()[:7] if partial else day.date().isoformat()


def without_noise(
    note: ParsedNote, candidates: Iterable[tuple[FoundEntity, bool]]
) -> tuple[FoundEntity, ...]:
    """Filter a note's entities, each with whether it starts a sentence; keeps their order.

    The small pipeline takes many capitalised words for names. An entity is dropped if all its words
    also occur in lower case in the note, or if it starts a sentence and its first word does, or if
    it is a single word that only starts sentences. An entity of several kinds gets its most
    frequent kind.
    """
    lower_case = {
        word for block in note.blocks for word in _WORD.findall(block.text) if word.islower()
    }
    rare = [
        (entity, starts_sentence)
        for entity, starts_sentence in candidates
        if entity.kind == NodeKind.DATE or not _is_common(entity, lower_case)
    ]
    certain = {
        entity.name
        for entity, starts_sentence in rare
        if not starts_sentence
        or (" " in entity.name and not _has_common_first_word(entity, lower_case))
    }
    kinds = Counter((entity.name, entity.kind) for entity, _ in rare if entity.name in certain)
    kind_of_name = {name: kind for (name, kind), _ in reversed(kinds.most_common())}
    return tuple(
        replace(entity, kind=kind_of_name[entity.name])
        for entity, _ in rare
        if entity.name in certain
    )


def _is_common(entity: FoundEntity, lower_case: set[str]) -> bool:
    return all(word.lower() in lower_case for word in _WORD.findall(entity.name))


def _has_common_first_word(entity: FoundEntity, lower_case: set[str]) -> bool:
    return entity.name.split()[0].lower() in lower_case


class EntityPipeline:
    """spaCy's trained pipeline, for entities that are not names of the vault.

    It finds people, organisations, places, dates, products, events and works. Thread-safe; calls
    run one at a time.
    """

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()

    def find(self, notes: Sequence[ParsedNote]) -> list[tuple[FoundEntity, ...]]:
        """The entities of each note, ordered by position.

        They depend on the note's text only, so they can be cached.
        """
        candidates: list[list[tuple[FoundEntity, bool]]] = [[] for _ in notes]
        passages = [
            (passage.text, (number, passage))
            for number, note in enumerate(notes)
            for passage in passages_of(note)
        ]
        # The memory zone frees new words, which the vocabulary would otherwise keep forever.
        with self._lock, self._pipeline.memory_zone():
            docs = self._pipeline.pipe(passages, as_tuples=True, batch_size=BATCH)
            for doc, (number, passage) in docs:
                make_way()
                for span in doc.ents:
                    entity = passage.entity(span.start_char, span.end_char, span.label_)
                    if entity is not None:
                        candidates[number].append(entity)
        return [
            without_noise(note, entities) for note, entities in zip(notes, candidates, strict=True)
        ]


def open_entity_pipeline() -> EntityPipeline | None:
    """Load the trained pipeline (about 3 s); None if the extra ``memvault[ner]`` is missing."""
    pipeline = load_trained_pipeline()
    return None if pipeline is None else EntityPipeline(pipeline)
