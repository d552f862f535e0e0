"""Ask from the terminal: ``search`` and ``show``."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from memvault.cli.context import AsJson, console, engine_of, places_of, print_json

_SNIPPET_CHARACTERS = 280
_FRONTMATTER = re.compile(
    r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE
)


def add_commands(app: typer.Typer) -> None:
    app.command()(search)
    app.command()(show)


def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="What you want to know.")],
    top: Annotated[int, typer.Option("--top", "-n", min=1, max=100, help="How many.")] = 10,
    project: Annotated[str | None, typer.Option(help="Only this project's memories.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask your vault: the memories that answer best, with where they stand."""
    arguments: dict[str, Any] = {"query": " ".join(query), "top_k": top}
    if project is not None:
        arguments["project"] = project
    with engine_of(places_of(context)) as engine:
        answer = engine.call_tool("recall_memory", arguments)
    if as_json:
        print_json(answer)
        return
    if notice := answer.get("notice"):
        console.print(Text(str(notice), style="yellow"))
    if not answer["nodes"]:
        console.print("Nothing found.")
    for node in answer["nodes"]:
        _print_result(node)


def _print_result(node: dict[str, Any]) -> None:
    lines = node.get("lines")
    place = f"{node['path']}:{lines[0]}" if lines else str(node["path"])
    score = f"{node['relevance_score']:.2f}"
    head = Text.assemble((node["title"], "bold"), "  ", (place, "cyan"), "  ", (score, "dim"))
    console.print(head, soft_wrap=True)  # a path broken in two cannot be clicked or copied
    snippet = " ".join(str(node.get("content") or "").split())
    if len(snippet) > _SNIPPET_CHARACTERS:
        snippet = snippet[:_SNIPPET_CHARACTERS].rsplit(" ", 1)[0] + " …"
    console.print(Padding(Text(snippet), (0, 0, 1, 2)))


def show(
    context: typer.Context,
    memory: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, or a note's path, title or alias.")
    ],
    raw: Annotated[bool, typer.Option("--raw", help="The note as it is on disk.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one memory: the whole note, its links and what links to it."""
    from memvault.model.graph import is_uuid

    key = "id" if is_uuid(memory) else "path"
    with engine_of(places_of(context)) as engine:
        answer = engine.call_tool("get_memory", {key: memory})
    if as_json:
        print_json(answer)
    elif raw:
        typer.echo(answer["content"], nl=not str(answer["content"]).endswith("\n"))
    else:
        _print_note(answer)
        for name in ("links", "backlinks"):
            _print_links(name, answer.get(name, []))


def _print_note(answer: dict[str, Any]) -> None:
    from rich.markdown import Markdown

    head = Text.assemble((answer["title"], "bold"), "  ", (answer["path"], "cyan"))
    console.print(head, soft_wrap=True)
    # Left in, frontmatter would be shown as a heading between two rules.
    properties = _FRONTMATTER.match(answer["content"])
    if properties:
        console.print(Text(properties[1].strip(), style="dim"))
    console.print(Markdown(answer["content"][properties.end() if properties else 0 :]))


def _print_links(name: str, links: list[dict[str, Any]]) -> None:
    if links:
        console.print(Text(f"\n{name.capitalize()}", style="bold"))
    for link in links:
        place = link.get("path") or "no note yet"
        console.print(
            Text.assemble("  ", link["relation"], " ", link["title"], "  ", (place, "cyan"))
        )
