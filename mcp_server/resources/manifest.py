"""The manifest for clients (graph-tools 1.3, admin://manifest)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fastmcp.resources import ResourceContent, ResourceResult, resource

from mcp_server.answers.status import KnownShape, ManifestAnswer
from mcp_server.middleware.origin_marks import claimant
from mcp_server.tools.toolbox import Toolbox
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.search import VerbosityLevel
from memvault.model.state import CognitivePulse
from memvault.reasoning.vault_overview import VaultOverview, vault_overview

if TYPE_CHECKING:
    from indexer.indexer import Indexer
    from mcp_server.runtime.container import Container

# Entries of each list, by level of verbosity. At level 1 the whole answer has about 300 of the
# model's tokens, which tests/integration/test_navigation.py checks.
SHOWN = {
    VerbosityLevel.RAW_ONLY: 0,
    VerbosityLevel.TEXT_AND_IDS: 5,
    VerbosityLevel.FULL_INSIGHTS: 20,
}
NAMED = 5  # of each, in the fragment
NAME_CHARS = 40
NO_GRAPH = "The graph is unreachable; concepts and relations are missing from this answer."


class Manifests:
    """Keeps the last manifest. Thread-safe."""

    def __init__(self, container: Callable[[], Container]) -> None:
        self._container = container
        self._source: tuple[Indexer, int] | None = None
        self._manifest = VaultOverview(0)
        self._lock = threading.Lock()

    def current(self) -> tuple[VaultOverview, str | None]:
        """The manifest of the current index; with a notice if the graph is unreachable."""
        container = self._container()
        indexer = container.live.indexer
        with self._lock:
            now = (indexer, indexer.version)
            if now != self._source:
                try:
                    self._manifest = vault_overview(
                        indexer.catalogue.all(), container.live.graph_view
                    )
                except (StoreUnavailable, GraphQueryError):
                    return vault_overview(indexer.catalogue.all(), None), NO_GRAPH
                self._source = now
            return self._manifest, None

    def _claimant(self, path: str | None) -> str:
        return claimant(self._container().live.catalogue.by_path(path)) if path else ""

    def answer(self, level: VerbosityLevel, pulse: CognitivePulse) -> ManifestAnswer:
        """The manifest as an answer of this level."""
        manifest, notice = self.current()
        limit = SHOWN[level]
        concepts = [KnownShape.of(concept) for concept in manifest.concepts[:limit]]
        full = level is VerbosityLevel.FULL_INSIGHTS
        return ManifestAnswer(
            prompt_fragment=fragment(manifest, self._claimant),
            notes=manifest.notes,
            first_day=manifest.first,
            last_day=manifest.last,
            kinds=dict(manifest.kinds[:limit]) or None,
            projects=dict(manifest.projects[:limit]) if full else None,
            tags=dict(manifest.tags[:limit]) if full else None,
            relations=dict(manifest.relations[:limit]) if full else None,
            concepts=concepts if full else None,
            pulse=pulse,
            notice=notice,
        )


def fragment(manifest: VaultOverview, claimant_at: Callable[[str | None], str]) -> str:
    """A summary for a client's context, of about 150 tokens at most.

    It leaves out titles of notes that the person did not write, as a title may be a claim.
    """
    if not manifest.notes:
        return "The person's memory is still empty: nothing can be recalled from it yet."
    days = f", from {manifest.first} to {manifest.last}" if manifest.first else ""
    sentences = [
        f"The person's memory holds {manifest.notes} notes{days}.",
        _list("Projects", manifest.projects),
        _list(
            "Named most",
            [
                (concept.node.name, concept.notes)
                for concept in manifest.concepts
                if not claimant_at(concept.node.path)
            ],
        ),
        _list("Tags", manifest.tags),
        _list("Relations people state", manifest.relations),
        "Recall before answering anything that may touch these; the numbers count notes.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _list(label: str, counted: Sequence[tuple[str, int]]) -> str:
    items = [f"{name} ({count})" for name, count in counted if len(name) <= NAME_CHARS][:NAMED]
    return f"{label}: {', '.join(items)}." if items else ""


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
