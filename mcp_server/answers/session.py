"""How a session is served, and how its client is asked to work."""

from __future__ import annotations

from datetime import datetime

from mcp_server.answers.base import Answer, Shape


class VerbosityAnswer(Answer):
    """The level of the answers whose call names none, before and from now on."""

    previous_level: int
    new_level: int


class Behaviour(Shape):
    """What to do when something happens, and with which tool."""

    trigger: str
    action: str
    tool: str


class SessionShape(Shape):
    """Whom the answers serve; ``working_set`` are the ids of the memories shown last."""

    session_id: str
    user_id: str
    created: datetime
    verbosity_level: int
    working_set: list[str]


class InstructionsAnswer(Answer):
    system_prompt_fragment: str
    critical_behaviors: list[Behaviour]
    antipatterns: list[str]
    session: SessionShape
