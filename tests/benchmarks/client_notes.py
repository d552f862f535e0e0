"""Notes that count as a client's: the journal says that it wrote them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from memvault.curation.changes.change_entries import JournalPhase
from memvault.curation.origins.sentence_digests import added
from memvault.model.change import Change, ChangeKind, FileChange
from memvault.vault.files import Vault
from memvault.vault.journal import Actor, Journal, JournalEntry
from memvault.vault.parse import content_hash


def written_by_client(folder: Path, paths: Iterable[str], client: str = "eve") -> None:
    """Say in the journal of the vault in this folder that a client wrote these notes."""
    vault = Vault(folder)
    journal = Journal(vault)
    actor = Actor(kind="client", name=client)
    for path in paths:
        data, now = vault.read(path), datetime.now(UTC)
        digests = tuple(added(None, data))
        file = FileChange(path=path, after=content_hash(data), added=digests)
        change = Change(
            reversal_hash=content_hash(path.encode())[:32], kind=ChangeKind.CREATED, at=now,
            actor=actor, client=client, rationale="", files=(file,),
        )  # fmt: skip
        key = {"reversal_hash": change.reversal_hash}
        begun = {**key, "change": change.model_dump(mode="json")}
        for kind, entry_data in ((JournalPhase.BEGUN, begun), (JournalPhase.DONE, key)):
            journal.append(JournalEntry(ts=now, kind=kind, actor=actor, data=entry_data))
