"""What is learnt is exactly what the journal of signals adds up to, whatever happens to it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from math import tanh
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memvault.consolidation.learning import FOLDER, Learning
from memvault.consolidation.rewards import LearnedState, Signal, SignalKind
from memvault.model.change import Actor
from memvault.model.errors import InvalidParams
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.vault.files import Vault

NOON = datetime(2026, 3, 31, 12, tzinfo=UTC)
PERSON = Actor(kind="person")


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def opened(memory: str, at: datetime = NOON, **more: object) -> Signal:
    given = {"at": at, "kind": SignalKind.OPENED, "thousandths": 500, "memory": memory, **more}
    return Signal.model_validate(given)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def learning(tmp_path: Path, clock: Clock) -> Learning:
    return Learning(Vault(tmp_path), "laptop", clock=clock)


def test_signals_count_only_when_they_are_appended(learning: Learning) -> None:
    learning.observe([opened("quay")])
    assert learning.state == LearnedState()
    learning.flush()
    use = learning.state.memories["quay"]
    assert (use.times, use.last) == (1, NOON)
    assert learning.utility("quay") == pytest.approx(0.5)


def test_a_reward_counts_half_after_thirty_days(learning: Learning, clock: Clock) -> None:
    learning.observe([opened("quay")])
    learning.flush()
    clock.now += timedelta(days=30)
    assert learning.utility("quay") == pytest.approx(0.25)


def test_a_memory_gains_no_more_in_a_day_than_one_full_reward(learning: Learning) -> None:
    learning.observe(opened("quay", client=f"client {n}") for n in range(1_000))
    learning.flush()
    assert learning.utility("quay") == 1.0


@pytest.mark.parametrize("reader", ["claude", "cursor"])
def test_clients_give_no_weight_to_what_a_client_wrote(learning: Learning, reader: str) -> None:
    route = ("crane", "harbour", "quay")
    learning.observe([opened("quay", client=reader, author="claude", route=route)] * 10)
    learning.flush()
    assert learning.weights(["quay"]) == [0.0]
    assert learning.link_weight("crane", "harbour") == 0.0


def test_a_client_is_not_credited_for_reading_what_it_wrote(learning: Learning) -> None:
    learning.observe([opened("quay", client="claude", author="claude")])
    learning.flush()
    assert learning.rewards("claude") == []
    use = learning.state.memories["quay"]
    assert (use.times, use.last) == (1, NOON)


def test_the_person_gives_weight_to_what_a_client_wrote(learning: Learning) -> None:
    learning.observe([opened("quay", author="claude")])
    learning.flush()
    assert learning.weights(["quay"])[0] > 0.0


def test_the_writer_is_credited_when_another_client_reads_it(learning: Learning) -> None:
    learning.observe([opened("quay", client="cursor", author="claude")])
    learning.flush()
    assert [reward.value for reward in learning.rewards("claude")] == [0.5]
    assert learning.rewards("cursor") == []


def test_the_links_of_a_route_gain_weight_which_fades(learning: Learning, clock: Clock) -> None:
    learning.observe([opened("quay", route=("crane", "harbour", "quay"))] * 6)
    learning.flush()
    edge = learning.state.edges["crane harbour"]
    assert (edge.times, edge.last) == (6, NOON)
    assert learning.link_weight("harbour", "crane") == pytest.approx(tanh(1.0))
    clock.now += timedelta(days=30)
    assert learning.link_weight("crane", "harbour") == pytest.approx(tanh(0.5))
    assert [nodes for nodes, _ in learning.chains()] == [("crane", "harbour", "quay")]
    assert learning.link_weight("quay", "crane") == 0.0


def test_memories_that_are_read_in_one_session_belong_together(learning: Learning) -> None:
    learning.observe([opened("quay", beside=("crane",)), opened("crane", beside=("quay",))])
    learning.flush()
    assert [(a, b, use.times) for a, b, use in learning.together()] == [("crane", "quay", 2)]


def test_a_reset_forgets_all_and_can_be_taken_back(learning: Learning, clock: Clock) -> None:
    learning.observe([opened("quay")])
    learning.flush()
    before = learning.state
    clock.now += timedelta(hours=1)
    learning.reset(PERSON)
    assert learning.weights(["quay"]) == [0.0]
    learning.undo_reset(PERSON)
    assert learning.state == before
    with pytest.raises(InvalidParams, match="not reset"):
        learning.undo_reset(PERSON)


def test_a_question_that_found_nothing_is_open_until_it_is_settled(
    learning: Learning, clock: Clock
) -> None:
    def note(kind: SignalKind) -> list[tuple[str, datetime, str]]:
        signal = Signal(at=clock.now, kind=kind, thousandths=0, client="eve", question="How deep?")
        learning.observe([signal])
        learning.flush()
        clock.now += timedelta(days=1)
        return learning.unanswered()

    assert note(SignalKind.UNANSWERED) == [("How deep?", NOON, "eve")]
    assert note(SignalKind.SETTLED) == []
    assert note(SignalKind.UNANSWERED) == [("How deep?", NOON + timedelta(days=2), "eve")]
    learning.reset(PERSON)
    assert learning.unanswered() == []
    assert learning.rewards("eve") == [] and learning.state.memories == {}


def test_another_device_adds_to_what_was_learnt(
    tmp_path: Path, learning: Learning, clock: Clock
) -> None:
    other = Learning(Vault(tmp_path), "phone", clock=clock)
    for each in (learning, other):
        each.observe([opened("quay")])
        each.flush()
    learning.refresh()
    assert learning.state.memories["quay"].times == other.state.memories["quay"].times == 2
    assert sorted(file.name for file in (tmp_path / FOLDER).glob("*.jsonl")) == [
        "2026-03-laptop.jsonl", "2026-03-phone.jsonl",
    ]  # fmt: skip


def test_a_copy_that_a_sync_tool_makes_counts_nothing_twice(
    tmp_path: Path, learning: Learning
) -> None:
    learning.observe([opened("quay")])
    learning.flush()
    file = tmp_path / FOLDER / "2026-03-laptop.jsonl"
    shutil.copy(file, file.with_name("2026-03-laptop (conflicted copy).jsonl"))
    learning.refresh()
    assert learning.state.memories["quay"].times == 1


def test_what_a_lost_file_held_counts_no_more(tmp_path: Path, learning: Learning) -> None:
    learning.observe([opened("quay")])
    learning.flush()
    (tmp_path / FOLDER / "2026-03-laptop.jsonl").unlink()
    learning.refresh()
    assert learning.state == LearnedState()


MEMORIES = st.sampled_from(["quay", "crane", "ferry"])
CLIENTS = st.sampled_from(["", "claude", "cursor"])
SIGNALS = st.builds(
    Signal,
    at=st.integers(0, 40_000_000).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    kind=st.sampled_from(SignalKind),
    thousandths=st.integers(-1_000, 1_000),
    client=CLIENTS,
    author=CLIENTS,
    memory=MEMORIES,
    question=st.sampled_from(["", "How long?", "How deep?"]),
    route=st.lists(MEMORIES, max_size=3).map(tuple),
    beside=st.lists(MEMORIES, max_size=1).map(tuple),
)
DEVICES = st.sampled_from(["laptop", "phone"])


class TwoDevices(RuleBasedStateMachine):
    """Two devices learn in one synced folder, are killed, and find what sync tools leave."""

    @initialize()
    def begin(self) -> None:
        self.home = TemporaryDirectory()
        self.vault = Path(self.home.name) / "vault"
        self.vault.mkdir()
        self.clock = Clock()
        self.stores = {
            name: SqliteKeyValueStore(Path(self.home.name) / f"{name}.sqlite")
            for name in ("laptop", "phone")
        }
        self.open = {name: self.opened(name) for name in self.stores}

    def opened(self, name: str) -> Learning:
        store = self.stores[name]
        return Learning(Vault(self.vault), name, keyvalue=lambda: store, clock=self.clock)

    @property
    def files(self) -> list[Path]:
        return sorted((self.vault / FOLDER).glob("*.jsonl*"))

    @rule(name=DEVICES, signals=st.lists(SIGNALS, min_size=1, max_size=4))
    def learn(self, name: str, signals: list[Signal]) -> None:
        self.open[name].observe(signals)
        self.open[name].flush()

    @rule(name=DEVICES)
    def checkpoint(self, name: str) -> None:
        self.open[name].checkpoint()

    @rule(name=DEVICES, signals=st.lists(SIGNALS, max_size=2))
    def kill(self, name: str, signals: list[Signal]) -> None:
        self.open[name].observe(signals)
        self.open[name] = self.opened(name)

    @rule(name=DEVICES, cut=st.integers(1, 300))
    def kill_while_writing(self, name: str, cut: int) -> None:
        """The last entry is cut off; a device never saw its own."""
        own = [file for file in self.files if file.name.endswith(f"{name}.jsonl")]
        if own:
            data = own[-1].read_bytes().rstrip(b"\n")
            own[-1].write_bytes(data[: max(data.rfind(b"\n") + 1, len(data) - cut + 1)])
        self.open[name] = self.opened(name)

    @rule(at=st.integers(0, 9), copy=st.integers(1, 2))
    def sync_tool_copies(self, at: int, copy: int) -> None:
        if files := [file for file in self.files if "copy" not in file.name]:
            file = files[at % len(files)]
            shutil.copy(file, file.with_name(f"{file.stem} (copy {copy}){file.suffix}"))

    @rule(name=DEVICES)
    def compress(self, name: str) -> None:
        for saved in self.open[name].compress(self.clock.now):
            assert saved >= 0  # one short entry takes no less room than before

    @rule(at=st.integers(0, 9))
    def file_is_lost(self, at: int) -> None:
        if files := self.files:
            files[at % len(files)].unlink()

    @rule(name=DEVICES)
    def reset(self, name: str) -> None:
        self.open[name].reset(PERSON)

    @rule(name=DEVICES)
    def undo_reset(self, name: str) -> None:
        if self.open[name].resets():
            self.open[name].undo_reset(PERSON)

    @rule(days=st.integers(-20, 40))
    def clock_moves(self, days: int) -> None:
        self.clock.now += timedelta(days=days)

    @invariant()
    def kept_equals_rebuilt(self) -> None:
        rebuilt = Learning(Vault(self.vault), "other", clock=self.clock).state
        for learning in self.open.values():
            learning.refresh()
            assert learning.state == rebuilt

    def teardown(self) -> None:
        for store in getattr(self, "stores", {}).values():
            store.close()
        if hasattr(self, "home"):
            self.home.cleanup()


TestTwoDevices = TwoDevices.TestCase
TestTwoDevices.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
