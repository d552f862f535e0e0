"""Finds memories for hooks, and checks which of them may be shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memvault.model.search import Hit, Scope
from memvault.search.calibration import CONCERNS, features
from memvault.search.pipeline import Searcher
from memvault.verification.claim_gate import ClaimGateLog


class HookSearch:
    """Searches for hooks. Thread-safe.

    Args:
        searcher: gives the current one.
        log: of the claims that are withheld.
    """

    def __init__(self, searcher: Callable[[], Searcher], log: ClaimGateLog) -> None:
        self._searcher = searcher
        self._log = log

    def find(self, query: str, limit: int, scope: Scope) -> list[Hit]:
        """The memories nearest to a text, best first, unchecked."""
        return self._searcher().find(query, limit, scope)

    def checked(self, query: str, hits: Sequence[Hit], scope: Scope, client: str) -> list[Hit]:
        """The hits with their verification; those that the person must verify are withheld, which
        is logged."""
        result = self._searcher().check(query, hits, scope)
        self._log.record(query, result, client)
        return list(result.hits)

    def concerning(
        self, query: str, scope: Scope, limit: int, client: str
    ) -> list[tuple[Hit, float]]:
        """Memories that may be shown, each with the probability that it concerns the query."""
        hits = self.find(query, limit, scope)
        if not hits:
            return []
        chances = CONCERNS.confidences(features(query, hits))
        pairs = zip(self.checked(query, hits, scope, client), chances, strict=True)
        return [(hit, chance) for hit, chance in pairs if not hit.withheld]
