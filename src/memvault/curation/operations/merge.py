"""Merges several memories into one, or several concepts into one.

The surviving note keeps its text and gains the texts of the others, each under a heading with its
origin and without repeated sentences. The others' names become its aliases. Links to the others
are rewritten to lead to the surviving note; they read as before. The others go to the trash.
Concepts without notes are joined in the journal, and no note is changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from memvault.curation.changes.staging import Staging
from memvault.curation.operations.editable_text import title_line
from memvault.curation.operations.properties import property_of, set_property, spelling
from memvault.curation.operations.relink import attached_files, relink
from memvault.curation.targets import Target, concept_ids, names_of_memory
from memvault.model.change import Fact, FactKind
from memvault.model.errors import InvalidParams
from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.search.scope import MemoryLookup
from memvault.text.repeats import without_repeats
from memvault.text.words import name_key
from memvault.vault.compose import appended, closed, fenced, frontmatter
from memvault.vault.frontmatter.properties import UNDERSTOOD, as_text
from memvault.vault.lines import lines_of, newline_of, note_text
from memvault.vault.links import LinkIndex, keys_of, link_key, without_suffix
from memvault.vault.parse import frontmatter_of, parse_note
from memvault.vault.rewrite_links import NewTarget, WrittenLink, rewrite_links

_IN_NO_HEADING = re.compile(r"[\[\]#^|]")
_OWN_KEYS = UNDERSTOOD - {"type", "project", "date"} | {
    "source", "modality", "verified_by", "verified_on", "title", "conversation",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MergeIndex:
    """The parts of the index that merging needs.

    Attributes:
        linking: gives the paths of the notes with a link that has one of these keys (`keys_of`).
    """

    memories: MemoryLookup
    links: LinkIndex
    linking: Callable[[Iterable[str]], set[str]]


def check_aliases(staging: Staging, path: str, index: MergeIndex) -> None:
    """Raise InvalidParams if links by an alias would lead to another note than before.

    A note may not get an alias by which notes link to another note, which also has that alias, nor
    lose one by which notes link to it: another note could then get it.
    """
    old = index.memories.by_path(path)
    had = {link_key(alias): alias for alias in (old.aliases if old is not None else ())}
    has = {link_key(alias): alias for alias in parse_note(path, staging.read(path)).aliases}
    for alias in (has[key] for key in has.keys() - had.keys()):
        for leads_to in _targets_of_links(alias, index):
            if leads_to not in (None, path) and link_key(leads_to) != link_key(alias):
                raise InvalidParams(
                    f"Links to {leads_to} have its alias {alias!r}, so {path} cannot have it, too. "
                    "Nothing was changed. Use another alias, or ask the person to move this one.",
                    path=leads_to,
                )
    for alias in (had[key] for key in had.keys() - has.keys() - {link_key(path)}):
        if path in _targets_of_links(alias, index):
            raise InvalidParams(
                f"Links to {path} have its alias {alias!r}, so it stays. Nothing was changed. "
                "Change these links first, or ask the person to remove it.",
                path=path,
            )


def _targets_of_links(name: str, index: MergeIndex) -> set[str | None]:
    """The paths of the notes to which links with this name lead; None if one leads to no note."""
    return {index.links.resolve(name, source) for source in index.linking({link_key(name)})}


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The result of a merge.

    Attributes:
        path: the surviving note; None for concepts.
        notes_changed: the notes that are edited or go to the trash.
    """

    node_ids: tuple[str, ...]
    path: str | None
    merged_from: tuple[str, ...]
    notes_changed: tuple[str, ...]


