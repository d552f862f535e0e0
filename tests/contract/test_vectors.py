"""Every vector engine keeps the same promises."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memvault.model.errors import StorageError, StoreUnavailable
from memvault.model.memory import Lifecycle, Memory
from memvault.model.note import Chunk, ChunkSize, EmbeddedChunk, LineRange, Vector, chunk_id
from memvault.model.search import Filters, Scope
from memvault.search.scope import in_scope
from memvault.stores.vectors import VectorStore, payload, point_store
from memvault.stores.vectors.edge import EdgeVectorStore
from tests.chunk_hits import chunk_hits
from tests.contract.conftest import DIMENSION
from tests.threads import read_amid_writes

Open = Callable[[Path], VectorStore]
Note = tuple[Memory, Sequence[EmbeddedChunk]]
PASSAGE, SECTION, NOTE = ChunkSize.PASSAGE, ChunkSize.SECTION, ChunkSize.NOTE


def id_of(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, name))


def vector(seed: object) -> Vector:
    rng = np.random.default_rng(abs(hash(str(seed))) if not isinstance(seed, int) else seed)
    drawn = rng.standard_normal(DIMENSION).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn), np.float32)


def memory(name: str, **given: Any) -> Memory:
    known = {"lifecycle": Lifecycle.PERMANENT, "created_at": datetime(2026, 3, 1, tzinfo=UTC)}
    return Memory(id=id_of(name), path=f"{name}.md", title=name, **(known | given))


def chunk(name: str, size: ChunkSize, ordinal: int, text: str, **given: Any) -> EmbeddedChunk:
    known = {"heading": "Top > Sub", "lines": LineRange(ordinal + 1, ordinal + 1)}
    made = Chunk(note_id=id_of(name), size=size, ordinal=ordinal, text=text, **(known | given))
    return EmbeddedChunk(made, vector(f"{size}{ordinal}{text}"))


def note(name: str, *texts: str, context: str = "", **given: Any) -> Note:
    """Passages, and the whole of them as a section and as the note."""
    chunks = [
        chunk(name, PASSAGE, i, text, context=context, token_signs=bytes([i % 256, 255] * 8))
        for i, text in enumerate(texts)
    ]
    for size in (SECTION, NOTE):
        chunks.append(chunk(name, size, 0, "\n".join(texts), lines=LineRange(1, len(texts))))
    return memory(name, **given), chunks


def short(name: str, text: str, **given: Any) -> Note:
    """A note of one passage, which stands for every size."""
    context = given.pop("context", "")
    own = chunk(name, PASSAGE, 0, text, covers=(SECTION, NOTE), context=context)
    return memory(name, **given), [own]


def names(found: set[str], among: str) -> str:
    return "".join(name for name in among if id_of(name) in found)


def test_chunks_are_read_back_as_written(vectors: VectorStore) -> None:
    own = note("a", "First “part”.", "Second\n\nof it.", "", context="Title\nHead")
    vectors.replace([own, short("b", "Other.")])
    found = vectors.chunks(id_of("a"))
    assert [each.chunk for each in found] == [each.chunk for each in own[1]]
    for each, written in zip(found, own[1], strict=True):
        assert float(each.vector @ written.vector) > 0.99
    assert vectors.chunks(id_of("absent")) == []


def test_sections_between_covering_passages_keep_their_texts(vectors: VectorStore) -> None:
    texts = ["one", "two", "three", "four", "five"]
    chunks = [chunk("a", PASSAGE, i, text) for i, text in enumerate(texts)]
    chunks[2] = chunk("a", PASSAGE, 2, "three", covers=(SECTION,))
    chunks.append(chunk("a", SECTION, 0, "one\ntwo"))
    chunks.append(chunk("a", SECTION, 2, "four\nfive"))
    chunks.append(chunk("a", NOTE, 0, "one two, put otherwise"))
    vectors.replace([(memory("a"), chunks)])
    assert [each.chunk for each in vectors.chunks(id_of("a"))] == [each.chunk for each in chunks]


def test_the_nearest_chunk_of_the_size_asked_for_comes_first(vectors: VectorStore) -> None:
    notes = [note(name, f"{name} one", f"{name} two") for name in "abcdef"]
    vectors.replace(notes)
    wanted = notes[3][1][1]
    hits = chunk_hits(vectors, vectors.rank_dense(wanted.vector, 4, size=PASSAGE))
    assert (hits[0].chunk_id, hits[0].text) == (wanted.chunk.id, "d two")
    assert hits[0].score == pytest.approx(1.0, abs=0.02)
    assert [hit.size for hit in hits] == [PASSAGE] * 4
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    whole = chunk_hits(vectors, vectors.rank_dense(notes[3][1][3].vector, 1, size=NOTE))[0]
    assert (whole.size, whole.text, whole.lines) == (NOTE, "d one\nd two", LineRange(1, 2))


def test_a_chunk_that_covers_larger_sizes_is_found_by_each(vectors: VectorStore) -> None:
    vectors.replace([short("a", "alone"), note("b", "x", "y")])
    for size in ChunkSize:
        found = chunk_hits(vectors, vectors.rank_keywords("alone", 5, size=size))
        assert [(hit.note_id, hit.size) for hit in found] == [(id_of("a"), PASSAGE)]
    assert [len(own) for own in vectors.vectors([id_of("a")], NOTE).values()] == [1]


def test_keywords_are_found_in_text_and_context_whatever_their_form(vectors: VectorStore) -> None:
    vectors.replace(
        [
            short("a", "The meetings were moved.", context="Aurora\nPlans"),
            short("b", "Über naïve Größen", context="Maße"),
            short("c", "東京都の田中さん"),
            short("d", "nothing of it"),
        ]
    )
    for query, expected in {
        "meeting": "a",
        "AURORA": "a",
        "uber": "b",
        "grössen": "b",
        "MASSE": "b",
        "東京": "c",
        "田中": "c",
        "absent": "",
        "?!": "",
        "": "",
    }.items():
        hits = chunk_hits(vectors, vectors.rank_keywords(query, 5))
        assert names({hit.note_id for hit in hits}, "abcd") == expected, query


def test_rarer_words_count_for_more(vectors: VectorStore) -> None:
    vectors.replace([short(str(i), f"common words here {i}") for i in range(20)])
    vectors.replace([short("rare", "zebra words")])
    assert chunk_hits(vectors, vectors.rank_keywords("common zebra", 3))[0].note_id == id_of("rare")


SCOPES = st.builds(
    Scope,
    filters=st.none()
    | st.builds(
        Filters,
        min_importance=st.none() | st.sampled_from([0.0, 0.5, 0.8, 1.0]),
        created_after=st.none() | st.sampled_from([datetime(2026, 3, 1), datetime(2026, 3, 2)]),
        created_before=st.none()
        | st.sampled_from([datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)]),
        lifecycles=st.none() | st.lists(st.sampled_from(Lifecycle), max_size=2),
        types=st.none() | st.lists(st.sampled_from(["Decision", "my type", "note"]), max_size=2),
        tags=st.none() | st.lists(st.sampled_from(["#Db", "a b", "x:y", "note"]), max_size=2),
    ),
    project=st.none() | st.sampled_from(["aurora", "Side Work", "", "project"]),
)


@pytest.fixture(scope="module")
def scoped() -> list[Memory]:
    tags: tuple[str, ...] = ("db", "A b", "x:y", "note")
    return [
        memory(
            f"n{i}",
            importance=(i % 11) / 10,
            project=[None, "Aurora", "side work", "project", ""][i % 5],
            type=["decision", "My Type", "note"][i % 3],
            lifecycle=list(Lifecycle)[i % 3],
            tags=tags[i % 5 : i % 5 + 2],
            created_at=datetime(2026, 1 + i % 4, 1, tzinfo=UTC),
        )
        for i in range(60)
    ]


@pytest.fixture(scope="module")
def scoped_store(scoped: list[Memory], tmp_path_factory: pytest.TempPathFactory) -> Any:
    store = EdgeVectorStore(tmp_path_factory.mktemp("scoped"), DIMENSION)
    store.replace([(each, short(each.title, f"word {each.title}")[1]) for each in scoped])
    yield store
    store.close()


@settings(max_examples=60, deadline=None)
@given(scope=SCOPES)
def test_a_scope_lets_through_what_the_memory_says(
    scoped_store: VectorStore, scoped: list[Memory], scope: Scope
) -> None:
    allowed = {each.id for each in scoped if in_scope(each, scope)}
    dense = chunk_hits(scoped_store, scoped_store.rank_dense(vector(1), 100, scope=scope))
    words = chunk_hits(
        scoped_store, scoped_store.rank_keywords("word", 100, scope=scope, size=NOTE)
    )
    assert {hit.note_id for hit in dense} == allowed
    assert {hit.note_id for hit in words} == allowed


def test_an_odd_id_is_not_taken_for_another_notes_id(vectors: VectorStore) -> None:
    vectors.replace([short("a", "kept")])
    vectors.remove(["x passage", "", "note: passage", "type:note"])
    assert vectors.count() == 1
    assert vectors.chunks("x passage") == []


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("Anna Berg", "ab"),
        ("anna berg", "ab"),
        ("Anna Berg's", "a"),
        ("O'Brien", "c"),
        ("o’brien", "c"),
        ("Jean-Luc", "c"),
        ("Will", "d"),
        ("The Who", "d"),
        ("東京", "e"),
        ("アンナ", "e"),
        ("Anna", "abe"),
        ("José", "f"),
        ("Jose\u0301", "f"),
        ("स्मिता", "g"),
        ("สมชาย", "h"),
        ("Ελένης", "i"),
        ("ΕΛΈΝΗΣ", "i"),
        ("İstanbul", "j"),
        ("ISTANBUL", "j"),
        ("straße", "k"),
        ("STRASSE", "k"),
        ("snake_case", "l"),
        ("v2.0", "l"),
        ("한국어", "m"),
        ("محمد", "n"),
        ("Title Word", "o"),
        ("absent", ""),
        ("Anna absent", ""),
        ("C++", "abcdefghijklmnop"[2:3]),
    ],
)
def test_notes_with_a_phrase_are_found_in_every_script(
    vectors: VectorStore, phrase: str, expected: str
) -> None:
    texts = {
        "a": "We met Anna Berg's dog.",
        "b": "ANNA\nBerg wrote.",
        "c": "Jean-Luc O’Brien uses C++ daily.",
        "d": "Will saw The Who.",
        "e": "東京のAnnaさんとアンナ",
        "f": "José e\u0301crit",
        "g": "मेरी दोस्त स्मिता है",
        "h": "คุณสมชายมาแล้ว",
        "i": "της Ελένης",
        "j": "in İstanbul",
        "k": "die Straße",
        "l": "a snake_case name, v2.0",
        "m": "한국어 공부",
        "n": "قال محمد",
        "o": "plain",
        "p": "other",
    }
    notes = [short(name, text) for name, text in texts.items() if name != "o"]
    vectors.replace([*notes, short("o", "plain", context="Title\nWord")])
    assert names(vectors.containing([phrase]), "".join(texts)) == expected


def test_a_phrase_may_span_passages_and_a_common_word_is_no_hindrance(
    vectors: VectorStore,
) -> None:
    many = [short(f"n{i}", "common project note") for i in range(300)]
    vectors.replace([*many, note("a", "the Common", "Aurora project")])
    assert vectors.containing(["common aurora", "project absent"]) == {id_of("a")}
    assert len(vectors.containing(["common project"])) == 300  # not where a word is between
    assert len(vectors.containing(["🚀"])) == 301
    assert vectors.containing([]) == set()


WORDS = st.text(
    st.characters(categories=["Lu", "Ll", "Lo", "Nd", "Mn", "Zs", "Po", "Pd"]), max_size=12
)


@settings(max_examples=60, deadline=None)
@given(before=WORDS, phrase=WORDS.filter(str.strip), after=WORDS)
def test_a_note_that_has_a_phrase_as_words_is_always_found(
    scoped_store: VectorStore, before: str, phrase: str, after: str
) -> None:
    text = f"{before} {phrase.upper()}, {after}"
    if not re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE):
        return
    scoped_store.replace([short("probe", text)])
    assert id_of("probe") in scoped_store.containing([phrase])
    scoped_store.remove([id_of("probe")])


def test_replacing_keeps_no_chunk_of_before(vectors: VectorStore) -> None:
    vectors.replace([note("a", "one", "two", "three"), note("b", "other")])
    vectors.replace([short("a", "only")])
    assert [each.chunk.text for each in vectors.chunks(id_of("a"))] == ["only"]
    assert chunk_hits(vectors, vectors.rank_keywords("two", 5)) == []
    assert vectors.count() == 4
    vectors.replace([(memory("a"), [])])
    assert set(vectors.note_ids()) == {id_of("b")}


def test_vectors_come_in_the_order_of_the_text(vectors: VectorStore) -> None:
    own = note("a", *[f"part {i}" for i in range(12)])
    vectors.replace([own, note("b", "x")])
    found = vectors.vectors([id_of("a"), id_of("b"), id_of("absent")], PASSAGE)
    assert {key: len(value) for key, value in found.items()} == {id_of("a"): 12, id_of("b"): 1}
    for stored, written in zip(found[id_of("a")], own[1], strict=False):
        assert float(stored @ written.vector) > 0.99


def test_a_note_larger_than_one_call_is_kept_whole(vectors: VectorStore) -> None:
    own = note("a", *[f"line number {i}" for i in range(1_300)])
    vectors.replace([short("b", "first"), own, short("c", "last")])
    assert [each.chunk for each in vectors.chunks(id_of("a"))] == [each.chunk for each in own[1]]
    vectors.replace([short("a", "now little")])
    assert vectors.count() == 3


def test_it_is_there_after_reopening_and_closing_twice_is_allowed(
    open_vectors: Open, tmp_path: Path
) -> None:
    store = open_vectors(tmp_path)
    store.replace([note("a", "kept", "too")])
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable):
        store.count()
    again = open_vectors(tmp_path)
    assert again.count() == 4
    assert chunk_hits(again, again.rank_keywords("kept", 1))[0].text == "kept"
    again.close()


def test_vectors_of_another_dimension_ask_for_a_rebuild(tmp_path: Path) -> None:
    EdgeVectorStore(tmp_path, DIMENSION).close()
    with pytest.raises(StorageError, match="Recovery required"):
        EdgeVectorStore(tmp_path, DIMENSION * 2)


def test_deleted_chunks_are_swept_up_and_the_rest_found(vectors: VectorStore) -> None:
    many = 2_000 if isinstance(vectors, EdgeVectorStore) else 400
    vectors.replace([short(str(i), f"text {i}") for i in range(many)])
    vectors.remove([id_of(str(i)) for i in range(0, many, 2)])
    vectors.optimize()
    assert vectors.count() == many // 2
    vectors.replace([short("1", "changed text")])
    assert chunk_hits(vectors, vectors.rank_keywords("changed", 5))[0].note_id == id_of("1")
    assert len(chunk_hits(vectors, vectors.rank_keywords("text", many, size=NOTE))) == many // 2


def test_threads_search_while_others_write(
    vectors: VectorStore, request: pytest.FixtureRequest
) -> None:
    if "qdrant-local" in request.node.name:
        pytest.skip("the local mode of qdrant-client serves one thread")

    def read() -> None:
        chunk_hits(vectors, vectors.rank_keywords("shared", 50))
        chunk_hits(vectors, vectors.rank_dense(vector(3), 50))

    def write(own: str) -> None:
        for turn in range(6):
            vectors.replace([note(f"{own}{i}", "shared", str(turn)) for i in range(10)])

    read_amid_writes(read, [partial(write, own) for own in "abc"], readers=2)
    assert vectors.count() == 3 * 10 * 4


STEPS = st.lists(
    st.one_of(
        st.dictionaries(
            st.sampled_from("abcd"),
            st.lists(st.sampled_from(["red", "green", "blue"]), max_size=4),
            min_size=1,
            max_size=3,
        ),
        st.sets(st.sampled_from("abcd"), min_size=1, max_size=2),
    ),
    max_size=8,
)


def few(note: UUID, size: ChunkSize, ordinal: int) -> int:
    """A hash that many chunks share, of the last numbers."""
    return point_store.NUMBERS - 1 - chunk_id(note, size, ordinal) % 3


def uuids(note: UUID, size: ChunkSize, ordinal: int) -> int:
    """As until format 15 of the indexes."""
    return uuid5(note, f"{size.value}:{ordinal}").int


def test_what_older_indexes_hold_is_found_read_and_replaced(
    vectors: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = note("a", "tides", "piers"), short("b", "tides")
    with monkeypatch.context() as before:
        before.setattr(point_store, "chunk_id", uuids)
        vectors.replace([old, short("c", "tides")])
    vectors.replace([new])
    found = chunk_hits(vectors, vectors.rank_keywords("tides", 9, size=PASSAGE))
    assert {(hit.note_id, hit.text) for hit in found} == {
        (id_of(name), "tides") for name in "abc"
    }  # fmt: skip
    vectors.replace([old])
    vectors.remove([id_of("c")])
    assert vectors.count() == 5
    assert [each.chunk for each in vectors.chunks(id_of("a"))] == [each.chunk for each in old[1]]
    assert max(vectors.rank_dense(vector(1), 9).chunk_ids) < point_store.NUMBERS


def test_chunks_that_an_older_index_keeps_without_tokens_are_read(
    vectors: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As until format 38 of the indexes: they answer until their notes are indexed again."""
    old, body_to_json = note("a", "tides", "piers"), payload._to_json
    with monkeypatch.context() as before:
        before.setattr(payload, "_to_json", lambda body: body_to_json(body[:6]))
        vectors.replace([old])
    assert [each.chunk for each in vectors.chunks(id_of("a"))] == [
        replace(each.chunk, token_signs=b"") for each in old[1]
    ]


