"""The order by tokens leaves what other rules put first or keep among the first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mcp_server.runtime.container import Container
from tests.integration.caller import Caller
from tests.integration.searching import container_of, found_paths

NOTES = {
    "Compost.md": "The bin behind the shed; a thermometer hangs inside.\n",
    "Diary.md": "What is compost? Compost is rotted leaves and kitchen scraps.\n",
    "Lamps.md": "Lamps that we saw from the boat: the lighthouse flashes four times.\n",
}
MAKERS = ("Brandt", "Okafor", "Lindqvist", "Moreau", "Tanaka", "Silva")


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    opened = container_of(tmp_path_factory.mktemp("tokens"), NOTES)
    opened.start(watch=False)
    call = Caller(opened)
    for maker in MAKERS:
        call.ok(
            "store_memory",
            content=f"The lighthouse has a lamp that was made by {maker}.",
            rationale="The person asked me to remember it",
        )
    yield opened
    opened.close()


def test_the_note_that_is_all_the_question_asks_for_comes_before_what_repeats_the_question(
    container: Container,
) -> None:
    assert found_paths(container, "What is compost?")[:2] == ["Compost.md", "Diary.md"]


def test_claims_with_the_words_of_the_question_do_not_crowd_out_the_persons_note(
    container: Container,
) -> None:
    found = found_paths(container, "Who made the lamp of the lighthouse?")
    assert "Lamps.md" in found
    assert len(found) == 5
