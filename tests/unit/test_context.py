"""Distilled contexts: what they quote, how much, in which form, and how they are cited."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memvault.model.memory import Lifecycle, Memory, UTLState, id_of_path
from memvault.model.note import LineRange
from memvault.model.provenance import Origin, OriginKind, OriginSpan, Provenance
from memvault.model.search import FoundBy, Hit, Hop
from memvault.model.verification import ConflictKind, Evidence, Status, Verification
from memvault.search.context.distil import Distiller
from memvault.search.context.forms import Context, ContextBudget, ContextForm, ids_of_citation, tags
from memvault.search.context.outline import Outlines
from memvault.search.context.parts import Leading, Source, sentence_parts
from memvault.search.context.scoring import Scores
from memvault.search.order import boosted_by_session, session_nearness
from memvault.search.times.question_time import QuestionTime
from memvault.search.times.time_spans import Calendar
from memvault.text.chunking import chunk_notes
from memvault.text.encoders.embedding import Embedder
from memvault.vault.files import Vault
from memvault.vault.parse import content_hash, parse_note

HARBOUR = """---
type: project
project: harbour
status: paused
---
# Harbour wall

The wall keeps the storm waves out of the inner basin. Dana Lund leads the repair until autumn.
Divers found **three cracks** below the [[Water line|waterline]] in March. The canteen serves soup on
Fridays.

## Costs

The repair costs 40,000 euros and the town pays half of it. Someone painted the bench green.

%% the mayor must not know %%
"""
BAKERY = """# Bakery

Bread is baked at four in the morning. Rye flour comes from the mill in the valley. The oven was
built in 1911.
"""
SCRIPT = """# Backups

Every night the server copies the database. The command below does it:

```bash
# dump, then compress
pg_dump main | gzip > /backup/main.gz
```

Restoring takes an hour.
"""
TEAM = """# Team

- Lead: Mira Sand
- Deputy: Otto Kaya
- Office: second floor
- Phone: 1234
"""


class Notes:
    """A vault on disk, its notes embedded as indexing embeds them, and recalled as given."""

    def __init__(self, root: Path, embedder: Embedder) -> None:
        self.vault = Vault(root)
        self.embedder = embedder
        self.memories: dict[str, Memory] = {}
        self.distiller = Distiller(Outlines(self.vault.read, embedder), embedder, self.starting)

    def starting(self, digits: str) -> Sequence[str]:
        return [m.id for m in self.memories.values() if m.id.replace("-", "").startswith(digits)]

    def add(self, path: str, text: str, **known: object) -> Memory:
        file = self.vault.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
        note = parse_note(path, file.read_bytes())
        memory = Memory(
            id=id_of_path(path),
            path=path,
            title=note.title,
            lifecycle=Lifecycle.PERMANENT,
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            content_hash=content_hash(file.read_bytes()),
            **known,
        )
        chunk_notes([(note, memory)], self.embedder)
        self.memories[path] = memory
        return memory

    def found(self, *paths: str, relevances: Sequence[float] = ()) -> list[Hit]:
        given_ = relevances or [0.9 - 0.05 * place for place in range(len(paths))]
        return [Hit(self.memories[path], each) for path, each in zip(paths, given_, strict=True)]

    def context(
        self, query: str, *paths: str, room: int = 400, form: ContextForm | None = None
    ) -> Context:
        return self.distiller.distil(query, self.found(*paths), ContextBudget(room), form)


@pytest.fixture
def notes(vault_folder: Path, embedder: Embedder) -> Notes:
    found = Notes(vault_folder, embedder)
    found.add("Harbour wall.md", HARBOUR, type="project", project="harbour",
              metadata={"status": "paused", "mood": "calm"})  # fmt: skip
    found.add("Bakery.md", BAKERY)
    found.add("ops/Backups.md", SCRIPT)
    found.add("Team.md", TEAM)
    return found


ALL = ("Harbour wall.md", "Bakery.md", "ops/Backups.md", "Team.md")


def quoted(context: Context) -> str:
    """The text without what frames the quotations: what is left must be the notes' own."""
    left = context.text
    for each in context.excerpts:
        for code in each.code:
            left = left.replace(code.block.text, "", 1)
        for statement in sorted(each.statements, key=lambda s: -len(s.quoted)):
            assert statement.quoted in left, statement.quoted
            left = left.replace(statement.quoted, "", 1)
        lines = f"{each.lines.first}-{each.lines.last}"
        for known in (
            f"{each.memory.title} ({each.memory.path}:{lines}) [{each.tag}]",
            f"[{each.tag}]",
            " · ".join(each.properties),
            each.memory.title,
        ):
            left = left.replace(known, "")
    return re.sub(r"```+\w*|##|^ *- ?|\s", "", left, flags=re.MULTILINE)


def assert_traceable(context: Context, notes: Notes) -> None:
    assert quoted(context) == ""
    for each in context.excerpts:
        data = notes.vault.read(each.memory.path)
        note = parse_note(each.memory.path, data)
        sentences = {sentence.text for block in note.blocks for sentence in block.sentences}
        sentences |= {block.text for block in note.blocks} | {head.text for head in note.headings}
        raw = data.decode().split("\n")
        for statement in each.statements:
            assert statement.text in sentences
            stands = " ".join(raw[statement.lines.first - 1 : statement.lines.last])
            for word in re.findall(r"\w+", statement.text):
                assert word in stands
        for code in each.code:
            assert all(line.strip() in data.decode() for line in code.block.text.split("\n"))


@pytest.mark.parametrize("form", [None, *ContextForm])
@pytest.mark.parametrize("room", [100, 160, 400, 8192])
def test_every_form_quotes_word_for_word_and_keeps_the_budget(notes, embedder, form, room):
    context = notes.context("Who leads the repair of the wall?", *ALL, room=room, form=form)
    assert context.tokens == embedder.tokens.count(context.text) <= room
    assert context.text
    assert form is None or context.form is form
    assert_traceable(context, notes)
    assert "mayor" not in context.text


