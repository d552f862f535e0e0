"""The actions of the pages' buttons; each makes one change, which the history lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form
from mcp_server.pages.note_edits import editable, edited
from mcp_server.pages.seen_notes import check_shown
from memvault.curation.changes.forgetting import USER_REQUESTED
from memvault.curation.changes.plan import Attribution, lines_changed
from memvault.curation.operations.brief import Brief, Sources
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.edit import EditOperation, NoteEdit
from memvault.curation.proposals import Proposal, ProposalKind
from memvault.curation.tasks.dream_tasks import LinkedLine, linked_line, summary_text
from memvault.model.change import Actor, ChangeKind, CurationTask, TaskAction, TaskType
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

PERSON = "page"  # the client's name in the history
ACTOR = Actor(kind="person", name=PERSON)


Seen = Mapping[str, str]  # the content hashes of the notes that the page showed, by id
NOTHING_SHOWN: Seen = {}


def by_person(rationale: str, reason: str | None = None, seen: Seen = NOTHING_SHOWN) -> Attribution:
    """The provenance of a change that a person makes on a page."""
    return Attribution(PERSON, rationale, reason, "person", seen=seen)


PROMOTED = "kept on the page from a captured session"
NAMELESS = "me"  # the verifying person, if no name is configured


def verify(container: Container, name: str, seen: Seen, *, verified: bool) -> None:
    """Record that the person marked a memory, as the page showed it, as verified or wrong."""
    check_shown(container.actions.target(name).node_ids, seen)
    by = container.settings.user.strip() or NAMELESS
    done = "verified on the page" if verified else "marked as wrong on the page"
    why = by_person(done, seen=seen)
    container.actions.verify(name, why, verified=verified, by=by)


def run_action(container: Container, call: TaskAction, seen: Seen) -> None:
    """Run the action that a curation task suggests, on the notes as the page showed them.

    Raises InvalidParams: the page cannot run it.
    """
    actions, arguments = container.actions, call.arguments
    person = partial(by_person, seen=seen)
    match call.tool:
        case "verify_memory":
            verify(container, arguments["target"], seen, verified=arguments["verified"])
        case "forget_concept":
            why = person("forgotten on the page", arguments.get("reason"))
            permanent = not arguments.get("soft_delete", True)
            actions.forget([actions.target(arguments["target"])], why, permanent=permanent)
        case "annotate_node":
            actions.annotate(
                arguments["target"], arguments["note"], person("annotated on the page")
            )
        case "merge_concepts":
            actions.merge(arguments["sources"], arguments["target"], person("merged on the page"))
        case "archive_project":
            actions.archive_project(arguments["project"], person("archived on the page"))
        case "move_memory" | "move_folder" | "set_lifecycle":
            _run_move(actions, call, person("moved on the page"))
        case "edit_memory":
            edit = NoteEdit(
                EditOperation(arguments["operation"]),
                arguments["content"],
                property=arguments["property"],
            )
            actions.edit(arguments["target"], edit, person("moved on the page"))
        case "undo_change":
            done = actions.undo(arguments["changes"], person("undone on the page"))
            if done.conflicts:
                conflict = done.conflicts[0]
                raise NoteConflict(f"{conflict.path}: {conflict.reason}", path=conflict.path)
        case "reload_manifest":
            why = person("applied on the page")
            container.manifest.apply(why, confirm=True, digest=arguments["digest"])
        case "store_memory" if "content" in arguments:
            actions.store(Draft.checked(**arguments, rationale=PROMOTED), kind="person")
        case _:
            raise InvalidParams(f"The page cannot run {call.tool}.")


def _run_move(actions: Actions, call: TaskAction, why: Attribution) -> None:
    arguments = call.arguments
    if call.tool == "move_memory":
        actions.move(arguments["target"], arguments["destination"], why)
    elif call.tool == "move_folder":
        actions.move_folder(arguments["folder"], arguments["destination"], why)
    else:
        lifecycle = Lifecycle(arguments["lifecycle"])
        actions.set_lifecycle(arguments["target"], lifecycle, why, move=arguments["move"])


def accept_proposal(
    container: Container, proposal: Proposal, seen: Seen, *, move: bool = False
) -> None:
    """Apply a client's proposal.

    Args:
        move: whether a note that becomes permanent moves to that folder, too.
    """
    actions = container.actions
    if proposal.call is not None:
        run_action(container, proposal.call, seen)
    elif proposal.kind is ProposalKind.PERMANENT:
        check_shown([proposal.note_id], seen)
        why = by_person("made permanent on the page", seen=seen)
        actions.set_lifecycle(proposal.note_id, Lifecycle.PERMANENT, why, move=move)
    else:
        is_right = proposal.kind is ProposalKind.VERIFIED
        verify(container, proposal.note_id, seen, verified=is_right)


def line_to_link(container: Container, task: CurationTask) -> LinkedLine | None:
    """The line of the first note that names the second, changed into a link.

    None if there is no such line, or the line is not the person's own: the edit would make them its
    author.
    """
    proposal = container.dreaming.proposal(task.proposal)
    if proposal is None or not proposal.is_link:
        return None
    source, target = (container.live.catalogue.by_id(key) for key in proposal.notes)
    if source is None or target is None:
        return None
    evidence = next((e for e in proposal.evidence if e.path == source.path), None)
    if evidence is None:
        return None
    if not source.provenance.of_lines(LineRange(evidence.line, evidence.line)).is_person:
        return None
    names = [target.title, *target.aliases, PurePosixPath(target.path).stem]
    link = wikilink(target.path, source.path, container.live.indexer.links)
    try:
        data = container.vault.read(source.path)
        return linked_line(source.path, data, evidence.line, names, link)
    except MemvaultError:  # deleted or changed just now
        return None


def accept_dream_proposal(
    container: Container, task: CurationTask, shown: str = "", seen: Seen = NOTHING_SHOWN
) -> None:
    """Apply a dream's proposal.

    Args:
        shown: the line with the link, as the person saw it; empty if none was shown.

    Raises:
        InvalidParams: the page cannot accept the proposal.
        NoteConflict: the line has changed since.
    """
    actions, why = container.actions, by_person("a dream proposed it", seen=seen)
    proposal = container.dreaming.proposal(task.proposal)
    if shown:
        line, path = line_to_link(container, task), task.paths[0]
        if line is None or line.after != shown:
            raise NoteConflict(f"{path} was saved elsewhere in the meantime", path=path)
        version = content_hash(container.vault.read(path))
        actions.rewrite(task.target_nodes[0], lambda _: line.note, version, why, ChangeKind.DREAMED)
    elif task.task_type is TaskType.MISSING_LINK:
        arguments = task.settled_by[0].arguments
        actions.annotate(arguments["target"], arguments["note"], why, ChangeKind.DREAMED)
    elif task.task_type is TaskType.CLUSTER_SUMMARY and proposal is not None:
        sources = container.live.catalogue.by_ids(task.target_nodes)
        projects = {memory.project for memory in sources}
        brief = Brief(
            proposal.title, summary_text(proposal), sources, Sources.STAY,
            projects.pop() if len(projects) == 1 else None,
        )  # fmt: skip
        actions.compress(brief, why, ChangeKind.DREAMED)
    elif task.task_type is TaskType.ANSWERED_QUESTION and proposal is not None:
        container.learning.settle(proposal.title)
    else:
        raise InvalidParams("This proposal cannot be accepted here.")
    container.dreaming.record.keep(task.proposal, ACTOR)


class MemoryButtons:
    """The buttons on the page of a memory."""

    def __init__(self, site: Site) -> None:
        self._site = site
        buttons: dict[str, Callable[[str, Form], None]] = {
            "verify": self._verify,
            "pin": self._pin,
            "reconstruct": self._reconstruct,
            "tags": self._tags,
            "importance": self._importance,
            "lifecycle": self._lifecycle,
            "annotate": self._annotate,
            "forget": self._forget,
        }
        self.routes: list[BaseRoute] = [
            *(
                site.action(f"/memory/{{id}}/{name}", _on_memory(do))
                for name, do in buttons.items()
            ),
            site.action("/memory/{id}/edit", self._edit),
        ]

    @property
    def _actions(self) -> Actions:
        return self._site.container.actions

    def _verify(self, key: str, form: Form) -> None:
        verify(self._site.container, key, form.seen(), verified=form.yes("verified"))

    def _reconstruct(self, key: str, _: Form) -> None:
        self._actions.reconstruct(key, by_person("brought back on the page"))

    def _tags(self, key: str, form: Form) -> None:
        tags = form.text("tags").split(",")
        self._actions.set_tags(key, tags, by_person("tagged on the page"))

    def _annotate(self, key: str, form: Form) -> None:
        self._actions.annotate(key, form.needed("note"), by_person("annotated on the page"))

    def _forget(self, key: str, form: Form) -> None:
        permanent = form.text("permanent") == "yes"
        why = by_person(
            "deleted for good on the page" if permanent else "forgotten on the page",
            USER_REQUESTED if permanent else None,
            form.seen(),
        )
        self._actions.forget([self._actions.target(key)], why, permanent=permanent)

    def _pin(self, key: str, form: Form) -> None:
        pinned = form.yes("pinned")
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
        self._actions.set_lifecycle(
            key, lifecycle, by_person(f"made {lifecycle} on the page", seen=form.seen())
        )

    def _edit(self, request: Request, form: Form) -> Response | str | None:
        key, text = request.path_params["id"], form.text("text")
        path = self._site.box.lookup.memory(key).path
        why = by_person(form.why() or "edited on the page")
        try:
            self._actions.rewrite(key, lambda data: edited(data, text), form.needed("version"), why)
        except NoteConflict:
            return self._both_versions(request, key, text, form.why())
        memory = self._site.container.live.catalogue.by_path(path)
        # Without its property, or with another one, the note has another id.
        return None if memory is None or memory.id == key else f"/memory/{memory.id}"

    def _both_versions(self, request: Request, key: str, text: str, why: str) -> Response:
        """The page for a note that was saved elsewhere: keeps that version, and shows this form's
        text next to it."""
        memory = self._site.box.lookup.memory(key)
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


def _on_memory(do: Callable[[str, Form], None]) -> Callable[[Request, Form], None]:
    def act(request: Request, form: Form) -> None:
        do(request.path_params["id"], form)

    return act
