"""A client's links and copies take neither the place of the person's note nor its mark."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_server.runtime.container import Container
from memvault.curation.changes.plan import Attribution
from memvault.model.change import TaskType
from memvault.reasoning.conflicts import stated_conflicts
from memvault.verification.claims.claim_sources import is_outdating
from tests.benchmarks.trust_attempts import WHY, Caller
from tests.integration.malicious.vault import write
from tests.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize("line", ["Superseded by: [[{}]]", "Contradicts: [[{}]]", "See [[{}]]."])
@pytest.mark.parametrize("operation", ["append", "prepend"])
def test_a_clients_relation_in_the_persons_note_takes_neither_its_mark_nor_its_place(
    call: Caller, container: Container, line: str, operation: str
) -> None:
    name = f"{line.split(maxsplit=1)[0].strip(':')} {operation}"
    fact = f"Wheat paste of the kind {name} keeps three days in the fridge"
    (container.vault.root / f"{name} paste.md").write_text(f"# {name} paste\n\n{fact}.\n")
    container.indexing.scan()
    claim = f"{name} mine"
    call("store_memory", title=claim, content=fact.replace("three", "ten"), rationale=WHY)
    call("edit_memory", target=f"{name} paste", operation=operation, content=line.format(claim),
         rationale=WHY)  # fmt: skip
    container.indexing.settle()
    query = f"How long does wheat paste of the kind {name} keep in the fridge?"
    found = call("recall_memory", "other", query=query)["nodes"]
    pastes = [node for node in found if node["path"].endswith(" paste.md")]
    assert all(node["verified"] and node["origin"] == "person" for node in pastes)
    (own,) = (node for node in found if node["path"] == f"{name} paste.md")
    (mine,) = (node for node in found if node["title"] == claim)
    assert own["verified"] is True and own["origin"] == "person"
    assert own["content"] == f"{fact}."
    if not line.startswith("See"):
        assert own["verification"]["contradicted_by"][0]["written_by"] == "eve"
    assert mine["verified"] is False and mine["origin"] == "client"
    context = call("inject_context", "other", query=query, max_tokens=900)["context"]
    assert "(superseded by" not in context.partition(fact)[0].rpartition("\n\n")[2]


def test_the_title_of_what_replaces_the_persons_note_does_not_take_its_place_in_the_answer(
    call: Caller, container: Container
) -> None:
    fact = "We decided on lime wash at 12 euros, and on oak for the door"
    write(container, "Paint.md", f"{fact}.\n")
    title = "Lime wash for the walls is 10 euros now"
    call("store_memory", title=title, content="The lime wash is 10 euros.", rationale=WHY)
    call("edit_memory", target="Paint", operation="append", content=f"Superseded by: [[{title}]]",
         rationale=WHY)  # fmt: skip
    container.indexing.settle()
    found = call("recall_memory", "other", query="What is the lime wash for the walls now?")[
        "nodes"
    ]
    (own,) = (node for node in found if node["path"] == "Paint.md")
    assert own["content"] == f"{fact}." and own["verified"] and own["origin"] == "person"
    assert own["verification"]["contradicted_by"][0]["written_by"] == "eve"
    assert "added_by_others" not in own


def test_a_clients_supersession_waits_for_the_person_and_then_counts(
    call: Caller, container: Container
) -> None:
    old = "---\ntype: fact\ncreated: 2020-01-01\n---\n# Paring\n\nI pare leather to 0.6 mm.\n"
    (container.vault.root / "Paring.md").write_text(old)
    container.indexing.scan()
    call("store_memory", title="Paring anew", content="Leather is pared to 0.4 mm.", rationale=WHY)
    line = "Superseded by: [[Paring anew]]"
    call("edit_memory", target="Paring", operation="append", content=line, rationale=WHY)
    container.indexing.settle()
    catalogue, view = container.live.catalogue, container.live.graph_view
    own = catalogue.by_path("Paring.md")
    assert own is not None

    def waiting(kind: TaskType = TaskType.SUPERSEDED) -> list[str]:
        container.curation.changed(["Paring.md"])
        assert container.curation.wait(PATIENCE_SECONDS)
        tasks = [each for each in container.curation.tasks() if own.id in each.target_nodes]
        return [each.detail for each in tasks if each.task_type is kind]

    def counts() -> bool:
        (conflict,) = stated_conflicts(view, [own.id])[:1]
        return is_outdating(conflict, catalogue.by_id)

    assert not counts() and any("not confirmed by you" in detail for detail in waiting())
    assert waiting(TaskType.STALE_FACT)
    by_person = Attribution("", "on the page", kind="person")
    container.actions.annotate(own.id, line, by_person)
    container.indexing.settle()
    assert counts() and not any("replaces this note" in detail for detail in waiting())
    assert not waiting(TaskType.STALE_FACT)


@pytest.mark.parametrize("tool", ["move_memory", "merge_concepts"])
def test_no_client_changes_a_word_or_the_mark_of_a_sentence_that_links_to_its_note(
    call: Caller, container: Container, tool: str
) -> None:
    name = f"Ada {tool.partition('_')[0]}"
    own = f"# Will of {name}\n\nThe house of {name} goes to [[{name}]].\n\nHeir: [[{name}]]\n"
    write(container, f"Will of {name}.md", own)
    stored = call("store_memory", title=name, content="She is a friend.", rationale=WHY)
    other = call("store_memory", title=f"Eve {name}", content="A friend, too.", rationale=WHY)
    arguments: dict[str, Any] = {"target": stored["node_id"], "destination": "Mallory.md"}
    if tool == "merge_concepts":
        both = [stored["node_id"], other["node_id"]]
        arguments = {"target": other["node_id"], "sources": both}
    changed = call(tool, **arguments, rationale=WHY)["notes_changed"]
    assert f"Will of {name}.md" in changed
    query = f"Who gets the house of {name}?"
    found = call("recall_memory", "other", query=query)["nodes"]
    (will,) = [node for node in found if node["path"] == f"Will of {name}.md"]
    assert (will["verified"], will["origin"]) == (True, "person")
    assert will["content"] == f"The house of {name} goes to {name}.\nHeir: {name}"
    context = call("inject_context", "other", query=query)["context"]
    assert f"The house of {name} goes to {name}. Heir: {name} [" in context


def test_of_two_notes_that_contradict_the_persons_is_proposed_as_right(
    call: Caller, container: Container
) -> None:
    write(container, "Hoist.md", "# Hoist\n\nThe hoist lifts two tonnes.\n")
    call("store_memory", title="Hoist today", rationale=WHY,
         content="The hoist lifts nine tonnes.\n\ncontradicts:: [[Hoist]]")  # fmt: skip
    own = container.live.catalogue.by_path("Hoist.md")
    assert own is not None
    container.curation.changed(["Hoist.md"])
    assert container.curation.wait(PATIENCE_SECONDS)
    [task] = [
        each
        for each in container.curation.tasks()
        if each.task_type is TaskType.CONFLICTING_FACTS and own.id in each.target_nodes
    ]
    assert task.settled_by[0].arguments["target"] == own.id


@pytest.mark.parametrize(
    ("forged", "kind"), [("2", TaskType.NEAR_DUPLICATES), ("9", TaskType.CONFLICTING_FACTS)]
)
@pytest.mark.parametrize("is_first", [True, False])
def test_no_copy_of_the_persons_note_is_proposed_in_its_place(
    call: Caller, container: Container, forged: str, kind: TaskType, is_first: bool
) -> None:
    name = f"Derrick {forged} {is_first}"
    text = f"The {name} at the east quay is greased in May and lifts 2 tonnes, says Ada Berg."
    claim = {"title": f"{name} 2", "content": text.replace("2 tonnes", f"{forged} tonnes")}
    stored = call("store_memory", **claim, rationale=WHY) if is_first else {}
    write(container, f"{name}.md", f"# {name}\n\n{text}\n")
    stored = stored or call("store_memory", **claim, rationale=WHY)
    container.curation.changed([f"{name}.md", stored["path"]])
    assert container.curation.wait(PATIENCE_SECONDS)
    [task] = [
        each
        for each in container.curation.tasks()
        if each.task_type is kind and set(each.paths) == {f"{name}.md", stored["path"]}
    ]
    [forgets] = [each for each in task.settled_by if each.tool == "forget_concept"]
    assert forgets.arguments["target"] == stored["node_id"]


def test_no_name_of_a_clients_note_takes_the_persons_links(
    call: Caller, container: Container
) -> None:
    write(container, "work/Sluice.md", "# Sluice\n\nThe sluice opens at noon.\n")
    write(container, "zones/Plan.md", "# Plan\n\nOpens with: [[Sluice]]\n")
    for _ in range(2):  # the second call counts as a repeated one
        stored = call("store_memory", title="Sluice", content="At midnight.", rationale=WHY)
        assert stored["path"] == "projects/Sluice 2.md"
    assert container.live.indexer.links.resolve("Sluice", "zones/Plan.md") == "work/Sluice.md"
    [link] = call("get_memory", "other", path="zones/Plan.md")["links"]
    assert link["path"] == "work/Sluice.md"
