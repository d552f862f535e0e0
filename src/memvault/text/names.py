"""The names of a vault: the names that each note adds, and what each name means.

Names come from the vault alone: titles, file names and aliases, the projects, people and tags in
frontmatter, plain names behind labels in the text, and links to notes that do not exist. The names
that a note adds depend on that note alone (`names_of`); the meaning of a name depends on all notes
(`NameBook`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from memvault.model.graph import NodeKind
from memvault.model.memory import Memory, id_of_entity
from memvault.model.note import Link, ParsedNote
from memvault.text.words import composed, is_uncased, name_key, phrase_of

_KIND_WORDS = {
    NodeKind.PERSON: "person people contact colleague friend",
    NodeKind.PROJECT: "project",
    NodeKind.ORGANISATION: "organisation organization org company employer firm institution",
    NodeKind.TOOL: "tool software library product app application technology",
    NodeKind.EVENT: "event conference meetup",
    NodeKind.PLACE: "place city country location venue",
    NodeKind.DECISION: "decision adr",
    NodeKind.CONCEPT: "concept topic term",
}
KIND_OF_TYPE = {word: kind for kind, words in _KIND_WORDS.items() for word in words.split()}

_FIELD_WORDS = {
    NodeKind.PERSON: "person persons people participant participants attendee attendees author "
    "authors owner lead team member members contact contacts assignee with",
    NodeKind.ORGANISATION: "organisation organisations organization organizations org company "
    "companies employer",
    NodeKind.PLACE: "place places city country location venue",
}
KIND_OF_FIELD = {word: kind for kind, words in _FIELD_WORDS.items() for word in words.split()}

# Attachments: a link to one that does not exist is a missing file, not a concept.
_ATTACHMENT = re.compile(
    r"\.(avif|bmp|gif|jpe?g|png|svg|webp|flac|m4a|mp3|ogg|wav|3gp|webm|mkv|mov|mp4|ogv|pdf|canvas"
    r"|base|csv|json|txt|zip|docx?|xlsx?|pptx?|html?)$",
    re.IGNORECASE,
)
_NOTE_SUFFIX = re.compile(r"\.(md|markdown)$", re.IGNORECASE)
MAX_FIELD_CHARS = 80
MAX_NAME_WORDS = 14  # nobody repeats a longer title word for word
_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
MAX_VALUE_WORDS = 5


class NameRank(IntEnum):
    """Sources of a name's meaning, in ascending order of precedence.

    The meaning of highest rank wins. Two different meanings of that rank make the name ambiguous,
    and an ambiguous name has no meaning.
    """

    VALUE = -1  # a plain name behind a label in the text: ``region:: Upper Vale``
    SINGLE = 0  # a frontmatter field that names a person with one word
    GIVEN = 1  # the given name of a person
    PLURAL = 2
    TAG = 3
    LINKED = 4  # a link to a note that does not exist
    NAMED = 5  # a frontmatter field that names a person, an organisation or a place
    IDENTIFIER = 6  # a project's id
    ALIAS = 7
    TITLE = 8  # a note's title or file name


@dataclass(frozen=True, slots=True)
class Name:
    """One meaning of a name: ``text``, as written, names the node ``target``.

    ``path`` is the note of that node, None for an entity without a note.
    """

    text: str
    target: str
    kind: str
    path: str | None
    rank: NameRank


@dataclass(frozen=True, slots=True)
class NameChanges:
    """The other notes that must be read again after a change of one note's names.

    Attributes:
        phrases: texts whose meaning changed; affects notes that contain one
            (`VectorStore.containing`).
        keys: names whose possible meanings changed; affects notes whose frontmatter contains one
            (`frontmatter_names`).
        entities: nodes without a note whose spelling changed; affects notes with an edge to one.
    """

    phrases: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()

    @classmethod
    def union(cls, many: Iterable[NameChanges]) -> NameChanges:
        """The union of several changes."""
        each = list(many)
        return cls(
            frozenset[str]().union(*(one.phrases for one in each)),
            frozenset[str]().union(*(one.keys for one in each)),
            frozenset[str]().union(*(one.entities for one in each)),
        )


def frontmatter_names(memory: Memory) -> frozenset[str]:
    """The keys of the names in a note's frontmatter and of its project; the note is affected when
    one of their meanings changes."""
    texts = [text for value in memory.metadata.values() for text in field_values(value)]
    if memory.project:
        texts.append(memory.project)
    return frozenset(name_key(text) for text in texts)


@dataclass(frozen=True, slots=True)
class BookUpdate:
    """The effects of one note's new names, and the keys that were added and removed."""

    changes: NameChanges
    come: set[str]
    gone: set[str]


