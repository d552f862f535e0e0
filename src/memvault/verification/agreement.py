"""Compares claims: whether two are about the same attribute, and whether they agree."""

from __future__ import annotations

from datetime import date
from enum import Enum

from memvault.model.graph import SINGLE_VALUED
from memvault.verification.amounts import Amount, AmountKind, equal_amounts
from memvault.verification.claims import NAME, Claim
from memvault.verification.clause import ROLE_VERBS, canonical, stems_of

_COPIED_WORDS = 8  # a longer sentence that occurs twice, word for word, counts as copied


_COPIED_PROSE = 3  # the limit for a sentence that names its subject, unlike "Budget: 402k EUR"


_SINGLE = {frozenset(canonical(word) for word in name.split()) for name in SINGLE_VALUED} | {
    frozenset({role}) for role in ROLE_VERBS.values()
}


class Verdict(Enum):
    AGREES = "agrees"
    DIFFERS = "differs"
    APART = "apart"  # about different attributes, or not comparable


def compare(one: Claim, other: Claim) -> Verdict:
    """Whether another claim confirms a claim, contradicts it or is unrelated.

    Wishes, hearsay and statements that their sentence calls outdated are unrelated.
    """
    if one.outdated or other.outdated or not (one.asserted and other.asserted):
        return Verdict.APART
    if not (same_attribute(one, other) and same_subject(one, other) and _same_time(one, other)):
        return Verdict.APART
    equal = _equal(one, other)
    if equal is None:
        return Verdict.APART
    if one.negated or other.negated:
        denies = equal and one.negated is not other.negated
        return Verdict.DIFFERS if denies else Verdict.APART
    return Verdict.AGREES if equal else Verdict.DIFFERS


def same_attribute(one: Claim, other: Claim) -> bool:
    """Whether two claims have the same attribute.

    The words must be equal, or the extra words of one must be in the surroundings of the other:
    "Contract ends" equals "Ends" in the contract's note. A marketing budget is not the budget.
    """
    if one.attribute == other.attribute:
        return True
    few, many = (one, other) if one.attribute < other.attribute else (other, one)
    more = many.attribute - few.attribute
    return few.attribute < many.attribute and more <= few.context | few.around


def same_subject(one: Claim, other: Claim) -> bool:
    """Whether two claims have the same subject.

    They name the same subjects; or the note of one is about the other's subject; or one has no
    subject, but its attribute identifies it ("the shop opened").
    """
    if one.subjects & other.subjects:
        return one.subjects <= other.subjects or other.subjects <= one.subjects
    alone = not (one.subjects and other.subjects) and len(one.attribute) > 1
    if alone and one.attribute == other.attribute:
        return True
    return any(_speaks_of_note(told, own) for own, told in ((one, other), (other, one)))


def _speaks_of_note(told: Claim, own: Claim) -> bool:
    """Whether a sentence has all words of the other note's title, and no names beyond it."""
    about = own.source.note_id in own.subjects and bool(own.about_title)
    within = not told.named or all(stems_of(key) <= own.about_title for key in told.subjects)
    return about and within and own.about_title <= told.context | told.attribute


def _same_time(one: Claim, other: Claim) -> bool:
    """Whether both claims are for the same time; claims for different years do not compare."""
    first = [each for each in one.when if not one.updates]
    second = [each for each in other.when if not other.updates]
    if not first and not second:
        return True
    return any(equal_amounts(a, b) for a in first for b in second)


def _equal(one: Claim, other: Claim) -> bool | None:
    if isinstance(one.value, Amount) and isinstance(other.value, Amount):
        return equal_amounts(one.value, other.value)
    if isinstance(one.value, Amount) or isinstance(other.value, Amount):
        return None
    if one.value == other.value:
        return True
    kinds_alike = one.value.startswith(NAME) is other.value.startswith(NAME)
    single = one.attribute in _SINGLE or one.sole or other.sole
    return False if kinds_alike and single else None


def independent(one: Claim, other: Claim) -> bool:
    """Whether two notes make a claim independently; a copied sentence is no second witness."""
    if one.source.note_id == other.source.note_id:
        return False
    copied = one.sentence.casefold() == other.sentence.casefold()
    least = _COPIED_PROSE if one.named and other.named else _COPIED_WORDS
    return not (copied and len(one.sentence.split()) > least)


def moment(claim: Claim) -> date | None:
    """The day of a claim: the day of the change that it states, else its note's date."""
    days = [_day(each) for each in claim.when if claim.updates]
    return max((day for day in days if day is not None), default=claim.source.moment)


def is_older(one: Claim, other: Claim) -> bool:
    """Whether the first claim is known to be from an earlier day than the other."""
    first, second = moment(one), moment(other)
    return first is not None and second is not None and first < second


def _day(when: Amount) -> date | None:
    year, month, day = when.parts if when.kind is AmountKind.DATE else (None, None, None)
    if year is None or month is None:
        return None
    try:
        return date(int(year), int(month), int(day or 1))
    except ValueError:
        return None
