"""The thing that a call names: a memory, or something that notes name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memvault.curation.targets import resolve
from memvault.model.insights import Thing
from memvault.reasoning.things import thing_of

if TYPE_CHECKING:
    from mcp_server.services import Services


def thing_called(services: Services, name: str) -> Thing:
    """The thing of this id, path or name; ``#name`` is a tag.

    Raises:
        NoteNotFound: nothing goes by it.
        AmbiguousTarget: several things do.
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    key = name.strip()
    if services.edges.node(key) is not None:
        return thing_of(key, services.edges)
    meant = None if key.startswith("#") else services.indexer.names.lookup(key)
    if meant is not None and services.edges.node(meant.target) is not None:
        return thing_of(meant.target, services.edges)
    target = resolve(key, services.catalogue, services.stores.graph)
    return thing_of(target.node_ids[0], services.edges)
