"""What the trained pipeline finds, and what of it is kept."""

from __future__ import annotations

import pytest

from memvault.model.note import ParsedNote
from memvault.text.entities import (
    EntityPipeline,
    FoundEntity,
    entity_name,
    is_english,
    open_entity_pipeline,
    without_noise,
)
from memvault.vault.parse import parse_note


@pytest.fixture(scope="module")
def pipeline() -> EntityPipeline:
    opened = open_entity_pipeline()
    if opened is None:
        pytest.skip("the extra memvault[ner] is not installed")
    return opened


def note(text: str) -> ParsedNote:
    return parse_note("Note.md", text.encode())


def found(pipeline: EntityPipeline, text: str) -> list[tuple[str, str]]:
    return [(entity.kind, entity.name) for entity in pipeline.find([note(text)])[0]]


def test_people_organisations_places_and_dates_are_found(pipeline: EntityPipeline):
    text = "Yesterday we met Barack Obama of Microsoft in London. It was on 5 November 2025, in the rain."
    assert found(pipeline, text) == [
        ("person", "Barack Obama"),
        ("organisation", "Microsoft"),
        ("place", "London"),
        ("date", "2025-11-05"),
    ]


def test_an_entity_knows_its_position_in_the_text(pipeline: EntityPipeline):
    ((first, second),) = pipeline.find(
        [note("# Trip\n\nWe saw snow.\n\nTeam: we were in Paris. Later in Rome.\n")]
    )
    assert (first.line, first.sentence, first.relation) == (5, "Team: we were in Paris.", "Team")
    assert first.sentence[first.start : first.end] == "Paris"
    assert second.sentence[second.start : second.end] == "Rome"


def test_notes_of_one_call_do_not_mix(pipeline: EntityPipeline):
    texts = ["We flew to Paris.", "Nothing.", "We flew to Berlin, Germany."]
    together = pipeline.find([note(text) for text in texts])
    assert together == [pipeline.find([note(text)])[0] for text in texts]
    assert [[entity.name for entity in each] for each in together] == [
        ["Paris"],
        [],
        ["Berlin", "Germany"],
    ]


def test_an_order_in_front_is_not_part_of_the_name(pipeline: EntityPipeline):
    assert ("person", "Call Angela Merkel") not in found(
        pipeline, "- Call Angela Merkel about the invoice\n"
    )
    assert ("person", "Angela Merkel") in found(
        pipeline, "- Call Angela Merkel about the invoice\n"
    )


def test_a_word_that_the_note_also_writes_small_is_no_name(pipeline: EntityPipeline):
    names = [
        name for _, name in found(pipeline, "Go to Sync and wait. The sync of London takes long.")
    ]
    assert "Sync" not in names


def test_a_single_word_that_only_heads_a_sentence_is_no_name():
    text = note("Compare two. We saw Paris. Paris is big.")
    compare = FoundEntity("person", "Compare", 0, 7, "Compare two.", 1)
    paris = FoundEntity("place", "Paris", 7, 12, "We saw Paris.", 1)
    head = FoundEntity("person", "Paris", 0, 5, "Paris is big.", 1)
    kept = without_noise(text, [(compare, True), (paris, False), (head, True)])
    assert [(e.kind, e.sentence) for e in kept] == [
        ("place", "We saw Paris."),
        ("place", "Paris is big."),
    ]


def test_a_note_in_another_language_yields_nothing(pipeline: EntityPipeline):
    text = (
        "Gestern waren wir mit Frau Schneider im Garten und haben lange geredet. Der Hund schlief in "
        "der Sonne, die Kinder spielten am Bach, und abends gab es Suppe mit Brot und etwas Wein aus "
        "dem Keller des alten Hauses."
    )
    assert not is_english(note(text))
    assert found(pipeline, text) == []


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("the  European Union", "organisation", "European Union"),
        ("Anna's", "person", "Anna"),
        ("The Hobbit", "concept", "The Hobbit"),
        ("3rd of May 2024", "date", "2024-05-03"),
        ("May 2024", "date", "2024-05"),
        ("2024", "date", "2024"),
        ("next week", "date", None),
        ("5/11/2025", "date", None),
        ("12", "organisation", None),
        ("A", "person", None),
        ("[[Ada", "person", None),
        ("readme.md", "organisation", None),
        ("something", "organisation", None),
        ("The", "organisation", None),
    ],
)
def test_found_names_are_cleaned_and_junk_is_left_out(text: str, kind: str, expected: str | None):
    assert entity_name(text, kind) == expected
