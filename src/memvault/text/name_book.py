"""The name book: all names of a vault, and what each of them means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from memvault.model.graph import NodeKind
from memvault.text.names import Name, NameRank
from memvault.text.words import composed, is_uncased, key_phrase, name_key

# Words in front of a person's name that are no given name.
_TITLE_WORDS = (
    "the our old new mrs miss sir lady professor doctor aunt auntie uncle grandma grandpa family "
    "der die das unsere les los las gli het frau herr doktor "
    "tante onkel oma opa familie madame monsieur mme docteur famille señor señora tía tío familia "
    "signor signora zia zio famiglia senhor senhora meneer mevrouw"
)
_TITLES = frozenset(_TITLE_WORDS.split())
MAX_NAME_WORDS = 14  # nobody repeats a longer title word for word


@dataclass(frozen=True, slots=True)
class NameChanges:
    """The other notes that must be read again after a change of one note's names.

    Attributes:
        phrases: texts whose meaning changed; affects notes that contain one
            (`VectorStore.containing`).
        keys: names whose possible meanings changed; affects notes whose frontmatter contains one
            (`frontmatter_names`).
        entities: nodes without a note whose spelling changed; affects notes with an edge to one.
    """

    phrases: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()

    @classmethod
    def union(cls, several: Iterable[NameChanges]) -> NameChanges:
        """The union of several changes."""
        all_changes = list(several)
        return cls(
            frozenset[str]().union(*(changes.phrases for changes in all_changes)),
            frozenset[str]().union(*(changes.keys for changes in all_changes)),
            frozenset[str]().union(*(changes.entities for changes in all_changes)),
        )


@dataclass(frozen=True, slots=True)
class BookUpdate:
    """The effects of one note's new names, and the keys that were added and removed."""

    changes: NameChanges
    added: set[str]
    removed: set[str]


def _forms(name: Name) -> Iterator[tuple[str, Name]]:
    """The keys under which a name is found: the name, its plural, a person's given name."""
    key = name_key(name.text)
    parts = key.split(" ")
    if not _can_be_a_name(parts):
        return
    yield key, name
    if name.kind == NodeKind.PERSON:
        if name.rank in (NameRank.TITLE, NameRank.NAMED) and 2 <= len(parts) <= 4:
            given_name = composed(name.text).split()[0]
            is_name = given_name.isalpha() and parts[0] not in _TITLES
            if given_name[0].isupper() and is_name and len(given_name) > 2:
                yield parts[0], replace(name, text=given_name, rank=NameRank.GIVEN)
    elif name.rank >= NameRank.LINKED and name.rank is not NameRank.IDENTIFIER:
        plural = plural_of(name.text)
        if plural:
            yield name_key(plural), replace(name, text=plural, rank=NameRank.PLURAL)


def _can_be_a_name(parts: list[str]) -> bool:
    """Whether the words of a key can name something: not one letter, nor a bare number."""
    if not parts[0] or len(parts) > MAX_NAME_WORDS:
        return False
    if len(parts) == 1 and len(parts[0]) < 2:
        return False
    # A date is a name, although it has no letters.
    return any(char.isalpha() for part in parts for char in part) or len(parts) >= 3


def plural_of(name: str) -> str | None:
    """The English plural of a name, or the singular of a plural of several words; None if the name
    does not end in a lower-case ASCII letter."""
    if len(name) < 3 or not name[-1].isascii() or not name[-1].islower() or is_uncased(name):
        return None
    if name.endswith("s"):
        if " " in name and not name.endswith(("ss", "us", "is", "ous")):
            return name[:-3] + "y" if name.endswith("ies") else name[:-1]
        return name + "es" if name.endswith("ss") else None
    if name.endswith(("x", "z", "ch", "sh")):
        return name + "es"
    if name.endswith("y") and name[-2] not in "aeiou":
        return name[:-1] + "ies"
    return name + "s"


