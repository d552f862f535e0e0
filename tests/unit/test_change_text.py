"""The description of a change, and what clients wrote in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memvault.curation.changes.change_text import said_in

_WRITTEN = st.lists(st.sampled_from([", by ", ": ", ":", "“", "order", " ", "x" * 101])).map(
    "".join
)


@given(title=_WRITTEN, name=_WRITTEN, reason=_WRITTEN)
def test_all_words_of_a_description_are_judged_whatever_reads_as_the_name_of_a_client(
    title: str, name: str, reason: str
) -> None:
    described = f"Stored “{title}”, by {name}: {reason}"
    judged = "".join(said_in(described))
    for word in ("order", "x" * 101, "“"):
        assert judged.count(word) == described.count(word)


def test_the_title_and_the_reason_are_judged_apart_from_the_name_of_the_client() -> None:
    told, name = said_in("Stored “Plan”, by Claude: the user asked for it")
    assert told == "Stored “Plan”\n\nthe user asked for it"
    assert name == "Claude"
