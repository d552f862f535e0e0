"""Changing one key of a note leaves every other byte alone."""

from __future__ import annotations

import string
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memvault.model.errors import InvalidParams, MalformedFrontmatter
from memvault.vault.frontmatter.edit import remove_key, set_key
from memvault.vault.parse import parse_note

AWKWARD = (
    b"\xef\xbb\xbf---\r\n"
    b"# what this is\r\n"
    b"title:   'It''s odd'   # why\r\n"
    b'"quoted key": yes\r\n'
    b"tags:\r\n"
    b"- one # first\r\n"
    b"# between\r\n"
    b"- 'two'\r\n"
    b"# after the tags\r\n"
    b"created: 2026-03-01\r\n"
    b"text: |  # kept\r\n"
    b"  line 1\r\n"
    b"\r\n"
    b"  line 2\r\n"
    b"\r\n"
    b'flow: [a, "b"] # inline\r\n'
    b"empty:   # nothing yet\r\n"
    b"long: words that go\r\n"
    b"  on here\r\n"
    b"base: &base 1\r\n"
    b"same: *base\r\n"
    b"nested:\r\n"
    b"    deep: {a: 1}\r\n"
    b"---  \r\n"
    b"Body with \xff a bad byte\r\n"
    b"---\r\n"
    b"no final newline"
)


def lines_changed(before: bytes, after: bytes) -> tuple[list[bytes], list[bytes]]:
    """The lines only in the one, and only in the other."""
    old, new = before.split(b"\n"), after.split(b"\n")
    while old and new and old[0] == new[0]:
        old.pop(0), new.pop(0)
    while old and new and old[-1] == new[-1]:
        old.pop(), new.pop()
    return old, new


@pytest.mark.parametrize(
    ("key", "value", "gone", "come"),
    [
        ("title", "new: x", [b"title:   'It''s odd'   # why\r"], [b'title:   "new: x"   # why\r']),
        ("created", datetime(2026, 4, 2, 9, 30, tzinfo=UTC), [b"created: 2026-03-01\r"], [b"created: 2026-04-02T09:30:00Z\r"]),
        ("quoted key", True, [b'"quoted key": yes\r'], [b'"quoted key": true\r']),
        ("tags", ["one", "two", "three"], [], [b"- three\r"]),
        ("tags", ["one"], [b"- 'two'\r"], []),
        ("tags", ["two"], [b"- one # first\r"], []),
        ("tags", "none", [b"tags:\r", b"- one # first\r", b"# between\r", b"- 'two'\r"], [b"tags: none\r"]),
        ("text", 3, [b"text: |  # kept\r", b"  line 1\r", b"\r", b"  line 2\r"], [b"text: 3  # kept\r"]),
        ("flow", ["c"], [b'flow: [a, "b"] # inline\r'], [b"flow: [c] # inline\r"]),
        ("flow", None, [b'flow: [a, "b"] # inline\r'], [b"flow: # inline\r"]),
        ("empty", "[[A note]]", [b"empty:   # nothing yet\r"], [b'empty: "[[A note]]"   # nothing yet\r']),
        ("empty", ["a", "b"], [], [b"  - a\r", b"  - b\r"]),
        ("long", 1.5, [b"long: words that go\r", b"  on here\r"], [b"long: 1.5\r"]),
        ("same", False, [b"same: *base\r"], [b"same: false\r"]),
        ("nested", "flat", [b"nested:\r", b"    deep: {a: 1}\r"], [b"nested: flat\r"]),
        ("new", date(2026, 1, 2), [], [b"new: 2026-01-02\r"]),
    ],
)  # fmt: skip
def test_only_the_lines_of_the_key_change(
    key: str, value: object, gone: list[bytes], come: list[bytes]
) -> None:
    changed = set_key(AWKWARD, key, value)

    assert sorted(set(AWKWARD.split(b"\n")) - set(changed.split(b"\n"))) == sorted(
        set(gone) - set(come) - {b"\r"}
    )
    old, new = lines_changed(AWKWARD, changed)
    assert [line for line in new if line not in old] == come
    assert len(changed.split(b"\n")) - len(AWKWARD.split(b"\n")) == len(come) - len(gone)


