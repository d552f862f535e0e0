"""Builds a note's part of the graph: the nodes that it names, with relations and sentences.

The relation is the label that the person gave (``Lead: [[Ada]]``, ``supersedes:: [[Old plan]]``, a
frontmatter key), for links and for unlinked names on that line. Without a label, it is the few
words in front of the name within its clause ("Proposed by [[Ada]]"), which also apply to the other
members of a list ("we met Ada and Emil").
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memvault.model.graph import EdgeOrigin, GraphEdge, GraphNode, NodeKind, NoteGraph
from memvault.model.memory import Memory
from memvault.model.note import Link, LinkStyle, ParsedNote
from memvault.text.entities import FoundEntity
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
from memvault.text.statements import (
    Item,
    Statement,
    link_span,
    located_excerpt,
    relate,
    statements_of,
)
from memvault.vault.frontmatter.properties import CREATED_KEYS, UNDERSTOOD, key_of
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
NOT_FIELDS = UNDERSTOOD.union(
    CREATED_KEYS, ("title", "cssclass", "cssclasses", "publish", "permalink")
)


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
    reader = _Reader(memory, links, memories, names)
    statements = [(s, reader.items(s)) for s in statements_of(note, memory.title)]
    statements += reader.frontmatter(note)
    statements += reader.tags(note)
    statements += reader.project()
    return NoteGraph(own_node(memory), *_edges(memory.id, statements))


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
    statements: dict[str, Statement] = {}
    guesses: dict[str, list[Item]] = {}
    counts: Counter[str] = Counter()
    for entity in entities:
        counts[entity.id] += 1
        if names.knows(entity.name) or counts[entity.id] > MAX_ENTITY_EDGES:
            continue
        statement = statements.setdefault(entity.sentence, Statement(entity.sentence, entity.line))
        if (
            entity.relation
            and entity.relation not in names_found
            and not names.knows(entity.relation)
        ):
            statement.fields = [(0, len(entity.sentence), entity.relation)]
        node = GraphNode(entity.id, entity.kind, entity.name)
        item = Item(node.id, node, "", EdgeOrigin.ENTITY, ENTITY_WEIGHT, entity.start, entity.end)
        guesses.setdefault(entity.sentence, []).append(item)
    statements_with_guesses = []
    for text, items in guesses.items():
        mentions = [_mentioned(m, names) for m in names.find(text, exclude=graph.node.id)]
        guessed = [i for i in items if all(i.end <= m.start or m.end <= i.start for m in mentions)]
        relate(statements[text], mentions + guessed)
        statements_with_guesses.append((statements[text], guessed))
    edges, nodes = _edges(graph.node.id, statements_with_guesses)
    return NoteGraph(graph.node, graph.edges + edges, graph.entities + nodes)


class _Reader:
    """Reads a note's statements, using the names and links of the whole vault."""

    def __init__(
        self, memory: Memory, links: LinkIndex, memories: Mapping[str, Memory], names: NameMatcher
    ) -> None:
        self._memory = memory
        self._links = links
        self._memories = memories
        self._names = names

    def items(self, statement: Statement) -> list[Item]:
        """The nodes that a sentence links or names, each with its relation."""
        items: list[Item] = []
        previous_end = 0
        for link in statement.links:
            item = self._linked(link)
            if item is not None:
                item.start, item.end = link_span(statement, link, previous_end)
                previous_end = max(previous_end, item.end)
                items.append(item)
        linked = sorted((item.start, item.end) for item in items)  # none overlaps another
        for mention in self._names.find(
            statement.text, exclude=self._memory.id, heading=statement.heading
        ):
            # Of the links that start before the mention's end, only the last can overlap it.
            index = bisect_left(linked, (mention.end, 0)) - 1
            if index < 0 or linked[index][1] <= mention.start:
                item = _mentioned(mention, self._names)
                item.certain = item.certain or statement.is_value(item.start, item.end)
                items.append(item)
        relate(statement, items)
        return items

    def _linked(self, link: Link) -> Item | None:
        origin, weight = EdgeOrigin.LINK, LINK_WEIGHT
        if link.style is LinkStyle.EMBED:
            origin, weight = EdgeOrigin.EMBED, EMBED_WEIGHT
        elif link.style is LinkStyle.FRONTMATTER:
            origin = EdgeOrigin.FRONTMATTER
        elif link.relation:
            origin = EdgeOrigin.FIELD
        path = self._links.resolve(link.target, self._memory.path) if link.target else None
        memory = self._memories.get(path) if path is not None else None
        if memory is not None:
            return Item(memory.id, None, link.relation or "", origin, weight)
        concept = concept_of(link)
        if concept is None:
            return None
        id, name = concept
        node = GraphNode(id, NodeKind.CONCEPT, self._names.spelling(id) or name)
        return Item(id, node, link.relation or "", origin, weight)

    def frontmatter(self, note: ParsedNote) -> Iterator[tuple[Statement, list[Item]]]:
        """Links and names in the frontmatter; the key is the relation."""
        for link in note.links:
            if link.style is LinkStyle.FRONTMATTER:
                item = self._linked(link)
                if item is not None:
                    statement = Statement(link.sentence, link.line)
                    item.start, item.end = link_span(statement, link, 0)
                    yield statement, [item]
        for key, value in note.frontmatter.items():
            if key_of(str(key)) not in NOT_FIELDS:
                yield from self._field(str(key), value)

    def _field(self, key: str, value: Any) -> Iterator[tuple[Statement, list[Item]]]:
        kind = KIND_OF_FIELD.get(key.lower())
        for text in field_values(value):
            name = self._name_in_value(text, kind)
            if name is not None:
                item = _item(name, self._names, EdgeOrigin.FRONTMATTER, FIELD_WEIGHT)
                item.relation = key
                yield _valued(key, text, item)

    def _name_in_value(self, text: str, kind: str | None) -> Name | None:
        """The name in a frontmatter value: of the kind that its field implies, else only if it is
        spelled like a name of the vault."""
        if kind is not None:
            entity = Name(text, named_entity(kind, text), kind, None, NameRank.NAMED)
            return self._names.lookup(text) or self._names.lookup(text, kind) or entity
        mentions_of_whole = [
            m for m in self._names.find(text) if m.end - m.start == len(text) and m.certain
        ]
        return mentions_of_whole[0].name if mentions_of_whole else None

    def tags(self, note: ParsedNote) -> Iterator[tuple[Statement, list[Item]]]:
        for tag in note.tags:
            statement = Statement(tag.sentence or f"tags: {tag.name}", tag.line)
            for id, level in tag_levels(tag.name):
                node = GraphNode(id, NodeKind.TAG, self._names.spelling(id) or level)
                yield statement, [Item(id, node, TAGGED, EdgeOrigin.TAG, TAG_WEIGHT)]

    def project(self) -> Iterator[tuple[Statement, list[Item]]]:
        """The project that the note belongs to."""
        project = self._memory.project
        if project:
            name = self._names.lookup(project, NodeKind.PROJECT) or Name(
                project, project_entity(project), NodeKind.PROJECT, None, NameRank.IDENTIFIER
            )
            item = _item(name, self._names, EdgeOrigin.FRONTMATTER, PROJECT_WEIGHT)
            item.relation = PROJECT
            yield _valued(PROJECT, project, item)


