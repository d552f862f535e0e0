"""The origins of one note's sentences, as the journal has them."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from zlib import crc32

from memvault.curation.origins.sentence_digests import SentenceUnit
from memvault.model.change import FileChange
from memvault.model.provenance import PERSON, Origin


@dataclass(slots=True)
class Adoption:
    """The sentences that the person adopted by verifying the note.

    Attributes:
        reframings: the changes whose `Reframing` is included.
        is_valid: False while the verification is undone.
    """

    digests: set[str]
    reframings: set[str]
    is_valid: bool = True


@dataclass(slots=True)
class Reframing:
    """The sentences that a client's change moved, repeated or put into another frame.

    Attributes:
        own_places, new_places: see `reframing.Reframed`.
        is_late: whether the note was verified already.
        is_valid: False while the change is undone.
    """

    change: str
    origin: Origin
    own_places: frozenset[str]
    new_places: frozenset[str]
    is_late: bool
    is_valid: bool = True


@dataclass(slots=True)
class SentenceOrigins:
    """The origins of one note's sentences, as the journal has them for its path or id.

    ``whole`` is the origin that a note without a history states itself. ``stamp`` is a checksum of
    all that was recorded, in this order.
    """

    origins: dict[str, Origin] = field(default_factory=dict)
    whole: Origin | None = None
    late: set[str] = field(default_factory=set)  # added to a note that was verified already
    adoptions: dict[str, Adoption] = field(default_factory=dict)  # by the verifying change
    reframings: dict[str, list[Reframing]] = field(default_factory=dict)  # by digest
    stamp: int = 0

    def _record(self, *what: object) -> None:
        self.stamp = crc32(repr(what).encode(), self.stamp)

    def adopt(self, key: str) -> None:
        """Count all current sentences as the person's, who verified the note."""
        self._record("adopt", key)
        self.adoptions[key] = Adoption(set(self.origins), self.reframing_changes)

    def without_adoptions(self) -> SentenceOrigins:
        """The origins in a version of the note that the person has not marked as verified."""
        return replace(self, adoptions={})

    def set_valid(self, key: str, *, valid: bool) -> None:
        """Mark a verification as valid, or as undone."""
        self._record("adoption", key, valid)
        self.adoptions[key].is_valid = valid

    def add(self, digests: Iterable[str], origin: Origin) -> None:
        """Record the origin of sentences that a change added."""
        digests = tuple(digests)
        self._record("add", digests, origin)
        new = dict.fromkeys(digests, origin)
        self.origins.update(new)
        for adoption in self.adoptions.values():
            adoption.digests -= new.keys()

    def inherit(self, former: SentenceOrigins) -> None:
        """Add a copy of what is known of the note that this note was moved or copied from."""
        self._record("inherit", former.stamp)
        self.origins |= former.origins
        self.late |= former.late
        self.adoptions |= copy.deepcopy(former.adoptions)
        for digest, inherited in former.reframings.items():
            recorded = self.reframings.setdefault(digest, [])
            known = {reframing.change for reframing in recorded}
            recorded.extend(copy.copy(each) for each in inherited if each.change not in known)

    def reframe(self, file: FileChange, change: str, origin: Origin) -> None:
        """Record the sentences that a client's change moved or reframed."""
        self._record("reframe", change, origin, file.reframed)
        reframing = Reframing(
            change,
            origin,
            frozenset(file.own_places),
            frozenset(file.new_places),
            file.was_verified,
        )
        for digest in file.reframed:
            self.reframings.setdefault(digest, []).append(reframing)

    def has_own(self, digests: Iterable[str]) -> bool:
        """Whether the person first wrote one of these sentences; also True without digests, which
        older journals lack."""
        known = list(digests)
        return not known or any(self._of_added(digest).is_person for digest in known)

    def set_reframing_valid(self, change: str, *, valid: bool) -> None:
        """Mark the reframings by a change as valid, or as undone."""
        self._record("reframing", change, valid)
        for reframings in self.reframings.values():
            for reframing in reframings:
                if reframing.change == change:
                    reframing.is_valid = valid

    def of(self, unit: SentenceUnit, *, reframed: bool = True) -> Origin:
        """The origin of a sentence; ``reframed`` is False for that of its first writer."""
        digests = [digest for digest in unit.digests if digest in self.origins] or [unit.digest]
        origins = [self._of_added(digest) for digest in digests]
        if reframed:
            origins += [reframing.origin for reframing in self._reframings_of(unit)]
        return next((origin for origin in origins if not origin.is_person), PERSON)

    def of_digest(self, digest: str) -> Origin:
        """The origin of a sentence, in whatever place of the note."""
        origins = [self._of_added(digest), *(r.origin for r in self._valid_reframings(digest))]
        return next((origin for origin in origins if not origin.is_person), PERSON)

    @property
    def digests(self) -> set[str]:
        """The digests of all sentences that a change recorded."""
        return {*self.origins, *self.reframings}

    @property
    def foreign_digests(self) -> list[str]:
        """The digests of the sentences that are not the person's."""
        if not self.adoptions and not self.reframings:  # a shortcut, as this runs for every change
            return [digest for digest, origin in self.origins.items() if not origin.is_person]
        digests = dict.fromkeys((*self.origins, *self.reframings))
        return [digest for digest in digests if not self.of_digest(digest).is_person]

    @property
    def reframing_changes(self) -> set[str]:
        return {each.change for reframings in self.reframings.values() for each in reframings}

    def is_late(self, unit: SentenceUnit) -> bool:
        """Whether the sentence was added or reframed after the person had verified the note."""
        is_late = any(d in self.late and not self._is_adopted(d) for d in unit.digests)
        return is_late or any(reframing.is_late for reframing in self._reframings_of(unit))

    def is_reframed(self, unit: SentenceUnit) -> bool:
        """Whether a client's change moved or reframed the sentence."""
        return bool(self._reframings_of(unit))

    def _of_added(self, digest: str) -> Origin:
        if self._is_adopted(digest):
            return PERSON
        return self.origins.get(digest, self.whole or PERSON)

    def _reframings_of(self, unit: SentenceUnit) -> list[Reframing]:
        """The changes that moved or reframed this sentence; none where it is still unchanged."""
        reframings = self._valid_reframings(unit.digest) if self.reframings else []
        own_places = set(reframings[0].own_places) if reframings else set()
        for reframing in reframings:
            own_places -= reframing.new_places
        return [] if own_places.intersection(unit.places) else reframings

    def _valid_reframings(self, digest: str) -> list[Reframing]:
        adopted = [adoption.reframings for adoption in self.adoptions.values() if adoption.is_valid]
        return [
            reframing
            for reframing in self.reframings.get(digest, ())
            if reframing.is_valid
            and not any(reframing.change in adopted_changes for adopted_changes in adopted)
        ]

    def _is_adopted(self, digest: str) -> bool:
        return any(
            adoption.is_valid and digest in adoption.digests for adoption in self.adoptions.values()
        )
