"""Memories that prove useful are found better, within bounds; no client can use that to cheat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import Implementation

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.settings import IndexSettings, LearningSettings, Settings
from memvault.consolidation.learning import Learning
from memvault.consolidation.rewards import Signal, SignalKind
from memvault.curation.decisions import by_person
from memvault.model.errors import ModelUnavailable
from memvault.model.memory import Lifecycle, Memory, balanced_importance
from memvault.model.search import Hit
from memvault.search.order import preferred
from tests.integration.caller import all_shown
from tests.integration.small_vault import opened
from tests.unit.test_secrets import PLANTED

WHY = "the person asked for it"
QUESTION = "How is the kelp counted?"


class Conversation:
    """One connection of a client, which makes several calls."""

    def __init__(self, client: Client[Any]) -> None:
        self._client = client

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool_mcp(name, arguments)
        assert not result.is_error, result.content
        return result.structured_content or {}

    async def recall(self, query: str = QUESTION) -> list[str]:
        answer = await self.call("recall_memory", query=query)
        return [node["id"] for node in answer["nodes"]]


Talk = Callable[..., Any]


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    running = opened(tmp_path)
    yield running
    running.close()


@pytest.fixture
def talk(container: Container) -> Talk:
    server = build_server(container, tools="full")

    def run(does: Callable[[Conversation], Any], client: str = "claude") -> Any:
        async def connected() -> Any:
            info = Implementation(name=client, version="1")
            async with Client(server, client_info=info) as one:
                return await does(Conversation(one))

        return asyncio.run(connected())

    return run


def learnt(container: Container) -> Learning:
    """With what was observed until now."""
    container.learning._write()
    return container.learning.learnt


async def open_second(talk: Conversation) -> tuple[str, str]:
    first, second, *_ = await talk.recall()
    await talk.call("get_memory", id=second)
    return first, second


def test_what_is_opened_gains_and_what_was_passed_over_loses(
    container: Container, talk: Talk
) -> None:
    first, second = talk(open_second)
    found = learnt(container)
    assert found.state.memories[second].times == 1
    assert found.utility(second) == pytest.approx(0.5)
    assert found.utility(first) == pytest.approx(-0.1)


def test_a_secret_in_a_question_is_not_written_down(container: Container, talk: Talk) -> None:
    secret, sentence = PLANTED["GitHub token"]

    async def ask(one: Conversation) -> None:
        found = await one.recall(f"{QUESTION} {sentence.format(secret)}")
        await one.call("get_memory", id=found[0])

    talk(ask)
    learnt(container)
    files = (container.vault.root / ".memvault/learning").glob("*.jsonl")
    written = "".join(file.read_text() for file in files)
    assert "kelp counted" in written
    assert secret not in written


def test_a_memory_that_no_answer_showed_gains_nothing(container: Container, talk: Talk) -> None:
    id = next(iter(container.live.catalogue.all())).id
    talk(lambda one: one.call("get_memory", id=id))
    assert learnt(container).state.memories == {}


def test_reading_one_memory_again_and_again_counts_once(container: Container, talk: Talk) -> None:
    async def insist(one: Conversation) -> str:
        id = (await one.recall())[0]
        for _ in range(5):
            await one.recall()
            await one.call("fetch", id=id)
        return id

    id = talk(insist)
    assert learnt(container).state.memories[id].times == 1
    talk(insist)
    assert learnt(container).state.memories[id].times == 2  # another connection


def test_a_citation_that_is_expanded_counts_as_a_full_reward(
    container: Container, talk: Talk
) -> None:
    async def cite(one: Conversation) -> str:
        id = (await one.recall())[0]
        await one.call("hydrate_citation", citation_tags=[f"node_{id[:8]}"])
        return id

    id = talk(cite)
    assert learnt(container).utility(id) == 1.0  # 1.5, within a day's bound


def test_memories_read_in_one_connection_belong_together(container: Container, talk: Talk) -> None:
    async def both(one: Conversation) -> list[str]:
        ids = (await one.recall())[:2]
        for id in ids:
            await one.call("get_memory", id=id)
        return sorted(ids)

    ids = talk(both)
    assert [[a, b] for a, b, _ in learnt(container).together()] == [ids]


def test_the_link_that_led_to_a_memory_is_traversed(container: Container, talk: Talk) -> None:
    async def follow(one: Conversation) -> None:
        assert by_title["Mira Sand"] in await one.recall("kelp in the bay")
        await one.call("get_memory", id=by_title["Mira Sand"])

    by_title = {memory.title: memory.id for memory in container.live.catalogue.all()}
    talk(follow)
    found = learnt(container)
    assert found.link_weight(by_title["Kelp census"], by_title["Mira Sand"]) > 0.0


def test_what_the_person_verifies_gains_and_its_writer_is_credited(
    container: Container, talk: Talk
) -> None:
    stored = talk(
        lambda one: one.call("store_memory", content="The drone is blue.", rationale=WHY),
        client="cursor",
    )
    learnt(container)
    container.decisions.verify(stored["node_id"], all_shown(container), verified=True)
    assert learnt(container).utility(stored["node_id"]) == 1.0
    kinds = [reward.kind for reward in learnt(container).rewards("cursor")]
    assert kinds[-1] is SignalKind.VERIFIED
    container.decisions.verify(stored["node_id"], all_shown(container), verified=False)
    assert learnt(container).utility(stored["node_id"]) == pytest.approx(0.2)


def test_what_the_person_verifies_gains_before_the_index_knows_that_it_is_verified(
    container: Container, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = talk(
        lambda one: one.call("store_memory", content="The drone is blue.", rationale=WHY),
        client="cursor",
    )
    learnt(container)
    catalogue = container.live.catalogue
    before = catalogue.by_id(stored["node_id"])
    container.decisions.verify(stored["node_id"], all_shown(container), verified=True)
    monkeypatch.setattr(catalogue, "by_id", lambda _: before)
    assert learnt(container).utility(stored["node_id"]) == 1.0


def test_whoever_stores_the_same_again_or_is_undone_is_penalised(
    container: Container, talk: Talk
) -> None:
    async def twice(one: Conversation) -> str:
        text = "The kelp census of next spring starts at the harbour on a Monday."
        await one.call("store_memory", content=text, title="Start", rationale=WHY)
        answer = await one.call("store_memory", content=text, title="Begin", rationale=WHY)
        return str(answer["reversal_hash"])

    undo = talk(twice, client="cursor")
    kinds = [reward.kind for reward in learnt(container).rewards("cursor")]
    assert SignalKind.DUPLICATE in kinds
    container.actions.undo([undo], by_person("not needed"))
    latest = learnt(container).rewards("cursor")[-1]
    assert (latest.kind, latest.value) == (SignalKind.UNDONE, -1.0)


@pytest.mark.parametrize("reader", ["eve", "another name of eve"])
def test_no_client_raises_or_verifies_a_clients_claim_by_reading_it(
    container: Container, talk: Talk, reader: str
) -> None:
    claim = "The kelp is counted by satellite, said the harbour."
    stored = talk(
        lambda one: one.call("store_memory", content=claim, title="Count", rationale=WHY),
        client="eve",
    )
    before = container.live.searcher.search("Is the kelp counted by satellite?")

    async def read(one: Conversation) -> None:
        assert stored["node_id"] in await one.recall("Is the kelp counted by satellite?")
        await one.call("get_memory", id=stored["node_id"])

    for _ in range(5):
        talk(read, client=reader)
    assert learnt(container).weights([stored["node_id"]])[0] <= 0.0
    after = container.live.searcher.search("Is the kelp counted by satellite?")
    judged, again = (
        {hit.memory.id: (hit.verification, hit.withheld) for hit in found.hits}
        for found in (before, after)
    )
    assert judged == again
    sure, still = (
        {hit.memory.id: hit.confidence for hit in found.hits} for found in (before, after)
    )
    assert still == pytest.approx(sure, abs=1e-6)  # the store adds up vectors in another order


def test_the_person_gives_weight_by_opening_a_note_that_a_page_found(
    container: Container, talk: Talk
) -> None:
    stored = talk(
        lambda one: one.call("store_memory", content="The boat counts kelp.", rationale=WHY)
    )
    container.learning.record_shown_to_person(
        QUESTION, container.live.searcher.search(QUESTION).hits
    )
    container.learning.record_read_by_person(stored["node_id"])
    assert learnt(container).utility(stored["node_id"]) == pytest.approx(0.5, abs=0.1)


def test_a_memory_that_was_opened_often_comes_first(container: Container, talk: Talk) -> None:
    question = "Where do we count?"
    first, second, *_ = talk(lambda one: one.recall(question))
    now, day = container.curator.now(), timedelta(days=1)
    container.learning.learnt.observe(
        Signal(at=now - k * day, kind=SignalKind.CITED, thousandths=1_000, memory=second)
        for k in range(20)
    )
    learnt(container)
    assert talk(lambda one: one.recall(question))[:2] == [second, first]


def test_a_question_like_an_earlier_one_finds_what_helped_then(
    container: Container, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, second = talk(open_second)
    learnt(container)
    (case,) = container.learning.cases.like("In what way is the kelp counted?", 5)
    assert (case.question, case.memory, case.value) == (QUESTION, second, 0.5)
    assert container.learning.cases.like("Who plays the cello?", 5) == []

    def gone(question: str) -> None:
        raise ModelUnavailable("the model was deleted")

    monkeypatch.setattr(container.embedder, "embed_query", gone)
    assert container.learning.cases.like(QUESTION, 5) == []  # ERR-AUTO-07


def test_the_questions_of_a_year_are_not_embedded_again_at_each_start(tmp_path: Path) -> None:
    running = opened(tmp_path)
    memory, now = next(iter(running.live.catalogue.all())), running.now()
    questions = [f"Who counted the kelp on day {day}?" for day in range(600)]
    running.learning.learnt.observe(
        Signal(at=now, kind=SignalKind.OPENED, thousandths=500, memory=memory.id, question=asked)
        for asked in questions
    )
    for _ in range(2):
        running.learning._write()
    running.close()
    again = opened(tmp_path)
    try:
        before = again.embedder.reads
        for _ in range(2):
            again.learning._write()
        assert again.embedder.reads.hits >= before.hits + len(questions)
        assert again.embedder.reads.misses == before.misses
        assert len(again.learning.cases.like(questions[7], 1_000)) > 500
    finally:
        again.close()


def test_switched_off_nothing_is_recorded_or_ranked(tmp_path: Path) -> None:
    off = Settings(index=IndexSettings(ner="off"), learning=LearningSettings(enabled=False))
    running = opened(tmp_path, settings=off)
    memory = next(iter(running.live.catalogue.all()))
    running.learning.record_shown("a", "claude", "a", QUESTION, [Hit(memory, 0.5)])
    running.learning.record_read("a", [memory.id])
    assert running.learning.preference(QUESTION, [memory.id]) is None
    running.close()
    assert not (running.vault.root / ".memvault" / "learning").exists()


def hit(number: int, relevance: float) -> Hit:
    memory = Memory.model_validate(
        {"id": str(number), "path": f"{number}.md", "title": str(number),
         "lifecycle": Lifecycle.PERMANENT, "created_at": "2026-01-01T00:00:00Z"}
    )  # fmt: skip
    return Hit(memory, relevance)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 1)), max_size=20),
    st.floats(0, 0.2),
)
def test_use_moves_no_memory_past_one_that_is_clearly_more_relevant(
    given: list[tuple[float, float]], share: float
) -> None:
    hits = [hit(k, relevance) for k, (relevance, _) in enumerate(given)]
    ranked = preferred(hits, [weight for _, weight in given], share)
    assert sorted(map(id, ranked)) == sorted(map(id, hits))
    assert not hits or ranked.index(hits[0]) <= 1
    least = 1.0
    bounded = {id(each): (least := min(least, each.relevance)) for each in hits}
    for k, one in enumerate(ranked):
        for other in ranked[k + 1 :]:
            if other is not hits[0]:
                assert bounded[id(one)] * (1 + share) >= bounded[id(other)] * (1 - share)


def test_without_rewards_the_order_is_returned_unchanged() -> None:
    hits = [hit(k, 1 / (k + 1)) for k in range(5)]
    assert preferred(hits, (), 0.1) is hits
    assert preferred(hits, [0.0] * 5, 0.1) is hits


def test_feedback_names_what_was_penalised_and_advises(container: Container, talk: Talk) -> None:
    async def repeat(one: Conversation) -> None:
        text = "The kelp census of next spring starts at the harbour on a Monday."
        for title in ("Start", "Begin", "Opening"):
            await one.call("store_memory", content=text, title=title, rationale=WHY)

    talk(repeat, client="cursor")
    learnt(container)
    found = talk(lambda one: one.call("get_steering_feedback"), client="cursor")
    assert found["cumulative_dopamine"] < 0.0
    assert found["reward_breakdown"]["duplication_penalties"] <= -1.0
    assert {each["kind"] for each in found["penalised"]} >= {"duplicate"}
    assert "recall_memory" in found["behavioral_recommendations"][0]
    assert found["curator_score"] < 0.0 and found["lifecycle_stage"] == "infancy"

    async def latest(one: Conversation) -> tuple[dict[str, Any], dict[str, Any]]:
        last = await one.call("get_steering_feedback", lookback_count=1)
        return last, await one.call("get_steering_feedback", lookback_count=1, window=24)

    last, day = talk(latest, client="cursor")
    assert last["rewards"] == 1 and day["rewards"] == found["rewards"]
    other = talk(lambda one: one.call("get_steering_feedback"), client="claude")
    assert other["rewards"] == 0


def test_a_reward_is_scored_emitted_and_shared_among_what_was_shown(
    container: Container, talk: Talk
) -> None:
    async def reward(one: Conversation) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
        ids = await one.recall()
        scored = await one.call("affective_score_signal", signal={"actual_value": 0.9})
        given = await one.call("affective_emit_reward", reward=scored["reward"])
        return ids, given, await one.call("affective_get_drive_state")

    ids, given, drives = talk(reward)
    assert set(given["boosted"]) <= set(ids) and given["boosted"]
    assert 0.0 < learnt(container).utility(given["boosted"][0]) <= 0.3
    assert drives["novelty"] == pytest.approx(0.18)
    assert talk(lambda one: one.call("affective_get_drive_state"))["novelty"] == 0.0


def test_a_penalty_raises_no_memory_even_after_greater_rewards(
    container: Container, talk: Talk
) -> None:
    async def disappointed(one: Conversation) -> tuple[list[str], dict[str, Any]]:
        await one.recall()
        praised = await one.call("affective_emit_reward", reward={"type": "reward", "value": 0.9})
        penalty = {"type": "penalty", "value": -0.3}
        return praised["boosted"], await one.call("affective_emit_reward", reward=penalty)

    praised, penalised = talk(disappointed)
    assert penalised["net_value"] == pytest.approx(0.42)
    assert penalised["boosted"] == []
    assert learnt(container).utility(praised[0]) == pytest.approx(0.3 * 0.63)


def test_the_tool_names_each_knob_and_search_uses_it(container: Container, talk: Talk) -> None:
    async def rewarded(one: Conversation) -> dict[str, Any]:
        await one.call("affective_emit_reward", reward={"type": "reward", "value": 1.0})
        return await one.call("get_neuromodulation")

    found = talk(rewarded)
    knobs = {each["transmitter"]: each for each in found["knobs"]}
    assert len(knobs) == 4 and all(each["why"] for each in knobs.values())
    assert found["dopamine"] > 0.6 and knobs["dopamine"]["value"] < 0.0
    assert container.live.searcher._tuning().diversity < 0.0


def test_importance_that_a_client_set_drifts_and_the_persons_stays(
    container: Container, talk: Talk
) -> None:
    stored = talk(
        lambda one: one.call(
            "store_memory", content="Buy rope.", title="Rope", importance="critical", rationale=WHY
        )
    )
    memory = container.live.catalogue.by_id(stored["node_id"])
    assert memory is not None
    before = (container.vault.root / memory.path).read_bytes()
    found = talk(lambda one: one.call("homeostatic_status"))
    assert found["balanced"] and found["set_by_clients"] == 1
    later = memory.created_at + timedelta(days=60)
    assert balanced_importance(memory, later) == pytest.approx(0.5 + 0.38 / 4)
    assert (container.vault.root / memory.path).read_bytes() == before
    own = next(m for m in container.live.catalogue.all() if m.title == "Kelp census")
    assert balanced_importance(own, own.created_at + timedelta(days=900)) == own.importance
