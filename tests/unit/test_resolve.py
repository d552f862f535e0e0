"""Links resolve as in Obsidian, whatever the order in which notes came."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.vault.links import LinkIndex, keys_of, link_key


def index(*paths: str, **aliases: list[str]) -> LinkIndex:
    links = LinkIndex()
    for path in paths:
        links.add(path, aliases.get(path.removesuffix(".md"), []))
    return links


VAULT = index(
    "Note.md",
    "a/Note.md",
    "a/b/Other.md",
    "c/Other.md",
    "c/d/Deep.md",
    "z.v1.2.md",
    "c/readme.markdown",
)


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [
        ("Note", "x.md", "Note.md"),
        ("Note", "a/x.md", "Note.md"),  # the exact path comes first, even from a's folder
        ("a/Note", "x.md", "a/Note.md"),
        ("Note.md", "x.md", "Note.md"),
        ("nOTE", "x.md", "Note.md"),
        ("Other", "x.md", "c/Other.md"),  # the fewest folders
        ("Other", "a/b/x.md", "a/b/Other.md"),  # the same folder
        ("Other", "a/x.md", "a/b/Other.md"),  # below the source's folder
        ("b/Other", "x.md", "a/b/Other.md"),  # the path ends so
        ("d/Deep", "x.md", "c/d/Deep.md"),
        ("/Note", "a/x.md", "Note.md"),
        ("/Other", "a/x.md", None),
        ("./Note", "a/x.md", "a/Note.md"),
        ("../Note", "a/x.md", "Note.md"),
        ("../../Note", "a/x.md", None),
        ("./b/Other", "a/x.md", "a/b/Other.md"),
        ("../c/./Other.md", "a/x.md", "c/Other.md"),
        ("z.v1.2", "x.md", "z.v1.2.md"),
        ("README", "x.md", "c/readme.markdown"),
        ("readme.markdown", "x.md", "c/readme.markdown"),
        ("x/Note", "x.md", None),
        ("ote", "x.md", None),
        ("Missing", "x.md", None),
        ("", "a/Note.md", "a/Note.md"),
        ("", "gone.md", None),
        (" Note ", "x.md", "Note.md"),
    ],
)
def test_resolution(target: str, source: str, path: str | None) -> None:
    assert VAULT.resolve(target, source) == path


def test_a_link_to_an_alias_resolves_to_its_note_unless_a_note_has_the_name() -> None:
    links = index("people/Ada.md", **{"people/Ada": ["Countess", "TCP/IP", "Bob"]})
    assert links.resolve("countess", "x.md") == "people/Ada.md"
    assert links.resolve("TCP/IP", "x.md") == "people/Ada.md"
    assert links.resolve("Bob", "x.md") == "people/Ada.md"
    links.add("Bob.md")
    assert links.resolve("Bob", "x.md") == "Bob.md"


def test_accents_match_however_they_are_composed() -> None:
    links = index(unicodedata.normalize("NFD", "Café.md"))
    assert links.resolve(unicodedata.normalize("NFC", "CAFÉ"), "x.md") == unicodedata.normalize(
        "NFD", "Café.md"
    )


def test_of_two_notes_that_differ_in_case_the_one_as_written_is_meant() -> None:
    links = index("note.md", "Note.md")
    assert links.resolve("Note", "x.md") == "Note.md"
    assert links.resolve("note", "x.md") == "note.md"


def test_removing_and_changing_notes_is_forgotten_at_once() -> None:
    links = index("a.md", "b/a.md")
    links.remove("a.md")
    links.remove("a.md")
    assert links.resolve("a", "x.md") == "b/a.md"
    links.add("b/a.md", ["new"])
    assert links.resolve("new", "x.md") == "b/a.md"
    links.add("b/a.md")
    assert links.resolve("new", "x.md") is None
    assert len(links) == 1


NAME = st.sampled_from(["a", "A", "b", "é", "e\u0301", "c.d", "long name"])
PATH = st.lists(NAME, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")
TARGET = st.builds(
    lambda lead, path: lead + path,
    st.sampled_from(["", "./", "../", "/"]),
    PATH | PATH.map(lambda path: path[:-3]),
)
NOTES = st.dictionaries(PATH, st.lists(NAME | st.just("b/a"), max_size=2), max_size=8)


@given(NOTES, TARGET, PATH, st.randoms(use_true_random=False))
def test_the_order_of_adding_does_not_matter(
    notes: dict[str, list[str]], target: str, source: str, random: st.DataObject
) -> None:
    first, second = LinkIndex(), LinkIndex()
    shuffled = list(notes.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for path, aliases in notes.items():
        first.add(path, aliases)
    for path, aliases in shuffled:
        second.add(path, ["old"])
        second.add("gone/" + path, aliases)
        second.add(path, aliases)
    for path in notes:
        second.remove("gone/" + path)
    assert first.resolve(target, source) == second.resolve(target, source)


@given(NOTES, PATH, st.lists(NAME, max_size=2), TARGET, PATH)
def test_a_note_only_changes_links_of_its_own_keys(
    notes: dict[str, list[str]], new: str, aliases: list[str], target: str, source: str
) -> None:
    links = LinkIndex()
    for path, names in notes.items():
        links.add(path, names)
    before = links.resolve(target, source)
    keys = keys_of(new, aliases) | keys_of(new, notes.get(new, []))
    links.add(new, aliases)
    if link_key(target) not in keys:
        assert links.resolve(target, source) == before
    links.remove(new)
    if link_key(target) not in keys:
        assert links.resolve(target, source) == before


@given(NOTES, PATH)
def test_every_note_is_found_by_its_own_path(notes: dict[str, list[str]], source: str) -> None:
    links = LinkIndex()
    for path, names in notes.items():
        links.add(path, names)
    for path in notes:
        found = links.resolve("/" + path, source)
        assert found is not None
        assert (
            unicodedata.normalize("NFC", found).casefold()
            == unicodedata.normalize("NFC", path).casefold()
        )
