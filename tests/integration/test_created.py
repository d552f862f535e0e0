"""When a note of the person was created is not for a client to say."""

from __future__ import annotations

import pytest

from tests.integration.caller import Caller

PATH = "permanent/Harbour Lab.md"


def created(writer: Caller, path: str) -> object:
    memory = next(each for each in writer.container.live.catalogue.all() if each.path == path)
    return memory.created_at


def set_day(writer: Caller, path: str, name: str) -> None:
    writer.ok(
        "edit_memory", target=path, operation="set_property", property=name, content="2020-02-03",
        rationale="The person asked for it.",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["date created", "date", "held on"])
def test_a_day_that_a_client_sets_in_the_persons_note_is_not_when_it_was_created(
    writer: Caller, name: str
) -> None:
    before = created(writer, PATH)
    set_day(writer, PATH, name)
    assert created(writer, PATH) == before


def test_the_persons_own_day_counts_next_to_a_clients(writer: Caller) -> None:
    path = "permanent/Old.md"
    file = writer.container.vault.root / path
    file.write_text("---\ncreated: 2019-05-06T10:00\n---\nAn old note.\n")
    writer.container.indexing.index_written([path])
    set_day(writer, path, "date")
    assert str(created(writer, path)).startswith("2019-05-06")