def kind_of(memory: Memory) -> str:
    """The kind of a note's node: its type, in memvault's word for it if there is one. A plain note
    whose file name is its project's id is the project."""
    word = memory.type.strip().lower() or str(NodeKind.NOTE)
    kind = KIND_OF_TYPE.get(word, word)
    stem = _stem(memory.path)
    if kind == NodeKind.NOTE and memory.project and name_key(stem) == name_key(memory.project):
        return str(NodeKind.PROJECT)
    return str(kind)


def _stem(path: str) -> str:
    return _NOTE_SUFFIX.sub("", path.rsplit("/", 1)[-1])


def concept_of(link: Link) -> tuple[str, str] | None:
    """Id and name of the concept that an unresolved link names; None for a link inside its own note
    and for a missing attachment."""
    target = link.target.strip().rstrip("/")
    if not target or _ATTACHMENT.search(target):
        return None
    name = composed(_NOTE_SUFFIX.sub("", target.rsplit("/", 1)[-1]).strip())
    key = name_key(name)
    return (id_of_entity(NodeKind.CONCEPT, key), name) if key else None


MAX_TAG_LEVELS = 32  # all levels of an endless tag would take gigabytes


def tag_levels(tag: str) -> list[tuple[str, str]]:
    """Id and name of a tag and of its parent tags: ``a/b`` is also ``a``. Levels beyond
    `MAX_TAG_LEVELS` are dropped."""
    parts = [part for part in composed(tag).strip("/").split("/") if part][:MAX_TAG_LEVELS]
    levels = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
    return [(id_of_entity(NodeKind.TAG, level.lower()), level) for level in levels]


def project_entity(project: str) -> str:
    """Id of a project without a note."""
    return id_of_entity(NodeKind.PROJECT, name_key(project) or project)


def named_entity(kind: str, name: str) -> str:
    return id_of_entity(kind, name_key(name))


def field_values(value: Any) -> list[str]:
    """The plain names in a frontmatter value: a list of strings, or a string separated by commas
    or semicolons. Links and prose are left out."""
    items = (
        value
        if isinstance(value, list)
        else re.split(r"[,;]", value)
        if isinstance(value, str)
        else []
    )
    names = (item.strip() for item in items if isinstance(item, str) and "[[" not in item)
    return [name for name in names if name and len(name) <= MAX_FIELD_CHARS]


def names_of(note: ParsedNote, memory: Memory) -> tuple[Name, ...]:
    """The names that a note adds to the vault; depends on the note alone."""
    kind = kind_of(memory)
    names = [
        Name(text, memory.id, kind, memory.path, NameRank.TITLE)
        for text in dict.fromkeys((composed(_stem(memory.path)), composed(memory.title)))
    ]
    names += [
        Name(composed(alias), memory.id, kind, memory.path, NameRank.ALIAS)
        for alias in memory.aliases
    ]
    names += _project_names(memory, kind)
    for tag in memory.tags:
        names += [
            Name(level, id, NodeKind.TAG, None, NameRank.TAG) for id, level in tag_levels(tag)
        ]
    for field, value in note.frontmatter.items():
        field_kind = KIND_OF_FIELD.get(str(field).lower())
        if field_kind is not None:
            names += [_field_name(composed(text), field_kind) for text in field_values(value)]
    for line in note.fields if kind != "preference" else ():  # settings relate nothing
        value = composed(line.value).strip(" .")
        if _is_plain_name(value):
            id = id_of_entity(NodeKind.CONCEPT, name_key(value))
            names.append(Name(value, id, NodeKind.CONCEPT, None, NameRank.VALUE))
    for link in note.links:
        concept = concept_of(link)
        if concept:
            names.append(Name(concept[1], concept[0], NodeKind.CONCEPT, None, NameRank.LINKED))
    return tuple(dict.fromkeys(names))


