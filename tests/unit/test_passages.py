"""Passages that are read once, for as long as the names of the vault stay the same."""

from __future__ import annotations

from memvault.text.name_matcher import NameMatcher
from memvault.text.names import Name, NameRank
from memvault.verification.claims.claim_extraction import Passages
from memvault.verification.claims.claim_stems import stems_of
from memvault.verification.claims.claims import ClaimSource

TEXT = "The rent of Marlin is 400 EUR. The boat needs paint."


class Names:
    """Names of a vault that changes; counts how often a text was looked at."""

    def __init__(self) -> None:
        self.known = ["Marlin"]
        self.state = 0
        self.asked: list[str] = []

    def find(self, text: str, exclude: str | None) -> list[tuple[int, int, str]]:
        self.asked.append(text)
        starts = ((text.find(name), name) for name in self.known if name != exclude)
        return [(start, start + len(name), name) for start, name in starts if start >= 0]


def source(note: str = "n") -> ClaimSource:
    return ClaimSource(note, f"{note}.md", "Meeting", kind="meeting")


def test_a_passage_is_read_once_however_often_it_is_found() -> None:
    names = Names()
    passages = Passages(names.find, lambda: names.state)
    first = passages.claims(TEXT, source(), frozenset({"rent"}))
    assert [claim.subjects for claim in first] == [frozenset({"Marlin"})]
    calls = len(names.asked)
    assert passages.claims(TEXT, source(), frozenset({"rent"})) == first
    assert passages.claims(TEXT, source()) == first
    assert calls <= len(names.asked) <= calls + 1  # the sentence that was not asked for before


def test_a_new_name_in_the_vault_makes_passages_be_read_again() -> None:
    names = Names()
    passages = Passages(names.find, lambda: names.state)
    text = "The rent of Marlin Two is 400 EUR."
    assert [claim.subjects for claim in passages.claims(text, source())] == [{"Marlin"}]
    names.known, names.state = ["Marlin Two"], 1
    assert [claim.subjects for claim in passages.claims(text, source())] == [{"Marlin Two"}]


def test_the_passages_not_asked_for_longest_go_first() -> None:
    names = Names()
    passages = Passages(names.find, lambda: names.state, max_cached=2)
    for note in ("a", "b", "a", "c"):
        passages.claims(TEXT, source(note))
    names.asked.clear()
    passages.claims(TEXT, source("a"))
    assert not names.asked
    passages.claims(TEXT, source("b"))
    assert names.asked


def test_the_state_of_the_names_moves_with_every_change_and_only_then() -> None:
    rules = NameMatcher()
    own = Name("Marlin", "note-1", "project", "projects/Marlin.md", NameRank.TITLE)
    states = [rules.state()]
    rules.replace("note-1", [own])
    states.append(rules.state())
    rules.replace("note-1", [own])
    states.append(rules.state())
    rules.remove("note-1")
    states.append(rules.state())
    assert states[0] != states[1] == states[2] != states[3]


def test_a_synonym_of_the_attribute_is_found_as_every_form_of_it_is() -> None:
    passages = Passages(Names().find, lambda: 0)
    for asked, text in (
        ("launch", "The release is on 3 May."),
        ("end", "The lease closes on 3 May."),
    ):
        assert passages.claims(text, source(), stems_of(asked)) == passages.claims(text, source())
        assert passages.claims(text, source(), stems_of(asked))
