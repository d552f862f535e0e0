"""The sentences of a passage, and a line of Markdown as a person sees it, without its marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memvault.vault.lines import bare_lines
from memvault.vault.markdown.labelled_sentences import sentences_in

MAX_SENTENCE_CHARS = 300  # a longer sentence states no single value
_LINK = re.compile(r"!?\[\[(?P<target>[^\[\]|]*)(?:\|(?P<shown>[^\[\]]*))?\]\]")
_WEB_LINK = re.compile(r"!?\[(?P<shown>[^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_FORMAT = re.compile(
    r"[*_`~]{1,3}|==|^(?:#{1,6}\s+|\s*(?:[-+*>]|\d+[.)])\s+(?:\[.\]\s+)?|\|\s*)+"
    r"|(?<![\s|])(?:\s*\|)+$"
)
MAX_MARKED_CHARS = 1_000  # of a line, since the emphasis pattern takes quadratic time
_PAIRED_WIKILINK = re.compile(r"!?\[\[(?:[^\]|]*\|)?(?P<shown>[^\]|]+)\]\]")
_PAIRED_LINK = re.compile(r"!?\[(?P<shown>[^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3}|~~|==|`+)(?=\S)(?P<text>.+?)(?<=\S)\1")
# Without any of these, a line is readable as it is.
_MARK = re.compile(r"[*_`~=#|\[]")
_ITEM = re.compile(r"\s*[-+>\d]")
_TASK = r"[\s>]*(?:[-*+]|\d+[.)])\s+"
_OPEN_TASK = re.compile(_TASK + r"\[[ /]\]")
_TICKED_TASK = re.compile(_TASK + r"\[[xX]\]")


@lru_cache(maxsize=4_000)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a passage, without list markers; a line break ends a sentence."""
    return tuple(_sentences(text))


def _sentences(text: str) -> Iterator[str]:
    for line in bare_lines(text):
        for part in sentences_in(line):
            sentence = part.strip(" -*+>|\t")
            if sentence and len(sentence) <= MAX_SENTENCE_CHARS:
                yield sentence


def readable(text: str) -> str:
    """A line of Markdown, or a part of it, without any marks and with the shown text of links.

    Marks go even if they have no counterpart, since a sentence may end between two of a pair;
    `plain_text` keeps those. A table row of two cells keeps its bar.
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


def plain_text(markdown: str) -> str:
    """A whole line of Markdown without the markup of links, emphasis and code.

    A mark without a counterpart stays, such as in "5 * 3", and so does all markup after the first
    `MAX_MARKED_CHARS`.
    """
    text = _PAIRED_WIKILINK.sub(lambda match: match["shown"], markdown[:MAX_MARKED_CHARS])
    text = _PAIRED_LINK.sub(lambda match: match["shown"], text)
    text = _EMPHASIS.sub(lambda match: match["text"], text)
    return " ".join((text + markdown[MAX_MARKED_CHARS:]).split())


def is_open_task(line: str) -> bool:
    """Whether a line of Markdown is an open task, which states what is to be, not what is."""
    return _OPEN_TASK.match(line) is not None


def is_ticked_task(line: str) -> bool:
    """Whether a line of Markdown is a task that is done."""
    return _TICKED_TASK.match(line) is not None
