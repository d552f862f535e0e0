"""The sentences of a note, with the nodes that they name and the relations that they state."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from memvault.model.graph import EdgeOrigin, GraphNode, stated_relation
from memvault.model.note import InlineField, Link, LinkStyle, ParsedNote
from memvault.text.words import composed
from memvault.vault.markdown.labelled_sentences import is_label

MAX_SENTENCE_CHARS = 300
MAX_RELATION_WORDS = 4

_CLAUSE_END = re.compile(r"[.,;:!?()\[\]{}|\"“”«»…。，；：！？、\n–—]")
# Conjunctions of lists in common languages; ambiguous words ("of" in Dutch, "a" in Czech) are left
# out.
_LIST_GLUE = re.compile(
    r"(?:[\s,;&/+、，]|\b(?:and|or|und|oder|sowie|et|ou|y|e|och|eller|og|en|ja|plus)\b)*",
    re.IGNORECASE,
)
_WORDS_WITHOUT_RELATION = frozenset(
    ("the", "a", "an", "this", "that", "these", "those", "my", "our", "your", "his", "her", "its",
     "their", "some", "any", "and", "or", "but", "so", "also", "then", "'s", "’s", "s")
)  # fmt: skip


@dataclass(slots=True)
class NamedNode:
    """A node named in a sentence.

    Attributes:
        node: the node, if it has no note.
        relation: its label, else the words in front of it, else empty.
        start, end: offsets into the sentence; -1 if its text is not shown.
        certain: False if its only evidence is a capital that grammar requires.
    """

    target: str
    node: GraphNode | None
    relation: str
    origin: EdgeOrigin
    weight: float
    start: int = -1
    end: int = -1
    certain: bool = True


@dataclass(slots=True)
class MarkedSentence:
    """A sentence in NFC, with its links and labelled spans.

    ``fields`` are (start, end, label); ``key`` is the span of the label in front (``Lead``).
    """

    text: str
    line: int
    heading: bool = False
    links: list[Link] = field(default_factory=list)
    fields: list[tuple[int, int, str]] = field(default_factory=list)
    key: tuple[int, int] | None = None

    def label_at(self, position: int) -> str:
        """The label of the narrowest labelled span at this position; empty if there is none."""
        spans = [f for f in self.fields if f[0] <= position < f[1]]
        return min(spans, key=lambda f: f[1] - f[0])[2] if spans else ""

    def is_value(self, start: int, end: int) -> bool:
        """Whether the span is the whole value of a field or a whole member of its list, where
        grammar requires no capital."""
        word = self.text[start:end]
        return any(
            word in (member.strip(" :|.") for member in re.split(r"[,;]", self.text[first:last]))
            for first, last, _ in self.fields
            if first <= start and end <= last
        )


def marked_sentences(note: ParsedNote, title: str) -> list[MarkedSentence]:
    """A note's title, headings and sentences, each text once, with their links and fields."""
    by_text: dict[str, MarkedSentence] = {}

    def marked(text: str, line: int, heading: bool = False) -> MarkedSentence:
        if text not in by_text:
            by_text[text] = MarkedSentence(composed(text), line, heading)
        return by_text[text]

    if all(heading.text != title for heading in note.headings):
        marked(title, 1, heading=True)
    for heading in note.headings:
        marked(heading.text, heading.line, heading=True)
    for block in note.blocks:
        for sentence in block.sentences:
            marked(sentence.text, sentence.line)
    for link in note.links:
        if link.style is not LinkStyle.FRONTMATTER:
            marked(link.sentence, link.line).links.append(link)
    for inline_field in note.fields:
        if inline_field.sentence in by_text:
            _place_field(by_text[inline_field.sentence], inline_field)
    _label_continued_fields(note, by_text)
    for marked_sentence in by_text.values():
        _label_second_cell(marked_sentence)
    return list(by_text.values())


def _label_continued_fields(note: ParsedNote, by_text: dict[str, MarkedSentence]) -> None:
    """Apply a field that started in an earlier sentence to the next ones."""
    for block in note.blocks:
        for sentence in block.sentences:
            marked_sentence = by_text[sentence.text]
            if sentence.relation and not marked_sentence.fields:
                whole = (0, len(marked_sentence.text))
                marked_sentence.fields.append((*whole, sentence.relation))


