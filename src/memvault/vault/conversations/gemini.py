"""Reads conversations with Gemini from Google Takeout: one record for each prompt, newest first.

Takeout says neither which prompts belong together nor a title. So a conversation is what was asked
without a long pause, and its id is the time of its first prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from memvault.model.moments import iso_utc
from memvault.vault.conversations.conversation import (
    Conversation,
    UnreadableEntry,
    conversation_of,
    join_paragraphs,
    list_of,
    text_of,
    time_of,
)

PAUSE = timedelta(minutes=30)  # after which a prompt begins another conversation
_OF_GEMINI = re.compile(r"gemini|\bbard\b", re.IGNORECASE)
# What Takeout writes before a prompt, in English; in other languages it stays.
_VERB = re.compile(
    r"(?:Prompted(?: with:)?|Asked(?: (?:Gemini|Bard):)?|Said|Branched|Answered)(?:\s+|\Z)"
)


def conversations(records: Sequence[Any], name: str) -> Iterator[Conversation | UnreadableEntry]:
    """The conversations in the records of one file, oldest first, without other activities.

    Args:
        name: of the file, for what cannot be read.
    """
    prompts: list[tuple[datetime, str, str]] = []
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict) or not _is_of_gemini(record):
            continue
        try:
            prompt, answer = _prompt_and_answer(record)
        except RecursionError:
            yield UnreadableEntry(f"{name}, prompt {number}", "its answer is nested too deeply")
            continue
        if not prompt and not answer:  # another activity
            continue
        if (at := time_of(record.get("time"))) is None:
            yield UnreadableEntry(f"{name}, prompt {number}", "it has no date")
        else:
            prompts.append((at, prompt, answer))
    prompts.sort(key=lambda each: each[0])
    group: list[tuple[datetime, str, str]] = []
    for each in prompts:
        if group and each[0] - group[-1][0] > PAUSE:
            yield _conversation(group)
            group = []
        group.append(each)
    if group:
        yield _conversation(group)


def _conversation(prompts: Sequence[tuple[datetime, str, str]]) -> Conversation:
    first = prompts[0][0]
    messages = [
        message
        for at, prompt, answer in prompts
        for message in ((True, prompt, at.isoformat()), (False, answer, at.isoformat()))
    ]
    return conversation_of("gemini", iso_utc(first), None, first.isoformat(), messages)


def _is_of_gemini(record: dict[str, Any]) -> bool:
    """Whether a record is of Gemini: Takeout's file of another program has the same form."""
    labels = [record.get("header"), *list_of(record.get("products"))]
    texts = [label for label in labels if isinstance(label, str)]
    return not texts or any(map(_OF_GEMINI.search, texts))


def _prompt_and_answer(record: dict[str, Any]) -> tuple[str, str]:
    """What the person wrote, empty for another activity ("Gave feedback"), and the answer as
    Markdown, empty if Takeout does not have it."""
    from markdownify import markdownify  # takes a tenth of a second

    title = text_of(record.get("title"))
    items = [item for item in list_of(record.get("safeHtmlItem")) if isinstance(item, dict)]
    # Without a tag, Beautiful Soup takes a short text for the name of a file, and warns.
    html = [f"<div>{text_of(item.get('html'))}</div>" for item in items]
    answer = join_paragraphs([
        markdownify(part, heading_style="ATX", bullets="-", strip=["img"]) for part in html
    ])  # fmt: skip
    verb = _VERB.match(title)
    if verb is None and not answer.strip():
        return "", ""
    return title[verb.end() :] if verb is not None else title, answer.strip()
