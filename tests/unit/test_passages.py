"""Passages that are read once, for as long as the names of the vault stay the same."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memvault.text.name_matcher import NameMatcher
from memvault.text.names import Name, NameRank
from memvault.verification.claims.claim_extraction import ClaimCache
from memvault.verification.claims.claim_stems import stems_of
from memvault.verification.claims.claims import Claim, ClaimSource

TEXT = "The rent of Marlin is 400 EUR. The boat needs paint."


NAMES = ("Marlin", "Marlin Two", "Two", "Heron", "Ada Berg", "Ada Quist", "The Rent")


def called(name: str) -> Name:
    kind = "person" if name.startswith("Ada") else "project"
    return Name(name, name, kind, f"projects/{name}.md", NameRank.TITLE)


def names_of(*names: str) -> NameMatcher:
    rules = NameMatcher()
    for name in names:
        rules.replace(name, [called(name)])
    return rules


def source(note: str = "n") -> ClaimSource:
    return ClaimSource(note, f"{note}.md", "Meeting", kind="meeting")


def are_kept(before: list[Claim], after: list[Claim]) -> bool:
    return bool(before) and all(one is other for one, other in zip(before, after, strict=True))


def test_a_passage_is_read_once_however_often_it_is_found() -> None:
    passages = ClaimCache(names_of("Marlin"))
    first = passages.claims(TEXT, source(), frozenset({"rent"}))
    assert [claim.subjects for claim in first] == [frozenset({"Marlin"})]
    assert are_kept(first, passages.claims(TEXT, source(), frozenset({"rent"})))
    assert are_kept(first, passages.claims(TEXT, source()))


def test_a_new_name_makes_the_passages_that_have_it_be_read_again_and_no_others() -> None:
    names = names_of("Marlin")
    passages = ClaimCache(names)
    text = "The rent of Marlin Two is 400 EUR."
    other = passages.claims("The rent of Heron is 5 EUR.", source())
    assert [claim.subjects for claim in passages.claims(text, source())] == [{"marlin two"}]
    names.replace("Marlin Two", [called("Marlin Two")])
    assert [claim.subjects for claim in passages.claims(text, source())] == [{"Marlin Two"}]
    assert are_kept(other, passages.claims("The rent of Heron is 5 EUR.", source()))


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=8))
def test_whatever_names_come_and_go_passages_say_what_they_say_when_read_again(
    changes: list[tuple[str, bool]],
) -> None:
    names = names_of()
    passages = ClaimCache(names)
    notes = [replace(source(), title=title, project="Heron") for title in ("Meeting", "Marlin Two")]
    texts = ["The rent of Marlin Two is 400 EUR.", "Ada leads Heron.", "**Mar**lin: 5 EUR", TEXT]
    for name, is_there in changes:
        names.replace(name, [called(name)] if is_there else [])
        for note in notes:
            for text in texts:
                again = ClaimCache(names).claims(text, note)
                assert passages.claims(text, note) == again


def test_the_passages_not_asked_for_longest_go_first() -> None:
    passages = ClaimCache(names_of("Marlin"), max_cached=2)
    first = {note: passages.claims(TEXT, source(note)) for note in ("a", "b", "a", "c")}
    assert are_kept(first["a"], passages.claims(TEXT, source("a")))
    assert not are_kept(first["b"], passages.claims(TEXT, source("b")))


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
    passages = ClaimCache(names_of("Marlin"))
    for asked, text in (
        ("launch", "The release is on 3 May."),
        ("end", "The lease closes on 3 May."),
    ):
        assert passages.claims(text, source(), stems_of(asked)) == passages.claims(text, source())
        assert passages.claims(text, source(), stems_of(asked))
