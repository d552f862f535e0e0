"""Keeps the engine's log within bounds while it is being written."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

logger = logging.getLogger(__name__)
LOG_BYTES = 5_000_000
TRIM_SECONDS = 600.0


def trim_log(log: Path) -> float:
    """Move a long log to ``engine.log.1``; returns the seconds until the next check."""
    try:
        if log.stat().st_size > LOG_BYTES:
            shutil.copyfile(log, log.with_suffix(".log.1"))
            os.truncate(log, 0)  # it is written by appending
    except FileNotFoundError:
        pass  # the engine runs in the foreground
    except OSError as error:
        logger.warning("%s cannot be trimmed: %s", log, error.strerror)
    return TRIM_SECONDS
