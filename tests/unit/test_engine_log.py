"""What does and does not belong in the engine's log."""

from __future__ import annotations

import logging

import pytest
from fastmcp.exceptions import PromptError
from fastmcp.utilities.logging import get_logger
from starlette.requests import ClientDisconnect

from memvault.cli import engine
from memvault.model.errors import InvalidParams


@pytest.mark.parametrize(("error", "is_logged"), [(ClientDisconnect(), False), (OSError(), True)])
def test_a_client_that_left_amid_its_request_is_no_failure(
    error: Exception, is_logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    engine._log_to_stderr()
    try:
        raise error
    except type(error):
        logging.getLogger("mcp.server.streamable_http").exception("Error handling POST request")
    assert bool(caplog.records) is is_logged


@pytest.mark.parametrize(
    ("cause", "is_logged"),
    [(InvalidParams("depth must be brief, standard or deep"), False), (OSError("no disk"), True)],
)
def test_an_error_that_says_what_to_correct_is_no_failure(
    cause: Exception, is_logged: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    engine._log_to_stderr()
    try:
        raise PromptError("Error rendering prompt") from cause
    except PromptError:
        get_logger("fastmcp.server.server").exception("Error rendering prompt")
    assert ("Error rendering prompt" in capfd.readouterr().err) is is_logged
