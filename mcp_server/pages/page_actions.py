"""What the buttons of the pages do; each makes one change, which the history lists."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.note_text import editable, edited
from memvault.curation.changes.forgetting import USER_REQUESTED
from memvault.curation.changes.plan import Attribution, LineChange, lines_changed
from memvault.curation.operations.brief import Brief, Sources
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.edit import EditOperation, NoteEdit
from memvault.curation.proposals import Proposal, ProposalKind
from memvault.curation.tasks.dream_tasks import LinkedLine, linked_line, summary_text
from memvault.model.change import Actor, Change, ChangeKind, CurationTask, TaskAction, TaskType
from memvault.model.errors import InvalidParams, MemvaultError, NoteConflict
from memvault.model.memory import Lifecycle
from memvault.model.note import LineRange
from memvault.vault.frontmatter.properties import read_importance
from memvault.vault.links import wikilink
from memvault.vault.parse import content_hash

if TYPE_CHECKING:
    from mcp_server.pages.site import Site
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
    """A path of this site, never of another host."""
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


def verify(container: Container, name: str, *, verified: bool) -> None:
    """Record that the person calls a memory right or wrong."""
    by = container.settings.user.strip() or NAMELESS
    why = by_person("verified on the page" if verified else "marked as wrong on the page")
    container.actions.verify(name, why, verified=verified, by=by)


def settle(container: Container, call: TaskAction) -> None:
    """Do what a curation task suggests.

    Raises InvalidParams: the page cannot do it.
    """
    actions, given = container.actions, call.arguments
    match call.tool:
        case "verify_memory":
            verify(container, given["target"], verified=given["verified"])
        case "forget_concept":
            why = by_person("forgotten on the page", given.get("reason"))
            target, permanent = actions.target(given["target"]), not given.get("soft_delete", True)
            actions.forget([target], why, permanent=permanent)
        case "annotate_node":
            actions.annotate(given["target"], given["note"], by_person("annotated on the page"))
        case "merge_concepts":
            actions.merge(given["sources"], given["target"], by_person("merged on the page"))
        case "archive_project":
            actions.archive_project(given["project"], by_person("archived on the page"))
        case "set_lifecycle":
            why, lifecycle = by_person("moved on the page"), Lifecycle(given["lifecycle"])
            actions.set_lifecycle(given["target"], lifecycle, why, move=given["move"])
        case "edit_memory":
            edit = NoteEdit(
                EditOperation(given["operation"]), given["content"], property=given["property"]
            )
            actions.edit(given["target"], edit, by_person("moved on the page"))
        case "undo_change":
            done = actions.undo(given["changes"], by_person("undone on the page"))
            if done.conflicts:
                kept = done.conflicts[0]
                raise NoteConflict(f"{kept.path}: {kept.reason}", path=kept.path)
        case "store_memory" if "content" in given:
            actions.store(Draft.checked(**given, rationale=PROMOTED), kind="person")
        case _:
            raise InvalidParams(f"The page cannot run {call.tool}.")


def accept(container: Container, proposal: Proposal, *, move: bool = False) -> None:
    """Do what a client proposed.

    Args:
        move: whether a note that becomes permanent moves to that folder, too.
    """
    actions = container.actions
    if proposal.call is not None:
        settle(container, proposal.call)
    elif proposal.kind is ProposalKind.PERMANENT:
        why = by_person("made permanent on the page")
        actions.set_lifecycle(proposal.note_id, Lifecycle.PERMANENT, why, move=move)
    else:
        right = proposal.kind is ProposalKind.VERIFIED
        verify(container, proposal.note_id, verified=right)


def line_to_link(container: Container, task: CurationTask) -> LinkedLine | None:
    """The line of the first note that names the second, as it becomes a link; None where there is
    none, or the line is not the person's own: they would be taken for its writer then."""
    found = container.dreaming.proposal(task.proposal)
    if found is None or not found.is_link:
        return None
    one, other = (container.live.catalogue.by_id(key) for key in found.notes)
    said = next((each for each in found.evidence if one and each.path == one.path), None)
    if one is None or other is None or said is None:
        return None
    if not one.provenance.of_lines(LineRange(said.line, said.line)).is_person:
        return None
    names = [other.title, *other.aliases, PurePosixPath(other.path).stem]
    link = wikilink(other.path, one.path, container.live.indexer.links)
    try:
        return linked_line(one.path, container.vault.read(one.path), said.line, names, link)
    except MemvaultError:  # gone or changed a moment ago
        return None


