"""``clients``: approves and lists AI clients on the web, which sign in with OAuth."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from memvault.cli.terminal import (
    AsJson,
    engine_of,
    open_in_browser,
    places_of,
    print_json,
    print_line,
    print_table,
)
from memvault.model.errors import InvalidParams

_web_clients = typer.Typer(
    help="List the AI clients on the web that you approved; approve, deny and revoke them.",
    invoke_without_command=True,
)


def add_commands(app: typer.Typer) -> None:
    app.add_typer(_web_clients, name="clients", rich_help_panel="AI clients")


@_web_clients.callback()
def clients(
    context: typer.Context,
    *,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page where you can approve and revoke them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the AI clients on the web that you approved."""
    if context.invoked_subcommand is not None:
        return
    with engine_of(places_of(context), wait=False) as engine:
        answer = engine.web_clients()
        page = engine.sign_in_address() if open_page else None
    if as_json:
        print_json(answer)
        return
    if answer["public_url"] is None:
        print_line("Clients on the web cannot connect: the engine has no public address.")
        print_line("To allow them: memvault connect chatgpt")
        return
    if page is not None:
        open_in_browser(page)
    rows = [
        (client["id"][:8], client["name"], client["host"], f"last seen {_at(client['last_seen'])}")
        for client in answer["clients"]
    ]
    print_table(rows, ("cyan", "bold"))
    if not rows:
        print_line("No clients are approved.")


@_web_clients.command()
def approve(
    context: typer.Context,
    number: Annotated[
        str, typer.Argument(metavar="NUMBER", help="The number that your browser shows.")
    ],
) -> None:
    """Allow the client with this number to read and write your notes."""
    _decide(context, "approve", number)
    print_line(f"Approved: the page that shows {number} continues by itself.")


@_web_clients.command()
def deny(
    context: typer.Context,
    number: Annotated[
        str, typer.Argument(metavar="NUMBER", help="The number of the waiting client.")
    ],
) -> None:
    """Refuse the client with this number."""
    _decide(context, "deny", number)
    print_line(f"Denied: {number}.")


@_web_clients.command()
def revoke(
    context: typer.Context,
    client: Annotated[
        str,
        typer.Argument(
            metavar="CLIENT", help="Its name or id; the first characters of the id suffice."
        ),
    ],
) -> None:
    """Withdraw the approval of a client; its tokens stop working at once."""
    with engine_of(places_of(context), wait=False) as engine:
        ids = [
            approved["id"]
            for approved in engine.web_clients()["clients"]
            if approved["id"].startswith(client) or approved["name"].casefold() == client.casefold()
        ]
        if len(ids) != 1:
            count = "No client is" if not ids else f"{len(ids)} clients are"
            raise InvalidParams(f"{count} called {client!r}; `memvault clients` lists them.")
        engine.decide_client("revoke", ids[0])
    print_line("Revoked.")


def _decide(context: typer.Context, action: str, number: str) -> None:
    with engine_of(places_of(context), wait=False) as engine:
        if not engine.decide_client(action, number.strip()):
            raise InvalidParams(
                f"{number} is no number of a client: they look like K7QF-2MDP, as your browser "
                "shows it"
            )


def _at(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
