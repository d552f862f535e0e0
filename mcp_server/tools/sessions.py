"""How answers are given within a session."""

from __future__ import annotations

from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.base import utc
from mcp_server.answers.session import InstructionsAnswer, SessionShape, VerbosityAnswer
from mcp_server.arguments import SessionId
from mcp_server.instructions import ANTIPATTERNS, BEHAVIOURS, FRAGMENT
from mcp_server.toolbox import Toolbox
from mcp_server.tools.kinds import FULL, READS, TUNES
from memvault.model.verbosity import VerbosityLevel

Level = Annotated[
    int,
    Field(
        ge=0,
        le=2,
        description="0: ids and titles only. 1: the passage that answers. 2: more text and why.",
    ),
]


class SessionTools:
    """Tools over the session that calls."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=TUNES, tags=FULL, title="Set verbosity")
    def set_verbosity(self, level: Level, session_id: SessionId = None) -> VerbosityAnswer:
        """Choose how much answers tell from now on: about 100, 200 or 800 tokens.

        It lasts for the session, or for the connection if no session_id is given. A call's own
        verbosity_level wins.
        """
        session = self._box.touch(session_id)
        previous, session.verbosity = session.verbosity, VerbosityLevel(level)
        return VerbosityAnswer(
            previous_level=previous, new_level=level, pulse=self._box.meter.of_vault()
        )

    @tool(annotations=READS, tags=FULL, title="How to use this memory")
    def get_system_instructions(self, session_id: SessionId = None) -> InstructionsAnswer:
        """Learn how to use this memory well: a fragment for your system prompt, what to do when,
        and what to avoid. Call it once, at the start, and keep the fragment in your context.
        """
        session = self._box.touch(session_id)
        return InstructionsAnswer(
            system_prompt_fragment=FRAGMENT,
            critical_behaviors=BEHAVIOURS,
            antipatterns=ANTIPATTERNS,
            session=SessionShape(
                session_id=session.id,
                user_id=session.user_id,
                created=utc(session.created),
                verbosity_level=session.verbosity,
                working_set=session.working_set,
            ),
            pulse=self._box.meter.of_vault(),
        )