def test_of_listed_notes_the_first_sentence_of_each_is_quoted_before_any_second(notes):
    found = notes.found("Bakery.md", "Harbour wall.md", "ops/Backups.md")
    for hit in found:
        hit.relevance, hit.found_by = 1.0, FoundBy.LIST
    room = ContextBudget(95)
    context = notes.distiller.distil("What is new?", found, room, ContextForm.NARRATIVE)
    firsts = ["Bread is baked at four in the morning.", "The wall keeps the storm waves out",
              "Every night the server copies the database."]  # fmt: skip
    places = [context.text.index(first) for first in firsts]
    assert places == sorted(places)
    assert "The oven was" not in context.text
    assert "Restoring" not in context.text


def test_of_a_day_that_is_past_all_that_its_note_says_comes_first(notes):
    day = datetime(2026, 3, 9, tzinfo=UTC)
    notes.add("9 March.md", "Ice gone.\n\n- swept the yard\n- 4 letters\n\nLate soup.\n", date=day)
    events = ("fell", "was sold", "was found", "burned", "opened", "was repaired", "was closed")
    diary = "".join(f"What happened: on 9 March the mill {event}.\n\n" for event in events)
    notes.add("Mill.md", diary)
    query, calendar = "What happened on 9 March 2026?", Calendar(date(2026, 5, 1))
    found = notes.found("9 March.md", "Mill.md", relevances=(1.0, 1.0))
    context = notes.distiller.distil(
        query, found, ContextBudget(90), ContextForm.NARRATIVE,
        QuestionTime.read(query, calendar),
    )  # fmt: skip
    for sentence in ("Ice gone.", "swept the yard", "4 letters", "Late soup."):
        assert sentence in context.text


def test_what_is_latest_is_the_latest_row_of_a_log_that_is_about_it(notes):
    rows = "".join(f"| 2025-0{month}-03 | {60 + month} |\n" for month in range(1, 9))
    notes.add("Weight.md", f"# Weight\n\n| day | kilos |\n|---|---|\n{rows}| 2125-01-01 | 60 |\n")
    days = "".join(f"## 0{month}.03.2025\n\nSwam {month} lengths.\n\n" for month in range(1, 9))
    notes.add("Swimming.md", f"# Swimming\n\n{days}")
    notes.add(
        "House.md", "- 2025-03-01: the roof leaks at the chimney\n- 2025-05-02: oiled the door\n"
    )
    room = ContextBudget(45)
    for question, path, first, last in (
        ("What is my latest weight?", "Weight.md", "2025-01-03", "2025-08-03"),
        ("How many lengths do I swim now?", "Swimming.md", "Swam 1 ", "Swam 8 "),
        ("How long was my last swim?", "Swimming.md", "Swam 1 ", "Swam 8 "),
        ("What is the latest on the roof?", "House.md", "door", "chimney"),
    ):
        found, form = notes.found(path), ContextForm.NARRATIVE
        text = notes.distiller.distil(question, found, room, form).text
        assert last in text and (first not in text or text.index(last) < text.index(first)), text


def test_of_open_tasks_the_latest_is_not_first_where_the_question_asks_for_now(notes):
    notes.add(
        "List.md",
        "# List\n\n- [ ] Water the tomatoes in the greenhouse 📅 2025-03-01\n"
        "- [ ] Pay the dentist 📅 2025-04-01\n- [ ] Sell the old piano 📅 2025-05-01\n",
    )
    question = "What do I have to do in the greenhouse now?"
    text = notes.distiller.distil(question, notes.found("List.md"), ContextBudget(45)).text
    assert "tomatoes" in text and "piano" not in text


def test_a_question_for_a_time_gets_the_dates_of_notes(notes):
    day = datetime(2026, 6, 9, tzinfo=UTC)
    notes.add("Regatta.md", "Four boats race around the buoy.\n", date=day)
    query, calendar = "Which races are planned in June?", Calendar(date(2026, 5, 1))
    context = notes.distiller.distil(
        query, notes.found("Regatta.md"), ContextBudget(90), ContextForm.NARRATIVE,
        QuestionTime.read(query, calendar),
    )  # fmt: skip
    assert "date: 2026-06-09" in context.text
    assert "date:" not in notes.context(query, "Regatta.md", form=ContextForm.NARRATIVE).text


def test_a_budget_that_is_left_over_gets_the_rest_of_the_first_notes_section(notes):
    others = ("Tea with lemon cake was served to all of the neighbours on the terrace.",
              "Nobody had thought of bringing a rope that reaches from here to the mill.",
              "Later the priest read aloud a very long letter from his brother in Peru.",
              "It was about parrots, and two of the children fell asleep on the warm bench.",
              "The band had been asked for eight but played until well after midnight.")  # fmt: skip
    notes.add("Well.md", "\n\n".join(("Ada Berg swept the well in May.", *others)))
    query = "When did Ada Berg sweep the well?"
    context = notes.context(query, "Well.md", "Bakery.md", form=ContextForm.NARRATIVE)
    assert others[-1] in context.text
    assert "The oven was" not in context.text


def test_a_short_note_that_comes_first_is_quoted_whole(notes):
    """The words of the line that answers may be other ones than those of the question."""
    notes.add("Otto.md", "Otto, our son, lives in Faro.\n\nGets 250 a month.\n\nNo peanuts!\n")
    harbours = [f"Harbour {number}.md" for number in range(12)]
    for path in harbours:
        notes.add(path, f"The son of the keeper of {path[:-3]} lives in Faro, in the old school.\n")
    query = "What does our son Otto in Faro not tolerate?"
    context = notes.context(query, "Otto.md", *harbours, room=200, form=ContextForm.NARRATIVE)
    assert "No peanuts!" in context.text


