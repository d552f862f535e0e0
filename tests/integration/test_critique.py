"""Wrong claims about a vault are found, with the note that says otherwise; right ones are not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from tests.benchmarks.bench_critique import against
from tests.benchmarks.critique_claims import NOTES, RIGHT, WRONG
from tests.integration.small_vault import opened


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    base = tmp_path_factory.mktemp("critique")
    container = opened(base, NOTES)
    yield container
    container.close()


def judged(services: Container, claims: list[str]) -> list[list[str]]:
    async def run() -> list[list[str]]:
        async with Client(build_server(services, tools="full")) as client:
            return [await against(client, claim, 0.3) for claim in claims]

    return asyncio.run(run())


def test_most_wrong_claims_are_found_with_the_note_that_says_otherwise(services):
    found = judged(services, [claim for claim, _ in WRONG])
    hits = [paths[:1] == [path] for paths, (_, path) in zip(found, WRONG, strict=True)]
    assert sum(hits) >= 0.85 * len(WRONG)


def test_claims_that_hold_or_of_which_the_notes_say_nothing_are_left_alone(services):
    found = judged(services, RIGHT)
    assert [claim for claim, paths in zip(RIGHT, found, strict=True) if paths] == []


@pytest.mark.parametrize(
    "noted",
    ["The API migrated from JWT tokens to OAuth2 in v2.1.",
     "We replaced JWT tokens with OAuth2 in the API.",
     "We dropped JWT tokens from the API."],
)  # fmt: skip
def test_a_note_that_gives_a_tool_up_does_not_support_its_use(tmp_path, noted: str):
    container = opened(tmp_path, {"API.md": f"# API\n\n{noted}\n"})
    try:
        assert judged(container, ["The API uses JWT tokens."]) == [["API.md"]]
        assert judged(container, [noted]) == [[]]
    finally:
        container.close()


STORED = {
    "permanent/Support hours.md": "# Support hours\n\nDecided w/ Tove & Idris, Feb 2024. Support is "
    "from 9 to 17.\n",
    "permanent/Buoys.md": "In the first week of March, buoy 31 in the east basin began to report "
    "a drift with a strength of 0.62, every night between two and four.\n",
    "people/Tove.md": "# Tove\n\nFounder.\n",
    "people/Idris.md": "# Idris\n\nDeveloper.\n",
    "clients/Orchard Dental.md": "# Orchard Dental\n\nA chain of dentists.\n",
    "people/Signe.md": "---\nrate: 31.50\n---\nSigne teaches the lute on Mondays.\n",
    "people/Anders.md": "Anders no longer keeps bees.\n",
    "lessons/Waltz.md": "We play it slower than marked, at 112, because of Hanne's breath.\n",
    "lessons/Recital.md": "Hanne's recital in the barn is on the 12th.\n",
    "house/Extinguishers.md": "Extinguishers: 7, to be tested each November.\n",
    "house/Bell.md": "The bell of the tower rings at 18:30, for 40 seconds.\n",
    "museum/Eintritt.md": "Eintritt für Erwachsene: 9 €. Die Führung beginnt mittwochs um 14:00.\n",
    "museum/Eintritt 2024.md": "---\nsuperseded_by: '[[Eintritt]]'\n---\n"
    "Der Eintritt für Erwachsene beträgt 7 €.\n",
    "musée/Visite.md": "La visite guidée de la tour commence le mardi à 10:00.\n",
    "huis/Lift.md": "Lift: merk Schindler, keuring woensdag 14.30\n",
    "huis/Bijdrage.md": "eigen bijdrage € 1.084 p.m. voor pa\n",
    "mercado/Hielos.md": "Hielos Noval no reparte los domingos. Nevera comprada de 2ª mano.\n",
    "market/Ice.md": "Norrland Ice does not deliver on Sundays.\n\nThe spring market on the "
    "green is theirs.\n",
    "permanent/Liability cap.md": "Liability cap with Orchard Dental: Tomasz is willing to go to "
    "300k, because the insurance covers that much, not to 500k.\n",
}


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    base = tmp_path_factory.mktemp("stored")
    container = opened(base, STORED)
    yield container
    container.close()


def contradicted(office: Container, text: str) -> list[str]:
    return [each.memory.path for each in office.live.critic.contradicted_by_new(text)]


def test_two_decisions_with_the_same_person_do_not_contradict_each_other(office):
    assert contradicted(office, "Decided with Tove on 26 Nov: go.") == []


def test_a_new_value_contradicts_the_old_one_although_the_note_denies_a_third(office):
    text = (
        "We go to 400k liability cap with Orchard Dental after all; the insurance will be raised "
        "to 400k in March."
    )
    assert contradicted(office, text) == ["permanent/Liability cap.md"]
    related = office.live.critic.related_to_new(text)
    assert "permanent/Liability cap.md" in [hit.memory.path for hit in related]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Signe now takes 34 an hour, no longer 31.50.", "people/Signe.md"),
        ("Signe comes on Fridays instead of Mondays.", "people/Signe.md"),
        ("The bell of the tower now rings at 19:00, no longer at 18:30.", "house/Bell.md"),
        ("The bell of the tower rings for a minute now, not 40 seconds any more.", "house/Bell.md"),
    ],
)
def test_what_is_no_longer_so_contradicts_the_note_that_still_states_it(office, text, path):
    assert contradicted(office, text) == [path]


def test_a_day_of_a_month_is_compared_with_days_only(office):
    assert contradicted(office, "Hanne may play again from the 20th.") == []
    assert contradicted(office, "Hanne's recital in the barn is on the 14th.") == [
        "lessons/Recital.md"
    ]


def test_what_is_no_longer_so_contradicts_no_note_that_says_the_same_or_is_about_another(office):
    assert contradicted(office, "Anders no longer keeps bees.") == []
    assert contradicted(office, "Ms Falk takes 34 an hour, no longer 31.50.") == []
    assert contradicted(office, "Talk of 27 November: the trip takes 6 nights instead of 7.") == []


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Der Eintritt für Erwachsene beträgt 11 €.", ["museum/Eintritt.md"]),
        ("Der Eintritt beträgt nicht mehr 9 €, sondern 11 €.", ["museum/Eintritt.md"]),
        ("Die Führung beginnt am Donnerstag um 14:00.", ["museum/Eintritt.md"]),
        ("La visite guidée de la tour commence le jeudi à 10:00.", ["musée/Visite.md"]),
        ("Die Führung beginnt am Mittwoch um 14:00.", []),
        ("La visite guidée de la tour ne commence pas le jeudi.", []),
        ("Die Karte für den Turm kostet nicht mehr 9 €.", []),
        ("De lift is van het merk Kone.", ["huis/Lift.md"]),
        ("De keuring is op donderdag om 14.30 uur.", ["huis/Lift.md"]),
        ("De eigen bijdrage van pa is € 1.250 per maand.", ["huis/Bijdrage.md"]),
        ("De eigen bijdrage van pa is 1.084 euro per maand.", []),
        ("Hielos Noval no reparte los domingos ni los festivos.", []),
        ("La nevera es de segunda mano.", []),
        ("Norrland Ice does not deliver on Sundays or holidays.", []),
        ("Norrland Ice delivers on Sundays.", ["market/Ice.md"]),
        ("The autumn market is on Saturday 10 October.", []),
    ],
)
def test_a_text_in_another_language_contradicts_the_current_note(office, text, paths):
    assert contradicted(office, text) == paths


def test_a_text_does_not_contradict_a_superseded_note(office):
    assert contradicted(office, "Der Eintritt für Erwachsene beträgt 9 €.") == []


def test_a_number_is_no_day_of_a_month_and_a_row_no_sentence(office):
    assert contradicted(office, "Idris took the post and starts on 1 March 2027.") == []
    assert contradicted(office, "| 2026-04 | Orchard Dental | 400k |") == []