class NameBook:
    """All names of the vault and their meanings. Not thread-safe."""

    def __init__(self) -> None:
        self._candidates: dict[
            str, Counter[Name]
        ] = {}  # possible meanings of each key, with counts
        self._of_note: dict[str, tuple[Name, ...]] = {}
        self._meaning: dict[str, tuple[Name, ...]] = {}
        self._spellings: dict[str, Counter[str]] = {}  # of each entity, with counts

    def replace(self, note_id: str, names: Iterable[Name]) -> BookUpdate:
        """Replace the names that a note adds; none removes the note."""
        new_names = tuple(dict.fromkeys(names))
        old_names = self._of_note.pop(note_id, ())
        if new_names:
            self._of_note[note_id] = new_names
        removed, added = set(old_names) - set(new_names), set(new_names) - set(old_names)
        forms = [(-1, *form) for name in removed for form in _forms(name)]
        forms += [(1, *form) for name in added for form in _forms(name)]
        keys = {key for _, key, _ in forms}
        keys_before = {key for key in keys if key in self._candidates}
        changed = set()
        for count, key, form in forms:
            candidates = self._candidates.setdefault(key, Counter())
            if _add(candidates, form, count):
                changed.add(key)
        keys_after = {key for key in keys if self._candidates[key]}
        for key in keys - keys_after:
            del self._candidates[key]
        phrases = self._update_meanings(changed) | {
            key_phrase(key) for key in keys_after ^ keys_before
        }
        entities = self._update_spellings(removed, added)
        changes = NameChanges(phrases, frozenset(changed), entities)
        return BookUpdate(changes, keys_after - keys_before, keys_before - keys_after)

    def _update_meanings(self, keys: Iterable[str]) -> frozenset[str]:
        """Update the meanings of these keys; returns the phrases whose meaning changed."""
        phrases: set[str] = set()
        for key in keys:
            old_meaning, new_meaning = (
                self._meaning.pop(key, ()),
                _best(self._candidates.get(key, ())),
            )
            if new_meaning:
                self._meaning[key] = new_meaning
            if old_meaning != new_meaning:
                phrases.add(key_phrase(key))
                phrases.update(name.text for name in (*old_meaning, *new_meaning))
        return frozenset(phrases)

    def _update_spellings(self, removed: Iterable[Name], added: Iterable[Name]) -> frozenset[str]:
        """Update the spellings of entities; returns the entities whose spelling changed."""
        counts = [(-1, name) for name in removed] + [(1, name) for name in added]
        counts = [(count, name) for count, name in counts if name.path is None]
        old_spellings = {name.target: self.spelling(name.target) for _, name in counts}
        for count, name in counts:
            spellings = self._spellings.setdefault(name.target, Counter())
            _add(spellings, name.text, count)
        for target in old_spellings:
            if not self._spellings[target]:
                del self._spellings[target]
        return frozenset(
            target
            for target, text in old_spellings.items()
            if text not in (None, self.spelling(target))
        )

    def meaning(self, key: str) -> tuple[Name, ...]:
        """The names of highest rank for a key, all of one target; empty if it is ambiguous."""
        return self._meaning.get(key, ())

    def lookup(self, text: str, kind: str | None = None) -> Name | None:
        """The meaning of a name, optionally among nodes of one kind."""
        key = name_key(text)
        if kind is None:
            names = self._meaning.get(key, ())
        else:
            candidates = self._candidates.get(key, ())
            names = _best(name for name in candidates if name.kind == kind)
        return names[0] if names else None

    def knows(self, text: str) -> bool:
        """Whether the vault has this name, possibly ambiguous."""
        return name_key(text) in self._candidates

    def keys(self) -> Iterable[str]:
        """The keys of all names."""
        return self._candidates.keys()

    def spelling(self, target: str) -> str | None:
        """The most frequent spelling of an entity without a note."""
        spellings = self._spellings.get(target)
        if not spellings:
            return None
        return min(spellings, key=lambda text: (-spellings[text], text))


def _add(counter: Counter[Any], item: Any, count: int) -> bool:
    """Add to an item's count; returns whether the item is new or removed."""
    count_before = counter[item]
    counter[item] = count_before + count
    if counter[item] <= 0:
        del counter[item]
        return True
    return count_before == 0


def _best(candidates: Iterable[Name]) -> tuple[Name, ...]:
    """The names of the target with the highest rank; empty if two targets have that rank."""
    names = list(candidates)
    if len(names) < 2:
        return tuple(names)
    highest_rank = max(map(attrgetter("rank"), names))  # thousands of notes may share a name
    targets = {name.target for name in names if name.rank == highest_rank}
    if len(targets) > 1:
        return ()
    of_target = [name for name in names if name.target in targets]
    return tuple(sorted(of_target, key=lambda name: (-name.rank, name.text)))
