"""Divides a long text of others into sections, so that an order to a model hides only its own."""

from __future__ import annotations

from collections.abc import Iterator

from memvault.model.note import LineRange
from memvault.vault.frontmatter.fences import split_frontmatter
from memvault.vault.lines import CodeFences, bare_lines, ended_lines

MIN_CHARACTERS = 2_000  # of a section; what surrounds an order is held with it


def sections(data: bytes) -> Iterator[tuple[LineRange, str]]:
    """The lines and texts of the sections of a note's body; none of a note that is only one.

    A section begins after an empty line outside code, so no paragraph or block of code is divided.
    Text that is added at the end changes only the last section.
    """
    text = data.decode("utf-8", "replace")
    body = split_frontmatter(text)[1]
    lines = ended_lines(text)
    begin = len(bare_lines(text.removesuffix(body))) - 1
    fences, size, start = CodeFences(), 0, begin
    ranges: list[LineRange] = []
    for index in range(begin, len(lines)):
        size += len(lines[index]) + 1
        if not fences.is_code(lines[index]) and not lines[index].strip() and size > MIN_CHARACTERS:
            ranges.append(LineRange(start + 1, index + 1))
            start, size = index + 1, 0
    if start < len(lines):
        ranges.append(LineRange(start + 1, len(lines)))
    if len(ranges) > 1:
        for span in ranges:
            yield span, "\n".join(lines[span.first - 1 : span.last])
