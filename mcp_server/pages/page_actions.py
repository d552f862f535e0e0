"""The actions of the pages; each makes one change, which the history lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcp_server.pages.changes import by_person
from mcp_server.pages.note_text import edited
from memvault.curation.changes.plan import Plan
from memvault.curation.operations.draft import Draft
from memvault.curation.targets import Target
from memvault.model.change import Settling
from memvault.model.errors import InvalidParams
from memvault.model.memory import Lifecycle, id_of_path
from memvault.vault.frontmatter.properties import memory_of, read_importance
from memvault.vault.parse import parse_note

if TYPE_CHECKING:
    from mcp_server.runtime.container import Services
    from memvault.curation.actions import Actions

PROMOTED = "kept on the page from a captured session"
NAMELESS = "me"  # who verifies, where no name is configured


class PageActions:
    """Changes that a person makes on a page. Thread-safe.

    Each method either makes its change or raises MemvaultError and changes nothing.
    """

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    @property
    def _actions(self) -> Actions:
        return self._services().actions

    def target(self, name: str) -> Target:
        """The note or concept with this id, path or name.

        Raises NoteNotFound, AmbiguousTarget.
        """
        return self._actions.target(name)

    def verify(self, name: str, *, verified: bool) -> None:
        by = self._services().settings.user.strip() or NAMELESS
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

    def set_lifecycle(self, name: str, lifecycle: Lifecycle) -> None:
        self._actions.set_lifecycle(name, lifecycle, by_person(f"made {lifecycle} on the page"))

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
        services = self._services()
        note = parse_note(path, services.vault.read(path))
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

    def settle(self, call: Settling) -> None:
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
            case "store_memory" if "content" in given:
                self._actions.store(Draft.checked(**given, rationale=PROMOTED), kind="person")
            case _:
                raise InvalidParams(f"The page cannot run {call.tool}.")
