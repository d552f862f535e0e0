"""From what a question finds to what that is linked with, over real stores and the real model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from indexer.indexer import Indexer
from mcp_server.runtime.index_status import language_problem
from memvault.model.search import FoundBy, Hit, Scope
from memvault.search.association import FIXED_PLACES, Association, descending
from memvault.search.hybrid import HybridSearch
from memvault.search.pipeline import Searcher
from memvault.stores.graph_view import GraphView
from memvault.text.encoders.embedding import Embedder
from memvault.text.tokens import TokenCounter
from tests.integration.searching import found

Write = Callable[..., Path]

FILM = (
    "The Salt Road is a drama about two brothers who carry salt over a pass. It was directed by "
    "[[Irene Okafor]] and filmed in winter.\n"
)
SALT = {"The Salt Road.md": "The Salt Road is a drama about salt carried over a pass.\n"}
DIRECTOR = "Irene Okafor is married to the cellist [[Paul Reinders]].\n"
# Nearer to the questions by their words than what is linked, as in any larger vault.
FILLER = {
    f"log/Day {day}.md": f"Day {day}: a drama about the town in which the director was born. We "
    "never found out what he used to shoot with.\n"
    for day in range(8)
}


def test_a_note_that_only_the_first_result_links_to_is_found_with_the_link(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    fill({"The Salt Road.md": FILM, "Irene Okafor.md": "Lagos was home, and cellos.\n", **FILLER})
    hits = found(
        searcher, "Where was the director of the drama about salt carried over a pass born?"
    )
    assert hits[0].memory.title == "The Salt Road"
    director = next(hit for hit in hits if hit.memory.title == "Irene Okafor")
    assert director.found_by is FoundBy.LINK
    (hop,) = director.hops
    assert (hop.source, hop.target, hop.path) == (
        "The Salt Road",
        "Irene Okafor",
        "The Salt Road.md",
    )
    assert "directed by" in hop.sentence
    assert "Lagos was home" in director.text


def test_links_are_followed_backwards_and_the_linking_passage_is_shown(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    long = "\n\n".join(f"Paragraph {n} tells of the weather on the pass." for n in range(60))
    fill(
        {
            "Irene Okafor.md": "She hates interviews and microphones.\n",
            "Archive.md": f"# Archive\n\n{long}\n\n## Reels\n\nReel 7 was shot by "
            "[[Irene Okafor]].\n",
            **FILLER,
        }
    )
    hits = found(searcher, "Who hates interviews and microphones, and what was shot?")
    archive = next(hit for hit in hits if hit.memory.title == "Archive")
    assert archive.hops[0].path == "Archive.md"
    assert "Reel 7 was shot by" in archive.text


def test_the_best_results_keep_their_places_however_many_link_to_a_hub(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    recipes = {
        f"Bread {kind}.md": f"Bake the {kind} bread for an hour at 220 degrees. See [[Kitchen]].\n"
        for kind in ("rye", "wheat", "spelt", "oat", "corn")
    }
    fill({**recipes, "Kitchen.md": "Everything else about the house.\n", **FILLER})
    titles = [hit.memory.title for hit in found(searcher, "How long do I bake the rye bread?")]
    assert titles[0] == "Bread rye"
    assert "Kitchen" not in titles[:FIXED_PLACES]


def test_a_note_that_links_to_many_carries_less_to_each_of_them(
    fill: Callable[[dict[str, str]], None], indexer: Indexer, embedder: Embedder
) -> None:
    rooms = " ".join(f"[[Room {n}]]" for n in range(30))
    text = "The keys of the boat house hang with [[{who}|the neighbour]].\n"
    fill({"Few.md": text.format(who="Marit"), "Marit.md": "Lives by the quay.\n",
          "Many.md": text.format(who="Torvald") + f"\nThe rooms are {rooms}.\n",
          "Torvald.md": "Lives by the mill.\n", "Gulls.md": "They nest.\n"})  # fmt: skip
    view, catalogue = GraphView(indexer.stores.graph, indexer.catalogue.by_id), indexer.catalogue
    by_title = {memory.title: memory for memory in catalogue.all()}
    association = Association(view, embedder, catalogue.by_id, embedder.embed_query)
    relevances = {"Few": 0.9, "Many": 0.9, "Gulls": 0.8, "Marit": 0.0, "Torvald": 0.0}
    hits = [Hit(by_title[title], relevance) for title, relevance in relevances.items()]
    found = association.extend("Who has the keys of the boat house?", hits)
    worth = {hit.memory.title: hit.relevance for hit in found}
    assert worth["Marit"] > worth["Torvald"] > 0.0


def test_relevances_never_rise_along_an_answer(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    fill(
        {"The Salt Road.md": FILM, "Irene Okafor.md": DIRECTOR, "Paul Reinders.md": "A cellist.\n"}
    )
    for query in ("Who directed The Salt Road?", "cello", "salt", "Who is Paul Reinders?"):
        relevances = [hit.relevance for hit in found(searcher, query)]
        assert relevances == sorted(relevances, reverse=True)
        assert all(0.0 <= relevance <= 1.0 for relevance in relevances)


def test_a_link_leads_to_no_note_of_another_project(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    fill(
        {
            "The Salt Road.md": FILM,
            "projects/festival/Irene Okafor.md": "---\nproject: festival\n---\nLagos was home.\n",
            **FILLER,
        }
    )
    query = "Where was the director of the drama about salt carried over a pass born?"
    inside = found(searcher, query, scope=Scope(None, "festival"))
    outside = found(searcher, query, scope=Scope(None, "kitchen"))
    assert "Irene Okafor" in {hit.memory.title for hit in inside}
    assert "Irene Okafor" not in {hit.memory.title for hit in outside}


def test_a_link_written_just_now_is_followed_by_the_next_question(
    searcher: Searcher,
    fill: Callable[[dict[str, str]], None],
    write: Write,
    indexer: Indexer,
) -> None:
    fill({**SALT, "Nadia Flint.md": "Oslo was home.\n", **FILLER})
    query = "Where was the director of the drama about salt carried over a pass born?"
    assert not any(hit.found_by is FoundBy.LINK for hit in found(searcher, query))
    write("The Salt Road.md", SALT["The Salt Road.md"] + "It was directed by [[Nadia Flint]].\n")
    indexer.index(["The Salt Road.md"])
    linked = [hit for hit in found(searcher, query) if hit.found_by is FoundBy.LINK]
    assert [hit.memory.title for hit in linked] == ["Nadia Flint"]


def test_a_link_that_use_speaks_for_weighs_more_and_the_best_match_stays(
    fill: Callable[[dict[str, str]], None], indexer: Indexer, embedder: Embedder
) -> None:
    fill({**SALT, "Nadia Flint.md": "Oslo was home.\n", "Otto Reed.md": "Turin was home.\n",
          "The Salt Road.md": SALT["The Salt Road.md"]
          + "It was directed by [[Nadia Flint]].\nIts music is by [[Otto Reed]].\n", **FILLER})  # fmt: skip
    view, by_id = GraphView(indexer.stores.graph, indexer.catalogue.by_id), indexer.catalogue.by_id
    ids = {memory.title: memory.id for memory in indexer.catalogue.all()}
    query = "Where was the director of the drama about salt carried over a pass born?"

    def linked(loved: str) -> list[str]:
        def learnt(one: str, other: str) -> float:
            return 0.76 if {one, other} == {ids["The Salt Road"], ids[loved]} else 0.0

        hybrid = HybridSearch(indexer.stores.vectors, embedder, by_id)
        association = Association(view, embedder, by_id, hybrid.languages.question_vector, learnt)
        hits = hybrid.search(query, 4)
        assert hits[0].memory.title == "The Salt Road"
        found = association.extend(query, hits)
        assert found[0].memory.title == "The Salt Road"
        return [hit.memory.title for hit in found if hit.found_by is FoundBy.LINK]

    assert linked("Otto Reed").index("Otto Reed") < linked("Nadia Flint").index("Otto Reed")


def test_nothing_found_is_linked_with_nothing(indexer: Indexer, embedder: Embedder) -> None:
    view = GraphView(indexer.stores.graph, indexer.catalogue.by_id)
    association = Association(view, embedder, indexer.catalogue.by_id, embedder.embed_query)
    assert association.extend("anything", []) == []
    assert descending([]) == []


def test_links_in_a_language_that_the_model_hardly_knows_displace_nothing(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    """It finds all Italian sentences alike, so that every link would seem to fit."""
    rooms = [f"La stanza {n}" for n in range(12)]
    seen = "\n".join(f"Quando si sale al piano di sopra si vede [[{room}]]." for room in rooms)
    foods = ("il pane", "il riso", "il sale", "il miele", "il burro", "il latte")
    fill({f"{room}.md": "Qui non è scritto niente che sia utile.\n" for room in rooms}
         | {f"Conservare {one}.md": f"Dove si tiene {one} per non farlo andare a male.\n\n{seen}\n"
            for one in foods})  # fmt: skip
    titles = [hit.memory.title for hit in found(searcher, "Come si fa a conservare la spesa?", 6)]
    assert set(titles) == {f"Conservare {one}" for one in foods}


def test_a_link_carries_less_in_a_language_that_the_model_hardly_knows(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    """There the cosine of its sentence tells little, be it near."""
    foods = ("pane", "riso", "sale", "miele", "burro", "latte", "pesce", "olio")
    fill({f"Conservare {one}.md": f"Dove si tiene il {one} per non farlo andare a male.\n"
          for one in foods})  # fmt: skip
    italian = searcher.hybrid.languages.question_vector("Come si fa a conservare la spesa?")
    assert 0.0 < np.linalg.norm(italian) < 0.9
    assert np.linalg.norm(
        searcher.hybrid.languages.question_vector("How do I keep bread?")
    ) == pytest.approx(1.0)


def test_a_link_carries_as_much_as_in_english_in_a_language_that_the_model_knows(
    searcher: Searcher,
    fill: Callable[[dict[str, str]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    foods = ("pane", "riso", "sale", "miele", "burro", "latte", "pesce", "olio")
    fill({f"Conservare {one}.md": f"Dove si tiene il {one} per non farlo andare a male.\n"
          for one in foods})  # fmt: skip
    monkeypatch.setattr(TokenCounter, "bytes_per_token", lambda self, text: 5.0)
    italian = searcher.hybrid.languages.question_vector("Come si fa a conservare la spesa?")
    assert np.linalg.norm(italian) == pytest.approx(1.0, abs=1e-4)


def test_an_english_question_is_foreign_to_notes_in_another_language_that_the_model_knows(
    searcher: Searcher,
    fill: Callable[[dict[str, str]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill({f"Flut {n}.md": f"Die Flut am Tag {n} war hoch, und die Boote sind nicht da.\n"
          for n in range(12)})  # fmt: skip
    question = "Where is the key?"
    assert not searcher.hybrid.languages.is_foreign_and_known(question, None)
    monkeypatch.setattr(TokenCounter, "bytes_per_token", lambda self, text: 5.0)
    searcher.hybrid.languages.forget()
    assert searcher.hybrid.languages.is_foreign_and_known(question, None)
    fill({f"Tide {n}.md": f"The tide of day {n} was high, and the boats stayed out.\n"
          for n in range(30)})  # fmt: skip
    searcher.hybrid._vectors._languages_until = 0.0  # type: ignore[attr-defined]  # a minute later
    assert not searcher.hybrid.languages.is_foreign_and_known(question, None)


def test_the_language_of_most_notes_is_reported_if_the_model_does_not_know_it(
    searcher: Searcher,
    fill: Callable[[dict[str, str]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill({f"Flut {n}.md": f"Die Flut am Tag {n} war hoch, und die Boote sind nicht da.\n"
          for n in range(12)})  # fmt: skip
    assert searcher.hybrid.languages.unknown() == ["german"]
    monkeypatch.setattr(TokenCounter, "bytes_per_token", lambda self, text: 5.0)
    searcher.hybrid.languages.forget()
    assert searcher.hybrid.languages.unknown() == []


def test_many_notes_in_a_language_that_the_model_does_not_know_are_reported_with_what_to_do(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    english = {f"Tide {n}.md": f"The tide of day {n} was high, and the boats stayed out.\n"
               for n in range(12)}  # fmt: skip
    fill(english)
    assert language_problem(searcher.hybrid) is None
    fill(english | {f"Flut {n}.md": f"Die Flut am Tag {n} war hoch, und die Boote sind nicht da.\n"
                    for n in range(4)})  # fmt: skip
    searcher.hybrid._vectors._languages_until = 0.0  # type: ignore[attr-defined]  # a minute later
    assert "many notes are in German" in str(language_problem(searcher.hybrid))
