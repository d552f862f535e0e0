"""The text of manifest.md: what is memvault's is kept true, what is a person's stays to the byte."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memvault.curation.manifest.concepts import Concept, concept_key
from memvault.curation.manifest.writing import write_manifest
from memvault.vault.manifest import LineKind, faults, last_line, read_lines

STATE = "0123456789abcdef"
KINDS = st.sampled_from(["note", "person", "project", "tag", "recipe", "session", ""])
NAMES = st.one_of(
    st.sampled_from(
        ["Sluice · 2 notes", "Mill · named in 3 notes", "a · no note", "#ocean", "- x"]
    ),
    st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12),
)
REMARKS = st.one_of(
    st.sampled_from(
        ["", "  ", "my own words", "### Mine", "  - nested", "> quote", "text · 2 notes"]
    ),
    st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=20),
)


@st.composite
def listed(draw: st.DrawFn) -> dict[str, Concept]:
    concepts = {}
    for name in draw(st.lists(NAMES, max_size=12)):
        shown = " ".join(name.split())
        if shown and not shown.startswith("[") and concept_key(shown):
            notes = draw(st.integers(0, 3))
            concept = Concept(
                shown,
                draw(KINDS),
                (shown,),
                tuple(f"{shown}{number}.md" for number in range(notes)),
                draw(st.integers(0, 4)),
            )
            concepts[concept.key] = concept
    return concepts


def names_in(text: str) -> dict[str, str]:
    return {
        concept_key(line.name): line.name
        for line in read_lines(text)
        if line.kind is LineKind.CONCEPT and not line.nested
    }


def is_remark(text: str) -> bool:
    """Whether it is one wherever it stands."""
    below = read_lines(f"## Active Concepts\n{text}\n")[1:]
    return [line.kind for line in below] == [LineKind.REMARK]


@given(st.text())
def test_the_lines_joined_are_the_text(text: str) -> None:
    assert "".join(line.raw for line in read_lines(text)) == text


@given(listed())
def test_a_written_manifest_lists_each_concept_once_and_reads_back(
    concepts: dict[str, Concept],
) -> None:
    text = write_manifest("", concepts, STATE)
    assert names_in(text) == {key: concept.name for key, concept in concepts.items()}
    concept_lines = [line for line in read_lines(text) if line.kind is LineKind.CONCEPT]
    assert len(concept_lines) == len(concepts)
    assert not faults(read_lines(text))
    assert write_manifest(text, concepts, STATE) == text


@pytest.mark.parametrize("name", ["0 ·", "· 0", "0 · 2 notes ·", "0 · no note"])
def test_a_name_with_the_dot_that_parts_counts_reads_back(name: str) -> None:
    concept = Concept(name, "note", (name,), (), 2)
    assert list(names_in(write_manifest("", {concept.key: concept}, STATE)).values()) == [name]


@given(listed(), listed(), st.lists(st.tuples(st.integers(0, 60), REMARKS), max_size=5))
def test_remarks_stay_where_they_stood_whatever_comes_and_goes(
    before: dict[str, Concept], after: dict[str, Concept], remarks: list[tuple[int, str]]
) -> None:
    lines = [line.raw for line in read_lines(write_manifest("", before, STATE))]
    for place, remark in remarks:
        assume((is_remark(remark) and not remark.startswith("#")) or remark == "### Mine")
        lines.insert(min(place, len(lines)), remark + "\n")
    edited = "".join(lines)
    written = write_manifest(edited, after, STATE, is_gone=lambda key: key in before)
    assert names_in(written) == {key: concept.name for key, concept in after.items()}
    added = [
        line.raw for line in read_lines(edited) if line.kind is LineKind.REMARK and line.raw.strip()
    ]
    kept = [
        line.raw
        for line in read_lines(written)
        if line.kind is LineKind.REMARK and line.raw.strip()
    ]
    assert kept == added
    assert write_manifest(written, after, STATE) == written


def test_a_new_concept_comes_into_its_group_by_name_and_below_anothers_remark() -> None:
    mill, sluice = (
        Concept(name, "project", (name,), (f"{name}.md",)) for name in ("Mill", "Sluice")
    )
    text = write_manifest("", {each.key: each for each in (mill,)}, STATE)
    text = text.replace("- Mill\n", "- Mill\n  the old one, by the river\n")
    dam = Concept("Dam", "project", ("dam",), ("Dam.md",), naming=2)
    runa = Concept("Runa", "person", ("runa",), (), naming=1)
    written = write_manifest(text, {each.key: each for each in (mill, sluice, dam, runa)}, "ab" * 8)
    assert (
        "## Active Concepts\n\n### Projects\n\n- Dam · named in 2 notes\n- Mill\n"
        "  the old one, by the river\n- Sluice\n\n"
        "### People\n\n- Runa · no note · named in 1 note\n\n## Pending Merges\n"
    ) in written
    assert written.endswith(last_line("ab" * 8) + "\n")


def test_a_group_whose_last_concept_has_gone_goes_with_it() -> None:
    mill = Concept("Mill", "project", ("m",), ("Mill.md",))
    runa = Concept("Runa", "person", ("r",), ("Runa.md",))
    both = write_manifest("", {each.key: each for each in (mill, runa)}, STATE)
    one = write_manifest(both, {mill.key: mill}, STATE, is_gone=lambda key: key == runa.key)
    assert one == write_manifest("", {mill.key: mill}, STATE)


def test_lines_that_a_person_deleted_do_not_come_back_before_they_are_applied() -> None:
    mill = Concept("Mill", "project", ("m",), ("Mill.md",))
    text = write_manifest("", {mill.key: mill}, STATE).replace("- Mill\n", "")
    assert names_in(write_manifest(text, {mill.key: mill}, STATE, withheld={mill.key})) == {}


def test_text_that_was_never_a_manifest_keeps_its_words_and_gains_the_list() -> None:
    mill = Concept("Mill", "project", ("m",), ("Mill.md",))
    own = "# Things\n\n- mine\n* also mine"
    written = write_manifest(own, {mill.key: mill}, STATE)
    assert written.startswith(own + "\n\n## Active Concepts\n")
    assert not faults(read_lines(written))


def test_line_ends_of_windows_stay() -> None:
    mill, dam = (Concept(name, "project", (name,), (f"{name}.md",)) for name in ("Mill", "Dam"))
    text = write_manifest("", {mill.key: mill}, STATE).replace("\n", "\r\n")
    written = write_manifest(text, {each.key: each for each in (mill, dam)}, STATE)
    assert "- Dam\r\n- Mill\r\n" in written
    assert "\n" not in written.replace("\r\n", "")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("[MERGE: JWT, OAuth2]", ("JWT", "OAuth2")),
        ("- [merge: JWT , OAuth2]", ("JWT", "OAuth2")),
        ('[MERGE: "Oslo, Norway", Oslo]', ("Oslo, Norway", "Oslo")),
        ("[MERGE: [[Oslo, Norway|home]], [[a/Pump.md]], c]", ("Oslo, Norway", "a/Pump.md", "c")),
    ],
)
def test_a_merge_names_two_or_more_things(line: str, names: tuple[str, ...]) -> None:
    [found] = read_lines(line)
    assert (found.kind, found.names, found.fault) == (LineKind.MERGE, names, "")


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        ("[NOTE: RateLimiting] Deprecated in v2.0, see [[X]]", "RateLimiting", "Deprecated in v2.0, see [[X]]"),
        ("[note: [[A, b]]] x", "A, b", "x"),
        ('[NOTE: "a]b"] x', "a]b", "x"),
    ],
)  # fmt: skip
def test_a_note_command_needs_one_concept_and_a_text(line: str, name: str, text: str) -> None:
    [found] = read_lines(line)
    assert (found.kind, found.fault) == (LineKind.NOTE, "")
    assert (found.name, found.text) == (name, text)


@pytest.mark.parametrize(
    "line", ["[note to self] call her", "text [MERGE: A, B]", "`[MERGE: A, B]`"]
)
def test_what_only_looks_like_a_directive_is_a_remark(line: str) -> None:
    assert [each.kind for each in read_lines(line)] == [LineKind.REMARK]


WHOLE = write_manifest("", {"mill": Concept("Mill", "note", ("m",), ("Mill.md",))}, STATE)
LAST = WHOLE.count("\n")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "is empty"),
        (" \n\n", 1, "is empty"),
        (WHOLE[: WHOLE.index("## Pending")], LAST - 5, "truncated"),
        (WHOLE.replace("## Active Concepts\n", ""), 1, "`## Active Concepts` is missing"),
        (WHOLE + WHOLE, LAST + 11, "appears again here"),
        (WHOLE + "[MERGE: A]\n", LAST + 1, "[MERGE: Keep, Other]"),
        (WHOLE + "[MERGE: A, ]\n[MERGE: A, B\n", LAST + 1, "[MERGE: Keep, Other]"),
        (WHOLE + "[NOTE: A]\n", LAST + 1, "[NOTE: Name]"),
        (WHOLE + "[NOTE A] b\n", LAST + 1, "[NOTE: Name]"),
        (WHOLE.replace(STATE, ""), LAST, "identifies the version"),
        ("<<<<<<< HEAD\n" + WHOLE, 1, "conflict"),
        (WHOLE + "caf\udce9\n", LAST + 1, "UTF-8"),
    ],
)
def test_a_manifest_that_is_not_whole_names_the_line(text: str, line: int, message: str) -> None:
    found = faults(read_lines(text))
    assert found
    assert (found[0].line, message in found[0].message) == (line, True), found
