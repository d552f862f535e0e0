"""What a person can do to memories on the pages: each is one change, in the history as all are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcp_server.pages.changes import by_person
from mcp_server.pages.note_text import edited
from memvault.curation.changes.plan import Attribution, Plan
from memvault.curation.changes.staging import Staging
from memvault.curation.operations.edit import stage_annotation
from memvault.curation.operations.forgetting import stage_forgetting
from memvault.curation.operations.merge import Known, stage_merge
from memvault.curation.operations.properties import (
    path_of,
    stage_importance,
    stage_lifecycle,
    stage_pin,
    stage_tags,
    stage_verification,
)
from memvault.curation.targets import Target, resolve
from memvault.model.change import ChangeKind, Settling
from memvault.model.errors import InvalidParams, NoteConflict
from memvault.model.memory import Lifecycle
from memvault.vault.compose import compose_note, safe_name
from memvault.vault.frontmatter.properties import read_importance
from memvault.vault.parse import content_hash

if TYPE_CHECKING:
    from mcp_server.runtime.container import Services

NAMELESS = "me"  # who verifies, where no name is configured
Stage = Callable[[Staging, Target], object]


class Deeds:
    """Each method raises MemvaultError, and then nothing was done. Thread-safe.

    Args:
        services: those that answer now.
    """

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def target(self, name: str) -> Target:
        """What an id, path or name stands for.

        Raises NoteNotFound, AmbiguousTarget.
        """
        services = self._services()
        return resolve(name, services.catalogue, services.stores.graph)

    def verify(self, name: str, *, verified: bool) -> None:
        by = self._services().settings.user.strip() or NAMELESS
        today = datetime.now(UTC).date()
        self._change(
            name,
            ChangeKind.VERIFIED,
            lambda staging, target: stage_verification(
                staging, target, verified=verified, by=by, on=today
            ),
            "verified on the page" if verified else "found unverified on the page",
        )

    def pin(self, name: str, *, pinned: bool) -> None:
        self._change(
            name,
            ChangeKind.PROPERTY_SET,
            lambda staging, target: stage_pin(staging, target, pinned=pinned),
            "pinned on the page" if pinned else "unpinned on the page",
        )

    def tag(self, name: str, tags: str) -> None:
        """Make these, separated by commas, the tags of its properties."""
        wanted = [tag.strip() for tag in tags.split(",")]
        self._change(
            name,
            ChangeKind.PROPERTY_SET,
            lambda staging, target: stage_tags(staging, target, wanted),
            "tagged on the page",
        )

    def boost(self, name: str, importance: str) -> None:
        value = read_importance(importance)
        self._change(
            name,
            ChangeKind.BOOSTED,
            lambda staging, target: stage_importance(staging, target, importance=value),
            f"importance set to {importance} on the page",
        )

    def live(self, name: str, lifecycle: Lifecycle) -> None:
        self._change(
            name,
            ChangeKind.LIFECYCLE_SET,
            lambda staging, target: stage_lifecycle(staging, target, lifecycle),
            f"made {lifecycle} on the page",
        )

    def annotate(self, name: str, remark: str) -> None:
        today = datetime.now(UTC).date()
        self._change(
            name,
            ChangeKind.ANNOTATED,
            lambda staging, target: stage_annotation(staging, target, remark, today),
            "remark added on the page",
        )

    def edit(self, name: str, text: str, version: str, why: str = "") -> None:
        """Give a note this text, if it is still the version that the form showed. ``why``, here
        and below, is what the person gave as the reason, if anything.

        Raises NoteConflict: somebody saved it meanwhile; theirs stands.
        """

        def stage(staging: Staging, target: Target) -> None:
            path = path_of(target, "a text")
            data = staging.read(path)
            if content_hash(data) != version:
                raise NoteConflict(f"{path} was saved elsewhere meanwhile", path=path)
            staging.write(path, edited(data, text))

        self._change(name, ChangeKind.EDITED, stage, why or "edited on the page")

    def forget(self, name: str, reason: str | None = None) -> None:
        """To the vault's trash, or, of a concept without a note, out of the graph."""
        self._change(name, ChangeKind.FORGOTTEN, stage_forgetting, "forgotten on the page", reason)

    def plan_merge(self, sources: Sequence[str], target: str) -> Plan:
        """What merging these into the target, which may be among them, would change."""
        return self._merge(sources, target, preview=True)

    def merge(self, sources: Sequence[str], target: str, why: str = "") -> None:
        self._merge(sources, target, preview=False, why=why)

    def _merge(self, sources: Sequence[str], target: str, *, preview: bool, why: str = "") -> Plan:
        services, into = self._services(), self.target(target)
        known = Known(services.catalogue, services.indexer.links, services.catalogue.linking)
        others = [self.target(name) for name in sources]
        done = services.curator.perform(
            lambda staging: stage_merge(staging, known, others, into),
            ChangeKind.MERGED,
            (into.name,),
            into.node_ids,
            by_person(why or "merged on the page"),
            preview=preview,
        )
        if done.change is not None:
            services.indexing.index_written(done.change.paths)
        return done.plan

    def write(self, title: str, text: str, *, beside: str) -> None:
        """A new note of this title, in the folder of the note at ``beside``."""
        name = title.rpartition("/")[2]
        stem = safe_name(name)
        body = text.replace("\r\n", "\n").strip() + "\n"
        data = body.encode() if stem == name else compose_note({"aliases": [name]}, body)
        folder = beside.rpartition("/")[0]
        path = f"{folder}/{stem}.md" if folder else f"{stem}.md"
        self._perform(
            lambda staging: staging.create(path, data),
            ChangeKind.CREATED,
            (title,),
            (),
            by_person("written on the page"),
        )

    def settle(self, call: Settling) -> None:
        """Do what a curation task suggests.

        Raises InvalidParams: it is nothing that the page can do.
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
            case _:
                raise InvalidParams(f"{call.tool} is not for this page.")

    def forget_all(self, targets: Sequence[Target], why: str = "") -> None:
        """Several things, as one change."""

        def stage(staging: Staging) -> None:
            for target in targets:
                stage_forgetting(staging, target)

        names = tuple(target.name for target in targets)
        ids = tuple(key for target in targets for key in target.node_ids)
        self._perform(
            stage, ChangeKind.FORGOTTEN, names, ids, by_person(why or "forgotten on the page")
        )

    def _change(
        self, name: str, kind: ChangeKind, stage: Stage, rationale: str, reason: str | None = None
    ) -> None:
        target = self.target(name)
        self._perform(
            lambda staging: stage(staging, target),
            kind,
            (target.name,),
            target.node_ids,
            by_person(rationale, reason),
        )

    def _perform(
        self,
        stage: Callable[[Staging], object],
        kind: ChangeKind,
        names: tuple[str, ...],
        ids: tuple[str, ...],
        why: Attribution,
    ) -> None:
        services = self._services()
        done = services.curator.perform(stage, kind, names, ids, why)
        if done.change is not None:
            services.indexing.index_written(done.change.paths)
