"""The numbers by which roads through the graph are weighed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoadSettings:
    """Chosen by measurement on vaults of several domains; similarities are cosines plus `shared`.

    Attributes:
        fall: how fast a step loses worth behind the step that says the same words best.
        listed: taken from a step whose target stands in a list where one thing is meant.
        shared: worth of the question's word stems found in a step, all of them together.
        right_kinds: least worth of an edge that joins the kinds asked for, in whatever words.
        two_steps: how much better two edges together must fit than one edge; ``two_steps_loose``
            if one edge would do or the question's words say little; ``same_sentence`` and
            ``same_sentence_loose`` for two edges of one sentence.
        reversed_value: taken from a step to a value that another note states.
        own_note: worth of a thing's own note where a value of it is asked for.
        kind_cosine: from which on a noun is taken to mean a kind of note.
        kind_spread: how fast other kinds lose weight behind the one meant.
        wrong_kind, other_kind: least weight of a kind that is not the one named, or not the
            nearest.
        contracted: factor for each noun that is read as words of a relation.
        topic_floor: least factor for a result that does not fit the words before its noun.
        topic_words: worth of those words' stems found in a title.
        outside_times, undated_inside: factors for what happened at another time, and at no known
            time, where a time is asked for; ``undated_step`` for a step without any date.
        seen: least score of a node that is followed; ``followed`` nodes at most per relation.
    """

    fall: float = 0.1
    listed: float = 0.08
    shared: float = 0.25
    right_kinds: float = 0.2
    two_steps: float = 0.12
    two_steps_loose: float = 0.35
    same_sentence: float = 0.03
    same_sentence_loose: float = 0.2
    reversed_value: float = 0.1
    own_note: float = 0.45
    kind_cosine: float = 0.5
    kind_spread: float = 0.08
    wrong_kind: float = 0.1
    other_kind: float = 0.15
    contracted: float = 0.55
    topic_floor: float = 0.45
    topic_words: float = 0.3
    outside_times: float = 0.05
    undated_inside: float = 0.3
    undated_step: float = 0.5
    seen: float = 0.02
    followed: int = 400