@pytest.mark.parametrize(
    "text",
    [
        "- My machines are these:\n  - paramita\n  - nostromo\n- The postman came.\n",
        "My machines are these:\n\n1) paramita\n2) nostromo\n\nThe postman came.\n",
    ],
)
def test_a_line_that_ends_in_a_colon_is_quoted_with_the_list_below_it(notes, embedder, text):
    notes.add("House.md", text)
    (hit,) = notes.found("House.md")
    (outline,) = Outlines(notes.vault.read, embedder).of([hit])
    source = Source(0, hit, outline, Scores(np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(0)))
    (part,) = sentence_parts([source], None, max_table_tokens=0, max_list_tokens=60)
    assert part.statements == range(3)


def test_a_sentence_of_a_log_is_quoted_with_the_day_above_it(notes):
    log = "## 8 January 2025\n\nBegan the site.\n\n## 19 February 2025\n\nAdded the long chapter.\n"
    notes.add("Site.md", f"# Site\n\n{log}")
    query = "When did I add the long chapter?"
    context = notes.context(query, "Site.md", *ALL, room=90, form=ContextForm.NARRATIVE)
    assert "19 February 2025: Added the long chapter." in context.text


def test_the_sentence_that_answers_is_kept_and_the_chatter_left_out(notes):
    query = "Who leads the repair of the wall?"
    context = notes.context(query, *ALL, room=60, form=ContextForm.NARRATIVE)
    assert "Dana Lund leads the repair until autumn." in context.text
    assert "soup" not in context.text
    assert "1911" not in context.text
    best = context.excerpts[0]
    assert best.memory.title == "Harbour wall"
    assert 8 in range(best.lines.first, best.lines.last + 1)
    assert context.compression > 0.5
    assert context.compression == pytest.approx(1 - context.tokens / context.source_tokens)


def test_sentences_far_below_the_best_of_their_note_are_left_out(notes, embedder):
    hits = notes.found("Bakery.md", "Harbour wall.md")
    outlines = Outlines(notes.vault.read, embedder).of(hits)
    scores = [np.full(len(outline.statements), 0.22) for outline in outlines]
    scores[0][:] = 0.4  # a note of which nothing is far below its best
    scores[1][1] = 1.0
    sources = [
        Source(place, hit, outline, Scores(of_note, np.zeros(0)))
        for place, (hit, outline, of_note) in enumerate(zip(hits, outlines, scores, strict=True))
    ]
    found = sentence_parts(sources, Leading(1), max_table_tokens=0, max_list_tokens=0)
    assert [part.memory for part in found].count(0) == len(outlines[0].statements)
    assert [part.score for part in found if part.memory == 1] == [1.0]


def test_links_and_emphasis_are_shown_as_they_read(notes):
    context = notes.context(
        "cracks below the waterline", "Harbour wall.md", form=ContextForm.NARRATIVE
    )
    assert "Divers found three cracks below the waterline in March." in context.text


def test_excerpts_stand_in_the_order_of_the_note_and_memories_by_relevance(notes):
    context = notes.context("repair costs, divers, bread, flour", *ALL, form=ContextForm.NARRATIVE)
    places = [ALL.index(each.memory.path) for each in context.excerpts]
    assert places == sorted(places)
    for each in context.excerpts:
        lines = [statement.lines for statement in each.statements]
        assert lines == sorted(lines)


def test_what_two_notes_say_alike_is_said_once(notes):
    notes.add("Wall again.md", "# Wall again\n\nDana Lund leads the repair until autumn.\n")
    paths = ("Harbour wall.md", "Wall again.md")
    context = notes.context("Who leads the repair?", *paths, form=ContextForm.NARRATIVE)
    assert context.text.count("Dana Lund leads the repair until autumn.") == 1


def test_what_another_note_says_in_nearly_the_same_words_is_left_out(notes):
    notes.add("Wall again.md", "# Wall again\n\nDana Lund leads the repair until the autumn.\n")
    notes.add("Wall first.md", "# Wall first\n\nDana Lund leads the repair until autumn.\n")
    paths = ("Wall first.md", "Wall again.md")
    context = notes.context("Who leads the repair?", *paths, form=ContextForm.NARRATIVE)
    assert [each.memory.title for each in context.excerpts] == ["Wall first"]


def test_what_differs_in_a_number_is_said_for_each_note(notes):
    for day, pages in ((1, 12), (2, 14), (3, 15)):
        notes.add(f"Day {day}.md", f"# Day {day}\n\nI wrote {pages} pages of the novel.\n")
    context = notes.context("How many pages did I write?", *(f"Day {day}.md" for day in (1, 2, 3)))
    assert all(f"{pages} pages" in context.text for pages in (12, 14, 15))


def test_a_line_with_a_label_is_said_for_each_note_though_it_is_the_same(notes):
    for name in ("Ada", "Bo"):
        notes.add(f"{name}.md", f"# {name}\n\nOffice:: second floor\n")
    context = notes.context("Where is the office?", "Ada.md", "Bo.md")
    assert context.text.count("second floor") == 2


def test_a_title_is_above_prose_that_does_not_contain_it(notes):
    context = notes.context("What is baked at four?", "Bakery.md", form=ContextForm.NARRATIVE)
    assert context.text.startswith("Bakery\nBread is baked at four in the morning.")
    assert context.text.endswith(f"[{context.excerpts[0].tag}]")


def test_structured_bullets_have_title_place_and_the_properties_that_matter(notes):
    context = notes.context(
        "What is the status of the wall?", "Harbour wall.md", form=ContextForm.STRUCTURED
    )
    head, properties, *bullets = context.text.split("\n")
    assert re.fullmatch(r"## Harbour wall \(Harbour wall\.md:\d+-\d+\) \[node_[0-9a-f]{8}\]", head)
    assert properties == "type: project · project: harbour · status: paused"
    assert all(line.startswith("- ") for line in bullets)