def test_setting_what_is_there_already_still_leaves_the_rest() -> None:
    assert set_key(AWKWARD, "tags", ["one", "two"]) == AWKWARD


def test_a_note_without_frontmatter_gets_one_in_its_own_line_ends() -> None:
    assert set_key(b"Hello\r\nyou", "a", 1) == b"---\r\na: 1\r\n---\r\nHello\r\nyou"
    assert set_key(b"\xef\xbb\xbfHello", "a", 1) == b"\xef\xbb\xbf---\na: 1\n---\nHello"
    assert set_key(b"", "a", None) == b"---\na:\n---\n"


def test_an_empty_frontmatter_is_filled() -> None:
    assert set_key(b"---\n---\nHi", "a", ["x"]) == b"---\na:\n  - x\n---\nHi"


def test_a_rule_on_the_first_line_is_no_frontmatter() -> None:
    assert set_key(b"---\nHi", "a", 1) == b"---\na: 1\n---\n---\nHi"


@pytest.mark.parametrize(
    ("note", "line"),
    [
        (b"---\nfine: 1\nbad: [\n---\n", 4),
        (b"---\nfine: 1\nbad: a: b\n---\n", 3),
        (b"---\na: 1\n\tb: 2\n---\n", 3),
        (b"---\na: 1\nk: 1\nk: 2\n---\n", 4),
        (b"---\nJust prose here.\n---\n", 2),
        (b"---\n{a: 1}\n---\n", 2),
        (b"---\na: 1\nb: \xff\n---\n", 3),
        (b"---\na: 1\nk: &x 1\nb: *x\n---\n", 3),
    ],
)
def test_malformed_frontmatter_is_refused_and_the_line_named(note: bytes, line: int) -> None:
    with pytest.raises(MalformedFrontmatter) as refused:
        set_key(note, "k", "v")
    assert refused.value.data["line"] == line
    assert f"line {line}" in refused.value.message


@pytest.mark.parametrize("value", ["True Grit", "false alarm", "12:30", "1.5 hours", "2026-13-45"])
def test_a_value_that_begins_like_another_is_text(value: str) -> None:
    note = parse_note("n.md", f"---\ntitle: {value}\nalias: [{value}, x]\n---\n".encode())
    assert note.frontmatter == {"title": value, "alias": [value, "x"]}
    assert note.frontmatter_problem is None


@pytest.mark.parametrize("tag", ["bool", "int", "float", "timestamp", "binary", "set", "omap"])
def test_a_value_that_its_tag_does_not_fit_is_a_problem_of_its_header(tag: str) -> None:
    note = parse_note("n.md", f"---\nkind: tale\nkey: !!{tag} é z\n---\ntext".encode())
    assert note.frontmatter_problem is not None
    assert note.frontmatter["kind"] == "tale"
    assert note.blocks[0].text == "text"


def test_what_yaml_cannot_hold_is_refused() -> None:
    for key, value in [("", 1), ("k", object()), ("k", "\ud800"), ("k", [{"a": 1}])]:
        with pytest.raises(InvalidParams):
            set_key(b"", key, value)


def test_removing_a_key_takes_its_lines_and_no_others() -> None:
    without = remove_key(AWKWARD, "tags")
    assert lines_changed(AWKWARD, without) == (
        [b"tags:\r", b"- one # first\r", b"# between\r", b"- 'two'\r"],
        [],
    )
    assert remove_key(AWKWARD, "absent") == AWKWARD