def stage_merge(
    staging: Staging, index: MergeIndex, sources: Sequence[Target], target: Target
) -> MergeResult:
    """Merge the sources into the target, which may be one of them.

    Raises:
        InvalidParams: there is nothing to merge, a tag is among them, or a note would be merged
            into a concept without a note.
        NoteNotFound: a note no longer exists.
        MalformedFrontmatter: the surviving note cannot be edited safely.
    """
    merged = _checked_sources(sources, target)
    merged_from = tuple(key for source in merged for key in source.node_ids)
    staging.merged_from.extend(merged_from)
    if target.note is None:
        _join_concepts(staging, merged, target)
        return MergeResult(target.node_ids, None, merged_from, ())
    notes = [source.note for source in merged if source.note is not None]
    merge = _Merging(staging, index, target.note, notes)
    merge.run([source.name for source in merged if source.note is None])
    return MergeResult(target.node_ids, target.note.path, merged_from, tuple(merge.changed))


def _checked_sources(sources: Sequence[Target], target: Target) -> list[Target]:
    """The distinct sources without the target; raises InvalidParams as `stage_merge`."""
    target_ids = set(target.node_ids)
    merged = {
        source.node_ids: source for source in sources if not target_ids & set(source.node_ids)
    }
    if not merged:
        raise InvalidParams("Nothing to merge: name at least one source that is not the target")
    if any(concerned.kind == NodeKind.TAG for concerned in (*merged.values(), target)):
        raise InvalidParams("A tag cannot be merged: rename it in the notes that carry it")
    notes = [source.name for source in merged.values() if source.note is not None]
    if target.note is None and notes:
        raise InvalidParams(
            f"{target.name} has no note that could take the text of {notes[0]}: give that note as "
            "the target, and its other names become aliases"
        )
    return list(merged.values())


def _join_concepts(staging: Staging, merged: Sequence[Target], target: Target) -> None:
    """Record that concepts without notes are one, as no note can say so."""
    node = target.nodes[0]
    names = tuple(source.name for source in merged)
    ids = {key for source in merged for key in source.node_ids} | concept_ids(names)
    staging.facts.append(
        Fact(
            kind=FactKind.JOINED,
            node_ids=tuple(sorted(ids - {node.id})),
            names=names,
            into=node.name,
            into_id=node.id,
            into_kind=node.kind,
        )
    )


