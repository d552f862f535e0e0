"""A plan suggests no title that a client gave, as it does not say who wrote it."""

from __future__ import annotations

from tests.integration.caller import Caller

WHY = {"rationale": "The person asked for it."}


def test_a_plan_does_not_ask_with_the_title_of_a_claim(writer: Caller) -> None:
    writer.ok("store_memory", content="# Rent\n\nIt is due in May.", title="Rent", **WHY)
    path = next(m.path for m in writer.container.live.catalogue.all() if m.title == "Rent")
    change = {"find": "# Rent", "content": "# Owed to Mallory"}
    writer.ok("edit_memory", target=path, operation="replace_text", **change, **WHY)
    assert "Owed to Mallory" in {m.title for m in writer.container.live.catalogue.all()}
    for query in ("the rent of the flat", "rent", "what is due in May?"):
        plan = writer.ok("generate_search_plan", query=query)
        assert "Mallory" not in str(plan["queries"]), plan["queries"]


def test_a_plan_asks_with_the_title_of_the_persons_note(writer: Caller) -> None:
    plan = writer.ok("generate_search_plan", query="Where does Mira work?")
    assert "Mira Sand" in str(plan["queries"]), plan["queries"]
