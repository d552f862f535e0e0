"""No client changes whether the properties of a note say that an AI client wrote it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.caller import Caller
from tests.integration.small_vault import opened

WHY = "The person asked for it."
OWN = "---\nid: 0b9c9f0e-3c56-4b0e-9d5e-6f1a8f6f3a11\nlifecycle: permanent\nsource: a book\n---\n\n"
STORED = OWN.replace("f3a11", "f3a12").replace("---\n\n", "rationale: asked to keep it\n---\n\n")


@pytest.fixture(scope="module")
def eve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    notes = {
        "Quay.md": f"{OWN}# Quay\n\nThe quay is closed.\n",
        "Tide.md": f"{STORED}# Tide\n\nThe tide is at two.\n",  # its history did not come
    }
    container = opened(tmp_path_factory.mktemp("stated"), notes)
    yield Caller(container, tools="full")
    container.close()


@pytest.mark.parametrize(
    ("target", "key", "value"),
    [
        ("Quay", "rationale", "asked to keep it"),
        ("Quay", "imported", "u-1"),
        ("Tide", "rationale", ""),
        ("Tide", "source", ""),
    ],
)
def test_a_client_neither_claims_a_note_of_the_person_nor_disowns_its_own(
    eve: Caller, target: str, key: str, value: str
) -> None:
    before = eve.notes()
    refused = eve.error(
        "edit_memory", target=target, operation="set_property", property=key, content=value,
        rationale=WHY,
    )  # fmt: skip
    assert "only the person" in refused["message"]
    assert eve.notes() == before


def test_a_client_may_correct_the_source_of_a_note(eve: Caller) -> None:
    for target in ("Quay", "Tide"):
        eve.ok("edit_memory", target=target, operation="set_property", property="source",
               content="Ada", rationale=WHY)  # fmt: skip
    by_path = eve.container.live.catalogue.by_path
    quay, tide = by_path("Quay.md"), by_path("Tide.md")
    assert quay is not None and quay.provenance.origin.is_person
    assert tide is not None and not tide.provenance.origin.is_person and not tide.provenance.own
