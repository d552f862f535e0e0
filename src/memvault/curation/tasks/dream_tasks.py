"""Tasks from dreams: proposals for the person to accept or to dismiss for good."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memvault.consolidation.dreams.links import are_linked
from memvault.consolidation.dreams.record import Discovery, DiscoveryKind
from memvault.model.change import CurationTask, Priority, TaskAction, TaskType
from memvault.model.memory import Memory
from memvault.stores.graph_view import GraphView
from memvault.vault.compose import lines_of, note_text
from memvault.vault.links import wikilink
from memvault.vault.parse import parse_note

_TYPES = {
    DiscoveryKind.SUMMARY: TaskType.CLUSTER_SUMMARY,
    DiscoveryKind.ANSWER: TaskType.ANSWERED_QUESTION,
}
# Links, URLs, HTML tags and code, in which no link can be made.
_NO_PLACE = re.compile(
    r"\[\[.*?\]\]|\[[^\]]*\]\([^)]*\)|\w+://\S+|<[^>]*>|(?P<code>`+).*?(?P=code)"
)


def dream_tasks(
    found: Iterable[Discovery], memory_of: Callable[[str], Memory | None], view: GraphView
) -> Iterator[CurationTask]:
    """The tasks of proposals whose notes still exist and are not linked yet."""
    for proposal in found:
        memories = [memory for key in proposal.notes if (memory := memory_of(key)) is not None]
        if proposal.is_link and are_linked(proposal.notes[0], proposal.notes[1], view):
            continue
        if memories and len(memories) == len(proposal.notes):
            calls = _calls(proposal, memories)
            yield CurationTask.about(
                memories,
                type_of(proposal),
                Priority.LOW,
                _detail(proposal),
                *calls,
                proposal=proposal.key,
            )


def summary_text(found: Discovery) -> str:
    """The draft of a summary: key sentences, each with a link to its note."""
    return "\n".join(
        f"- {sentence.sentence} ({wikilink(sentence.path, '')})" for sentence in found.evidence
    )


@dataclass(frozen=True, slots=True)
class LinkedLine:
    """A line before and after a name in it becomes a link, and the whole changed note."""

    before: str
    after: str
    note: bytes


def linked_line(
    path: str, data: bytes, line: int, names: Iterable[str], link: str
) -> LinkedLine | None:
    """The line (counted from 1) with the first of these names made a link.

    None if the line has none of the names outside code and links, or if the edit would not add
    exactly this link to the note.
    """
    target, _, _ = link.removeprefix("[[").removesuffix("]]").partition("|")
    lines, known = lines_of(note_text(path, data)), parse_note(path, data).links
    if not link.startswith("[[") or line > len(lines):
        return None
    before = lines[line - 1]
    wanted = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name)
    unlinkable = [match.span() for match in _NO_PLACE.finditer(before)]
    for found in re.finditer(rf"(?<!\w)(?:{wanted})(?!\w)", before, re.IGNORECASE):
        if any(start < found.end() and found.start() < end for start, end in unlinkable):
            continue
        written = f"[[{target}]]" if found[0] == target else f"[[{target}|{found[0]}]]"
        after = before[: found.start()] + written + before[found.end() :]
        changed = "".join([*lines[: line - 1], after, *lines[line:]])
        note = changed.encode("utf-8", "surrogateescape")
        links = parse_note(path, note).links
        new = [new_link for new_link in links if (new_link.target, new_link.line) == (target, line)]
        old = [
            known_link
            for known_link in known
            if (known_link.target, known_link.line) == (target, line)
        ]
        if len(links) == len(known) + 1 and len(new) == len(old) + 1:
            return LinkedLine(before.strip(), after.strip(), note)
    return None


def type_of(found: Discovery) -> TaskType:
    """The type of task for a proposal."""
    if found.is_link:
        return TaskType.MISSING_LINK
    return _TYPES.get(found.kind, TaskType.OPEN_QUESTION)


def _detail(found: Discovery) -> str:
    """The detail of a task, safe to show to every client.

    It leaves out the sentences, which the person may not have written, and the question that
    somebody asked.
    """
    hides_title = found.kind is DiscoveryKind.ANSWER
    return found.reason if hides_title or not found.title else f"{found.title}: {found.reason}"


def _calls(found: Discovery, memories: list[Memory]) -> tuple[TaskAction, ...]:
    if found.is_link:
        link = wikilink(memories[1].path, memories[0].path)
        return (TaskAction.by("annotate_node", target=memories[0].id, note=f"Related: {link}"),)
    if found.kind is DiscoveryKind.ANSWER:
        return ()
    ids = [memory.id for memory in memories]
    return (TaskAction.by("store_memory", title=found.title, link_to=ids),)
