"""Notices: whole sentences that an answer has in addition to its memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from memvault.model.search import Hit, Mode
from memvault.search.context.properties import withheld_keys
from memvault.search.lists.general_questions import asks_for_all, stems_by_language
from memvault.search.modes import ModePlan
from memvault.search.question_languages import is_name_in
from memvault.search.request import Candidates
from memvault.text.words import STOP_WORDS, words

NONE_OF_THAT_TIME = "No note is of the time asked for, or names a day of it; these are the nearest."
UNSURE = "No note surely answers this; these are the nearest."
OTHER_LANGUAGE = (
    "Hardly any note is in the language of the question, and the search model does not know both: "
    "ask again in the language of the notes."
)
MAX_NEAREST = 3  # notes named if none answers
MAX_NAMED = 5  # memories and properties of which the text is withheld


def unanswered_notice(candidates: Candidates) -> str:
    """Says that no note seems to answer, and names the nearest ones, but none whose name may state
    what is withheld."""
    hits = [hit for hit in candidates.hits[:MAX_NEAREST] if not hit.states_claim]
    nearest = [f"{hit.title!r} ({hit.path})" for hit in hits]
    verb = "are" if nearest[1:] else "is"
    named = f"; the nearest {verb} {_enumeration(nearest)}" if nearest else ""
    return " ".join(filter(None, (candidates.notice, f"No note seems to answer this{named}.")))


def _enumeration(items: Sequence[str]) -> str:
    return f"{', '.join(items[:-1])} and {items[-1]}" if items[1:] else items[0]


def unseen_names_notice(names: Sequence[str]) -> str | None:
    """Says which names of the question are in no note; None without such names."""
    return f"No note has {' or '.join(map(repr, names))}." if names else None


def threshold_notice(
    mode: Mode, plan: ModePlan, hits: Sequence[Hit], shown: Sequence[Hit]
) -> str | None:
    """Says that no hit reaches the confidence that the mode requires; None if one does."""
    if not hits or shown:
        return None
    best = max(hits, key=lambda hit: hit.confidence)
    return (
        f"No memory reaches the confidence of {plan.threshold:.2f} that {mode.value} mode "
        f"requires; {best.title!r} has {best.confidence:.2f}. "
        'Ask with mode="default" to see it.'
    )


def withheld_notice(topic: str | None, query: str, hits: Sequence[Hit]) -> str | None:
    """Names the memories and properties whose text is withheld, because nothing confirms it."""
    if topic is None:
        return None
    names = [name for hit in hits for name in _withheld_texts(hit, query)]
    if not names:
        return None
    items, further_count = names[:MAX_NAMED], len(names) - MAX_NAMED
    if further_count > 0:
        items.append(f"{further_count} more")
    return (
        f"Withheld: {_enumeration(items)}. The question is on a {topic} matter, and an AI client "
        "or an import wrote this text or changed what is next to it. The text may be about "
        "something else. If it may answer, call recall_memory with allow_unverified=true and say "
        "that it is unverified; the person verifies it on the Curate page or with verified: true "
        "in the note."
    )


def _withheld_texts(hit: Hit, query: str) -> list[str]:
    """The path of a memory that is withheld, or which properties and text of it are."""
    if hit.withheld:
        return [f"the note {hit.memory.id}" if hit.states_claim else hit.path]
    withheld_parts = withheld_keys(hit.memory, query) if hit.gated else []
    if hit.own_only and hit.memory.provenance.has_claims_in(hit.lines):
        withheld_parts.append("part")
    return [f"{withheld_part} of {hit.path}" for withheld_part in withheld_parts]


def cut_list_notice(total: int, shown_count: int) -> str | None:
    """Says that these are not all notes of the time, or with the tasks, that a question is for."""
    if shown_count >= total:
        return None
    return (
        f"{total} notes fit the question, and {shown_count} of them are here. Ask for more results "
        "to see all."
    )


def incomplete_list_notice(
    query: str, count: Callable[[str], int], shown: Sequence[Hit]
) -> str | None:
    """Says how many notes of a type, folder or tag exist, if a question for all of them gets fewer.

    Args:
        count: returns the number of notes of a type, or in a folder or with a tag of this name,
            that may be shown.
    """
    if not asks_for_all(query):
        return None
    content = " ".join(word for word in words(query) if word not in STOP_WORDS)
    query_stems = stems_by_language(content, query)

    def is_asked_for(kind: str) -> bool:
        if is_name_in(query, kind):
            return False
        pairs = zip(stems_by_language(kind, query), query_stems, strict=True)
        return any(
            kind_stems and kind_stems <= language_stems for kind_stems, language_stems in pairs
        )

    type_counts = Counter(hit.memory.type for hit in shown)
    for kind in filter(is_asked_for, type_counts):
        if (total := count(kind)) > type_counts[kind]:
            return (
                f"There are {total} notes of type {kind!r}, and {type_counts[kind]} of them here. "
                "Ask for more results, and only of this type, to see all."
            )
    group_counts = Counter(group for hit in shown for group in hit.memory.groups)
    for group in filter(is_asked_for, group_counts):
        if (total := count(group)) > group_counts[group]:
            return (
                f"There are {total} notes in the folder or with the tag {group!r}, "
                f"and {group_counts[group]} of them here. Ask for more results to see all."
            )
    return None
