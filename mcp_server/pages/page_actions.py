"""What the buttons of the pages do; each makes one change, which the history lists."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.datastructures import FormData
from starlette.requests import Request

from mcp_server.pages.note_text import edited
from memvault.curation.changes.plan import Attribution, LineChange, Plan, lines_changed
from memvault.curation.operations.draft import Draft
from memvault.curation.targets import Target
from memvault.model.change import Change, ChangeKind, TaskAction
from memvault.model.errors import InvalidParams
from memvault.model.memory import Lifecycle, id_of_path
from memvault.vault.frontmatter.properties import memory_of, read_importance
from memvault.vault.parse import parse_note

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container
    from memvault.curation.actions import Actions

MOST_FIELDS = 1_000
MOST_BYTES = 4 * 2**20


class FormToken:
    """The token of one engine's forms."""

    def __init__(self) -> None:
        self.text = secrets.token_urlsafe(24)

    def fits(self, sent: str) -> bool:
        return hmac.compare_digest(sent.encode(), self.text.encode())


class Form:
    """The fields of a form."""

    def __init__(self, data: FormData) -> None:
        self._data = data

    @classmethod
    async def of(cls, request: Request) -> Form:
        """Raises InvalidParams: it is longer than any of our forms can be."""
        if int(request.headers.get("content-length") or 0) > MOST_BYTES:
            raise InvalidParams("This is more than a page can take; edit the note in your editor.")
        return cls(
            await request.form(max_files=0, max_fields=MOST_FIELDS, max_part_size=MOST_BYTES)
        )

    def text(self, name: str, default: str = "") -> str:
        value = self._data.get(name, default)
        return value if isinstance(value, str) else default

    def texts(self, name: str) -> list[str]:
        return [value for value in self._data.getlist(name) if isinstance(value, str)]

    def why(self) -> str:
        """The reason that the person gave, on one line; empty if none."""
        return " ".join(self.text("why").split())

    def needed(self, name: str) -> str:
        """Raises InvalidParams: it is empty or was not sent."""
        value = self.text(name).strip()
        if not value:
            raise InvalidParams(f"Give a {name}.", parameter=name)
        return value


def back_to(path: str) -> str:
    """A path of this site, whatever was asked for: never another host."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and "\n" not in path
    return path if is_own else "/"


PAGE_SIZE = 50
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Part(Generic[Row]):
    """The rows of page ``number`` of ``last``, of ``total`` rows in all."""

    rows: Sequence[Row]
    number: int
    last: int
    total: int


def paged(rows: Sequence[Row], asked: str) -> Part[Row]:
    """The page of this number, the nearest there is; the first for anything that is no number."""
    last = max(1, -(-len(rows) // PAGE_SIZE))
    number = min(max(1, int(asked) if asked.isdecimal() and len(asked) < 9 else 1), last)
    return Part(rows[(number - 1) * PAGE_SIZE : number * PAGE_SIZE], number, last, len(rows))


PERSON = "page"
MOST_LINES = 200  # of a change that are shown
LOOKED_BACK = 20  # changes among which the person's last is looked for


@dataclass(frozen=True, slots=True)
class ShownThing:
    name: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A change, who made it in words, the memories it is about, and the lines that differ."""

    change: Change
    who: str
    things: tuple[ShownThing, ...]
    lines: tuple[LineChange, ...] = ()

    @property
    def can_undo(self) -> bool:
        return self.change.undoable and self.change.undone_by is None


def by_person(rationale: str, reason: str | None = None) -> Attribution:
    """The provenance of a change that a person makes on a page."""
    return Attribution(client=PERSON, rationale=rationale, reason=reason, kind="person")


def last_of_person(container: Container) -> Change | None:
    """The newest change of the person that is not undone."""
    for change in container.curator.history.changes(limit=LOOKED_BACK):
        is_own = change.actor.kind == "person" and change.kind is not ChangeKind.UNDONE
        if is_own and change.undone_by is None and change.undoable:
            return change
    return None


def shown(container: Container, changes: Sequence[Change], *, lines: bool) -> list[ShownChange]:
    """The changes with what goes with them; the lines are read from the kept versions."""
    return [
        ShownChange(
            change,
            who_made(change),
            _things(container, change),
            tuple(_lines(container, change)) if lines else (),
        )
        for change in changes
    ]


def who_made(change: Change) -> str:
    if change.actor.kind == "person":
        return "you"
    if change.actor.kind == "system":
        return "memvault"
    return change.client or change.actor.name or "an unnamed client"


def _things(container: Container, change: Change) -> tuple[ShownThing, ...]:
    by_id = container.live.catalogue.by_id
    known = [memory for key in change.node_ids if (memory := by_id(key)) is not None]
    titles = {memory.title for memory in known}
    named = tuple(ShownThing(name) for name in change.names if name not in titles)
    linked = tuple(ShownThing(memory.title, memory.id) for memory in known)
    if linked or named:
        return (*linked, *named)
    return tuple(ShownThing(path) for path in change.paths[:3])


