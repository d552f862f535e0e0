"""Does what the person decides on a page: a task's action, a client's or a dream's proposal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from memvault.consolidation.dreams.record import DreamRecord
from memvault.curation.actions import Actions
from memvault.curation.changes.plan import Attribution
from memvault.curation.manifest.keeper import ManifestKeeper
from memvault.curation.operations.brief import Brief, Sources
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.edit import EditOperation, NoteEdit
from memvault.curation.operations.merge import MergeIndex
from memvault.curation.proposals import Proposal, ProposalKind
from memvault.curation.tasks.dream_tasks import LinkedLine, linked_line, summary_text
from memvault.model.change import Actor, ChangeKind, CurationTask, TaskAction, TaskType
from memvault.model.errors import InvalidParams, MemvaultError, NoteConflict
from memvault.model.memory import Lifecycle
from memvault.model.note import LineRange
from memvault.vault.files import Vault
from memvault.vault.links import wikilink

PERSON = "page"  # the client's name in the history
ACTOR = Actor(kind="person", name=PERSON)
PROMOTED = "kept on the page from a captured session"
NAMELESS = "me"  # the verifying person, if no name is configured

Seen = Mapping[str, str]  # the content hashes of the notes that the page showed, by id
NOTHING_SHOWN: Seen = {}


def by_person(rationale: str, reason: str | None = None, seen: Seen = NOTHING_SHOWN) -> Attribution:
    """The provenance of a change that a person makes on a page."""
    return Attribution(PERSON, rationale, reason, "person", seen=seen)


def check_shown(note_ids: Iterable[str], seen: Seen) -> None:
    """Raise InvalidParams unless the page showed one of these notes to the person."""
    if seen.keys().isdisjoint(note_ids):
        raise InvalidParams("Open the note again and decide there: this page did not show it.")


@dataclass(eq=False)
class Decisions:
    """Changes the vault as the person decides; thread-safe.

    Every method raises MemvaultError if it fails, and then nothing was changed.

    Attributes:
        notes: gives the index of the notes.
        settle: removes a question from those that found nothing.
        user: the person's name; may be empty.
    """

    actions: Actions
    manifest: ManifestKeeper
    dreams: DreamRecord
    vault: Vault
    notes: Callable[[], MergeIndex]
    settle: Callable[[str], None]
    user: str

    def verify(self, name: str, seen: Seen, *, verified: bool) -> None:
        """Record that the person marked a memory, as the page showed it, as verified or wrong."""
        check_shown(self.actions.target(name).node_ids, seen)
        done = "verified on the page" if verified else "marked as wrong on the page"
        why = by_person(done, seen=seen)
        self.actions.verify(name, why, verified=verified, by=self.user.strip() or NAMELESS)

    def run(self, call: TaskAction, seen: Seen) -> None:
        """Run the action that a curation task suggests, on the notes as the page showed them.

        Raises InvalidParams: the page cannot run it.
        """
        actions, arguments = self.actions, call.arguments
        person = partial(by_person, seen=seen)
        match call.tool:
            case "verify_memory":
                self.verify(arguments["target"], seen, verified=arguments["verified"])
            case "forget_concept":
                why = person("forgotten on the page", arguments.get("reason"))
                permanent = not arguments.get("soft_delete", True)
                actions.forget([actions.target(arguments["target"])], why, permanent=permanent)
            case "annotate_node":
                why = person("annotated on the page")
                actions.annotate(arguments["target"], arguments["note"], why)
            case "merge_concepts":
                why = person("merged on the page")
                actions.merge(arguments["sources"], arguments["target"], why)
            case "archive_project":
                actions.archive_project(arguments["project"], person("archived on the page"))
            case "move_memory" | "move_folder" | "set_lifecycle" | "edit_memory":
                self._move(call.tool, arguments, person("moved on the page"))
            case "undo_change":
                done = actions.undo(arguments["changes"], person("undone on the page"))
                if done.conflicts:
                    conflict = done.conflicts[0]
                    raise NoteConflict(f"{conflict.path}: {conflict.reason}", path=conflict.path)
            case "reload_manifest":
                why = person("applied on the page")
                self.manifest.apply(why, confirm=True, digest=arguments["digest"])
            case "store_memory" if "content" in arguments:
                actions.store(Draft.checked(**arguments, rationale=PROMOTED), kind="person")
            case _:
                raise InvalidParams(f"The page cannot run {call.tool}.")

    def _move(self, tool: str, arguments: Mapping[str, Any], why: Attribution) -> None:
        actions = self.actions
        match tool:
            case "move_memory":
                actions.move(arguments["target"], arguments["destination"], why)
            case "move_folder":
                actions.move_folder(arguments["folder"], arguments["destination"], why)
            case "set_lifecycle":
                lifecycle = Lifecycle(arguments["lifecycle"])
                actions.set_lifecycle(arguments["target"], lifecycle, why, move=arguments["move"])
            case _:  # edit_memory sets the project
                operation, content = EditOperation(arguments["operation"]), arguments["content"]
                edit = NoteEdit(operation, content, property=arguments["property"])
                actions.edit(arguments["target"], edit, why)

    def accept(self, proposal: Proposal, seen: Seen, *, move: bool = False) -> None:
        """Apply a client's proposal.

        Args:
            move: whether a note that becomes permanent moves to that folder, too.
        """
        if proposal.call is not None:
            self.run(proposal.call, seen)
        elif proposal.kind is ProposalKind.PERMANENT:
            check_shown([proposal.note_id], seen)
            why = by_person("made permanent on the page", seen=seen)
            self.actions.set_lifecycle(proposal.note_id, Lifecycle.PERMANENT, why, move=move)
        else:
            is_right = proposal.kind is ProposalKind.VERIFIED
            self.verify(proposal.note_id, seen, verified=is_right)

    def line_to_link(self, task: CurationTask) -> LinkedLine | None:
        """The line of a proposed link's first note that names the second, changed into a link.

        None if there is no such line, or the line is not the person's own: the edit would make them
        its author.
        """
        proposal = self.dreams.get(task.proposal)
        if proposal is None or not proposal.is_link:
            return None
        notes = self.notes()
        source, target = map(notes.memories.by_id, proposal.notes)
        if source is None or target is None:
            return None
        evidence = next((e for e in proposal.evidence if e.path == source.path), None)
        if evidence is None:
            return None
        if not source.provenance.of_lines(LineRange(evidence.line, evidence.line)).is_person:
            return None
        names = [target.title, *target.aliases, PurePosixPath(target.path).stem]
        link = wikilink(target.path, source.path, notes.links)
        try:
            data = self.vault.read(source.path)
            return linked_line(source.path, data, evidence.line, names, link)
        except MemvaultError:  # deleted or changed just now
            return None

    def accept_dream(self, task: CurationTask, shown: str = "", seen: Seen = NOTHING_SHOWN) -> None:
        """Apply a dream's proposal.

        Args:
            shown: the line with the link, as the person saw it; empty if none was shown.

        Raises:
            InvalidParams: the page cannot accept the proposal.
            NoteConflict: the line has changed since.
        """
        actions, why = self.actions, by_person("a dream proposed it", seen=seen)
        proposal = self.dreams.get(task.proposal)
        if shown:
            line, path = self.line_to_link(task), task.paths[0]
            if line is None or line.after != shown:
                raise NoteConflict(f"{path} was saved elsewhere in the meantime", path=path)
            actions.rewrite(
                task.target_nodes[0], lambda _: line.note, line.version, why, ChangeKind.DREAMED
            )
        elif task.task_type is TaskType.MISSING_LINK:
            arguments = task.settled_by[0].arguments
            actions.annotate(arguments["target"], arguments["note"], why, ChangeKind.DREAMED)
        elif task.task_type is TaskType.CLUSTER_SUMMARY and proposal is not None:
            memories = map(self.notes().memories.by_id, task.target_nodes)
            sources = [memory for memory in memories if memory is not None]
            projects = {memory.project for memory in sources}
            brief = Brief(
                proposal.title, summary_text(proposal), sources, Sources.STAY,
                projects.pop() if len(projects) == 1 else None,
            )  # fmt: skip
            actions.compress(brief, why, ChangeKind.DREAMED)
        elif task.task_type is TaskType.ANSWERED_QUESTION and proposal is not None:
            self.settle(proposal.title)
        else:
            raise InvalidParams("This proposal cannot be accepted here.")
        self.dreams.keep(task.proposal, ACTOR)
