"""store_memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field, JsonValue

from mcp_server.answers.changes import (
    ContradictedShape,
    RelatedShape,
    StoredAnswer,
)
from mcp_server.middleware.call_keys import call_key
from mcp_server.middleware.client_identity import client_name
from mcp_server.tools.arguments import (
    ADDS,
    CORE,
    Importance,
    SessionId,
    WhyKept,
)
from mcp_server.tools.toolbox import Tools, why_of
from memvault.cognition.learning_state import NewMemoryState, learning_state_of_new
from memvault.curation.actions import StoredMemory
from memvault.curation.approval import claim_of_lifecycle
from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.draft import Draft
from memvault.curation.proposals import ProposalKind
from memvault.curation.quarantine import QuarantinedText
from memvault.curation.targets import namesakes
from memvault.curation.tasks.near_duplicates import MIN_COSINE
from memvault.model.errors import MemvaultError, NoteNotFound, RateLimited
from memvault.model.memory import (
    MAX_CONTENT_CHARS,
    JohariQuadrant,
    Lifecycle,
    Memory,
    UTLState,
)
from memvault.model.search import Hit
from memvault.reasoning.critique import NEW_CHARS, Contradiction
from memvault.search.excerpt import Excerpt
from memvault.vault.file_names import is_agent_file
from memvault.vault.session_lines import is_captured
from memvault.verification.sensitive_topics import sensitive_topic_of

RELATED_BYTES = 160  # of what is quoted of a related memory; its nearest sentence is shown whole
MAX_NAMESAKES = 3  # that a notice lists

Content = Annotated[
    str | None,
    Field(
        description="Markdown, understandable without this conversation. [[Title]] links a note.",
        json_schema_extra={"maxLength": MAX_CONTENT_CHARS},
    ),
]
Encoded = Annotated[str | None, Field(description="Instead of content: media in base64.")]
Title = Annotated[str | None, Field(max_length=200, description="Also the file name.")]
OfProject = Annotated[
    str | None, Field(min_length=1, max_length=100, description="Project it belongs to.")
]
FurtherKeys = Annotated[dict[str, JsonValue] | None, Field(description="Further frontmatter keys.")]


Modality = Annotated[
    str,
    Field(
        description="Of content_base64.",
        json_schema_extra={"enum": ["text", "image", "audio", "video"]},
    ),
]
RequestedLifecycle = Annotated[
    Lifecycle | None,
    Field(description="ephemeral: fades; permanent: only if the person asked."),
]
Kind = Annotated[
    str | None,
    Field(max_length=100, description="fact, decision, person, event, idea, …; a session fades."),
]
Links = Annotated[list[str] | None, Field(description="Related notes, by title, path or id.")]


class StoreTools(Tools):
    """store_memory."""

    @tool(annotations=ADDS, tags=CORE, title="Store a memory")
    def store_memory(
        self,
        *,
        rationale: WhyKept,
        content: Content = None,
        content_base64: Encoded = None,
        title: Title = None,
        importance: Importance = None,
        modality: Modality = "text",
        lifecycle: RequestedLifecycle = None,
        project: OfProject = None,
        type: Kind = None,
        tags: Annotated[list[str] | None, Field(description="Without #.")] = None,
        link_to: Links = None,
        metadata: FurtherKeys = None,
        session_id: SessionId = None,
    ) -> StoredAnswer:
        """Save a decision, a fact or what the person asks to remember, as a new note.

        One subject per note. Recall first, so that nothing is stored twice; wishes go to
        set_preference. Where this makes a memory in `related` out of date, edit_memory that one:
        append 'Superseded by: [[path of this]]'.
        """
        session = self._box.touch(session_id)
        why = why_of(rationale)
        claim = claim_of_lifecycle(lifecycle, why)
        if claim is not None:
            lifecycle = None
        if project is not None:
            project = self._box.container.live.catalogue.project_named(project) or project
        draft = Draft.checked(
            content=content,
            content_base64=content_base64,
            rationale=rationale,
            title=title,
            importance=importance,
            modality=modality,
            lifecycle=lifecycle,
            project=project,
            type=type,
            tags=tags,
            link_to=link_to,
            metadata=metadata,
            client=client_name(),
            session=session.id,
            call=call_key(),
        )
        contradicted = self._box.contradicted(draft.content, project)
        related = self._box.related(draft.content, project)
        stored = self._box.container.actions.store(draft)
        notice = self._propose(claim, stored, why) if claim is not None else None
        answer = self._answer(stored, draft.content or "", contradicted, related)
        if notice is None:
            return answer
        return answer.model_copy(update={"notice": " ".join(filter(None, (notice, answer.notice)))})

    def _propose(self, claim: ProposalKind, stored: StoredMemory, why: Attribution) -> str | None:
        """Record the claim that the memory is permanent, which only the person decides.

        Returns what the client must know of it; None if the memory is permanent already.
        """
        container = self._box.container
        memory = container.live.catalogue.by_path(stored.path)
        if memory is None or memory.lifecycle is Lifecycle.PERMANENT:
            return None
        try:
            container.proposals.propose(claim, memory, why.actor, why.rationale)
        except RateLimited as error:
            return f"Stored, but not proposed as permanent. {error.message}"
        return (
            "Only the person makes a memory permanent: the Curate page asks them. Until they "
            f"agree, the note is {stored.path}."
        )

    def _quarantined(self, text: QuarantinedText) -> StoredAnswer:
        return StoredAnswer(
            node_id=text.note_id,
            path=text.path,
            created_at=text.at,
            johari_quadrant=JohariQuadrant.UNKNOWN,
            utl_state=UTLState(),
            pulse=self._box.meter.of_change(),
            notice="Kept as a note, but in quarantine: it contains what looks like orders to an "
            f"AI model ({', '.join(text.kinds)}). No tool returns it until the person releases it "
            "on the Curate page.",
        )

    def _related(self, content: str, hits: Sequence[Hit]) -> list[RelatedShape]:
        """The memories on the same matter, each with the sentence that is nearest to the new text.

        On sensitive topics, of the new text or of what is quoted, others' unverified claims have no
        text, as in answers to questions.
        """
        opening, limits = content[:NEW_CHARS], [RELATED_BYTES] * len(hits)
        excerpts: Sequence[Excerpt | None] = [None] * len(hits)
        with suppress(MemvaultError):  # the memory is stored already
            excerpts = self._box.container.excerpts.of(opening, hits, limits) if hits else []

        def shape(memory: Memory, excerpt: Excerpt | None) -> RelatedShape:
            related = RelatedShape(id=memory.id, title=memory.title, path=memory.path)
            if excerpt is None:
                return related
            origin = memory.provenance.of_lines(excerpt.lines)
            if not (origin.is_person or memory.verified) and any(
                sensitive_topic_of(said) is not None for said in (opening, excerpt.text)
            ):
                return related
            quoted = {"lines": list(excerpt.lines), "text": excerpt.text}
            return related.model_copy(update=quoted)

        pairs = zip(hits, excerpts, strict=True)
        return [shape(hit.memory, excerpt) for hit, excerpt in pairs]

    def _answer(
        self,
        stored: StoredMemory,
        content: str,
        contradicted: Sequence[Contradiction],
        related: Sequence[Hit],
    ) -> StoredAnswer:
        quarantined = self._box.container.guarded.held_at(stored.path)
        if quarantined is not None and quarantined.whole:
            return self._quarantined(quarantined)
        meter, live = self._box.meter, self._box.container.live
        memory = live.catalogue.by_path(stored.path) or live.indexer.as_on_disk(stored.path)
        if memory is None:  # it was removed again
            raise NoteNotFound(f"There is no note at {stored.path}", path=stored.path)

        def is_session(key: str) -> bool:
            other = live.catalogue.by_id(key)
            return other is not None and is_captured(other)

        # A session that hooks captured holds the sentence that a client stores from it.
        new = learning_state_of_new(meter, memory.id, apart_from=is_session)
        self._box.container.activity.stored(memory.id, client_name(), new.state)
        mentioned = {memory.id, *(contradiction.memory.id for contradiction in contradicted)}
        related = [hit for hit in related if hit.memory.id not in mentioned]
        return StoredAnswer(
            node_id=memory.id,
            path=memory.path,
            created_at=memory.created_at,
            johari_quadrant=meter.states([memory.id])[memory.id].quadrant,
            utl_state=new.state,
            reversal_hash=stored.change.reversal_hash if stored.change else None,
            contradicts=[ContradictedShape.of(contradiction) for contradiction in contradicted]
            or None,
            related=self._related(content, related),
            notice=self._notice(
                stored, memory, contradicted, _near_duplicate(new, related), quarantined
            ),
            pulse=meter.of([memory.id, *new.nearest]),
        )

    def _notice(
        self,
        stored: StoredMemory,
        memory: Memory,
        contradicted: Sequence[Contradiction],
        duplicate: Memory | None,
        quarantined: QuarantinedText | None,
    ) -> str | None:
        """A notice of equal titles, missing links, secrets, contradictions, near-duplicates, or a
        part in quarantine."""
        parts = []
        if quarantined is not None:
            parts.append(
                "A part of the note is in quarantine: it contains what looks like orders to an AI "
                f"model ({', '.join(quarantined.kinds)}). No tool returns that part until the "
                "person releases it on the Curate page."
            )
        if stored.change is not None:
            parts += self._same_title(memory)
        if stored.links.unwritten:
            names = _with_nearest(stored.links.unwritten)
            parts.append(
                f"Linked to a name that no note has yet: {names}. The link resolves once a note "
                "of this name is stored."
            )
        if stored.links.unlinked:
            names = _with_nearest(stored.links.unlinked)
            parts.append(f"Stored without a link to {names}: no single note has this name.")
        if stored.secrets:
            parts.append(
                f"The note holds what looks like a secret ({', '.join(stored.secrets)}). Tell the "
                "person; a password manager is the place for it."
            )
        if contradicted:
            parts.append(self._box.supersede_hint(memory, contradicted))
        elif duplicate is not None and stored.change is not None:
            parts.append(
                f"{duplicate.path} says nearly the same. If this adds nothing, undo_change with "
                "this reversal_hash as change; if it replaces that, edit_memory that one: append "
                f"'Superseded by: {self._box.link_to(memory, [duplicate])}'."
            )
        return " ".join(parts) or None

    def _same_title(self, memory: Memory) -> list[str]:
        """The notice that other notes have the title of the new one already."""
        same_titled = namesakes(memory, self._box.container.live.catalogue)[:MAX_NAMESAKES]
        if not same_titled:
            return []
        paths = " and ".join(note.path for note in same_titled)
        notice = f"The title already exists: {paths}. The new note is {memory.path}."
        editable = [note.path for note in same_titled if not is_agent_file(note.path)]
        if not editable:
            return [notice]
        merge = ", or merge_concepts" if self._box.offers("merge_concepts") else ""
        return [
            f"{notice} To change the existing note instead: undo_change with this reversal_hash as "
            f"change, then edit_memory with target={editable[0]!r}{merge}."
        ]


def _with_nearest(names: Mapping[str, Sequence[str]]) -> str:
    """The names, each with the nearest names of notes."""
    return ", ".join(
        f"{name!r}" + (f" (nearest: {', '.join(near)})" if near else "")
        for name, near in names.items()
    )


def _near_duplicate(new: NewMemoryState, related: Sequence[Hit]) -> Memory | None:
    """The related memory that is a near-duplicate of the new one, or None."""
    if new.state.delta_s > 1.0 - MIN_COSINE:
        return None
    return next((hit.memory for hit in related if hit.memory.id == new.nearest[0]), None)
