"""Selects the part of a hook's input that is kept until the session is captured.

It has the transcript's path, and the last message without secrets and private spans. The hook
command itself uses this module when no engine runs, so it imports little.
"""

from __future__ import annotations

import json
from typing import Any

from memvault.capture.transcripts import spoken
from memvault.model.json_text import json_object
from memvault.text.secrets import without_secrets

SESSION_KEYS = ("session_id", "sessionId", "conversation_id")
TRANSCRIPT_KEYS = ("agent_transcript_path", "transcript_path")
START_KEYS = ("source", "trigger", "reason")
AGENT_KEYS = ("agent_type", "subagent_type")
MESSAGE_KEYS = ("last_assistant_message", "prompt_response", "summary", "message")
_PLAIN = (*SESSION_KEYS, *TRANSCRIPT_KEYS, *START_KEYS, *AGENT_KEYS, "cwd", "workspace_roots")


def kept_input(data: bytes) -> bytes | None:
    """The part of a hook's JSON that a capture needs; None if the input is no JSON object."""
    given = json_object(data)
    if given is None:
        return None
    kept: dict[str, Any] = {key: given[key] for key in _PLAIN if key in given}
    for key in MESSAGE_KEYS:
        if isinstance(given.get(key), str):
            kept[key] = without_secrets(spoken(given[key]))
    return json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass")