@pytest.mark.parametrize("form", [ContextForm.RAW, ContextForm.NARRATIVE, ContextForm.STRUCTURED])
def test_table_rows_have_their_heads_and_tasks_their_boxes(notes, form):
    notes.add(
        "Keys.md",
        "# Keys\n\n| Door | Held by |\n|---|---|\n| Boiler room | Ines Okoro |\n| Attic | nobody |\n\n"
        "- [ ] Copy the key of the boiler room\n- [x] Copy the key of the attic\n",
    )
    text = notes.context("Who holds the key of the boiler room?", "Keys.md", form=form).text
    assert "Door: Boiler room | Held by: Ines Okoro" in text
    assert "[ ] Copy the key of the boiler room" in text
    assert "Door | Held by" not in text and "- - " not in text


def test_all_rows_of_a_table_are_quoted_for_a_question_that_counts_or_compares_them(notes):
    rows = [
        ("Lower", "2019", "oak", "passed"), ("Upper", "2021", "pine", "not yet"),
        ("North", "2018", "oak", "passed"), ("South", "2023", "larch", "passed"),
        ("Tithe", "2020", "pine", "passed"), ("Stone", "2022", "oak", "not yet"),
    ]  # fmt: skip
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    head = "| Barn | Built | Wood | Inspection |\n|---|---|---|---|\n"
    notes.add("Barns.md", f"# Barns\n\nAll barns that have passed an inspection.\n\n{head}{table}")
    for name in ("Doors", "Floors", "Roofs"):
        lines = [f"- The {name.lower()} of barn {n} passed the inspection {n}" for n in range(8)]
        notes.add(f"{name}.md", f"# {name}\n\n" + "\n".join(lines) + "\n")
    paths = ["Barns.md", "Doors.md", "Floors.md", "Roofs.md"]
    for question in (
        "How many barns have not passed the inspection?", "Which barn has the oldest inspection?"
    ):  # fmt: skip
        text = notes.context(question, *paths, room=300).text
        assert [name for name, *_ in rows if f"Barn: {name}" not in text] == [], question


def test_code_comes_first_and_whole_with_the_sentence_that_introduces_it(notes):
    context = notes.context(
        "How is the database dumped?", "ops/Backups.md", form=ContextForm.CODE_FOCUSED
    )
    lines = context.text.split("\n")
    assert lines[1] == "The command below does it:"
    assert "\n".join(lines[2:6]) == (
        "```bash\n# dump, then compress\npg_dump main | gzip > /backup/main.gz\n```"
    )
    assert context.excerpts[0].code[0].lines == LineRange(5, 8)


def test_code_too_long_for_the_budget_is_cut_between_lines(notes):
    body = "\n".join(f"value_{number} = compute(first, second, {number})" for number in range(60))
    notes.add("Long.md", f"# Long\n\nThe values:\n\n```python\n{body}\n```\n")
    context = notes.context("values compute", "Long.md", room=150, form=ContextForm.CODE_FOCUSED)
    code = context.excerpts[0].code[0].block
    assert 1 < code.text.count("\n") < 60
    assert body.startswith(code.text + "\n")
    assert code.lines.first == 5
    assert code.lines.last == 5 + code.text.count("\n") + 1
    assert context.tokens <= 150


def test_fences_are_longer_than_the_backticks_in_the_code(notes):
    notes.add("Fences.md", "# Fences\n\nHow to fence:\n\n````md\n```js\nlet a\n```\n````\n")
    context = notes.context("how to fence", "Fences.md", form=ContextForm.CODE_FOCUSED)
    assert "````md\n```js\nlet a\n```\n````" in context.text


@pytest.mark.parametrize(
    ("query", "paths", "room", "form"),
    [
        ("How is the database dumped?", ("ops/Backups.md",), 400, ContextForm.CODE_FOCUSED),
        ("When is bread baked?", ("Bakery.md",), 400, ContextForm.RAW),
        ("Who leads the team?", ("Team.md", "Bakery.md"), 60, ContextForm.STRUCTURED),
        ("Who leads the repair of the wall?", ("Harbour wall.md", "Bakery.md"), 100, ContextForm.NARRATIVE),
    ],
)  # fmt: skip
def test_the_form_follows_from_the_content_when_none_is_asked_for(notes, query, paths, room, form):
    assert notes.context(query, *paths, room=room).form is form


def test_words_of_other_languages_match_by_their_parts(notes):
    parts = ("Korpus", "Hals", "Kopf", "Steg", "Boden", "Sattel", "Decken", "Zargen")
    lines = [f"Die {part}breite ist {number} mm." for number, part in enumerate(parts, 41)]
    intro = "Das sind die Maße der Gitarre von Mia, die sie von mir hat."
    notes.add("Notes.md", "# Notes\n\n" + "\n\n".join([intro, *lines]) + "\n")
    question = "Wie breit ist der Sattel?"
    context = notes.context(question, "Notes.md", room=60, form=ContextForm.NARRATIVE)
    assert "Die Sattelbreite ist 46 mm." in context.text


def test_code_of_later_notes_does_not_push_out_what_the_first_one_says(notes):
    code = "\n".join(f"oven_{number} = heat(bread, {number})" for number in range(40))
    notes.add("Oven.md", f"# Oven\n\nThe oven of the site:\n\n```python\n{code}\n```\n")
    context = notes.context("When was the oven built?", "Bakery.md", "Oven.md", room=100)
    assert context.form is not ContextForm.CODE_FOCUSED
    assert "The oven was built in 1911." in context.text


