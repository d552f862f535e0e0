"""The meaning of a question's words in one vault: its names and its kinds of notes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from memvault.model.graph import NodeKind
from memvault.search.relations.array_graph import ArrayGraph, Flags
from memvault.search.relations.question import Question, Term
from memvault.search.relations.question_masking import NamedSpan
from memvault.text.name_matcher import NameMatcher
from memvault.text.names import KIND_OF_TYPE, NameRank
from memvault.text.phrase_vectors import PhraseVectors
from memvault.text.stems import stem

Floats32 = npt.NDArray[np.float32]
People = Callable[[Sequence[str]], list[bool]]

# Measured on vaults of several domains, as all weights of relation search.
KIND_COSINE = 0.5  # least cosine of a noun and the kind of note that it means
KIND_SPREAD = 0.08  # how fast other kinds lose weight relative to the meant one
WRONG_KIND = 0.1  # least weight of a kind that is not the named one
OTHER_KIND = 0.15  # least weight of a kind that is not the nearest one
MIN_PEOPLE_SHARE = 0.6  # share from which on a kind is people: the pipeline misses rare names
SAMPLE_SIZE = 15  # names of a kind that the pipeline checks


class PersonKinds:
    """Estimates which kinds of notes are people, by the names that a trained pipeline recognises.

    Each name is checked once.
    """

    def __init__(self, people: People) -> None:
        self._people = people
        self._is_person: dict[str, bool] = {}

    def share(self, kind: str, names: Iterable[str]) -> float:
        """The share of a kind's notes that are people; a majority counts as all."""
        if kind == NodeKind.NOTE:  # any note
            return 0.0
        if KIND_OF_TYPE.get(kind) is not None:
            return float(KIND_OF_TYPE[kind] == NodeKind.PERSON)
        sample = sorted(names, key=_sampling_key)[:SAMPLE_SIZE]
        unknown = [name for name in sample if name not in self._is_person]
        if unknown:
            self._is_person.update(zip(unknown, self._people(unknown), strict=True))
        share = sum(self._is_person[name] for name in sample) / max(1, len(sample))
        return 1.0 if share >= MIN_PEOPLE_SHARE else share


