"""Notes that count as a client's: the journal says that it wrote them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from memvault.curation.origins.provenance import ADDED
from memvault.curation.origins.sentence_digests import added
from memvault.vault.files import Vault
from memvault.vault.journal import Actor, Journal, JournalEntry


def written_by_client(folder: Path, paths: Iterable[str], client: str = "eve") -> None:
    """Say in the journal of the vault in this folder that a client wrote these notes."""
    vault = Vault(folder)
    journal = Journal(vault)
    for path in paths:
        journal.append(
            JournalEntry(
                ts=datetime.now(UTC),
                kind="created",
                actor=Actor(kind="client", name=client),
                path=path,
                data={ADDED: added(None, vault.read(path))},
            )
        )
