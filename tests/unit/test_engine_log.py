"""What does and does not belong in the engine's log."""

from __future__ import annotations

import logging

import pytest
from starlette.requests import ClientDisconnect

from memvault.cli import engine


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
