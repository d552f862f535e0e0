"""The meaning of a question's words in one vault: its names and its kinds of notes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
import numpy.typing as npt

from memvault.model.graph import NodeKind
from memvault.search.relations.edge_templates import literals
from memvault.search.relations.question import Question, Term
from memvault.search.relations.question_masking import NamedSpan, Vocabulary
from memvault.search.relations.step_graph import NO_DAY, Flags, StepGraph
from memvault.text.entities import NameMatcher
from memvault.text.names import KIND_OF_TYPE, NameRank
from memvault.text.phrase_vectors import PhraseVectors
from memvault.text.stems import stem
from memvault.text.words import composed, name_key

Floats = npt.NDArray[np.float32]
People = Callable[[Sequence[str]], list[bool]]

# Measured on vaults of several domains, as all weights of relation search.
KIND_COSINE = 0.5  # least cosine of a noun and the kind of note that it means
KIND_SPREAD = 0.08  # how fast other kinds lose weight relative to the meant one
WRONG_KIND = 0.1  # least weight of a kind that is not the named one
OTHER_KIND = 0.15  # least weight of a kind that is not the nearest one
MOSTLY = 0.6  # share from which on a kind is people: the pipeline misses rare names
SAMPLE = 15  # names of a kind that the pipeline checks


class PersonKinds:
    """The share of a kind's notes that are people, by the names that a trained pipeline recognises.

    A majority counts as all. Each name is checked once.
    """

    def __init__(self, people: People) -> None:
        self._people = people
        self._is_person: dict[str, bool] = {}

    def share(self, kind: str, names: Iterable[str]) -> float:
        if kind == NodeKind.NOTE:  # any note
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
    """Sort key that samples the same names whatever other names are added or removed."""
    return hashlib.blake2b(name.encode(), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class KindReading:
    """The kinds of nodes that a term of a question may mean.

    Attributes:
        weights: for each kind, (n_kinds,) in [0, 1].
        named: whether the term's noun names a kind of note.
    """

    weights: Floats
    named: bool


class Kinds:
    """The kinds of one vault at one moment.

    Args:
        words: of the kinds.
        noted: for each kind whether a note has it; questions never ask for a kind of mere names.
        vectors: of the words, (n_kinds, dim), normalised.
        people: returns for each kind the share of its notes that are people; called for the first
            question about a person, because it needs the trained pipeline.
    """

    def __init__(
        self,
        words: Sequence[str],
        noted: Sequence[bool],
        vectors: Floats,
        people: Callable[[], Sequence[float]],
    ) -> None:
        self._words = words
        self._noted = np.array(noted, np.bool_)
        self._vectors = vectors
        self._share_of_people = people

    @cached_property
    def _people(self) -> Floats:
        known = [word == NodeKind.PERSON for word in self._words]
        return np.maximum(np.array(self._share_of_people(), np.float32), known)

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

    def needs_vector(self, term: Term) -> bool:
        """Whether a noun must be compared with the kinds in meaning."""
        free = term.named or term.is_question_word or term.person
        return not free and not (self.same(term.text) & self._noted).any()

    def read(self, term: Term, vector: Floats | None) -> KindReading:
        """The kinds that a term may mean.

        Args:
            vector: of the term's noun; None if only its word decides.
        """
        any_kind = KindReading(np.ones(len(self._words), np.float32), False)
        if term.named or term.is_question_word:
            return any_kind
        if term.person:
            if self._people.max(initial=0.0) <= 0.5:
                return any_kind
            return KindReading(np.maximum(self._people, OTHER_KIND), True)
        same = self.same(term.text)
        if (same & self._noted).any():
            return KindReading(np.where(same, 1.0, WRONG_KIND).astype(np.float32), True)
        if vector is None:
            return any_kind
        cosines = np.where(self._noted, self._vectors @ vector, -1.0)
        best = float(cosines.max(initial=-1.0))
        if best < KIND_COSINE:
            return any_kind
        near = np.exp((cosines - best) / KIND_SPREAD)
        return KindReading(np.maximum(near, OTHER_KIND).astype(np.float32), True)

    def nearness(self, vector: Floats) -> Floats:
        """How near each kind's word is in meaning, (n_kinds,)."""
        near: Floats = self._vectors @ vector
        return near