def _lines(container: Container, change: Change) -> list[LineChange]:
    content = container.curator.history.content
    found: list[LineChange] = []
    for file in change.files:
        if file.moved_to is not None or len(found) >= MOST_LINES:
            continue
        before, after = (content(key) if key else b"" for key in (file.before, file.after))
        if before is not None and after is not None:
            found += lines_changed(file.path, before, after)
    return found[:MOST_LINES]


PROMOTED = "kept on the page from a captured session"
NAMELESS = "me"  # who verifies, where no name is configured


class PageActions:
    """Changes that a person makes on a page. Thread-safe.

    Each method either makes its change or raises MemvaultError and changes nothing.
    """

    def __init__(self, container: Callable[[], Container]) -> None:
        self._container = container

    @property
    def _actions(self) -> Actions:
        return self._container().actions

    def target(self, name: str) -> Target:
        """The note or concept with this id, path or name.

        Raises NoteNotFound, AmbiguousTarget.
        """
        return self._actions.target(name)

    def verify(self, name: str, *, verified: bool) -> None:
        by = self._container().settings.user.strip() or NAMELESS
        why = by_person("verified on the page" if verified else "marked as wrong on the page")
        self._actions.verify(name, why, verified=verified, by=by)

    def pin(self, name: str, *, pinned: bool) -> None:
        why = by_person("pinned on the page" if pinned else "unpinned on the page")
        self._actions.pin(name, why, pinned=pinned)

    def tag(self, name: str, tags: str) -> None:
        """Set the tags in the properties, separated by commas."""
        self._actions.set_tags(name, tags.split(","), by_person("tagged on the page"))

    def boost(self, name: str, importance: str) -> None:
        why = by_person(f"importance set to {importance} on the page")
        self._actions.set_importance(name, why, importance=read_importance(importance))

    def set_lifecycle(self, name: str, lifecycle: Lifecycle, *, move: bool = False) -> None:
        why = by_person(f"made {lifecycle} on the page")
        self._actions.set_lifecycle(name, lifecycle, why, move=move)

    def annotate(self, name: str, remark: str) -> None:
        self._actions.annotate(name, remark, by_person("annotated on the page"))

    def edit(self, name: str, text: str, version: str, why: str = "") -> None:
        """Give a note this text, if it is still the version that the form showed. ``why``, here
        and below, is the reason that the person gave, if any.

        Raises NoteConflict: the note was saved elsewhere meanwhile; that version stays.
        """
        self._actions.rewrite(
            name, lambda data: edited(data, text), version, by_person(why or "edited on the page")
        )

    def forget(self, name: str, reason: str | None = None) -> None:
        """Move a note to the vault's trash, or hide a concept without a note."""
        self._actions.forget([self.target(name)], by_person("forgotten on the page", reason))

    def forget_unindexed(self, path: str, note_id: str) -> None:
        """Move a note that is in quarantine to the vault's trash."""
        container = self._container()
        note = parse_note(path, container.vault.read(path))
        memory = memory_of(note, fallback_time=datetime.now(UTC), id=note_id or id_of_path(path))
        why = by_person("moved from quarantine to the trash")
        self._actions.forget([Target(memory.title, memory)], why)

    def forget_all(self, targets: Sequence[Target], why: str = "") -> None:
        """Forget several memories or concepts as one change."""
        self._actions.forget(targets, by_person(why or "forgotten on the page"))

    def plan_merge(self, sources: Sequence[str], target: str) -> Plan:
        """What merging these into the target, which may be among them, would change."""
        return self._actions.merge(sources, target, by_person("a preview"), preview=True).plan

    def merge(self, sources: Sequence[str], target: str, why: str = "") -> None:
        self._actions.merge(sources, target, by_person(why or "merged on the page"))

    def write(self, title: str, text: str, *, beside: str) -> None:
        """Write a new note of this title in the folder of the note at ``beside``."""
        self._actions.write(title, text, by_person("written on the page"), beside=beside)

    def settle(self, call: TaskAction) -> None:
        """Do what a curation task suggests.

        Raises InvalidParams: the page cannot do it.
        """
        given = call.arguments
        match call.tool:
            case "verify_memory":
                self.verify(given["target"], verified=given["verified"])
            case "forget_concept":
                self.forget(given["target"], given.get("reason"))
            case "annotate_node":
                self.annotate(given["target"], given["note"])
            case "merge_concepts":
                self.merge(given["sources"], given["target"])
            case "archive_project":
                why = by_person("archived on the page")
                self._actions.archive_project(given["project"], why)
            case "store_memory" if "content" in given:
                self._actions.store(Draft.checked(**given, rationale=PROMOTED), kind="person")
            case _:
                raise InvalidParams(f"The page cannot run {call.tool}.")
