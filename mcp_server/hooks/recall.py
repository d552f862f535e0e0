"""Chooses the memories that hooks give: at a session's start, with a prompt, before an edit.

All text is quoted from notes, inside marks that say so, with the note's path and lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from mcp_server.hooks.checked_search import CheckedSearch
from mcp_server.hooks.start_notes import StartNotes
from memvault.capture.extract import says_little
from memvault.capture.quotations import (
    DECIDED,
    LASTING,
    Quotation,
    distinct,
    of_excerpt,
    says_something,
)
from memvault.capture.replaced_lines import newer_first
from memvault.capture.session_note import path_from
from memvault.capture.session_quotations import MAX_COMPARED, SessionQuotations
from memvault.model.note import Vector
from memvault.model.search import Filters, Hit, Scope
from memvault.search.excerpt import Excerpts
from memvault.search.prompt_need import NEEDED, PromptNeed
from memvault.text.encoders.embedding import Embedder
from memvault.text.phrase_vectors import PhraseVectors
from memvault.vault.session_lines import is_captured

MAX_WITH_PROMPT = 8
MAX_BEFORE_EDIT = 3
NOTES_FIRST = 8  # notes given before lines of sessions
MAX_FROM_SESSIONS = 10  # quotations from them
_OWN_SHARE = 0.7  # of a session's relevance from which the person's own note comes before it
EACH_NEEDED = 0.2  # smallest probability of the other memories, if the best one is needed
EDIT_THRESHOLD = 0.5
_PROMPT_CHARS = 1_500
_FILE_NAMES_CHARS = 300  # of the names of edited files that are searched for
_CONCERNING_EDIT = 10  # memories found for the edited files
# Bytes of the excerpts, by rank; those after the best ones are only pointers.
_EXCERPT_BYTES = (180, 120, 100)
_POINTER_BYTES = 40
_CODE = re.compile(r"```[\s\S]*?(?:```|\Z)")


@dataclass(eq=False)
class HookRecall:
    """Chooses memories for hooks. Thread-safe.

    Attributes:
        notes: chooses those of a project.
        sessions: quotes earlier ones.
        own_excerpts: of the person's own words, for sensitive questions.
        phrases: embeds quotations, to compare them.
    """

    search: CheckedSearch
    notes: StartNotes
    sessions: SessionQuotations
    excerpts: Excerpts
    own_excerpts: Excerpts
    embed_query: Callable[[str], Vector]
    phrases: Embedder

    def __post_init__(self) -> None:
        self._need = PromptNeed(self.embed_query)
        self._vectors = PhraseVectors(self.phrases)

    def warm_up(self) -> None:
        """Embed the samples now, so that the first prompt does not wait for them."""
        self._need.work_share("")

    def with_prompt(
        self, prompt: str, project: str | None, given: Collection[str], client: str
    ) -> list[Quotation]:
        """Quotations that help with a prompt, best first; usually none.

        Args:
            client: the hook's client, for the log of withheld memories.
            given: keys of quotations that the session has been given already.
        """
        query = _CODE.sub(" ", prompt).strip()[:_PROMPT_CHARS]
        if says_little(query) or query.startswith("/"):
            return []
        scope = Scope(None, project)
        hits_found = self.search.find(query, MAX_WITH_PROMPT + len(given), scope)
        chances = [
            self._need.chance(query, hit, is_about_work=_decides(hit, project))
            for hit in hits_found
        ]
        if max(chances, default=0.0) < NEEDED:
            return []
        hits = self.search.checked(query, hits_found, scope, client)
        needed = [
            (hit, chance)
            for hit, chance in zip(hits, chances, strict=True)
            if chance >= EACH_NEEDED and not hit.withheld
        ]
        # The person's own notes come first, if the prompt needs them whatever sessions say, and
        # they fit about as well.
        of_sessions = (hit.relevance for hit, _ in needed if is_captured(hit.memory))
        least = _OWN_SHARE * max(of_sessions, default=0.0)
        needed.sort(
            key=lambda pair: (
                is_captured(pair[0].memory) or pair[1] < NEEDED or pair[0].relevance < least
            )
        )
        quoted = self._quoted(query, [hit for hit, _ in needed], given)[:MAX_WITH_PROMPT]
        by_id = {hit.memory.id: chance for hit, chance in needed}
        # If the session has the best memory already, the others alone are not needed.
        is_needed = any(by_id.get(quotation.memory.id, 0.0) >= NEEDED for quotation in quoted)
        return quoted if is_needed else []

    def before_edit(
        self,
        touched: Sequence[str],
        folder: str,
        project: str | None,
        given: Collection[str],
        client: str,
    ) -> list[Quotation]:
        """Decisions and preferences about the files to be edited or removed.

        Args:
            given: keys of quotations that earlier edits of the session were given.
        """
        names = [path_from(folder, path) for path in touched]
        query = " ".join(re.sub(r"[/\\_.-]+", " ", name) for name in names)[:_FILE_NAMES_CHARS]
        scope = Scope(Filters(types=[*LASTING, "session"]), project)
        file_names = {PurePath(name.split()[-1]).name.casefold() for name in names if name.split()}
        chosen = []
        for hit, chance in self.search.concerning(query, scope, _CONCERNING_EDIT, client):
            is_lasting = hit.memory.type in LASTING
            is_named = any(name in hit.text.casefold() for name in file_names)
            if _decides(hit, hit.memory.project) and (
                is_named or (is_lasting and chance >= EDIT_THRESHOLD)
            ):
                chosen.append(hit)
        return self._quoted(query, chosen, given, DECIDED)[:MAX_BEFORE_EDIT]

    def at_session_start(
        self, folder: str, project: str | None, current_id: str, client: str
    ) -> list[Quotation]:
        """Quotations of a project's notes and of its last sessions, for a session that starts.

        The best notes come first, then the sessions, then the other notes; lines of sessions that a
        newer quotation replaces come last.

        Args:
            current_id: the note id of the session that starts; it is left out.
        """
        sessions = self.sessions.recent(folder, project, current_id)
        texts = [quotation.text for quotation in sessions[:MAX_FROM_SESSIONS]]
        notes = self.notes.best(project, " ".join([project or "", *texts]).strip(), client)
        quotations = distinct([*notes[:NOTES_FIRST], *sessions, *notes[NOTES_FIRST:]])
        ordered = newer_first(quotations, self._vectors.of)
        ordered.sort(key=lambda quotation: quotation.is_replaced)
        from_sessions = [quotation for quotation in ordered if is_captured(quotation.memory)]
        omitted = {id(quotation) for quotation in from_sessions[MAX_FROM_SESSIONS:]}
        return [quotation for quotation in ordered if id(quotation) not in omitted]

    def _quoted(
        self,
        query: str,
        hits: Sequence[Hit],
        given: Collection[str],
        headings: Collection[str] | None = None,
    ) -> list[Quotation]:
        """Quotations of the memories that were not given yet, the best memory's first.

        Args:
            headings: sections of sessions' notes to quote from; None for all.
        """
        limits = [*_EXCERPT_BYTES, *[_POINTER_BYTES] * len(hits)][: len(hits)]
        gated = any(hit.gated for hit in hits)
        source = self.own_excerpts if gated else self.excerpts
        excerpts = source.of(query, hits, limits, fully_read=len(_EXCERPT_BYTES))
        quotations: list[Quotation] = []
        for hit, excerpt, limit in zip(hits, excerpts, limits, strict=True):
            if is_captured(hit.memory) and not gated:
                best = self.sessions.best_of(query, hit, headings)
                if best is None or best.key in given:
                    continue  # the session's next best line alone would be no answer
                of_memory = [best]
            else:
                is_pointer = limit == _POINTER_BYTES
                of_memory = of_excerpt(hit.memory, excerpt, limit, is_pointer=is_pointer)
            newer_claims = hit.verification.newer
            quotations += [replace(quotation, newer=newer_claims) for quotation in of_memory]
        quoted = distinct(
            quotation
            for quotation in quotations
            if quotation.key not in given and says_something(quotation.text)
        )
        return newer_first(quoted, self._vectors.of, self._decided_since(quoted))

    def _decided_since(self, quoted: Sequence[Quotation]) -> list[Quotation]:
        """What sessions decided after the sessions that are quoted."""
        memories = {quotation.memory.id: quotation.memory for quotation in quoted}
        decided = [
            quotation
            for memory in filter(is_captured, memories.values())
            for quotation in self.sessions.decided_since(memory)
        ]
        return decided[:MAX_COMPARED]


def _decides(hit: Hit, project: str | None) -> bool:
    """Whether the hit is a decision or preference of this project or of no project."""
    decides = hit.memory.type in LASTING or hit.heading.endswith(DECIDED)
    return decides and hit.memory.project in (None, project)
