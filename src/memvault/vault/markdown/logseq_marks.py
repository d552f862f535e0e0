"""Removes the marks that Logseq writes into a note for its own use.

They are ids of blocks (``id:: 64a0…``), folding (``collapsed:: true``), states of tasks, flash
cards and highlights, time logs, references to blocks (``((64a0…))``, which no other program
resolves), sizes of pictures, and macros (``{{query …}}``) except the text they show. People hardly
write these forms. In code, all stay.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CARD = "last-interval|repeats|ease-factor|next-schedule|last-reviewed|last-score"
_STATES = "todo|doing|now|later|done|waiting|canceled"  # of tasks, and since when
_PROPERTY = (
    rf"id::[ ]+{_ID}|collapsed::[ ]+(?:true|false)|heading::[ ]+(?:true|false|[1-6])"
    rf"|(?:{_STATES})::[ ]+\d{{13}}|card-(?:{_CARD})::.*"
    r"|hl-(?:page|color|stamp)::.*|ls-type::[ ]+[\w-]+"
)
_SHOWING = "embed|video|youtube|vimeo|bilibili|tweet|twitter"
_MARKS = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`++)[\s\S]*?(?<!`)(?P=ticks)(?!`))"
    r"|^[ \t]*:LOGBOOK:[ \t]*\n(?:[ \t]*CLOCK:.*\n)*[ \t]*:END:[ \t]*$"
    rf"|^[ \t]*(?:{_PROPERTY}|\#\+(?:BEGIN|END)_[A-Z]+(?:[ ].*)?)[ \t]*$"
    rf"|\(\({_ID}\)\)"
    rf"|\{{\{{[ ]*(?:{_SHOWING})[ ]+(?P<shown>[^{{}}\n]*)\}}\}}"
    r"|\{\{[ ]*(?:query|cards|renderer|youtube-timestamp)\b[^{}\n]*\}\}"
    r"|(?<=\))\{:(?:height|width)[ ][^{}\n]*\}",
    re.MULTILINE,
)
_SIGNS = ("::", "((", "{{", "{:", "#+", ":LOGBOOK:")
_REFERENCE = re.compile(rf"\(\({_ID}\)\)")


def without_marks(text: str) -> str:
    """A paragraph without Logseq's marks, with the same number of lines."""
    if not any(sign in text for sign in _SIGNS):
        return text
    return _MARKS.sub(_kept, text)


def _kept(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return match["code"]
    if match["shown"] is not None:
        return _REFERENCE.sub("", match["shown"]).strip()
    return "\n" * match[0].count("\n")


def _paragraphs(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline":
            token.content = without_marks(token.content)


def logseq_plugin(md: MarkdownIt) -> None:
    md.core.ruler.before("inline", "logseq_marks", _paragraphs)
