"""How a long note of others is divided, so that an order to a model hides only what is around it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memvault.curation.held_sections import MIN_CHARACTERS, sections
from memvault.model.provenance import Origin, OriginKind, OriginSpan, Provenance, own_lines
from memvault.vault.lines import bare_lines, ended_lines

PARAGRAPH = "The mill was built by the river and grinds in spring. " * 12
FRONTMATTER = "---\ntype: session\n---\n"

lines = st.sampled_from(["", "```", "~~~", "# Head", "word", PARAGRAPH, PARAGRAPH[:300]])
bodies = st.lists(lines, max_size=60).map("\n".join)
heads = st.sampled_from(["", FRONTMATTER, FRONTMATTER.replace("\n", "\r\n")])


@given(heads, bodies)
def test_the_sections_of_a_note_are_all_lines_of_its_body_in_order(head: str, body: str) -> None:
    found = list(sections((head + body).encode()))
    if found:
        numbers = [number for span, _ in found for number in range(span.first, span.last + 1)]
        first = len(ended_lines(head)) + 1
        assert numbers == list(range(first, len(ended_lines(head + body)) + 1))
        assert "\n".join(text for _, text in found) == "\n".join(ended_lines(body))
        assert all(len(text) >= MIN_CHARACTERS for _, text in found[:-1])


@given(bodies, bodies)
def test_what_is_added_at_the_end_leaves_all_sections_but_the_last(body: str, added: str) -> None:
    before = list(sections((body + "\n").encode()))
    after = list(sections((body + "\n" + added).encode()))
    assert after[: max(0, len(before) - 1)] == before[:-1]


def test_no_section_begins_within_code() -> None:
    body = f"```\n{PARAGRAPH}{PARAGRAPH}{PARAGRAPH}{PARAGRAPH}\n\n{PARAGRAPH}\n```\n\nAfter it.\n"
    assert [text.count("```") for _, text in sections(body.encode())] == [2, 0]


def test_a_short_note_is_not_divided() -> None:
    assert list(sections(f"{FRONTMATTER}{PARAGRAPH}\n\n{PARAGRAPH}\n".encode())) == []


@given(
    st.lists(st.sampled_from(["\r", "\n", "\r\n", "word", "| a |", "\x0c"])).map("".join), st.data()
)
def test_a_note_keeps_its_number_of_lines_without_those_that_are_held(
    text: str, data: st.DataObject
) -> None:
    count = len(bare_lines(text))
    first = data.draw(st.integers(1, count))
    last = data.draw(st.integers(first, count))
    held = OriginSpan(first, last, Origin(kind=OriginKind.CLIENT, name="eve"))
    shown = bare_lines(own_lines(text.encode(), Provenance(spans=(held,))).decode())
    assert len(shown) == count
    assert not any("word" in line for line in shown[first - 1 : last])
    assert shown[last:] == bare_lines(text)[last:]
