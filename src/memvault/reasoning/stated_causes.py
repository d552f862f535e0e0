"""Finds the causes and effects that notes state.

A link is causal if its relation has a standard causal name (`memvault.model.graph`). Names in a
field, a labelled line or a frontmatter key must match exactly. In running text only the words
directly before the link are read ("was caused by [[X]]"), and only in a sentence that is not
negated, hedged or a question: missing a cause is better than inventing one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from memvault.model.graph import (
    AROUND_VERBS,
    CAUSE_FIELDS,
    CAUSED,
    CAUSING,
    EFFECT_FIELDS,
    NAMED_ORIGINS,
    GraphEdge,
    relation_name,
)
from memvault.model.search import CausalLink
from memvault.stores.graph_view import GraphView, edge_source, node_ref

MAX_LINKS = 20
MAX_SENTENCES = 200  # most sentences naming a node that are read
_DENIED = re.compile(
    r"\b(?:not|never|no|nor|neither|without|hardly|unlikely|cannot|if|whether|unless|might|may|could"
    r"|would|maybe|perhaps)\b|n['’]t\b|\?\s*$",
    re.IGNORECASE,
)


def causal_links(
    ids: Sequence[str], edges: GraphView, allowed: Callable[[str], bool] = lambda _: True
) -> tuple[CausalLink, ...]:
    """The causal links that start or end at these nodes, or that these notes state.

    Links between two of the nodes come first, then those of the first ids. Nodes for which
    ``allowed`` is false are left out, with what they state.
    """
    order = {key: index for index, key in enumerate(ids)}
    ranked_links: dict[tuple[str, str, str], tuple[tuple[int, int, float], CausalLink]] = {}
    for key in ids:
        for edge in _edges_about(key, edges, allowed):
            link = causal_link(edge, edges)
            if link is None or key not in (link.cause.id, link.effect.id, edge.source):
                continue
            if not (allowed(link.cause.id) and allowed(link.effect.id)):
                continue
            ends = [order[end.id] for end in (link.cause, link.effect) if end.id in order]
            rank = (-len(ends), min(ends, default=len(ids)), -edge.effective_weight())
            link_key = (link.cause.id, link.effect.id, relation_name(link.relation))
            if link_key not in ranked_links or rank < ranked_links[link_key][0]:
                ranked_links[link_key] = (rank, link)
    best = sorted(ranked_links.items(), key=lambda item: (item[1][0], item[0]))
    return tuple(link for _, (_, link) in best[:MAX_LINKS])


def _edges_about(
    node_id: str, edges: GraphView, allowed: Callable[[str], bool]
) -> Iterator[GraphEdge]:
    """The edges of a node, and the edges of sentences that name it before a causal verb."""
    touching = edges.of(node_id)
    yield from (
        edge
        for edge in touching
        if _meaning(edge.relation, edge.origin in NAMED_ORIGINS) is not None
        and allowed(edge.source)
    )
    naming = (
        edge
        for edge in touching
        if edge.target == node_id and edge.origin not in NAMED_ORIGINS and allowed(edge.source)
    )
    for edge in islice(naming, MAX_SENTENCES):
        for following in edges.stated_by(edge.source):
            is_after = following.line == edge.line and following.place > edge.place
            if is_after and following is not edge:
                yield following


def causal_link(edge: GraphEdge, edges: GraphView) -> CausalLink | None:
    """The causal link that an edge states, or None."""
    forward = direction(edge)
    if forward is None:
        return None
    start = edge.source
    if edge.origin not in NAMED_ORIGINS:
        start = _subject(edge, edges.stated_by(edge.source)) or start
    ends = (start, edge.target) if forward else (edge.target, start)
    if ends[0] == ends[1]:
        return None
    source = edge_source(edge, edges)
    if source is None:
        return None
    return CausalLink(node_ref(ends[0], edges), node_ref(ends[1], edges), edge.relation, source)


def direction(edge: GraphEdge) -> bool | None:
    """True if the edge's start is the cause, False if its end is, None if it is not causal."""
    given = edge.origin in NAMED_ORIGINS
    forward = _meaning(edge.relation, given)
    return None if forward is None or (not given and _DENIED.search(edge.sentence)) else forward


@lru_cache(maxsize=10_000)
def _meaning(relation: str, given: bool) -> bool | None:
    """Like `direction`, from the relation's name alone."""
    name = relation_name(relation)
    if given:
        if name in CAUSING or name in EFFECT_FIELDS:
            return True
        return False if name in CAUSED or name in CAUSE_FIELDS else None
    cue = _cue(name)
    return None if cue is None else cue in CAUSING


def _cue(phrase: str) -> str | None:
    """The causal verb or preposition at the end of a phrase, or None.

    A single word counts only if it is alone ("blocks [[X]]", not "building blocks [[X]]").
    """
    words = phrase.split()
    for start in range(len(words)):
        cue = " ".join(words[start:])
        if cue in CAUSING or cue in CAUSED:
            alone = len(words) - start > 1 or all(word in AROUND_VERBS for word in words[:start])
            return cue if alone else None
    return None


def _subject(edge: GraphEdge, stated: Iterable[GraphEdge]) -> str | None:
    """The entity named directly before the verb ("[[A]] was caused by [[B]]"), or None."""
    preceding = [
        other
        for other in stated
        if other.line == edge.line
        and other.sentence == edge.sentence
        and 0 <= other.place < edge.place
        and other.relation != edge.relation
    ]
    nearest = max(preceding, key=lambda other: other.place + other.length, default=None)
    if nearest is None:
        return None
    between = edge.sentence[nearest.place + nearest.length : edge.place]
    words = relation_name(between)
    cue = _cue(relation_name(edge.relation)) or ""
    words_before_cue = words.removesuffix(cue).split() if words.endswith(cue) else None
    is_subject = words_before_cue is not None and set(words_before_cue) <= AROUND_VERBS
    return nearest.target if is_subject else None
