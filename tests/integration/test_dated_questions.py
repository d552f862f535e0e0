"""Questions about a time, over real stores and the real model."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.config.paths import StateFolder
from memvault.model.search import Mode
from memvault.search.pipeline import Searcher
from memvault.search.times.time_spans import Calendar
from memvault.text.encoders.embedding import Embedder
from tests.integration.searching import indexer_of, searcher_over
from tests.integration.small_vault import write_notes

Write = Callable[..., Path]

TODAY = date(2026, 11, 18)  # a Wednesday
TOPICS = ("the boiler", "the orchard", "the choir", "the roof")
LINES = {
    "the boiler": "We talked about the boiler: the pump rattles and a plumber is to look at it.",
    "the orchard": "We talked about the orchard: the plums are ripe and the ladder is broken.",
    "the choir": "We talked about the choir: the new songs are hard for the tenors.",
    "the roof": "We talked about the roof: two tiles slipped and the gutter leaks.",
}
FIRST = date(2025, 1, 6)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    """A vault of 98 weekly sessions, on four topics in turn, and one event, and its indexes."""
    folder = tmp_path_factory.mktemp("weeks")
    notes = {}
    for week in range(98):
        day = FIRST + timedelta(7 * week)
        topic = TOPICS[week % 4]
        notes[f"sessions/{day}/{topic.title()} {week}.md"] = f"{LINES[topic]}\n"
    days = "\n\n".join(f"{LINES[topic]} It took hours." for topic in TOPICS * 3)
    log = f"{days}\n\nThe dentist is on 24 November at 8:30.\n\n{days}\n"
    notes |= {
        "permanent/The street party.md": "---\ndate: 2026-06-13\n---\nEverybody came.\n",
        "permanent/Ladder.md": "---\ndate: 2020-01-05\n---\nThe long ladder is for the roof.\n",
        "sessions/2026-11-10/Loan.md": "We lent the [[Ladder]] to the neighbours.\n",
        "permanent/Log.md": f"---\ndate: 2026-11-01\n---\n{log}",
        "permanent/Boat.md": "---\ndate: 2020-01-02\nlift-out: 2026-11-25\n---\nIn the shed.\n",
        "permanent/Oars.md": "---\ndate: 2020-01-02\nlast edited: 2026-11-25\n---\nOf ash.\n",
    }
    write_notes(folder / "vault", notes)
    indexer = indexer_of(folder / "vault", StateFolder(folder / "state"), embedder)
    indexer.scan()
    indexer.stores.close()
    return folder


@pytest.fixture
def indexer(
    indexed: Path, vault_folder: Path, state: StateFolder, open_indexer: Callable[..., Indexer]
) -> Indexer:
    """On a copy of the vault and its indexes."""
    shutil.copytree(indexed / "vault", vault_folder, dirs_exist_ok=True)
    shutil.copytree(indexed / "state", state.root, dirs_exist_ok=True)
    return open_indexer()


@pytest.fixture
def searcher(indexer: Indexer, embedder: Embedder) -> Iterator[Searcher]:
    with searcher_over(indexer, embedder, lambda: Calendar(TODAY)) as one:
        yield one


def found(searcher: Searcher, question: str) -> list[tuple[date, str]]:
    hits = searcher.search(question, mode=Mode.DEFAULT, top_k=5).hits
    return [(hit.memory.moment.date(), hit.text) for hit in hits]


def test_what_is_of_the_time_asked_for_comes_first(searcher: Searcher) -> None:
    questions = {
        "What did we say about the roof in March?": (date(2026, 3, 1), date(2026, 3, 31)),
        "What did we say about the choir last spring?": (date(2026, 3, 1), date(2026, 5, 31)),
        "What did we say about the boiler before February 2025?": (FIRST, date(2025, 1, 31)),
        "What did we say about the orchard since October?": (date(2026, 10, 1), TODAY),
        "What did we say about the roof in the summer of 2025?": (
            date(2025, 6, 1),
            date(2025, 8, 31),
        ),
    }
    for question, (first, last) in questions.items():
        topic = next(topic for topic in TOPICS if topic in question)
        day, text = found(searcher, question)[0]
        assert first <= day <= last + timedelta(7), question
        assert text == LINES[topic], question


def test_links_to_neighbouring_days_do_not_date_a_daily_note(
    open_indexer: Callable[..., Indexer], embedder: Embedder, write: Write
) -> None:
    for day in (11, 13):
        write(
            f"daily/2026-06-{day}.md",
            f"<< [[2026-06-{day - 1}]] | [[2026-06-{day + 1}|Next]] >>\n\nOn the hills.\n",
        )
    write("permanent/Trip.md", "---\ndate: 2020-01-02\n---\nOff on [[2026-06-12]], by train.\n")
    indexer = open_indexer()
    indexer.scan()
    with searcher_over(indexer, embedder, lambda: Calendar(TODAY)) as searcher:
        hits = searcher.search("What did I do on 12 June?", mode=Mode.DEFAULT, top_k=5).hits
    assert [hit.memory.title for hit in hits] == ["Trip"]


def test_two_limits_are_one_time_and_two_months_are_two(searcher: Searcher) -> None:
    limits = "What did we say about the roof after March 2026 and before June 2026?"
    days = [day for day, _ in found(searcher, limits)[:2]]
    assert all(date(2026, 4, 1) <= day <= date(2026, 5, 31) for day in days)
    months = "What did we say about the roof in April 2025 or in July 2026?"
    days = [day for day, _ in found(searcher, months)[:2]]
    assert {(day.year, day.month) for day in days} == {(2025, 4), (2026, 7)}


def test_a_question_for_nothing_but_a_time_gets_what_is_of_it_the_newest_first(
    searcher: Searcher,
) -> None:
    days = [day for day, _ in found(searcher, "What happened in the last two weeks?")]
    assert days == [date(2026, 11, 16), date(2026, 11, 10), date(2026, 11, 9)]
    days = [day for day, _ in found(searcher, "What happened the week after the street party?")]
    assert days == [date(2026, 6, 15)]


@pytest.mark.parametrize(
    "question", ["What do I have next week?", "Which appointments are due in the next 7 days?"]
)
def test_plans_are_the_notes_that_name_a_day_to_come_the_soonest_first(
    searcher: Searcher, question: str
) -> None:
    hits = searcher.search(question, mode=Mode.DEFAULT, top_k=5).hits
    assert [hit.memory.title for hit in hits] == ["Log", "Boat"]
    assert "The dentist is on 24 November at 8:30." in hits[0].text
    assert all(hit.confidence > 0.8 for hit in hits)


def test_what_is_to_do_in_a_time_are_open_tasks_after_what_names_a_day_of_it(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    text = "The shed leaks.\n\n- [ ] Nail felt on the roof\n"
    write("permanent/Shed.md", f"---\ndate: 2026-02-01\n---\n{text}")
    write("permanent/Gate.md", "---\ndate: 2026-02-01\n---\n- [x] Oil the hinges\n")
    write("permanent/Fence.md", "---\ndate: 2026-01-31\n---\n- [/] Paint the fence\n")
    indexer.scan()
    hits = searcher.search("What do I have to do next week?", mode=Mode.DEFAULT, top_k=5).hits
    assert [hit.memory.title for hit in hits] == ["Log", "Boat", "Shed", "Fence"]
    assert "Nail felt" in hits[2].text
    for question in (
        "What's on my to-do list?",
        "Show my open tasks",
        "What do I still need to do?",
    ):
        titles = [hit.memory.title for hit in searcher.search(question).hits]
        assert titles == ["Shed", "Fence"], question
    hits = searcher.search("What tasks did I do last week?", top_k=5).hits
    assert {hit.memory.moment.date() for hit in hits} == {date(2026, 11, 9), date(2026, 11, 10)}


def test_plans_for_a_month_are_none_of_years_ago(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("daily/2023-02-03.md", "Skated on the lake.\n")
    indexer.scan()
    question = "What appointments do I have in February?"
    days = [day for day, _ in found(searcher, question)]
    assert all(day.year >= 2026 for day in days)
    assert searcher.search("What happened in February 2023?").hits


def test_what_was_only_written_today_is_not_due_in_the_days_to_come(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("permanent/Kettle.md", f"---\ncreated: {TODAY}\n---\nThe kettle is made of copper.\n")
    indexer.scan()
    titles = [hit.memory.title for hit in searcher.search("What is due by 25 November?").hits]
    assert titles == ["Log", "Boat"]


@pytest.mark.parametrize("question", ["What are my plans for next year?", "What is in 2027?"])
def test_a_note_with_the_year_asked_for_in_its_title_comes_before_notes_that_name_a_day_of_it(
    searcher: Searcher, indexer: Indexer, write: Write, question: str
) -> None:
    write("permanent/Ideas for 2027.md", "A bench under the plum tree.\n")
    write("permanent/Dentist.md", "Again on 3 February 2027.\n")
    write("permanent/Boiler 2027-B.md", "A model with a rattling pump.\n")
    indexer.scan()
    paths = [hit.memory.path for hit in searcher.search(question, mode=Mode.DEFAULT).hits]
    assert paths[:2] == ["permanent/Ideas for 2027.md", "permanent/Dentist.md"]
    assert "permanent/Boiler 2027-B.md" not in paths


def test_a_year_in_many_titles_does_not_come_before_what_happened_in_it(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for number in range(8):
        write(f"bills/Invoice {number} of 2026.md", "---\ndate: 2020-01-02\n---\nFor nails.\n")
    indexer.scan()
    hits = searcher.search("What happened in 2026?", mode=Mode.DEFAULT, top_k=5).hits
    assert all(hit.memory.path.startswith("sessions/2026-11-") for hit in hits[:3])


def test_all_notes_of_a_type_and_a_time_are_listed(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for month in range(1, 11):
        head = f"---\ntype: decision\ndate: 2026-{month:02d}-05\n---\n"
        write(f"decisions/{month}.md", f"{head}We chose number {month} for the roof.\n")
    indexer.scan()
    months = {
        "Which decisions were made between May and July?": {5, 6, 7},
        "List all decisions from 2026": set(range(1, 11)),
        "decisions in March": {3},
    }
    for question, expected in months.items():
        hits = searcher.search(question, top_k=20).hits
        assert {hit.memory.moment.month for hit in hits} == expected, question
        assert {hit.memory.type for hit in hits} == {"decision"}, question


def test_the_next_of_a_type_is_the_soonest_to_come(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for name, day in {"Past": "2026-11-02", "Far": "2027-03-01", "Soon": "2026-12-01"}.items():
        write(f"regattas/{name}.md", f"---\ntype: regatta\ndate: {day}\n---\nOn the lake.\n")
    write("regattas/Form.md", "---\ntype: regatta\ndate:\n---\nWhich regatta is next?\n")
    indexer.scan()
    for question in ("Which regatta is next?", "When is our next regatta?", "upcoming regattas"):
        hits = searcher.search(question, top_k=3).hits
        assert [hit.memory.title for hit in hits[:2]] == ["Soon", "Far"], question


def test_a_note_named_by_its_week_is_of_that_week(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("weekly/2026-W36.md", "The boat was painted.\n")
    indexer.scan()
    assert "The boat was painted." in [
        text for _, text in found(searcher, "What happened in 2026-W36?")
    ]
    memory = indexer.catalogue.by_path("weekly/2026-W36.md")
    assert memory is not None and memory.day == date(2026, 8, 31)


def test_all_open_tasks_are_listed_the_first_due_first(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for number in range(25):
        write(f"permanent/Chore {number}.md", f"- [ ] Paint fence number {number}\n")
    write(
        "permanent/Late.md", "- [ ] Renew the passport 📅 2026-10-01\n- [x] Photo ✅ 2026-09-01\n"
    )
    write("permanent/Soon.md", "- [ ] Order the felt, due by 3 December 2026\n")
    indexer.scan()
    question = "What do I still have to do?"
    titles = [hit.memory.title for hit in searcher.search(question, top_k=50).hits]
    assert titles[:2] == ["Late", "Soon"]
    assert len(titles) == 27


def test_an_open_task_is_found_among_those_of_hundreds_of_notes(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for number in range(230):
        write(f"permanent/Round {number}.md", "- [ ] open task: todo\n")
    text = "- [x] Varnish\n- [ ] New string for the cello,\n  due 2026-12-04\n"
    write("permanent/Music.md", f"{LINES['the choir']}\n\n{text}")
    indexer.scan()
    hits = searcher.search("What is to do for the cello?").hits
    assert hits[0].memory.title == "Music"
    assert "New string for the cello" in hits[0].text
    hits = searcher.search("Which tasks will be overdue on 5 December 2026?").hits
    assert hits[0].memory.title == "Music"


def test_tasks_that_were_overdue_on_a_day_were_due_before_it(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("permanent/Late.md", "- [ ] Renew the passport 📅 2026-10-01\n")
    write("permanent/Soon.md", "- [ ] Order the felt, due by 3 December 2026\n")
    write("permanent/Board.md", "## To do\n\n- [ ] Call the tuner @{2026-12-02}\n")
    write("permanent/Done.md", "- [x] Post the form 📅 2026-10-02\n- [ ] Buy stamps\n")
    indexer.scan()
    for question, title in {
        "Which tasks are overdue?": "Late",
        "Which tasks were overdue on 16 November?": "Late",
        "Which felt tasks will be overdue on 5 December 2026?": "Soon",
        "Which tuner tasks will be overdue on 5 December 2026?": "Board",
        "Welche Aufgaben sind überfällig?": "Late",
        "Quelles tâches sont en retard ?": "Late",
        "¿Qué tareas están atrasadas?": "Late",
        "期限切れのタスクは？": "Late",
        "哪些任务逾期了？": "Late",
    }.items():
        hits = searcher.search(question).hits
        assert hits[0].memory.title == title, question
        assert [hit.relevance for hit in hits].count(1.0) == 1, question


@pytest.mark.parametrize("question", ["Which tasks are overdue?", "Was ist überfällig?"])
def test_an_answer_says_that_nothing_is_overdue_and_still_shows_what_says_so_in_words(
    searcher: Searcher, indexer: Indexer, write: Write, question: str
) -> None:
    write("permanent/Soon.md", "- [ ] Order the felt, due by 3 December 2026\n")
    write("permanent/Hall.md", "The rent of the hall is overdue.\n")
    indexer.scan()
    result = searcher.search(question)
    notice = "No open task and no property names a due day before 2026-11-18."
    assert notice in (result.notice or "")
    write("permanent/Late.md", "- [ ] Renew the passport 📅 2026-10-01\n")
    indexer.scan()
    assert notice not in (searcher.search(question).notice or "")
    assert "Hall" in [hit.memory.title for hit in searcher.search("What is overdue?").hits]


def test_a_weekday_on_which_tasks_will_be_overdue_is_the_coming_one(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("permanent/Soon.md", "- [ ] Order the felt 📅 2026-11-19\n")
    indexer.scan()
    hits = searcher.search("What will be overdue on Friday?").hits
    assert (hits[0].memory.title, hits[0].relevance) == ("Soon", 1.0)
    hits = searcher.search("What was overdue on Friday?").hits
    assert all(hit.relevance < 1.0 for hit in hits)


def test_tasks_of_a_time_come_before_notes_that_name_a_day_of_it(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    days = "\n\n".join(f"{LINES[topic]} It took hours." for topic in TOPICS * 3)
    write("permanent/Long.md", f"- [ ] Buy stamps\n\n{days}\n\n- [ ] Post the form 📅 2026-11-25\n")
    write("permanent/Fence.md", "The fence comes on 19 November.\n")
    indexer.scan()
    hits = searcher.search("What do I have to do by the end of next week?", top_k=4).hits
    assert [hit.memory.title for hit in hits] == ["Long", "Fence", "Log", "Boat"]


def test_tasks_in_other_languages_are_listed_the_first_due_first(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("permanent/Recinto.md", "- [ ] Dipingere la rete\n")
    write("permanent/Passaporto.md", "- [ ] Rinnovare il passaporto entro il 1 dicembre 2026\n")
    write("permanent/Colle.md", "- [ ] Acheter la colle, échéance : 5 décembre 2026\n")
    indexer.scan()
    for question in ("Cosa devo ancora fare?", "Que me reste-t-il à faire ?"):
        titles = [hit.memory.title for hit in searcher.search(question).hits]
        assert titles == ["Passaporto", "Colle", "Recinto"], question


def test_the_latest_value_of_a_field_is_that_of_the_latest_day(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for day, level in ((3, 31), (9, 44), (16, 38)):
        write(f"diary/2026-11-{day:02d}.md", f"Mild.\n\n- level:: {level}\n")
    write("diary/Form.md", "The latest level of the pond:\n\n- level::\n")
    write("diary/2026-11-30.md", "- level:: 99\n")
    indexer.scan()
    for question in ("What is the pond's latest level?", "most recent level", "current level"):
        hits = searcher.search(question, top_k=5).hits
        titles = [hit.memory.title for hit in hits[:3]]
        assert titles == ["2026-11-16", "2026-11-09", "2026-11-03"], question
        assert "level:: 38" in hits[0].text


def test_a_latest_value_of_something_with_more_words_is_not_guessed(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for day, level in ((3, 31), (9, 44)):
        write(f"diary/2026-11-{day:02d}.md", f"- level:: {level}\n")
    indexer.scan()
    hits = searcher.search("What is the latest level of the Danube at Linz?").hits
    assert all(hit.relevance < 1.0 for hit in hits)


def test_a_day_that_may_be_past_or_to_come_is_as_the_question_has_it(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    """The log names Tuesday of next week, the shop was on Tuesday of this one."""

    def titles(question: str) -> list[str]:
        return [hit.memory.title for hit in searcher.search(question, top_k=5).hits]

    write("sessions/2026-11-17/Shop.md", "The till was repaired.\n")
    indexer.scan()
    assert titles("What do I have on Tuesday?") == ["Log", "Shop"]
    assert titles("What did I do on Tuesday?") == ["Shop"]
    assert titles("What did I write in my diary on Tuesday?") == ["Shop"]


def test_a_day_that_is_past_gets_its_notes_before_those_that_only_name_it(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("permanent/Roof.md", "---\ndate: 2020-02-01\n---\nOn 2026-11-16 the tiles came.\n")
    indexer.scan()
    hits = searcher.search("What happened on 16 November?", mode=Mode.DEFAULT, top_k=5).hits
    assert [hit.memory.title for hit in hits] == ["The Orchard 97", "Roof"]


def test_a_month_without_a_year_is_that_of_an_earlier_year_if_the_last_has_no_notes(
    searcher: Searcher,
) -> None:
    """There are notes of December 2025, but none of December 2026 is to come yet."""
    days = [day for day, _ in found(searcher, "What happened in December?")]
    assert days[0] == date(2025, 12, 29)


def test_what_is_of_another_time_is_still_found(searcher: Searcher) -> None:
    assert len(found(searcher, "What did we say about the roof in March?")) == 5
    assert found(searcher, "What did we say about the roof in 1987?")[0][1] == LINES["the roof"]


def test_what_was_done_in_a_folder_on_a_day_is_the_note_of_that_folder_and_day(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for day in (10, 12, 13):
        write(f"Workshop log/2026-11-{day}.md", "Glued two chairs. Sanded a table top.\n")
    write("Garden log/2026-11-12.md", "Raked the leaves.\n")
    write("permanent/Workshop rules.md", "In the workshop we wear goggles. Sweep on Thursdays.\n")
    indexer.scan()
    expected = {
        "What did I do in the workshop last Thursday?": ["2026-11-12"],
        "What happened in the workshop last week?": ["2026-11-13", "2026-11-12", "2026-11-10"],
    }
    for question, days in expected.items():
        hits = searcher.search(question, mode=Mode.DEFAULT, top_k=5).hits
        assert [hit.memory.path for hit in hits][: len(days)] == [
            f"Workshop log/{day}.md" for day in days
        ], question


def test_a_note_of_the_day_that_has_all_words_of_the_question_comes_first(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    chores = "Paid the bills, wrote to the bank, mended the tap and varnished the old oak bench."
    write("Garden log/2026-11-12.md", f"{chores}\n")
    write("Garden log/2026-11-16.md", "What did I varnish? I varnished the door and the gate.\n")
    indexer.scan()
    [first, *_] = searcher.search("What did I varnish last Thursday?", top_k=5).hits
    assert first.memory.path == "Garden log/2026-11-12.md"


def test_what_changed_since_a_time_is_not_what_is_to_come(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("permanent/Ideas.md", "---\ndate: 2020-01-05\n---\n# Japan, perhaps 2027\n\nBy ship.\n")
    indexer.scan()
    hits = searcher.search("What changed since last month?", top_k=30).hits
    assert hits[0].memory.day <= TODAY
    assert "permanent/Ideas.md" not in [hit.memory.path for hit in hits]


def test_what_is_to_do_before_a_day_is_before_the_coming_one(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("permanent/Tiles.md", "---\ndate: 2020-01-05\n---\n- [ ] Order tiles 📅 2026-12-03\n")
    indexer.scan()
    hits = searcher.search("What must I do before 5 December?", top_k=30).hits
    assert hits[0].memory.path == "permanent/Tiles.md"
    assert not any(hit.memory.path.startswith("sessions/2025") for hit in hits)


def test_what_was_decided_at_a_time_begins_with_the_decisions(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    decision = "---\ntype: decision\ndate: 2026-03-03\n---\nThe boiler is replaced, not mended.\n"
    write("permanent/Boiler.md", decision)
    indexer.scan()
    for question in ("What did we decide in March?", "What has been decided this year?"):
        hits = searcher.search(question, top_k=5).hits
        assert hits[0].memory.path == "permanent/Boiler.md", question
    assert searcher.search("What happened in March?").hits[0].memory.path.startswith("sessions/")


def test_notes_of_a_time_without_text_come_last(
    write: Write, indexer: Indexer, searcher: Searcher
) -> None:
    write("journal/2026-11-17.md", "---\ndate: 2026-11-17\ntags: [daily]\n---\n")
    write("journal/2026-11-16.md", "The plumber came.\n")
    indexer.scan()
    texts = [text for _, text in found(searcher, "What happened this week?")]
    assert texts[0] == "The plumber came."
    assert texts[-1] == "2026-11-17"


def test_what_is_due_is_no_diary_of_the_days_that_are_past(
    write: Write, indexer: Indexer, searcher: Searcher
) -> None:
    write("journal/2026-11-17.md", "---\ndate: 2026-11-17\n---\nRain all day.\n")
    write("bills/Chimney.md", "---\ndate: 2026-10-30\ndue: 2026-11-17\n---\nUnpaid.\n")
    indexer.scan()
    titles = [hit.memory.title for hit in searcher.search("What is due this week?").hits]
    assert "Chimney" in titles and "2026-11-17" not in titles
    titles = [hit.memory.title for hit in searcher.search("What happened this week?").hits]
    assert "2026-11-17" in titles
