"""What sentences claim, and what one says to another."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.verification.agreement import Verdict, compare, independent, is_older
from memvault.verification.claims.amount_parsing import PATTERNS, amounts_in, matches
from memvault.verification.claims.amounts import AmountKind, equal_amounts
from memvault.verification.claims.claim_extraction import claims_of
from memvault.verification.claims.claims import Claim, ClaimSource
from memvault.verification.claims.tool_usage import tool_usages_in, usage_conflict
from memvault.verification.sensitive_topics import sensitive_topic_of
from memvault.verification.sensitive_words import SensitiveTopic

NAMES = ("Aurora", "Marlin", "Ada Berg", "Tomas Xu", "Borealis")


_WORDS = (
    "EUR 5 20 2024 12 3 kg two Five dozen days May sept of v version pm a.m. million in x ü "
    "h30 Uhr heures due ore de mai año alle à"
)
PIECES = st.sampled_from([*" .,:-/$€%\n", "USD ", "per cent", *_WORDS.split()])


def find_names(text: str, exclude: str | None) -> list[tuple[int, int, str]]:
    return sorted(
        (match.start(), match.end(), name)
        for name in NAMES
        if name != exclude
        for match in re.finditer(rf"\b{name}\b", text)
    )


def claims(text: str, note: str = "Aurora", day: date | None = None) -> list[Claim]:
    kind = "meeting" if note.startswith("Meeting") else "note"
    source = ClaimSource(note, f"{note}.md", note, kind=kind, day=day)
    return claims_of(text, source, find_names)


def says(one: str, other: str, note: str = "Meeting", of: str = "Aurora") -> Verdict:
    """What the first claim of another note says to the first of a note about Aurora."""
    first, second = claims(one, of), claims(other, note)
    return compare(first[0], second[0]) if first and second else Verdict.UNRELATED


def only(text: str) -> tuple[str, tuple[float | None, ...], str]:
    (amount,) = amounts_in(text)
    return amount.unit, amount.parts, amount.per


@given(st.lists(PIECES, max_size=12))
def test_an_amount_is_looked_for_only_where_one_can_start(pieces: list[str]) -> None:
    text = "".join(pieces)
    for _, starts, pattern in PATTERNS:
        places = [match.start() for match in starts.finditer(text)]
        found = [match.span() for match in matches(pattern, text, places)]
        assert found == [match.span() for match in pattern.finditer(text)]


@pytest.mark.parametrize(
    ("text", "unit", "parts", "per"),
    [
        ("€1,250.50", "eur", (1250.5,), ""),
        ("402k EUR", "eur", (402_000.0,), ""),
        ("1.5 million dollars", "usd", (1_500_000.0,), ""),
        ("900 EUR a month", "eur", (900.0,), "month"),
        ("the monthly fee of 900 EUR", "eur", (900.0,), "month"),
        ("3rd of May 2026", "", (2026.0, 5.0, 3.0), ""),
        ("May 3, 2026", "", (2026.0, 5.0, 3.0), ""),
        ("2026-05-03", "", (2026.0, 5.0, 3.0), ""),
        ("03.05.2026", "", (2026.0, 5.0, 3.0), ""),
        ("two weeks", "day", (14.0,), ""),
        ("30 business days", "working day", (30.0,), ""),
        ("v2.1", "", (2.0, 1.0), ""),
        ("1 200 € par an", "eur", (1200.0,), "year"),
        ("100 € / mois", "eur", (100.0,), "month"),
        ("1.200 € all'anno", "eur", (1200.0,), "year"),
        ("90 € al mes", "eur", (90.0,), "month"),
        ("90 € por mês", "eur", (90.0,), "month"),
        ("900 Euro pro Jahr", "eur", (900.0,), "year"),
        ("monatliche Miete: 900 €", "eur", (900.0,), "month"),
        ("loyer mensuel : 900 €", "eur", (900.0,), "month"),
        ("18 €/h", "eur", (18.0,), "hour"),
        ("90 euro per maand", "eur", (90.0,), "month"),
        ("15 novembre", "", (None, 11.0, 15.0), ""),
        ("1er fevrier 2026", "", (2026.0, 2.0, 1.0), ""),
        ("15. März 2026", "", (2026.0, 3.0, 15.0), ""),
        ("15 de noviembre de 2026", "", (2026.0, 11.0, 15.0), ""),
        ("15 ноября 2026", "", (2026.0, 11.0, 15.0), ""),
        ("deux heures", "second", (7200.0,), ""),
        ("due ore", "second", (7200.0,), ""),
        ("3 Monate", "month", (3.0,), ""),
        ("два часа", "second", (7200.0,), ""),
        ("14h30", "", (870.0,), ""),
        ("um 15 Uhr", "", (900.0,), ""),
        ("alle 14.30", "", (870.0,), ""),
        ("woensdag 19.45 uur", "", (1185.0,), ""),
        ("om 20 uur", "", (1200.0,), ""),
        ("€ 1.084 p.m.", "eur", (1084.0,), "month"),
        ("96 € p.j.", "eur", (96.0,), "year"),
        ("168 p/m", "", (168.0,), "month"),
        ("5 p.m.", "", (1020.0,), ""),
    ],
)
def test_values_are_read_however_they_are_written(text, unit, parts, per):
    assert only(text) == (unit, parts, per)


@pytest.mark.parametrize(
    "text",
    ["due dates", "once a week", "un an", "in mars", "das Tag", "dos and don'ts", "sei stato"],
)
def test_words_that_are_numbers_or_months_elsewhere_are_no_values_by_themselves(text: str) -> None:
    assert amounts_in(text) == []


def test_a_sum_by_the_year_says_nothing_of_one_by_the_month_in_other_languages() -> None:
    (year,), (month,) = amounts_in("1 200 € par an"), amounts_in("100 € par mois")
    assert equal_amounts(year, month) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("$0.002", 0.002),
        ("0.015 USD", 0.015),
        ("$1.859", 1.859),
        ("€ 1.859", 1859.0),
        ("1.200 EUR", 1200.0),
        ("1.200,50 EUR", 1200.5),
        ("1.200.000 EUR", 1.2e6),
        ("1.2 EUR", 1.2),
    ],
)
def test_points_between_thousands_are_read_as_in_europe(text: str, number: float) -> None:
    assert only(text)[1] == (number,)
    if "EUR" in text:
        sentence = f"Aurora has a budget of {number:.2f} EUR."
        assert says(f"Budget: {text}", sentence) is Verdict.AGREES


def test_a_range_is_no_value_and_the_old_one_of_a_change_is_marked():
    assert amounts_in("10–12 weeks") == []
    for text in (
        "raised from $400k to $450k",
        "raises the budget of Heron from 180,000 to 240,000 euros",
        "moves from October 2026 to February 2027",
        "drops from 69 to 59 euros",
    ):
        old, new = amounts_in(text)
        assert (old.earlier, new.earlier) == (True, False), text


def test_a_rough_value_neither_confirms_nor_contradicts_what_is_near():
    (rough,) = amounts_in("about 500 EUR")
    (near,) = amounts_in("498 EUR")
    (far,) = amounts_in("900 EUR")
    assert equal_amounts(rough, near) is None
    assert equal_amounts(rough, far) is False


def test_a_month_agrees_with_a_day_in_it_only_as_far_as_it_goes():
    (month,), (day,), (other,) = (amounts_in(t) for t in ("May 2026", "3 May 2026", "June 2026"))
    assert equal_amounts(month, day) is None
    assert equal_amounts(month, other) is False
    assert month.kind is AmountKind.DATE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Budget: 402k EUR", "Aurora's budget was set at 402,000 euros."),
        ("- **Total budget**: €402,000", "For Aurora the board approved a budget of 402k EUR."),
        ("Budget | 402k EUR", "We agreed on 402k EUR as budget for Aurora."),
        ("Contract end: 2027-03-31", "The contract for Aurora expires on March 31, 2027."),
        (
            "Contract end: 2027-03-31",
            "The contract for Aurora ends on 31 March 2027 unless renewed.",
        ),
        (
            "Contract end: 2027-03-31",
            "Contracts with [Aurora](https://a.eu/7) end on 31 March 2027.",
        ),
        ("Notice period: 2 weeks", "Aurora has a notice period of 14 days."),
        ("Notice period: 2 weeks", "Aurora has a notice period of 14 calendar days."),
        ("Rent: 900 EUR per month", "Aurora costs us €900 a month in rent."),
        ("Lead: [[Ada Berg]]", "Aurora is led by Ada Berg."),
        ("Led by Ada Berg.", "Ada Berg is Aurora's lead."),
        ("The fine for late filing is 500 EUR.", "Aurora: the fine for late filing is €500."),
        ("Employees get 28 vacation days.", "At Aurora, employees get 28 days of vacation."),
        ("Capacity: 83 litres", "We measured it: the capacity of Aurora comes to 83 l."),
        ("Launch: 3 May 2027", "The go-live of Aurora is on 3 May 2027."),
        ("Weight: 158 kg", "Aurora weighs 0.158 tonnes."),
        ("Temperature: 86 °F", "The temperature of Aurora is 30 degrees Celsius."),
        ("Price: 7,000 GBP", "The price of Aurora was 7000 pounds sterling."),
        ("Firmware version: v3.0.6", "Aurora runs firmware 3.0.6."),
        ("Caretaker: [[Ada Berg]]", "Ada Berg is the caretaker of Aurora."),
        ("The caretaker is Ada Berg.", "Aurora's caretaker is Ada Berg."),
        ("Ada Berg is the caretaker.", "The caretaker of Aurora is Ada Berg."),
    ],
)
def test_the_same_said_in_other_words_agrees(one, other):
    assert says(one, other) is Verdict.AGREES


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Budget: 402k EUR", "Aurora's budget was cut to 380,000 euros."),
        ("Budget: 402k EUR", "The budget of Aurora went up from 402k EUR to 450k EUR."),
        ("Contract end: 2027-03-31", "The contract for Aurora ends on 30 June 2027."),
        ("Notice period: three months", "Aurora has a notice period of six months."),
        ("Lead: [[Ada Berg]]", "Tomas Xu leads Aurora."),
        ("Lead: Ada Berg", "Tomas Xu took over as lead of Aurora."),
        ("Budget: 402k EUR", "The budget of Aurora is not 402k EUR."),
        ("Budget: 402k EUR", "It is wrong that the budget of Aurora is 402k EUR."),
        ("VAT is 19%.", "For Aurora, VAT is 7 percent."),
        ("Weight: 158 kg", "Aurora weighs 158 lb."),
        ("Firmware version: v3.0.6", "Aurora runs firmware v3.0.7."),
        ("Caretaker: Ada Berg", "Tomas Xu took over as caretaker of Aurora."),
    ],
)  # fmt: skip
def test_another_value_of_the_same_differs(one, other):
    verdicts = [compare(claims(one)[0], each) for each in claims(other, "Meeting")]
    assert Verdict.DIFFERS in verdicts
    assert Verdict.AGREES not in verdicts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Budget: 402k EUR", "Aurora's marketing budget is 402k EUR."),
        ("Budget: 402k EUR", "Aurora's marketing budget is 20k EUR."),
        ("Budget: 402k EUR", "Marlin's budget is 402k EUR."),
        ("Marlin is on track, and the budget is 402k EUR.", "Aurora's budget is 402k EUR."),
        ("Budget: 402k EUR", "Maybe the budget of Aurora is 402k EUR."),
        ("Budget: 402k EUR", "The client asked for a 402k EUR budget for Aurora."),
        ("Budget: 402k EUR", "In 2019 the budget of Aurora was 300k EUR."),
        ("Budget: 402k EUR", "The budget of Aurora is 402k EUR, but that was in 2019, formerly."),
        ("Budget: 402k EUR", "Is the budget of Aurora 402k EUR?"),
        ("Rent: 900 EUR per month", "The rent of Aurora is 10,800 EUR a year."),
        ("Lead: Ada Berg", "Ada Berg sponsors Aurora."),
        ("Team: Ada Berg, Tomas Xu", "Tomas Xu is in the team of Aurora."),
        ("Budget: 402k EUR", "Aurora grew by 402k EUR in sales."),
        ("Weight: 158 kg", "The lid of Aurora weighs 158 kg."),
        ("Weight: 158 kg", "The spare unit beside Aurora has a weight of 158 kg."),
        ("Weight: 158 kg", "Can anybody tell me whether Aurora weighs 158 kg"),
        ("Weight: 158 kg", "Suppose for a moment that Aurora weighs 158 kg."),
        ("Weight: 158 kg", "I wrote that Aurora weighs 158 kg. That was a mistake."),
        ("Weight: 158 kg", "Aurora weighs 158 kg. This was under the old owner."),
        ("Weight: 158 kg", "Until the move, Aurora weighs 158 kg."),
        ("Caretaker: Ada Berg", "Ada Berg once met the caretaker of Aurora."),
    ],
)
def test_what_is_of_something_else_or_not_asserted_says_nothing(one, other):
    assert says(one, other) is Verdict.UNRELATED


def test_of_two_clauses_each_has_its_own_subject() -> None:
    found = claims("The budget of Aurora is 90k EUR, but the budget of Marlin is 75k EUR.", "Call")
    assert [(set(each.subjects), each.value_text) for each in found] == [
        ({"Aurora"}, "90k EUR"), ({"Marlin"}, "75k EUR"),
    ]  # fmt: skip


def test_text_below_a_heading_is_about_the_entity_that_the_heading_names() -> None:
    source = ClaimSource("Projects", "Projects.md", "Aurora", heading="Plans > Marlin")
    (budget,) = claims_of("Budget: 402k EUR", source, find_names)
    assert budget.subjects == {"Marlin"}


def test_a_note_named_by_its_day_is_not_what_its_sentences_are_about() -> None:
    source = ClaimSource("diary", "2026-03-02.md", "2026-03-02")
    (opened,) = claims_of("The shop opened in 2019.", source, find_names)
    assert opened.subjects == frozenset()


def test_a_value_in_kronor_is_money_and_one_that_was_raised_from_is_former() -> None:
    (old, new) = claims("Dr Lind raised the dose of ramipril from 2.5 mg to 5 mg.", "Call")
    assert (old.value_text, old.outdated, new.value_text, new.outdated) == (
        "2.5 mg",
        True,
        "5 mg",
        False,
    )
    (salary,) = claims("Monthly salary 46,500 kr, raised on 1 April 2026 from 44,800 kr.", "Pay")
    assert (salary.label, salary.value_text) == ("monthly salary", "46,500 kr")


def test_a_note_about_an_entity_is_compared_with_a_sentence_that_names_it():
    assert (
        says(
            "Renews on 3 May 2026.",
            "The car insurance renews on 5 May 2026.",
            note="Household admin",
            of="Car insurance",
        )
        is Verdict.DIFFERS
    )


def test_a_copied_sentence_is_no_second_witness():
    text = "For the record and without any change the budget of Aurora is 402k EUR."
    one, copy = claims(text)[0], claims(text, "Meeting")[0]
    short = "Aurora has a budget of 402k EUR."
    assert not independent(claims(short)[0], claims(f"> {short}", "Meeting")[0])
    field = "Budget: 402k EUR"
    assert independent(claims(field)[0], claims(field, "Meeting")[0])
    own = claims("Aurora's budget is 402k EUR.", "Meeting")[0]
    assert not independent(one, copy)
    assert independent(one, own)


def test_the_later_of_two_dated_notes_is_known():
    old = claims("Budget: 402k EUR", day=date(2025, 1, 1))[0]
    new = claims("Budget: 450k EUR", day=date(2025, 6, 1))[0]
    undated = claims("Budget: 450k EUR")[0]
    assert is_older(old, new)
    assert not is_older(new, old)
    assert not is_older(undated, new)


def test_what_holds_since_a_day_is_a_claim_of_that_day():
    meeting = claims("Ada Berg leads Aurora.", "Meeting", day=date(2026, 6, 9))[0]
    for text in (
        "Lead: Tomas Xu since 15 September 2026", "Lead: Tomas Xu (since 2026-09-15; before: Ada)",
        "Tomas Xu leads Aurora since 15 September 2026.",
    ):  # fmt: skip
        lead = claims(text)[0]
        assert lead.value == "name:Tomas Xu"
        assert compare(lead, meeting) is Verdict.DIFFERS
        assert is_older(meeting, lead)


def test_a_property_is_said_of_its_own_note_whatever_its_title_names():
    source = ClaimSource("study", "Study.md", "A study of Aurora", is_property=True)
    (year,) = claims_of("year: 2019", source, find_names)
    assert year.subjects == {"study"}


def test_a_field_that_says_only_since_when_has_that_day_as_its_value():
    (opened,) = claims("Opened: since 3 May 2019")
    assert opened.value_text == "3 May 2019"


@pytest.mark.parametrize("sign", ["📅", "⏳", "🛫", "✅", "➕", "❌", "🗓️"])
def test_the_days_of_a_task_are_no_values(sign: str):
    assert claims(f"Get the deposit back from Marlin {sign} 2026-09-24") == []


def test_the_number_of_a_week_is_no_number():
    assert says("Week: 2026-W28", "Week: 2026-W30") is Verdict.UNRELATED


@pytest.mark.parametrize(
    ("query", "matter"),
    [
        ("What's the client budget for Aurora?", SensitiveTopic.FINANCIAL),
        ("How much do we owe the plumber?", SensitiveTopic.FINANCIAL),
        ("What does the contract with Borealis say about liability?", SensitiveTopic.LEGAL),
        ("What is our refund policy?", SensitiveTopic.FINANCIAL),
        ("What does the plumber cost?", None),
        ("Are employees entitled to remote work?", SensitiveTopic.POLICY),
        ("Why did Jon shut down his bank account?", None),
        ("Who did Ada meet at the court?", None),
        ("Which books does Ada like?", None),
    ],
)
def test_critical_questions_are_distinguished_from_stories_that_only_name_money(query, matter):
    found = sensitive_topic_of(query)
    assert (found is None) == (matter is None)


def test_abandoning_a_tool_contradicts_its_use():
    (uses,) = tool_usages_in("The API uses JWT tokens.")
    (moved,) = tool_usages_in("API migrated to OAuth2 in v2.1.")
    (replaced,) = tool_usages_in("We replaced JWT with OAuth2.")
    (still,) = tool_usages_in("The API uses JWT and cookies.")
    assert usage_conflict(uses, moved) == 0.8
    assert usage_conflict(uses, replaced) == 1.0
    assert usage_conflict(uses, still) == 0.0


@pytest.mark.parametrize(
    ("written", "value"),
    [("1 200,300.50", (1200300.5,)), ("0.200,50", (200.5,)), ("0.100.200", (0.0, 100.0, 200.0))],
)
def test_a_number_with_marks_of_two_kinds_or_a_leading_zero_is_read(
    written: str, value: tuple[float, ...]
) -> None:
    assert [amount.parts for amount in amounts_in(f"It holds {written}.")] == [value]


def test_the_end_of_a_time_is_no_end_of_the_notes_subject():
    (support,) = claims("Support until the end of 2026.")
    assert support.label == "support"
    assert says("End: 2024-12-20", "Support until the end of 2026.") is Verdict.UNRELATED
    assert says("End: 2024-12-20", "The end of Aurora is 31 December 2026.") is not (
        Verdict.UNRELATED
    )
