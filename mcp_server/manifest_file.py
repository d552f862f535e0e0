"""The vault's ``manifest.md``, as the engine keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memvault.curation.forget import Why
from memvault.curation.manifest.keeper import ManifestKeeper
from memvault.curation.manifest.naming import Indexed
from memvault.curation.operations.merge import Known
from memvault.model.change import Change
from memvault.model.errors import OutsideVault
from memvault.vault.ignore import MANIFEST

if TYPE_CHECKING:
    from mcp_server.services import Services


def keeper_of(services: Services) -> ManifestKeeper:
    """What writes and reads the manifest of the live index."""

    def indexed() -> Indexed:
        catalogue = services.catalogue
        known = Known(catalogue, services.indexer.links, catalogue.linking)
        return Indexed(known, services.edges, services.stores.graph)

    return ManifestKeeper(services.vault, services.curator, indexed)


def apply_manifest(
    services: Services, why: Why, path: str = MANIFEST, *, confirm: bool = False
) -> Change | None:
    """Apply the manifest and index what it changed; None where it asks for nothing.

    Raises: as `ManifestKeeper.apply`.
    """
    change = keeper_of(services).apply(why, path, confirm=confirm)
    if change is not None:
        services.indexing.index_written(
            [each for each in change.paths if services.vault.is_note(each)]
        )
    return change


def path_in_vault(services: Services, path: str | None) -> str:
    """The vault path of a manifest that a call names, absolute or not.

    Raises:
        OutsideVault: it is not in the vault.
    """
    if path is None:
        return MANIFEST
    wanted = path.strip().replace("\\", "/").removeprefix("./")
    inside = services.vault.relative(services.vault.root / wanted)
    if inside is None or inside.startswith((".", "~")) or not inside.endswith(".md"):
        raise OutsideVault(
            f"{path!r} is no manifest of this vault: leave it out, or name a .md file in the vault",
            parameter="manifest_path",
        )
    return inside
