"""Entropy, coherence and quadrants move when a real vault moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from indexer.indexer import Indexer
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.cognition.pulse import PulseMeter
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.model.memory import JohariQuadrant
from memvault.model.state import CognitivePulse
from memvault.search.scope import FIRST_LIMIT
from tests.integration.test_similarity_index import loaded_index

SAME = [
    "The sourdough rises overnight in the cellar.",
    "The sourdough rises in the cellar overnight.",
    "Overnight, the sourdough rises in the cellar.",
    "In the cellar the sourdough rises overnight.",
]
APART = [
    "Quarks are bound together by gluons.",
    "My aunt repairs accordions in Lyon.",
    "The tax return is due at the end of May.",
    "Penguins keep their eggs on their feet.",
]


class Desk:
    """A vault that a person edits, and what is measured of it."""

    def __init__(self, indexer: Indexer, write: Callable[..., Path]) -> None:
        self.indexer = indexer
        self._write = write
        self.meter = PulseMeter(lambda similarity_index=loaded_index(indexer): similarity_index)

    def save(self, notes: dict[str, str]) -> None:
        for name, text in notes.items():
            self._write(f"{name}.md", text)
        self.indexer.index([f"{name}.md" for name in notes])

    def ids(self, names: Collection[str]) -> list[str]:
        memories = (self.indexer.catalogue.by_path(f"{name}.md") for name in names)
        return [memory.id for memory in memories if memory is not None]

    def pulse(self, names: Collection[str]) -> CognitivePulse:
        return self.meter.of(self.ids(names))

    def vault(self) -> CognitivePulse:
        """Measured anew, as it is after a while."""
        return PulseMeter(lambda: self.meter.similarity_index).of_vault()

    def quadrant(self, name: str) -> JohariQuadrant:
        [key] = self.ids([name])
        return self.meter.states([key])[key].quadrant


@pytest.fixture
def desk(indexer: Indexer, write: Callable[..., Path]) -> Desk:
    return Desk(indexer, write)


def numbered(name: str, texts: Sequence[str]) -> dict[str, str]:
    return {f"{name} {number}": text for number, text in enumerate(texts)}


def linked(notes: dict[str, str], relation: str = "See") -> dict[str, str]:
    """The same notes, each of which links to all others."""
    return {
        name: text + "".join(f"\n\n{relation} [[{other}]]." for other in notes if other != name)
        for name, text in notes.items()
    }


def test_a_scatter_has_more_entropy_and_less_coherence_than_a_tight_cluster(desk: Desk) -> None:
    tight, loose = numbered("Bread", SAME), numbered("Thing", APART)
    desk.save(tight)
    of_cluster = desk.vault()
    desk.save(loose)
    of_both = desk.vault()
    cluster, scatter = desk.pulse(tight), desk.pulse(loose)
    assert cluster.entropy < 0.3 < 0.8 < scatter.entropy
    assert cluster.coherence > 0.8 > 0.3 > scatter.coherence
    assert of_cluster.entropy < of_both.entropy < 1.0
    assert cluster == desk.pulse(tight)


def test_links_make_a_scatter_cohere(desk: Desk) -> None:
    loose = numbered("Thing", APART)
    desk.save(loose)
    apart, vault = desk.pulse(loose), desk.vault()
    desk.save(linked(loose))
    assert desk.pulse(loose).coherence > 0.9 > apart.coherence
    assert desk.vault().coherence > vault.coherence


def test_the_pulse_of_one_note_is_of_those_around_it(desk: Desk) -> None:
    tight, loose = linked(numbered("Bread", SAME)), linked(numbered("Thing", APART))
    desk.save({**tight, **loose})
    [of_bread], [of_thing] = desk.ids(["Bread 0"]), desk.ids(["Thing 0"])
    assert desk.meter.around(of_bread).entropy < 0.3 < 0.7 < desk.meter.around(of_thing).entropy
    assert desk.pulse(["Bread 0"]).entropy == desk.pulse(["Thing 0"]).entropy == 0.0


def test_an_island_that_is_joined_raises_the_coherence(desk: Desk) -> None:
    first, second = numbered("Mill", APART[:2]), numbered("Bee", APART[2:])
    desk.save({**linked(first), **linked(second)})
    everyone = [*first, *second]
    apart = desk.pulse(everyone)
    desk.save({"Bee 0": APART[2] + "\n\nSee [[Bee 1]] and [[Mill 0]]."})
    joined = desk.pulse(everyone)
    assert apart.coherence < joined.coherence < 1.0
    desk.save({"Bee 0": APART[2] + "\n\nSee [[Bee 1]]."})
    assert desk.pulse(everyone).coherence == pytest.approx(apart.coherence, abs=0.002)


def test_a_contradiction_lowers_the_coherence_until_it_is_taken_back(desk: Desk) -> None:
    notes = linked(numbered("Bread", SAME))
    desk.save(notes)
    agreed, vault = desk.pulse(notes), desk.vault()
    desk.save({"Bread 0": notes["Bread 0"] + "\n\ncontradicts:: [[Bread 1]]\n"})
    opposed = desk.pulse(notes)
    assert opposed.coherence < agreed.coherence * 0.6
    assert opposed.entropy < 0.3  # they still speak of one thing
    assert desk.vault().coherence < vault.coherence
    desk.save({"Bread 0": notes["Bread 0"]})
    assert desk.pulse(notes) == agreed


def test_each_quadrant_is_reached_by_notes_as_people_write_them(desk: Desk) -> None:
    desk.save(linked(numbered("Bread", SAME)))
    desk.save(linked(numbered("Thing", APART)))
    desk.save(numbered("Dive", [f"Kelp forest survey, dive {number}." for number in range(4)]))
    desk.save({"Alone": "Nothing else says anything of this.", "Debate": "[[Yes]] or [[No]]?"})
    desk.save({"Yes": "Rivers run uphill.\n\ncontradicts:: [[No]]", "No": "My cat is grey."})
    assert desk.quadrant("Bread 0") is JohariQuadrant.OPEN
    assert desk.quadrant("Thing 0") is JohariQuadrant.UNKNOWN
    assert desk.quadrant("Alone") is JohariQuadrant.BLIND
    assert desk.quadrant("Debate") is JohariQuadrant.BLIND
    desk.save({"Alone": "It is known from [[Bread 0]] and [[Bread 1]], of which [[Bread 2]] says."})
    assert desk.quadrant("Alone") is not JohariQuadrant.BLIND


def test_notes_without_links_are_hidden_among_their_like_and_blind_elsewhere(desk: Desk) -> None:
    alike = [f"Kelp forest survey, dive {number}." for number in range(7)]
    desk.save(numbered("Dive", alike))
    desk.save(numbered("Thing", APART))
    assert desk.quadrant("Dive 3") is JohariQuadrant.HIDDEN
    assert {desk.quadrant(name) for name in numbered("Thing", APART)} == {JohariQuadrant.BLIND}


def test_where_all_are_equal_all_are_open(desk: Desk) -> None:
    bread = linked(numbered("Bread", SAME))
    desk.save(bread)
    assert {desk.quadrant(name) for name in bread} == {JohariQuadrant.OPEN}


MANY = FIRST_LIMIT + 40


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    """Many unlinked notes that answer a question better than two linked ones do."""
    home = tmp_path_factory.mktemp("crowd")
    vault = home / "vault"
    vault.mkdir()
    for number in range(MANY):
        (vault / f"Kelp {number}.md").write_text(f"Kelp forest survey, dive {number}.\n")
    pair = {"Harbour one": "The harbour wall.", "Harbour two": "The wall of the harbour."}
    for name, text in linked(pair).items():
        (vault / f"{name}.md").write_text(text)
    container = Container(
        vault,
        Settings(index=IndexSettings(ner="off")),
        StateFolder.of_vault(vault, home / "state"),
    )
    container.start(watch=False)
    yield container
    container.close()


def found(container: Container, tool: str, key: str, **arguments: Any) -> list[dict[str, Any]]:
    async def run() -> Any:
        async with Client(build_server(container)) as client:
            return (await client.call_tool(tool, arguments)).structured_content

    return list(asyncio.run(run())[key])


@pytest.mark.parametrize(("tool", "key"), [("recall_memory", "nodes"), ("vector_search", "chunks")])
def test_the_filter_by_quadrant_finds_memories_of_low_rank(
    crowd: Container, tool: str, key: str
) -> None:
    arguments = {"query": "kelp forest survey dive", "top_k": 5}
    plain = found(crowd, tool, key, **arguments)
    assert all(each["title"].startswith("Kelp") for each in plain)
    linked_ones = found(
        crowd, tool, key, **arguments, filters={"johari_quadrants": ["open", "unknown"]}
    )
    assert {each["title"] for each in linked_ones} == {"Harbour one", "Harbour two"}
    rest = found(crowd, tool, key, **arguments, filters={"johari_quadrants": ["hidden", "blind"]})
    assert [each["id"] for each in rest] == [each["id"] for each in plain]