# Values, keys and headers of every kind.

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SCALAR = st.one_of(
    TEXT,
    st.sampled_from(["yes", "No", "null", "~", "1e3", "0x1F", "12:30", "2026-01-01", "- a", "a: b", "#x", "[[A]]", "é", ".inf", "=", "y"]),
    st.integers(), st.floats(), st.booleans(), st.none(),
    st.dates(min_value=date(1000, 1, 1)),
    st.datetimes(min_value=datetime(1000, 1, 2), max_value=datetime(9998, 1, 1), timezones=st.sampled_from([UTC, timezone(timedelta(hours=2))])),
)  # fmt: skip
VALUE = st.one_of(SCALAR, st.lists(SCALAR, max_size=4))
KEY = st.one_of(st.text(string.ascii_letters + "_-", min_size=1, max_size=10), TEXT.filter(bool))
ENTRIES = st.lists(
    st.sampled_from(
        [
            "a: 1", "b:   'it''s' # c", "c:\n- x\n# mid\n- y # z", "d:\n    - x\n    -  'q'", "e: |\n  t1\n\n  t2\n", "f: >-\n   x\n   y",
            "g: [1, 'two', {x: y}] # f", "h:", "i: # only a comment", "j: &anchor v", "k: *anchor", "l: more\n  lines", "# a comment", "",
            "m: 2026-01-01", '"n o": "x\\ty"', "p:\n  q:\n    r: 1\n  s: [a,\n   b]", "t: !tag v", "u:\n  - - a\n    - b\n  - c: d\n    e: f", "v: \"multi\n  line\"",
        ]
    ),
    unique=True,
    max_size=8,
)  # fmt: skip


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    entries = draw(ENTRIES)
    if "k: *anchor" in entries and (
        "j: &anchor v" not in entries or entries.index("j: &anchor v") > entries.index("k: *anchor")
    ):
        entries.remove("k: *anchor")
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    body = draw(st.sampled_from(["", "Body", "Body\n\n---\nmore\n", "\n\nx"]))
    text = body if not entries else "\n".join(["---", *entries, "---\n"]) + body
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return bom + text.replace("\n", newline).encode()


def same(found: object, value: object) -> bool:
    if isinstance(value, list):
        return isinstance(found, list) and len(found) == len(value) and all(map(same, found, value))
    return found == value if isinstance(value, datetime) else repr(found) == repr(value)


@settings(max_examples=40, deadline=None)
@given(notes(), KEY, VALUE)
def test_what_is_set_is_read_and_the_rest_reads_as_before(
    note: bytes, key: str, value: object
) -> None:
    assume(key != "j" or b"*anchor" not in note)  # refused: another key depends on its value
    before = parse_note("n.md", note).frontmatter
    after = parse_note("n.md", set_key(note, key, value))

    assert after.frontmatter_problem is None
    assert same(after.frontmatter[key], value)
    del after.frontmatter[key]
    before.pop(key, None)
    assert repr(before) == repr(after.frontmatter)


@settings(max_examples=40, deadline=None)
@given(notes(), KEY, VALUE)
def test_removing_a_new_key_restores_the_bytes(note: bytes, key: str, value: object) -> None:
    assume(key not in parse_note("n.md", note).frontmatter)
    assert remove_key(set_key(note, key, value), key) == note


@settings(max_examples=40, deadline=None)
@given(notes(), st.sampled_from("abcdefghilmptuv"), VALUE, VALUE)
def test_a_value_can_be_set_over_any_other(
    note: bytes, key: str, first: object, second: object
) -> None:
    once = set_key(note, key, first)
    twice = set_key(once, key, second)
    assert same(parse_note("n.md", twice).frontmatter[key], second)
    assert set_key(once, key, first) == once
    comments = [line for line in note.split(b"\n") if line.startswith(b"#")]
    assert all(line in twice.split(b"\n") for line in comments if line.strip() != b"# mid")


@pytest.mark.timeout(10)  # a refusal takes milliseconds; reading all of it takes minutes
def test_yaml_that_is_nested_too_deeply_is_not_edited() -> None:
    note = b"---\nowner: Ada\na: " + b"[" * 30_000 + b"]" * 30_000 + b"\n---\nText\n"
    for edit in (lambda: set_key(note, "owner", "Emil"), lambda: remove_key(note, "owner")):
        with pytest.raises(MalformedFrontmatter, match="nested too deeply"):
            edit()
