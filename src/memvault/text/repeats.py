"""Removes the sentences, list items and blocks of a text that other texts have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memvault.vault.lines import FENCE, CodeFences, lines_of
from memvault.vault.markdown.labelled_sentences import sentence_starts

_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]")
# A line that is more than prose: a quote, a table, HTML, a comment, mathematics, indented code, a
# rule or underline, a property, a block that links can lead to.
_NOT_PROSE = re.compile(
    r"[ \t]*(?:>|\||<|%%|\$\$|!\[|[-=*_]{3,}[ \t]*$)|(?: {4}|\t)|.*(?:::|[ \t]\^[\w-]+[ \t]*$)"
)


def without_repeats(text: str, known_texts: Iterable[str]) -> str:
    """The text without the sentences, list items and blocks that one of the known texts has.

    Code, tables and quotes stay whole unless the same block is known. A heading is removed if
    nothing remains below it.
    """
    known_parts: set[str] = set()
    for known_text in known_texts:
        for block in _blocks(known_text):
            known_parts.add(_comparable("".join(block)))
            known_parts.update(_comparable(part) for part in _parts(block))
    blocks = list(_blocks(text))
    remaining = [_remaining(block, known_parts) for block in blocks]
    if all(text_left == "".join(block) for text_left, block in zip(remaining, blocks, strict=True)):
        return text
    kept = [
        text_left
        for index, text_left in enumerate(remaining)
        if text_left.strip() and not _is_emptied(blocks, remaining, index)
    ]
    return "\n\n".join(kept_text.strip("\r\n").rstrip(" ") for kept_text in kept)


def _blocks(text: str) -> Iterator[list[str]]:
    """Runs of lines between blank lines; code between fences is one block, a heading another."""
    block: list[str] = []
    fences = CodeFences()
    for line in lines_of(text):
        if fences.open:
            block.append(line)
            fences.is_code(line)
            continue
        is_heading = _HEADING.match(line) is not None
        if block and (not line.strip() or is_heading or _HEADING.match(block[-1])):
            yield block
            block = []
        if line.strip():
            block.append(line)
        fences.is_code(line)
    if block:
        yield block


def _remaining(block: list[str], known_parts: set[str]) -> str:
    block_text = "".join(block)
    if _HEADING.match(block[0]):
        return block_text
    if _comparable(block_text) in known_parts:
        return ""
    if _is_list(block):
        return "".join(line for line in block if _comparable(line) not in known_parts)
    if _is_prose(block):
        return "".join(part for part in _parts(block) if _comparable(part) not in known_parts)
    return block_text


def _parts(block: list[str]) -> list[str]:
    """The sentences of prose or the items of a flat list; empty for any other block."""
    if _is_list(block):
        return block
    if not _is_prose(block):
        return []
    text = "".join(block)
    starts = sentence_starts(re.sub(r"[\r\n]", " ", text))
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _is_list(block: list[str]) -> bool:
    indents = {len(line) - len(line.lstrip()) for line in block}
    return len(indents) == 1 and all(map(_ITEM.match, block)) and not any(map(_is_marked, block))


def _is_prose(block: list[str]) -> bool:
    return not any(
        _NOT_PROSE.match(line) or _ITEM.match(line) or FENCE.match(line) or _HEADING.match(line)
        for line in block
    )


def _is_marked(line: str) -> bool:
    return _NOT_PROSE.match(_without_mark(line)) is not None


def _comparable(text: str) -> str:
    return " ".join(_without_mark(text).split()).casefold()


def _without_mark(text: str) -> str:
    """The text without the mark of a list item at its start."""
    mark = _ITEM.match(text)
    return text[mark.end() :] if mark is not None else text


def _is_emptied(blocks: list[list[str]], remaining: list[str], index: int) -> bool:
    """Whether a block is a heading below which all text is removed."""
    level = _level(blocks[index])
    if not level:
        return False
    end = index + 1
    while end < len(blocks) and not 0 < _level(blocks[end]) <= level:
        end += 1
    texts = [place for place in range(index + 1, end) if not _level(blocks[place])]
    return bool(texts) and not any(remaining[place].strip() for place in texts)


def _level(block: list[str]) -> int:
    """The level of a heading, from 1; 0 for text."""
    match = _HEADING.match(block[0])
    return len(match[1]) if match else 0
