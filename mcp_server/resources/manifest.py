"""The vault's manifest.md for clients (graph-tools 1.3, admin://manifest)."""

from __future__ import annotations

import re

from fastmcp.resources import ResourceContent, ResourceResult, resource

from mcp_server.tools.toolbox import Toolbox
from memvault.model.memory import claimant

URI = "admin://manifest"
MARKDOWN = "text/markdown"
_CONCEPT = re.compile(r"^- (.+?) · .*$", re.MULTILINE)


class ManifestResources:
    """The resource of the manifest. Made once per server; thread-safe."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @resource(URI, title="Knowledge manifest", mime_type=MARKDOWN)
    def manifest(self) -> ResourceResult:
        """The vault's manifest.md: every concept by name, for the person to correct. They delete a
        line to forget it, or add [MERGE: A, B] or [NOTE: A] text; reload_manifest applies that.
        """
        container = self._box.container
        memories = container.live.catalogue.all()
        claims = {memory.title: author for memory in memories if (author := claimant(memory))}

        def attributed(line: re.Match[str]) -> str:
            author = claims.get(line[1])
            return f"{line[0]} · written by {author}, unverified" if author else line[0]

        text = _CONCEPT.sub(attributed, container.manifest.text())
        return ResourceResult([ResourceContent(text, mime_type=MARKDOWN)])
