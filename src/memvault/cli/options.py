"""The vault, state folder and configuration file that a command uses.

The bridge imports this, so it stays light: no pydantic.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from memvault.config.paths import DEFAULT_VAULT, StateFolder, user_config_file
from memvault.model.errors import InvalidParams

_VALUED = ("--vault", "--config")


@dataclass(slots=True)
class GlobalOptions:
    """The global options; ``rest`` has the command and its own arguments."""

    vault: str | None = None
    config: str | None = None
    debug: bool = False
    rest: list[str] = field(default_factory=list)


def take_global_options(arguments: list[str]) -> GlobalOptions:
    """Extract ``--vault``, ``--config`` and ``--debug``, anywhere before ``--``.

    If an option lacks its value, only this option remains, so that Typer reports it.
    """
    options = GlobalOptions()
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        name, equals, value = argument.partition("=")
        if argument == "--":
            options.rest += [argument, *waiting]
            break
        if argument == "--debug":
            options.debug = True
        elif name in _VALUED and not (equals or waiting):
            options.rest = [argument]
        elif name in _VALUED:
            setattr(options, name[2:], value if equals else waiting.pop(0))
        else:
            options.rest.append(argument)
    return options


@dataclass(frozen=True, slots=True)
class Places:
    """The vault, its state folder and the file given with ``--config``."""

    vault: Path
    state: StateFolder
    config: Path | None

    @property
    def config_file(self) -> Path:
        """The file to read: ``--config``, else the vault's in its state folder, else the user's."""
        if self.config is not None:
            return self.config
        state_config = self.state.config_file
        return state_config if state_config.is_file() else user_config_file()


def find_places(vault: str | None, config: str | None) -> Places:
    """The places of a command.

    The vault, which need not exist, is the first of: ``vault``, ``MEMVAULT_VAULT``, the
    configuration's ``vault``, ``~/Documents/Memory-Vault``.

    Raises:
        InvalidParams: the configuration file is missing or cannot be read, or the vault's path is
            not valid.
    """
    if vault is not None and not vault.strip():  # as of a variable that is not set
        raise InvalidParams("The vault's name is empty. Name its folder, or leave --vault out.")
    config_file = Path(config).expanduser() if config else None
    if config_file is not None and not config_file.is_file():
        raise InvalidParams(f"There is no configuration file {config}.")
    named = vault or os.environ.get("MEMVAULT_VAULT") or configured_vault(config_file)
    try:
        # Absolute, since the engine runs in another folder; links in the path are kept.
        path = Path(os.path.abspath(Path(named or DEFAULT_VAULT).expanduser()))  # noqa: PTH100
        path.is_dir()  # raises the error that later calls would
        return Places(path, StateFolder.of_vault(path), config_file)
    except (OSError, RuntimeError, ValueError) as error:  # too long, a loop of links, not UTF-8
        reason = error.strerror if isinstance(error, OSError) else error
        printable = str(named)[:200].encode("utf-8", "backslashreplace").decode()
        raise InvalidParams(
            f"The vault cannot be at {printable} ({reason}). Name its folder with --vault "
            "or MEMVAULT_VAULT."
        ) from error


def expanded(path: Path) -> Path:
    """The path with a leading ``~`` expanded.

    Raises:
        InvalidParams: it names a user that this computer does not have.
    """
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise InvalidParams(f"{path} cannot be found ({error}). Give the path in full.") from error


def require_vault(places: Places) -> None:
    """Check that the vault exists. Raises InvalidParams, or VaultMissing if it once existed."""
    if not places.vault.is_dir():
        if (places.state.root / "indexes").is_dir():
            from memvault.vault.files import vault_missing

            raise vault_missing(places.vault)
        raise InvalidParams(
            f"There is no vault at {places.vault}. Create one with `memvault init`, or name yours "
            "with --vault or MEMVAULT_VAULT."
        )


def configured_vault(config: Path | None) -> str | None:
    """The key ``vault`` of this file, else of the person's configuration; None if it has none."""
    file = config or user_config_file()
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InvalidParams(f"{file.name} cannot be read: {error}") from error
    value = values.get("vault")
    return str(value) if value else None