def keep_dreamt(container: Container, task: CurationTask, shown: str = "") -> None:
    """Do what a dream proposed.

    Args:
        shown: the line with a link in it that the person was shown, if one was.

    Raises:
        InvalidParams: the page cannot do it.
        NoteConflict: the line is another one by now.
    """
    actions, why = container.actions, by_person("a dream proposed it")
    found = container.dreaming.proposal(task.proposal)
    if shown:
        line, path = line_to_link(container, task), task.paths[0]
        if line is None or line.after != shown:
            raise NoteConflict(f"{path} was saved elsewhere in the meantime", path=path)
        version = content_hash(container.vault.read(path))
        actions.rewrite(task.target_nodes[0], lambda _: line.note, version, why, ChangeKind.DREAMED)
    elif task.task_type is TaskType.MISSING_LINK:
        given = task.settled_by[0].arguments
        actions.annotate(given["target"], given["note"], why, ChangeKind.DREAMED)
    elif task.task_type is TaskType.CLUSTER_SUMMARY and found is not None:
        by_id = container.live.catalogue.by_id
        sources = [memory for key in task.target_nodes if (memory := by_id(key)) is not None]
        projects = {memory.project for memory in sources}
        brief = Brief(
            found.title, summary_text(found), sources, Sources.STAY,
            projects.pop() if len(projects) == 1 else None,
        )  # fmt: skip
        actions.compress(brief, why, ChangeKind.DREAMED)
    elif task.task_type is TaskType.ANSWERED_QUESTION and found is not None:
        container.learning.settle(found.title)
    else:
        raise InvalidParams("This proposal cannot be accepted here.")
    container.dreaming.record.keep(task.proposal, Actor(kind="person", name=PERSON))


class MemoryButtons:
    """The buttons on the page of a memory."""

    def __init__(self, site: Site) -> None:
        self._site = site
        buttons: dict[str, Callable[[str, Form], object]] = {
            "verify": lambda key, form: verify(
                site.container, key, verified=_yes(form, "verified")
            ),
            "pin": self._pin,
            "reconstruct": lambda key, _: self._actions.reconstruct(
                key, by_person("brought back on the page")
            ),
            "tags": lambda key, form: self._actions.set_tags(
                key, form.text("tags").split(","), by_person("tagged on the page")
            ),
            "importance": self._importance,
            "lifecycle": self._lifecycle,
            "annotate": lambda key, form: self._actions.annotate(
                key, form.needed("note"), by_person("annotated on the page")
            ),
            "forget": self._forget,
        }
        self.routes: list[BaseRoute] = [
            *(site.action(f"/memory/{{id}}/{name}", _back(do)) for name, do in buttons.items()),
            site.action("/memory/{id}/edit", self._edit),
        ]

    @property
    def _actions(self) -> Actions:
        return self._site.container.actions

    def _forget(self, key: str, form: Form) -> None:
        permanent = form.text("permanent") == "yes"
        why = by_person(
            "deleted for good on the page" if permanent else "forgotten on the page",
            USER_REQUESTED if permanent else None,
        )
        self._actions.forget([self._actions.target(key)], why, permanent=permanent)

    def _pin(self, key: str, form: Form) -> None:
        pinned = _yes(form, "pinned")
        why = by_person("pinned on the page" if pinned else "unpinned on the page")
        self._actions.pin(key, why, pinned=pinned)

    def _importance(self, key: str, form: Form) -> None:
        importance = form.needed("importance")
        why = by_person(f"importance set to {importance} on the page")
        self._actions.set_importance(key, why, importance=read_importance(importance))

    def _lifecycle(self, key: str, form: Form) -> None:
        try:
            lifecycle = Lifecycle(form.needed("lifecycle"))
        except ValueError as error:
            raise InvalidParams("A lifecycle is permanent, temporary or ephemeral.") from error
        self._actions.set_lifecycle(key, lifecycle, by_person(f"made {lifecycle} on the page"))

    def _edit(self, request: Request, form: Form) -> str | Response:
        key, text = request.path_params["id"], form.text("text")
        why = by_person(form.why() or "edited on the page")
        try:
            self._actions.rewrite(key, lambda data: edited(data, text), form.needed("version"), why)
        except NoteConflict:
            return self._both_versions(request, key, text, form.why())
        return form.text("back")

    def _both_versions(self, request: Request, key: str, text: str, why: str) -> Response:
        """Somebody else saved the note: keep theirs, and show the text of this form next to it."""
        memory = self._site.box.memory(key)
        data = self._site.container.vault.read(memory.path)
        return self._site.render(
            "conflict.html",
            request,
            status=409,
            memory=memory,
            text=text,
            why=why,
            version=content_hash(data),
            is_text=editable(data) is not None,
            lines=lines_changed(memory.path, data, text.encode("utf-8")),
        )


def _back(do: Callable[[str, Form], object]) -> Callable[[Request, Form], str]:
    def act(request: Request, form: Form) -> str:
        do(request.path_params["id"], form)
        return form.text("back")

    return act


def _yes(form: Form, name: str) -> bool:
    return form.needed(name) == "yes"
