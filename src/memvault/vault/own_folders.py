"""The folders in the vault in which memvault keeps what it writes for itself."""

from __future__ import annotations

from pathlib import Path

from memvault.model.errors import OutsideVault
from memvault.vault.files import Vault


def own_folder(vault: Vault, folder: Path) -> Path:
    """The absolute path of such a folder, which is created if it is missing.

    Args:
        folder: relative to the vault.

    Raises:
        VaultMissing: the vault's folder is missing; creating one would make it look like the vault.
        OutsideVault: the folder is a link out of the vault.
        OSError: it cannot be created.
    """
    vault.check()
    absolute = vault.root / folder
    if not absolute.resolve().is_relative_to(vault.root):
        raise OutsideVault(
            f"The vault's folder {folder.as_posix()} is a link out of the vault. Make it a real "
            "folder."
        )
    absolute.mkdir(parents=True, exist_ok=True)
    return absolute