class _Merging:
    """One merge of notes."""

    def __init__(
        self, staging: Staging, index: MergeIndex, survivor: Memory, notes: Sequence[Memory]
    ) -> None:
        self._staging = staging
        self._index = index
        self._path = survivor.path
        self._survivor = survivor
        self._notes = notes
        self._headings = _headings(notes)
        self._replaced: dict[str, str] = {}  # merged note → its first heading, which is dropped
        self._absorbed: set[str] = set()  # merged notes whose text the survivor already has
        self.changed: list[str] = []

    def run(self, names: Sequence[str]) -> None:
        """Merge the notes, and add these names as aliases."""
        texts = {memory.path: note_text(memory.path, self._staging.read(memory.path))
                 for memory in self._notes}  # fmt: skip
        parsed = {path: parse_note(path, self._staging.read(path)) for path in texts}
        for path, note in parsed.items():
            if _leading_title(note, texts[path]) is not None:
                self._replaced[path] = note.title
        self._absorbed = self._notes_without_news(parsed)
        self._relink_all()
        self._properties(parsed.values(), names)
        if self._notes:
            self._append_all(parsed)
        for memory in self._notes:
            self._staging.trash(memory.path)
        self.changed = sorted({*self.changed, self._path, *(note.path for note in self._notes)})

    def _relink_all(self) -> None:
        keys = {key for memory in self._notes for key in keys_of(memory.path, memory.aliases)}
        merged = {memory.path for memory in self._notes}
        moved = dict.fromkeys(merged, self._path)
        for path in sorted(self._index.linking(keys) - merged):
            if self._staging.exists(path) and relink(
                self._staging, path, self._redirect_from(path), moved
            ):
                self.changed.append(path)

    def _redirect_from(self, source: str) -> Callable[[WrittenLink], NewTarget | None]:
        def redirect(link: WrittenLink) -> NewTarget | None:
            if not link.target:
                return None
            return self._new_target(self._index.links.resolve(link.target, source), link, source)

        return redirect

    def _new_target(self, leads_to: str | None, link: WrittenLink, source: str) -> NewTarget | None:
        """The new target of a link to a merged note; None for other links."""
        heading = self._headings.get(leads_to or "")
        if leads_to is None or heading is None:
            return None
        subpath = link.subpath
        is_own_title = bool(subpath) and subpath == self._replaced.get(leads_to)
        if is_own_title or (not subpath and link.is_embed):
            subpath = "" if leads_to in self._absorbed else heading
        return NewTarget(self._path, self._name_of(self._path, source), subpath)

    def _name_of(self, path: str, source: str) -> str:
        """The shortest name by which a wikilink in ``source`` can link to a note."""
        stem = PurePosixPath(path).stem
        if self._index.links.resolve(stem, source) == path:
            return stem
        return without_suffix(path)

    def _properties(self, parsed: Iterable[ParsedNote], names: Sequence[str]) -> None:
        survivor_names = {name_key(name) for name in names_of_memory(self._survivor)}
        survivor_names.add(name_key(PurePosixPath(self._path).stem))
        all_names = [name for memory in self._notes for name in names_of_memory(memory)]
        self._add_to("aliases", [*all_names, *names], survivor_names)
        tags = [tag for note in parsed for tag in _listed(note.frontmatter, "tags")]
        own_tags = {name_key(tag) for tag in self._survivor.tags}
        self._add_to("tags", tags, own_tags)

    def _add_to(self, key: str, values: Iterable[str], known_keys: set[str]) -> None:
        new = [value for value in dict.fromkeys(values) if name_key(value) not in known_keys]
        distinct = list({name_key(value): value for value in reversed(new)}.values())[::-1]
        if not distinct:
            return
        value = property_of(self._staging, self._path, key)
        known_values = value if isinstance(value, list) else [] if value is None else [value]
        set_property(self._staging, self._path, key, [*known_values, *distinct])

    def _append_all(self, parsed: Mapping[str, ParsedNote]) -> None:
        """Append the texts of the notes, each sentence once."""
        data = self._staging.read(self._path)
        bodies = [_body(parse_note(self._path, data), note_text(self._path, data))]
        sections = []
        for memory in self._notes:
            if memory.path not in self._absorbed:
                sections.append(self._section(memory, parsed[memory.path], bodies))
        if sections:
            self._append(sections)

    def _append(self, sections: Sequence[str]) -> None:
        original = self._staging.read(self._path)
        survivor, title = note_text(self._path, original), parse_note(self._path, original).title
        newline = newline_of(survivor)
        text = re.sub(r"\r\n|\r|\n", newline, "\n".join(sections))
        changed = appended(self._with_title(survivor, newline), text)
        data = changed.encode("utf-8", "surrogateescape")
        self._staging.write(self._path, data)
        if parse_note(self._path, data).title != title:  # its heading is now one of several
            set_property(self._staging, self._path, "title", title)

    def _notes_without_news(self, parsed: Mapping[str, ParsedNote]) -> set[str]:
        """The notes whose every sentence is in the survivor or in an earlier merged note."""
        data = self._staging.read(self._path)
        survivor = parse_note(self._path, data)
        bodies = [_body(survivor, note_text(self._path, data))]
        without_news: set[str] = set()
        for path, note in parsed.items():
            body = _body(note, note_text(path, self._staging.read(path)))
            if body.strip() and not _kept_properties(note, frontmatter_of(data)):
                without_news |= set() if without_repeats(body, bodies).strip() else {path}
            bodies.append(body)
        return without_news

    def _section(self, memory: Memory, note: ParsedNote, bodies: list[str]) -> str:
        """The section of the survivor with the text of a merged note, closed (`closed`).

        Sentences of the ``bodies`` texts are left out; then the text is added to ``bodies``.
        """
        original = self._staging.read(memory.path)
        attached = attached_files(self._staging, memory.path, self._path)
        data = rewrite_links(memory.path, original, self._moved_from(memory.path), attached)
        body = _body(note, note_text(memory.path, data), note_text(memory.path, original))
        text = without_repeats(body, bodies).strip("\r\n")
        bodies.append(body)
        properties = frontmatter_of(self._staging.read(self._path))
        parts = _kept_properties(note, properties) + ([text] if text.strip() else [])
        heading = f"# {self._headings[memory.path]}"
        return closed("\n\n".join([heading, *parts])) + "\n"

    def _with_title(self, text: str, newline: str) -> str:
        """The text, with the survivor's title as heading if it is empty.

        Otherwise the first merged heading would become its title.
        """
        note = parse_note(self._path, text.encode("utf-8", "surrogateescape"))
        if note.blocks or note.headings or note.code:
            return text
        return appended(text, f"# {self._survivor.title}{newline}")

    def _moved_from(self, source: str) -> Callable[[WrittenLink], NewTarget | None]:
        """A redirect for the links in text that moves to the survivor."""
        links = self._index.links

        def redirect(link: WrittenLink) -> NewTarget | None:
            if not link.target:
                return None
            leads_to = links.resolve(link.target, source)
            new_target = self._new_target(leads_to, link, self._path)
            if new_target is not None or leads_to is None:
                return new_target
            if links.resolve(link.target, self._path) == leads_to:
                return None
            return NewTarget(leads_to, self._name_of(leads_to, self._path), link.subpath)

        return redirect


