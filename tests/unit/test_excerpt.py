"""What of a passage is shown: the sentences that answer, word for word."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.search.excerpt import CUT, excerpts

FILLER = "The committee met again in the usual room and talked for some time about nothing much. "
ANSWER = "The beacon on Gull Rock is lit by a kerosene lamp."


def test_a_short_passage_is_shown_whole():
    assert excerpts("anything", [f" {ANSWER}\n"], 200) == [ANSWER]


def test_the_sentence_that_answers_is_shown_wherever_it_stands():
    for place in range(5):
        passage = FILLER * place + ANSWER + " " + FILLER * (4 - place)
        [shown] = excerpts("What lights the beacon on Gull Rock?", [passage], 160)
        assert ANSWER in shown
        assert (shown.startswith(CUT), shown.endswith(CUT)) == (place > 0, place < 3)
        assert len(shown.encode()) <= 160 + 10


def test_the_answer_that_follows_its_question_is_shown_with_it():
    passage = FILLER * 3 + "\nWhere did you hide the spare key? Under the third pot.\n" + FILLER * 3
    [shown] = excerpts("where is the spare key hidden", [passage], 100)
    assert "Under the third pot." in shown


def test_a_word_of_every_sentence_decides_nothing():
    lines = [f"Nora: we could paint shelf number {n} one day." for n in range(6)]
    lines[4] = "Nora: I was born on a ferry."
    [shown] = excerpts("Nora: where was Nora born?", ["\n".join(lines)], 60)
    assert "born on a ferry" in shown


def test_a_passage_that_shares_no_word_is_shown_from_its_beginning():
    [shown] = excerpts("zebra", [FILLER * 6], 200)
    assert shown == (FILLER * 2).strip() + f" {CUT}"


def test_one_endless_sentence_is_cut_after_a_word():
    [shown] = excerpts("word", ["word " * 400], 100)
    assert shown.endswith(f"word {CUT}") and len(shown) <= 2 * 100 + 2


def test_scripts_without_spaces_and_with_wide_letters_are_cut_by_their_own_sentences():
    passage = (
        "灯台は海のそばにある。" * 12 + "鍵は三番目の鉢の下だ。" + "灯台は海のそばにある。" * 12
    )
    [shown] = excerpts("鍵はどこ", [passage], 120)
    assert "鍵は三番目の鉢の下だ。" in shown


SENTENCES = st.lists(
    st.sampled_from(
        ["One fish.", "Two fish swim!", "Was it red?", "- a point.", "", "Die Äpfel sind süß."]
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=80, deadline=None)
@given(SENTENCES, st.sampled_from([" ", "\n", "\n\n"]), st.integers(10, 200))
def test_what_is_shown_is_the_passage_word_for_word_and_in_order(sentences, between, limit):
    passage = between.join(sentences)
    [shown] = excerpts("was the fish red", [passage], limit)
    at = 0
    for part in shown.split(CUT):
        at = passage.index(part.strip(), at) + len(part.strip())
    longest = max(len(each.encode()) for each in sentences)
    assert len(shown.replace(f" {CUT} ", "").encode()) <= max(limit, longest) + len(sentences) * 3
