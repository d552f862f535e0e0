"""Formulas stay as they are written, and what only looks like one is read as before."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memvault.model.note import ParsedNote
from memvault.vault.parse import parse_note
from tests.timing import seconds_of

TEX = st.text(st.sampled_from("abXY12_^{}[]()*#=+-&\\|~.,:;!% \n"), min_size=1, max_size=40)


def read(text: str) -> ParsedNote:
    return parse_note("n.md", text.encode())


@pytest.mark.parametrize(
    "formula",
    [
        r"$N_{a} \le G_{b}$",
        r"$a*b*c$",
        r"$\{x\} \to \#S$",
        r"$#S_1 = [x]_2$",
        r"$k[[t]]$",
        r"$[x, [y, z]] = [[x, y], z]$",
        "$2x$",
        r"$$x_{1} \\ y_{2}$$",
        r"$$\text{for $x_1$ and } y_2$$",
    ],
)
def test_a_formula_in_a_line_stays_as_it_is_written(formula: str) -> None:
    note = read(f"Here *is* {formula}, in a [[Note]].")
    assert note.blocks[0].text == f"Here is {formula}, in a Note."
    assert [link.target for link in note.links] == ["Note"]
    assert not note.tags


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Costs $5 or *about* $10.", "Costs $5 or about $10."),
        ("From 5$ to *at most* 10$.", "From 5$ to at most 10$."),
        ("$5 for [[Ann]] and 6$", "$5 for Ann and 6$"),
        (r"\$a *b* c$", "$a b c$"),
        ("Set $HOME and `a_b_c$`, *then* go", "Set $HOME and a_b_c$, then go"),
    ],
)
def test_amounts_and_variables_are_no_formulas(text: str, shown: str) -> None:
    assert read(text).blocks[0].text == shown


def test_a_formula_of_several_lines_belongs_to_its_sentence() -> None:
    note = read(
        "It is given by\n$$\nE_{p} = H_{q}. \\\\\n+ y\n- z\n=\n> 2\n$$\nas is known. See [[A]].\n"
        "New $x_1$ [[B]].\n"
    )
    assert [block.lines.first for block in note.blocks] == [1]
    assert [sentence.text for sentence in note.blocks[0].sentences] == [
        r"It is given by $$ E_{p} = H_{q}. \\ + y - z = > 2 $$ as is known.",
        "See A.",
        "New $x_1$ B.",
    ]
    assert [(link.target, link.line) for link in note.links] == [("A", 9), ("B", 10)]
    assert not note.headings


def test_a_formula_of_several_lines_is_read_in_lists_and_quotes() -> None:
    note = read("- one $$\n  - a_{1}\n  $$ [[A]]\n- two\n\n> $$\n> + b_{2}\n> $$\n> [[B]]\n")
    assert [block.text for block in note.blocks] == [
        "one $$\n- a_{1}\n$$ A",
        "two",
        "$$\n+ b_{2}\n$$\nB",
    ]
    assert [(link.target, link.line) for link in note.links] == [("A", 3), ("B", 9)]


def test_dollars_without_their_end_leave_the_next_blocks_alone() -> None:
    for between in ("\n\n", "\n# Heading\n", "\n- Place: [[A]]\n", "\nPlace: [[A]]\n"):
        note = read(f"Price: $${between}- Price: $$\n\nsee [[B]] and *this*")
        assert note.links[-1].target == "B"
        assert note.blocks[-1].text == "see B and this"
        assert ("A" in {link.target for link in note.links}) == ("[[A]]" in between)
        assert len(note.headings) == ("#" in between)


@given(TEX, st.sampled_from(["", "- ", "> ", "1. "]))
@example("x\n=\n", "")
@example("- a\n+ b", "- ")
def test_any_tex_stays_as_it_is_written(tex: str, marker: str) -> None:
    lines = [line.strip() for line in tex.split("\n")]
    tex = "\n".join(line for line in lines if line and not line.startswith("#"))
    tex = tex.replace("[[", "[").rstrip("\\") or "x"
    rest = " " * len(marker) if marker != "> " else marker
    source = f"{marker}so $${tex}$$ *is* [[A]]".replace("\n", "\n" + rest)
    note = read(source)
    assert [block.text for block in note.blocks] == [f"so $${tex}$$ is A"]
    assert [(link.target, link.line) for link in note.links] == [("A", tex.count("\n") + 1)]
    assert not note.tags
    assert not note.headings


def test_a_list_twice_as_long_takes_about_twice_as_long_to_read() -> None:
    def seconds(items: int) -> float:
        text = ("- " + "x" * 200 + "\n") * items
        return seconds_of(lambda: parse_note("List.md", text.encode()))

    pairs = [(seconds(4_000), seconds(8_000)) for _ in range(3)]
    assert min(longer for _, longer in pairs) < 3.0 * min(shorter for shorter, _ in pairs) + 0.1
