"""The manifest as a client may read it (graph-tools 1.3, admin://manifest).

No ``from __future__ import annotations`` here: FastMCP reads annotations as they are.
"""

from fastmcp.resources import ResourceContent, ResourceResult, resource

from mcp_server.manifest_file import keeper_of
from mcp_server.toolbox import Toolbox

URI = "admin://manifest"
MARKDOWN = "text/markdown"


class ManifestResources:
    """Made once per server; its methods may be called from any thread."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @resource(URI, title="Knowledge manifest", mime_type=MARKDOWN)
    def manifest(self) -> ResourceResult:
        """The vault's manifest.md: every concept by name, for the person to set right. They delete
        a line to forget it, or add [MERGE: A, B] or [NOTE: A] text; reload_manifest applies that.
        """
        text = keeper_of(self._box.services).text()
        return ResourceResult([ResourceContent(text, mime_type=MARKDOWN)])
