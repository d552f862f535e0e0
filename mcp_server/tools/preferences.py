"""How the person likes things done."""

from __future__ import annotations

from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.written import PreferenceAnswer
from mcp_server.arguments import PreferenceKey, Rationale
from mcp_server.caller import client_name
from mcp_server.toolbox import Toolbox
from mcp_server.tools.kinds import CORE, READS, SETS
from memvault.curation.preferences import get_preference, set_preference

Value = Annotated[
    str, Field(min_length=1, max_length=2000, description="What the person prefers, in one line.")
]


class PreferenceTools:
    """Tools over the notes of preferences."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=READS, tags=CORE, title="Get a preference")
    def get_preference(self, key: PreferenceKey) -> PreferenceAnswer:
        """Look up how the person likes something done; `value` is null if they never said.

        Exact look-up by key, in any case and with spaces, hyphens or underscores; ask
        recall_memory if you do not know the key.
        """
        found = get_preference(self._box.services.stores.keyvalue, key)
        return PreferenceAnswer(
            key=found.key if found else key,
            value=found.value if found else None,
            path=found.path if found else None,
            pulse=self._box.meter.of_vault(),
        )

    @tool(annotations=SETS, tags=CORE, title="Set a preference")
    def set_preference(
        self, key: PreferenceKey, value: Value, rationale: Rationale
    ) -> PreferenceAnswer:
        """Keep a lasting preference of the person's, as one line of their preferences note.

        Only what they said or clearly showed they want from now on. It replaces the value that
        the key has.
        """
        services = self._box.services
        known = get_preference(services.stores.keyvalue, key)
        written = set_preference(
            services.vault,
            services.journal,
            key,
            value,
            rationale,
            client=client_name() or "",
            path=known.path if known else None,
        )
        services.indexing.index_written([written.path])
        return PreferenceAnswer(
            key=written.key,
            value=written.value,
            path=written.path,
            pulse=self._box.meter.of_vault(),
        )
