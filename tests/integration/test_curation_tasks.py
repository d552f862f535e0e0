"""What waits for a person, as get_memetic_status tells it: found in real notes, gone when
mended."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from fastmcp import Client

from mcp_server.pages.task_answers import answers_to
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.curation.operations.draft import Draft
from memvault.curation.tasks.dismissed_tasks import task_key
from memvault.model.change import Actor, TaskType
from tests.integration.caller import Caller, all_shown, the_person
from tests.waiting import until

Write = Callable[..., Path]
LONG = (
    "The harbour crane is checked every spring by two people from the yard, who grease the "
    "bearings, tighten the cables and write what they found into the red book by the door.\n"
)
WAIT = 60.0


@pytest.fixture
def container(vault_folder: Path, state: StateFolder, settings: Settings) -> Iterator[Container]:
    one = Container(vault_folder, settings, state)
    yield one
    one.close()


def status(container: Container, tools: Literal["core", "full"] = "full") -> dict[str, Any]:
    """As a client sees it when all changes are looked at."""
    container.indexing.scan()
    assert container.curation.wait(WAIT)

    async def run() -> Any:
        async with Client(build_server(container, tools=tools)) as client:
            return await client.call_tool_mcp("get_memetic_status", {})

    result = asyncio.run(run())
    assert not result.is_error, result.content
    content: dict[str, Any] = result.structured_content
    return content


def tasks(container: Container) -> dict[str, list[list[str]]]:
    """The paths of the tasks of each kind."""
    found: dict[str, list[list[str]]] = {}
    for task in status(container)["curation_tasks"]:
        found.setdefault(task["task_type"], []).append(task["paths"])
    return found


def test_each_kind_of_task_is_found_and_goes_when_it_is_settled(
    container: Container, write: Write
) -> None:
    """Core AC-CORE-04-02."""
    old = (datetime.now(UTC) - timedelta(days=200)).date().isoformat()
    write("Yard.md", "The yard is by the water. See [[Crane]], [[Opening]] and [[Quay]].\n")
    write("Crane.md", LONG)
    write("Quay.md", "Stones along the water, see [[Yard]] and [[Missing mole]].\n")
    write("Opening.md", f"---\ntype: fact\ncreated: {old}\n---\nThe yard opens at seven.\n")
    assert tasks(container) == {
        "stale_fact": [["Opening.md"]],
        "unresolved_links": [["Quay.md"]],
    }
    write("Broken.md", "---\ntags: [unclosed\n---\nSee [[Yard]].\n")
    write("Island.md", "Nothing here speaks of any other thing in this place.\n")
    write("old/Crane.md", LONG + "\nSee [[Yard]].\n")
    write("Small quay.md", "contradicts:: [[Quay]]\n\nThere are no stones along the water.\n")
    write("New opening.md", "supersedes:: [[Opening]]\n\nThe yard opens at eight.\n")
    assert tasks(container) == {
        "malformed_frontmatter": [["Broken.md"]],
        "conflicting_facts": [["Small quay.md", "Quay.md"]],
        "near_duplicates": [["Crane.md", "old/Crane.md"]],
        "superseded": [["Opening.md", "New opening.md"]],
        "unresolved_links": [["Quay.md"]],
        "orphan": [["Island.md"]],
    }
    write("Broken.md", "---\ntags: [closed]\n---\nSee [[Yard]].\n")
    write("Island.md", "It lies before the [[Yard]].\n")
    (container.vault.root / "old/Crane.md").unlink()
    write("Quay.md", "---\nverified: true\n---\nStones along the water, see [[Yard]].\n")
    write("Opening.md", f"---\ntype: fact\ncreated: {old}\n---\nSuperseded by: [[New opening]]\n")
    assert tasks(container) == {}


def test_no_link_is_proposed_to_a_note_whose_properties_cannot_be_read(
    container: Container, write: Write
) -> None:
    write("Yard.md", "The yard is by the water, near [[Crane]].\n")
    write("Crane.md", "It stands in the [[Yard]].\n")
    alone = "Nothing here speaks of any other thing in this place.\n"
    write("Torn.md", f"---\ntags: [unclosed\n---\n{alone}")
    assert tasks(container) == {"malformed_frontmatter": [["Torn.md"]]}
    write("Torn.md", f"---\ntags: [closed]\n---\n{alone}")
    assert tasks(container) == {"orphan": [["Torn.md"]]}


def test_a_note_that_has_long_had_no_links_is_left_so(container: Container, write: Write) -> None:
    write("Yard.md", "The yard is by the water, near [[Crane]].\n")
    write("Crane.md", "It stands in the [[Yard]].\n")
    write("Island.md", "Nothing here speaks of any other thing in this place.\n")
    write("Reef.md", "Waves break over it, whatever the weather brings.\n")
    for name, days in (("Reef.md", 20), ("Island.md", 40)):
        saved = (datetime.now(UTC) - timedelta(days=days)).timestamp()
        os.utime(container.vault.root / name, (saved, saved))
    assert tasks(container) == {"orphan": [["Reef.md"]]}


def test_a_healthy_vault_has_no_tasks_and_is_ready(container: Container, write: Write) -> None:
    """Core AC-CORE-04-03."""
    write("Yard.md", "The yard is by the water. Its crane is the [[Crane]].\n")
    write("Crane.md", "The crane of the [[Yard]] lifts boats out of the water.\n")
    found = status(container)
    assert found["curation_tasks"] == [] and found["curation_tasks_total"] == 0
    assert found["suggested_action"] == found["pulse"]["suggested_action"] == "ready"
    assert found["dream_available"] is True
    write("Crane.md", "The crane of the [[Yard]] lifts boats out of the [[Water basin]].\n")
    assert status(container)["suggested_action"] == "curate"


def test_copies_of_a_note_may_be_merged_and_those_of_a_read_only_document_not(
    container: Container, write: Write
) -> None:
    text = "Every spring the crane's cable is greased, its hook weighed, its brake tested twice."
    card = json.dumps({"nodes": [{"id": "a", "type": "text", "text": text}], "edges": []})
    for name in ("Care", "Care again"):
        write(f"{name}.canvas", card)
    for name in ("Crane", "Crane again"):
        write(f"{name}.md", f"{text}\n")
    (pair,) = tasks(container)["near_duplicates"]
    assert set(pair) == {"Crane.md", "Crane again.md"}


def test_an_answer_suggests_what_could_be_done_about_its_own_memories(
    container: Container, write: Write
) -> None:
    write("Yard.md", "The yard is by the water. Its crane is the [[Crane]].\n")
    write("Crane.md", "The crane of the [[Yard]] lifts boats out of the [[Water basin]].\n")
    assert status(container)["suggested_action"] == "curate"
    caller = Caller(container)
    assert caller.ok("get_memory", path="Yard.md")["pulse"]["suggested_action"] == "ready"
    assert caller.ok("get_memory", path="Crane.md")["pulse"]["suggested_action"] == "curate"


def test_two_notes_that_give_one_property_two_values_conflict(
    container: Container, write: Write
) -> None:
    head = "---\ntype: project\n---\n"
    write("Aurora.md", head + "Lead: [[Ada]]\n\nBuilds a tide mill.\n")
    write("archive/Aurora.md", head + "Lead: [[Emil]]\n\nWhat was thought of first.\n")
    write("Ada.md", "Works with [[Emil]].\n")
    write("Emil.md", "Works with [[Ada]].\n")
    (task,) = status(container)["curation_tasks"]
    assert (task["task_type"], task["priority"]) == ("conflicting_facts", "high")
    assert sorted(task["paths"]) == ["Aurora.md", "archive/Aurora.md"]
    assert "lead" in task["detail"]
    write("archive/Aurora.md", head + "Lead: [[Ada]]\n\nWhat was thought of first.\n")
    assert tasks(container) == {}


def test_the_same_words_with_other_numbers_are_shown_unless_of_two_days(
    container: Container, write: Write
) -> None:
    text = "The crane of the harbour lifts {} tonnes when the wind from the sea is weak.\n"
    write("Crane load.md", text.format(12) + "See [[Sea]].\n")
    write("Load of the crane.md", text.format(15) + "See [[Sea]].\n")
    write("Sea.md", "It is wide.\n")
    assert tasks(container) == {"conflicting_facts": [["Crane load.md", "Load of the crane.md"]]}
    for number, name in enumerate(("Crane load.md", "Load of the crane.md")):
        file = container.vault.root / name
        file.write_text(f"---\ndate: 2026-01-0{number + 1}\n---\n" + file.read_text())
    assert tasks(container) == {}


def test_at_most_twenty_tasks_are_shown_the_most_pressing_first_and_all_are_counted(
    container: Container, write: Write
) -> None:
    for number in range(25):
        write(f"n{number:02}.md", f"---\ntags: [unclosed\n---\nA walk of its own, number {number}.")
    write("a.md", "A walk to [[Place 1]].\n")
    found = status(container)
    assert len(found["curation_tasks"]) == 20 and found["curation_tasks_total"] >= 26
    assert found["curation_tasks_total"] == container.curation.pending()
    assert found["curation_tasks"][0]["task_type"] == "malformed_frontmatter"
    ranks = [["high", "medium", "low"].index(t["priority"]) for t in found["curation_tasks"]]
    assert ranks == sorted(ranks)


def test_the_suggested_call_of_every_kind_of_task_settles_it_when_it_is_made(
    container: Container, write: Write
) -> None:
    """A malformed note is for the person's editor: no tool writes what it cannot read. What a
    client verifies waits until the person agrees."""
    old = (datetime.now(UTC) - timedelta(days=200)).date().isoformat()
    write("Yard.md", "The yard is by the water. See [[Crane]], [[Opening]] and [[Slip]].\n")
    write("Crane.md", LONG)
    write("old/Crane.md", LONG + "\nSee [[Yard]].\n")
    write("Slip.md", "Boats go down the slip in April.\n")
    write("No slip.md", "contradicts:: [[Slip]]\n\nNo boat leaves the [[Yard]] in spring.\n")
    write("Opening.md", f"---\ntype: fact\ncreated: {old}\n---\nThe yard opens at seven.\n")
    container.actions.store(
        Draft.checked(
            title="Rent of the quay", content="The [[Yard]] pays it in May.", type="fact",
            lifecycle="temporary", client="eve", rationale="The person spoke of it.",
        )
    )  # fmt: skip
    write("Rope.md", "Tarred in autumn. See [[Yard]].\n")
    write("New rope.md", "supersedes:: [[Rope]]\n\nNylon needs no tar at the [[Yard]].\n")
    write("Island.md", "Nothing here speaks of any other thing in this place.\n")
    write("Mole.md", "It begins at the [[Missing tower]], says the [[Yard]].\n")
    write("Broken.md", "---\ntags: [unclosed\n---\nSee [[Yard]].\n")
    write("projects/jetty/Jetty.md", "---\ntype: project\nstatus: done\n---\nOf the [[Yard]].\n")
    session = "---\ntype: session\nsession: s-1\nlifecycle: ephemeral\n---\n"
    write("Session.md", session + "## Decisions\n\n- We decided to paint the boats in June.\n")
    found = status(container)["curation_tasks"]
    kinds = {task["task_type"] for task in found}
    of_dreams = {
        TaskType.MISSING_LINK, TaskType.CLUSTER_SUMMARY, TaskType.OPEN_QUESTION,
        TaskType.ANSWERED_QUESTION,
    }  # fmt: skip
    others = {TaskType.MALFORMED_TEXT, TaskType.CLIENT_ACTIVITY}
    assert kinds == set(TaskType) - others - of_dreams

    async def call_suggested_tool(task: dict[str, Any]) -> None:
        more = {"rationale": "The person agreed to it."}
        if task["suggested_tool"] == "store_memory":
            more["content"] = "What the person told about it."
        async with Client(build_server(container, tools="full")) as client:
            await client.call_tool(task["suggested_tool"], {**more, **task["suggested_arguments"]})
        for proposal in container.proposals.waiting():
            container.decisions.accept(proposal, all_shown(container))

    for task in found:
        assert len(task["target_nodes"]) == len(task["paths"]) >= 1 and task["detail"]
        if task["task_type"] == TaskType.MALFORMED_FRONTMATTER:
            assert "suggested_tool" not in task and "in your editor" in task["detail"]
            continue
        asyncio.run(call_suggested_tool(task))
        left = status(container)["curation_tasks"]
        assert (task["task_type"], task["paths"]) not in [
            (t["task_type"], t["paths"]) for t in left
        ]
    assert [task["task_type"] for task in status(container)["curation_tasks"]] == [
        TaskType.MALFORMED_FRONTMATTER
    ]


def test_a_daily_note_is_no_task_for_its_neighbours_or_for_standing_alone(
    container: Container, write: Write
) -> None:
    write("Yard.md", "See [[Crane]].\n")
    write("Crane.md", "See [[Yard]].\n")
    write("2026-03-14.md", "[[2026-03-13]] | [[2026-03-15]]\n\nRain, and nothing else.\n")
    write("Daily/2026-03-20.md", "Wind from the west.\n")
    write("journals/2026_03_21.md", "- Wind from the east.\n")
    write("Map.canvas", '{"nodes": [{"id": "1", "type": "text", "text": "A thought"}]}')
    assert tasks(container) == {}


def test_what_a_client_of_the_core_tools_is_advised_to_do_loses_nothing(
    container: Container, write: Write
) -> None:
    old = (datetime.now(UTC) - timedelta(days=200)).date().isoformat()
    write("Yard.md", "The yard is by the water. See [[Opening]], [[Quay]] and [[Mole]].\n")
    write("Opening.md", f"---\ntype: fact\ncreated: {old}\n---\nThe yard opens at seven.\n")
    write("Quay.md", "Stones along the water, see [[Yard]].\n")
    write("Mole.md", "contradicts:: [[Quay]]\n\nThere are no stones along the water.\n")
    write("Rope.md", "Tarred in autumn. See [[Yard]].\n")
    write("New rope.md", "supersedes:: [[Rope]]\n\nNylon needs no tar at the [[Yard]].\n")
    write("Island.md", "Nothing here speaks of any other thing in this place.\n")
    found = status(container, tools="core")["curation_tasks"]
    calls = {task["task_type"]: task.get("suggested_tool") for task in found}
    assert calls == {
        "stale_fact": None,
        "conflicting_facts": None,
        "superseded": "edit_memory",
        "orphan": "edit_memory",
    }
    (advised,) = (t["suggested_arguments"] for t in found if t["task_type"] == "superseded")
    assert advised["content"] == "Superseded by: [[New rope]]"


def test_a_project_is_finished_when_its_note_says_so_or_nobody_touched_it_for_a_year(
    container: Container, write: Write
) -> None:
    write("Yard.md", "The yard is by the water. See [[Jetty]] and [[Hull]].\n")
    write("projects/jetty/Jetty.md", "---\ntype: project\nstatus: active\n---\nOf the [[Yard]].\n")
    hull = write("projects/hull/Hull.md", "Work on the hull at the [[Yard]].\n")
    assert tasks(container) == {}
    long_ago = (datetime.now(UTC) - timedelta(days=400)).timestamp()
    os.utime(hull, (long_ago, long_ago))
    assert tasks(container) == {"finished_project": [["projects/hull/Hull.md"]]}
    (task,) = status(container)["curation_tasks"]
    assert "was not changed for 400 days; move its note to archive/projects/hull/" in task["detail"]
    call = {"tool": task["suggested_tool"], **task["suggested_arguments"]}
    assert call == {"tool": "archive_project", "project": "hull"}
    write("projects/jetty/Jetty.md", "---\ntype: project\nstatus: Done\n---\nOf the [[Yard]].\n")
    found = tasks(container)["finished_project"]
    assert found == [["projects/hull/Hull.md"], ["projects/jetty/Jetty.md"]]
    for finished in container.curation.tasks():
        [answer] = answers_to(finished)
        for action in answer.calls:
            container.decisions.run(action, all_shown(container))
    assert (container.vault.root / "archive/projects/hull/Hull.md").exists()
    assert tasks(container) == {}


def test_a_vault_of_old_facts_begins_with_few_tasks_and_the_next_follow(
    container: Container, write: Write
) -> None:
    old = (datetime.now(UTC) - timedelta(days=200)).date().isoformat()
    text = f"---\ntype: fact\ncreated: {old}\n---\n"
    write("Yard.md", "See " + ", ".join(f"[[Gate {number}]]" for number in range(7)))
    for number in range(7):
        write(f"Gate {number}.md", f"{text}Gate {number} opens at hour {number}.\n")
    gates = [[f"Gate {number}.md"] for number in range(7)]
    assert tasks(container) == {"stale_fact": gates[:5]}
    first, me = container.curation.tasks()[0], Actor(kind="person", name="page")
    curation, by_id = container.curation, container.live.catalogue.by_id
    curation.dismissed.dismiss(first, by_id, me, datetime.now(UTC))
    assert tasks(container) == {"stale_fact": gates[1:6]}
    curation.dismissed.reopen(task_key(first, by_id), me, datetime.now(UTC))
    assert tasks(container) == {"stale_fact": gates[:5]}


def test_a_name_that_several_notes_link_to_is_asked_for_however_many_links_wait(
    container: Container, write: Write
) -> None:
    for number in range(6):
        write(f"a{number}.md", f"A walk of its own kind, number {number}, to [[Place {number}]].")
    for name in ("y.md", "z.md"):
        write(name, f"The path of {name} ends at the [[Old mill]].")
    assert ["z.md"] not in tasks(container)["unresolved_links"]
    asked = Caller(container, tools="full").ok("epistemic_action")
    assert "Old mill? 2 notes link to it" in asked["question"]


def test_any_dated_note_that_states_a_value_goes_stale_but_a_record_does_not(
    container: Container, write: Write
) -> None:
    """Triple FR-40."""
    old = (datetime.now(UTC) - timedelta(days=200)).date().isoformat()
    write("Yard.md", "The yard is by the water. See [[Ada]], [[Ben]], [[Cy]] and [[Dan]].\n")
    write("Ada.md", f"---\ntype: person\ncreated: {old}\n---\nEmployer: [[Yard]]\n")
    write("Ben.md", f"---\ntype: person\ncreated: {old}\n---\nLikes the [[Yard]].\n")
    write("Cy.md", "---\ntype: person\n---\nEmployer: [[Yard]]\n")
    write("Dan.md", f"---\ntype: meeting\ndate: {old}\n---\nEmployer: [[Yard]]\n")
    assert tasks(container) == {"stale_fact": [["Ada.md"]]}


def test_tasks_are_found_again_after_a_restart_and_after_a_rebuild(
    container: Container, write: Write, settings: Settings, state: StateFolder
) -> None:
    write("Yard.md", "See [[Crane]] and [[Missing mole]].\n")
    write("Crane.md", "See [[Yard]].\n")
    wanted = {"unresolved_links": [["Yard.md"]]}
    assert tasks(container) == wanted
    container.indexing.rebuild()
    assert tasks(container) == wanted
    container.close()
    again = Container(container.vault.root, settings, state)
    try:
        again.indexing.scan()
        again.curation.start()
        assert tasks(again) == wanted
    finally:
        again.close()


def test_the_search_for_tasks_ends_even_while_requests_never_do(
    container: Container, write: Write
) -> None:
    write("Yard.md", "See [[Crane]] and [[Missing mole]].\n")
    with container.requests.running():
        container.indexing.scan()
        until(lambda: container.curation.pending() > 0, WAIT)


def test_what_is_forgotten_is_no_longer_a_task_and_old_trash_is_swept_at_the_start(
    container: Container, write: Write, settings: Settings, state: StateFolder
) -> None:
    write("Yard.md", "See [[Crane]].\n")
    write("Crane.md", "See [[Yard]].\n")
    write("Island.md", "Nothing here speaks of any other thing in this place.\n")
    assert tasks(container) == {"orphan": [["Island.md"]]}

    async def forget() -> None:
        why = {"target": "Island", "rationale": "It is of no use to them."}
        async with Client(build_server(container), client_info=the_person()) as client:
            await client.call_tool("forget_concept", why)

    asyncio.run(forget())
    assert tasks(container) == {}
    container.close()
    kept = container.vault.root / ".trash/Island.md"
    (journal,) = container.journal.files()
    aged = journal.read_text()
    for entry in container.journal.entries({"change_done"}):
        for forgotten in entry.data.get("forgot", ()):
            past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
            aged = aged.replace(forgotten["restorable_until"], past)
    own = container.vault.root / ".trash/Own.md"
    own.write_text("the person's own trash")
    journal.write_text(aged)
    again = Container(container.vault.root, settings, state)
    try:
        assert kept.exists()
        again.upkeep.start()
        until(lambda: again.upkeep.removed.total() == 1, WAIT)
        assert not kept.exists() and own.exists()
        assert [entry.actor.kind for entry in again.journal.entries({"purged"})] == ["system"]
    finally:
        again.close()


def test_tasks_are_still_counted_while_the_journal_cannot_be_read(
    container: Container, write: Write
) -> None:
    write("Quay.md", "Stones along the water, see [[Missing mole]].\n")
    write("Crane.md", "It lifts boats out of the water, see [[Missing yard]].\n")
    assert status(container)["curation_tasks"]
    curation, (first, *others) = container.curation, container.curation.tasks()
    me = Actor(kind="person", name="page")
    curation.dismissed.dismiss(first, container.live.catalogue.by_id, me, datetime.now(UTC))
    assert list(curation.tasks()) == others
    journal = container.vault.root / ".memvault/journal"
    journal.rename(journal.with_name("moved"))
    journal.write_text("no folder")
    try:
        assert list(curation.tasks()) == others and curation.pending() == len(others)
    finally:
        journal.unlink()
        journal.with_name("moved").rename(journal)


def test_the_memories_asked_for_most_are_the_active_concepts(
    container: Container, write: Write
) -> None:
    write("Yard.md", "The yard is by the water. Its crane is the [[Crane]].\n")
    write("Crane.md", "The crane of the [[Yard]] lifts boats out of the water.\n")
    first = status(container)["top_active_concepts"]
    assert {each["name"] for each in first} == {"Yard", "Crane"}
    assert all(each["access_count"] == 0 and each["connections"] > 0 for each in first)

    async def read() -> None:
        async with Client(build_server(container)) as client:
            for _ in range(2):
                await client.call_tool("get_memory", {"path": "Crane.md"})

    asyncio.run(read())
    (active, *_) = status(container)["top_active_concepts"]
    assert (active["name"], active["path"], active["access_count"]) == ("Crane", "Crane.md", 2)
