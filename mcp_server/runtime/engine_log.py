"""Keeps the engine's log within bounds while it is being written."""

from __future__ import annotations

import logging
import os
import shutil

from memvault.config.paths import StateFolder

logger = logging.getLogger(__name__)
LOG_BYTES = 5_000_000
TRIM_SECONDS = 600.0


def trim_log(state: StateFolder) -> float:
    """Move a long log to the earlier one; returns the seconds until the next check."""
    log = state.log
    try:
        if log.stat().st_size > LOG_BYTES:
            shutil.copyfile(log, state.earlier_log)
            os.truncate(log, 0)  # it is written by appending
    except FileNotFoundError:
        pass  # the engine runs in the foreground
    except OSError as error:
        logger.warning("%s cannot be trimmed: %s", log, error.strerror)
    return TRIM_SECONDS
