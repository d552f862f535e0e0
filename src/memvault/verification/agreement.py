"""Compares claims: whether two are about the same attribute, and whether they agree."""

from __future__ import annotations

from datetime import date
from enum import Enum

from memvault.model.graph import SINGLE_VALUED
from memvault.verification.claims.amounts import Amount, AmountKind, equal_amounts
from memvault.verification.claims.claim_stems import ROLE_VERBS, canonical_stem, stems_of
from memvault.verification.claims.claims import NAME, Claim

_COPIED_WORDS = 8  # a longer sentence that occurs twice, word for word, counts as copied
_COPIED_PROSE = 3  # the limit for a sentence that names its subject, unlike "Budget: 402k EUR"
_SINGLE_VALUED = {
    frozenset(canonical_stem(word) for word in name.split()) for name in SINGLE_VALUED
} | {frozenset({role}) for role in ROLE_VERBS.values()}


class Verdict(Enum):
    AGREES = "agrees"
    DIFFERS = "differs"
    UNRELATED = "unrelated"  # about different attributes, or not comparable


def compare(first: Claim, second: Claim) -> Verdict:
    """Whether a claim confirms another, contradicts it or is unrelated.

    Wishes, hearsay and statements that their sentence calls outdated are unrelated.
    """
    if first.outdated or second.outdated or not (first.asserted and second.asserted):
        return Verdict.UNRELATED
    if not (
        same_attribute(first, second) and same_subject(first, second) and _same_time(first, second)
    ):
        return Verdict.UNRELATED
    equal = _equal_values(first, second)
    if equal is None:
        return Verdict.UNRELATED
    if first.negated or second.negated:
        denies = equal and first.negated is not second.negated
        return Verdict.DIFFERS if denies else Verdict.UNRELATED
    return Verdict.AGREES if equal else Verdict.DIFFERS


def same_attribute(first: Claim, second: Claim) -> bool:
    """Whether two claims have the same attribute.

    The words must be equal, or the extra words of one must be in the surroundings of the other:
    "Contract ends" equals "Ends" in the contract's note. A marketing budget is not the budget.
    """
    if first.attribute == second.attribute:
        return True
    shorter, longer = (first, second) if first.attribute < second.attribute else (second, first)
    extra = longer.attribute - shorter.attribute
    return (
        shorter.attribute < longer.attribute
        and extra <= shorter.sentence_stems | shorter.heading_stems
    )


def same_subject(first: Claim, second: Claim) -> bool:
    """Whether two claims have the same subject.

    They name the same subjects; or the note of one is about the other's subject; or one has no
    subject, but its attribute identifies it ("the shop opened").
    """
    if first.subjects & second.subjects:
        return first.subjects <= second.subjects or second.subjects <= first.subjects
    lacks_subject = not (first.subjects and second.subjects)
    if lacks_subject and len(first.attribute) > 1 and first.attribute == second.attribute:
        return True
    return _names_note(first, second) or _names_note(second, first)


def _names_note(note_claim: Claim, claim: Claim) -> bool:
    """Whether a claim's sentence has all words of a note's title, and no names beyond it.

    The note must be the subject of its own claim.
    """
    title = note_claim.title_stems
    is_subject = note_claim.source.note_id in note_claim.subjects and bool(title)
    no_other = not claim.names_subject or all(stems_of(key) <= title for key in claim.subjects)
    return is_subject and no_other and title <= claim.sentence_stems | claim.attribute


def _same_time(first: Claim, second: Claim) -> bool:
    """Whether both claims are for the same time; claims for different years do not compare."""
    dates = [] if first.updates else first.dates
    other_dates = [] if second.updates else second.dates
    if not dates and not other_dates:
        return True
    return any(equal_amounts(a, b) for a in dates for b in other_dates)


def _equal_values(first: Claim, second: Claim) -> bool | None:
    """Whether two values are equal; None if they do not compare or may both be true."""
    if isinstance(first.value, Amount) and isinstance(second.value, Amount):
        return equal_amounts(first.value, second.value)
    if isinstance(first.value, Amount) or isinstance(second.value, Amount):
        return None
    if first.value == second.value:
        return True
    same_kind = first.value.startswith(NAME) is second.value.startswith(NAME)
    one_value = first.attribute in _SINGLE_VALUED or first.single_valued or second.single_valued
    return False if same_kind and one_value else None


def independent(first: Claim, second: Claim) -> bool:
    """Whether two notes make a claim independently; a copied sentence is no second witness."""
    if first.source.note_id == second.source.note_id:
        return False
    equal = first.sentence.casefold() == second.sentence.casefold()
    both_named = first.names_subject and second.names_subject
    limit = _COPIED_PROSE if both_named else _COPIED_WORDS
    return not (equal and len(first.sentence.split()) > limit)


def day_of_claim(claim: Claim) -> date | None:
    """The day of a claim: the day of the change that it states, else its note's day."""
    days = [_full_date(amount) for amount in claim.dates if claim.updates]
    return max((day for day in days if day is not None), default=claim.source.day)


def is_older(claim: Claim, other: Claim) -> bool:
    """Whether a claim is known to be from an earlier day than the other."""
    day, other_day = day_of_claim(claim), day_of_claim(other)
    return day is not None and other_day is not None and day < other_day


def _full_date(amount: Amount) -> date | None:
    """The date of an amount, the first day of its month if it has no day; None without a month."""
    year, month, day = amount.parts if amount.kind is AmountKind.DATE else (None, None, None)
    if year is None or month is None:
        return None
    try:
        return date(int(year), int(month), int(day or 1))
    except ValueError:
        return None
