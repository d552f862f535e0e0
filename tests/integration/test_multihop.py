"""Questions that go from one note to another, over real stores, the real model and parser."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from indexer.indexer import Indexer
from memvault.config.settings import Settings
from memvault.model.errors import StoreUnavailable
from memvault.model.search import FoundBy, Hit, Mode, Scope, SearchResult
from memvault.search.fallback import NO_GRAPH
from memvault.search.pipeline import Searcher
from memvault.search.relations import edge_index, relation_search
from memvault.search.relations.array_graph import ArrayGraph
from memvault.search.relations.edge_index import EdgeIndex, least_repetitions
from memvault.search.relations.question import Phrase
from memvault.search.relations.traversal import Traversal
from memvault.search.times.time_spans import Calendar
from memvault.text.encoders.embedding import Embedder
from tests.integration.searching import searcher_over, viewed
from tests.integration.small_vault import opened
from tests.waiting import PATIENCE_SECONDS

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

FILMS = {
    "Harbour Lights": "Ilse Brandt",
    "Winter Ferry": "Tomas Reyes",
    "Glass Orchard": "Greta Holm",
    "Salt Road": "Omar Diaz",
}
BISHOPS = ("Lena Vogt", "Pia Lund", "Aron Weiss", "Maud Ekman")


@pytest.fixture
def vault(write: Write) -> Callable[[dict[str, str]], None]:
    def fill(notes: dict[str, str]) -> None:
        for path, text in notes.items():
            write(path, text)

    return fill


@pytest.fixture
def searcher(indexer: Indexer, embedder: Embedder) -> Iterator[Searcher]:
    with searcher_over(indexer, embedder, lambda: Calendar(date(2025, 12, 1))) as one:
        yield one


@pytest.fixture
def boatyard(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, searcher: Searcher
) -> Callable[..., list[str]]:
    vault(BOATYARD)
    indexer.scan()
    return asking(searcher)


def result(
    searcher: Searcher,
    query: str,
    top_k: int = 10,
    scope: Scope | None = None,
    max_hops: int = 5,
) -> SearchResult:
    return searcher.search(
        query,
        mode=Mode.DEFAULT,
        top_k=top_k,
        scope=scope,
        max_hops=max_hops,
        allow_unverified=True,
        patience=60.0,
    )


def related(searcher: Searcher, query: str, *more: Any, **named: Any) -> list[Hit]:
    """What relations led to."""
    hits = result(searcher, query, *more, **named).hits
    return [hit for hit in hits if hit.found_by is FoundBy.RELATION]


def asking(searcher: Searcher) -> Callable[..., list[str]]:
    def ask(query: str, *more: Any, **named: Any) -> list[str]:
        return [hit.memory.path for hit in result(searcher, query, *more, **named).hits]

    return ask


def test_a_skipper_is_not_a_member_of_the_crew(boatyard: Callable[..., list[str]]) -> None:
    assert boatyard("Who is the skipper of Heron?")[0] == "people/Lena Vogt.md"
    assert boatyard("Where does the skipper of Kestrel work?")[0] == "people/Omar Diaz.md"


def test_a_note_whose_properties_have_the_words_of_a_question_answers_it_itself(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, searcher: Searcher
) -> None:
    skippers = {"Heron": "Lena Vogt", "Kestrel": "Omar Diaz", "Plover": "Pia Lund"}
    for boat, skipper in skippers.items():
        front = f'---\ntype: boat\nskipper: "[[{skipper}]]"\n---\n'
        vault({f"boats/{boat}.md": f"{front}Needs paint.\n", f"people/{skipper}.md": "Sails.\n"})
    indexer.scan()
    searcher.warm_up()
    for boat in skippers:
        found = searcher.search(f"Who is the skipper of {boat}?", allow_unverified=True).hits
        assert found[0].memory.path == f"boats/{boat}.md"


def test_relations_followed_backwards_keep_roles_apart_too(
    boatyard: Callable[..., list[str]],
) -> None:
    found = boatyard("Which boats have a skipper who works for Baltic Sails?", 2)
    assert set(found) == {"boats/Heron.md", "boats/Plover.md"}


def test_a_question_for_several_gets_every_answer_first(
    boatyard: Callable[..., list[str]],
) -> None:
    found = boatyard("Which boats are skippered by people I met at Spring Regatta?", 4)
    assert set(found[:2]) == {"boats/Heron.md", "boats/Kestrel.md"}


def test_a_value_without_a_note_of_its_own_is_found_in_the_note_that_states_it(
    boatyard: Callable[..., list[str]],
) -> None:
    query = "In which city was the race where I met the skipper of Heron?"
    assert "races/Spring Regatta.md" in boatyard(query)[:2]


def test_hops_lead_from_the_named_note_to_the_answer(
    boatyard: Callable[..., list[str]], searcher: Searcher
) -> None:
    query = "Which boats are skippered by people I met at Autumn Cup?"
    best = related(searcher, query, 5)[0]
    assert best.memory.path == "boats/Plover.md"
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
    vault: Callable[[dict[str, str]], None], indexer: Indexer, searcher: Searcher
) -> None:
    notes = {"races/Harbour Day.md": "---\ntype: race\n---\nIt took place on 2 March 2025.\n"}
    vault({**BOATYARD, **notes})
    indexer.scan()
    ask = asking(searcher)
    query = "Which repairs after Harbour Day were done on Heron?"
    assert ask(query)[0] == "repairs/Heron new rudder.md"


def test_the_same_relation_may_be_said_in_several_ways(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, searcher: Searcher
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
    found = set(asking(searcher)(query))
    assert {"jobs/Deck.md", "jobs/Hull.md", "jobs/Mast.md"} <= found


def test_the_words_before_a_noun_order_the_answers(boatyard: Callable[..., list[str]]) -> None:
    query = "Which rudder repairs were done on boats moored at Otter Quay?"
    assert boatyard(query)[0] == "repairs/Heron new rudder.md"


def test_a_path_ends_where_relations_form_a_circle(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, searcher: Searcher
) -> None:
    vault(CHOIR)
    indexer.scan()
    ask = asking(searcher)
    assert ask("Who taught the composer of Missa Brevis?")[0] == "people/Greta Holm.md"
    query = "Who studied under the composer who studied under the composer of Missa Brevis?"
    for each in related(searcher, query):
        names = [hop.source for hop in each.hops]
        assert len(each.hops) <= 5
        assert len(names) == len(set(names))


def test_no_path_is_longer_than_max_hops(searcher: Searcher, boatyard: object) -> None:
    query = "Which boats are skippered by people I met at Spring Regatta?"
    assert all(len(each.hops) <= 1 for each in related(searcher, query, max_hops=1))


def test_a_plain_question_is_answered_without_relations(
    boatyard: Callable[..., list[str]], searcher: Searcher
) -> None:
    for query in ("how many coats of varnish?", "is it too windy to sail?", "Heron"):
        assert not related(searcher, query)
        assert result(searcher, query).hits


class Later:
    """A worker that does its jobs when it is told to."""

    def __init__(self) -> None:
        self.jobs: dict[str, Callable[[], object]] = {}

    def run(
        self, name: str, job: Callable[[], object], *, after: float = 0.0, patient: bool = False
    ) -> None:
        self.jobs[name] = job

    def work(self) -> None:
        for job in [self.jobs.pop(name) for name in list(self.jobs)]:
            job()


def test_questions_are_answered_while_relations_are_read_behind_them(
    vault: Callable[[dict[str, str]], None],
    indexer: Indexer,
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relation_search, "FIRST_PATIENCE", 0.01)
    monkeypatch.setattr(relation_search, "PATIENCE", 0.01)
    query = "Which boats are skippered by people I met at Spring Regatta?"
    vault(BOATYARD)
    indexer.scan()
    worker = Later()
    with searcher_over(indexer, embedder, background=worker) as searcher:

        def led() -> set[str]:
            hits = searcher.search(query, top_k=5).hits
            return {hit.memory.path for hit in hits if hit.found_by is FoundBy.RELATION}

        assert not led()
        worker.work()
        assert {"boats/Heron.md", "boats/Kestrel.md"} <= led()
        vault({"boats/Tern.md": "---\ntype: boat\n---\n\nSkipper: [[Lena Vogt]].\n"})
        indexer.scan()
        assert "boats/Tern.md" not in led()
        worker.work()
        assert "boats/Tern.md" in led()


@pytest.mark.parametrize(
    ("query", "waits"),
    [
        ("Which boats are skippered by people I met at Spring Regatta?", True),
        ("How long does glue take to dry?", False),  # names no note
        ("Baltic Sails mends torn sails in winter", False),  # a note says just that
    ],
)
def test_only_questions_that_may_be_led_wait_until_relations_are_read_for_the_first_time(
    vault: Callable[[dict[str, str]], None],
    indexer: Indexer,
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
    waits: bool,
) -> None:
    monkeypatch.setattr(relation_search, "FIRST_PATIENCE", 1.0)
    vault({**BOATYARD, "Winter.md": "Baltic Sails mends torn sails in winter.\n"})
    indexer.scan()
    worker = Later()
    with searcher_over(indexer, embedder, background=worker) as searcher:
        assert searcher.search(query, top_k=5).hits
        assert ("read changed relations" in worker.jobs) == waits


def test_notes_whose_relations_are_being_read_still_count_as_waiting(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, embedder: Embedder
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        begun.set()
        assert go_on.wait(PATIENCE_SECONDS)
        return embedder.embed(texts)

    go_on.set()
    index = EdgeIndex(viewed(indexer), indexer.catalogue, embed)
    vault({"firms/Baltic Sails.md": BOATYARD["firms/Baltic Sails.md"]})
    indexer.scan()
    index.refresh()
    vault(BOATYARD)
    indexer.scan()
    changed = index.waiting
    assert changed >= len(BOATYARD) - 1
    begun.clear()
    go_on.clear()
    reading = threading.Thread(target=index.refresh)
    reading.start()
    assert begun.wait(PATIENCE_SECONDS)
    assert index.waiting == changed
    go_on.set()
    reading.join(PATIENCE_SECONDS)
    assert index.waiting == 0


def test_relations_are_followed_whatever_mode_is_asked_for(
    boatyard: Callable[..., list[str]], searcher: Searcher
) -> None:
    searcher.warm_up()
    query = "Which boats are skippered by people I met at Spring Regatta?"
    found = [hit.memory.path for hit in searcher.search(query, top_k=5).hits]
    assert set(found[:2]) == {"boats/Heron.md", "boats/Kestrel.md"}


def test_a_sentence_written_only_once_is_no_relation(
    vault: Callable[[dict[str, str]], None],
    write: Write,
    indexer: Indexer,
    searcher: Searcher,
) -> None:
    vault({path: text for path, text in BOATYARD.items() if path.startswith("people/")})
    write("log/Tea.md", "[[Omar Diaz]] sold a blue dinghy to [[Lena Vogt]] over tea.\n")
    indexer.scan()
    query = "Which people sold a dinghy to Lena Vogt?"
    assert not related(searcher, query)
    assert "log/Tea.md" in asking(searcher)(query)


def test_notes_of_one_year_are_not_related_by_it(tmp_path: Path) -> None:
    notes = {f"{name}.md": f"{name} (born 1937) is a retired bishop.\n" for name in BISHOPS}
    for film, director in FILMS.items():
        notes[f"{film}.md"] = f"{film} is a 1937 Danish drama film directed by [[{director}]].\n"
        notes[f"{director}.md"] = f"{director} (born 1901) was a Danish director of films.\n"
    container = opened(tmp_path, notes, settings=Settings())
    try:
        container.start(watch=False)  # which has the entities read
        container.indexing.settle()
        container.live.searcher.warm_up()
        when = result(container.live.searcher, "When was the director of Harbour Lights born?")
        query = "Which film has the director born later, Harbour Lights or Winter Ferry?"
        later = result(container.live.searcher, query)
    finally:
        container.close()
    first = when.hits[0]
    assert first.memory.title == "Ilse Brandt"
    assert [hop.target for hop in first.hops] == ["Ilse Brandt"]
    director = next(hit for hit in later.hits if hit.memory.title == "Ilse Brandt")
    assert director.hops[0].source == "Harbour Lights"  # not another film of that year
    assert not [
        hit for hit in (*when.hits, *later.hits) if hit.hops and hit.memory.title in BISHOPS
    ]


def test_relations_of_another_project_are_not_followed(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, searcher: Searcher
) -> None:
    vault(CHOIR)
    indexer.scan()
    query = "Which works were sung at Advent Evening?"
    inside = result(searcher, query, 5, Scope(None, "choir")).hits
    assert {each.memory.path for each in inside} >= {
        "works/Missa Brevis.md",
        "works/Night Songs.md",
    }
    outside = result(searcher, query, 5, Scope(None, "orchestra")).hits
    assert not any(each.memory.path.startswith("works/") for each in outside)
    assert not any(hop.path.startswith("works/") for each in outside for hop in each.hops)


def test_no_path_leads_through_another_project(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, searcher: Searcher
) -> None:
    vault(CHOIR)
    indexer.scan()
    query = "Who taught the composers of works sung at Advent Evening?"
    inside = result(searcher, query, 6, Scope(None, "choir")).hits
    assert inside[0].memory.path in {"people/Greta Holm.md", "people/Ilse Brandt.md"}
    assert any(hop.path.startswith("works/") for hop in inside[0].hops)
    outside = result(searcher, query, 6, Scope(None, "orchestra")).hits
    assert not any(hop.path.startswith("works/") for each in outside for hop in each.hops)


def test_without_the_graph_the_nearest_notes_are_given_and_it_is_said(
    boatyard: Callable[..., list[str]], searcher: Searcher, indexer: Indexer
) -> None:
    indexer.stores.graph.close()
    reached = result(searcher, "Who is the skipper of Heron?", 3)
    assert reached.notice == NO_GRAPH
    assert reached.hits


def test_a_graph_that_stops_answering_once_it_is_loaded_is_not_missed(
    boatyard: Callable[..., list[str]], searcher: Searcher, indexer: Indexer
) -> None:
    searcher.warm_up()
    indexer.stores.graph.close()
    reached = result(searcher, "Who is the skipper of Heron?", 3)
    assert reached.notice is None
    assert reached.hits[0].hops


def texts_of(graph: ArrayGraph) -> set[tuple[str, str, str, str]]:
    """Every edge in words: source, target, both steps."""
    return {
        (
            graph.node_ids[graph.source[k]],
            graph.node_ids[graph.target[k]],
            graph.texts[graph.whole[k]],
            graph.texts[graph.local[k]],
        )
        for k in range(len(graph.source))
    }


def nodes_of(graph: ArrayGraph) -> set[tuple[str, str, str, int]]:
    named = {int(k) for k in graph.half_target} | {
        int(k) for k in range(len(graph.has_note)) if graph.has_note[k]
    }
    return {
        (graph.node_ids[k], graph.names[k], graph.kinds[graph.kind_of[k]], int(graph.day[k]))
        for k in named
    }


def test_an_updated_edge_index_equals_one_that_is_read_again(
    vault: Callable[[dict[str, str]], None],
    indexer: Indexer,
    embedder: Embedder,
    write: Write,
    vault_folder: Path,
) -> None:
    vault(BOATYARD)
    indexer.scan()
    kept = EdgeIndex(viewed(indexer), indexer.catalogue, embedder.embed)
    kept.refresh()
    write("boats/Heron.md", "---\ntype: ship\n---\nSkipper: [[Pia Lund]], [[Nils Aho]]\n")
    write("people/Nils Aho.md", "---\ntype: person\n---\nOwns [[Dinghy]].\n")
    indexer.scan()
    kept.refresh()
    (vault_folder / "boats/Plover.md").unlink()
    (vault_folder / "log/Windy day.md").rename(vault_folder / "log/Calm day.md")
    indexer.scan()
    current = kept.refresh()
    fresh = EdgeIndex(viewed(indexer), indexer.catalogue, embedder.embed).refresh()
    assert current is not None and fresh is not None
    assert texts_of(current) == texts_of(fresh)
    assert nodes_of(current) == nodes_of(fresh)
    assert len(current.source) == len(fresh.source)


def test_what_changed_is_read_with_the_next_question_if_it_could_not_be_embedded(
    vault: Callable[[dict[str, str]], None],
    write: Write,
    indexer: Indexer,
    embedder: Embedder,
) -> None:
    vault(BOATYARD)
    indexer.scan()
    fails = [False]

    def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if fails[0]:
            raise StoreUnavailable("The engine is stopping.")
        return embedder.embed(texts)

    index = EdgeIndex(viewed(indexer), indexer.catalogue, embed)
    index.refresh()
    write("boats/Heron.md", "---\ntype: boat\n---\nSold long ago to [[Nils Aho]].\n")
    indexer.scan()
    fails[0] = True
    with pytest.raises(StoreUnavailable):
        index.refresh()
    fails[0] = False
    graph = index.refresh()
    assert graph is not None
    assert any("Sold long ago" in text for text in graph.texts)


def test_texts_of_edges_that_are_gone_do_not_pile_up(
    vault: Callable[[dict[str, str]], None],
    write: Write,
    indexer: Indexer,
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(edge_index, "SPARE_TEXTS", 10)
    vault({"Bo.md": "Tall.\n"})
    index = EdgeIndex(viewed(indexer), indexer.catalogue, embedder.embed)
    for number in range(40):
        word = f"qu{chr(97 + number // 26)}{chr(97 + number % 26)}x"
        write("Ada.md", f"Somebody {word} painted the boat of [[Bo]].\n")
        indexer.scan()
        graph = index.refresh()
        assert graph is not None
        assert any(word in text for text in graph.texts)
        assert len(graph.texts) < 30


def test_the_more_notes_the_more_of_them_state_a_relation() -> None:
    assert [least_repetitions(notes) for notes in (0, 1, 60, 100, 101, 1_000, 5_000, 100_000)] == [
        2, 2, 2, 2, 3, 3, 4, 5,
    ]  # fmt: skip


@pytest.mark.parametrize(("kind", "is_relation"), [("decision", True), ("note", False)])
def test_a_title_relates_what_it_names_only_to_a_note_of_a_kind(
    kind: str,
    is_relation: bool,
    vault: Callable[[dict[str, str]], None],
    indexer: Indexer,
    embedder: Embedder,
) -> None:
    head = f"---\ntype: {kind}\n---\n"
    vault({f"{what} of Grey Heron.md": f"{head}Done.\n" for what in ("Rudder", "Paint", "Mast")})
    vault({"Grey Heron.md": "A boat.\n"})
    indexer.scan()
    graph = EdgeIndex(viewed(indexer), indexer.catalogue, embedder.embed).refresh()
    assert graph is not None and len(graph.repeated) >= 3
    assert graph.repeated.all() == is_relation
    assert graph.repeated.any() == is_relation


def test_the_words_before_a_colon_are_no_relation(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, embedder: Embedder
) -> None:
    vault({f"Day {day}.md": f"- [[Grey Heron]]:\n- {day} boats.\n" for day in (3, 4, 5)})
    vault({f"Trip {trip}.md": f"from: [[Grey Heron]]\n\nTrip {trip}.\n" for trip in (6, 7, 8)})
    vault({"Grey Heron.md": "A boat.\n"})
    indexer.scan()
    graph = EdgeIndex(viewed(indexer), indexer.catalogue, embedder.embed).refresh()
    assert graph is not None
    assert {graph.texts[text] for text in graph.local[graph.repeated]} == {"from: X"}


def test_a_note_states_its_own_values_rather_than_one_that_unlike_words_lead_to(
    vault: Callable[[dict[str, str]], None], indexer: Indexer, embedder: Embedder
) -> None:
    vault({"Ilse Brandt.md": "Moved to Gdansk in 1901.\n", "Harbour.md": "By [[Ilse Brandt]].\n"})
    indexer.scan()
    graph = EdgeIndex(viewed(indexer), indexer.catalogue, embedder.embed).refresh()
    assert graph is not None
    unlike = {"moved X": np.zeros(len(graph.texts), np.float32)}
    traversal = Traversal(graph, np.ones(len(graph.node_ids), np.bool_), unlike, 3)
    ilse, harbour = map(graph.names.index, ("Ilse Brandt", "Harbour"))
    phrase = Phrase(("moved X",), frozenset(("moved",)))
    reached, _ = traversal.value(traversal.named([ilse]), phrase)
    assert reached.score[ilse] > reached.score[harbour]


def test_the_next_question_follows_relations_of_a_note_just_written(
    boatyard: Callable[..., list[str]], indexer: Indexer, write: Write
) -> None:
    boatyard("Who is the skipper of Heron?")
    write("boats/Avocet.md", "---\ntype: boat\n---\nSkipper: [[Pia Lund]]\n")
    indexer.index(["boats/Avocet.md"])
    found = boatyard("Which boats are skippered by people I met at Autumn Cup?", 3)
    assert set(found[:2]) == {"boats/Avocet.md", "boats/Plover.md"}


@pytest.mark.parametrize(
    "question",
    [
        "Which company employs whoever is skipper of Heron?",
        "employer of Heron's skipper",
        "The one who skippers Heron: on whose payroll?",
    ],
)
def test_a_relation_is_found_in_other_words_than_it_is_stated_in(
    boatyard: Callable[..., list[str]], question: str
) -> None:
    assert "people/Lena Vogt.md" in boatyard(question)[:4]


def test_a_note_with_the_words_of_a_question_answers_it_without_relations(
    searcher: Searcher, boatyard: Callable[..., list[str]]
) -> None:
    def first(question: str) -> Hit:
        result = searcher.search(question, mode=Mode.DEFAULT, allow_unverified=True)
        return result.hits[0]

    boatyard("Who is the skipper of Heron?")  # relations are read
    stated = first("Heron, skipper Lena Vogt, moored at Otter Quay")
    assert (stated.memory.path, stated.found_by) == ("boats/Heron.md", FoundBy.TEXT)
    led = first("Which company does the skipper of Heron work for?")
    assert led.found_by is FoundBy.RELATION
