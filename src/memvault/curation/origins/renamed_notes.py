"""Recognises notes that the person renamed or copied by the sentences in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Set
from typing import NamedTuple

from memvault.vault.files import Vault

_SAME_SHARE = 0.75  # of the person's sentences that are still those remembered
_OWN_SHARE = 0.5  # of the person's sentences that a renamed note must have
_FOREIGN_SHARE = 0.5  # of the others' sentences, for a note that had none of the person's
# A copy of a note that is still there must have more: notes of one template share some.
_COPY_SHARE, _COPY_SENTENCES = 0.9, 3


class _Known(NamedTuple):
    """The digests of the person's sentences in a note, and of the others'."""

    own: frozenset[str]
    foreign: frozenset[str]


class RenamedNotes:
    """The notes with sentences of others, as they were after the last change by memvault."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._known: dict[str, _Known] = {}  # by path
        self._places: dict[str, set[str]] = defaultdict(set)  # paths by digest of a foreign one

    def __bool__(self) -> bool:
        return bool(self._known)

    def remember(self, path: str, own: frozenset[str], foreign: frozenset[str]) -> None:
        """Remember the note at this path by these digests."""
        self._known[path] = _Known(own, foreign)
        for digest in foreign:
            self._places[digest].add(path)

    def forget(self, path: str, moved_to: str | None = None) -> None:
        """Forget a note that is deleted, or remember it by the path that it was moved to."""
        known = self._known.pop(path, None)
        if known is not None and moved_to is not None:
            self.remember(moved_to, *known)

    def copy(self, path: str, target: str) -> None:
        """Remember the note at ``target`` by the sentences of the one that was at ``path``."""
        if known := self._known.get(path):
            self.remember(target, *known)

    def has_other_sentences(self, path: str, own: Collection[str]) -> bool:
        """Whether the person has replaced many of the sentences by which the note is remembered."""
        known = self._known.get(path)
        if known is None or not own:
            return False
        return len(known.own.intersection(own)) < _SAME_SHARE * min(len(known.own), len(own))

    def former_paths(self, digests: Set[str]) -> list[str]:
        """The paths from which the note with these sentences was renamed or copied.

        Sentences of others and most of the person's sentences of that path occur in this note. If
        the path had none of the person's, most of the others'.
        """
        paths = {path for digest in digests for path in self._places.get(digest, ())}
        return sorted(path for path in paths if self._is_recognised(path, digests))

    def _is_recognised(self, path: str, digests: Set[str]) -> bool:
        known = self._known.get(path)
        if known is None:
            return False
        own, is_in_trash = known.own, path.startswith(".")
        if not is_in_trash and self._vault.stat(path) is not None:
            return len(own) >= _COPY_SENTENCES and len(own & digests) >= _COPY_SHARE * len(own)
        if own:
            return len(own & digests) >= _OWN_SHARE * len(own)
        foreign = len(known.foreign & digests)
        return not is_in_trash and foreign >= _FOREIGN_SHARE * len(known.foreign)
