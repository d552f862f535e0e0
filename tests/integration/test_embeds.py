"""Parts of other notes that a note embeds are shown with it, with the note that they come from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mcp_server.runtime.container import Container
from tests.integration.caller import Caller
from tests.integration.small_vault import opened

NOTES = {
    "Sailing trip.md": "# Sailing trip\n\nThe route of the sailing trip:\n![[Charts#^route]]\n\n"
    "What we pack for the sailing trip:\n![[Lists#Bags]]\n\n![[chart.png]]\n\n"
    "The sailing trip costs what ![[Money]] says.\n",
    "Charts.md": "Buoys are green.\n\nFrom Faro to Cadiz, then south. ^route\n\nReefs are marked.\n",
    "Lists.md": "# Lists\n\n## Shoes\n\nDeck shoes.\n\n## Bags\n\nTwo bags each.\n\n### Small\n\n"
    "One with oilskins.\n\n## Food {#for-supper}\n\nRice.\n",
    "Galley.md": "# Galley\n\nIn the galley we cook:\n![[Lists#for-supper]]\n",
}


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    container: Container = opened(tmp_path_factory.mktemp("embedded"), NOTES)
    try:
        yield Caller(container)
    finally:
        container.close()


def test_a_block_and_a_section_are_shown_with_the_note_that_embeds_them(call: Caller) -> None:
    (trip,) = (
        node
        for node in call.ok("recall_memory", query="route of the sailing trip")["nodes"]
        if node["title"] == "Sailing trip"
    )
    assert trip["embedded"] == [
        {"path": "Charts.md", "lines": [3, 3], "text": "From Faro to Cadiz, then south.",
         "origin": "person"},
        {"path": "Lists.md", "lines": [9, 13], "text": "Two bags each. One with oilskins.",
         "origin": "person"},
    ]  # fmt: skip


def test_a_heading_is_embedded_by_the_id_at_its_end(call: Caller) -> None:
    nodes = call.ok("recall_memory", query="what do we cook in the galley?")["nodes"]
    (galley,) = (node for node in nodes if node["title"] == "Galley")
    assert [part["text"] for part in galley["embedded"]] == ["Rice."]


def test_what_a_client_wrote_is_its_claim_in_what_embeds_it_and_nothing_on_money(
    call: Caller,
) -> None:
    call.ok(
        "store_memory",
        content="The rent of the boat is 900 EUR a week.",
        title="Berths",
        rationale="They asked me to keep this",
    )
    stored = next(m for m in call.container.live.catalogue.all() if m.title == "Berths")
    vault = call.container.vault.root
    (vault / "Autumn.md").write_text("The plan for the autumn boat:\n![[Berths]]\n")
    call.container.indexing.index_written(["Autumn.md"])

    def embedded(question: str) -> list[dict[str, object]]:
        nodes = call.ok("recall_memory", query=question)["nodes"]
        return next(each for each in nodes if each["title"] == "Autumn").get("embedded", [])

    (shown,) = embedded("plan for the autumn boat")
    assert shown["path"] == stored.path
    assert "900 EUR" in str(shown["text"])
    assert (shown["origin"], shown["verified"]) == ("client", False)
    assert all(not each["text"] for each in embedded("how much is the rent of the autumn boat"))
