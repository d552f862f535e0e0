"""Where sentences end, in any language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.vault.markdown.labelled_sentences import journal_sentences_in, sentence_starts


def split(text: str, protected: tuple[tuple[int, int], ...] = ()) -> list[str]:
    starts = sentence_starts(text, protected)
    return [
        text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One.", "Two!", "Three?", "Four"],
        ["It costs 3.50 EUR.", "Version 2.0.1 is out."],
        ["Dr. Smith met Mr. J. R. Jones, e.g. on Monday.", "Fine."],
        ["See fig. 3 and no. 5.", "She said no.", "Then she left."],
        ["The U.S. Senate met at 5 p.m. on Monday."],
        ["He waited... and waited.", "Done…", "Next."],
        ['"Why?" he asked.', "(It was late.)", "He left."],
        ["Really?!", "Yes."],
        ["1. First things come first.", "2. Then others."],
        ["d. What constraint did it impose?", "That is e."],
        ["iv. Rules of the fourth kind.", "i. e. none."],
        ["i went home.", "then i slept for approx. five hours"],
        ["Visit example.com/a.b now.", "Mail a@b.co."],
        ["Das ist z.B. gut bzw. besser.", "Ende."],
        ["Es kommt Dr. Berger, vgl. Seite 3.", "Ende."],
        ["Anzahlung bis 15. Januar, Anmeldung bis 5. Februar.", "Kuchen am 28. Nov. backen."],
        ["Pa woont op afd. Berk, k. 12, sinds 4 febr. 2026.", "Mw. Vos voert de duiven."],
        ["Dña. Remedios vive en la Avda. Portugal, núm. 5.", "Tel. 985 11 22 09."],
        ["Via Roma, n. 4, cap. 2.", "Il Dott. Bianchi viene."],
        ["Mieszka tu p. Wrona, ul. Długa 4, tel. 602, ok. 3 km od św. Anny.", "Ma psa."],
        ["Call Ann, ext. 77, load max. 12 t, see op. 9.", "It is ok.", "Then go."],
        ["ул. Ленина, д. 5, кв. 12.", "Потом домой."],
        ["Sie wohnt im 2. Stock.", "Am Ende waren es 12.", "Ende."],
        ["19.12. Konzert in der Kirche.", "Es beginnt um 16 Uhr."],
        ["I am 40.", "Next year I am 41.", "There were 12.", "Separate rooms were dear."],
        ["¿Qué tal?", "¡Bien!", "Vale."],
        ["これは文です。", "次の文！", "「最後」です。"],
        ["यह वाक्य है।", "दूसरा।"],
        ["هل هذا سؤال؟", "نعم."],
        ["Что?", "Да.", "Ёлка растёт."],
        ["Hello there!", "🙂 Nice."],
    ],
)
def test_sentences_end_where_people_end_them(sentences: list[str]) -> None:
    cjk = sentences[0].endswith("。")
    assert split(("" if cjk else " ").join(sentences)) == sentences


def test_the_journal_has_sentences_as_they_always_ended() -> None:
    assert journal_sentences_in("b. Second part.") == ["b. ", "Second part."]
    assert journal_sentences_in("Mw. Vos voert de duiven.") == ["Mw. ", "Vos voert de duiven."]


def test_no_sentence_ends_inside_a_whole_span() -> None:
    assert split("See Vol. A. B. now. End.", ((4, 14),)) == ["See Vol. A. B. now.", "End."]


@given(st.text("aB. !?…。\n\"')5-", max_size=60))
def test_sentences_cover_the_text_in_order(text: str) -> None:
    starts = sentence_starts(text)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert all(start < len(text) for start in starts[1:])