def test_code_of_other_notes_is_quoted_only_if_the_client_wants_code(notes):
    commands = "\n".join(f"kiln --start --shelf {shelf}" for shelf in range(12))
    notes.add(
        "Kiln.md",
        f"# Kiln\n\nThe kiln is started so:\n\n```bash\n{commands}\n```\n\n"
        "## Care\n\nAsh is swept out of its flue on Mondays.\n",
    )
    pieces = "\n\n".join(
        f"The kiln of hall {hall}:\n\n```bash\nkiln --stop --hall {hall} --ash --flue\n```"
        for hall in range(8)
    )
    notes.add("Halls.md", f"# Halls\n\n{pieces}\n")
    question = "When is the ash swept out of the flue of the kiln?"
    context = notes.context(question, "Kiln.md", "Halls.md", room=220)
    assert context.form is ContextForm.CODE_FOCUSED
    assert "--shelf 3" in context.text
    assert "Ash is swept out of its flue on Mondays." in context.text
    assert "--stop" not in context.text
    wanted = notes.context(question, "Kiln.md", "Halls.md", room=220, form=ContextForm.CODE_FOCUSED)
    assert "--stop" in wanted.text


def test_a_diagram_takes_no_room_from_what_the_note_says(notes):
    steps = "\n".join(f"  step{step} --> step{step + 1}: oven at {step}" for step in range(40))
    text = "The oven is lit by hand at five, and it holds forty loaves."
    notes.add("Oven.md", f"# Oven\n\nWho lights the oven:\n\n```mermaid\n{steps}\n```\n\n{text}\n")
    context = notes.context("When is the oven lit?", "Oven.md", room=120)
    assert context.form is not ContextForm.CODE_FOCUSED
    assert text in context.text


def test_a_query_of_a_plugin_is_no_code(notes):
    query = "list from [[#]] where contains(file.outlinks, this.file.link)"
    notes.add("Mast.md", f"# Mast\n\nIt is of larch.\n\n## Back\n\n```dataview\n{query}\n```\n")
    context = notes.context("Of which wood is the mast?", "Mast.md", "Bakery.md", room=60)
    assert context.form is not ContextForm.CODE_FOCUSED
    assert "outlinks" not in context.text


def test_what_fits_is_given_whole_and_nothing_counts_as_saved(notes):
    context = notes.context("When is bread baked?", "Bakery.md", "Team.md")
    assert context.form is ContextForm.RAW
    assert context.compression == 0.0
    for sentence in ("The oven was built in 1911.", "Phone: 1234"):
        assert sentence in context.text.replace("\n", " ")


def test_a_sentence_that_states_a_hop_is_quoted_whatever_its_words(notes):
    mill = "# Mill\n\nThe mill grinds flour for us.\n\n## More\n\nIt is Bela Nagy's own.\n"
    notes.add("Valley mill.md", mill)
    [plain] = notes.found("Valley mill.md")
    step = Hop("Mill", "owner", "Bela Nagy", "Valley mill.md", "It is Bela Nagy's own.")
    led = Hit(plain.memory, plain.relevance, hops=(step,))
    query = "Who buys the flour that the mill grinds for us?"

    def quoted_text(hit: Hit) -> str:
        room = ContextBudget(40)
        return notes.distiller.distil(query, [hit], room, ContextForm.NARRATIVE).text

    assert "Bela Nagy" not in quoted_text(plain)
    assert "It is Bela Nagy's own." in quoted_text(led)


def test_a_note_that_a_link_led_to_has_a_sentence_in_other_words_than_the_question(notes):
    quay = "# Quay\n\n" + "".join(f"The crane on the quay lifts boat {n}.\n\n" for n in range(9))
    notes.add("Quay.md", quay)
    notes.add("Bela Nagy.md", "# Bela Nagy\n\nBorn in Szeged.\n")
    first, linked = notes.found("Quay.md", "Bela Nagy.md")
    step = Hop("Quay", "keeper", "Bela Nagy", "Quay.md", "The keeper is Bela Nagy.")
    query = "Where does the keeper of the crane on the quay that lifts a boat come from?"

    def quotes(hit: Hit) -> bool:
        context = notes.distiller.distil(
            query, [first, hit], ContextBudget(60), ContextForm.NARRATIVE
        )
        return "Born in Szeged." in context.text

    assert not quotes(linked)
    assert quotes(replace(linked, hops=(step,), confidence=0.3))
    assert not quotes(replace(linked, hops=(step,), confidence=0.05))
    by_client = Provenance(spans=(OriginSpan(1, 3, Origin(kind=OriginKind.CLIENT)),))
    claim = linked.memory.model_copy(update={"provenance": by_client})
    assert not quotes(replace(linked, memory=claim, hops=(step,), confidence=0.3))
    said = ConflictKind.SUPERSESSION.value
    newer = Evidence("new", "new", "new.md", LineRange(1, 1), "supersedes", said)
    superseded = replace(linked.verification, contradicted_by=(newer,))
    assert not quotes(replace(linked, verification=superseded, hops=(step,), confidence=0.3))


def test_a_note_that_is_gone_or_empty_is_passed_over(notes):
    (notes.vault.root / "Bakery.md").unlink()
    notes.add("Empty.md", "---\ntype: note\n---\n")
    found = notes.found("Bakery.md", "Empty.md", "Team.md")
    context = notes.distiller.distil("lead", found, ContextBudget(400), None)
    assert {each.memory.path for each in context.excerpts} <= {"Team.md", "Empty.md"}
    assert "Mira Sand" in context.text


def test_nothing_found_makes_an_empty_context(notes):
    context = notes.distiller.distil("anything", [], ContextBudget(400), None)
    assert (context.text, context.tokens, context.compression) == ("", 0, 0.0)


def test_of_a_huge_note_the_passage_that_was_found_is_quoted(notes):
    line = "Gulls nest on the roof of the customs house. They leave in August.\n\n"
    memory = notes.add("Huge.md", "# Huge\n\n" + line * 1_200)
    passage = "Gulls nest on the roof of the customs house. They leave in August."
    found = [Hit(memory, 0.9, heading="Birds", lines=LineRange(5, 5), text=passage)]
    context = notes.distiller.distil(
        "Where do gulls nest?", found, ContextBudget(200), ContextForm.NARRATIVE
    )
    assert "Gulls nest on the roof of the customs house." in context.text
    assert context.excerpts[0].lines == LineRange(5, 5)
    assert context.excerpts[0].heading == "Birds"


