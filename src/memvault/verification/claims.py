"""Whether two claims are of the same thing, and then whether they say the same."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from memvault.model.note import LineRange
from memvault.verification.amounts import Amount

WHOLE = LineRange(1, 1)
NAME = "name:"  # in front of a value that is a name
TEXT = "text:"  # in front of a value that is a few words


@dataclass(frozen=True, slots=True)
class Source:
    """Where a passage stands. ``moment`` is the day that its note is about, if it says so;
    ``is_property`` tells a line of the frontmatter."""

    note_id: str
    path: str
    title: str
    heading: str = ""
    lines: LineRange = WHOLE
    kind: str = "note"
    project: str | None = None
    moment: date | None = None
    is_property: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """What one sentence says.

    Attributes:
        subjects: keys of the things that it is about; empty where that is not known.
        named: whether the sentence itself names them, rather than its heading, title or project.
        attribute: stems of what is said of them, and ``label`` the words themselves.
        value: the amount, or the key of a name or of a few words; ``shown`` as it is written.
        context: stems of all that stands around the value in its sentence.
        around: stems of the title, the heading and the project; ``about_title`` of the title.
        when: days and years that the clause says it for.
        asserted: False for wishes, plans, questions and hearsay.
        negated: whether it says that this is *not* the value.
        outdated: whether the sentence itself says that it was so before.
        updates: whether the sentence says that the value has changed to this.
        sole: whether it says that there is one value at a time (*the* caretaker).
    """

    subjects: frozenset[str]
    named: bool
    attribute: frozenset[str]
    label: str
    value: Amount | str
    shown: str
    sentence: str
    source: Source
    context: frozenset[str]
    around: frozenset[str]
    about_title: frozenset[str]
    when: tuple[Amount, ...] = ()
    asserted: bool = True
    negated: bool = False
    outdated: bool = False
    updates: bool = False
    sole: bool = False
