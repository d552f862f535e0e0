"""Limits on a client's changes, so that no memory gains weight by numbers.

They prevent flooding, repeating, edit wars and linking to everything. All counts come from the
history. Clients choose their own names, so all clients together may make only three times the
changes of one client: using another name gains little.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from shutil import disk_usage

from cachetools import LRUCache

from memvault.config.settings import LimitSettings
from memvault.curation.changes.history import History
from memvault.curation.changes.plan import Attribution, Plan
from memvault.curation.origins.sentence_digests import added
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import DiskFull, MemvaultError, RateLimited
from memvault.vault.files import Vault
from memvault.vault.frontmatter.fences import split_frontmatter

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TOGETHER = 3  # times the changes of one client
ALIKE = 0.75  # share of words that two nearly identical memories have in common
# From these numbers on the person is notified, long before a limit is reached.
MANY_CHANGES, MANY_ALIKE, MANY_REVERSALS = 300, 20, 5
MAX_COMPARED = 5_000  # of a client's latest memories
LARGE_BYTES = 2**20  # of a change that is refused if the disk is nearly full
RESERVE_BYTES = 500 * 2**20  # of disk space that clients leave to the person
MAX_PATHS = 2  # that are shown
MAX_SEARCHED = 100  # of a client's latest memories, for such as are alike
_HEADING = re.compile(r"^#[^\n]*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_LINK = re.compile(r"\[\[[^\[\]]+\]\]|(?<![\w&/#])#[^\W\d][\w/-]*")  # or a tag


@dataclass(frozen=True, slots=True)
class Excess:
    """A client's excessive activity on one day; ``paths`` are the last notes concerned."""

    client: str
    day: str
    activity: str
    paths: tuple[str, ...]