def _label_second_cell(sentence: MarkedSentence) -> None:
    """In a table row of two cells, the first is the label of the second."""
    key, bar, value = sentence.text.partition(" | ")
    if sentence.fields:
        return
    if bar and " | " not in value and is_label(key):
        sentence.fields.append((len(key), len(sentence.text), key))
        sentence.key = (0, len(key))


def _place_field(sentence: MarkedSentence, inline: InlineField) -> None:
    key, value = composed(inline.key), composed(inline.value)
    start = max(0, sentence.text.find(key + ":"))
    value_start = start + len(key)
    value_position = sentence.text.find(value, value_start) if value else -1
    end = value_position + len(value) if value_position >= 0 else len(sentence.text)
    sentence.fields.append((value_start, end, inline.key))
    if not inline.explicit or not sentence.text[:start].strip(" -*+>"):
        sentence.key = sentence.key or (start, start + len(key))


def link_span(sentence: MarkedSentence, link: Link, search_start: int) -> tuple[int, int]:
    """The span of a link's shown text, searched from ``search_start`` on; (-1, -1) if it is not
    found."""
    subpath = (link.subpath or "").replace("#", " > ")
    shown_path = " > ".join(part for part in (link.target, subpath) if part)
    for candidate in (link.shown, shown_path, link.target.rsplit("/", 1)[-1]):
        if candidate:
            start = sentence.text.find(composed(candidate), search_start)
            if start >= 0:
                return start, start + len(composed(candidate))
    return -1, -1


def relate(sentence: MarkedSentence, named_nodes: list[NamedNode]) -> None:
    """Set the relation of nodes without one: their label, else the one that the words before state.

    A label that itself names a node (``Ada: yes, let us``) is a speaker or a topic, not a relation,
    and is a named node itself.
    """
    topic = _topic(sentence, named_nodes)
    previous_end, phrase = 0, ""
    for named in sorted((i for i in named_nodes if i.start >= 0), key=lambda i: i.start):
        if topic and named.relation == topic:
            named.relation = ""
            named.origin = EdgeOrigin.LINK if named.origin is EdgeOrigin.FIELD else named.origin
        label = "" if topic else sentence.label_at(named.start)
        gap = sentence.text[previous_end : named.start]
        if not (previous_end and _LIST_GLUE.fullmatch(gap)):
            phrase = _relation_before(gap)
        if not named.relation:
            named.relation = label or phrase
            if label and named.origin in (EdgeOrigin.MENTION, EdgeOrigin.LINK):
                named.origin = EdgeOrigin.FIELD
        previous_end = named.end


def _topic(sentence: MarkedSentence, named_nodes: list[NamedNode]) -> str:
    """The label if it names a node, else empty."""
    if sentence.key and any((i.start, i.end) == sentence.key and i.certain for i in named_nodes):
        return sentence.text[slice(*sentence.key)]
    return ""


def _relation_before(gap: str) -> str:
    """The relation stated by the last few words before a name; empty for any other words."""
    words = _CLAUSE_END.split(gap)[-1].split()
    while words and words[-1].lower() in _WORDS_WITHOUT_RELATION:
        words.pop()
    while words and words[0].lower() in _WORDS_WITHOUT_RELATION:
        words.pop(0)
    return stated_relation(" ".join(words)) if len(words) <= MAX_RELATION_WORDS else ""


def located_excerpt(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The excerpt, and the offsets of [start, end) in it; (-1, -1) for an unknown position."""
    if len(text) <= MAX_SENTENCE_CHARS:
        return text, start, end
    is_known = start >= 0
    start, end = (0, 0) if start < 0 else (start, end)
    spare = max(0, MAX_SENTENCE_CHARS - (end - start)) // 2
    excerpt_start = max(0, min(start - spare, len(text) - MAX_SENTENCE_CHARS))
    excerpt_end = min(len(text), max(excerpt_start + MAX_SENTENCE_CHARS, end))
    if excerpt_start:
        space = text.find(" ", excerpt_start, start)
        excerpt_start = space + 1 if space >= 0 else excerpt_start
    if excerpt_end < len(text):
        space = text.rfind(" ", end, excerpt_end)
        excerpt_end = space if space >= 0 else excerpt_end
    excerpt = (
        ("…" if excerpt_start else "")
        + text[excerpt_start:excerpt_end]
        + ("…" if excerpt_end < len(text) else "")
    )
    removed_chars = excerpt_start - 1 if excerpt_start else 0
    return (excerpt, start - removed_chars, end - removed_chars) if is_known else (excerpt, -1, -1)
