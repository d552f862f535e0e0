"""Claims: statements of a note's sentence about a subject, with their source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from memvault.model.note import LineRange
from memvault.verification.claims.amounts import Amount

WHOLE = LineRange(1, 1)
NAME = "name:"  # prefix of a value that is a name
TEXT = "text:"  # prefix of a value that is a few words


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """The note and place of a passage.

    ``day`` is the day that its note is about, if any; ``is_property`` marks a line of the
    frontmatter.
    """

    note_id: str
    path: str
    title: str
    heading: str = ""
    lines: LineRange = WHOLE
    kind: str = "note"
    project: str | None = None
    day: date | None = None
    is_property: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of one sentence.

    Attributes:
        subjects: keys of its subjects; empty if unknown.
        names_subject: whether the sentence names one, rather than its heading, title or project.
        attribute: stems of the attribute's words; ``label`` has the words themselves.
        value: the amount, or the key of a name or of a few words; ``value_text`` is its text.
        sentence_stems: stems of the sentence's other words.
        heading_stems: stems of the title, the heading and the project.
        title_stems: stems of the title.
        dates: days and years for which it is stated.
        asserted: False for wishes, plans, questions and hearsay.
        negated: whether it states that this is *not* the value.
        outdated: whether the sentence itself calls the value a former one.
        updates: whether the sentence states that the value changed to this one.
        single_valued: whether the attribute has one value at a time (*the* caretaker).
    """

    subjects: frozenset[str]
    names_subject: bool
    attribute: frozenset[str]
    label: str
    value: Amount | str
    value_text: str
    sentence: str
    source: ClaimSource
    sentence_stems: frozenset[str]
    heading_stems: frozenset[str]
    title_stems: frozenset[str]
    dates: tuple[Amount, ...] = ()
    asserted: bool = True
    negated: bool = False
    outdated: bool = False
    updates: bool = False
    single_valued: bool = False
