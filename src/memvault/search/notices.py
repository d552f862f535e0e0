"""Notices: whole sentences that an answer has in addition to its memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from memvault.model.search import Hit, Mode
from memvault.search.general_questions import asks_for_all, stems_by_language
from memvault.search.modes import ModePlan
from memvault.search.request import Candidates

NONE_OF_THAT_TIME = "No note is of the time asked for, or names a day of it; these are the nearest."
UNSURE = "No note surely answers this; these are the nearest."
NEAREST = 3  # notes named if none answers


def not_known(found: Candidates) -> str:
    """Says that no note seems to answer, and names the nearest ones."""
    nearest = [f"{hit.memory.title!r} ({hit.memory.path})" for hit in found.hits[:NEAREST]]
    names = f"{', '.join(nearest[:-1])} and {nearest[-1]}" if nearest[1:] else nearest[0]
    verb = "are" if nearest[1:] else "is"
    notice = f"No note seems to answer this; the nearest {verb} {names}."
    return " ".join(filter(None, (found.notice, notice)))


def below_threshold(
    mode: Mode, plan: ModePlan, hits: Sequence[Hit], shown: Sequence[Hit]
) -> str | None:
    """Says that no hit reaches the confidence that the mode requires; None if one does."""
    if not hits or shown:
        return None
    best = max(hits, key=lambda hit: hit.confidence)
    return (
        f"No memory reaches the confidence of {plan.threshold:.2f} that {mode.value} mode "
        f"requires; {best.memory.title!r} has {best.confidence:.2f}. "
        'Ask with mode="default" to see it.'
    )


def withheld(matter: str | None, shown: Sequence[Hit]) -> str | None:
    """Says how many memories are named without their text, because nothing confirms it."""
    count = sum(hit.withheld for hit in shown)
    if not count or matter is None:
        return None
    memories = "1 memory is" if count == 1 else f"{count} memories are"
    return (
        f"{memories} named here without text: the question is on a {matter} matter, and nothing "
        "that the person wrote confirms what an AI client or an import says there. Ask the person "
        "to verify them on the Curate page or with verified: true in the note, or call "
        "recall_memory with allow_unverified=true and say that it is unverified."
    )


def not_all(query: str, count: Callable[[str], int], shown: Sequence[Hit]) -> str | None:
    """Says how many notes of a type, folder or tag exist, if a question for all of them gets fewer.

    Args:
        count: returns the number of notes of a type, or in a folder or with a tag of this name,
            that may be shown.
    """
    if not asks_for_all(query):
        return None
    query_stems = stems_by_language(query, query)

    def is_asked_for(kind: str) -> bool:
        pairs = zip(stems_by_language(kind, query), query_stems, strict=True)
        return any(of_kind and of_kind <= of_query for of_kind, of_query in pairs)

    of_type = Counter(hit.memory.type for hit in shown)
    for kind in filter(is_asked_for, of_type):
        if (total := count(kind)) > of_type[kind]:
            return (
                f"There are {total} notes of type {kind!r}, and {of_type[kind]} of them here. "
                "Ask for more results, and only of this type, to see all."
            )
    in_group = Counter(group for hit in shown for group in hit.memory.groups)
    for group in filter(is_asked_for, in_group):
        if (total := count(group)) > in_group[group]:
            return (
                f"There are {total} notes in the folder or with the tag {group!r}, "
                f"and {in_group[group]} of them here. Ask for more results to see all."
            )
    return None
