"""No client gives a note the alias by which the person's links lead to another note, nor passes its
own statement off as that of another note."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.caller import Caller
from tests.integration.small_vault import opened

WHY = "The person asked for it."
NOTES = {
    "people/Xavier.md": "---\naliases: [Xav]\n---\n# Xavier\n\nXavier lives in Bergen.\n",
    "Diary.md": "Met [[Xav]] and [[Yara]].\n",
    "Ferry.md": "# Ferry\n\nThe ferry to Bergen sails at nine.\n",
}


@pytest.fixture
def eve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    container = opened(tmp_path_factory.mktemp("names"), NOTES)
    caller = Caller(container, tools="full").named("eve")
    caller.ok("store_memory", title="Zoe", content="Zoe lives in Rome.", rationale=WHY)
    caller.ok("move_memory", target="Zoe", destination="/", rationale=WHY)
    yield caller
    container.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit_memory", {"target": "Zoe", "operation": "set_property", "property": "alias",
                         "content": "XAV"}),
        ("edit_memory", {"target": "Zoe", "operation": "set_property", "property": "Aliases",
                         "content": "[Zo, Xav]"}),
        ("store_memory", {"title": "Ann", "content": "Ann lives in Rome.",
                          "metadata": {"aliases": ["Xav"]}}),
        ("store_memory", {"title": "Ann", "content": "aliases:: Xav\n\nAnn lives in Rome."}),
        ("edit_memory", {"target": "Zoe", "operation": "prepend", "content": "alias:: Xav"}),
    ],
)  # fmt: skip
def test_a_link_by_an_alias_leads_to_the_note_that_had_the_alias(
    eve: Caller, tool: str, arguments: dict[str, Any]
) -> None:
    before = eve.notes()
    assert "its alias" in eve.error(tool, rationale=WHY, **arguments)["message"]
    assert eve.notes() == before


@pytest.mark.parametrize("left", ["", "[]", "[Xaver]"])
def test_an_alias_by_which_notes_link_stays(eve: Caller, left: str) -> None:
    """Without it, another note could get the alias and the links."""
    before = eve.notes()
    error = eve.error("edit_memory", target="Xavier", operation="set_property", property="aliases",
                      content=left, rationale=WHY)  # fmt: skip
    assert "so it stays" in error["message"]
    assert eve.notes() == before


def test_an_alias_without_links_can_be_removed(eve: Caller) -> None:
    for links in ("[Zo, Xaver]", "[Xaver]"):
        eve.ok("edit_memory", target="Zoe", operation="set_property", property="aliases",
               content=links, rationale=WHY)  # fmt: skip
    assert b"Zo," not in eve.notes()["Zoe.md"]
    eve.ok("edit_memory", target="Diary", operation="replace_text", find="[[Xav]]",
           content="[[Xavier]]", rationale=WHY)  # fmt: skip
    eve.ok("edit_memory", target="Xavier", operation="set_property", property="aliases",
           content="", rationale=WHY)  # fmt: skip
    assert b"Xav]" not in eve.notes()["people/Xavier.md"]


def test_an_alias_that_leads_no_link_astray_can_be_given(eve: Caller) -> None:
    eve.ok("edit_memory", target="Zoe", operation="set_property", property="aliases",
           content="[Yara, Zo]", rationale=WHY)  # fmt: skip
    eve.ok("edit_memory", target="Xavier", operation="append", content="He rows.", rationale=WHY)
    catalogue = eve.container.live.catalogue
    given, kept = (catalogue.by_id(eve.id_of(title)) for title in ("Zoe", "Xavier"))
    assert given is not None and list(given.aliases) == ["Yara", "Zo"]
    assert kept is not None and list(kept.aliases) == ["Xav"]


def test_a_clients_word_that_a_note_is_superseded_is_not_the_persons(eve: Caller) -> None:
    eve.ok("edit_memory", target="Ferry", operation="set_property", property="superseded_by",
           content="[[Xavier]]", rationale=WHY)  # fmt: skip
    answer = eve.named("reader").ok("recall_memory", query="When does the ferry to Bergen sail?")
    ferry = next(node for node in answer["nodes"] if node["title"] == "Ferry")
    [against] = ferry["verification"]["contradicted_by"]
    assert against["stated_in"] == "Ferry.md"
    assert (against["origin"], against["written_by"]) == ("client", "eve")