def test_a_changed_note_is_read_again(notes):
    notes.context("bread", "Bakery.md")
    notes.add("Bakery.md", "# Bakery\n\nBread is baked at noon.\n")
    assert "at noon" in notes.context("bread", "Bakery.md").text


def test_a_note_is_read_again_if_its_words_turn_out_to_be_anothers(notes):
    memory = notes.memories["Bakery.md"]
    texts = [b"Bread and claims.\n", b"Bread.\n"]
    outlines = Outlines(lambda path: texts.pop(0), notes.embedder)
    spans = (OriginSpan(1, 1, Origin(kind=OriginKind.CLIENT, name="eve")),)
    mixed = memory.model_copy(update={"provenance": Provenance(spans=spans, own="bread")})
    for each, expected in ((memory, "Bread and claims."), (mixed, "Bread."), (mixed, "Bread.")):
        (outline,) = outlines.of([Hit(each, 0.9)])
        assert outline is not None
        assert [statement.text for statement in outline.statements] == [expected]


def test_a_budget_that_the_sources_use_up_leaves_a_sentence_or_two(notes):
    room = ContextBudget(10, lambda memories: [80] * len(memories), first_memory_tokens=40)
    found = notes.found(*ALL)
    context = notes.distiller.distil("Who leads the repair of the wall?", found, room, None)
    assert len(context.excerpts) == 1
    assert 0 < context.tokens <= 40


def test_where_no_sentence_fits_the_best_one_is_begun(notes, embedder):
    sentence = "Kelp " + " ".join(f"grows by reef number {number}" for number in range(60)) + "."
    notes.add("Kelp.md", f"# Kelp\n\n{sentence}\n")
    context = notes.context(
        "Where does kelp grow?", "Kelp.md", room=100, form=ContextForm.NARRATIVE
    )
    begun, rest = context.text.split(" …")
    assert sentence.startswith(begun.removeprefix("Kelp\n"))
    assert rest.startswith(" [node_")
    assert 80 < context.tokens <= 100


# -- generated notes -------------------------------------------------------------------------------

