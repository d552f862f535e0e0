"""Cutting notes into chunks of several sizes."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memvault.model.note import ChunkSize, EmbeddedChunk, LineRange
from memvault.text.chunking import chunk_notes
from memvault.text.encoders.embedding import Embedder
from memvault.text.sections import SECTION_TOKENS, sections_of
from memvault.text.units import Unit
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.parse import parse_note

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PASSAGE, SECTION, NOTE = ChunkSize.PASSAGE, ChunkSize.SECTION, ChunkSize.NOTE


def chunked(embedder: Embedder, text: str, path: str = "Trip to Oslo.md") -> list[EmbeddedChunk]:
    note = parse_note(path, text.encode())
    return chunk_notes([(note, memory_of(note, fallback_time=NOW))], embedder)[0]


def of_size(chunks: list[EmbeddedChunk], size: ChunkSize) -> list[EmbeddedChunk]:
    own = [each for each in chunks if size in each.chunk.sizes]
    return sorted(own, key=lambda each: (each.chunk.lines, each.chunk.ordinal))


def squeezed(*texts: str) -> str:
    return "".join("".join(text.split()) for text in texts)


def paragraph(topic: str, sentences: int) -> str:
    return " ".join(f"The {topic} has property number {i}, as noted." for i in range(sentences))


def test_a_short_note_is_one_chunk_of_every_size(embedder: Embedder) -> None:
    (only,) = chunked(embedder, "We stay at the harbour.\n\nThe ferry is booked.\n")
    assert only.chunk.sizes == (PASSAGE, SECTION, NOTE)
    assert only.chunk.text == "We stay at the harbour.\nThe ferry is booked."
    assert only.chunk.lines == LineRange(1, 3)


def test_a_note_without_text_is_found_by_its_title(embedder: Embedder) -> None:
    (only,) = chunked(embedder, "---\ntags: [travel]\n---\n")
    assert only.chunk.text == "Trip to Oslo"
    assert only.chunk.lines == LineRange(3, 3)
    assert float(only.vector @ embedder.embed_query("trip to Oslo")) > 0.95


def test_only_the_whole_note_has_the_words_of_its_code_once_each_as_keywords(
    embedder: Embedder,
) -> None:
    code = "```ini\nspeed = boat\nspeed = sail\n```"
    text = f"# Plan\n\n{paragraph('boat', 40)}\n\n{code}\n\n{paragraph('budget', 40)}\n"
    for each in chunked(embedder, text):
        assert "sail" not in each.chunk.text
        had = "speed = sail" in each.chunk.context.split("\n")
        assert had is (NOTE in each.chunk.sizes)


def test_chunks_know_their_headings_and_lines(embedder: Embedder) -> None:
    text = f"# Plan\n\n{paragraph('boat', 40)}\n\n## Costs\n\n{paragraph('budget', 40)}\n"
    chunks = chunked(embedder, text)
    for each in chunks:
        if "budget" in each.chunk.text and "boat" not in each.chunk.text:
            assert each.chunk.heading == "Plan > Costs"
            assert each.chunk.lines == LineRange(7, 7)
    (whole,) = of_size(chunks, NOTE)
    assert whole.chunk.heading == "Plan"
    assert whole.chunk.lines == LineRange(3, 7)


def test_a_section_of_enough_size_ends_at_a_heading(embedder: Embedder) -> None:
    text = f"# A\n\n{paragraph('boat', 28)}\n\n# B\n\n{paragraph('boat', 28)}\n"
    sections = of_size(chunked(embedder, text), SECTION)
    assert [each.chunk.heading for each in sections] == ["A", "B"]


def test_what_is_known_of_a_note_is_searched_with_it_but_not_shown(embedder: Embedder) -> None:
    text = (
        "---\naliases: [Norway 26]\ntags: [travel]\ndate: 2026-05-17\nbooked_by: Ines\n---\n"
        "# Plan\n## Hotel\n\nBy the sea.\n"
    )
    (only,) = chunked(embedder, text)
    for word in ("Norway 26", "travel", "2026-05-17", "Ines", "Plan", "Hotel"):
        assert word in only.chunk.context
        assert word not in only.chunk.text


def test_every_chunk_is_found_by_the_name_of_its_file(embedder: Embedder) -> None:
    text = "# Sails and wind\n\n" + "\n\n".join(paragraph(each, 12) for each in ("sails", "knots"))
    found = chunked(embedder, text, "papers/@Danz2022.md")
    assert len(found) > 1
    assert all("@Danz2022" in each.chunk.context.split("\n") for each in found)


def test_every_chunk_is_found_by_the_people_whom_the_properties_name(embedder: Embedder) -> None:
    body = "\n\n".join(paragraph(each, 12) for each in ("sails", "knots"))
    head = '---\nauthors: ["Danz, Eva", "Lund, Dana"]\npublisher: Tern Press\n---\n'
    found = chunked(embedder, f"{head}# Sails\n\n{body}")
    assert len(found) > 1
    assert all("Danz, Eva" in each.chunk.context.split("\n") for each in found)
    assert sum("Tern Press" in each.chunk.context for each in found) == 1


def test_a_chunk_is_near_its_title_though_its_text_does_not_say_it(embedder: Embedder) -> None:
    query_vector = embedder.embed_query("trip to Oslo")
    (named,) = chunked(embedder, "Cost: 340 per night.", "Trip to Oslo.md")
    (unnamed,) = chunked(embedder, "Cost: 340 per night.", "Old invoice.md")
    assert float(named.vector @ query_vector) > float(unnamed.vector @ query_vector) + 0.15


def test_a_section_is_cut_where_the_subject_changes(embedder: Embedder) -> None:
    first = "\n".join(f"- The cat sleeps on sofa number {i} all day." for i in range(30))
    second = "\n".join(f"- Interest rate {i} rose at the central bank." for i in range(30))
    sections = of_size(chunked(embedder, f"{first}\n{second}\n"), SECTION)
    starts = [each.chunk.lines.first for each in sections]
    assert any(abs(start - 31) <= 4 for start in starts), starts


def test_a_unit_joins_by_its_nearest_not_by_the_mean() -> None:
    """Two directions at odds, each continued: the section of both takes both."""
    half = SECTION_TOKENS[0] // 2
    units = [Unit(str(i), LineRange(i, i), (), half if i < 2 else 30) for i in range(5)]
    one, other, stranger = np.eye(3, dtype=np.float32)
    together = np.stack([one, other, one, other, one])
    assert sections_of(units, together) == [range(5)]
    changed = np.stack([one, other, one, stranger, stranger])
    assert sections_of(units, changed) == [range(3), range(3, 5)]


def test_a_long_line_is_cut_and_stays_findable(embedder: Embedder) -> None:
    text = "alpha beta gamma " * 200 + "and the password is swordfish " + "delta " * 200
    chunks = of_size(chunked(embedder, text), PASSAGE)
    assert len(chunks) > 3
    assert all(embedder.tokens.count(each.chunk.text) <= embedder.window for each in chunks)
    assert any("password is swordfish" in each.chunk.text for each in chunks)


def test_a_heading_over_nothing_is_found_too(embedder: Embedder) -> None:
    (only,) = chunked(embedder, "Text.\n\n# Packing list\n\n# Visa\n")
    assert only.chunk.text == "Text.\nPacking list\nVisa"


WORDS = st.sampled_from(
    ["boat", "harbour.", "Who?", "naïve", "東京", "x" * 40, "3.14", "bank", "(see", "Ada):", "🦊"]
)
LINES = st.one_of(
    st.lists(WORDS, min_size=1, max_size=60).map(" ".join),
    st.lists(WORDS, min_size=1, max_size=12).map(lambda words: "- " + " ".join(words)),
    st.sampled_from(
        ["", "# One", "## Two", "### Three", "```\ncode\n```", "| a | b |\n|---|---|\n| c | d |"]
    ),
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(lines=st.lists(LINES, max_size=60))
def test_every_word_of_every_block_is_in_one_chunk_of_each_size(
    embedder: Embedder, lines: list[str]
) -> None:
    note = parse_note("Note.md", "\n".join(lines).encode())
    memory = memory_of(note, fallback_time=NOW)
    (chunks,) = chunk_notes([(note, memory)], embedder)
    at = 0
    words = squeezed(*(each.chunk.text for each in of_size(chunks, PASSAGE)))
    for block in note.blocks:
        at = words.index(squeezed(block.text), at) + len(squeezed(block.text))
    for size in ChunkSize:
        own = of_size(chunks, size)
        assert squeezed(*(each.chunk.text for each in own)) == words
        for each in own:
            assert 1 <= each.chunk.lines.first <= each.chunk.lines.last <= note.line_count
            assert float(np.linalg.norm(each.vector)) == pytest.approx(1.0, abs=1e-4)
    for each in of_size(chunks, PASSAGE):
        assert embedder.tokens.count(each.chunk.text) <= embedder.window
    assert len({each.chunk.id for each in chunks}) == len(chunks)
    (again,) = chunk_notes([(note, memory)], embedder)
    assert [each.chunk for each in again] == [each.chunk for each in chunks]
    assert all(np.array_equal(a.vector, b.vector) for a, b in zip(again, chunks, strict=True))
