"""Finds which of a sentence's values belongs to a statement's words, by their distance."""

from __future__ import annotations

from memvault.reasoning.wording import TOKEN, Statement, said_by
from memvault.verification.amounts import Amount, AmountKind, equal_amounts
from memvault.verification.claim_stems import canonical_stem, stems_of

_APART = 6  # added to a distance for each comma or "and" in between
_NEARER = 0.15  # least difference of two sums of 1 / distance for one word to be nearer


def comparable_numbers(ours: Statement, theirs: Statement) -> frozenset[str]:
    """The numbers of a sentence that are comparable with the statement's."""
    nothing = frozenset("0") & theirs.of("number")
    if not ours.amounts:
        return theirs.of("number")
    said = said_by(theirs)
    alike = [
        other
        for other in theirs.amounts
        if any((each.kind, each.unit) == (other.kind, other.unit) for each in ours.amounts)
    ] or [
        other
        for other in theirs.amounts
        if any(_is_comparable(each, other, said) for each in ours.amounts)
    ]
    return nothing | {
        each.key
        for each in theirs.tokens
        if each.kind == "number" and any(a.start <= each.start < a.end for a in alike)
    }


def nearest(ours: Statement, theirs: Statement, kind: str, keys: frozenset[str]) -> frozenset[str]:
    """The one of these values of a sentence that is nearest to most of the statement's words."""
    if len(keys) < 2:
        return keys
    weights = _weights(ours, theirs, kind, keys)
    return frozenset({max(weights, key=lambda key: weights[key])}) if weights else keys


def misplaced(
    ours: Statement, theirs: Statement
) -> tuple[str, frozenset[str], frozenset[str]] | None:
    """A value that the sentence gives to another subject than the statement does, or None.

    Returns its kind, the value, and the value that the sentence gives to the statement's subject.
    """
    subject = next((each.key for each in ours.tokens if each.kind in ("word", "name")), "")
    places = [each for each in theirs.tokens if each.key == subject]
    told = comparable_numbers(ours, theirs)
    mine = _shared(ours, theirs, "number", told)
    apart = {each.clause for each in places}.isdisjoint(
        each.clause for each in theirs.tokens if each.kind == "number" and each.key in mine
    )
    if len(mine) == 1 and len(told) > 1 and apart and not ours.denied:
        weights = _weights(ours, theirs, "number", told, behind_first=True)
        best = max(told, key=lambda key: weights.get(key, 0.0))
        if weights.get(best, 0.0) > 0.0 == weights.get(next(iter(mine)), 0.0):
            return "number", mine, frozenset({best})
    if ours.denied or theirs.denied or len(places) != 1:
        return None
    for kind in ("number", "weekday", "month", "name"):
        told = theirs.of(kind) if kind != "number" else comparable_numbers(ours, theirs)
        mine = _shared(ours, theirs, kind, told)
        if len(mine) != 1 or len(told) < 2 or subject in told:
            continue
        away = {
            each.key: abs(each.place - places[0].place)
            + _APART * abs(each.clause - places[0].clause)
            for each in theirs.tokens
            if each.kind == kind and each.key in told
        }
        best = min(away, key=lambda key: away[key])
        own = next(iter(mine))
        if away[own] - away[best] >= _APART and _has_other_subject(ours, theirs, kind, own):
            return kind, mine, frozenset({best})
    return None


def _shared(ours: Statement, theirs: Statement, kind: str, told: frozenset[str]) -> frozenset[str]:
    """The values that both sentences have, without numbers that are part of the same time."""
    both = ours.of(kind) & told
    return frozenset(key for key in both if not _is_of_same_day_or_hour(ours, theirs, key))


def _is_of_same_day_or_hour(ours: Statement, theirs: Statement, number: str) -> bool:
    """Whether a number is part of the same day or time in both sentences."""

    def times_with(said: Statement) -> list[Amount]:
        starts = [each.start for each in said.tokens if each.key == number]
        return [
            amount
            for amount in said.amounts
            if amount.kind in (AmountKind.DATE, AmountKind.TIME)
            and any(amount.start <= at < amount.end for at in starts)
        ]

    return any(
        equal_amounts(one, other) for one in times_with(ours) for other in times_with(theirs)
    )


def accompanies_opposite(ours: Statement, theirs: Statement, opposite: str, word: str) -> bool:
    """Whether the statement's other words are nearer to the opposite than to the word itself."""
    low = [match[0].lower() for match in TOKEN.finditer(theirs.text)]
    at, its = low.index(word), low.index(opposite)
    mine = {key for key in said_by(ours) if key != canonical_stem(word)}
    score = 0.0
    for place, each in enumerate(low):
        if canonical_stem(each) not in mine or each in (word, opposite):
            continue
        between = low[min(place, at) : max(place, at)]
        beyond = low[min(place, its) : max(place, its)]
        own = abs(place - at) + _APART * sum(x in ("and", ",", ";", "but") for x in between)
        far = abs(place - its) + _APART * sum(x in ("and", ",", ";", "but") for x in beyond)
        score += 1.0 / max(1, far) - 1.0 / max(1, own)
    return score > _NEARER


def _weights(
    ours: Statement,
    theirs: Statement,
    kind: str,
    keys: frozenset[str],
    *,
    behind_first: bool = False,
) -> dict[str, float]:
    """The sum of 1 / distance of the statement's words nearest to each value of a sentence.

    Args:
        behind_first: ignore words before the first value, which may refer to all values.
    """
    values = [each for each in theirs.tokens if each.kind == kind and each.key in keys]
    weights = dict.fromkeys((each.key for each in values), 0.0)
    mine = said_by(ours)
    for word in theirs.tokens:
        if word.kind not in ("word", "name") or word in values:
            continue
        if word.key not in mine and not (word.kind == "name" and stems_of(word.text) & mine):
            continue
        if behind_first and word.place < values[0].place:
            continue
        if any(each.start <= word.start < each.end for each in theirs.amounts):
            continue
        away = [
            abs(word.place - each.place) + _APART * abs(word.clause - each.clause)
            for each in values
        ]
        near = min(away, default=0)
        if away.count(near) == 1:
            weights[values[away.index(near)].key] += 1.0 / near if near else 1.0
    return weights


def _is_comparable(one: Amount, other: Amount, said: frozenset[str]) -> bool:
    """Whether two amounts have the same unit; a bare number fits any unit that the words name."""
    kinds = {one.kind, other.kind}
    if AmountKind.NUMBER in kinds:
        if AmountKind.VERSION in kinds:
            return False
        if AmountKind.DATE in kinds or AmountKind.COUNT not in kinds:
            return AmountKind.TIME not in kinds
        return canonical_stem(one.unit or other.unit) in said
    if kinds == {AmountKind.COUNT} and one.unit in said:
        return True
    return one.unit != "" and one.unit == other.unit


def _has_other_subject(ours: Statement, theirs: Statement, kind: str, key: str) -> bool:
    """Whether the clause with this value has words that the statement does not have."""
    said = said_by(ours)
    clauses = {each.clause for each in theirs.tokens if (each.kind, each.key) == (kind, key)}
    return any(
        each.clause in clauses and each.kind in ("word", "name") and each.key not in said
        for each in theirs.tokens
    )
