"""Reads a line of Markdown as a person sees it, without its marks."""

from __future__ import annotations

import re

_LINK = re.compile(r"!?\[\[(?P<target>[^\[\]|]*)(?:\|(?P<shown>[^\[\]]*))?\]\]")
_WEB_LINK = re.compile(r"!?\[(?P<shown>[^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_FORMAT = re.compile(
    r"[*_`~]{1,3}|==|^(?:#{1,6}\s+|\s*(?:[-+*>]|\d+[.)])\s+(?:\[.\]\s+)?)+|^\|\s*|(?<!\s)\s*\|$"
)
# Without any of these, a line is readable as it is.
_MARK = re.compile(r"[*_`~=#|\[]")
_ITEM = re.compile(r"\s*[-+>\d]")


def readable(text: str) -> str:
    """A line of Markdown as plain text, without marks and with the shown text of links.

    A table row of two cells keeps its bar.
    """
    if not (_MARK.search(text) or _ITEM.match(text)):
        return " ".join(text.split())
    if "[" in text:
        text = _LINK.sub(lambda m: m["shown"] or m["target"].split("#")[0].rsplit("/", 1)[-1], text)
        text = _WEB_LINK.sub(lambda m: m["shown"], text)
    previous = None
    while previous != text:
        previous, text = text, _FORMAT.sub("", text)
    return " ".join(text.split())
