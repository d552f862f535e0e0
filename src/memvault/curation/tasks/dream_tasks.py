"""Tasks from dreams: proposals for the person to accept or to dismiss for good."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memvault.consolidation.dreams.links import are_linked
from memvault.consolidation.dreams.record import Discovery, DiscoveryKind
from memvault.model.change import CurationTask, Priority, TaskAction, TaskType
from memvault.model.memory import Memory
from memvault.stores.graph_view import GraphView
from memvault.vault.lines import lines_of, note_text
from memvault.vault.links import wikilink
from memvault.vault.parse import content_hash, parse_note

_TYPES = {
    DiscoveryKind.SUMMARY: TaskType.CLUSTER_SUMMARY,
    DiscoveryKind.ANSWER: TaskType.ANSWERED_QUESTION,
}
MAX_LINE_CHARS = 5_000  # of a line in which a link is proposed
# Links, URLs, HTML tags and code, in which no link can be made.
_NO_PLACE = re.compile(
    r"\[\[.*?\]\]|\[[^\]]*\]\([^)]*\)|\w+://\S+|<[^>]*>|(?<!`)(?P<code>`++).*?(?<!`)(?P=code)(?!`)"
)


def dream_tasks(
    discoveries: Iterable[Discovery], memory_of: Callable[[str], Memory | None], view: GraphView
) -> Iterator[CurationTask]:
    """The tasks of proposals whose notes still exist and are not linked yet."""
    for discovery in discoveries:
        memories = [memory for key in discovery.notes if (memory := memory_of(key)) is not None]
        if discovery.is_link and are_linked(discovery.notes[0], discovery.notes[1], view):
            continue
        if memories and len(memories) == len(discovery.notes):
            calls = _calls(discovery, memories)
            yield CurationTask.about(
                memories,
                type_of(discovery),
                Priority.LOW,
                _detail(discovery),
                *calls,
                proposal=discovery.key,
            )


def summary_text(discovery: Discovery) -> str:
    """The draft of a summary: key sentences, each with a link to its note."""
    return "\n".join(
        f"- {sentence.sentence} ({wikilink(sentence.path, '')})" for sentence in discovery.evidence
    )


@dataclass(frozen=True, slots=True)
class LinkedLine:
    """A line before and after a name in it becomes a link.

    Attributes:
        version: the content hash of the note with the line.
        note: the whole changed note.
    """

    before: str
    after: str
    version: str
    note: bytes


def linked_line(
    path: str, data: bytes, line: int, names: Iterable[str], link: str
) -> LinkedLine | None:
    """The line (counted from 1) with the first of these names made a link.

    None if the line is very long or has none of the names outside code and links, or if the edit
    would not add exactly this link to the note.
    """
    target, _, _ = link.removeprefix("[[").removesuffix("]]").partition("|")
    lines, places = lines_of(note_text(path, data)), _places(path, data)
    if not link.startswith("[[") or line > len(lines) or len(lines[line - 1]) > MAX_LINE_CHARS:
        return None
    before = lines[line - 1]
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name)
    unlinkable = [span.span() for span in _NO_PLACE.finditer(before)]
    for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", before, re.IGNORECASE):
        if any(start < match.end() and match.start() < end for start, end in unlinkable):
            continue
        new_link = f"[[{target}]]" if match[0] == target else f"[[{target}|{match[0]}]]"
        after = before[: match.start()] + new_link + before[match.end() :]
        changed = "".join([*lines[: line - 1], after, *lines[line:]])
        note = changed.encode("utf-8", "surrogateescape")
        if _places(path, note) == places + Counter([(target, line)]):
            return LinkedLine(before.strip(), after.strip(), content_hash(data), note)
    return None


def _places(path: str, data: bytes) -> Counter[tuple[str, int]]:
    """How many links of a note have each target and line."""
    return Counter((link.target, link.line) for link in parse_note(path, data).links)


def type_of(discovery: Discovery) -> TaskType:
    """The type of task for a proposal."""
    if discovery.is_link:
        return TaskType.MISSING_LINK
    return _TYPES.get(discovery.kind, TaskType.OPEN_QUESTION)


def _detail(discovery: Discovery) -> str:
    """The detail of a task, safe to show to every client.

    It leaves out the sentences, which the person may not have written, and the question that
    somebody asked.
    """
    hides_title = discovery.kind is DiscoveryKind.ANSWER
    return (
        discovery.reason
        if hides_title or not discovery.title
        else f"{discovery.title}: {discovery.reason}"
    )


def _calls(discovery: Discovery, memories: list[Memory]) -> tuple[TaskAction, ...]:
    if discovery.is_link:
        link = wikilink(memories[1].path, memories[0].path)
        return (TaskAction.by("annotate_node", target=memories[0].id, note=f"Related: {link}"),)
    if discovery.kind is DiscoveryKind.ANSWER:
        return ()
    ids = [memory.id for memory in memories]
    return (TaskAction.by("store_memory", title=discovery.title, link_to=ids),)
