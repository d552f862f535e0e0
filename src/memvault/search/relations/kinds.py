"""Kinds of notes, and which of them a noun of a question means."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.search.relations.question import Thing, stem
from memvault.search.relations.settings import RoadSettings
from memvault.text.names import KIND_OF_TYPE, kind_of

Floats = npt.NDArray[np.float32]


People = Callable[[Sequence[str]], list[bool]]


MOSTLY = 0.6  # share from which on a kind is people: the pipeline misses rare names


SAMPLE = 15  # names of a kind that are looked at to tell whether they are people's


_SHARED_FOLDERS = frozenset(("permanent", "projects", "sessions", "exemplars", "inbox", "notes"))


def kind_word(memory: Memory) -> str:
    """The person's own word for what a note is about: its type, else the folder that holds its
    like, in the singular, else ``note``."""
    kind = memory.type.strip().lower()
    if kind and kind != NodeKind.NOTE:
        return kind
    if kind_of(memory) != NodeKind.NOTE:
        return kind_of(memory)
    folders = memory.path.lower().split("/")[:-1]
    if folders and folders[-1][:1].isalpha() and folders[-1] not in _SHARED_FOLDERS:
        own_project = memory.project is not None and folders[-1] == memory.project.lower()
        return str(NodeKind.NOTE) if own_project else singular(folders[-1])
    return str(NodeKind.NOTE)


def singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


class PersonKinds:
    """How far the notes of a kind are people: the share of their names that a trained pipeline
    takes for a person's, all of it where that is most. Each name is looked at once."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._is_person: dict[str, bool] = {}

    def share(self, kind: str, names: Iterable[str]) -> float:
        if kind == NodeKind.NOTE:  # says nothing
            return 0.0
        if KIND_OF_TYPE.get(kind) is not None:
            return float(KIND_OF_TYPE[kind] == NodeKind.PERSON)
        sample = sorted(names, key=_lot)[:SAMPLE]
        unknown = [name for name in sample if name not in self._is_person]
        if unknown:
            self._is_person.update(zip(unknown, self._people(unknown), strict=True))
        share = sum(self._is_person[name] for name in sample) / max(1, len(sample))
        return 1.0 if share >= MOSTLY else share


def _lot(name: str) -> bytes:
    """Draws the same names whatever else comes and goes."""
    return hashlib.blake2b(name.encode(), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class KindReading:
    """What kinds of nodes a thing of a question may be.

    Attributes:
        weights: for each kind, (n_kinds,) in [0, 1].
        named: whether the thing's noun says the kind of note that is meant.
    """

    weights: Floats
    named: bool


class Kinds:
    """The kinds of one vault at one moment.

    Args:
        words: of the kinds.
        noted: for each, whether any note is of it; a kind of mere names is never asked for.
        vectors: of the words, (n_kinds, dim), normalised.
        people: for each, how far its notes are people, in [0, 1].
    """

    def __init__(
        self, words: Sequence[str], noted: Sequence[bool], vectors: Floats, people: Sequence[float]
    ) -> None:
        self._words = words
        self._noted = np.array(noted, np.bool_)
        self._vectors = vectors
        self._people = np.maximum(
            np.array(people, np.float32), [word == NodeKind.PERSON for word in words]
        )

    def same(self, noun: str) -> npt.NDArray[np.bool_]:
        """Which kinds a noun names: by their own word, or by another word for the same (*firm* for
        a company; but a city is no venue, though both are places)."""
        meant, root = KIND_OF_TYPE.get(noun), stem(noun)
        same = np.array([word == noun or stem(word) == root for word in self._words], np.bool_)
        if not (same & self._noted).any() and meant is not None:
            alike = [
                KIND_OF_TYPE.get(word) == meant
                and (meant != NodeKind.PLACE or meant in (noun, word))
                for word in self._words
            ]
            same |= np.array(alike, np.bool_)
        return same

    def needs_vector(self, thing: Thing) -> bool:
        """Whether a noun must be compared with the kinds in meaning."""
        free = thing.named or thing.is_question_word or thing.person
        return not free and not (self.same(thing.text) & self._noted).any()

    def read(self, thing: Thing, settings: RoadSettings, vector: Floats | None) -> KindReading:
        """
        Args:
            vector: of the thing's noun; None if it says a kind only by its own word.
        """
        any_kind = KindReading(np.ones(len(self._words), np.float32), False)
        if thing.named or thing.is_question_word:
            return any_kind
        if thing.person:
            if self._people.max(initial=0.0) <= 0.5:
                return any_kind
            return KindReading(np.maximum(self._people, settings.other_kind), True)
        same = self.same(thing.text)
        if (same & self._noted).any():
            return KindReading(np.where(same, 1.0, settings.wrong_kind).astype(np.float32), True)
        if vector is None:
            return any_kind
        cosines = np.where(self._noted, self._vectors @ vector, -1.0)
        best = float(cosines.max(initial=-1.0))
        if best < settings.kind_cosine:
            return any_kind
        near = np.exp((cosines - best) / settings.kind_spread)
        return KindReading(np.maximum(near, settings.other_kind).astype(np.float32), True)

    def nearness(self, vector: Floats) -> Floats:
        """How near each kind's word is in meaning, (n_kinds,)."""
        near: Floats = self._vectors @ vector
        return near
