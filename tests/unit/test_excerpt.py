"""What is shown of a note: the sentences that answer, word for word, as they read in the note."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from zlib import compress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.model.note import LineRange
from memvault.model.search import Hit
from memvault.search.context.note_text import NoteText, note_texts
from memvault.search.context.outline import Outlines
from memvault.search.context.scoring import COSINE_WEIGHT, scores
from memvault.search.excerpt import CUT, READ_WHOLE, Excerpt, Excerpts
from memvault.search.question_forms import is_answered_with_digits, questions_in
from memvault.search.times.time_spans import Calendar
from memvault.text.chunking import chunk_notes
from memvault.text.encoders.embedding import Embedder
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.parse import parse_note

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FILLER = "The committee met again in the usual room and talked for some time about nothing much. "
ANSWER = "The beacon on Gull Rock is lit by a kerosene lamp."


class Shelf:
    """Notes in memory, embedded as indexing does."""

    def __init__(self, embedder: Embedder, calendar: Callable[[], Calendar] = Calendar) -> None:
        self.embedder = embedder
        self.notes: dict[str, bytes] = {}
        outlines = Outlines(self.notes.__getitem__, embedder)
        self.excerpts = Excerpts(outlines, embedder, calendar=calendar)

    def noted(self, text: str) -> Hit:
        data = text.encode()
        note = parse_note("Note.md", data)
        memory = memory_of(note, fallback_time=NOW)
        chunk_notes([(note, memory)], self.embedder)
        self.notes["Note.md"] = data
        return Hit(memory, 0.5, text=text)

    def shown(self, query: str, text: str, limit: int) -> Excerpt:
        return self.excerpts.of(query, [self.noted(text)], [limit])[0]


@pytest.fixture
def shelf(embedder: Embedder) -> Shelf:
    return Shelf(embedder)


def test_a_short_note_is_shown_whole(shelf):
    assert shelf.shown("anything", f"{ANSWER}\n", 200).text == ANSWER


def test_a_short_note_of_several_sections_is_shown_whole(shelf):
    text = (
        "## Context\n\nEach consumer had a copy of every message.\n\n"
        "## Decision\n\nWe left the old queue for the new one.\n\n"
        "## Consequences\n\n- Lucy writes the guide.\n"
    )
    shown = shelf.shown("Why did we leave the old queue?", text, 400).text
    assert "copy of every message" in shown and "We left" in shown and "Lucy" in shown
    assert CUT not in shown


def test_what_names_a_day_of_the_time_asked_for_is_shown(embedder):
    shelf = Shelf(embedder, lambda: Calendar(date(2026, 11, 18)))
    text = FILLER * 6 + "The lamp is cleaned on Tuesday, 24 November 2026. " + FILLER * 6
    assert "24 November" in shelf.shown("What do I have next week?", text, 120).text
    assert "24 November" not in shelf.shown("What did the committee do?", text, 120).text
    log = "\n\n".join(
        f"## {day}.11.26\n\n{FILLER * 2}Lamp {chr(87 + day)} went out." for day in range(10, 30)
    )
    assert "Lamp h" in shelf.shown("Which lamp went out yesterday?", log, 120).text


def test_the_sentence_that_answers_is_shown_wherever_it_is(shelf):
    for place in range(5):
        text = FILLER * place + ANSWER + " " + FILLER * (4 - place)
        shown = shelf.shown("What lights the beacon on Gull Rock?", text, 80).text
        assert ANSWER in shown
        assert (shown.startswith(CUT), shown.endswith(CUT)) == (place > 0, place < 4)
        assert len(shown.encode()) <= 80 + 10


def test_an_answer_without_a_word_of_the_question_is_found_by_its_meaning(shelf):
    lines = [f"## {n}\n\n{FILLER}" for n in range(6)]
    lines[3] = "## 3\n\nOur feline refuses salmon and herring."
    shown = shelf.shown("which fish will the kitten not eat?", "\n\n".join(lines), 60).text
    assert "refuses salmon" in shown


def test_the_answer_that_follows_its_question_is_shown_with_it(shelf):
    text = FILLER * 3 + "\nWhere did you hide the spare key? Under the third pot.\n" + FILLER * 3
    assert "Under the third pot." in shelf.shown("where is the spare key hidden", text, 100).text


def test_each_of_two_questions_is_answered(shelf):
    oil = [f"The lamp of jetty {n} burns oil and is lit by hand at dusk." for n in range(8)]
    text = "\n\n".join([*oil, "Spare wicks hang behind the boathouse door."])
    question = "By hand or by clock, how are the oil lamps of the jetties lit at dusk, and where are spare wicks kept?"
    shown = shelf.shown(question, text, 110).text
    assert "Spare wicks hang behind the boathouse door." in shown and "lit by hand" in shown


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ("Where is it? And who paid for the roof?", ["And who paid for the roof?"]),
        (
            "How big is the shed, and for how many days may we rent it?",
            ["How big is the shed", "for how many days may we rent it?"],
        ),
        ("I lost the shed key. What now?", []),
        ("Wo liegt der Schlüssel und wann kommt Ada?", ["Wo liegt der Schlüssel", "wann kommt Ada?"]),
        ("鍵はどこですか。窓は誰が開けますか。", ["鍵はどこですか。", "窓は誰が開けますか。"]),
        ("Who leads the seed library?", []),
        ("salt and pepper", []),
    ],
)  # fmt: skip
def test_a_text_of_several_questions_is_split_into_them(asked, parts):
    assert questions_in(asked) == parts


def test_a_sentence_with_a_number_is_shown_where_a_number_is_asked_for(shelf):
    text = (
        "The rent of the boat shed is paid by the club.\n\nThe boat shed rent: 40 euros.\n\n"
        "The rent of the boat shed is due to the harbour office.\n"
    )
    assert "40 euros" in shelf.shown("How much is the rent of the boat shed?", text, 30).text


def test_a_sentence_with_a_number_is_shown_where_french_asks_for_one(shelf):
    text = (
        "Le loyer de la cabane du port est payé par le club.\n\nLoyer de la cabane : 40 euros.\n\n"
        "Le loyer de la cabane du port est dû au bureau.\n"
    )
    assert "40 euros" in shelf.shown("Combien est le loyer de la cabane du port ?", text, 30).text


@pytest.mark.parametrize(
    "question", ["Does it count as leave?", "Où est l'ile de Ré ?", "几乎所有人都来吗？"]
)
def test_words_that_only_look_like_those_of_an_amount_ask_for_none(question: str) -> None:
    assert not is_answered_with_digits(question)


def test_a_table_row_is_shown_with_the_heads_of_its_columns_and_without_empty_cells(shelf):
    rows = "\n".join(f"| Room {n} | closed |  |" for n in range(20))
    text = f"# Rooms\n\n| Where | State | Key |\n|---|:-:|---|\n{rows}\n| Attic |  | Nora |\n"
    shown = shelf.shown("Who has the key of the attic?", text, 40).text
    assert "Where: Attic | Key: Nora" in shown
    assert "closed | Key" not in shown and "State: |" not in shown


def test_tasks_numbers_and_callouts_keep_their_marks(shelf):
    text = (
        "- [ ] Order paint\n- [x] Call the plumber\n\n1. Open the lid\n2. Stir\n\n"
        "> [!warning] Hot\n> The stove stays hot for an hour.\n"
    )
    shown = shelf.shown("what is open?", text, 500).text
    assert shown.splitlines() == [
        *("- [ ] Order paint", "- [x] Call the plumber", "1. Open the lid", "2. Stir"),
        *("[!warning] Hot", "The stove stays hot for an hour."),
    ]


def test_the_text_of_a_callout_is_shown_rather_than_its_label(shelf):
    text = FILLER * 3 + "\n\n> [!info] Snapshots\n> One every five minutes, kept for a week.\n"
    shown = shelf.shown("How long are snapshots kept?", text, 70).text
    assert "kept for a week" in shown


def test_parts_of_different_sections_have_their_headings(shelf):
    text = (
        "# Keys\n\n## Windows\n\n### Editing\n\nDelete the line: Ctrl+K\n\n"
        "## Mac\n\n### Editing\n\nDelete the line: Cmd+K\n"
    )
    shown = shelf.shown("delete the line", text, 60)
    assert shown.text.splitlines() == [
        *("[Windows > Editing]", "Delete the line: Ctrl+K"),
        *("[Mac > Editing]", "Delete the line: Cmd+K"),
    ]
    assert shown.lines == (7, 13)


def test_the_heading_and_the_lines_are_those_of_what_is_shown(shelf):
    text = f"# Light\n\n{FILLER}\n\n## Lamps\n\n### Oil\n\n{ANSWER}\n\n## Stairs\n\n{FILLER}\n"
    shown = shelf.shown("What lights the beacon on Gull Rock?", text, 60)
    assert (shown.heading, shown.lines) == ("Light > Lamps > Oil", (9, 9))


def test_code_is_shown_with_the_sentence_that_introduces_it(shelf):
    text = f"{FILLER}\n\nStart the lamp with this command:\n\n```sh\nlamp --on\n```\n\n{FILLER}\n"
    shown = shelf.shown("command that starts the lamp", text, 80).text
    assert "Start the lamp with this command:\n```sh\nlamp --on\n```" in shown


def test_code_that_is_too_long_leaves_a_mark_below_its_sentence(shelf):
    code = "\n".join(f"lamp --on {number}" for number in range(50))
    text = f"Start the lamp with this command:\n\n```sh\n{code}\n```\n\nThen climb the stairs.\n"
    shown = shelf.shown("command that starts the lamp", text, 200).text
    assert shown == f"Start the lamp with this command:\n{CUT}\nThen climb the stairs."


def test_code_is_shown_with_the_sentence_behind_it_that_explains_it(shelf):
    code = "```sh\nlamp --on\n```"
    text = f"{FILLER}\n\n## Shell\n\n{code}\n\nThis starts the lamp by a command.\n\n## End\n\n{FILLER}"
    shown = shelf.shown("command that starts the lamp", text, 90).text
    assert f"{code}\nThis starts the lamp by a command." in shown


def test_code_below_a_heading_without_text_is_shown_with_the_heading(shelf):
    parts = [f"## {name}\n\n```sh\nlamp --{name}\n```" for name in ("dim", "wind", "trim")]
    text = "\n\n".join(["# Lamps", FILLER, *parts])
    for name in ("dim", "wind", "trim"):
        assert f"{name}\n```sh\nlamp --{name}\n```" in shelf.shown(f"how to {name}", text, 30).text


def test_a_query_of_a_plugin_is_shown_only_where_a_sentence_introduces_it(shelf):
    query = "```dataview\nTABLE mood FROM #daily\n```"
    weekly = f"# Week 46\n\n{query}\n\nThe operation went well.\n"
    shown = shelf.shown("How did the operation go?", weekly, 400).text
    assert "The operation went well." in shown and "dataview" not in shown
    manual = f"# Queries\n\nThis lists all moods:\n\n{query}\n"
    assert query in shelf.shown("How do I list moods?", manual, 400).text


def test_of_a_note_of_code_alone_all_code_that_fits_is_shown(shelf):
    hit = shelf.noted("```sh\nlamp --on\n```\n\n```sh\nlamp --off\n```\n")
    hit.text = hit.memory.title
    (shown,) = shelf.excerpts.of("lamp commands", [hit], [200])
    assert shown.text == "Note\n```sh\nlamp --on\n```\n```sh\nlamp --off\n```"
    assert shown.lines == LineRange(1, 7)


def test_code_that_has_the_words_of_the_question_is_shown_before_other_code(shelf):
    rest = "\n".join(f"oil = {n}" for n in range(9))
    text = (
        f"These are used:\n\n```\n{rest}\n```\n\nAnd then:\n\n```\nwick_mm = 7\n```\n\n{FILLER}\n"
    )
    assert "wick_mm = 7" in shelf.shown("what is wick_mm?", text, 60).text


def test_a_heading_about_something_else_takes_nothing_from_a_sentence(shelf):
    sentence, query = "Our grumpy old feline refuses salmon.", "which fish will the kitten not eat?"
    hit = shelf.noted(f"## Insurance and tax returns\n\n{sentence}\n")
    outline = Outlines(shelf.notes.__getitem__, shelf.embedder).of([hit])
    vector = shelf.embedder.embed_query(query)
    alone = float(shelf.embedder.embed([sentence])[0] @ vector)
    score = scores(query, vector, [hit], outline)[0].statements[0]
    assert score >= hit.relevance * COSINE_WEIGHT * alone - 1e-3


def test_one_endless_sentence_is_cut_after_a_word(shelf):
    shown = shelf.shown("word", "word " * 400, 100).text
    assert shown.endswith(f"word {CUT}") and len(shown) <= 2 * 100 + 2


def test_scripts_without_spaces_are_cut_by_their_own_sentences(shelf):
    text = (
        "灯台は海のそばにある。\n\n" * 12
        + "鍵は三番目の鉢の下だ。"
        + "\n\n灯台は海のそばにある。" * 12
    )
    assert "鍵は三番目の鉢の下だ。" in shelf.shown("鍵はどこ", text, 120).text


def test_of_a_note_that_is_gone_the_passage_found_is_shown(shelf):
    note = memory_of(parse_note("Gone.md", b"x"), fallback_time=NOW)
    found = Hit(note, 0.5, lines=LineRange(3, 4), text=ANSWER)

    def gone(path: str) -> bytes:
        from memvault.model.errors import NoteNotFound

        raise NoteNotFound(path)

    [shown] = Excerpts(Outlines(gone, shelf.embedder), shelf.embedder).of("beacon", [found], [200])
    assert (shown.text, shown.lines) == (ANSWER, (3, 4))


def test_of_later_memories_only_the_passage_found_is_read(shelf):
    read: list[str] = []

    def reading(path: str) -> bytes:
        read.append(path)
        return ANSWER.encode()

    pairs = []
    for number in range(READ_WHOLE + 2):
        memory = memory_of(parse_note(f"{number}.md", ANSWER.encode()), fallback_time=NOW)
        pairs.append(Hit(memory, 0.5, text=ANSWER))
    shown = Excerpts(Outlines(reading, shelf.embedder), shelf.embedder).of(
        "beacon", pairs, [100] * len(pairs)
    )
    assert {each.text for each in shown} == {ANSWER} and len(read) <= READ_WHOLE


def unreadable(path: str) -> bytes:
    raise AssertionError(f"{path} is read")


def of_stored(shelf: Shelf, query: str, hit: Hit, limit: int) -> Excerpt:
    """Chosen from what indexing stores of the note alone."""
    data = shelf.notes["Note.md"]
    texts = note_texts([(parse_note("Note.md", data), data)], shelf.embedder.tokens)
    packed = {path: text.packed() for path, text in texts.items()}
    assert NoteText.unpacked(packed["Note.md"]) == texts["Note.md"]
    outlines = Outlines(unreadable, shelf.embedder, lambda _: packed)
    return Excerpts(outlines, shelf.embedder).of(query, [hit], [limit])[0]


def test_what_indexing_stores_of_a_note_is_shown_as_the_note_itself(shelf):
    text = (
        f"---\nk: v\n---\n# Beacon\n\n> [!note] Lamp\n> It is *lit* at [[Dusk|dusk]].\n\n## Steps\n\n"
        f"- [ ] trim it\n  - fill it\n\n| part | price |\n| - | - |\n| wick | 3 |\n\n{FILLER}\n\n"
        f"```sh\nlamp --on\n```\n\nThis lights it. {ANSWER}\n"
    )
    hit = shelf.noted(text)
    for query, limit in (("what does the wick cost", 60), ("light the lamp", 90), ("all", 900)):
        assert of_stored(shelf, query, hit, limit) == shelf.shown(query, text, limit)


def test_if_the_best_sentence_is_in_a_short_section_the_following_ones_are_shown_too(shelf):
    text = (
        f"Beacon log\n\n# Habits\n\n- trim it\n\n# 17:55\n\n{ANSWER}\n\n# Later\n\n{FILLER * 9}\n"
    )
    shown = shelf.shown("beacon log", text, 200).text
    assert "- trim it" in shown and ANSWER in shown and shown.count("committee") < 9


def test_properties_that_a_question_names_are_shown_above_what_the_note_says(shelf):
    fields = "fuel: kerosene\nkeeper: Ida Berg\nname: Gull Rock\nheight: 12\nlit: true"
    text = f"---\n{fields}\n---\n# Gull Rock\n\n{ANSWER}\n"
    shown = shelf.shown("which fuel does Gull Rock burn?", text, 200)
    assert (shown.text, shown.lines) == (f"fuel: kerosene\n{ANSWER}", LineRange(1, 10))
    assert shelf.shown("what is the height of Gull Rock?", text, 200).text[:11] == "height: 12\n"
    assert shelf.shown("who are the keepers?", text, 200).text == f"keeper: Ida Berg\n{ANSWER}"
    assert shelf.shown("is Ida there?", text, 200).text == f"keeper: Ida Berg\n{ANSWER}"
    of_it = shelf.shown("what is Gull Rock?", text, 200).text
    assert of_it == f"fuel: kerosene\nkeeper: Ida Berg\n{ANSWER}"


@pytest.mark.parametrize(
    ("written", "shown"),
    [("false", "false"), ("TRUE", "true"), ("no", "no"), ("1.10", "1.10"), ("007", "007"), ("2026-03-01", "2026-03-01"), ("2026-03-01T09:30:00", "2026-03-01T09:30:00"), ("[oil, true, 1.50]", "oil, true, 1.50"), ("[oil, null]", "oil"), ("null", None), ("", None), ("[]", None)],
)  # fmt: skip
def test_the_value_of_a_property_is_shown_as_the_note_writes_it(shelf, written, shown):
    text = f"---\nlamp: {written}\n---\n# Gull Rock\n\n{FILLER}\n"
    lines = shelf.shown("which lamp has Gull Rock?", text, 200).text.splitlines()
    assert lines[:-1] == ([f"lamp: {shown}"] if shown is not None else [])


def test_a_long_list_is_shown_where_the_question_names_it_with_the_text_of_its_links(shelf):
    people = ["Ida Berg", "Jonas Lindqvist", "Carla Montefiore", "Dmitri Volkov", "Esther Oyelaran"]
    links = ", ".join(f'"[[People/{name}|{name}]]"' for name in people)
    text = f"---\ncrew: [{links}]\nfuel: kerosene\n---\n# Gull Rock\n\n{ANSWER}\n"
    shown = shelf.shown("who is in the crew of Gull Rock?", text, 400).text
    assert shown == f"crew: {', '.join(people)}\n{ANSWER}"
    assert shelf.shown("what is the weather like?", text, 400).text == f"fuel: kerosene\n{ANSWER}"


def test_a_long_property_is_not_shown_where_the_question_names_nothing(shelf):
    story = f"the rocks and the light as the keepers knew them {'in winter and in summer ' * 3}"
    text = f"---\nstory: {story}\nfuel: kerosene\n---\n# Gull Rock\n\n{ANSWER}\n"
    assert shelf.shown("what about that?", text, 400).text == f"fuel: kerosene\n{ANSWER}"
    assert story.strip() in shelf.shown("what about Gull Rock?", text, 400).text


def test_other_properties_are_shown_in_room_that_is_left_but_not_those_for_obsidian(shelf):
    fields = "kanban-plugin: board\nlast modified: 2026-04-25\ndg-publish: true\nkeeper: Ida Berg\nfuel: kerosene\ncssclasses: [wide]\nbanner: '![[a.png]]'"
    text = f"---\n{fields}\n---\n# Gull Rock\n\n{ANSWER}\n"
    shown = shelf.shown("who looks after the tower?", text, 200)
    assert (shown.text, shown.lines.first) == (f"keeper: Ida Berg\nfuel: kerosene\n{ANSWER}", 1)
    assert (
        shelf.shown("who looks after the tower?", text, 100).text == f"keeper: Ida Berg\n{ANSWER}"
    )
    assert shelf.shown("who looks after the tower?", text, 60).text == ANSWER
    modified = shelf.shown("when was the page on Gull Rock last modified?", text, 200).text
    assert modified == f"last modified: 2026-04-25\n{ANSWER}"


def test_of_a_long_note_the_passage_that_was_found_is_shown_without_reading_the_note(shelf):
    hit = shelf.noted(FILLER * 800 + ANSWER)
    assert of_stored(shelf, "beacon", replace(hit, text=ANSWER), 200).text == ANSWER


@pytest.mark.parametrize("stored", [b"", b"no zlib", compress(b"{}"), compress(b"[1, 2, 3, 4]")])
def test_a_note_whose_stored_text_is_damaged_is_read(shelf, stored):
    hit = shelf.noted(f"{ANSWER}\n")
    outlines = Outlines(shelf.notes.__getitem__, shelf.embedder, lambda _: {"Note.md": stored})
    assert Excerpts(outlines, shelf.embedder).of("beacon", [hit], [200])[0].text == ANSWER


def test_what_was_stored_of_an_older_version_is_not_shown(shelf):
    shelf.noted("The beacon is green.\n")
    data = shelf.notes["Note.md"]
    old = note_texts([(parse_note("Note.md", data), data)], shelf.embedder.tokens)["Note.md"]
    hit = shelf.noted(f"{ANSWER}\n")
    packed = {"Note.md": old.packed()}
    outlines = Outlines(shelf.notes.__getitem__, shelf.embedder, lambda _: packed)
    excerpts = Excerpts(outlines, shelf.embedder)
    assert excerpts.of("beacon", [hit], [200])[0].text == ANSWER


SENTENCES = st.lists(
    st.sampled_from(
        ["One fish.", "Two fish swim!", "Was it red?", "- a point.", "", "Die Äpfel sind süß."]
    ),
    min_size=1,
    max_size=30,
).filter(any)


@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.sampled_from(["\n", "\n\n"]), st.integers(10, 200))
def test_what_is_shown_is_the_note_word_for_word_and_in_order(embedder, sentences, between, limit):
    text = between.join(sentences)
    shelf, query = Shelf(embedder), "was the fish red"
    hit = shelf.noted(text)
    chosen = shelf.excerpts.of(query, [hit], [limit])[0]
    assert of_stored(shelf, query, hit, limit) == chosen
    shown, at = chosen.text, 0
    for part in " ".join(shown.split()).split(CUT):
        plain = " ".join(text.split())
        at = plain.index(part.strip(), at) + len(part.strip())