def _sampling_key(name: str) -> bytes:
    """Orders names so that the first stay the same, whatever names are added or removed."""
    return hashlib.blake2b(name.encode(), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class TermKinds:
    """The kinds of nodes that a term of a question may mean.

    Attributes:
        weights: for each kind, (n_kinds,) in [0, 1].
        named: whether the term's noun names a kind of note.
    """

    weights: Floats32
    named: bool


class Kinds:
    """The kinds of one vault at one moment.

    Args:
        words: of the kinds.
        has_notes: for each kind whether a note has it; no question asks for a kind of mere names.
        vectors: of the words, (n_kinds, dim), normalised.
        people: returns for each kind the share of its notes that are people; called for the first
            question about a person, because it needs the trained pipeline.
    """

    def __init__(
        self,
        words: Sequence[str],
        has_notes: Sequence[bool],
        vectors: Floats32,
        people: Callable[[], Sequence[float]],
    ) -> None:
        self._words = words
        self._has_notes = np.array(has_notes, np.bool_)
        self._vectors = vectors
        self._share_of_people = people

    @cached_property
    def _people(self) -> Floats32:
        is_person = [word == NodeKind.PERSON for word in self._words]
        return np.maximum(np.array(self._share_of_people(), np.float32), is_person)

    def named_by(self, noun: str) -> npt.NDArray[np.bool_]:
        """Which kinds a noun names: by their own word, or by another word for the same.

        A *firm* is a company; but a city is no venue, though both are places.
        """
        kind, root = KIND_OF_TYPE.get(noun), stem(noun)
        is_named = np.array([word == noun or stem(word) == root for word in self._words], np.bool_)
        if not (is_named & self._has_notes).any() and kind is not None:
            synonyms = [
                KIND_OF_TYPE.get(word) == kind and (kind != NodeKind.PLACE or kind in (noun, word))
                for word in self._words
            ]
            is_named |= np.array(synonyms, np.bool_)
        return is_named

    def needs_vector(self, term: Term) -> bool:
        """Whether a noun must be compared with the kinds in meaning."""
        needs_none = term.named or term.is_question_word or term.person
        return not needs_none and not (self.named_by(term.text) & self._has_notes).any()

    def of_term(self, term: Term, vector: Floats32 | None) -> TermKinds:
        """The kinds that a term may mean.

        Args:
            vector: of the term's noun; None if only its word decides.
        """
        any_kind = TermKinds(np.ones(len(self._words), np.float32), named=False)
        if term.named or term.is_question_word:
            return any_kind
        if term.person:
            if self._people.max(initial=0.0) <= 0.5:
                return any_kind
            return TermKinds(np.maximum(self._people, OTHER_KIND), named=True)
        is_named = self.named_by(term.text)
        if (is_named & self._has_notes).any():
            return TermKinds(np.where(is_named, 1.0, WRONG_KIND).astype(np.float32), named=True)
        if vector is None:
            return any_kind
        cosines = np.where(self._has_notes, self._vectors @ vector, -1.0)
        best_cosine = float(cosines.max(initial=-1.0))
        if best_cosine < KIND_COSINE:
            return any_kind
        weights = np.exp((cosines - best_cosine) / KIND_SPREAD)
        return TermKinds(np.maximum(weights, OTHER_KIND).astype(np.float32), named=True)

    def nearness(self, vector: Floats32) -> Floats32:
        """How near each kind's word is in meaning, (n_kinds,)."""
        cosines: Floats32 = self._vectors @ vector
        return cosines


class Lexicon:
    """The names and kinds of one graph; replaced, cheaply, whenever the graph changes."""

    def __init__(
        self, graph: ArrayGraph, names: NameMatcher, people: PersonKinds, vectors: PhraseVectors
    ) -> None:
        self.graph = graph
        self._names = names
        self._vectors = vectors
        names_of_kind: list[list[str]] = [[] for _ in graph.kinds]
        for node in np.flatnonzero(graph.has_note).tolist():
            names_of_kind[graph.kind_of[node]].append(graph.names[node])
        vector_of = vectors.of(graph.kinds)
        named_kinds = list(zip(graph.kinds, names_of_kind, strict=True))
        self.kinds = Kinds(
            graph.kinds,
            [bool(members) for members in names_of_kind],
            np.stack([vector_of[word] for word in graph.kinds]),
            lambda: [people.share(kind, members) for kind, members in named_kinds],
        )
        self._kind_stems = {
            stem(word) for word, members in named_kinds if members and word != NodeKind.NOTE
        }
        self._relation_stems = {stem(name) for name in graph.relation_names if name.isalpha()}

    def known_names(self, text: str) -> list[NamedSpan]:
        """The names of the vault in a question, except everyday words.

        These are tags, words for kinds of notes, and single words behind labels
        (``status:: Done``) that the question has in lower case.
        """
        names = []
        for mention in self._names.find(text, question=True):
            word, is_value = mention.text, mention.name.rank is NameRank.VALUE
            is_lower_word = word.islower() and " " not in word
            is_everyday = is_lower_word and (is_value or stem(word) in self._kind_stems)
            if mention.name.kind != NodeKind.TAG and not is_everyday:
                names.append(NamedSpan(mention.start, mention.end, (mention.name.target,)))
        return names

    def names_relation(self, noun: str) -> bool:
        """Whether people gave a relation this name (*skipper*)."""
        return stem(noun) in self._relation_stems

    def open_nouns(self, question: Question) -> list[str]:
        """The nouns of a question that may mean a kind of note by another word."""
        return [
            term.text
            for term in question.terms
            if self.kinds.needs_vector(term) and not self.names_relation(term.text)
        ]

    def kinds_in(self, question: Question) -> tuple[list[TermKinds], list[bool]]:
        """For each term the kinds that it may mean, and whether its noun alone names a kind.

        A noun that names a relation (*the skipper*) names no kind, even if one is similar.
        """
        vector_of = self._vectors.of(self.open_nouns(question))
        alone = [self.kinds.of_term(term, vector_of.get(term.text)) for term in question.terms]
        in_question = []
        has_kind = []
        for k, (term, kinds) in enumerate(zip(question.terms, alone, strict=True)):
            is_role = any(_is_of(relation.words) for relation in question.below(k))
            is_guess = is_role and self.kinds.needs_vector(term)
            in_question.append(self.kinds.of_term(term, None) if is_guess else kinds)
            has_kind.append(term.person or kinds.named)
        return in_question, has_kind

    def usable(self, project: str | None) -> Flags:
        """Which nodes a question asked in a project may see."""
        graph = self.graph
        if project is None:
            return np.ones(len(graph.node_ids), np.bool_)
        number_of = {name: number for number, name in enumerate(graph.projects)}
        number = number_of.get(project.casefold(), -1)
        usable: Flags = (graph.project == -1) | (graph.project == number)
        return usable


def _is_of(words: str) -> bool:
    """*the lead of X*: the noun is a role."""
    return words.split()[:1] in ([], ["of"])
