"""Builds a note's part of the graph: the nodes that it names, with relations and sentences.

The relation is the label that the person gave (``Lead: [[Ada]]``, ``supersedes:: [[Old plan]]``, a
frontmatter key), for links and for unlinked names on that line. Without a label, it is the few
words in front of the name within its clause ("Proposed by [[Ada]]"), which also apply to the other
members of a list ("we met Ada and Emil").
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memvault.model.graph import EdgeOrigin, GraphEdge, GraphNode, NodeKind, NoteGraph
from memvault.model.memory import Memory
from memvault.model.note import Link, LinkStyle, ParsedNote
from memvault.text.entities import FoundEntity
from memvault.text.marked_sentences import (
    MarkedSentence,
    NamedNode,
    link_span,
    located_excerpt,
    marked_sentences,
    relate,
)
from memvault.text.mentions import Mention
from memvault.text.name_matcher import NameMatcher
from memvault.text.names import (
    KIND_OF_FIELD,
    Name,
    NameRank,
    concept_of,
    field_values,
    kind_of,
    named_entity,
    project_entity,
    tag_levels,
)
from memvault.vault.frontmatter.properties import CREATED_KEYS, UNDERSTOOD, property_key
from memvault.vault.links import LinkIndex

# Weights reflect how certain and deliberate an edge is: a link is deliberate, a name on a labelled
# line nearly so, a name in running text is a mention, an entity of the trained pipeline a guess.
LINK_WEIGHT = 1.0
EMBED_WEIGHT = 0.9
FIELD_WEIGHT = 0.8  # an unlinked name with a label
PROJECT_WEIGHT = 0.6
MENTION_WEIGHT = 0.5
TAG_WEIGHT = 0.3
GUESSED_WEIGHT = 0.3  # a single given name, a plural, a tag's word
ENTITY_WEIGHT = 0.25

# A chat names its speakers in every line; further sentences add nothing.
MAX_ENTITY_EDGES = 5

LINKS_TO = "links to"
EMBEDS = "embeds"
MENTIONS = "mentions"
TAGGED = "tagged"
PROJECT = "project"

_PLAIN_RELATION = {EdgeOrigin.LINK: LINKS_TO, EdgeOrigin.EMBED: EMBEDS}
_GUESSED_RANKS = (NameRank.SINGLE, NameRank.GIVEN, NameRank.PLURAL, NameRank.TAG)
# How Obsidian and its plugins show a note is nothing that the note says.
_OF_ITS_VIEW = frozenset({
    "cssclass", "cssclasses", "publish", "permalink", "kanban-plugin", "excalidraw-plugin",
    "banner", "banner_x", "banner_y", "banner_icon", "sticker",
})  # fmt: skip
NOT_FIELDS = UNDERSTOOD.union(CREATED_KEYS, ("title",), _OF_ITS_VIEW)


def note_graph(
    note: ParsedNote,
    memory: Memory,
    links: LinkIndex,
    memories: Mapping[str, Memory],
    names: NameMatcher,
) -> NoteGraph:
    """The edges that a note states, without those of the trained pipeline.

    Args:
        links: resolves link targets to paths.
        memories: of every note, by path.
        names: of the whole vault.
    """
    reader = _RelationReader(memory, links, memories, names)
    sentences = [(s, reader.named_nodes(s)) for s in marked_sentences(note, memory.title)]
    sentences += reader.frontmatter(note)
    sentences += reader.tags(note)
    sentences += reader.project()
    return NoteGraph(own_node(memory), *_edges(memory.id, sentences))


def own_node(memory: Memory) -> GraphNode:
    """The node of a note."""
    day = memory.date.date().isoformat() if memory.date else None
    return GraphNode(memory.id, kind_of(memory), memory.title, memory.path, memory.project, day)


def with_entities(
    graph: NoteGraph, entities: Iterable[FoundEntity], names: NameMatcher
) -> NoteGraph:
    """Add the entities that the trained pipeline found in the note.

    Names of the vault are left out: rules find them, and if one is ambiguous, a guess would not be
    better.
    """
    entities = list(entities)
    names_found = {entity.name for entity in entities}
    sentences: dict[str, MarkedSentence] = {}
    guesses: dict[str, list[NamedNode]] = {}
    counts: Counter[str] = Counter()
    for entity in entities:
        counts[entity.id] += 1
        if names.knows(entity.name) or counts[entity.id] > MAX_ENTITY_EDGES:
            continue
        sentence = sentences.setdefault(
            entity.sentence, MarkedSentence(entity.sentence, entity.line)
        )
        if (
            entity.relation
            and entity.relation not in names_found
            and not names.knows(entity.relation)
        ):
            sentence.fields = [(0, len(entity.sentence), entity.relation)]
        node = GraphNode(entity.id, entity.kind, entity.name)
        named = NamedNode(
            node.id, node, "", EdgeOrigin.ENTITY, ENTITY_WEIGHT, entity.start, entity.end
        )
        guesses.setdefault(entity.sentence, []).append(named)
    sentences_with_guesses = []
    for text, named_nodes in guesses.items():
        mentions = [_mentioned(m, names) for m in names.find(text, exclude=graph.node.id)]
        guessed = [
            i for i in named_nodes if all(i.end <= m.start or m.end <= i.start for m in mentions)
        ]
        relate(sentences[text], mentions + guessed)
        sentences_with_guesses.append((sentences[text], guessed))
    edges, nodes = _edges(graph.node.id, sentences_with_guesses)
    return NoteGraph(graph.node, graph.edges + edges, graph.entities + nodes)


@dataclass(frozen=True, slots=True)
class _RelationReader:
    """Reads a note's sentences, using the names and links of the whole vault."""

    memory: Memory
    links: LinkIndex
    memories: Mapping[str, Memory]
    names: NameMatcher

    def named_nodes(self, sentence: MarkedSentence) -> list[NamedNode]:
        """The nodes that a sentence links or names, each with its relation."""
        named_nodes: list[NamedNode] = []
        previous_end = 0
        for link in sentence.links:
            named = self._linked(link)
            if named is not None:
                named.start, named.end = link_span(sentence, link, previous_end)
                previous_end = max(previous_end, named.end)
                named_nodes.append(named)
        linked = sorted((named.start, named.end) for named in named_nodes)  # none overlaps another
        for mention in self.names.find(
            sentence.text, exclude=self.memory.id, heading=sentence.heading
        ):
            # Of the links that start before the mention's end, only the last can overlap it.
            index = bisect_left(linked, (mention.end, 0)) - 1
            if index < 0 or linked[index][1] <= mention.start:
                named = _mentioned(mention, self.names)
                named.certain = named.certain or sentence.is_value(named.start, named.end)
                named_nodes.append(named)
        relate(sentence, named_nodes)
        return named_nodes

    def _linked(self, link: Link) -> NamedNode | None:
        origin, weight = EdgeOrigin.LINK, LINK_WEIGHT
        if link.style is LinkStyle.EMBED:
            origin, weight = EdgeOrigin.EMBED, EMBED_WEIGHT
        elif link.style is LinkStyle.FRONTMATTER:
            origin = EdgeOrigin.FRONTMATTER
        elif link.relation:
            origin = EdgeOrigin.FIELD
        path = self.links.resolve(link.target, self.memory.path) if link.target else None
        memory = self.memories.get(path) if path is not None else None
        if memory is not None:
            return NamedNode(memory.id, None, link.relation or "", origin, weight)
        concept = concept_of(link)
        if concept is None:
            return None
        id, name = concept
        node = GraphNode(id, NodeKind.CONCEPT, self.names.spelling(id) or name)
        return NamedNode(id, node, link.relation or "", origin, weight)

    def frontmatter(self, note: ParsedNote) -> Iterator[tuple[MarkedSentence, list[NamedNode]]]:
        """Links and names in the frontmatter; the key is the relation."""
        for link in note.links:
            if link.style is LinkStyle.FRONTMATTER:
                named = self._linked(link)
                if named is not None:
                    sentence = MarkedSentence(link.sentence, link.line)
                    named.start, named.end = link_span(sentence, link, 0)
                    yield sentence, [named]
        for key, value in note.frontmatter.items():
            if property_key(str(key)) not in NOT_FIELDS:
                yield from self._field(str(key), value)

    def _field(self, key: str, value: Any) -> Iterator[tuple[MarkedSentence, list[NamedNode]]]:
        kind = KIND_OF_FIELD.get(key.lower())
        for text in field_values(value):
            name = self._name_in_value(text, kind)
            if name is not None:
                named = _named_node(name, self.names, EdgeOrigin.FRONTMATTER, FIELD_WEIGHT)
                named.relation = key
                yield _valued(key, text, named)

    def _name_in_value(self, text: str, kind: str | None) -> Name | None:
        """The name in a frontmatter value: of the kind that its field implies, else only if it is
        spelled like a name of the vault."""
        if kind is not None:
            entity = Name(text, named_entity(kind, text), kind, None, NameRank.NAMED)
            return self.names.lookup(text) or self.names.lookup(text, kind) or entity
        mentions_of_whole = [
            m for m in self.names.find(text) if m.end - m.start == len(text) and m.certain
        ]
        return mentions_of_whole[0].name if mentions_of_whole else None

    def tags(self, note: ParsedNote) -> Iterator[tuple[MarkedSentence, list[NamedNode]]]:
        for tag in note.tags:
            sentence = MarkedSentence(tag.sentence or f"tags: {tag.name}", tag.line)
            for id, level in tag_levels(tag.name):
                node = GraphNode(id, NodeKind.TAG, self.names.spelling(id) or level)
                yield sentence, [NamedNode(id, node, TAGGED, EdgeOrigin.TAG, TAG_WEIGHT)]

    def project(self) -> Iterator[tuple[MarkedSentence, list[NamedNode]]]:
        """The project that the note belongs to."""
        project = self.memory.project
        if project:
            name = self.names.lookup(project, NodeKind.PROJECT) or Name(
                project, project_entity(project), NodeKind.PROJECT, None, NameRank.IDENTIFIER
            )
            named = _named_node(name, self.names, EdgeOrigin.FRONTMATTER, PROJECT_WEIGHT)
            named.relation = PROJECT
            yield _valued(PROJECT, project, named)


