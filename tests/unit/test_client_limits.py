"""A client cannot gain weight by numbers: limits on its changes, and what the person is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memvault.config.settings import LimitSettings
from memvault.curation.changes.client_limits import MANY_ALIKE, MANY_REVERSALS, ClientLimits
from memvault.curation.changes.curator import Curator
from memvault.curation.changes.plan import Attribution, Plan
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.remember import remember
from memvault.model.change import ChangeKind
from memvault.model.errors import DiskFull, RateLimited
from memvault.vault.files import Vault
from memvault.vault.journal import Journal

EVE = Attribution("eve", "because it was asked for")
PERSON = Attribution("page", "edited on the page", kind="person")


class Desk:
    """A vault whose clients have limits."""

    def __init__(self, folder: Path) -> None:
        self.vault = Vault(folder)
        self.clock_is_ahead = timedelta(0)
        self.curator = Curator(
            self.vault, Journal(self.vault), clock=self._clock, refuse=self._refuse
        )
        self.settings = LimitSettings()
        self.limits = ClientLimits(
            self.curator.history, self.vault, lambda: self.settings, self.curator.now
        )

    def _clock(self) -> datetime:
        return datetime.now(UTC) + self.clock_is_ahead

    def _refuse(self, plan: Plan, why: Attribution) -> None:
        self.limits.check(plan, why)

    def limit(self, **limits: int) -> None:
        self.settings = LimitSettings(**limits)

    def store(self, content: str, client: str = "eve", **more: object) -> str:
        draft = Draft.checked(
            content=content, rationale="asked to keep this", client=client, **more
        )
        return remember(self.curator, draft).result.path

    def write(self, path: str, text: str, why: Attribution = EVE) -> None:
        self.curator.perform(
            lambda staging: staging.write(path, text.encode()), ChangeKind.EDITED, ("it",), (), why
        )

    def notes(self) -> int:
        return len(list(self.vault.walk()))


@pytest.fixture
def desk(vault_folder: Path) -> Desk:
    return Desk(vault_folder)


LARGE = "x" * 2**20  # a megabyte of one word, which is soon compared
WORDS = [
    "anchor",
    "basil",
    "cobalt",
    "dune",
    "ember",
    "fjord",
    "garnet",
    "hazel",
    "iris",
    "jasper",
    "kelp",
    "lagoon",
]


def test_a_flood_of_one_client_is_refused_and_nothing_is_lost(desk: Desk) -> None:
    desk.limit(changes_per_hour=4)
    for word in WORDS[:4]:
        desk.store(f"Of {word}.", title=word)
    with pytest.raises(RateLimited, match="changes_per_hour"):
        desk.store("One more.", title="More")
    assert desk.notes() == 4
    desk.store("Of another.", client="tom", title="Another")


def test_other_names_bring_a_client_little_more_room(desk: Desk) -> None:
    desk.limit(changes_per_hour=2)
    for number, word in enumerate(WORDS[:6]):
        desk.store(f"Of {word}.", client=f"eve{number}", title=word)
    with pytest.raises(RateLimited):
        desk.store("One more.", client="eve7", title="More")


def test_changes_that_were_made_while_the_clock_was_ahead_block_no_client(desk: Desk) -> None:
    desk.limit(changes_per_hour=4, megabytes_per_hour=5)
    desk.vault.create_at("Log.md", b"")
    desk.clock_is_ahead = timedelta(days=400)
    for word in WORDS[:4]:
        desk.write("Log.md", LARGE + word)
    desk.clock_is_ahead = timedelta(0)
    for word in WORDS[4:8]:
        desk.write("Log.md", LARGE + word)
    with pytest.raises(RateLimited):
        desk.write("Log.md", "One more.")


def test_nearly_the_same_memory_is_refused_after_a_while(desk: Desk) -> None:
    desk.limit(similar_per_day=3)
    for number in range(3):
        desk.store(f"The bank account of the harbour club is DE02 {number}.", title=f"B{number}")
    with pytest.raises(RateLimited, match="edit_memory"):
        desk.store("The bank account of the harbour club is DE02 9.", title="B9")
    desk.store("The tide gauge is read at noon by the harbour lab.", title="Tides")


def test_writing_a_fact_back_and_forth_is_refused(desk: Desk) -> None:
    desk.limit(reversals_per_day=3)
    desk.vault.create_at("Fee.md", b"The fee is 40.\n")
    with pytest.raises(RateLimited, match="Ask the person"):
        for number in range(20):
            desk.write("Fee.md", f"The fee is {(50, 40)[number % 2]}.\n")
    desk.write("Fee.md", "The fee is 40.\n", PERSON)
    desk.write("Fee.md", "The fee is 50.\n", PERSON)  # a person has no limits


def test_a_note_that_links_to_everything_is_refused(desk: Desk) -> None:
    desk.limit(links_per_note=5)
    links = " ".join(f"[[{word}]]" for word in WORDS)
    with pytest.raises(RateLimited, match="links_per_note"):
        desk.store(links, title="Hub")
    with pytest.raises(RateLimited, match="links and tags"):
        desk.store(links.replace("[[", "#").replace("]]", ""), title="Tagged")
    desk.vault.create_at("Map.md", links.encode())  # the person's own
    desk.write("Map.md", f"{links}\n\nAnd more of it.\n")


def test_a_client_that_repeats_itself_is_reported_until_its_changes_are_undone(desk: Desk) -> None:
    for number in range(MANY_ALIKE):
        desk.store(f"The bank account of the harbour club is DE02 {number}.", title=f"B{number}")
    desk.vault.create_at("Fee.md", b"The fee is 40.\n")
    for number in range(2 * MANY_REVERSALS):
        desk.write("Fee.md", f"The fee is {(50, 40)[number % 2]}.\n")
    (excess,) = desk.limits.excesses()
    assert excess.client == "eve"
    assert f"stored {MANY_ALIKE} nearly identical memories" in excess.activity
    assert f"Fee.md {MANY_REVERSALS} times" in excess.activity
    history = desk.curator.history
    desk.curator.undo([each.reversal_hash for each in history.changes(client="eve", limit=None)],
                      PERSON)  # fmt: skip
    assert not desk.limits.excesses()
    assert [stat.path for stat in desk.vault.walk()] == ["Fee.md"]
    assert desk.vault.read("Fee.md") == b"The fee is 40.\n"


def test_ordinary_work_is_not_reported(desk: Desk) -> None:
    for word in WORDS:
        desk.store(f"{word.title()} is kept in the shed since spring, says {word}.", title=word)
    assert not desk.limits.excesses()


def test_a_client_may_write_so_many_megabytes_an_hour_and_the_person_as_many_as_they_like(
    desk: Desk,
) -> None:
    desk.limit(megabytes_per_hour=1)
    half = "x" * (2**19 + 1)
    (desk.vault.root / "Plan.md").write_text("x")
    desk.write("Plan.md", half)
    with pytest.raises(RateLimited, match="megabytes_per_hour"):
        desk.write("Plan.md", half + "again")
    assert desk.vault.read("Plan.md") == half.encode()
    desk.write("Plan.md", half * 3, PERSON)
    desk.limit(megabytes_per_hour=0)
    desk.write("Plan.md", half + "again")


def test_all_clients_together_may_write_three_times_as_much(desk: Desk) -> None:
    desk.limit(megabytes_per_hour=1)
    for name in "abcd":
        (desk.vault.root / f"{name}.md").write_text("x")
    for name in ("a", "b", "c"):
        desk.write(f"{name}.md", LARGE, Attribution(name, "because it was asked for"))
    with pytest.raises(RateLimited):
        desk.write("d.md", LARGE, Attribution("d", "because it was asked for"))


def test_a_large_file_of_a_client_is_refused_if_the_disk_is_nearly_full(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memvault.curation.changes.client_limits.RESERVE_BYTES", 2**70)
    (desk.vault.root / "Plan.md").write_text("x")
    with pytest.raises(DiskFull, match="nearly full"):
        desk.write("Plan.md", LARGE)
    desk.write("Plan.md", "A small note.\n")
    desk.write("Plan.md", LARGE, PERSON)
