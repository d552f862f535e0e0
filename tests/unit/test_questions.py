"""Questions read as things and relations."""

from __future__ import annotations

import re
from datetime import date

import pytest

from memvault.search.relations.interpretations import interpretations
from memvault.search.relations.question import Question, relation_phrase
from memvault.search.relations.question_masking import NamedSpan, QuestionReader
from memvault.search.times.time_spans import Calendar
from memvault.text.question_parser import QuestionParser, question_parser

NAMES = ("Heron", "Otter Creek", "Lena Vogt", "Spring Regatta")
KINDS = ("boat", "person", "race", "repair")


@pytest.fixture(scope="module")
def parser() -> QuestionParser:
    found = question_parser()
    assert found is not None
    return found


def find_names(text: str) -> list[NamedSpan]:
    found = re.finditer("|".join(NAMES), text)
    return [NamedSpan(match.start(), match.end(), (match[0],)) for match in found]


def read(parser: QuestionParser, text: str) -> Question:
    today = Calendar(date(2026, 11, 21))
    return QuestionReader(parser).read(text, find_names, lambda _: None, today)


def triples(question: Question) -> list[tuple[str, str, str]]:
    """(nearer thing, words, farther thing), names by themselves."""
    names = [term.nodes[0] if term.nodes else term.text for term in question.terms]
    return [(names[r.near], r.words, names[r.far]) for r in question.relations]


def test_a_chain_of_relations_is_read_from_the_answer_outward(parser: QuestionParser) -> None:
    question = read(parser, "Where does the skipper of Heron live?")
    assert triples(question) == [("where", "live", "skipper"), ("skipper", "of", "Heron")]
    assert question.root_term.text == "where"


def test_a_relative_clause_belongs_to_its_noun(parser: QuestionParser) -> None:
    question = read(parser, "Which boats are owned by people I met at Spring Regatta?")
    assert triples(question) == [
        ("boat", "owned by", "person"),
        ("person", "I met at", "Spring Regatta"),
    ]


@pytest.mark.parametrize("who", ["Mary", "Mary and Anna", "Eva"])
def test_a_name_that_the_vault_does_not_know_matches_no_known_name(
    parser: QuestionParser, who: str
) -> None:
    question = read(parser, f"Which boat did {who} hand over to Lena Vogt?")
    known = [term.nodes for term in question.terms if term.nodes]
    assert known == [("Lena Vogt",)]


def test_a_possessive_is_a_relation(parser: QuestionParser) -> None:
    assert ("skipper", "of", "Heron") in triples(read(parser, "Who taught Heron's skipper?"))


def test_who_works_at_a_firm_may_have_it_as_company(parser: QuestionParser) -> None:
    question = read(parser, "Who works at Heron?")
    (relation,) = question.relations
    assert "company: X" in relation_phrase(question, relation, [False, False]).wordings


def test_the_words_before_a_noun_narrow_it(parser: QuestionParser) -> None:
    question = read(parser, "Which engine repairs were done on Heron?")
    assert (question.root_term.text, question.root_term.modifiers) == ("repair", ("engine",))


def test_a_time_belongs_to_the_words_before_it(parser: QuestionParser) -> None:
    question = read(parser, "Which boats repaired in 2025 belong to Lena Vogt?")
    spans = [span for relation in question.relations for span in relation.times]
    spans += [span for term in question.terms for span in term.times]
    assert [span.first for span in spans] == [date(2025, 1, 1)]


def test_a_noun_that_names_no_kind_may_be_words_of_a_relation(parser: QuestionParser) -> None:
    question = read(parser, "Who is in charge of Otter Creek?")
    kinds = [term.text in KINDS or term.person for term in question.terms]
    words = {triples(reading)[0][1] for reading in interpretations(question, kinds)}
    assert any("charge" in each for each in words)


@pytest.mark.parametrize("text", ["", "?", "Heron", "Heron Heron Heron", "of of by", "\n\t"])
def test_what_is_no_question_is_read_without_complaint(parser: QuestionParser, text: str) -> None:
    question = read(parser, text)
    assert len(question.relations) <= max(0, len(question.terms) - 1)


def test_questions_that_differ_in_their_names_alone_are_parsed_once() -> None:
    parser = QuestionParser()
    assert parser("Who leads Mary?") is parser("Who leads Mary?")
    first, other = (read(parser, f"Who repaired {name}?") for name in ("Heron", "Otter Creek"))
    assert triples(first) == [("person", "repaired", "Heron")]
    assert triples(other) == [("person", "repaired", "Otter Creek")]
    assert parser.release()
    assert triples(read(parser, "Who repaired Heron?")) == triples(first)
