"""*activity*: each client's changes and reads, and undoing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import PAGE_SIZE, Form, back_to
from mcp_server.pages.learnt import LearntPart
from mcp_server.pages.plots import plots
from mcp_server.pages.shown_changes import shown_changes
from mcp_server.pages.site import Site
from memvault.cognition.sessions import Session
from memvault.curation.changes.undo import undoable
from memvault.curation.decisions import by_person
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import InvalidParams, MemvaultError
from memvault.verification.claim_gate import GatedQuestion

MAX_READ = 12  # memories of a session that are named
MAX_SESSIONS = 20
MAX_GATED = 20
_USUAL_KINDS = [kind for kind in ChangeKind if kind is not ChangeKind.FADED]  # too many
YOU = "you"  # the person, in the list of clients


@dataclass(frozen=True, slots=True)
class SessionWithHooks:
    """A client session with hooks: the memories that it was given, and its captures.

    ``given`` are ids and titles of memories; ``changes`` the hashes that undo the captures.
    """

    client: str
    place: str
    last_active: datetime
    given: tuple[tuple[str, str], ...]
    note: tuple[str, str] | None
    changes: tuple[str, ...]


class ActivityPage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._learnt = LearntPart(site)
        self.routes: list[BaseRoute] = [
            site.page("/activity", self._show),
            site.action("/undo", self._undo),
            *self._learnt.routes,
        ]

    def _show(self, request: Request) -> Response:
        container, params = self._site.container, request.query_params
        client, kind = params.get("client", ""), params.get("kind", "")
        day = _day(params.get("day", ""))
        kinds = _kinds(kind) or (None if client or day else _USUAL_KINDS)
        before = params.get("before") or None
        is_first_page = before is None
        changes = self._matching_changes(client, day, kinds, before, PAGE_SIZE + 1)
        chosen_day = day.isoformat() if day else ""
        filters: dict[str, Any] = {"client": client, "kind": kind, "day": chosen_day}
        rows = changes[:PAGE_SIZE]
        return self._site.render(
            "activity.html",
            request,
            changes=shown_changes(container, rows, lines=True),
            all_shown=undoable(self._matching_changes(client, day, kinds)) if client or day else [],
            older=rows[-1].reversal_hash if len(changes) > PAGE_SIZE else None,
            query=urlencode({key: value for key, value in filters.items() if value}),
            clients=self._clients(),
            kinds=[kind_of_change.value for kind_of_change in ChangeKind],
            sessions=self._sessions() if is_first_page else [],
            hooked=self._sessions_with_hooks() if is_first_page else [],
            gated=self._gated(client) if is_first_page else [],
            learnt=self._learnt.shown() if is_first_page else None,
            over_time=plots(container) if is_first_page else [],
            **filters,
        )

    def _matching_changes(
        self,
        client: str,
        day: date | None,
        kinds: Sequence[ChangeKind] | None,
        before: str | None = None,
        limit: int | None = None,
    ) -> list[Change]:
        name = None if not client else "" if client == YOU else client
        history = self._site.container.curator.history
        return history.changes(client=name, day=day, kinds=kinds, before=before, limit=limit)

    def _clients(self) -> list[str]:
        """The authors of changes: the person, then the clients by name."""
        changes = self._site.container.curator.history.all()
        return [YOU, *sorted({change.client for change in changes if change.client})]

    def _sessions(self) -> list[tuple[Session, list[tuple[str, str]]]]:
        """The sessions since startup that read notes, most recent first, with the ids and titles of
        the notes that they read last."""
        sessions = [
            (session, self._named(session.working_set[:MAX_READ]))
            for session in self._site.container.sessions.recent(MAX_SESSIONS)
        ]
        return [(session, notes) for session, notes in sessions if notes]

    def _named(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """The ids and titles of these memories."""
        memories = self._site.container.live.catalogue.by_ids(ids)
        return [(memory.id, memory.title) for memory in memories]

    def _gated(self, client: str) -> list[tuple[GatedQuestion, list[tuple[str, str]]]]:
        """The last sensitive questions that met unconfirmed claims, with the claims' notes."""
        return [
            (question, self._named(question.memories))
            for question in self._site.container.gate_log.recent(MAX_GATED)
            if client in ("", question.client)
        ]

    def _sessions_with_hooks(self) -> list[SessionWithHooks]:
        """The sessions that hooks served last, the latest first."""
        container = self._site.container
        sessions, catalogue = [], container.live.catalogue
        for record in container.hooks.records.recent(MAX_SESSIONS):
            given_notes = tuple(self._named(record.given_ids[-MAX_READ:]))
            note = catalogue.by_path(record.note_path) if record.note_path else None
            open_changes = undoable(list(self._changes(reversed(record.changes))))
            if given_notes or note or open_changes:
                sessions.append(
                    SessionWithHooks(
                        record.client,
                        record.project or record.folder,
                        record.last_active,
                        given_notes,
                        (note.id, note.title) if note is not None else None,
                        tuple(open_changes),
                    )
                )
        return sessions

    def _changes(self, hashes: Iterable[str]) -> Iterator[Change]:
        """The changes of these hashes that the history still has."""
        for reversal_hash in hashes:
            with suppress(MemvaultError):
                yield self._site.container.curator.history.change(reversal_hash)

    def _undo(self, request: Request, form: Form) -> Response | None:
        """Undo the changes of this form; conflicts with later edits are shown line by line."""
        container = self._site.container
        hashes = form.texts("change")
        if form.text("all"):
            client, day = form.text("client"), _day(form.text("day"))
            hashes = undoable(self._matching_changes(client, day, _kinds(form.text("kind"))))
        if not hashes:
            raise InvalidParams("Select the changes to undo.")
        undone = container.actions.undo(hashes, by_person("undone on the page"))
        for listener in self._site.on_undo:
            listener()
        if not undone.conflicts:
            return None
        return self._site.render(
            "undone.html",
            request,
            status=409,
            undone=shown_changes(container, undone.undone, lines=False),
            conflicts=undone.conflicts,
            back=back_to(form.text("back")),
        )


def _kinds(name: str) -> list[ChangeKind] | None:
    return [ChangeKind(name)] if name in {kind.value for kind in ChangeKind} else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
