"""``search`` and ``fetch``, as ChatGPT's connectors require them
(https://developers.openai.com/apps-sdk, "Company knowledge and deep research")."""

from __future__ import annotations

from urllib.parse import quote

from fastmcp.tools import tool

from mcp_server.answers.base import utc
from mcp_server.answers.connector import FetchAnswer, SearchAnswer, SearchResult
from mcp_server.arguments import MemoryId, Query
from mcp_server.toolbox import Toolbox
from mcp_server.tools.kinds import CORE, READS
from memvault.model.memory import Memory
from memvault.model.query import Scope

RESULTS = 10


class ConnectorTools:
    """The two tools of a ChatGPT connector."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=READS, tags=CORE, title="Search")
    def search(self, query: Query) -> SearchAnswer:
        """Search the person's notes; gives titles and ids to be read with fetch."""
        reached = self._box.services.steady.search(query, RESULTS, Scope())
        found = self._box.known(reached.memories)
        return SearchAnswer(
            results=[
                SearchResult(id=memory.id, title=memory.title, url=self._url(memory))
                for _, memory in found
            ],
            pulse=self._box.pulse_of(found),
            notice=reached.notice,
        )

    @tool(annotations=READS, tags=CORE, title="Fetch")
    def fetch(self, id: MemoryId) -> FetchAnswer:
        """Read the whole text of a note that search found."""
        memory = self._box.memory(id)
        self._box.returned(self._box.touch(), [memory.id])
        return FetchAnswer(
            id=memory.id,
            title=memory.title,
            text=self._box.text_of(memory),
            url=self._url(memory),
            metadata=_metadata(memory),
            pulse=self._box.meter.of([memory.id]),
        )

    def _url(self, memory: Memory) -> str:
        """Opens the note in Obsidian (https://help.obsidian.md/uri)."""
        vault = quote(self._box.services.vault.root.name, safe="")
        return f"obsidian://open?vault={vault}&file={quote(memory.path, safe='')}"


def _metadata(memory: Memory) -> dict[str, str]:
    values = {
        "path": memory.path,
        "type": memory.type,
        "lifecycle": str(memory.lifecycle),
        "created": utc(memory.created_at).isoformat(),
        "project": memory.project or "",
        "tags": ", ".join(memory.tags),
    }
    return {key: value for key, value in values.items() if value}
