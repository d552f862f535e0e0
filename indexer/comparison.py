"""Compares the vault, the catalogue and the stores."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from indexer.catalogue import FORMAT, Catalogue, NoteRecord
from memvault.model.errors import MemvaultError, NoteQuarantined
from memvault.model.priority import make_way
from memvault.stores.open import Stores
from memvault.vault.files import Vault
from memvault.vault.walk import NoteStat


@dataclass(frozen=True, slots=True)
class ScanDifference:
    """How the notes on disk differ from their records.

    Attributes:
        changed: notes that a scan would index.
        outdated: those of them that are as they were indexed, but by an earlier memvault.
        deleted: paths of deleted notes.
        on_disk: number of notes.
    """

    changed: dict[str, NoteStat]
    outdated: set[str]
    deleted: set[str]
    on_disk: int


class Mismatch(NamedTuple):
    """How the stores differ from the catalogue.

    Attributes:
        stray_nodes: ids of notes in the graph that have no record.
        stray_chunks: ids of notes in the vector index that have no record.
        without_node: paths of notes that the graph lacks.
        without_chunks: paths of notes that the vector index lacks, in whole or in part.
    """

    stray_nodes: set[str]
    stray_chunks: set[str]
    without_node: set[str]
    without_chunks: set[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares one vault, its catalogue and its stores; changes nothing."""

    vault: Vault
    catalogue: Catalogue
    stores: Stores

    def differing(self, also: Collection[str] = ()) -> ScanDifference:
        """The notes that a scan would index; reads only file names, sizes and times.

        Args:
            also: further paths, without records, of notes that may be deleted.

        Raises:
            VaultMissing: the vault's folder does not exist.
        """
        stats: list[NoteStat] = []
        for stat in self.vault.walk():
            make_way()
            stats.append(stat)
        known = {s.path: record for s in stats if (record := self.catalogue.record(s.path))}
        rewritten = self._with_new_provenance(known.values())
        changed, outdated = dict[str, NoteStat](), set[str]()
        for stat in stats:
            record = known.get(stat.path)
            if record is None or not _is_of(stat, record) or stat.path in rewritten:
                changed[stat.path] = stat
            elif record.format != FORMAT:
                changed[stat.path] = stat
                outdated.add(stat.path)
        on_disk = {stat.path for stat in stats}
        recorded = self.catalogue.paths().union(also)
        deleted = {path for path in recorded - on_disk if not self._may_be_unreadable(path)}
        return ScanDifference(changed, outdated, deleted, len(on_disk))

    def with_new_provenance(self) -> set[str]:
        """The notes whose provenance the journal has changed since they were indexed.

        Quick, as it opens no note.
        """
        return self._with_new_provenance(self.catalogue.records()) | self.vault.unhidden()

    def _with_new_provenance(self, records: Collection[NoteRecord]) -> set[str]:
        """The paths of those notes, all at once: asking for one note looks at the journal's files.

        A vault of some years has dozens of them.
        """
        stamps = self.vault.stamps((r.memory.path, r.claimed_id or "") for r in records)
        return {
            record.memory.path
            for record, stamp in zip(records, stamps, strict=True)
            if record.memory.provenance.stamp != stamp
        }

    def is_current(self, path: str) -> bool:
        """Whether the note's record agrees with the disk, also if neither exists. A note in
        quarantine as a whole has none."""
        stat = self.vault.stat(path) if self.vault.is_note(path) else None
        record = self.catalogue.record(path)
        if record is None:
            return stat is None or self._is_quarantined(path)
        if stat is None:
            return False
        return record.format == FORMAT and self._is_as_recorded(stat, record)

    def has_lost_an_index(self) -> bool:
        """Whether a server lost its data: a store is empty although notes were indexed, or lacks
        some of their records."""
        return bool(len(self.catalogue)) and (
            self.stores.vectors.count() == 0
            or self.stores.graph.counts()[0] == 0
            or self.catalogue.has_lost_records()
        )

    def mismatch(self) -> Mismatch:
        records = {record.memory.id: record for record in self.catalogue.records()}
        nodes = {node.id for node in self.stores.graph.all_nodes() if node.path}
        counts = self.stores.vectors.chunk_counts()
        return Mismatch(
            nodes - records.keys(),
            counts.keys() - records.keys(),
            {records[note_id].memory.path for note_id in records.keys() - nodes},
            {
                record.memory.path
                for note_id, record in records.items()
                if counts.get(note_id, 0) < max(record.chunks, 1)
            },
        )

    def is_same_file(self, stat: NoteStat) -> bool:
        """Whether the note's record is of this file, though perhaps of other authors."""
        record = self.catalogue.record(stat.path)
        state = (stat.size, stat.mtime_ns, FORMAT)
        return record is not None and (record.size, record.mtime_ns, record.format) == state

    def _is_as_recorded(self, stat: NoteStat, record: NoteRecord) -> bool:
        """Whether the note has the same file and authors as when it was indexed."""
        return _is_of(stat, record) and not self._with_new_provenance([record])

    def _is_quarantined(self, path: str) -> bool:
        try:
            self.vault.examined(path)
        except NoteQuarantined:
            return True
        except (OSError, MemvaultError):
            return False
        return False

    def _may_be_unreadable(self, path: str) -> bool:
        """Whether the note is in a folder that the last walk could not read."""
        unreadable = self.vault.unreadable
        above = ["", *("/".join(path.split("/")[:end]) for end in range(1, path.count("/") + 1))]
        return bool(unreadable) and any(folder in unreadable for folder in above)


def _is_of(stat: NoteStat, record: NoteRecord) -> bool:
    """Whether the record is of this file, at whatever format it was indexed."""
    return (record.size, record.mtime_ns) == (stat.size, stat.mtime_ns)
