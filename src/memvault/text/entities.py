"""Finding in text the things that the vault has names for, and those that it has none for."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from memvault.model.note import ParsedNote
from memvault.text.mentions import Mention, SentenceWords, longest
from memvault.text.names import Changes, Name, NameBook
from memvault.text.passages import FoundEntity, passages_of, settled
from memvault.text.spacy_loader import load_spacy, load_trained_pipeline
from memvault.text.words import composed, some_words, words

BATCH = 64  # passages that go through the network together
_OTHER_WORD = "\x00"  # stands for every word that is in no name


class NameRules:
    """spaCy's phrase matcher over the names of the vault, kept up to date note by note.

    A name is found as whole words only, in any of its plural and possessive forms, and of names
    that overlap the longest is meant. `memvault.text.spelling` holds the rules of case; of a
    person's single name (``Anna``, an alias or a given name that one person of the vault bears) a
    neighbour with a capital (``Anna Petrova``) makes another person.

    Tokenising every sentence of a vault with spaCy takes minutes; so sentences are split with one
    regular expression, and spaCy sees only those that hold the longest word of some name, with
    every word foreign to all names replaced by one sign, which also keeps its vocabulary small.
    Methods may be called from any thread. spaCy is loaded when the first such sentence comes.
    """

    def __init__(self) -> None:
        self._book = NameBook()
        self._anchors: Counter[str] = Counter()  # the longest word of every name
        self._vocabulary: Counter[str] = Counter()  # all their words
        self._matcher: Any = None
        self._state = 0
        self._lock = threading.RLock()

    def state(self) -> int:
        """Another number after every change of the names."""
        return self._state

    def replace(self, note_id: str, names: Iterable[Name]) -> Changes:
        """Make these the only names that a note adds, and tell what that changes elsewhere."""
        with self._lock:
            update = self._book.replace(note_id, names)
            for key in update.gone:
                self._count_words(key, -1)
            for key in update.come:
                self._count_words(key, 1)
            if self._matcher is not None:
                self._matcher.update(update.come, update.gone)
            self._state += bool(update.come or update.gone or update.changes != Changes())
            return update.changes

    def remove(self, note_id: str) -> Changes:
        """Take away every name that a note adds."""
        return self.replace(note_id, ())

    def _count_words(self, key: str, step: int) -> None:
        parts = key.split(" ")
        for counter, added in ((self._vocabulary, set(parts)), (self._anchors, {_anchor(parts)})):
            for word in added:
                counter[word] += step
                if not counter[word]:
                    del counter[word]

    def warm_up(self) -> None:
        """Load spaCy and build the matcher now rather than at the first sentence (2 to 3 s)."""
        with self._lock:
            if self._matcher is None:
                self._matcher = _PhraseMatcher(self._book.keys())

    def find(
        self,
        text: str,
        *,
        exclude: str | None = None,
        heading: bool = False,
        question: bool = False,
    ) -> list[Mention]:
        """The names in a text, in order, none overlapping another.

        Args:
            text: a sentence of readable text.
            exclude: a node that is not to be found, so that a longer name of the note itself does
                not hide another's in it.
            heading: the text is in title case, so that capitals prove little.
            question: the text was typed by someone who asks, so that their absence proves little.
        """
        text = composed(text)
        if self._anchors.keys().isdisjoint(some_words(text)):
            return []
        found = words(text)
        with self._lock:
            self.warm_up()
            known = [word if word in self._vocabulary else _OTHER_WORD for word in found]
            spans = [
                (first, last, self._book.meaning(key))
                for key, first, last in self._matcher.find(known)
            ]
        if not spans:
            return []
        sentence = SentenceWords(text, heading=heading, question=question)
        mentions = (
            sentence.mention(first, last, meaning)
            for first, last, meaning in spans
            if meaning and meaning[0].target != exclude
        )
        return longest(mention for mention in mentions if mention is not None)

    def lookup(self, text: str, kind: str | None = None) -> Name | None:
        """What a name stands for, whatever its case; None if nothing, or more than one thing."""
        with self._lock:
            return self._book.lookup(text, kind)

    def knows(self, text: str) -> bool:
        """Whether the vault has the name at all, be it ambiguous."""
        with self._lock:
            return self._book.knows(text)

    def spelling(self, target: str) -> str | None:
        """How an entity without a note is written in most notes."""
        with self._lock:
            return self._book.spelling(target)


class _PhraseMatcher:
    """spaCy's matcher over lists of words; a name's key is its words with spaces between."""

    def __init__(self, keys: Iterable[str]) -> None:
        load_spacy()
        from spacy.matcher import PhraseMatcher
        from spacy.tokens import Doc
        from spacy.vocab import Vocab

        self._vocab = Vocab()
        self._doc = Doc
        self._matcher = PhraseMatcher(self._vocab, attr="ORTH")
        self.update(keys, ())

    def update(self, come: Iterable[str], gone: Iterable[str]) -> None:
        for key in gone:
            self._matcher.remove(key)
        for key in come:
            self._matcher.add(key, [self._doc(self._vocab, words=key.split(" "))])

    def find(self, found: list[str]) -> list[tuple[str, int, int]]:
        """Key, first and one past the last word of every name in the list."""
        strings = self._vocab.strings
        matches = self._matcher(self._doc(self._vocab, words=found))
        return [(strings[key], first, last) for key, first, last in matches]


def _anchor(parts: list[str]) -> str:
    """A word of a name that few sentences hold: the longest."""
    return max(parts, key=len)


class EntityPipeline:
    """spaCy's trained pipeline, for what notes name and nothing in the vault has a name for:
    people, organisations, places, dates, products, events and works. Methods may be called from
    any thread; one at a time is answered.
    """

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()

    def find(self, notes: Sequence[ParsedNote]) -> list[tuple[FoundEntity, ...]]:
        """What each note names, in the order of its text. Depends on nothing but that text, so it
        may be kept for as long as the note is not changed."""
        found: list[list[tuple[FoundEntity, bool]]] = [[] for _ in notes]
        passages = [
            (passage.text, (number, passage))
            for number, note in enumerate(notes)
            for passage in passages_of(note)
        ]
        # The zone lets go of the words met on the way, which the vocabulary would keep for good.
        with self._lock, self._pipeline.memory_zone():
            docs = self._pipeline.pipe(passages, as_tuples=True, batch_size=BATCH)
            for doc, (number, passage) in docs:
                for span in doc.ents:
                    entity = passage.entity(span.start_char, span.end_char, span.label_)
                    if entity is not None:
                        found[number].append(entity)
        return [settled(note, each) for note, each in zip(notes, found, strict=True)]


def open_entity_pipeline() -> EntityPipeline | None:
    """The trained pipeline, or None where the extra ``memvault[ner]`` is not installed; takes
    about 3 s."""
    pipeline = load_trained_pipeline()
    return None if pipeline is None else EntityPipeline(pipeline)
