"""Withholds unconfirmed claims from answers to sensitive questions, and logs such questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from heapq import nlargest
from pathlib import PurePosixPath

from memvault.model.change import Actor
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.provenance import own_lines, plain_words
from memvault.model.search import Hit, SearchResult
from memvault.text.secrets import without_secrets
from memvault.vault.frontmatter.edit import body_of
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader
from memvault.vault.lines import bare_lines

MAX_OWN_CHARS = 8_000  # of the person's words in a note whose best passage somebody else wrote
MAX_RECENT = 100  # logged questions that are kept in memory
NAMING_WORDS = 3  # least words of a name that states something without a number
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")  # the folder of a day's sessions
WITHHELD, USED = "unverified_withheld", "unverified_used"  # kinds of journal entries


class ClaimGate:
    """Removes unconfirmed text from hits. Thread-safe.

    Args:
        read: gives a note's bytes, by path.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read

    def narrow(self, hit: Hit) -> None:
        """Reduce a hit to the person's words or the claims that they confirm, else withhold it.

        Unconfirmed claims are not quoted as evidence either.
        """
        hit.gated = True
        verification = hit.verification
        against = tuple(
            replace(evidence, sentence="", said="") if evidence.is_claim else evidence
            for evidence in verification.contradicted_by
        )
        newer = tuple(replace(claim, sentence="") for claim in verification.newer)
        hit.verification = replace(verification, contradicted_by=against, newer=newer)
        provenance = hit.memory.provenance
        if verification.marked or provenance.is_person:
            return
        if verification.verified and not verification.by_person:
            hit.text = "\n".join(verification.stated)
            hit.withheld = not hit.text
        elif verification.by_person:
            self._show_own_lines(hit)
        else:
            self._show_own_part(hit)
        hit.states_claim = hit.withheld and _may_state_something(hit.memory)

    def _show_own_lines(self, hit: Hit) -> None:
        """Show the person's words of the found lines, else those of the note."""
        text = self.own_text(hit.memory, hit.lines)
        if text:
            hit.text, hit.own_only = text, True
        else:
            self._show_own_part(hit)

    def _show_own_part(self, hit: Hit) -> None:
        """Show the person's words of a note whose best passage others wrote; withhold it if none.

        So nobody can hide the person's words behind a passage that fits the question better.
        """
        text = self.own_text(hit.memory) if hit.memory.provenance.is_mixed else ""
        if not text:
            hit.withheld = True
            return
        hit.text, hit.own_only = text, True
        if not hit.memory.is_marked_wrong:
            hit.verification = hit.verification.of_own_part()

    def own_text(self, memory: Memory, lines: LineRange | None = None) -> str:
        """The person's words in these lines, or the whole body, of a note with several authors."""
        try:
            data = own_lines(self._read(memory.path), memory.provenance)
            if lines is None:
                data = body_of(data)
        except MemvaultError:
            return ""
        text = data.decode("utf-8", "replace")
        if lines is None:
            text = text.strip()[:MAX_OWN_CHARS]
        else:
            text = "\n".join(bare_lines(text)[lines.first - 1 : lines.last]).strip()
        return text if text.strip("|\n\r ") else ""


def _may_state_something(memory: Memory) -> bool:
    """Whether a title or a part of the path has several words, or a number."""
    place = PurePosixPath(memory.path)
    names = [memory.title, place.stem, *(part for part in place.parts[:-1] if not _DAY.match(part))]
    texts = map(plain_words, names)
    return any(len(text.split()) >= NAMING_WORDS or any(map(str.isdigit, text)) for text in texts)


@dataclass(frozen=True, slots=True)
class GatedQuestion:
    """A sensitive question that found unconfirmed claims.

    ``overridden`` is whether the client requested their text nevertheless.
    """

    at: datetime
    client: str
    query: str
    memories: tuple[str, ...]
    overridden: bool


class ClaimGateLog(JournalReader):
    """Logs the unconfirmed claims that were withheld from, or given to, a client (triple FR-47).

    Thread-safe.
    """

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (WITHHELD, USED))
        self._latest: list[JournalEntry] = []  # newest first

    def record(self, query: str, result: SearchResult, client: str) -> None:
        """Log an answer if its question is sensitive and it has unconfirmed claims.

        Raises StorageError, DiskFull: the journal cannot be written.
        """
        if result.topic is None or not result.claims:
            return
        withheld = any(hit.withheld for hit in result.hits)
        self._journal.append(
            JournalEntry(
                ts=datetime.now(UTC),
                kind=WITHHELD if withheld else USED,
                actor=Actor(kind="client", name=client),
                data={
                    "query": without_secrets(query),
                    "matter": result.topic,
                    "memories": [hit.memory.id for hit in result.claims],
                },
            )
        )

    def recent(self, limit: int) -> list[GatedQuestion]:
        """The latest logged questions, newest first; `MAX_RECENT` at most.

        Raises StorageError: the journal cannot be read.
        """
        with self._current():
            latest = self._latest[:limit]
        return [
            GatedQuestion(
                entry.ts,
                entry.actor.name,
                str(entry.data.get("query", "")),
                tuple(map(str, entry.data.get("memories", ()))),
                overridden=entry.kind == USED,
            )
            for entry in latest
        ]

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        by_id = {entry.id: entry for entry in (*self._latest, *entries)}
        self._latest = nlargest(MAX_RECENT, by_id.values(), key=lambda entry: entry.ts)
