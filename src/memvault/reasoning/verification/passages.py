"""Passages that were read before: the same few are found for question after question."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from memvault.reasoning.verification.claims import Claim, Source
from memvault.reasoning.verification.clause import FindNames
from memvault.reasoning.verification.reading import Passage

KEPT = 4_000  # passages


class Passages:
    """The claims of passages, each read once for as long as the names of the vault stay the same.
    Safe in any thread.

    Args:
        find_names: where a text names things of the vault.
        state: a number that is another whenever a text may name others than before.
        kept: most passages that are kept; the ones not asked for longest go first.
    """

    def __init__(
        self, find_names: FindNames, state: Callable[[], int] = lambda: 0, kept: int = KEPT
    ) -> None:
        self._find_names = find_names
        self._state = state
        self._most = kept
        self._lock = threading.Lock()
        self._read: OrderedDict[tuple[str, Source], Passage] = OrderedDict()
        self._read_in = state()

    def claims(
        self, text: str, source: Source, wanted: frozenset[str] | None = None
    ) -> list[Claim]:
        """As `Passage.claims`."""
        return self._passage(text, source).claims(wanted)

    def _passage(self, text: str, source: Source) -> Passage:
        now = self._state()
        with self._lock:
            if now != self._read_in:
                self._read.clear()
                self._read_in = now
            passage = self._read.get((text, source))
            if passage is None:
                passage = self._read[text, source] = Passage(text, source, self._find_names)
                if len(self._read) > self._most:
                    self._read.popitem(last=False)
            else:
                self._read.move_to_end((text, source))
            return passage
