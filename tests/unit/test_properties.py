"""What frontmatter and folder say of a note as a memory."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.model.memory import Lifecycle, Memory, id_of_path
from memvault.vault.frontmatter.dates import read_date
from memvault.vault.frontmatter.properties import memory_of, read_importance
from memvault.vault.parse import parse_note

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def memory(text: str = "", path: str = "n.md") -> Memory:
    return memory_of(parse_note(path, text.encode()), fallback_time=NOW)


def test_a_plain_note_is_a_permanent_memory_of_middling_importance() -> None:
    found = memory("# Title\n\nText #tag", "ideas/n.md")
    assert found == Memory(
        id=id_of_path("ideas/n.md"), path="ideas/n.md", title="Title", lifecycle=Lifecycle.PERMANENT, created_at=NOW, tags=("tag",), content_hash=found.content_hash,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "key", "kind"),
    [
        ("permanent/preferences.md", None, "preference"), ("Permanent/Preferences.md", None, "preference"),
        ("permanent/preferences.md", "list", "list"), ("shared/permanent/preferences.md", None, "note"), ("preferences.md", None, "note"),
    ],
)  # fmt: skip
def test_preferences_md_is_a_preference_without_saying_so(
    path: str, key: str | None, kind: str
) -> None:
    assert memory(f"---\ntype: {key}\n---\n" if key else "- Tone: dry\n", path).type == kind


def test_every_property_is_read() -> None:
    found = memory(
        "---\nid: 3F0C1111-2222-4333-8444-555566667777\nlifecycle: Temporary\ntype: Decision\nproject: aurora\nimportance: high\ntags: [storage, db, Storage]\n"
        "aliases: [Aurora X]\ncreated: 2026-03-01\ndate: 2026-02-01 10:00\nverified: yes\npinned: true\nrationale: why\nstatus: open\nnested: {on: 2026-01-01, n: .nan}\n---\n#more"
    )
    assert found.id == "3f0c1111-2222-4333-8444-555566667777"
    assert (found.lifecycle, found.type, found.project, found.importance) == (
        Lifecycle.TEMPORARY,
        "decision",
        "aurora",
        0.8,
    )
    assert (found.tags, found.aliases) == (("storage", "db", "more"), ("Aurora X",))
    assert (found.created_at, found.date) == (
        datetime(2026, 3, 1, tzinfo=UTC),
        datetime(2026, 2, 1, 10, tzinfo=UTC),
    )
    assert (found.verified, found.pinned, found.rationale) == (True, True, "why")
    assert found.metadata == {"status": "open", "nested": {"on": "2026-01-01", "n": "nan"}}


def test_a_note_without_creation_date_was_created_on_its_own_date_unless_that_is_to_come():
    for head, created in [
        ("date: 2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("date: 2999-01-01", NOW),
        ("created: 2025-01-01\ndate: 2024-05-01", datetime(2025, 1, 1, tzinfo=UTC)),
        ("created-at: 2025-01-01", datetime(2025, 1, 1, tzinfo=UTC)),
        ("Date Created: 2025-01-01", datetime(2025, 1, 1, tzinfo=UTC)),
    ]:
        note = parse_note("n.md", f"---\n{head}\n---\nx".encode())
        assert memory_of(note, fallback_time=NOW).created_at == created


@pytest.mark.parametrize(
    ("path", "key", "lifecycle"),
    [
        ("permanent/a.md", None, "permanent"), ("projects/x/a.md", None, "temporary"), ("sessions/2026-01-01/a.md", None, "ephemeral"),
        ("other/sessions/a.md", None, "permanent"), ("sessions.md", None, "permanent"), ("sessions/a.md", "permanent", "permanent"),
        ("sessions/a.md", "nonsense", "ephemeral"), ("Projects/x/a.md", None, "temporary"),
    ],
)  # fmt: skip
def test_the_lifecycle_is_the_key_else_the_folders(
    path: str, key: str | None, lifecycle: str
) -> None:
    assert memory(f"---\nlifecycle: {key}\n---\n" if key else "", path).lifecycle == lifecycle


@pytest.mark.parametrize(
    ("path", "key", "project"),
    [
        ("projects/x/a/b.md", None, "x"), ("projects/x.md", None, None), ("a/projects/x/b.md", None, None), ("projects/x/a.md", "y", "y"), ("a.md", '"[[dir/Aurora]]"', "Aurora"), ("a.md", "[]", None),
    ],
)  # fmt: skip
def test_the_project_is_the_key_else_the_folders(
    path: str, key: str | None, project: str | None
) -> None:
    assert memory(f"---\nproject: {key}\n---\n" if key else "", path).project == project


@pytest.mark.parametrize(
    ("value", "importance"),
    [("critical", 1.0), ("High", 0.8), ("medium", 0.5), (" low ", 0.2), (0.7, 0.7), ("0.7", 0.7), (7, 1.0), (-1, 0.0), (float("nan"), 0.5), ("huge", 0.5), (True, 0.5), (None, 0.5), ([], 0.5), (10**400, 1.0)],
)  # fmt: skip
def test_importance_is_a_name_or_a_number_kept_in_bounds(value: object, importance: float) -> None:
    assert read_importance(value) == importance


@pytest.mark.parametrize(
    ("written", "value"),
    [("48.90", "48.90"), ("7.0", 7.0), ("7.00", "7.00"), ("[1.50, 2.5]", ["1.50", 2.5]), ("+3.5", "+3.5"), ("6", 6), (".50", 0.5), ("1.0e3", 1000.0)],
)  # fmt: skip
def test_a_decimal_number_is_kept_as_it_is_written(written: str, value: object) -> None:
    assert memory(f"---\nrate: {written}\n---\n").metadata == {"rate": value}
    assert memory("---\nimportance: 0.80\n---\n").importance == 0.8


@pytest.mark.parametrize("value", ["not-a-uuid", "12345", "''", "[]"])
def test_an_id_that_is_no_uuid_is_not_taken(value: str) -> None:
    assert memory(f"---\nid: {value}\n---\n").id == id_of_path("n.md")


def test_the_given_id_wins() -> None:
    given_id = "3f0c1111-2222-4333-8444-555566667777"
    assert memory_of(parse_note("n.md", b""), fallback_time=NOW, id=given_id).id == given_id


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (date(2026, 3, 1), datetime(2026, 3, 1)), ("2026-03-01", datetime(2026, 3, 1)), ("2026-03-01T10:20:30Z", datetime(2026, 3, 1, 10, 20, 30)),
        ("2026-03-01T10:20:30+02:00", datetime(2026, 3, 1, 8, 20, 30)), ("2026-03-01 14:00", datetime(2026, 3, 1, 14)), ("2026/3/1", datetime(2026, 3, 1)),
        ("1.3.2026", datetime(2026, 3, 1)), ("25/12/2026", datetime(2026, 12, 25)), ("12/25/2026", datetime(2026, 12, 25)), ("1 March 2026", datetime(2026, 3, 1)),
        ("March 1st, 2026", datetime(2026, 3, 1)), ("7:38 pm on 20 May, 2023", datetime(2023, 5, 20, 19, 38)), ("12:05 am, 3 Sept 2023", datetime(2023, 9, 3, 0, 5)),
        ("1. März 2026", datetime(2026, 3, 1)), ("1er août 2026", datetime(2026, 8, 1)), ("25 de diciembre de 2026", datetime(2026, 12, 25)), ("3 марта 2026", datetime(2026, 3, 3)),
        ("1.3.26", datetime(2026, 3, 1)), ("2026年3月1日", datetime(2026, 3, 1)), ("令和８年３月１日 14:00", datetime(2026, 3, 1, 14)),
        ("[[2026-03-01]]", datetime(2026, 3, 1)), ("Sunday, 1 March 2026", datetime(2026, 3, 1)), ("2026-03", datetime(2026, 3, 1)), (["2026-03-01"], datetime(2026, 3, 1)),
    ],
)  # fmt: skip
def test_dates_are_read_as_people_write_them(value: object, moment: datetime) -> None:
    assert read_date(value) == moment.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "03/04/2026",
        "2026-13-45",
        "soon",
        "Market 5 2025",
        "2026",
        2026,
        None,
        True,
        "",
        "May day 2026",
        "ISO/IEC 24760-1",
        "10.1.1.26",
        "2.31.26",
        [],
        {},
        "x" * 200,
    ],
)
def test_what_is_no_certain_date_is_none(value: object) -> None:
    assert read_date(value) is None


def test_a_note_that_says_no_date_has_that_of_its_name_or_session() -> None:
    assert memory("", "daily/2026-03-01 Monday.md").date == datetime(2026, 3, 1, tzinfo=UTC)
    assert memory("", "journals/2026_03_01.md").date == datetime(2026, 3, 1, tzinfo=UTC)
    assert memory("", "sessions/2026-03-02/chat.md").date == datetime(2026, 3, 2, tzinfo=UTC)
    assert memory("---\ndate: 2026-04-01\n---", "2026-03-01.md").date == datetime(
        2026, 4, 1, tzinfo=UTC
    )
    assert memory("", "archive/2026-03-02/chat.md").date is None


@pytest.mark.parametrize(
    "path",
    [
        "daily/27-11-2026.md",
        "daily/27.11.2026 Freitag.md",
        "daily/11-27-2026.md",
        "daily/20261127.md",
        "daily/2026.11.27.md",
        "daily/2026年11月27日.md",
        "daily/November 27th, 2026.md",
        "journal/2026/11-November/27.md",
        "journal/2026/11/27.md",
        "log_27.11.2026.md",
    ],
)
def test_names_of_daily_notes_are_dates_in_the_forms_that_people_choose(path: str) -> None:
    assert memory("# Log\n\nRain.", path).date == datetime(2026, 11, 27, tzinfo=UTC)


def test_days_of_earlier_centuries_are_read_in_names() -> None:
    assert memory("Rain.", "1850_03_04.md").date == datetime(1850, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    "path",
    ["03-04-2026.md", "20261341.md", "course/2026/01 Intro/02 Basics.md", "192.168.1.20.md",
     "1.27.11.2026.md", "12345678 Order.md", "Release v13.2.2019.md", "ISBN 978-13-2-2019.md",
     "2024.10.12.3.md", "27.11.–29.11.2026 Fair.md", "18500304.md",
     "course/2026/01 Intro/02.md", "course/2026/01 May/02.md"],
)  # fmt: skip
def test_names_with_other_numbers_are_no_dates(path: str) -> None:
    assert memory("Rain.", path).date is None


def test_a_note_of_a_slip_box_was_created_at_the_moment_that_numbers_it() -> None:
    tides = memory("Rain.", "202601031205 Tides.md")
    assert (tides.date, tides.created_at) == (None, datetime(2026, 1, 3, 12, 5, tzinfo=UTC))
    assert tides.title == "Tides"
    assert memory("Rain.", "20260103120530.md").created_at.second == 30
    order = memory("Rain.", "202613031205 Tides.md")
    assert (order.created_at, order.title) == (NOW, "202613031205 Tides"), "no moment, but a number"
    assert memory("Rain.", "Order 202601031205 - 2.md").title == "Order 202601031205 - 2"
    assert memory("---\ncreationDate: 2025-03-04T05:06:07Z\n---\n").created_at.year == 2025


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "id",
        "lifecycle",
        "type",
        "project",
        "importance",
        "tags",
        "aliases",
        "created",
        "date",
        "verified",
        "pinned",
        "rationale",
        "other",
        "Tags",
    ]
)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("---\nheld_on: 2025-09-20\n---\n", date(2025, 9, 20)),
        ("# Meet\n\nWhere: Brickley\nWhen: 20 September 2025\n", date(2025, 9, 20)),
        ("- **Date**: 20 September 2025\n", date(2025, 9, 20)),
        ("It took place in the gym hall on 20 September 2025.\n", date(2025, 9, 20)),
        ("The hall was held by pillars. We pay on 20 September 2025.\n", None),
        ("It was held on 3 May 2024. It was held again on 20 September 2025.\n", None),
        ("# Walk of 20 September 2025\n\nRain all day.\n", date(2025, 9, 20)),
        ("# Plans for September 2025\n", None),
        ("When: every Tuesday\n", None),
        ("Due: 20 September 2025\n", None),
    ],
)
def test_a_note_says_in_its_own_words_when_it_happened(text: str, day: date | None) -> None:
    found = memory(text).date
    assert (found.date() if found else None) == day


def test_a_header_says_best_when_it_happened() -> None:
    text = "---\ndate: 2025-09-20\n---\nWhen: 3 May 2024\n"
    assert memory(text, "2023-01-01.md").date == datetime(2025, 9, 20, tzinfo=UTC)


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_frontmatter_makes_a_memory_that_json_can_hold(values: dict[str, object]) -> None:
    import yaml

    text = "---\n" + yaml.safe_dump(values, allow_unicode=True) + "---\n"
    found = memory(text)
    json.dumps(found.model_dump(mode="json"), allow_nan=False)
    assert 0.0 <= found.importance <= 1.0
