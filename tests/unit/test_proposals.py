"""Clients' proposals wait for the person, but no client buries the person in them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memvault.curation.proposals import (
    MAX_WAITING,
    MAX_WAITING_TOGETHER,
    ProposalKind,
    Proposals,
)
from memvault.model.change import Actor
from memvault.model.errors import RateLimited
from memvault.model.memory import Memory
from memvault.vault.files import Vault
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.journal import Journal
from memvault.vault.parse import parse_note

PERSON = Actor(kind="person")


class Notes:
    """As many notes as clients name, any of which may be verified."""

    def __init__(self) -> None:
        self.verified: set[str] = set()

    def at(self, path: str) -> Memory:
        data = b"---\nverified: true\n---\nSaid.\n" if path in self.verified else b"Said.\n"
        return memory_of(parse_note(path, data), fallback_time=datetime.now(UTC), id=path)


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def proposals(vault_folder: Path, notes: Notes) -> Proposals:
    return Proposals(Journal(Vault(vault_folder)), notes.at, is_undone=lambda key: True)


def propose(proposals: Proposals, notes: Notes, number: int, client: str = "eve") -> None:
    memory = notes.at(f"{number}.md")
    actor = Actor(kind="client", name=client)
    proposals.propose(ProposalKind.VERIFIED, memory, actor, "They said so.")


def test_a_client_proposes_no_more_than_the_person_can_read(
    proposals: Proposals, notes: Notes
) -> None:
    for number in range(MAX_WAITING):
        propose(proposals, notes, number)
    with pytest.raises(RateLimited, match="Curate"):
        propose(proposals, notes, MAX_WAITING)
    propose(proposals, notes, 0)  # this one waits already
    assert len(proposals.waiting()) == MAX_WAITING


def test_other_names_bring_a_client_little_more_room(proposals: Proposals, notes: Notes) -> None:
    for number in range(MAX_WAITING_TOGETHER):
        propose(proposals, notes, number, f"eve {number}")
    with pytest.raises(RateLimited):
        propose(proposals, notes, MAX_WAITING_TOGETHER, "mallory")


def test_there_is_room_again_once_the_person_decided(proposals: Proposals, notes: Notes) -> None:
    for number in range(MAX_WAITING):
        propose(proposals, notes, number)
    proposals.decide(proposals.waiting()[0].key, PERSON)
    propose(proposals, notes, MAX_WAITING)
    notes.verified.add("7.md")  # in an editor
    propose(proposals, notes, MAX_WAITING + 1)
    assert len(proposals.waiting()) == MAX_WAITING
