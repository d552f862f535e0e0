"""Says in a context what sentences do not: who else wrote them, and the day of their section."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memvault.model.memory import Memory
from memvault.model.provenance import Origin
from memvault.model.search import Hit
from memvault.search.context.forms import without_tags
from memvault.search.context.outline import Code, Statement
from memvault.search.times.time_expressions import single_days
from memvault.text.tokens import TokenCounter

MAX_DAY_CHARS = 60  # of a heading that names a day
NEWER_SHARE = 0.25  # of a context's tokens, for the newer claims about one memory


def marks_of(hits: Sequence[Hit], tokens: TokenCounter, limit: int) -> list[str]:
    """The mark behind the tag or header of each memory: who wrote it if the person neither wrote
    nor verified any of it, what supersedes it, and newer claims.

    Args:
        limit: tokens of the context. Claims that need more than `NEWER_SHARE` of it are counted
            instead, so that they do not displace the memory that they are about.
    """
    newer = ["".join(f" ({claim.mark})" for claim in hit.verification.newer) for hit in hits]
    sizes = tokens.count_all(newer)
    return [
        _mark_of(hit) + (claims if size <= NEWER_SHARE * limit else _number_of_newer(hit))
        for hit, claims, size in zip(hits, newer, sizes, strict=True)
    ]


def _mark_of(hit: Hit) -> str:
    writer = _mark(hit.memory.provenance.claimant) if hit.memory.is_claim else ""
    superseding = hit.verification.superseded_by
    return writer + (f" (superseded by {superseding})" if superseding is not None else "")


def _number_of_newer(hit: Hit) -> str:
    return f" (newer claims, unverified and withheld: {len(hit.verification.newer)})"


def with_writer(statement: Statement, memory: Memory) -> Statement:
    """The sentence, with its writer named if another wrote it into the person's unverified note.

    A note that only others wrote is marked in its header instead. What they wrote like a citation
    tag cites nothing.
    """
    origin = memory.provenance.of_sentence(statement.text, statement.lines)
    if memory.verified or origin.is_person or not statement.shown:
        return statement
    mark = _mark(origin) if memory.provenance.is_mixed else ""
    return statement._replace(shown=without_tags(statement.shown) + mark)


def with_days(statements: Iterable[Statement], memory: Memory) -> Iterator[Statement]:
    """The sentences; before the first of a section whose heading names a day, that heading.

    A log (``## 3 March``) says when something was only there.
    """
    previous = ""
    for statement in statements:
        headings = (h for h in reversed(statement.heading) if h != memory.title)
        short = (heading for heading in headings if len(heading) <= MAX_DAY_CHARS)
        day = next((heading for heading in short if single_days(heading, memory.day)), "")
        if day and day != previous and statement.shown and day not in statement.shown:
            marker = statement.shown.removesuffix(statement.quoted)
            yield statement._replace(shown=f"{marker}{without_tags(day)}: {statement.quoted}")
        else:
            yield statement
        previous = day if statement.shown else previous


def code_with_writer(code: Code, memory: Memory) -> Code:
    """The code, with its writer named as that of a sentence is."""
    origin = memory.provenance.of_lines(code.lines)
    if memory.verified or origin.is_person:
        return code
    mark = _mark(origin) if memory.provenance.is_mixed else ""
    return replace(
        code, block=replace(code.block, text=without_tags(code.block.text)), mark=mark.strip()
    )


def _mark(origin: Origin) -> str:
    return f" (written by {origin.writer}, unverified)"
