"""The answers of ChatGPT's connector tools."""

from __future__ import annotations

from mcp_server.answers.base import Answer, Shape


class SearchResult(Shape):
    id: str
    title: str
    url: str


class SearchAnswer(Answer):
    results: list[SearchResult]


class FetchAnswer(Answer):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]