@dataclass(eq=False)
class ClientLimits:
    """Checks clients' changes against the limits. Thread-safe.

    Attributes:
        limits: gives the current settings.
        now: the time, with a zone.
    """

    history: History
    vault: Vault
    limits: Callable[[], LimitSettings]
    now: Callable[[], datetime]

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._written: deque[tuple[datetime, str, int]] = deque()  # when, by whom, bytes
        self._words_of_change: LRUCache[str, frozenset[str]] = LRUCache(MAX_COMPARED)

    def check(self, plan: Plan, why: Attribution) -> None:
        """Refuse a client's change that exceeds a limit; a person has no limits.

        Raises RateLimited: names the limit and what to do instead.
        """
        if not why.by_client or plan.kind is ChangeKind.CAPTURED:
            return
        limits = self.limits()
        today = self._of_clients_today()
        self._check_rate(today, why.name, limits.changes_per_hour)
        self._check_bytes(plan, why.name, limits.megabytes_per_hour)
        self._check_links(plan, limits.links_per_note)
        self._check_reversals(today, plan, limits.reversals_per_day)
        if plan.kind is ChangeKind.CREATED:
            self._check_alike(today, plan, why.name, limits.similar_per_day)

    def _of_clients_today(self) -> list[Change]:
        """The changes of all clients within the last day, newest first.

        Those that were made while the clock was ahead are not among them: they would count until
        it is as late as that.
        """
        now = self.now()
        changes = self.history.changes(since=now - DAY)
        return [change for change in changes if change.actor.kind == "client" and change.at <= now]

    def _check_rate(self, today: Sequence[Change], client: str, limit: int) -> None:
        hour_ago = self.now() - HOUR
        names = [change.client for change in today if change.at >= hour_ago]
        if limit and (names.count(client) >= limit or len(names) >= TOGETHER * limit):
            raise RateLimited(
                f"AI clients made {len(names):,} changes within an hour, and {limit:,} of one "
                "client are the limit. Nothing was changed. Store fewer and longer memories, or "
                "wait; the person can raise limits.changes_per_hour in the configuration.",
                retry_after_seconds=HOUR.total_seconds(),
            )

    def _check_bytes(self, plan: Plan, client: str, limit: int) -> None:
        """Count what a client writes, since the engine's start, and refuse too much of it.

        Raises:
            RateLimited: the client, or all clients together, wrote too much within an hour.
            DiskFull: a large file would leave too little space to the person.
        """
        size = sum(len(edit.after or b"") for edit in plan.edits)
        if size >= LARGE_BYTES and disk_usage(self.vault.root).free - size < RESERVE_BYTES:
            raise DiskFull(
                "The disk is nearly full, so AI clients store no large files. Nothing was changed. "
                "Tell the person to free some space."
            )
        with self._lock:
            now = self.now()
            while self._written and not now - HOUR <= self._written[0][0] <= now:
                self._written.popleft()
            own_bytes = sum(count for _, name, count in self._written if name == client)
            total_bytes = sum(count for _, _, count in self._written)
            max_bytes = limit * 2**20
            if limit and (
                own_bytes + size > max_bytes or total_bytes + size > TOGETHER * max_bytes
            ):
                raise RateLimited(
                    f"AI clients wrote {total_bytes / 2**20:,.0f} MB within an hour, and "
                    f"{limit:,} MB of one client are the limit. Nothing was changed. Store "
                    "less, or wait; the person can raise limits.megabytes_per_hour in the "
                    "configuration.",
                    retry_after_seconds=HOUR.total_seconds(),
                )
            self._written.append((now, client, size))

    def _check_links(self, plan: Plan, limit: int) -> None:
        for edit in plan.edits:
            links = _links(edit.after) - _links(edit.before)
            if limit and links > limit:
                raise RateLimited(
                    f"This adds {links} links and tags to {edit.path}, and {limit} are "
                    "the limit for an AI client. Nothing was changed. Link only to what the text "
                    "speaks of; the person can raise limits.links_per_note in the configuration.",
                    path=edit.path,
                )

    def _check_reversals(self, today: Sequence[Change], plan: Plan, limit: int) -> None:
        new = {
            edit.path: set(added(edit.before, edit.after))
            for edit in plan.edits
            if edit.before is not None and edit.after is not None
        }
        if not limit or not any(new.values()):
            return
        for path, times in _written_again(today).items():
            repeated = [digest for digest in new.get(path, ()) if times[digest] >= limit]
            if repeated:
                raise RateLimited(
                    f"AI clients wrote the same into {path} {limit} times within a day, and others "
                    "took it out again. Nothing was changed. Ask the person what holds; they can "
                    "raise limits.reversals_per_day in the configuration.",
                    path=path,
                )

    def _check_alike(self, today: Sequence[Change], plan: Plan, client: str, limit: int) -> None:
        stored = [c for c in today if c.kind is ChangeKind.CREATED and c.client == client]
        new = next((edit for edit in plan.edits if edit.path.endswith(".md")), None)
        if not limit or len(stored) < limit or new is None or new.after is None:
            return
        words = _words(new.after)
        similar = [
            path for path, stored_words in self._texts(stored) if _alike(words, stored_words)
        ]
        if len(similar) >= limit:
            raise RateLimited(
                f"{client} stored {len(similar)} memories within a day that say nearly this, the "
                f"last as {similar[0]}. Nothing was changed. Edit that one with edit_memory; the "
                "person can raise limits.similar_per_day in the configuration.",
                path=similar[0],
            )

    def _texts(self, stored: Sequence[Change]) -> Iterator[tuple[str, frozenset[str]]]:
        """The path and words of each note that these changes stored and that still exists."""
        for change in stored[:MAX_COMPARED]:
            path = change.files[0].path
            with suppress(MemvaultError):  # it was moved, deleted or quarantined
                yield path, self._words_of(change.reversal_hash, path)

    def _words_of(self, key: str, path: str) -> frozenset[str]:
        with self._lock:
            if key not in self._words_of_change:
                self._words_of_change[key] = _words(self.vault.read(path))
            return self._words_of_change[key]

    # -- for the person -------------------------------------------------------------------------

    def excesses(self) -> list[Excess]:
        """Clients' excessive activity within the last day, long before they reach a limit."""
        active = [change for change in self._of_clients_today() if change.undone_by is None]
        by_client: dict[str, list[Change]] = defaultdict(list)
        for change in active:
            by_client[change.client].append(change)
        all_excesses = []
        for client, changes in by_client.items():
            excesses = [*self._flood(changes), *self._repeated(changes)]
            excesses += _reversed(changes)
            if excesses:
                day = changes[0].at.date().isoformat()
                paths = dict.fromkeys(path for earlier in changes for path in earlier.paths)
                existing = [path for path in paths if self.vault.stat(path) is not None]
                all_excesses.append(
                    Excess(client, day, " and ".join(excesses), tuple(existing[:MAX_PATHS]))
                )
        return all_excesses

    def _flood(self, changes: Sequence[Change]) -> Iterator[str]:
        hour_ago = self.now() - HOUR
        count = sum(change.at >= hour_ago for change in changes)
        if count >= MANY_CHANGES:
            yield f"made {count:,} changes within an hour"

    def _repeated(self, changes: Sequence[Change]) -> Iterator[str]:
        stored = [change for change in changes if change.kind is ChangeKind.CREATED]
        if len(stored) < MANY_ALIKE:
            return
        texts = [words for _, words in self._texts(stored[:MAX_SEARCHED])]
        count = max((sum(_alike(text, other) for other in texts) for text in texts), default=0)
        if count >= MANY_ALIKE:
            yield f"stored {count} nearly identical memories"


def _reversed(changes: Sequence[Change]) -> Iterator[str]:
    for path, times in _written_again(changes).items():
        count = max(times.values())
        if count >= MANY_REVERSALS:
            yield f"wrote the same into {path} {count} times"


def _written_again(changes: Sequence[Change]) -> dict[str, Counter[str]]:
    """How often each sentence was added to an existing note, by path."""
    counts_by_path: dict[str, Counter[str]] = defaultdict(Counter)
    for change in changes:
        for file in change.files:
            if file.before is not None and file.added:
                counts_by_path[file.path].update(file.added)
    return counts_by_path


def _words(data: bytes) -> frozenset[str]:
    """The words of a note's text, without its properties and headings."""
    _, body = split_frontmatter(data.decode("utf-8", "replace"))
    return frozenset(_WORD.findall(_HEADING.sub("", body).casefold()))


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) >= ALIKE * len(first | second)


def _links(data: bytes | None) -> int:
    return len(set(_LINK.findall(data.decode("utf-8", "replace")))) if data else 0