def _is_plain_name(text: str) -> bool:
    """Whether all words begin with a capital, except short ones between them: *Port of Vale*."""
    parts = text.split(" ")
    return (
        len(parts) <= MAX_VALUE_WORDS
        and all(_LETTERS.fullmatch(part) for part in parts)
        and all(part[0].isupper() or len(part) <= 3 for part in parts)
        and parts[0][0].isupper()
        and parts[-1][0].isupper()
    )


def _project_names(memory: Memory, kind: str) -> list[Name]:
    if not memory.project:
        return []
    text = composed(memory.project)
    own = [Name(text, project_entity(text), NodeKind.PROJECT, None, NameRank.IDENTIFIER)]
    if kind == NodeKind.PROJECT:
        own.append(Name(text, memory.id, kind, memory.path, NameRank.ALIAS))
    return own


def _field_name(text: str, kind: str) -> Name:
    single = kind == NodeKind.PERSON and " " not in text
    rank = NameRank.SINGLE if single else NameRank.NAMED
    return Name(text, named_entity(kind, text), kind, None, rank)


def _forms(name: Name) -> Iterator[tuple[str, Name]]:
    """The keys under which a name is found: the name, its plural, a person's given name."""
    key = name_key(name.text)
    parts = key.split(" ")
    if not _can_be_a_name(parts):
        return
    yield key, name
    if name.kind == NodeKind.PERSON:
        if name.rank in (NameRank.TITLE, NameRank.NAMED) and 2 <= len(parts) <= 4:
            given = composed(name.text).split()[0]
            if given[0].isupper() and given.isalpha() and len(given) > 2:
                yield parts[0], replace(name, text=given, rank=NameRank.GIVEN)
    elif name.rank >= NameRank.LINKED and name.rank is not NameRank.IDENTIFIER:
        plural = plural_of(name.text)
        if plural:
            yield name_key(plural), replace(name, text=plural, rank=NameRank.PLURAL)


def _can_be_a_name(parts: list[str]) -> bool:
    if not parts[0] or len(parts) > MAX_NAME_WORDS:
        return False
    if len(parts) == 1 and len(parts[0]) < 2:
        return False
    # A bare number is not a name, but a date is.
    return any(char.isalpha() for part in parts for char in part) or len(parts) >= 3


def plural_of(name: str) -> str | None:
    """The English plural of a name, or the singular of a plural of several words; None if the name
    does not end in a lower-case ASCII letter."""
    if len(name) < 3 or not name[-1].isascii() or not name[-1].islower() or is_uncased(name):
        return None
    if name.endswith("s"):
        if " " in name and not name.endswith(("ss", "us", "is", "ous")):
            return name[:-3] + "y" if name.endswith("ies") else name[:-1]
        return name + "es" if name.endswith("ss") else None
    if name.endswith(("x", "z", "ch", "sh")):
        return name + "es"
    if name.endswith("y") and name[-2] not in "aeiou":
        return name[:-1] + "ies"
    return name + "s"