WORD = st.sampled_from(
    ["wall", "storm", "basin", "repair", "diver", "bread", "mill", "oven", "kelp"]
)
SENTENCE = st.lists(WORD, min_size=2, max_size=7).map(lambda words: " ".join(words).capitalize())
BLOCK = st.one_of(
    st.lists(SENTENCE, min_size=1, max_size=4).map(lambda said: ". ".join(said) + "."),
    st.lists(SENTENCE, min_size=1, max_size=3).map(lambda said: "\n".join(f"- {s}" for s in said)),
    SENTENCE.map(lambda said: f"> [!note] {said}\n> {said} again."),
    SENTENCE.map(lambda said: f"| a | b |\n| - | - |\n| {said} | two |"),
    SENTENCE.map(lambda said: f"## {said}"),
    SENTENCE.map(lambda said: f"It was **{said}** in [[Some note|the note]] #tag/sub. _{said}_!"),
    SENTENCE.map(lambda said: f"owner:: {said}\n\n1. {said}\n2. `{said}` is code"),
    SENTENCE.map(lambda said: f"```python\nprint('{said}')\n\nreturn 1\n```"),
    st.just("%% SECRET plan %%"),
    st.just("%%\nSECRET too\n%%"),
    st.just("<!-- SECRET three -->"),
    SENTENCE.map(lambda said: f"    indented {said}\n    code"),
)
NOTE = st.lists(BLOCK, min_size=1, max_size=8).map("\n\n".join)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(NOTE, min_size=1, max_size=4),
    query=SENTENCE,
    form=st.sampled_from([None, *ContextForm]),
    room=st.integers(min_value=100, max_value=600),
)
@example(texts=["Wall wall. Wall wall.\n\n```\nreturn 1\n```"], query="Wall", form=None, room=300)
def test_whatever_the_notes_hold_every_sentence_is_theirs(
    tmp_path_factory, embedder, texts, query, form, room
):
    notes = Notes(tmp_path_factory.mktemp("vault"), embedder)
    paths = [f"Note {number}.md" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        notes.add(path, text)
    context = notes.context(query, *paths, room=room, form=form)
    assert context.tokens <= room
    assert "SECRET" not in context.text
    assert 0.0 <= context.compression <= 1.0
    assert_traceable(context, notes)


# -- citations -------------------------------------------------------------------------------------

ONE = "550e8400-e29b-41d4-a716-446655440001"
TWIN = "550e8400-e29b-41d4-a716-446655440002"
OTHER = "d929ebc3-ea96-54bb-9c19-1d7b661a5996"


def among(*ids: str) -> Callable[[str], Sequence[str]]:
    return lambda digits: [each for each in ids if each.replace("-", "").startswith(digits)]


def test_a_tag_is_the_first_eight_digits_or_as_many_as_tell_it_apart():
    found = tags([ONE, OTHER], among(ONE, TWIN, OTHER))
    assert found == {ONE: "node_550e8400e29b41d4a716446655440001", OTHER: "node_d929ebc3"}


@pytest.mark.parametrize(
    ("tag", "ids"),
    [
        ("node_d929ebc3", [OTHER]),
        ("[node_d929ebc3]", [OTHER]),
        ("d929", [OTHER]),
        (OTHER, [OTHER]),
        ("node_D929EBC3ea96", [OTHER]),
        ("node_550e8400", [ONE, TWIN]),
        ("node_ffffffff", []),
        ("node_xyz", None),
        ("", None),
        ("a", None),
    ],
)
def test_a_tag_is_read_however_it_is_written(tag, ids):
    assert ids_of_citation(tag, among(ONE, TWIN, OTHER)) == ids


@given(st.lists(st.uuids(), min_size=1, max_size=20, unique=True), st.data())
def test_every_tag_leads_back_to_its_memory(uuids: list[UUID], data):
    ids = [str(each) for each in uuids]
    one = data.draw(st.sampled_from(ids))
    assert ids_of_citation(tags([one], among(*ids))[one], among(*ids)) == [one]


# -- the session's colour --------------------------------------------------------------------------


def hit(key: str, relevance: float) -> Hit:
    memory = Memory(
        id=key,
        path=f"{key}.md",
        title=key,
        lifecycle=Lifecycle.PERMANENT,
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    return Hit(memory, relevance)


def test_what_a_session_has_seen_wins_near_ties_only():
    found = [hit("a", 0.80), hit("b", 0.78), hit("c", 0.70)]
    near = session_nearness(["a", "b", "c"], ["b", "c"], {"a": set(), "b": set(), "c": set()})
    assert [each.memory.id for each in boosted_by_session(found, near)] == ["b", "a", "c"]


def test_what_is_superseded_stays_behind_what_superseded_it_though_a_session_has_seen_it():
    old, new = hit("old", 0.80), hit("new", 0.79)
    relation = ConflictKind.SUPERSESSION.value
    newer = Evidence("new", "new", "new.md", LineRange(1, 1), "supersedes old", relation)
    old.verification = replace(old.verification, contradicted_by=(newer,))
    ordered = boosted_by_session([new, old], {"old": 1.0})
    assert [each.memory.id for each in ordered] == ["new", "old"]


def test_a_neighbour_of_what_was_seen_gets_half_the_bonus():
    near = session_nearness(["a", "b"], ["x"], {"a": set(), "b": {"x"}})
    assert near == {"b": 0.5}
    ordered = boosted_by_session([hit("a", 0.80), hit("b", 0.78)], near)
    assert [each.memory.id for each in ordered] == ["b", "a"]


@given(
    st.lists(st.floats(min_value=0.01, max_value=1.0), min_size=1, max_size=12),
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=12, max_size=12),
)
def test_colour_never_lifts_a_memory_over_one_clearly_more_relevant(relevances, near):
    found = [hit(str(place), each) for place, each in enumerate(sorted(relevances, reverse=True))]
    before = {each.memory.id: each.relevance for each in found}
    ordered = boosted_by_session(found, {str(place): each for place, each in enumerate(near)})
    assert sorted(each.memory.id for each in ordered) == sorted(before)
    shown = [each.relevance for each in ordered]
    assert shown == sorted(shown, reverse=True)
    for place, each in enumerate(ordered):
        for later in ordered[place + 1 :]:
            assert before[each.memory.id] * 1.1 >= before[later.memory.id] * (1 - 1e-9)


# -- the learning score ----------------------------------------------------------------------------


def test_the_learning_score_is_the_geometric_mean_modulated_by_affect_and_phase():
    def score(delta_s: float, delta_c: float, w_e: float = 1.0, phi: float = 0.0) -> float:
        return UTLState(delta_s=delta_s, delta_c=delta_c, w_e=w_e, phi=phi).learning_score

    assert score(0.36, 0.64) == pytest.approx(0.48)
    assert score(0.0, 1.0) == 0.0
    assert score(1.0, 1.0, 1.5) == 1.0
    assert score(0.36, 0.64, 1.5) > score(0.36, 0.64) > score(0.36, 0.64, 0.5)
    assert score(0.36, 0.64, phi=math.pi / 3) == pytest.approx(0.48 * math.sqrt(0.5))
    assert score(1.0, 1.0, phi=math.pi) == 0.0


@pytest.mark.parametrize("form", [None, *ContextForm])
def test_a_note_without_text_is_quoted_by_the_properties_that_answer(notes, form):
    notes.add("Bill 17.md", "---\namount: 240 EUR\npaid: no\n---\n", metadata={"amount": "240 EUR"})
    notes.add("Empty.md", "---\nlang: fr\n---\n", metadata={"lang": "fr"})
    found = notes.found("Bill 17.md", "Empty.md", "Bakery.md", relevances=[0.9, 0.9, 0.2])
    budget = ContextBudget(200)
    context = notes.distiller.distil("What is the amount of bill 17?", found, budget, form)
    assert context.text.count("amount: 240 EUR") == 1
    assert "lang" not in context.text
    assert context.excerpts[0].memory.path == "Bill 17.md"


@pytest.mark.parametrize("form", [None, *ContextForm])
def test_a_superseded_note_is_marked_and_gives_way_where_space_is_short(notes, form):
    notes.add("Plan.md", "# Plan\n\nThe wall is repaired with concrete in April.\n")
    notes.add("New plan.md", "# New plan\n\nThe wall is repaired with granite in May.\n")
    said = ConflictKind.SUPERSESSION.value
    newer = Evidence("new", "New plan", "New plan.md", LineRange(1, 1), "supersedes Plan", said)
    status = Verification(Status.CONTRADICTED, 0.3, by_person=True, answers=True)

    def context(room: int, by: Evidence) -> str:
        old, new = notes.found("Plan.md", "New plan.md", relevances=[0.9, 0.8])
        old.verification = replace(status, contradicted_by=(by,))
        budget = ContextBudget(room)
        query = "With what is the wall repaired?"
        return notes.distiller.distil(query, [old, new], budget, form).text

    assert "(superseded by New plan)" in context(300, newer)
    small = context(45, newer)
    assert "granite" in small
    assert "concrete" not in small
    claimed = context(300, replace(newer, is_claim=True))
    assert "superseded" not in claimed


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much was the kettle?", "price: 49 EUR"),
        ("When did I get the kettle?", "bought: 2024-11-02"),
        ("Is the kettle still under guarantee?", "warranty_until: 2027-11-02"),
        ("How heavy is the kettle?", "weight: 2 kg"),
    ],
)
def test_a_property_in_other_words_than_the_question_is_quoted(notes, question, answer):
    notes.add(
        "Kettle.md",
        "# Kettle\n\nStands next to the sink. It whistles.\n",
        metadata={
            "maker": "Alvord",
            "price": "49 EUR",
            "bought": "2024-11-02",
            "warranty_until": "2027-11-02",
            "weight": "2 kg",
        },
    )
    assert answer in notes.context(question, "Kettle.md", room=60).text


