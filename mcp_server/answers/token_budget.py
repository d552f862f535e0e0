"""The text that fits an answer at each verbosity, counted in the model's own tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from pydantic_core import to_json

from mcp_server.answers.base import Shape
from mcp_server.answers.context import SourceShape
from mcp_server.answers.origins import marked
from mcp_server.answers.reasoning import InsightsShape, NearShape, SurroundingsShape
from memvault.model.memory import Memory
from memvault.model.search import Neighbour, VerbosityLevel
from memvault.search.context.forms import ContextBudget
from memvault.text.tokens import TokenCounter

if TYPE_CHECKING:
    from indexer.catalogue import Catalogue

# Of a whole answer, in tokens of the embedding model (core REQ-CORE-020 to -022). A context of
# level 1 may have 500: ids and paths take so many of these that 200 leave one or two sentences,
# which often miss what was asked. In tokens of four characters it has about 200.
ANSWER_TOKENS = {
    VerbosityLevel.RAW_ONLY: 100,
    VerbosityLevel.TEXT_AND_IDS: 500,
    VerbosityLevel.FULL_INSIGHTS: 800,
}
# Two sentences of text are always given, even if the rest of the answer leaves no room.
MIN_TEXT = 60
INSIGHT_SHARE = 0.3  # of a full answer, kept for conclusions from its memories
LINE = 1000  # a line number of usual length
HEADING = "Some heading"


def bare_source(memory: Memory) -> SourceShape:
    """A memory as a level-0 context names it; its id is listed elsewhere."""
    return SourceShape(title=memory.title, path=memory.path)


class TokenBudget:
    """Counts the tokens of answers, and chooses what fits."""

    def __init__(self, tokens: TokenCounter, catalogue: Catalogue) -> None:
        self._tokens = tokens
        self._catalogue = catalogue

    def of(self, answer: Shape) -> int:
        """Tokens of an answer as the client gets it."""
        return self._tokens.count(self._sent(answer))

    def _sent(self, shape: Shape) -> str:
        """The JSON that the client gets, with the marks of origin."""
        fields = shape.model_dump(mode="json", by_alias=True)
        return to_json(marked(fields, self._catalogue)).decode()

    def for_text(self, level: VerbosityLevel, empty: Shape) -> ContextBudget:
        """The tokens left for text and sources at levels 1 and 2.

        Args:
            empty: the answer without both.
        """
        is_full = level is VerbosityLevel.FULL_INSIGHTS
        share = 1.0 - INSIGHT_SHARE if is_full else 1.0
        return ContextBudget(
            round(share * ANSWER_TOKENS[level]) - self.of(empty),
            partial(self._sources, with_ids=is_full),
            MIN_TEXT,
        )

    def named(self, empty: Shape, memories: Sequence[Memory]) -> list[Memory]:
        """The first memories, as many as bring a level-0 answer nearest to its token limit."""
        remaining_tokens = ANSWER_TOKENS[VerbosityLevel.RAW_ONLY] - self.of(empty)
        chosen: list[Memory] = []
        texts = [f'"{m.id}",{bare_source(m).model_dump_json(by_alias=True)},' for m in memories]
        for memory, size in zip(memories, self._tokens.count_all(texts), strict=True):
            if chosen and remaining_tokens < size / 2:
                break
            chosen.append(memory)
            remaining_tokens -= size
        return chosen

    def surroundings(
        self, neighbours_of: Mapping[str, Sequence[Neighbour]], remaining_tokens: int
    ) -> list[SurroundingsShape]:
        """The neighbours of these memories, best first, that fit the tokens left."""
        shown_shapes: list[SurroundingsShape] = []
        for key, near in neighbours_of.items():
            shapes = [NearShape.of(neighbour) for neighbour in near]
            empty = SurroundingsShape(id=key, near=[])
            head, *sizes = self._tokens.count_all([self._sent(shape) for shape in (empty, *shapes)])
            fit = bisect_right(list(accumulate(sizes, initial=head)), remaining_tokens) - 1
            if fit < 1:
                break
            shown_shapes.append(SurroundingsShape(id=key, near=shapes[:fit]))
            remaining_tokens -= head + sum(sizes[:fit])
        return shown_shapes

    def fitted(self, insights: InsightsShape, remaining_tokens: int) -> InsightsShape:
        """The insights that fit the tokens left; the last of the longest kind is dropped first."""
        kinds = {
            name: list(entries)
            for name in InsightsShape.model_fields
            if (entries := getattr(insights, name))
        }
        sizes = {
            name: self._tokens.count_all(
                [entry.model_dump_json(by_alias=True) for entry in entries]
            )
            for name, entries in kinds.items()
        }
        while kinds and sum(map(sum, sizes.values())) > remaining_tokens:
            name = max(kinds, key=lambda kind: sum(sizes[kind]))
            kinds[name].pop()
            sizes[name].pop()
            if not kinds[name]:
                del kinds[name], sizes[name]
        return InsightsShape(**kinds)

    def _sources(self, memories: Sequence[Memory], *, with_ids: bool) -> list[int]:
        """Tokens of each memory's id, title, path, heading and lines; the id twice, if sources have
        it, too."""
        texts = []
        for memory in memories:
            source = SourceShape(
                id=memory.id if with_ids else None, title=memory.title, path=memory.path,
                heading=HEADING, lines=[LINE, LINE],
            )  # fmt: skip
            texts.append(f'{source.model_dump_json(by_alias=True)},"{memory.id}",')
        return self._tokens.count_all(texts)
