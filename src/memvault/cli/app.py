"""The program with all commands; an error is printed as one line."""

from __future__ import annotations

import errno
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memvault import __version__
from memvault.cli import ask, changes, connect, engine, health, hooks, notes, vaults, web_clients
from memvault.cli.options import take_global_options
from memvault.cli.terminal import harmless
from memvault.model.errors import InvalidParams, MemvaultError, reason_of

# What other programs call these commands.
_OTHER_NAMES = {
    "ask": "search", "query": "search", "find": "search", "recall": "search", "history": "log",
    "delete": "forget", "remove": "forget", "rm": "forget", "restore": "undo", "revert": "undo",
    "add": "new", "create": "new", "ls": "list", "mv": "move", "rename": "move", "cat": "show",
    "start": "serve", "reindex": "rebuild", "check": "doctor", "install": "connect",
}  # fmt: skip


class _Commands(TyperGroup):
    """The commands; says why a value is wrong without the words of pydantic."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        _name_no_type_of_flags(self)
        return super().make_context(*args, **options)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and (meant := _OTHER_NAMES.get(args[0])):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = reason_of(error.message)
            raise


def _name_no_type_of_flags(command: Any) -> None:
    """Have the help list flags without a type: ``--preview <bool>`` looks as if it took a value."""
    for option in command.params:
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""
    for subcommand in getattr(command, "commands", {}).values():
        _name_no_type_of_flags(subcommand)


app = typer.Typer(
    name="memvault",
    cls=_Commands,
    help="Your Obsidian vault as the memory of every AI you use.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memvault {__version__}")
        raise typer.Exit


@app.callback()
def options(
    vault: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Vault folder (default: MEMVAULT_VAULT, then config)."),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Configuration file (default: in the state folder)."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Your Obsidian vault as the memory of every AI you use."""


for _group in (vaults, connect, web_clients, hooks, ask, notes, changes, engine, health):
    _group.add_commands(app)


def run(arguments: list[str]) -> int:
    """Run a command; returns its exit code: 0 done, 1 failed, 2 bad usage."""
    global_options = take_global_options(arguments)
    front = ["--debug"] if global_options.debug else []
    front += [f"--vault={global_options.vault}"] if global_options.vault is not None else []
    front += [f"--config={global_options.config}"] if global_options.config is not None else []
    try:
        app(args=[*front, *global_options.rest], prog_name="memvault")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except MemvaultError as error:
        return _failed(
            error.message, global_options.debug, 2 if isinstance(error, InvalidParams) else 1
        )
    except Exception as error:
        return _failed(_reason(error), global_options.debug, 1)
    return 0


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        place = f"{error.filename} cannot be read or written: {error.strerror}"
        return f"{place}. Correct its permissions, or move it elsewhere if it should not be there."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "The disk is full, and the output was not written. Free some space and try again."
    return f"internal error, {type(error).__name__}: {error}. --debug shows the traceback."


def _failed(message: str, debug: bool, code: int) -> int:
    if debug:
        traceback.print_exc()
    sys.stderr.write(f"memvault: {harmless(message)}\n")
    return code
