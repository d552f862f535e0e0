"""Commands that ask: ``open``, ``search``, ``show`` and ``related``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memvault.cli.options import Places
from memvault.cli.terminal import (
    AsJson,
    NoteArgument,
    console,
    engine_of,
    harmless,
    open_in_browser,
    places_of,
    print_hint,
    print_json,
    print_line,
    print_table,
    print_text,
    tool_answer,
    vault_of,
)
from memvault.model.errors import MemvaultError, NoteNotFound
from memvault.vault.frontmatter.fences import split_frontmatter


def add_commands(app: typer.Typer) -> None:
    for command in (open_page, search, show, related):
        app.command("open" if command is open_page else None, rich_help_panel="Notes")(command)


def open_page(context: typer.Context) -> None:
    """Open the page of the vault in your browser."""
    with engine_of(places_of(context), wait=False) as engine:
        page = f"http://{engine.address.netloc}/"
    open_in_browser(page)


def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="A question or keywords.")],
    most: Annotated[int, typer.Option("--top", "-n", min=1, max=100, help="How many notes.")] = 10,
    *,
    project: Annotated[str | None, typer.Option(help="Search within this project.")] = None,
    whole: Annotated[
        bool, typer.Option("--long", "-l", help="Quote all passages of each note that answer.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search the vault: best-matching notes, where they are, and the sentences that answer.

    The first note's passages are quoted whole, of each other note the sentence that answers best.
    """
    # Unverified text is withheld from clients, never from the person.
    arguments: dict[str, Any] = {
        "query": " ".join(query),
        "top_k": most,
        "allow_unverified": True,
    }
    if project is not None:
        arguments["project"] = project
    brief = not (whole or as_json)
    answer = tool_answer(context, "recall_memory", arguments, brief=brief)
    if as_json:
        print_json(answer)
        return
    if not (answer["nodes"] or answer.get("notice")):
        _print_why_nothing(places_of(context))
    _print_results(answer, brief=brief)


def _print_results(answer: dict[str, Any], *, brief: bool) -> None:
    if notice := answer.get("notice"):
        print_text(str(notice), style="yellow")
    for position, node in enumerate(answer["nodes"]):
        _print_result(node, brief=brief and position > 0)
    if brief and answer["nodes"][1:]:
        print_hint("Longer quotations: --long. Fewer notes: -n 3. A whole note: memvault show NOTE")


def _print_result(node: dict[str, Any], *, brief: bool) -> None:
    span = node.get("lines")
    place = f"{node['path']}:{span[0]}" if span else str(node["path"])
    facts = [f"{node['relevance_score']:.2f}"]
    if day := str(node.get("date") or "")[:10]:
        facts.append(day)
    if node.get("origin") != "person" and not node.get("verified"):
        facts.append(f"written by {node.get('origin')}, unverified")
    print_line((node["title"], "bold"), "  ", (place, "cyan"), "  ", ("  ".join(facts), "dim"))
    lines = [line.rstrip() for line in str(node.get("content") or "").splitlines() if line.strip()]
    if brief:
        parts = (line.strip().removeprefix("- ") for line in lines if not line.startswith("```"))
        lines = [" · ".join(parts)]
    for line in lines:
        print_text(line, indent=2)
    for claim in node.get("newer_claims", []):
        print_text(
            f"newer, claimed by {claim['claimed_by']} on {claim['claimed_on']}, unverified: "
            f"“{claim.get('sentence', '')}” ({claim.get('path', '')})",
            indent=2,
            style="yellow",
        )
    if not brief:
        console.print()


def show(
    context: typer.Context,
    note: NoteArgument,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print the file as it is, without what is in quarantine.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a note, its links, and the notes that link to it, the newest first."""
    from memvault.model.graph import is_uuid

    try:
        answer = tool_answer(context, "get_memory", {"id" if is_uuid(note) else "path": note})
    except MemvaultError as error:
        if "target" in error.data:  # no note has this name
            _raise_if_not_indexed(places_of(context), note)
        raise
    if as_json:
        print_json(answer)
    elif raw:
        _print_content(answer)
    else:
        _print_note(answer)
        for name in ("links", "backlinks"):
            _print_links(name, answer.get(name, []))


def _print_why_nothing(places: Places) -> None:
    with engine_of(places) as engine:
        is_empty = engine.status()["notes"] == 0
    if is_empty:
        print_line(f"{places.vault} has no notes yet. Name the folder of yours with --vault.")
    else:
        console.print("No notes found.")


def _raise_if_not_indexed(places: Places, name: str) -> None:
    """Raise NoteNotFound, with the reason, if the note of this name is not indexed.

    AI clients learn this of a path only, since a name would tell them which files there are.
    """
    rules = vault_of(places).ignore_rules
    if path := rules.excluded_note(name.strip()):
        raise NoteNotFound(f"{path} is not indexed: {rules.why_excluded(path)}")


def _print_note(answer: dict[str, Any]) -> None:
    from rich.markdown import Markdown

    print_line((answer["title"], "bold"), "  ", (answer["path"], "cyan"))
    if not console.is_terminal:
        _print_content(answer)
        return
    # Left in, frontmatter would be shown as a heading between two rules.
    properties, body = split_frontmatter(answer["content"])
    if properties:
        print_text(properties.strip(), style="dim")
    console.print(Markdown(harmless(body)))


def _print_content(answer: dict[str, Any]) -> None:
    content = str(answer["content"])
    typer.echo(harmless(content) if console.is_terminal else content, nl=not content.endswith("\n"))


def _print_links(name: str, links: list[dict[str, Any]]) -> None:
    if not links:
        return
    print_line((f"\n{name.capitalize()}", "bold"))
    print_table(
        [(link["relation"], link["title"], _place(link)) for link in links],
        ("dim", "", "cyan"),
    )


def _place(link: dict[str, Any]) -> str:
    """The path of a link's note, else why there is none."""
    if titled := link.get("titled"):
        return f"no file of this name; {titled} has this title"
    return str(link.get("path") or "no note yet")


def related(
    context: typer.Context,
    note: NoteArgument,
    most: Annotated[int, typer.Option("-n", "--number", min=1, max=100, help="How many.")] = 10,
    as_json: AsJson = False,
) -> None:
    """List the notes related to a note, closest first, with the sentence that relates them."""
    arguments = {"node_id": note, "limit": 100, "verbosity_level": 1}
    answer = tool_answer(context, "get_neighborhood", arguments)
    notes = [neighbor for neighbor in answer["neighbors"] if neighbor.get("path")][:most]
    if as_json:
        print_json(notes)
        return
    if not notes:
        console.print("No related notes found.")
    for neighbor in notes:
        via = f" via {neighbor['via']}" if neighbor.get("via") else ""
        relation = (f"{neighbor['relation']}{via}", "dim")
        print_line((neighbor["title"], "bold"), "  ", (neighbor["path"], "cyan"), "  ", relation)
        if sentence := neighbor.get("sentence"):
            print_text(" ".join(str(sentence).split()), indent=2)