def _valued(key: str, text: str, item: Item) -> tuple[Statement, list[Item]]:
    """A frontmatter field as the sentence ``key: value``."""
    statement = Statement(f"{key}: {text}", 1)
    item.start, item.end = len(key) + 2, len(statement.text)
    return statement, [item]


def _mentioned(mention: Mention, names: NameMatcher) -> Item:
    item = _item(mention.name, names, EdgeOrigin.MENTION, MENTION_WEIGHT)
    item.start, item.end, item.certain = mention.start, mention.end, mention.certain
    return item


def _item(name: Name, names: NameMatcher, origin: EdgeOrigin, weight: float) -> Item:
    node = None
    if name.path is None:
        node = GraphNode(name.target, name.kind, names.spelling(name.target) or name.text)
    return Item(
        name.target, node, "", origin, GUESSED_WEIGHT if name.rank in _GUESSED_RANKS else weight
    )


def _edges(
    source: str, statements: Iterable[tuple[Statement, list[Item]]]
) -> tuple[tuple[GraphEdge, ...], tuple[GraphNode, ...]]:
    """Edges in the order of the text, and their targets that have no note.

    There is one edge per target, relation and sentence; a target that a sentence links is not also
    mentioned by it. An uncertain mention counts only if the note has a certain one of its target.
    """
    statements = list(statements)
    certain = {item.target for _, items in statements for item in items if item.certain}
    known_edges: set[tuple[str, str, str]] = set()
    counts: Counter[tuple[str, str, EdgeOrigin]] = Counter()
    edges: list[GraphEdge] = []
    entities: dict[str, GraphNode] = {}
    for statement, items in statements:
        deliberate_targets = {i.target for i in items if i.origin is not EdgeOrigin.MENTION}
        for item in items:
            is_repeated = item.origin is EdgeOrigin.MENTION and item.target in deliberate_targets
            if item.target == source or item.target not in certain or is_repeated:
                continue
            relation = item.relation or _PLAIN_RELATION.get(item.origin, MENTIONS)
            sentence, start, end = located_excerpt(statement.text, item.start, item.end)
            if (item.target, relation, sentence) in known_edges:
                continue
            known_edges.add((item.target, relation, sentence))
            ordinal = counts[item.target, relation, item.origin]
            counts[item.target, relation, item.origin] += 1
            weight = item.weight
            if item.origin is EdgeOrigin.FIELD and weight == MENTION_WEIGHT:
                weight = FIELD_WEIGHT
            edges.append(
                GraphEdge(
                    source,
                    item.target,
                    relation,
                    item.origin,
                    sentence,
                    statement.line,
                    ordinal,
                    weight,
                    start,
                    max(0, end - start),
                )
            )
            if item.node is not None:
                entities[item.node.id] = item.node
    return tuple(edges), tuple(entities.values())
