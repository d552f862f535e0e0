"""*curate*: one task at a time, with a key for each answer."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form
from mcp_server.pages.memory import resolver
from mcp_server.pages.note_html import compared, note_html
from mcp_server.pages.shown_versions import shown_versions
from mcp_server.pages.site import Site
from mcp_server.pages.task_answers import TaskAnswer, answers_to
from mcp_server.runtime.index_status import held_notes
from memvault.curation.changes.change_text import change_summary
from memvault.curation.decisions import ACTOR, by_person
from memvault.curation.operations.move import lifecycle_path
from memvault.curation.proposals import Proposal, ProposalKind
from memvault.curation.targets import Target
from memvault.model.change import CurationTask, TaskType
from memvault.model.errors import InvalidParams, MemvaultError
from memvault.model.memory import Lifecycle, Memory
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.frontmatter.read import read_frontmatter
from memvault.vault.links import obsidian_address
from memvault.vault.parse import parse_note

MAX_HELD = 20  # notes in quarantine, and proposals, that are shown at once
MAX_NAMED = 3  # changes or notes of a proposal that are named
MAX_SOURCE = 100_000  # characters of a note that can be verified here
_CLAIMS = {
    ProposalKind.VERIFIED: "says: you confirmed this",
    ProposalKind.WRONG: "says: you called this wrong",
    ProposalKind.PERMANENT: "says: keep this for good",
}
# An answered task is hidden until the next search for tasks has run.
ANSWERED_SECONDS = 15.0


class CuratePage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._answered: dict[str, float] = {}
        self._lock = threading.Lock()
        site.on_undo.append(self._clear_answered)
        self.routes: list[BaseRoute] = [
            site.page("/curate", self._show),
            site.action("/curate/answer", self._answer),
            site.action("/curate/write", self._write),
            site.action("/curate/leave", self._dismiss),
            site.action("/curate/take-up", self._reopen),
            site.action("/curate/release", self._release),
            site.action("/curate/hold", partial(self._release, back=True)),
            site.action("/curate/discard", self._discard),
            site.action("/curate/accept", self._accept),
            site.action("/curate/decline", self._decline),
        ]

    def _show(self, request: Request) -> Response:
        params = request.query_params
        kind = params.get("kind", "")
        open_tasks = self._open_tasks()
        tasks = [task for task in open_tasks if not kind or task.task_type == kind]
        skipped = int(params.get("skip", "0")) if params.get("skip", "").isdecimal() else 0
        skipped = skipped % len(tasks) if tasks else 0
        task = tasks[skipped] if tasks else None
        dismissed = self._site.container.curation.dismissed.last()
        return self._site.render(
            "curate.html",
            request,
            task=task,
            number=skipped + 1,
            total=len(tasks),
            searched=self._site.container.curation.is_searched,
            kind=kind,
            kinds=Counter(task.task_type.value for task in open_tasks),
            skip=_address(kind, skipped + 1),
            back=_address(kind, skipped),
            left=dismissed[0] if dismissed else None,
            released=self._site.container.quarantine.last_released(),
            held=held_notes(self._site.container)[:MAX_HELD],
            proposals=self._proposals(),
            most=MAX_SOURCE,
            **(self._task_view(task) if task else {}),
        )

    def _proposals(self) -> list[dict[str, Any]]:
        """The waiting proposals, each with the client's wish, the note, and for a merge its preview
        page."""
        shown = []
        for proposal in self._site.container.proposals.waiting()[:MAX_HELD]:
            merge = proposal.call if proposal.kind is ProposalKind.MERGED else None
            by_id = self._site.container.live.catalogue.by_id
            note, merged = by_id(proposal.note_id), merge.arguments if merge else {}
            concerned = [*merged.get("sources", ()), *filter(None, [merged.get("target")])]
            seen = shown_versions(self._site.container, [note, *map(by_id, concerned)])
            shown.append(
                {
                    "waiting": proposal,
                    "wish": self._wish(proposal),
                    "note": note,
                    "seen": seen,
                    "source": self._text_of(note) if note and proposal.call is None else "",
                    "page": TaskAnswer("", "", (merge,)).preview if merge else None,
                    "folder": self._permanent_folder(proposal, note),
                }
            )
        return shown

    def _permanent_folder(self, proposal: Proposal, note: Memory | None) -> str | None:
        """The folder to which a note can move that is to be kept for good; None for no move."""
        if proposal.kind is not ProposalKind.PERMANENT or note is None:
            return None
        folders = self._site.container.vault.folders
        path = lifecycle_path(note, Lifecycle.PERMANENT, folders)
        return None if path is None else path.rpartition("/")[0]

    def _wish(self, proposal: Proposal) -> str:
        if proposal.call is None:
            return _CLAIMS[proposal.kind]
        arguments, container = proposal.call.arguments, self._site.container
        match proposal.call.tool:
            case "archive_project":
                return f"asks to move the project {arguments['project']} to the archive"
            case "move_folder":
                return f"asks to move the notes of {arguments['folder']} to " + str(
                    arguments["destination"]
                )
            case "move_memory":
                return f"asks to move this note to {arguments['destination']}"
            case "set_lifecycle":
                return f"asks to move this note to the folder of {arguments['lifecycle']} notes"
            case "forget_concept" if arguments["soft_delete"]:
                return "asks to move this note to the trash"
            case "forget_concept":
                return "asks to delete this note for good"
            case "merge_concepts":
                into = container.live.catalogue.by_id(arguments["target"])
                return f"asks to merge this note into {into.title if into else 'another'}"
            case "undo_change":
                changes = map(container.curator.history.find, arguments["changes"])
                names = [change_summary(change) for change in changes if change is not None]
                return f"asks to undo: {_first_of(names, '; ')}"
            case "reload_manifest":
                notes = _first_of(arguments["notes"], ", ")
                return f"asks to apply manifest.md, which moves to the trash: {notes}"
        project = arguments["content"].strip()
        return f"asks to move this note to {f'the project {project}' if project else 'no project'}"

    def _open_tasks(self) -> list[CurationTask]:
        """The unanswered tasks about notes that still exist."""
        container = self._site.container
        now, by_id = time.monotonic(), container.live.catalogue.by_id
        with self._lock:
            self._answered = {k: until for k, until in self._answered.items() if until > now}
            answered = set(self._answered)
        return [
            task
            for task in container.curation.tasks()
            if _task_key(task) not in answered
            and all(by_id(key) is not None for key in task.target_nodes)
        ]

    def _task_view(self, task: CurationTask) -> dict[str, Any]:
        container = self._site.container
        memories = container.live.catalogue.by_ids(task.target_nodes)
        seen = shown_versions(container, memories)  # first: a later edit is noticed
        sources = [self._source(memory) for memory in memories]
        pairs = zip(memories, sources, strict=True)
        too_long = {memory.id for memory, source in pairs if len(source) > MAX_SOURCE}
        return {
            "seen": seen,
            "name": _task_key(task),
            "memories": list(zip(memories, self._texts(task, memories), sources, strict=True)),
            "answers": [each for each in answers_to(task) if too_long.isdisjoint(each.verifies)],
            "dreamt": container.dream_record.get(task.proposal) if task.proposal else None,
            "line": container.decisions.line_to_link(task) if task.proposal else None,
            "obsidian": obsidian_address(container.vault.root.name, task.paths[0]),
            "missing": self._missing(task),
            "problem_text": self._text_of(memories[0]) if _is_malformed(task) else "",
        }

    def _texts(self, task: CurationTask, memories: Sequence[Memory]) -> list[Markup]:
        """The notes' texts as HTML; two notes that are compared have their differences marked."""
        notes = [(self._body(memory), resolver(self._site, memory.path)) for memory in memories]
        if len(notes) == 2 and task.task_type is not TaskType.SUPERSEDED and not task.proposal:
            return list(compared(*notes))
        return [note_html(body, resolve) for body, resolve in notes]

    def _source(self, memory: Memory) -> str:
        """The whole file of a note that others wrote in; empty for any other.

        Verifying makes all of it the person's word, also what the layout does not show.
        """
        is_own = memory.verified or memory.provenance.is_person
        return "" if is_own else self._text_of(memory)

    def _body(self, memory: Memory) -> str:
        text = self._text_of(memory).replace("\r\n", "\n").replace("\r", "\n")
        return text[read_frontmatter(text).body_start :].strip("\n")

    def _text_of(self, memory: Memory) -> str:
        try:
            return self._site.container.vault.read(memory.path).decode("utf-8", errors="replace")
        except MemvaultError as error:  # the note was deleted just now
            return error.message

    def _missing(self, task: CurationTask) -> str | None:
        """The name of a note that does not exist yet: a link's target, or the answer to a
        question."""
        calls = (call for call in task.settled_by if call.tool == "store_memory")
        if task.task_type not in (TaskType.UNRESOLVED_LINKS, TaskType.OPEN_QUESTION):
            return None
        return next((str(call.arguments.get("title")) for call in calls), None)

    # -- answers --------------------------------------------------------------------------------

    def _task(self, form: Form) -> CurationTask:
        """The task of this form. Raises InvalidParams: it is no longer open."""
        name = form.needed("task")
        for task in self._open_tasks():
            if _task_key(task) == name:
                return task
        raise InvalidParams("This task is settled, or its notes have changed. Open Curate again.")

    def _answer(self, _: Request, form: Form) -> str | None:
        task = self._task(form)
        key = form.needed("answer")
        answer = next((answer for answer in answers_to(task) if answer.key == key), None)
        if answer is None:
            raise InvalidParams("There is no such answer to this task.")
        if answer.preview is not None:
            return answer.preview
        decisions = self._site.container.decisions
        if task.proposal:
            decisions.accept_dream(task, form.text("line"), form.seen())
        else:
            for call in answer.calls:
                decisions.run(call, form.seen())
        self._close(task)
        return None

    def _write(self, _: Request, form: Form) -> None:
        """Write the note that a link refers to, in the folder of the note that links to it."""
        task = self._task(form)
        title = self._missing(task)
        if title is None:
            raise InvalidParams("No note is missing there.")
        why = by_person("written on the page")
        actions = self._site.container.actions
        actions.write(title, form.needed("text"), why, next_to=task.paths[0])
        if task.proposal:
            self._site.container.dreaming.record.keep(task.proposal, ACTOR)
        self._close(task)

    def _dismiss(self, _: Request, form: Form) -> None:
        container = self._site.container
        task = self._task(form)
        container.curation.dismissed.dismiss(
            task, container.live.catalogue.by_id, ACTOR, datetime.now(UTC)
        )

    def _reopen(self, _: Request, form: Form) -> None:
        dismissed = self._site.container.curation.dismissed
        dismissed.reopen(form.needed("left"), ACTOR, datetime.now(UTC))

    # -- quarantine and proposals ---------------------------------------------------------------

    def _release(self, _: Request, form: Form, *, back: bool = False) -> None:
        """Release a note from quarantine, so that answers may show it; ``back`` undoes that."""
        container = self._site.container
        held = container.quarantine.set_released(form.needed("held"), ACTOR, released=not back)
        container.indexing.index_written([held.path])

    def _discard(self, _: Request, form: Form) -> None:
        """Move a note in quarantine to the trash."""
        container = self._site.container
        key = form.needed("held")
        held = next((text for text in container.guarded.held_texts() if text.key == key), None)
        if held is None or not held.whole:
            raise InvalidParams("Only a note that is in quarantine as a whole can be moved there.")
        note = parse_note(held.path, container.vault.read(held.path))
        key = held.note_id or container.curator.moved.id_at(held.path)
        memory = memory_of(note, fallback_time=datetime.now(UTC), id=key)
        why = by_person("moved from quarantine to the trash")
        container.actions.forget([Target(memory.title, memory)], why)

    def _accept(self, _: Request, form: Form) -> None:
        """Apply a client's proposal."""
        container = self._site.container
        proposal = container.proposals.get(form.needed("proposal"))
        container.decisions.accept(proposal, form.seen(), move=form.text("move") == "true")
        container.proposals.decide(proposal.key, ACTOR)  # last: a failed proposal still waits

    def _decline(self, _: Request, form: Form) -> None:
        self._site.container.proposals.decide(form.needed("proposal"), ACTOR)

    def _close(self, task: CurationTask) -> None:
        with self._lock:
            self._answered[_task_key(task)] = time.monotonic() + ANSWERED_SECONDS

    def _clear_answered(self) -> None:
        """Show answered tasks again, because an undo may have reopened them."""
        with self._lock:
            self._answered.clear()


def _first_of(names: Sequence[str], separator: str) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - MAX_NAMED
    return separator.join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _task_key(task: CurationTask) -> str:
    if task.proposal:
        return f"{task.task_type} {task.proposal}"
    return " ".join(filter(None, (task.task_type, *task.target_nodes, task.subject)))


def _is_malformed(task: CurationTask) -> bool:
    return task.task_type in (TaskType.MALFORMED_FRONTMATTER, TaskType.MALFORMED_TEXT)


def _address(kind: str, skip: int) -> str:
    query = {key: value for key, value in {"kind": kind, "skip": skip}.items() if value}
    return "/curate" + (f"?{urlencode(query)}" if query else "")
