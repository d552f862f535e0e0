"""Finds the code, comment or HTML that a text opens without closing: it hides what follows."""

from __future__ import annotations

import re

from memvault.vault.parse import parse_note

_OPENING = re.compile("`{3}|~{3}|%%|<")
_FENCES = re.compile("`{3,}|~{3,}")
_RAW_HTML = re.compile("<(pre|script|style|textarea)", re.IGNORECASE)


def hides_rest(text: str) -> bool:
    """Whether this text would hide paragraphs below it."""
    if not _OPENING.search(text):
        return False
    below = ["rest", "rest"]  # one block of HTML has both
    data = "\n".join(["", text, "", "\n\n".join(below)]).encode("utf-8", "surrogateescape")
    return [block.text for block in parse_note("", data).blocks[-2:]] != below


def closing_line(text: str) -> str:
    """The line that closes what this text leaves open; "" if it hides nothing below it."""
    if not hides_rest(text):
        return ""
    fences = sorted(set(_FENCES.findall(text)), key=len, reverse=True)
    tags = [f"</{tag}>" for tag in reversed(_RAW_HTML.findall(text))]
    lines = dict.fromkeys([*fences, "%%", "-->", *tags, "?>", "]]>", ">"])
    return next((line for line in lines if not hides_rest(f"{text}\n{line}")), "")