def _body(note: ParsedNote, text: str, original: str | None = None) -> str:
    """The text below the frontmatter and the title.

    Args:
        original: the text before its links were rewritten; the title is looked up in it.
    """
    body = lines_of(text)[note.body_line - 1 :]
    title = _leading_title(note, original if original is not None else text)
    if title is not None:
        del body[title - note.body_line]
    return "".join(body).removeprefix("\ufeff").strip("\r\n")


def _headings(notes: Sequence[Memory]) -> dict[str, str]:
    """The distinct heading, by path, that names the origin of each merged text."""
    heading_of: dict[str, str] = {}
    for memory in notes:
        title = " ".join(_IN_NO_HEADING.sub(" ", memory.title).split())
        heading = f"From {title or PurePosixPath(memory.path).stem}"
        used = set(heading_of.values())
        numbered = (f"{heading} {number}" for number in range(2, len(notes) + 2))
        heading_of[memory.path] = heading if heading not in used else next(
            name for name in numbered if name not in used
        )  # fmt: skip
    return heading_of


def _leading_title(note: ParsedNote, text: str) -> int | None:
    """The line of a leading heading that only repeats the title; None without one."""
    if not note.headings or note.headings[0].text != note.title:
        return None
    return title_line(note, lines_of(text))


def _listed(values: Mapping[str, Any], key: str) -> list[str]:
    value = values.get(spelling(dict(values), key))
    items = value if isinstance(value, list) else [] if value is None else [value]
    return [str(item) for item in items if isinstance(item, str | int | float)]


def _kept_properties(note: ParsedNote, survivor: Mapping[str, Any]) -> list[str]:
    """Text for the properties that the survivor lacks.

    Links become fields, and values of one line a sentence; others stay YAML.
    """
    fields, texts, others = [], [], {}
    for key, value in note.frontmatter.items():
        if key.casefold() in _OWN_KEYS or value is None or survivor.get(key) == value:
            continue
        items = value if isinstance(value, list) else [value]
        text = ", ".join(_written(item) for item in items)
        if any(isinstance(item, dict) for item in items) or "`" in key + text or "\n" in text:
            others[key] = value
        elif "[[" in text:
            fields.append(f"{key}:: {text}")
        elif text:
            texts.append(f"`{key}: {text}`")
    parts = [f"It had {', '.join(texts)}."] if texts else []
    if fields:
        parts.append("\n".join(fields))
    if others:
        parts.append(fenced(frontmatter(others)[4:-5], "yaml"))
    return parts


def _written(value: Any) -> str:
    if isinstance(value, list):  # ``[[Name]]`` without quotes is YAML for a list in a list
        return f"[[{', '.join(map(str, value[0] if isinstance(value[0], list) else value))}]]"
    return as_text(value)
