"""Names of the vault found in text that does not link them."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.text.name_book import plural_of
from memvault.text.name_matcher import NameMatcher
from memvault.text.names import Name, NameRank, frontmatter_names
from memvault.text.words import letter_runs, name_key, words
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.parse import parse_note


def name(text: str, kind: str = "note", *, rank: NameRank = NameRank.TITLE, of: str = "") -> Name:
    return Name(text, of or f"{kind}:{text}", kind, f"{of or text}.md", rank)


def rules_of(*names: Name) -> NameMatcher:
    rules = NameMatcher()
    for number, each in enumerate(names):
        rules.replace(str(number), [each])
    return rules


def found(rules: NameMatcher, text: str, **options: bool) -> list[str]:
    return [mention.text for mention in rules.find(text, **options)]


def test_a_name_of_several_words_is_found_in_any_case():
    rules = rules_of(name("Vector Store decision"))
    assert found(rules, "The vector store Decision stands.") == ["vector store Decision"]


def test_a_single_word_is_found_capitalised_but_not_as_a_common_word():
    rules = rules_of(name("Test"), name("Home"))
    assert found(rules, "I test it at home, then in Test and HOME.") == ["Test", "HOME"]


def test_a_single_word_written_in_lower_case_is_found_as_written():
    assert found(rules_of(name("kafka")), "we use kafka") == ["kafka"]


def test_a_tag_is_not_found_as_a_common_word():
    rules = rules_of(name("storage", "tag", rank=NameRank.TAG))
    assert found(rules, "we need storage") == []
    assert found(rules, "about the Storage topic") == ["Storage"]


def test_a_shape_that_no_common_word_has_is_found_in_any_case():
    rules = rules_of(name("DuckDB", "tool"), name("IT", "organisation"))
    assert found(rules, "duckdb is what it runs") == ["duckdb"]


@pytest.mark.parametrize("text", ["IT", "Go", "Will"])
def test_short_names_and_function_words_are_found_only_as_written(text: str):
    rules = rules_of(name(text, "person"))
    assert found(rules, f"we asked {text} about {text.lower()}") == [text]


def test_a_capital_at_the_head_of_a_sentence_is_no_proof_for_a_plain_note():
    rules = rules_of(name("Search"), name("Aurora", "project"))
    assert [m.certain for m in rules.find("Search the web.")] == [False]
    assert [m.certain for m in rules.find("See Search.")] == [True]
    assert [m.certain for m in rules.find("Aurora is late.")] == [True]


def test_possessives_and_plurals_are_found():
    rules = rules_of(
        name("Anna Berg", "person"),
        name("Jonas", "person"),
        name("Bayesian network"),
        name("Daily notes"),
    )
    assert found(rules, "Anna Berg's plan, Jonas’ too") == ["Anna Berg", "Jonas"]
    assert found(rules, "two bayesian networks in a daily note") == [
        "bayesian networks",
        "daily note",
    ]


def test_hyphens_underscores_and_composed_letters_do_not_tell_names_apart():
    rules = rules_of(name("On-call rota"), name("Café Müller"))
    decomposed = unicodedata.normalize("NFD", "We met at Café Müller.")
    assert found(rules, "the on call rota and the on-call_rota") == ["on call rota", "on-call_rota"]
    assert found(rules, decomposed) == ["Café Müller"]


def test_the_longest_name_is_meant():
    rules = rules_of(name("Aurora", "project"), name("Aurora storage decision", "decision"))
    assert found(rules, "the Aurora storage decision for Aurora") == [
        "Aurora storage decision",
        "Aurora",
    ]


def test_the_notes_own_longer_name_does_not_hide_another():
    rules = rules_of(name("Aurora", "project"), name("Aurora storage decision", "decision"))
    own = "decision:Aurora storage decision"
    assert [m.text for m in rules.find("Aurora storage decision", exclude=own)] == ["Aurora"]


@pytest.mark.parametrize(
    "text",
    [
        "Auroras-Berg",
        "the Auroral sky",
        "see Aurora.md",
        "https://example.org/Aurora",
        "mail Aurora@example.org",
        "Anna-Aurora",
        "#Aurora",
    ],
)
def test_a_name_is_not_found_inside_a_longer_word(text: str):
    assert found(rules_of(name("Aurora", "project")), text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Monday 8 June 2026", "since the 8th of June 2026", "am 8. Juni 2026", "on 8 June",
        "June 8, 2026", "8 de Junho 2026",
    ],
)  # fmt: skip
def test_the_month_of_a_day_is_not_the_note_of_that_month(text: str):
    rules = rules_of(*map(name, ("June 2026", "Juni 2026", "Junho 2026", "June")))
    assert found(rules, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "as in June 2026 before",
        "June told us",
        "after 1980 June 2026",
        "Room 8, June 2026",
        "Ask June 3 questions",
    ],
)
def test_a_month_by_itself_is_the_note_of_that_name(text: str):
    assert found(rules_of(name("June 2026"), name("June")), text)[0].startswith("June")
    assert found(rules_of(name("Windows 2000")), "5 Windows 2000 servers") == ["Windows 2000"]


def test_a_name_is_found_in_a_compound_and_in_brackets():
    rules = rules_of(name("Aurora", "project"))
    assert (
        found(rules, "an Aurora-based plan (Aurora), Aurora/Basalt and “Aurora”") == ["Aurora"] * 4
    )


@pytest.mark.parametrize(
    ("written", "text", "expected"),
    [
        ("東京", "来週東京都に行く", ["東京"]),
        ("アンナ", "アンナと話した", ["アンナ"]),
        ("アンナ", "アンナプルナに登る", []),
        ("राम", "राम और रामायण", ["राम"]),
        ("안나", "안나는 왔다", ["안나"]),
        ("สมชาย", "พบสมชายเมื่อวาน", ["สมชาย"]),
        ("Αθήνα", "στην Αθήνα χθες", ["Αθήνα"]),
        ("Анна Берг", "с Анна берг вчера", ["Анна берг"]),
        ("C++", "we write C++ and C", ["C++"]),
        ("2026-01-03", "as on 2026-01-03", ["2026-01-03"]),
    ],
)
def test_names_are_found_in_every_script(written: str, text: str, expected: list[str]):
    assert found(rules_of(name(written, "person")), text) == expected


def test_a_given_name_means_the_only_person_who_has_it():
    rules = rules_of(name("Anna Berg", "person"))
    (mention,) = rules.find("Anna came.")
    assert (mention.name.target, mention.name.rank) == ("person:Anna Berg", NameRank.GIVEN)


@pytest.mark.parametrize("title", ["Frau Moser", "Aunt Hetty", "Familie Roth", "The Moors"])
def test_a_title_or_an_article_is_no_given_name(title: str):
    rules = rules_of(name(title, "person"))
    first, last = title.split()
    assert found(rules, f"We met the {first} on the stairs.") == []
    assert found(rules, f"{first} {last} came.") == [title]


def test_a_given_name_of_two_people_means_nobody():
    rules = rules_of(name("Anna Berg", "person"), name("Anna Costa", "person"))
    assert found(rules, "Anna came with Anna Costa") == ["Anna Costa"]


def test_an_alias_is_stronger_than_a_given_name():
    alias = name("Anna", "person", rank=NameRank.ALIAS, of="Anna Berg")
    rules = rules_of(alias, name("Anna Costa", "person"))
    assert [m.name.target for m in rules.find("Anna came")] == ["Anna Berg"]


@pytest.mark.parametrize(
    "text", ["met Anna Petrova", "met Anna von Stein", "met Santa Anna", "met Anna-Lena"]
)
def test_a_single_name_is_not_found_in_another_persons_name(text: str):
    assert found(rules_of(name("Anna Berg", "person")), text) == []


def test_two_notes_of_one_name_are_ambiguous():
    rules = rules_of(name("Meeting Room"), name("Meeting Room", of="other"))
    assert found(rules, "in the meeting room") == []
    assert rules.lookup("meeting room") is None
    assert rules.knows("Meeting room")


def test_a_note_is_stronger_than_a_link_to_a_note_that_does_not_exist():
    linked = Name("Kafka", "concept:kafka", "concept", None, NameRank.LINKED)
    rules = rules_of(linked)
    assert [m.name.target for m in rules.find("on Kafka")] == ["concept:kafka"]
    changes = rules.replace("note", [name("Kafka", "tool")])
    assert [m.name.target for m in rules.find("on Kafka")] == ["tool:Kafka"]
    assert "Kafka" in changes.phrases


def test_a_removed_note_leaves_no_name():
    rules = rules_of(name("Aurora", "project"), name("Aurora plan"))
    assert found(rules, "Aurora") == ["Aurora"]
    assert rules.remove("0").phrases >= {"Aurora"}
    assert found(rules, "Aurora, the Aurora plan") == ["Aurora plan"]


def test_a_second_claim_to_a_taken_name_changes_nothing():
    rules = rules_of(Name("ai", "tag:ai", "tag", None, NameRank.TAG))
    assert (
        rules.replace("other", [Name("ai", "tag:ai", "tag", None, NameRank.TAG)]).phrases
        == frozenset()
    )


def test_a_name_that_is_ambiguous_from_the_start_is_reported_too():
    two = [Name("Ada", f"{kind}:ada", kind, None, NameRank.NAMED) for kind in ("person", "place")]
    rules = NameMatcher()
    assert "ada" in rules.replace("note", two).phrases
    assert "ada" in rules.remove("note").phrases


def test_a_changed_name_concerns_the_notes_whose_frontmatter_holds_it():
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    concerned = parse_note("A.md", b"---\nmentor: Ada Berg\n---\n")
    other = parse_note("B.md", b"---\nmentor: Emil\n---\n")
    changes = NameMatcher().replace("note", [name("Ada Berg", "person")])
    assert changes.keys & frontmatter_names(memory_of(concerned, fallback_time=moment))
    assert not changes.keys & frontmatter_names(memory_of(other, fallback_time=moment))


def test_an_entity_is_written_as_most_notes_write_it():
    spelled = [
        Name(text, "concept:k", "concept", None, NameRank.LINKED)
        for text in ("kafka", "Kafka", "Kafka")
    ]
    rules = rules_of(*spelled[:2])
    assert rules.spelling("concept:k") == "Kafka"
    assert rules.replace("a", [spelled[0]]).entities == {"concept:k"}
    assert rules.spelling("concept:k") == "kafka"
    assert rules.replace("b", [spelled[0]]).entities == frozenset()


def test_a_question_needs_no_capitals():
    rules = rules_of(name("Aurora", "project"), name("Anna Berg", "person"), name("May", "person"))
    assert found(rules, "who may ask anna of aurora?", question=True) == ["anna", "aurora"]


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("Network", "Networks"),
        ("Box", "Boxes"),
        ("Story", "Stories"),
        ("Class", "Classes"),
        ("Daily notes", "Daily note"),
    ],
)
def test_plurals(singular: str, plural: str):
    assert plural_of(singular) == plural


@pytest.mark.parametrize("text", ["GPT4", "SQL", "東京", "Paris", "Go"])
def test_names_without_a_sensible_plural(text: str):
    assert plural_of(text) is None


WORDS = st.sampled_from(
    ["Anna", "anna", "Berg", "Costa", "store", "Store", "Plan", "Plans", "On-call"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
NAMES = st.builds(
    lambda text, kind, target, rank: Name(text, f"{kind}:{target}", kind, None, rank),
    TEXTS,
    st.sampled_from(["person", "note", "tag"]),
    st.integers(0, 2),
    st.sampled_from(list(NameRank)),
)
STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(NAMES, max_size=3)), min_size=1, max_size=8
)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(STEPS, SENTENCES)
def test_names_updated_step_by_step_equal_names_read_again(
    steps: list[tuple[str, list[Name]]], sentences: list[str]
):
    grown = NameMatcher()
    for note, names in steps:
        grown.replace(note, names)
    fresh = NameMatcher()
    for note, names in sorted(dict(steps).items()):
        fresh.replace(note, names)
    for sentence in sentences:
        assert grown.find(sentence) == fresh.find(sentence)
        assert grown.knows(sentence) == fresh.knows(sentence)
        assert grown.lookup(sentence, "person") == fresh.lookup(sentence, "person")
    for target in {n.target for _, names in steps for n in names}:
        assert grown.spelling(target) == fresh.spelling(target)


@settings(max_examples=60, deadline=None)
@given(STEPS, SENTENCES)
def test_a_change_names_every_text_that_it_makes_mean_something_else(
    steps: list[tuple[str, list[Name]]], sentences: list[str]
):
    rules = NameMatcher()
    for note, names in steps:
        before = [(rules.find(s), rules.knows(s)) for s in sentences]
        spelled = {n.target: rules.spelling(n.target) for n in names}
        changes = rules.replace(note, names)
        for sentence, was in zip(sentences, before, strict=True):
            if (rules.find(sentence), rules.knows(sentence)) != was:
                held = set(words(sentence))
                assert any(held >= set(words(phrase)) for phrase in changes.phrases)
        for target, text in spelled.items():
            assert text in (None, rules.spelling(target)) or target in changes.entities


@given(st.text(max_size=60))
def test_a_name_has_one_key_however_it_is_composed(text: str):
    assert name_key(unicodedata.normalize("NFD", text)) == name_key(
        unicodedata.normalize("NFC", text)
    )


@given(st.one_of(st.text(), st.text(st.characters(max_codepoint=127))))
def test_runs_of_letters_are_what_lies_between_all_other_signs(text: str):
    assert letter_runs(text) == [run.lower() for run in re.findall(r"[^\W\d_]+", text)]
