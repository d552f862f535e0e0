"""What the words of a question mean in one vault: its names, its kinds of notes, its roles."""

from __future__ import annotations

import re
from datetime import date

import numpy as np

from memvault.model.graph import NodeKind
from memvault.search.relations.edge_index import NO_DAY, Flags, StepGraph
from memvault.search.relations.edge_templates import literals
from memvault.search.relations.kinds import KindReading, Kinds, PersonKinds
from memvault.search.relations.question import PhraseVectors, Question, stem
from memvault.search.relations.question_masking import NamedSpan, Vocabulary
from memvault.search.relations.settings import RoadSettings
from memvault.text.entities import NameMatcher
from memvault.text.words import composed, name_key

_ROLE = re.compile(r"[a-z]+(?: [a-z]+)* of (?:the )?[a-z]+")  # man of the match


class Lexicon:
    """Made anew whenever the graph changes; cheap but for names of new kinds."""

    def __init__(
        self, graph: StepGraph, names: NameMatcher, people: PersonKinds, vectors: PhraseVectors
    ) -> None:
        self.graph = graph
        self._names = names
        self._vectors = vectors
        of_kind: list[list[str]] = [[] for _ in graph.kinds]
        for node in np.flatnonzero(graph.noted).tolist():
            of_kind[graph.kind_of[node]].append(graph.names[node])
        noted = [bool(members) for members in of_kind]
        found = vectors.of(graph.kinds)
        self.kinds = Kinds(
            graph.kinds,
            noted,
            np.stack([found[word] for word in graph.kinds]),
            [people.share(word, own) for word, own in zip(graph.kinds, of_kind, strict=True)],
        )
        words = [w for w, has in zip(graph.kinds, noted, strict=True) if has and w != NodeKind.NOTE]
        self._stems = {stem(word) for word in words}
        roles = {name for name in graph.relations if _ROLE.fullmatch(name)}
        self._relation_stems = {stem(name) for name in graph.relations if name.isalpha()}
        self.vocabulary = Vocabulary(self.find_names, words, roles, self.event_day)

    def known_names(self, text: str) -> list[NamedSpan]:
        """What a question names that the vault itself has a name for, but for its tags, which are
        everyday words, and words for kinds of notes."""
        found = []
        for mention in self._names.find(text, question=True):
            word = mention.text
            everyday = word.islower() and " " not in word and stem(word) in self._stems
            if mention.name.kind != NodeKind.TAG and not everyday:
                found.append(NamedSpan(mention.start, mention.end, (mention.name.target,)))
        return found

    def find_names(self, text: str) -> list[NamedSpan]:
        """The known names in a question, and those that only a trained pipeline found in notes."""
        found = self.known_names(text)
        text = composed(text)
        for start, end in literals(text):
            nodes = self.graph.named.get(name_key(text[start:end]))
            if nodes and all(end <= name.start or name.end <= start for name in found):
                ids = tuple(self.graph.node_ids[node] for node in nodes)
                found.append(NamedSpan(start, end, ids))
        return sorted(found, key=lambda name: name.start)

    def names_relation(self, noun: str) -> bool:
        """Whether people gave a relation this name (*skipper*)."""
        return stem(noun) in self._relation_stems

    def event_day(self, text: str) -> date | None:
        """The day of the one thing that a text is the name of, if it has a day."""
        bare = text.removeprefix("the ")
        name = self._names.lookup(text) or self._names.lookup(bare)
        node = self.graph.number_of.get(name.target) if name is not None else None
        if node is None or self.graph.day[node] == NO_DAY:
            return None
        return date.fromordinal(int(self.graph.day[node]))

    def kinds_in(
        self, question: Question, settings: RoadSettings
    ) -> tuple[list[KindReading], list[bool]]:
        """For each thing the kinds it may be of, and whether its noun alone says a kind.

        A noun that names a relation (*the skipper*) says no kind, however near in meaning one is.
        """
        open_nouns = [
            thing.text
            for thing in question.things
            if self.kinds.needs_vector(thing) and not self.names_relation(thing.text)
        ]
        found = self._vectors.of(open_nouns)
        alone = [self.kinds.read(t, settings, found.get(t.text)) for t in question.things]
        in_place = []
        for k, (thing, reading) in enumerate(zip(question.things, alone, strict=True)):
            role = any(_is_of(relation.words) for relation in question.below(k))
            compared = role and self.kinds.needs_vector(thing)
            in_place.append(self.kinds.read(thing, settings, None) if compared else reading)
        return in_place, [t.person or r.named for t, r in zip(question.things, alone, strict=True)]

    def name_spans(self, sentence: str) -> list[tuple[int, int]]:
        """Where a sentence of a note names things of the vault."""
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
