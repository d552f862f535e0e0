"""Notes in other languages than English are found by their keywords in other forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.search.question_languages import is_function_word_in
from memvault.stores.vectors import VectorStore, bm25, languages
from tests.chunk_hits import chunk_hits
from tests.contract.language_vaults import FINNISH, GERMAN, HINDI, JAPANESE, KOREAN, POLISH, RUSSIAN
from tests.contract.test_vectors import id_of, short

ENGLISH = ["The spring swap is on the green.", "Ada keeps the seeds in paper bags."]


def recall(vectors: VectorStore, pairs: list[tuple[str, str]], top: int) -> float:
    """Share of the questions whose note is among the first hits."""
    vectors.replace([short(f"note {i}", text) for i, (text, _) in enumerate(pairs)])
    vectors.replace([short(f"english {i}", text) for i, text in enumerate(ENGLISH)])
    found = 0
    for i, (_, question) in enumerate(pairs):
        hits = chunk_hits(vectors, vectors.rank_keywords(question, top))
        found += id_of(f"note {i}") in {hit.note_id for hit in hits}
    return found / len(pairs)


@pytest.mark.parametrize(
    ("pairs", "first", "third"),
    [
        (GERMAN, 0.95, 1.0),
        (RUSSIAN, 1.0, 1.0),
        (FINNISH, 0.7, 0.7),
        (JAPANESE, 1.0, 1.0),
        (POLISH, 0.9, 1.0),
        (KOREAN, 1.0, 1.0),
        (HINDI, 0.9, 1.0),
    ],
    ids=["German", "Russian", "Finnish", "Japanese", "Polish", "Korean", "Hindi"],
)
def test_questions_in_other_forms_find_their_notes(
    vectors: VectorStore, pairs: list[tuple[str, str]], first: float, third: float
) -> None:
    assert recall(vectors, pairs, 1) >= first
    assert recall(vectors, pairs, 3) >= third


def test_english_notes_are_found_next_to_german_ones(vectors: VectorStore) -> None:
    recall(vectors, GERMAN, 1)
    for number, question in enumerate(("Where are the spring swaps?", "Who keeps seed in bags?")):
        hits = chunk_hits(vectors, vectors.rank_keywords(question, 1))
        assert [hit.note_id for hit in hits] == [id_of(f"english {number}")]


def test_a_language_is_searched_from_its_first_note_on(vectors: VectorStore) -> None:
    vectors.replace([short("plain", "Nothing of it")])
    assert chunk_hits(vectors, vectors.rank_keywords("Кошка", 3)) == []
    vectors.replace([short("cats", RUSSIAN[1][0])])
    assert [hit.note_id for hit in chunk_hits(vectors, vectors.rank_keywords("Кошка", 3))] == [
        id_of("cats")
    ]


@pytest.mark.parametrize("pairs", [GERMAN, RUSSIAN, FINNISH, JAPANESE, POLISH, KOREAN, HINDI])
def test_a_phrase_is_found_in_every_language(
    vectors: VectorStore, pairs: list[tuple[str, str]]
) -> None:
    vectors.replace([short(f"note {i}", text) for i, (text, _) in enumerate(pairs)])
    for i, (text, _) in enumerate(pairs):
        phrase = " ".join(text.split()[1:4]) or text[2:8]
        assert id_of(f"note {i}") in vectors.containing([phrase])


@pytest.mark.parametrize("german", [1, 3])
def test_the_languages_of_the_notes_are_known_with_their_passages(
    vectors: VectorStore, german: int
) -> None:
    text = "Die Fähre zur Insel fährt um neun ab und ist am Mittag wieder da."
    english = "The ferry to the island leaves at nine and is back at noon."
    vectors.replace([short(f"english {n}", english) for n in range(2)])
    vectors.replace([short(f"german {n}", text) for n in range(german)])
    vectors._languages_until = 0.0  # type: ignore[attr-defined]  # a minute later
    assert vectors.language_of("Wann ist die Fähre da?") == "german"
    assert vectors.main_language() == ("german" if german == 3 else None)
    assert vectors.frequent_languages() == ("german",)
    assert vectors.passages_in_language("german", 2) == [text] * min(german, 2)
    assert vectors.passages_in_language("german", 0) == []


def weights(text: str, *languages: str) -> dict[int, float]:
    query = bm25.query(text, languages)
    return dict(zip(query.indices, query.values, strict=True))


def test_function_words_count_less_in_their_own_language_only() -> None:
    (can,) = bm25.terms("can")
    assert weights("can you find it")[can] == pytest.approx(bm25.FUNCTION_WORD_WEIGHT)
    assert weights("Can ne için ve nasıl geldi", "turkish")[can] == 1.0
    (die,) = bm25.terms("die")
    assert weights("Wo ist die Miete", "german")[die] == pytest.approx(bm25.FUNCTION_WORD_WEIGHT)


@pytest.mark.parametrize(
    ("question", "language", "asks"),
    [
        ("Wann hat die Kita zu?", "german", "wann"),
        ("Wer darf uns abholen?", "german", "wer"),
        ("Quand est-ce que la crèche ferme ?", "french", "quand"),
        ("¿Dónde está el hotel?", "spanish", "dónde"),
        ("Wanneer komt de trein?", "dutch", "wanneer"),
        ("Почему не работает насос?", "russian", "почему"),
        ("Kiedy jest wizyta u dentysty?", "polish", "kiedy"),
        ("Ile kosztował rower?", "polish", "ile"),
        ("Komu dałem klucze?", "polish", "komu"),
    ],
)
def test_words_that_ask_are_function_words(question: str, language: str, asks: str) -> None:
    (term,) = bm25.query(asks, (language,)).indices[:1]
    assert weights(question, language)[term] == pytest.approx(bm25.FUNCTION_WORD_WEIGHT)


@pytest.mark.parametrize(
    ("question", "asks"),
    [("会議は何ですか", "何"), ("プールはどこですか", "どこ"), ("泳池在哪里", "哪里")],
)
def test_words_that_ask_are_function_words_in_questions_without_spaces(
    question: str, asks: str
) -> None:
    assert is_function_word_in(question, asks)
    assert not is_function_word_in("Where is the pool?", asks)


def test_words_that_questions_are_full_of_count_half_in_english_only() -> None:
    (get,), (ferry,) = bm25.terms("get"), bm25.terms("ferry")
    query_weights = weights("where do I get the ferry", "german")
    assert query_weights[get] == pytest.approx(bm25.COMMON_WORD_WEIGHT)
    assert query_weights[ferry] == 1.0
    assert weights("Wo ist die get Fähre", "german")[get] == 1.0


@pytest.mark.parametrize(
    ("texts", "query", "found"),
    [
        (("Die Kapitelüberschriften sind fett.", "Das Boot ist alt und leck."),
         "Wie groß ist eine Überschrift?", 0),
        (("Kerrostalojen pihat on siivottu ja niitä on monta.", "Vene on vanha ja se vuotaa."),
         "Missä on kerrostalo, joka on uusi?", 0),
        (("Los sobrenombres de la plaza y de la torre.", "El barco es viejo y hace agua."),
         "¿Cuál es su nombre?", 0),
    ],
)  # fmt: skip
def test_a_part_of_a_joined_word_finds_it(
    vectors: VectorStore, texts: tuple[str, str], query: str, found: int
) -> None:
    vectors.replace([short(f"note {i}", text) for i, text in enumerate(texts)])
    hits = chunk_hits(vectors, vectors.rank_keywords(query, 2))
    assert hits[0].note_id == id_of(f"note {found}")


def test_hiragana_counts_for_little_in_a_japanese_question(vectors: VectorStore) -> None:
    vectors.replace([short("fence", "柵は来週塗る。"), short("talk", "これはいいですか。")])
    hits = chunk_hits(vectors, vectors.rank_keywords("柵はいいですか？", 2))
    assert hits[0].note_id == id_of("fence")


@pytest.mark.parametrize(
    ("word", "other"),
    [("বাগানে", "বাগান"), ("పుస్తకాలు", "పుస్తకం"), ("પુસ્તકો", "પુસ્તક"), ("पुस्तकें", "पुस्तक")],
    ids=["Bengali", "Telugu", "Gujarati", "Marathi"],
)
def test_words_in_the_scripts_of_india_stay_whole_and_share_their_stems(
    word: str, other: str
) -> None:
    language = languages.language_of(word)
    assert language is not None and bm25.folded_words(word).count(" ") == 0
    query_vector = bm25.query(other, (language,))
    assert set(query_vector.indices) & set(bm25.document(word, language).indices)


def test_words_of_english_texts_are_not_cut_into_pieces() -> None:
    assert len(bm25.document("The headings of chapters are bold.").indices) == 6


@pytest.mark.parametrize(
    ("question", "language"), [("고양이 우표", "korean"), ("ספה ישנה", "hebrew"), ("couch", None)]
)
def test_a_question_without_function_words_has_the_language_of_its_script(
    question: str, language: str | None
) -> None:
    assert languages.language_of_query(question, ("german", "hebrew", "korean")) == language
    assert languages.language_of_query(question, ("german",)) is None


def test_a_list_without_function_words_is_found_by_words_of_another_language(
    vectors: VectorStore,
) -> None:
    vectors.replace([
        short("prices", "Neubespannung Geige: 65 €. Klangholzwechsel: 40 €. Öl: 3 €."),
        short("ferry", "Die Fähre zur Insel fährt um neun ab und ist am Mittag wieder da."),
    ])  # fmt: skip
    for question in (
        "Was kosten Neubespannungen für Böden?",
        "Wo ist das Öl?",
        "Wechsel für Ölige",
    ):
        hits = chunk_hits(vectors, vectors.rank_keywords(question, 2))
        assert hits and hits[0].note_id == id_of("prices"), question


@pytest.mark.parametrize("language", languages.LANGUAGES)
@given(text=st.text(max_size=200))
def test_every_language_only_adds_to_the_terms_of_all(language: str, text: str) -> None:
    plain, own = bm25.document(text), bm25.document(text, language)
    ours = dict(zip(own.indices, own.values, strict=True))
    for term, value in zip(plain.indices, plain.values, strict=True):
        assert ours[term] == value


@pytest.mark.parametrize("question", ["o que vai no coracao de maca", "qual é o coração de maçã"])
def test_a_question_may_leave_accents_out(vectors: VectorStore, question: str) -> None:
    recipe = "O coração de maçã vai na panela com a água e o açúcar, e não com os ovos."
    other = "Os ovos são para o bolo, que vai ao forno com a manteiga e mais uma colher de chá."
    vectors.replace([short("recipe", recipe), short("other", other)])
    hits = chunk_hits(vectors, vectors.rank_keywords(question, 2))
    assert hits[0].note_id == id_of("recipe")


def test_a_query_with_an_accent_and_words_of_two_languages_asks_for_the_stems_of_both() -> None:
    spoken = ("german", "portuguese")
    assert languages.language_of_query("conjugação do verbo", spoken) is None
    assert languages.language_of_query("meetings in Zürich", spoken) is None
    assert languages.language_of_query("the bolo", spoken) == "english"
    (meeting,) = bm25.terms("meetings")
    assert weights("meetings in Zürich", *spoken)[meeting] == 1.0


def test_a_query_asks_for_the_stems_of_one_language() -> None:
    question = "Wo sind die Rechnungen für das Haus?"  # with a letter that English lacks
    whole = [weight for weight in weights(question, "german", "finnish").values() if weight >= 0.2]
    assert len(whole) == len(question.split())
    english = bm25.query("where are the bills")
    assert bm25.query("where are the bills", ("german",)).indices == english.indices


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (" ".join(text for text, _ in GERMAN), "german"),
        (" ".join(text for text, _ in FINNISH), "finnish"),
        (RUSSIAN[0][0], "russian"),
        (POLISH[0][0], "polish"),
        (KOREAN[0][0], "korean"),
        ("החתול ישן על הספה הישנה.", "hebrew"),
        ("Con mèo và những con chuột của chúng tôi không ngủ trong nhà.", "vietnamese"),
        ("Η γάτα κοιμάται στον παλιό καναπέ.", "greek"),
        ("Le chat dort sur le canapé et les souris dansent dans la maison.", "french"),
        ("Ada keeps the seeds in paper bags, and the jars are on the shelf.", "english"),
        ("Leitung: Frau Hansen. Dazu der 27. März (Fortbildung). Geöffnet bis acht.", "german"),
        ("Tornillos: ninguno. Pintura: poca, porque ya hay.", "spanish"),
        ("`ssh -N -L 5433:db:5432 l@d.example.com` https://a.example.com/de/la", None),
        ("Ola zgubiła klucze do piwnicy.", "polish"),
        ("Klíče leží ve skříňce u dveří.", "czech"),
        ("Chìa khóa nằm trên bàn bếp.", "vietnamese"),
        ("Łukasz lives in Łódź with his brother.", "english"),
        ("Señor Muñoz and Zoë sell crème brûlée.", None),
        ("東京は日本の首都です。", None),
        ("Storage budget", None),
        ("", None),
    ],
)
def test_a_note_has_the_language_of_its_words(text: str, language: str | None) -> None:
    assert languages.language_of(text) == language
