"""Who the person is whose memory this is."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid5

from memvault.config.settings import Settings
from memvault.model.memory import NAMESPACE


def user_id(settings: Settings) -> str:
    """The configured name, else an id made of this account's home folder.

    So all clients of one account are one person, and there is nothing to keep or to lose.
    """
    return settings.user.strip() or str(uuid5(NAMESPACE, f"user:{Path.home()}"))
