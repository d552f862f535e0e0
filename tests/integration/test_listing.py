"""Lists of notes without a question, as a client asks for them page by page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.integration.caller import Caller
from tests.integration.small_vault import opened

NOTES = {
    "permanent/Ada.md": "---\ntype: person\ncreated: 2024-01-01\ntags: [crew]\n---\nAda.\n",
    "permanent/Ben.md": "---\ntype: person\ncreated: 2024-02-01\ntags: [Crew, shore]\n---\nBen.\n",
    "projects/kelp/Census.md": "---\ncreated: 2025-01-01\nStatus: open\nlead: '[[Ada]]'\n---\nC.\n",
    "projects/kelp/sea/Dive.md": "---\ncreated: 2025-02-01\nstatus: [Open, late]\nrated: 5\n---\nD.\n",
    "projects/oven/Clay.md": "---\ncreated: 2025-03-01\nstatus: done\nhot: true\n---\nE.\n",
    "sessions/2025-04-01/Talk.md": "---\ncreated: 2025-04-01\nstatus:\n---\nF.\n",
    "Caf\u00e9/Tea.md": "---\ncreated: 2023-01-01\ntags: [Drinks/hot]\n---\nG.\n",
}  # fmt: skip
NEWEST_FIRST = ["Talk", "Clay", "Dive", "Census", "Ben", "Ada", "Tea"]


@pytest.fixture(scope="module")
def lister(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    container = opened(tmp_path_factory.mktemp("listed"), NOTES)
    changed = datetime(2025, 6, 1, tzinfo=UTC).timestamp()
    for path in NOTES:
        os.utime(container.vault.root / path, (changed, changed))
    os.utime(container.vault.root / "permanent/Ada.md", (changed + 86_400, changed + 86_400))
    container.indexing.scan()
    yield Caller(container, tools="full")
    container.close()


def test_a_search_for_a_tag_finds_the_notes_with_tags_within_it(lister: Caller) -> None:
    for tag, found in (("#Drinks", ["Tea"]), ("drinks/hot", ["Tea"]), ("hot", []), ("drink", [])):
        for tool in ("recall_memory", "vector_search"):
            answer = lister.ok(tool, query="Tea in the caf\u00e9", filters={"tags": [tag]})
            notes = answer["nodes"] if tool == "recall_memory" else answer["chunks"]
            assert [each["title"] for each in notes] == found


def titles(answer: dict[str, Any]) -> list[str]:
    return [each["title"] for each in answer["memories"]]


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, NEWEST_FIRST),
    ({"type": "Person"}, ["Ben", "Ada"]),
    ({"tags": ["#CREW"]}, ["Ben", "Ada"]),
    ({"tags": "shore"}, ["Ben"]),
    ({"tags": ["drinks"]}, ["Tea"]),
    ({"tags": ["#drinks/hot"]}, ["Tea"]),
    ({"project": "Kelp"}, ["Dive", "Census"]),
    ({"folder": "projects"}, ["Clay", "Dive", "Census"]),
    ({"folder": "Projects/kelp/sea/"}, ["Dive"]),
    ({"folder": "/"}, NEWEST_FIRST),
    ({"folder": "cafe\u0301"}, ["Tea"]),
    ({"lifecycle": "ephemeral"}, ["Talk"]),
    ({"properties": {"status": "open"}}, ["Dive", "Census"]),
    ({"properties": {"STATUS": ""}}, ["Clay", "Dive", "Census"]),
    ({"properties": {"rated": 5}}, ["Dive"]),
    ({"properties": {"hot": True}}, ["Clay"]),
    ({"properties": {"lead": "ada"}}, ["Census"]),
    ({"properties": {"status": "open", "rated": "5"}}, ["Dive"]),
    ({"properties": {"type": "person", "status": "open"}}, []),
    ({"type": "person", "folder": "projects"}, []),
    ({"tags": ["shore", "unheard of"]}, ["Ben"]),
    ({"created_after": "2025-02-01", "created_before": "2025-03-01"}, ["Clay", "Dive"]),
    ({"changed_after": "2025-06-01T12:00:00Z"}, ["Ada"]),
    ({"changed_before": "2025-06-01T12:00:00Z", "type": "person"}, ["Ben"]),
]


@pytest.mark.parametrize(("arguments", "expected"), FILTERS)
def test_all_given_conditions_hold_and_the_newest_come_first(
    lister: Caller, arguments: dict[str, Any], expected: list[str]
) -> None:
    answer = lister.ok("list_memories", **arguments)
    assert titles(answer) == expected and answer["total"] == len(expected)
    assert "cursor" not in answer


def test_each_note_has_its_place_and_its_metadata(lister: Caller) -> None:
    (census, dive) = lister.ok("list_memories", project="kelp")["memories"][::-1]
    assert census["path"] == "projects/kelp/Census.md" and census["project"] == "kelp"
    assert census["lifecycle"] == "temporary" and census["type"] == "note"
    assert census["created_at"].startswith("2025-01-01")
    assert census["changed_at"].startswith("2025-06-01T00:00:00")
    assert lister.ok("get_memory", id=dive["id"])["path"] == dive["path"]


def test_a_list_goes_on_where_the_page_before_ended_also_if_notes_were_deleted(
    lister: Caller,
) -> None:
    pages, cursor = [], None
    while True:
        more = {"cursor": cursor} if cursor else {}
        answer = lister.ok("list_memories", limit=3, **more)
        assert answer["total"] == 7
        pages.append(titles(answer))
        cursor = answer.get("cursor")
        if cursor is None:
            break
    assert pages == [NEWEST_FIRST[:3], NEWEST_FIRST[3:6], NEWEST_FIRST[6:]]
    assert "not the cursor" in lister.error("list_memories", cursor="soon")["message"]


def test_folders_are_counted_level_by_level(lister: Caller) -> None:
    answer = lister.ok("list_memories", limit=1)
    assert answer["folders"] == [
        {"path": "Caf\u00e9", "notes": 1}, {"path": "permanent", "notes": 2},
        {"path": "projects", "notes": 3}, {"path": "sessions", "notes": 1},
    ]  # fmt: skip
    below = lister.ok("list_memories", folder="projects", properties={"status": "open"})
    assert below["folders"] == [{"path": "projects/kelp", "notes": 2}]


UNKNOWN: list[tuple[dict[str, Any], str]] = [
    ({"folder": "proj"}, "in the folder 'proj'; the nearest: projects"),
    ({"folder": "projects/kelb"}, "the nearest: projects/kelp"),
    ({"folder": "zzz"}, "there are: Café, permanent, projects"),
    ({"type": "persn"}, "has the type 'persn'; the nearest: person"),
    ({"tags": ["crwe", "#shoer"]}, "has the tag 'crwe'; the nearest: crew"),
    ({"properties": {"stauts": "open"}}, "has the property 'stauts'; the nearest: status"),
    ({"properties": {"status": "opne"}}, "has, as its status, 'opne'; the nearest: Open"),
    ({"properties": {"rated": 6}}, "has, as its rated, '6'; there are: 5"),
    ({"properties": {"type": "person", "nothing": ""}}, "has the property 'nothing'"),
]


@pytest.mark.parametrize(("arguments", "says"), UNKNOWN)
def test_a_value_that_no_note_has_is_an_error_that_names_the_nearest(
    lister: Caller, arguments: dict[str, Any], says: str
) -> None:
    error = lister.error("list_memories", **arguments)
    assert says.casefold() in error["message"].casefold()


def test_an_error_quotes_the_start_of_a_value_of_any_length(lister: Caller) -> None:
    for given in ({"tags": ["[" * 500_000]}, {"properties": {"status": "open " * 100_000}}):
        error = lister.error("list_memories", **given)
        assert len(error["message"]) < 500


def test_an_unknown_project_is_an_error_that_names_the_projects(lister: Caller) -> None:
    assert "kelp" in lister.error("list_memories", project="moor")["message"]
