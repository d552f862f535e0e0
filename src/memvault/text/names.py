"""The names that each note adds to a vault.

These are titles, file names and aliases, the projects, people and tags in frontmatter, plain names
behind labels in the text, and links to notes that do not exist. They depend on the note alone; what
a name means depends on all notes (`name_book`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from memvault.model.graph import NodeKind
from memvault.model.memory import SORTED_BY, Memory, id_of_entity
from memvault.model.note import Link, ParsedNote
from memvault.text.words import STOP_WORDS, composed, name_key
from memvault.vault.links import without_suffix
from memvault.vault.markdown.inline_text import MEDIA

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
# Names of folders whose notes are persons.
_PEOPLE_WORDS = (
    "people persons contacts friends colleagues personen kontakte menschen personnes personas "
    "contactos persone contatti pessoas contatos mensen osoby люди контакты"
)
# English words that are no part of a person's name in any language: "Maria do Carmo" is one.
_NOT_IN_NAMES = STOP_WORDS - {"am", "an", "do", "i"}
_PEOPLE = frozenset(_PEOPLE_WORDS.split())

_FIELD_WORDS = {
    NodeKind.PERSON: "person persons people participant participants attendee attendees author "
    "authors owner lead team member members contact contacts assignee with",
    NodeKind.ORGANISATION: "organisation organisations organization organizations org company "
    "companies employer",
    NodeKind.PLACE: "place places city country location venue",
}
KIND_OF_FIELD = {word: kind for kind, words in _FIELD_WORDS.items() for word in words.split()}

# Attachments: a link to one that does not exist is a missing file, not a concept.
_ATTACHMENT = re.compile(rf"\.({MEDIA}|csv|json|txt|zip|docx?|xlsx?|pptx?|html?)$", re.IGNORECASE)
MAX_FIELD_CHARS = 80
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


def frontmatter_names(memory: Memory) -> frozenset[str]:
    """The keys of the names in a note's frontmatter, and of its project.

    The note must be read again when the meaning of one of them changes.
    """
    texts = [text for value in memory.metadata.values() for text in field_values(value)]
    if memory.project:
        texts.append(memory.project)
    return frozenset(name_key(text) for text in texts)


def kind_of(memory: Memory) -> str:
    """The kind of a note's node: its type, in memvault's word for it if there is one.

    A plain note whose file name is its project's id is the project, and one in a folder for people
    is a person, unless it is the folder's own note or its name has a word such as "to".
    """
    word = memory.type.strip().lower() or str(NodeKind.NOTE)
    kind = KIND_OF_TYPE.get(word, word)
    stem = _stem(memory.path)
    if kind == NodeKind.NOTE and memory.project and name_key(stem) == name_key(memory.project):
        return str(NodeKind.PROJECT)
    folder = SORTED_BY.sub("", memory.folder)
    is_own_note = name_key(stem) == name_key(folder)
    if kind == NodeKind.NOTE and folder in _PEOPLE and not is_own_note:
        is_name = _NOT_IN_NAMES.isdisjoint(stem.split())  # "Will Moor", not "Trip to Rome"
        return str(NodeKind.PERSON if is_name else NodeKind.NOTE)
    return str(kind)


def _stem(path: str) -> str:
    return without_suffix(path.rsplit("/", 1)[-1])


def concept_of(link: Link) -> tuple[str, str] | None:
    """Id and name of the concept that an unresolved link names.

    None for a link inside its own note and for a missing attachment.
    """
    target = link.target.strip().rstrip("/")
    if not target or _ATTACHMENT.search(target):
        return None
    name = composed(_stem(target).strip())
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
    """Id of an entity of this kind and name."""
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
    names = [Name(text, project_entity(text), NodeKind.PROJECT, None, NameRank.IDENTIFIER)]
    if kind == NodeKind.PROJECT:
        names.append(Name(text, memory.id, kind, memory.path, NameRank.ALIAS))
    return names


def _field_name(text: str, kind: str) -> Name:
    is_single = kind == NodeKind.PERSON and " " not in text
    rank = NameRank.SINGLE if is_single else NameRank.NAMED
    return Name(text, named_entity(kind, text), kind, None, rank)
