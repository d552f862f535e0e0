"""A failed call tells a model how to mend it, and a program which code it is."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from typing import Annotated, Any

import pytest
from fastmcp import Client, FastMCP
from mcp import MCPError
from pydantic import BaseModel, BeforeValidator, Field

from mcp_server.metrics import Metrics, ToolMetrics
from mcp_server.middleware.errors import AnsweringTool, UnknownTools
from mcp_server.tools.arguments import (
    EDITS,
    InProject,
    Narrowing,
    Query,
    TopK,
    Verbosity,
    WhyKept,
    coerced,
)
from memvault.model.errors import NoteConflict, StorageError
from memvault.model.memory import checked_importance


class Clamped(BaseModel):
    node_id: str
    clamp_value: float = 1.0


def answer(
    query: Query,
    *,
    rationale: WhyKept = "long enough",
    top_k: TopK = 10,
    verbosity_level: Verbosity = 1,
    filters: Narrowing = None,
    names: list[str] | None = None,
    nodes: list[Clamped] | None = None,
    since: datetime | None = None,
    project: InProject = None,
) -> dict[str, Any]:
    """A tool with the arguments of the real ones."""
    if query == "conflict":
        raise NoteConflict("The note changes faster than it can be written", path="a.md")
    if query == "refused":
        raise StorageError("a.md is read-only", path="a.md")
    if query == "bug":
        raise RuntimeError("secret /home/someone/vault")
    return {
        "top_k": top_k,
        "tags": filters and filters.tags,
        "names": names,
        "project": project,
    }


def erase(query: Query, project: InProject = None) -> str:
    """A tool that deletes."""
    return project or "everything"


def store(
    rationale: WhyKept,
    weight: Annotated[float, Field(ge=0, le=1)] = 0.5,
    importance: Annotated[float, BeforeValidator(checked_importance)] = 0.5,
) -> str:
    """A tool that requires a rationale."""
    return rationale


def call(name: str, arguments: dict[str, Any], metrics: Metrics | None = None):
    counting = ToolMetrics(metrics or Metrics())
    server = FastMCP("test", middleware=[counting, UnknownTools()])
    server.add_tool(AnsweringTool.from_function(answer))
    server.add_tool(AnsweringTool.from_function(store))
    server.add_tool(AnsweringTool.from_function(erase, annotations=EDITS))

    async def run():
        async with Client(server) as client:
            return await client.call_tool_mcp(name, arguments)

    return asyncio.run(run())


def failure(name: str, **arguments: Any) -> dict[str, Any]:
    result = call(name, arguments)
    assert result.is_error
    error = result.structured_content["error"]
    assert result.content[0].text == error["message"]
    return error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query": "q", "top_k": 0}, "top_k must be between 1 and 100"),
        ({"query": "q", "top_k": 101}, "top_k must be between 1 and 100"),
        ({"query": "q", "verbosity_level": 3}, "Verbosity level must be 0, 1, or 2"),
        ({"query": "q", "verbosity_level": "loud"}, "Verbosity level must be 0, 1, or 2"),
        ({}, "Invalid params: query - it is required"),
        ({"query": " "}, "The question is empty: give a question or keywords"),
        ({"query": 7}, "Invalid params: query - input should be a valid string"),
        (
            {"query": "q", "limit": 3},
            "Invalid params: limit - there is no such parameter. "
            "There are: query, rationale, top_k, verbosity_level, filters, names, nodes, since, "
            "project",
        ),
        (
            {"question": "q"},
            "Invalid params: question - there is no such parameter. "
            "There are: query, rationale, top_k, verbosity_level, filters, names, nodes, since, "
            "project",
        ),
        (
            {"query": "q", "filters": {"min_importance": 7}},
            "filters.min_importance must be between 0 and 1",
        ),
        (
            {"query": "q", "filters": {"colour": "red"}},
            "Invalid params: filters.colour - there is no such parameter. There are: min_importance, "
            "johari_quadrants, created_after, created_before, lifecycles, types, tags, origins",
        ),
    ],
)
def test_arguments_outside_their_limits_are_named_in_the_documents_words(arguments, message):
    error = failure("answer", **arguments)
    assert (error["code"], error["message"]) == (-32602, message)


def test_the_reason_of_a_check_is_given_in_its_own_words(caplog):
    caplog.set_level(logging.INFO)
    error = failure("store", rationale="long enough", importance="huge")
    reason = "importance must be between 0 and 1, or one of critical, high, medium, low"
    assert error["message"] == f"Invalid params: importance - {reason}"
    assert "InvalidParams" in caplog.text and "huge" not in caplog.text


@pytest.mark.parametrize("arguments", [{"query": "q", "top_k": "many"}, {"query": "x" * 4097}])
def test_wrong_types_and_lengths_are_invalid_params_that_name_the_parameter(arguments):
    error = failure("answer", **arguments)
    assert error["code"] == -32602
    assert error["message"].startswith(f"Invalid params: {error['data']['parameter']} - ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"nodes": ["Harbour"]}, "nodes.0 - it must be an object with: node_id, clamp_value"),
        ({"since": "last week"}, "since - it must be a date or time in ISO 8601, such as"),
        ({"since": "2026-03-14T09:30+25:00"}, "T09:30:00+01:00; without a zone, a time is in UTC"),
    ],
)
def test_a_value_of_another_shape_is_answered_with_the_shape_that_it_must_have(arguments, said):
    assert said in failure("answer", query="x", **arguments)["message"]


@pytest.mark.parametrize("arguments", [{}, {"rationale": None}])
def test_a_missing_rationale_is_asked_for(arguments):
    assert failure("store", **arguments)["message"] == "Rationale is required (10-500 characters)"


def test_a_domain_error_keeps_its_code_message_and_data():
    error = failure("answer", query="conflict")
    assert error == {
        "code": -32002,
        "message": "The note changes faster than it can be written",
        "data": {"path": "a.md"},
    }


def test_a_storage_error_names_the_operation_that_failed_and_why():
    error = failure("answer", query="refused")
    assert error == {
        "code": -32002,
        "message": "Storage error: answer failed - a.md is read-only",
        "data": {"path": "a.md"},
    }


def test_an_unexpected_error_shows_nothing_of_the_inside_but_is_logged(caplog):
    with caplog.at_level(logging.ERROR):
        error = failure("answer", query="bug")
    assert error["code"] == -32603
    assert "secret" not in str(error)
    assert error["data"]["reference"] in error["message"]
    assert error["data"]["reference"] in caplog.text


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"filters": '{"tags": ["seeds"]}'}, {"tags": ["seeds"]}),
        ({"names": '["Ada", "Ben"]'}, {"names": ["Ada", "Ben"]}),
        ({"names": "Ada Berg"}, {"names": ["Ada Berg"]}),
        ({"names": "[[Ada Berg]]"}, {"names": ["[[Ada Berg]]"]}),
        ({"query": '{"tags": ["seeds"]}'}, {"tags": None}),
    ],
)
def test_lists_and_conditions_are_taken_as_json_text_too(given, taken):
    found = call("answer", {"query": "q", **given}).structured_content
    assert {key: found[key] for key in taken} == taken


def test_an_optional_argument_that_is_empty_counts_as_left_out():
    """Small models give every argument."""
    empty = {"top_k": "", "filters": "", "names": " ", "since": "", "project": ""}
    found = call("answer", {"query": "q", **empty}).structured_content
    assert found == {"top_k": 10, "tags": None, "names": None, "project": None}


def test_a_tool_that_changes_notes_asks_again_what_an_empty_argument_means():
    assert "must not be empty" in failure("erase", query="q", project="")["message"]


def test_text_that_is_nested_too_deeply_is_no_list():
    deep = "[" * 100_000
    assert coerced({"tags": deep}, {"properties": {"tags": {"type": "array"}}}) == {"tags": [deep]}


def test_an_unknown_tool_is_a_protocol_error():
    with pytest.raises(MCPError, match="Unknown tool: nothing") as caught:
        call("nothing", {})
    assert caught.value.error.code == -32602


def test_calls_and_errors_are_counted():
    metrics, other = Metrics(), Metrics()
    call("answer", {"query": "q"}, metrics)
    call("answer", {"query": "q", "top_k": 0}, metrics)
    call("answer", {"query": "q"}, other)
    value = metrics.registry.get_sample_value
    assert value("memvault_tool_calls_total", {"tool": "answer"}) == 2
    failed = {"tool": "answer", "code": "-32602"}
    assert value("memvault_tool_errors_total", failed) == 1
    assert value("memvault_tool_seconds_count", {"tool": "answer"}) == 2