class Lexicon:
    """Names and kinds of one graph; made again, cheaply, whenever the graph changes."""

    def __init__(
        self, graph: StepGraph, names: NameMatcher, people: PersonKinds, vectors: PhraseVectors
    ) -> None:
        self.graph = graph
        self._names = names
        self._vectors = vectors
        of_kind: list[list[str]] = [[] for _ in graph.kinds]
        for node in np.flatnonzero(graph.has_note).tolist():
            of_kind[graph.kind_of[node]].append(graph.names[node])
        noted = [bool(members) for members in of_kind]
        found = vectors.of(graph.kinds)
        self.kinds = Kinds(
            graph.kinds,
            noted,
            np.stack([found[word] for word in graph.kinds]),
            lambda: [people.share(*each) for each in zip(graph.kinds, of_kind, strict=True)],
        )
        words = [w for w, has in zip(graph.kinds, noted, strict=True) if has and w != NodeKind.NOTE]
        self._stems = {stem(word) for word in words}
        self._relation_stems = {stem(name) for name in graph.relation_names if name.isalpha()}
        self.vocabulary = Vocabulary(self.find_names, self.event_day)

    def known_names(self, text: str) -> list[NamedSpan]:
        """Names of the vault in a question, except everyday words: tags, words for kinds of notes,
        and single words behind labels (``status:: Done``) that the question has in lower case."""
        found = []
        for mention in self._names.find(text, question=True):
            word, is_value = mention.text, mention.name.rank is NameRank.VALUE
            one_word = word.islower() and " " not in word
            everyday = one_word and (is_value or stem(word) in self._stems)
            if mention.name.kind != NodeKind.TAG and not everyday:
                found.append(NamedSpan(mention.start, mention.end, (mention.name.target,)))
        return found

    def find_names(self, text: str) -> list[NamedSpan]:
        """The known names in a question, and those that only a trained pipeline found in notes."""
        found = self.known_names(text)
        text = composed(text)
        for start, end in literals(text):
            nodes = self.graph.entities_of_name.get(name_key(text[start:end]))
            if nodes and all(end <= name.start or name.end <= start for name in found):
                ids = tuple(self.graph.node_ids[node] for node in nodes)
                found.append(NamedSpan(start, end, ids))
        return sorted(found, key=lambda name: name.start)

    def names_relation(self, noun: str) -> bool:
        """Whether people gave a relation this name (*skipper*)."""
        return stem(noun) in self._relation_stems

    def event_day(self, text: str) -> date | None:
        """The day of the node that a text names, if it is unambiguous and has a day."""
        bare = text.removeprefix("the ")
        name = self._names.lookup(text) or self._names.lookup(bare)
        node = self.graph.number_of.get(name.target) if name is not None else None
        if node is None or self.graph.day[node] == NO_DAY:
            return None
        return date.fromordinal(int(self.graph.day[node]))

    def open_nouns(self, question: Question) -> list[str]:
        """The nouns of a question that may mean a kind of note by another word."""
        return [
            term.text
            for term in question.terms
            if self.kinds.needs_vector(term) and not self.names_relation(term.text)
        ]

    def kinds_in(self, question: Question) -> tuple[list[KindReading], list[bool]]:
        """For each term the kinds that it may mean, and whether its noun alone names a kind.

        A noun that names a relation (*the skipper*) names no kind, even if one is similar.
        """
        found = self._vectors.of(self.open_nouns(question))
        alone = [self.kinds.read(t, found.get(t.text)) for t in question.terms]
        in_place = []
        for k, (term, reading) in enumerate(zip(question.terms, alone, strict=True)):
            role = any(_is_of(relation.words) for relation in question.below(k))
            compared = role and self.kinds.needs_vector(term)
            in_place.append(self.kinds.read(term, None) if compared else reading)
        return in_place, [t.person or r.named for t, r in zip(question.terms, alone, strict=True)]

    def name_spans(self, sentence: str) -> list[tuple[int, int]]:
        """Spans of the vault's names in a sentence of a note."""
        return [(mention.start, mention.end) for mention in self._names.find(sentence)]

    def usable(self, project: str | None) -> Flags:
        """Which nodes a question asked in a project may see."""
        graph = self.graph
        if project is None:
            return np.ones(len(graph.node_ids), np.bool_)
        known = {name: number for number, name in enumerate(graph.projects)}
        own = known.get(project.casefold(), -1)
        usable: Flags = (graph.project == -1) | (graph.project == own)
        return usable


def _is_of(words: str) -> bool:
    """*the lead of X*: the noun is a role."""
    return words.split()[:1] in ([], ["of"])
