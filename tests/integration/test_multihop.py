"""Questions that go from one note to another, over real stores, the real model and parser."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.model.search import Recalled, Scope
from memvault.search.relations.edge_index import StepGraph, StepIndex
from memvault.search.relations.multihop import NO_GRAPH, MultiHop
from memvault.search.relations.settings import RoadSettings
from memvault.stores.graph_view import GraphView
from memvault.text.embedding import Embedder

Write = Callable[..., Path]

BOATYARD = {
    "boats/Heron.md": "---\ntype: boat\n---\nSkipper: [[Lena Vogt]]\nCrew: [[Omar Diaz]], "
    "[[Pia Lund]]\n\nMoored at [[Otter Quay]].\n",
    "boats/Kestrel.md": "---\ntype: boat\n---\nSkipper: [[Omar Diaz]]\nCrew: [[Lena Vogt]]\n\n"
    "Moored at [[Otter Quay]].\n",
    "boats/Plover.md": "---\ntype: boat\n---\nSkipper: [[Pia Lund]]\nCrew: [[Lena Vogt]]\n\n"
    "Moored at [[North Slip]].\n",
    "people/Lena Vogt.md": "---\ntype: person\n---\nWorks for [[Baltic Sails]]. We met at "
    "[[Spring Regatta]].\n",
    "people/Omar Diaz.md": "---\ntype: person\n---\nWorks for [[Delta Rigging]]. We met at "
    "[[Spring Regatta]].\n",
    "people/Pia Lund.md": "---\ntype: person\n---\nWorks for [[Baltic Sails]]. We met at "
    "[[Autumn Cup]].\n",
    "firms/Baltic Sails.md": "---\ntype: company\n---\nMakes sails in Rostock.\n",
    "firms/Delta Rigging.md": "---\ntype: company\n---\nSplices ropes and stays.\n",
    "races/Spring Regatta.md": "---\ntype: race\ndate: 2025-04-12\n---\nHeld in Kiel on "
    "12 April 2025.\n",
    "races/Autumn Cup.md": "---\ntype: race\ndate: 2025-10-04\n---\nHeld in Aarhus.\n",
    "places/Otter Quay.md": "---\ntype: mooring\n---\nDeep enough for keels.\n",
    "places/North Slip.md": "---\ntype: mooring\n---\nDries out at low water.\n",
    "repairs/Heron new rudder.md": "---\ntype: repair\ndate: 2025-06-01\n---\nDone on [[Heron]]. "
    "Paid by [[Lena Vogt]].\n",
    "repairs/Heron torn jib.md": "---\ntype: repair\ndate: 2024-05-01\n---\nDone on [[Heron]]. "
    "Paid by [[Omar Diaz]].\n",
    "repairs/Plover engine mount.md": "---\ntype: repair\ndate: 2025-07-01\n---\nDone on "
    "[[Plover]]. Paid by [[Pia Lund]].\n",
    "log/Windy day.md": "Too windy to sail. Talked with [[Pia Lund]] about [[Heron]] and varnish.\n",
    "log/Varnish.md": "Two coats of varnish, sanded between, dry for a week in spring.\n",
}
CHOIR = {
    "works/Missa Brevis.md": "---\ntype: work\nproject: choir\n---\nComposer: [[Ilse Brandt]]\n\n"
    "Sung at [[Advent Evening]].\n",
    "works/Night Songs.md": "---\ntype: work\nproject: choir\n---\nComposer: [[Tomas Reyes]]\n\n"
    "Sung at [[Advent Evening]].\n",
    "people/Ilse Brandt.md": "---\ntype: composer\n---\nStudied under [[Greta Holm]].\n",
    "people/Tomas Reyes.md": "---\ntype: composer\n---\nStudied under [[Ilse Brandt]].\n",
    "people/Greta Holm.md": "---\ntype: composer\n---\nStudied under [[Tomas Reyes]].\n",
    "concerts/Advent Evening.md": "---\ntype: concert\ndate: 2024-12-08\n---\nFull house.\n",
}


@pytest.fixture
def vault(write: Write) -> Callable[[dict[str, str]], None]:
    def fill(notes: dict[str, str]) -> None:
        for path, text in notes.items():
            write(path, text)

    return fill


def viewed(indexer: Indexer) -> GraphView:
    view = GraphView(indexer.stores.graph, indexer.catalogue.by_id)
    indexer.on_change.append(view.apply)
    return view


@pytest.fixture
def multihop(indexer: Indexer, embedder: Embedder) -> MultiHop:
    view = viewed(indexer)
    return MultiHop(indexer.stores, embedder, indexer, view, today=lambda: date(2025, 12, 1))


@pytest.fixture
def boatyard(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, multihop: MultiHop
) -> Callable[..., list[str]]:
    vault(BOATYARD)
    indexer.scan()
    return asking(multihop, indexer)


def asking(multihop: MultiHop, indexer: Indexer) -> Callable[..., list[str]]:
    def ask(
        query: str, top_k: int = 10, scope: Scope | None = None, max_hops: int = 5
    ) -> list[str]:
        found = multihop.ask(query, top_k, scope, max_hops).memories
        return [path_of(indexer, each) for each in found]

    return ask


def path_of(indexer: Indexer, each: Recalled) -> str:
    memory = indexer.catalogue.by_id(each.note_id)
    assert memory is not None
    return memory.path


def test_a_skipper_is_not_a_member_of_the_crew(boatyard: Callable[..., list[str]]) -> None:
    assert boatyard("Who is the skipper of Heron?")[0] == "people/Lena Vogt.md"
    assert boatyard("Where does the skipper of Kestrel work?")[0] == "people/Omar Diaz.md"


def test_the_way_back_tells_roles_apart_too(boatyard: Callable[..., list[str]]) -> None:
    found = boatyard("Which boats have a skipper who works for Baltic Sails?", 2)
    assert set(found) == {"boats/Heron.md", "boats/Plover.md"}


def test_a_question_for_several_gets_every_answer_first(
    boatyard: Callable[..., list[str]],
) -> None:
    found = boatyard("Which boats are skippered by people I met at Spring Regatta?", 4)
    assert set(found[:2]) == {"boats/Heron.md", "boats/Kestrel.md"}


def test_a_value_that_no_note_stands_for_is_found_in_the_note_itself(
    boatyard: Callable[..., list[str]],
) -> None:
    query = "In which city was the race where I met the skipper of Heron?"
    assert "races/Spring Regatta.md" in boatyard(query)[:2]


def test_the_road_is_told_from_what_was_named_to_the_answer(
    boatyard: Callable[..., list[str]], multihop: MultiHop, indexer: Indexer
) -> None:
    query = "Which boats are skippered by people I met at Autumn Cup?"
    best = multihop.ask(query, 5).memories[0]
    assert path_of(indexer, best) == "boats/Plover.md"
    assert [(hop.source, hop.relation, hop.target) for hop in best.hops] == [
        ("Pia Lund", "links to", "Autumn Cup"),
        ("Plover", "Skipper", "Pia Lund"),
    ]
    assert [hop.path for hop in best.hops] == ["people/Pia Lund.md", "boats/Plover.md"]
    assert best.hops[1].sentence == "Skipper: Pia Lund"
    assert "Skipper: Pia Lund" in best.text


def test_a_time_narrows_the_answer(boatyard: Callable[..., list[str]]) -> None:
    assert boatyard("Which repairs since January 2025 were done on Heron?")[0] == (
        "repairs/Heron new rudder.md"
    )
    assert boatyard("Which repairs before 2025 were done on Heron?")[0] == (
        "repairs/Heron torn jib.md"
    )


def test_a_time_may_be_named_by_an_event(boatyard: Callable[..., list[str]]) -> None:
    found = boatyard("Which repairs since Spring Regatta were done on Heron?")
    assert found[0] == "repairs/Heron new rudder.md"


def test_an_event_may_say_in_its_text_when_it_was(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, multihop: MultiHop
) -> None:
    told = {"races/Harbour Day.md": "---\ntype: race\n---\nIt took place on 2 March 2025.\n"}
    vault({**BOATYARD, **told})
    indexer.scan()
    ask = asking(multihop, indexer)
    query = "Which repairs after Harbour Day were done on Heron?"
    assert ask(query)[0] == "repairs/Heron new rudder.md"


def test_the_same_relation_may_be_said_in_several_ways(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, multihop: MultiHop
) -> None:
    ways = {
        "jobs/Deck.md": "[[Lena Vogt]] carried out the work on the [[Heron]].",
        "jobs/Hull.md": "The work on the [[Plover]] was done by [[Lena Vogt]].",
        "jobs/Mast.md": "For the [[Kestrel]]. Carried out by [[Pia Lund]], in the rain.",
        "jobs/Keel.md": "For the [[Heron]]. Carried out by [[Omar Diaz]].",
    }
    head = "---\ntype: job\n---\n"
    vault({**BOATYARD, **{path: f"{head}{text}\n" for path, text in ways.items()}})
    indexer.scan()
    query = "Which jobs were carried out by somebody who works for Baltic Sails?"
    roads = [each for each in multihop.ask(query, 10).memories if each.hops]
    found = {path_of(indexer, each) for each in roads}
    assert {"jobs/Deck.md", "jobs/Hull.md", "jobs/Mast.md"} <= found


def test_the_words_before_a_noun_order_the_answers(boatyard: Callable[..., list[str]]) -> None:
    query = "Which rudder repairs were done on boats moored at Otter Quay?"
    assert boatyard(query)[0] == "repairs/Heron new rudder.md"


def test_roads_end_where_things_go_in_circles(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, multihop: MultiHop
) -> None:
    vault(CHOIR)
    indexer.scan()
    ask = asking(multihop, indexer)
    assert ask("Who taught the composer of Missa Brevis?")[0] == "people/Greta Holm.md"
    query = "Who studied under the composer who studied under the composer of Missa Brevis?"
    for each in multihop.ask(query, 10).memories:
        names = [hop.source for hop in each.hops]
        assert len(each.hops) <= 5
        assert len(names) == len(set(names))


def test_no_road_is_longer_than_asked_for(multihop: MultiHop, boatyard: object) -> None:
    query = "Which boats are skippered by people I met at Spring Regatta?"
    assert all(len(each.hops) <= 1 for each in multihop.ask(query, 10, max_hops=1).memories)


def test_a_plain_question_is_answered_as_plain_recall_answers_it(
    boatyard: Callable[..., list[str]], multihop: MultiHop
) -> None:
    multihop.warm_up()
    for query in ("how many coats of varnish?", "is it too windy to sail?", "Heron", ""):
        plain = multihop._recall.recall(query or "x", 5)
        assert multihop.recall(query or "x", 5) == plain


def test_recall_takes_roads_by_itself_where_a_question_needs_them(
    boatyard: Callable[..., list[str]], multihop: MultiHop, indexer: Indexer
) -> None:
    multihop.warm_up()
    query = "Which boats are skippered by people I met at Spring Regatta?"
    found = [path_of(indexer, each) for each in multihop.recall(query, 5)]
    assert set(found[:2]) == {"boats/Heron.md", "boats/Kestrel.md"}


def test_roads_that_are_not_sure_stand_behind_the_best_of_plain_recall(
    boatyard: Callable[..., list[str]], indexer: Indexer, embedder: Embedder
) -> None:
    doubting = RoadSettings(confident=2.0, confident_alone=2.0)
    multihop = MultiHop(indexer.stores, embedder, indexer, viewed(indexer), settings=doubting)
    multihop.warm_up()
    query = "Which boats are skippered by people I met at Spring Regatta?"
    found, plain = multihop.recall(query, 10), multihop._recall.recall(query, 10)
    assert [each.note_id for each in found[:3]] == [each.note_id for each in plain[:3]]
    told = {path_of(indexer, each): each.hops for each in found[3:]}
    assert told["boats/Heron.md"] and told["boats/Kestrel.md"]
    alone = "Who is the skipper of Heron?"
    assert multihop.recall(alone, 10) == multihop._recall.recall(alone, 10)


def test_recall_by_itself_follows_no_sentence_said_only_once(
    vault: Callable[[dict[str, str]], None],
    write: Write,
    indexer: Indexer,
    multihop: MultiHop,
) -> None:
    vault({path: text for path, text in BOATYARD.items() if path.startswith("people/")})
    write("log/Tea.md", "[[Omar Diaz]] sold a blue dinghy to [[Lena Vogt]] over tea.\n")
    indexer.scan()
    multihop.warm_up()
    query = "Which people sold a dinghy to Lena Vogt?"
    assert any(each.hops for each in multihop.ask(query, 5).memories)
    assert multihop.recall(query, 5) == multihop._recall.recall(query, 5)


def test_a_project_hears_nothing_from_another(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, multihop: MultiHop
) -> None:
    vault(CHOIR)
    indexer.scan()
    query = "Which works were sung at Advent Evening?"
    inside = multihop.ask(query, 5, Scope(None, "choir")).memories
    assert {path_of(indexer, each) for each in inside} >= {
        "works/Missa Brevis.md",
        "works/Night Songs.md",
    }
    outside = multihop.ask(query, 5, Scope(None, "orchestra")).memories
    assert not any(path_of(indexer, each).startswith("works/") for each in outside)
    assert not any(hop.path.startswith("works/") for each in outside for hop in each.hops)


def test_no_road_leads_through_another_project(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, multihop: MultiHop
) -> None:
    vault(CHOIR)
    indexer.scan()
    query = "Who taught the composers of works sung at Advent Evening?"
    inside = multihop.ask(query, 6, Scope(None, "choir")).memories
    assert path_of(indexer, inside[0]) in {"people/Greta Holm.md", "people/Ilse Brandt.md"}
    assert any(hop.path.startswith("works/") for hop in inside[0].hops)
    outside = multihop.ask(query, 6, Scope(None, "orchestra")).memories
    assert not any(hop.path.startswith("works/") for each in outside for hop in each.hops)


def test_without_the_graph_the_nearest_notes_are_given_and_it_is_said(
    boatyard: Callable[..., list[str]], multihop: MultiHop, indexer: Indexer
) -> None:
    indexer.stores.graph.close()
    reached = multihop.ask("Who is the skipper of Heron?", 3)
    assert reached.notice == NO_GRAPH
    assert reached.memories


def test_a_graph_that_stops_answering_once_it_is_loaded_is_not_missed(
    boatyard: Callable[..., list[str]], multihop: MultiHop, indexer: Indexer
) -> None:
    multihop.warm_up()
    indexer.stores.graph.close()
    reached = multihop.ask("Who is the skipper of Heron?", 3)
    assert reached.notice is None
    assert reached.memories[0].hops


def texts_of(graph: StepGraph) -> set[tuple[str, str, str, str, bool]]:
    """Every edge in words: source, target, both steps, whether listed."""
    return {
        (
            graph.node_ids[graph.source[k]],
            graph.node_ids[graph.target[k]],
            graph.texts[graph.whole[k]],
            graph.texts[graph.local[k]],
            bool(graph.listed[k]),
        )
        for k in range(len(graph.source))
    }


def nodes_of(graph: StepGraph) -> set[tuple[str, str, str, int]]:
    named = {int(k) for k in graph.far} | {
        int(k) for k in range(len(graph.noted)) if graph.noted[k]
    }
    return {
        (graph.node_ids[k], graph.names[k], graph.kinds[graph.kind_of[k]], int(graph.day[k]))
        for k in named
    }


def test_steps_kept_up_to_date_are_those_read_anew(
    vault: Callable[[dict[str, str]], None],
    indexer: Indexer,
    embedder: Embedder,
    write: Write,
    vault_folder: Path,
) -> None:
    vault(BOATYARD)
    indexer.scan()
    kept = StepIndex(viewed(indexer), indexer.catalogue, embedder.embed)
    kept.refresh()
    write("boats/Heron.md", "---\ntype: ship\n---\nSkipper: [[Pia Lund]], [[Nils Aho]]\n")
    write("people/Nils Aho.md", "---\ntype: person\n---\nOwns [[Dinghy]].\n")
    indexer.scan()
    kept.refresh()
    (vault_folder / "boats/Plover.md").unlink()
    (vault_folder / "log/Windy day.md").rename(vault_folder / "log/Calm day.md")
    indexer.scan()
    current = kept.refresh()
    fresh = StepIndex(viewed(indexer), indexer.catalogue, embedder.embed).refresh()
    assert current is not None and fresh is not None
    assert texts_of(current) == texts_of(fresh)
    assert nodes_of(current) == nodes_of(fresh)
    assert len(current.source) == len(fresh.source)


def test_a_note_just_written_is_on_the_road_of_the_next_question(
    boatyard: Callable[..., list[str]], indexer: Indexer, write: Write
) -> None:
    boatyard("Who is the skipper of Heron?")
    write("boats/Avocet.md", "---\ntype: boat\n---\nSkipper: [[Pia Lund]]\n")
    indexer.index(["boats/Avocet.md"])
    found = boatyard("Which boats are skippered by people I met at Autumn Cup?", 3)
    assert set(found[:2]) == {"boats/Avocet.md", "boats/Plover.md"}