class NameBook:
    """All names of the vault and their meanings. Not thread-safe."""

    def __init__(self) -> None:
        self._claims: dict[str, Counter[Name]] = {}
        self._of_note: dict[str, tuple[Name, ...]] = {}
        self._meaning: dict[str, tuple[Name, ...]] = {}
        self._spellings: dict[str, Counter[str]] = {}

    def replace(self, note_id: str, names: Iterable[Name]) -> BookUpdate:
        """Replace the names that a note adds."""
        new = tuple(dict.fromkeys(names))
        old = self._of_note.pop(note_id, ())
        if new:
            self._of_note[note_id] = new
        gone, come = set(old) - set(new), set(new) - set(old)
        forms = [(-1, *form) for name in gone for form in _forms(name)]
        forms += [(1, *form) for name in come for form in _forms(name)]
        keys = {key for _, key, _ in forms}
        known = {key for key in keys if key in self._claims}
        changed = set()
        for step, key, form in forms:
            claims = self._claims.setdefault(key, Counter())
            if _add(claims, form, step):
                changed.add(key)
        holds = {key for key in keys if self._claims[key]}
        for key in keys - holds:
            del self._claims[key]
        phrases = self._reconsider(changed) | {phrase_of(key) for key in holds ^ known}
        changes = NameChanges(phrases, frozenset(changed), self._respell(gone, come))
        return BookUpdate(changes, holds - known, known - holds)

    def _reconsider(self, keys: Iterable[str]) -> frozenset[str]:
        """Update the meanings of these keys; returns the phrases whose meaning changed."""
        phrases: set[str] = set()
        for key in keys:
            before, after = self._meaning.pop(key, ()), _best(self._claims.get(key, ()))
            if after:
                self._meaning[key] = after
            if before != after:
                phrases.add(phrase_of(key))
                phrases.update(name.text for name in (*before, *after))
        return frozenset(phrases)

    def _respell(self, gone: Iterable[Name], come: Iterable[Name]) -> frozenset[str]:
        """Update the spellings of entities; returns the entities whose spelling changed."""
        steps = [(-1, name) for name in gone] + [(1, name) for name in come]
        steps = [(step, name) for step, name in steps if name.path is None]
        before = {name.target: self.spelling(name.target) for _, name in steps}
        for step, name in steps:
            spellings = self._spellings.setdefault(name.target, Counter())
            _add(spellings, name.text, step)
        for target in before:
            if not self._spellings[target]:
                del self._spellings[target]
        return frozenset(
            target for target, text in before.items() if text not in (None, self.spelling(target))
        )

    def meaning(self, key: str) -> tuple[Name, ...]:
        """The names of highest rank for a key, all of one target; empty if it is ambiguous."""
        return self._meaning.get(key, ())

    def lookup(self, text: str, kind: str | None = None) -> Name | None:
        """The meaning of a name, optionally among nodes of one kind."""
        key = name_key(text)
        if kind is None:
            found = self._meaning.get(key, ())
        else:
            found = _best(n for n in self._claims.get(key, ()) if n.kind == kind)
        return found[0] if found else None

    def knows(self, text: str) -> bool:
        """Whether the vault has this name, possibly ambiguous."""
        return name_key(text) in self._claims

    def keys(self) -> Iterable[str]:
        return self._claims.keys()

    def spelling(self, target: str) -> str | None:
        """The most frequent spelling of an entity without a note."""
        spellings = self._spellings.get(target)
        if not spellings:
            return None
        return min(spellings, key=lambda text: (-spellings[text], text))


def _add(counter: Counter[Any], item: Any, step: int) -> bool:
    """Change an item's count; returns whether it was added or removed."""
    before = counter[item]
    counter[item] = before + step
    if counter[item] <= 0:
        del counter[item]
        return True
    return before == 0


def _best(claims: Iterable[Name]) -> tuple[Name, ...]:
    """Names of the highest rank and others of the same target; empty if two targets tie."""
    claims = list(claims)
    if len(claims) < 2:
        return tuple(claims)
    ranked = sorted(claims, key=lambda n: (-n.rank, n.target, n.text))
    first = ranked[0]
    tie = any(n.target != first.target for n in ranked if n.rank == first.rank)
    return () if tie else tuple(n for n in ranked if n.target == first.target)