def _valued(key: str, text: str, named: NamedNode) -> tuple[MarkedSentence, list[NamedNode]]:
    """A frontmatter field as the sentence ``key: value``."""
    sentence = MarkedSentence(f"{key}: {text}", 1)
    named.start, named.end = len(key) + 2, len(sentence.text)
    return sentence, [named]


def _mentioned(mention: Mention, names: NameMatcher) -> NamedNode:
    named = _named_node(mention.name, names, EdgeOrigin.MENTION, MENTION_WEIGHT)
    named.start, named.end, named.certain = mention.start, mention.end, mention.certain
    return named


def _named_node(name: Name, names: NameMatcher, origin: EdgeOrigin, weight: float) -> NamedNode:
    node = None
    if name.path is None:
        node = GraphNode(name.target, name.kind, names.spelling(name.target) or name.text)
    return NamedNode(
        name.target, node, "", origin, GUESSED_WEIGHT if name.rank in _GUESSED_RANKS else weight
    )


def _edges(
    source: str, sentences: Iterable[tuple[MarkedSentence, list[NamedNode]]]
) -> tuple[tuple[GraphEdge, ...], tuple[GraphNode, ...]]:
    """Edges in the order of the text, and their targets that have no note.

    There is one edge per target, relation and sentence; a target that a sentence links is not also
    mentioned by it. An uncertain mention counts only if the note has a certain one of its target.
    """
    sentences = list(sentences)
    certain = {
        named.target for _, named_nodes in sentences for named in named_nodes if named.certain
    }
    counts: Counter[tuple[str, str, EdgeOrigin]] = Counter()
    edges: dict[tuple[str, str, str], GraphEdge] = {}
    entities: dict[str, GraphNode] = {}
    for sentence, named_nodes in sentences:
        for named in _once_per_sentence(named_nodes):
            if named.target == source or named.target not in certain:
                continue
            relation = named.relation or _PLAIN_RELATION.get(named.origin, MENTIONS)
            excerpt, start, end = located_excerpt(sentence.text, named.start, named.end)
            key = named.target, relation, excerpt
            if key in edges:
                continue
            stated = named.target, relation, named.origin
            ordinal = counts[stated]
            counts[stated] += 1
            place = start, max(0, end - start)
            edges[key] = GraphEdge(
                source, *stated, excerpt, sentence.line, ordinal, _weight(named), *place
            )
            if named.node is not None:
                entities[named.node.id] = named.node
    return tuple(edges.values()), tuple(entities.values())


def _once_per_sentence(named_nodes: Sequence[NamedNode]) -> list[NamedNode]:
    """The named nodes of a sentence, without mentions of what it also links."""
    linked = {named.target for named in named_nodes if named.origin is not EdgeOrigin.MENTION}
    return [
        named
        for named in named_nodes
        if named.origin is not EdgeOrigin.MENTION or named.target not in linked
    ]


def _weight(named: NamedNode) -> float:
    is_field = named.origin is EdgeOrigin.FIELD and named.weight == MENTION_WEIGHT
    return FIELD_WEIGHT if is_field else named.weight
