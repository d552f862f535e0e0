"""The templates, and their filters for times, numbers and properties."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from memvault.consolidation.faded_text import FadingStage
from memvault.curation.changes.change_text import words_around_names
from memvault.model.memory import IMPORTANCE_NAMES
from memvault.model.state import CognitivePulse

FOLDER = Path(__file__).parent / "views"
_WIKILINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]+))?\]\]")
_UNITS = ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day"), (3_600, "hour"),
          (60, "minute"))  # fmt: skip


@cache
def environment() -> Environment:
    """The template environment: escapes every value; a missing name is an error."""
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    for template_filter in (
        ago,
        breakable,
        day,
        left,
        moment,
        likelihood,
        passage,
        plain,
        sentence,
        task_kind,
        when,
        worded,
        words_around_names,
    ):
        templates.filters[template_filter.__name__] = template_filter
    templates.filters["importance"] = importance_name
    templates.filters["quadrant"] = _QUADRANTS.get
    templates.globals["meaning"] = meaning
    return templates


def ago(at: datetime, now: datetime | None = None) -> str:
    """The time since a moment, in its greatest unit."""
    seconds = ((now or datetime.now(UTC)) - at).total_seconds()
    for size, name in _UNITS:
        count = int(seconds // size)
        if count >= 1:
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def when(at: datetime, now: datetime | None = None) -> str:
    """As `ago`; a date without a time, as in notes, is given in days."""
    if at.time() != time.min:
        return ago(at, now)
    days = ((now or datetime.now(UTC)).astimezone().date() - at.date()).days
    match days:
        case 0:
            return "today"
        case 1:
            return "yesterday"
        case _ if 1 < days < 30:
            return f"{days} days ago"
    return f"{at:%Y-%m-%d}"


def breakable(path: str) -> Markup:
    """A path that browsers break only after slashes."""
    return Markup("/<wbr>").join(path.split("/"))


def plain(value: object) -> str:
    """A property as a person would write it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "–"
        case list() | tuple():
            return ", ".join(plain(item) for item in value)
        case dict():
            return "; ".join(f"{key}: {plain(item)}" for key, item in value.items())
    return _WIKILINK.sub(lambda match: match[2] or match[1], str(value))


def day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def moment(at: datetime) -> str:
    """The date and time in this machine's time zone."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


LIKELY = 0.1  # a smaller probability is not shown as a number


def likelihood(share: float) -> str:
    """The probability that a memory answers, in words."""
    return f"{share * 100:.0f}% likely to answer" if share >= LIKELY else "unlikely to answer"


def passage(text: str) -> Markup:
    """An excerpt as HTML, with its headings, list marks and fields rendered."""
    lines = [_HEADING_LINE.sub(_heading, escape(line)) for line in text.split("\n")]
    for pattern, mark in _MARKS:
        lines = [pattern.sub(mark, line) for line in lines]
    return Markup("\n".join(lines).replace("</strong>\n", "</strong>"))


_HEADING_LINE = re.compile(r"^\[(?!!)([^\]]+)\]$")
_MARKS = (
    (re.compile(r"^( *)[-*+] \[[ /]\] "), r"\1☐ "),
    (re.compile(r"^( *)[-*+] \[[^\]]\] "), r"\1☑ "),
    (re.compile(r"^( *)[-*+] "), r"\1• "),
    (re.compile(r"^((?:… )?\w[\w -]*)::(?= )"), r"\1:"),
    (re.compile(r"^\[!\w[\w-]*\]\s*"), ""),
)


def _heading(match: re.Match[str]) -> str:
    return f"<strong>{match[1].replace(' &gt; ', ' › ')}</strong>"


def worded(name: str) -> str:
    """``near_duplicates`` as a person would write it."""
    return name.replace("_", " ")


def sentence(text: str) -> str:
    """The text with a capital first, unless it begins with a path."""
    return text if "/" in text.split(" ", maxsplit=1)[0] else text[:1].upper() + text[1:]


def task_kind(kind: str) -> str:
    """A kind of curation task, as a heading."""
    return _TASK_KINDS.get(kind, sentence(worded(kind)))


def left(stage: str) -> str:
    """The part that remains of a memory faded to this stage, in words."""
    return "keywords" if stage == FadingStage.KEYS else "a summary"


_QUADRANTS = {
    "open": "well linked with notes like it",
    "hidden": "among notes like it, with few links",
    "blind": "unlike what is around it, with few links",
    "unknown": "well linked with different subjects",
}
_TASK_KINDS = {
    "near_duplicates": "Near-duplicates",
    "conflicting_facts": "Conflicting facts",
    "superseded": "Replaced notes",
    "stale_fact": "Possibly outdated",
    "unverified_critical": "To be verified",
    "client_activity": "Many changes by an AI client",
    "unresolved_links": "Links without a note",
    "orphan": "Notes without links",
    "finished_project": "Finished projects",
    "malformed_frontmatter": "Unreadable properties",
    "malformed_text": "Not fully read",
    "missing_link": "Dreamt: missing links",
    "cluster_summary": "Dreamt: summaries",
    "open_question": "Dreamt: open questions",
    "answered_question": "Dreamt: answers to earlier questions",
}
_ADVICE = {
    "consolidate": "Some notes repeat each other. Merge them.",
    "trigger_dream": "Many notes are not connected. Link or merge some, or let your memory dream.",
    "epistemic_action": "Your notes leave questions open.",
    "explore": "There are few notes on your subjects yet. Add some, or connect an AI client.",
    "clarify": "Some notes disagree or are not connected.",
    "curate": "Some notes wait for your decision.",
    "ready": "Nothing to do.",
}
_TO_REVIEW = ("consolidate", "trigger_dream", "clarify", "curate")


class Meaning(NamedTuple):
    """A pulse in words, with advice."""

    variety: str
    connection: str
    advice: str
    to_review: bool

    @property
    def summary(self) -> str:
        return f"{self.variety}, {self.connection}"


def meaning(pulse: CognitivePulse) -> Meaning:
    entropy, coherence = pulse.entropy, pulse.coherence
    variety = "one main subject" if entropy < 0.4 else "several subjects"
    connection = "partly connected" if coherence >= 0.4 else "loosely connected"
    return Meaning(
        "many different subjects" if entropy >= 0.7 else variety,
        "well connected" if coherence >= 0.7 else connection,
        _ADVICE[pulse.suggested_action],
        pulse.suggested_action in _TO_REVIEW,
    )


def importance_name(value: float) -> str:
    """The word for an importance, or its number if there is no word for it."""
    return next(
        (name for name, number in IMPORTANCE_NAMES.items() if number == value), f"{value:g}"
    )