@pytest.mark.parametrize("hashed", [chunk_id, few])
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_it_holds_what_a_dictionary_of_notes_would(
    vectors: VectorStore,
    monkeypatch: pytest.MonkeyPatch,
    hashed: Callable[[UUID, ChunkSize, int], int],
    steps: list[dict[str, list[str]] | set[str]],
) -> None:
    monkeypatch.setattr(point_store, "chunk_id", hashed)
    model: dict[str, Sequence[EmbeddedChunk]] = {}
    store = vectors
    store.remove(list(store.note_ids()))
    for step in steps:
        if isinstance(step, set):
            store.remove({id_of(name) for name in step})
            for name in step:
                model.pop(name, None)
        else:
            notes = [note(name, *texts) for name, texts in step.items()]
            store.replace(notes)
            model.update(zip(step, (chunks for _, chunks in notes), strict=True))
    assert set(store.note_ids()) == {id_of(name) for name in model}
    assert store.count() == sum(map(len, model.values()))
    for name, chunks in model.items():
        assert [each.chunk for each in store.chunks(id_of(name))] == [each.chunk for each in chunks]
    with_red = {
        id_of(name)
        for name, chunks in model.items()
        if any("red" in each.chunk.text for each in chunks)
    }
    assert store.containing(["RED"]) == with_red
    assert {hit.note_id for hit in chunk_hits(store, store.rank_keywords("red", 50))} == with_red