@pytest.mark.parametrize("room", [110, 400])
def test_notes_with_one_text_and_other_properties_are_each_quoted_once(notes, room):
    paths = [f"tools/{name}.md" for name in ("Plane", "Saw", "Lathe")]
    for number, path in enumerate(paths, 1):
        text = "Bought for the workshop. Works with the standard battery.\n"
        notes.add(path, text, metadata={"price": 300 * number})
    context = notes.context(
        "How much was each tool?", *paths, room=room, form=ContextForm.NARRATIVE
    )
    assert [each.properties for each in context.excerpts] == [
        ("price: 300",), ("price: 600",), ("price: 900",)]  # fmt: skip
    assert sum(len(each.statements) for each in context.excerpts) == 4  # two and one and one


def test_the_first_memory_is_quoted_though_sentences_of_others_have_more_words(notes):
    notes.add("Plan.md", "# Plan\n\nIt was put off until the autumn.\n")
    query = "When is the repair of the wall led?"
    context = notes.context(
        query, "Plan.md", "Harbour wall.md", room=60, form=ContextForm.STRUCTURED
    )
    assert context.excerpts[0].memory.path == "Plan.md"


def test_a_budget_that_is_left_is_used_for_less_relevant_sentences(notes):
    notes.add("Fence.md", "# Fence\n\nThe repair of the fence is over.\n")
    found = notes.found("Harbour wall.md", "Fence.md", relevances=[0.9, 0.52])
    query = "Who leads the repair of the wall?"

    def quoted_paths(room: int) -> list[str]:
        budget = ContextBudget(room)
        context = notes.distiller.distil(query, found, budget, ContextForm.NARRATIVE)
        return [each.memory.path for each in context.excerpts]

    assert quoted_paths(60) == ["Harbour wall.md"]
    assert quoted_paths(400) == ["Harbour wall.md", "Fence.md"]


def test_open_tasks_of_the_time_come_before_other_tasks_and_ticked_ones(notes):
    tasks = """# Tasks

- [x] Do the accounts that I have to do this week
- [ ] Oil the hinges 📅 2026-12-20
- [ ] Water the plants
- [ ] Renew the card 📅 2026-11-20
"""
    notes.add("Tasks.md", tasks)
    query = "What do I have to do this week?"
    time = QuestionTime.read(query, Calendar(date(2026, 11, 18)))
    room = ContextBudget(30)
    context = notes.distiller.distil(
        query, notes.found("Tasks.md"), room, ContextForm.NARRATIVE, time
    )
    assert "Renew the card" in context.text
    assert "accounts" not in context.text


def test_the_persons_sentences_that_name_the_time_that_is_asked_for_come_first(notes):
    owners = ("Adler", "Brook", "Crane", "Dunn", "Early", "Frost", "Gale", "Hart", "Innes", "Joy")
    events = [f"- {1700 + 5 * n} – The mill goes to {name}.\n" for n, name in enumerate(owners)]
    text = "# Mill\n\n" + "".join([*events[:5], "- 1871 – Torn down.\n", *events[5:]])
    line = text[: text.index("1871")].count("\n") + 1
    of_client = OriginSpan(line, line, Origin(kind=OriginKind.CLIENT, name="eve"))
    mixed = Provenance(spans=(of_client,), own="mill", own_numbers=(1,))
    query = "To whom did the mill go in the 1870s?"
    time = QuestionTime.read(query, Calendar(date(2026, 11, 18)))
    for provenance, comes_first in ((Provenance(), True), (mixed, False)):
        notes.add("Mill.md", text, provenance=provenance)
        found = notes.found("Mill.md")
        context = notes.distiller.distil(
            query, found, ContextBudget(40), ContextForm.NARRATIVE, time
        )
        assert ("1871 – Torn down." in context.text) == comes_first


def test_a_sentence_under_a_heading_with_a_day_is_of_that_day(notes):
    entries = [
        f"## {day}.11.26\n\nThe crew worked on beam {chr(87 + day)}.\n" for day in range(10, 25)
    ]
    notes.add("Site log.md", "# Site log\n\n" + "\n".join(entries))
    query = "What did the crew do yesterday?"
    time = QuestionTime.read(query, Calendar(date(2026, 11, 18)))
    found = notes.found("Site log.md")
    context = notes.distiller.distil(query, found, ContextBudget(30), ContextForm.NARRATIVE, time)
    assert "beam h." in context.text


def test_of_a_note_named_after_the_day_what_answers_comes_before_what_names_the_day(notes):
    text = (
        "# Monday, March 09, 2026\n\nMarch 09, 2026: << Yesterday | Tomorrow >>\n\nNotes of today\n\n"
        "# Notes\n\n- [x] Wash the nets ✅ 2026-03-09\n- Asked Ingrid for a word on the rota.\n"
    )
    notes.add("2026-03-09-Monday.md", text)
    query = "Whom did I ask for a word on the rota on 9 March 2026?"
    time = QuestionTime.read(query, Calendar(date(2026, 5, 1)))
    found = notes.found("2026-03-09-Monday.md")
    context = notes.distiller.distil(query, found, ContextBudget(26), ContextForm.NARRATIVE, time)
    assert "Ingrid" in context.text


def test_a_budget_that_is_left_has_the_sentences_next_to_those_that_answer(notes):
    others = "\n\n".join(
        f"## Room {n}\n\nShelf {n} holds jars and lids, {n} each." for n in range(40)
    )
    notes.add(
        "Clinic.md",
        "# Clinic\n\nThe fitness test comes every two years. Then in February, with a letter.\n\n"
        f"{others}\n",
    )
    context = notes.context("When is my fitness test?", "Clinic.md", room=120)
    assert "Then in February, with a letter." in context.text
    assert context.tokens <= 120
