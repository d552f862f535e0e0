"""``log``, ``undo``, ``learnt``, ``forget`` and ``manifest``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memvault.cli.options import Places
from memvault.cli.reconstruct import reconstruct
from memvault.cli.terminal import (
    AsJson,
    console,
    counted,
    engine_of,
    harmless,
    places_of,
    print_hint,
    print_json,
    print_line,
    print_lines_changed,
    print_table,
    print_text,
    read_day,
)
from memvault.model.errors import InvalidParams

if TYPE_CHECKING:
    from memvault.model.change import Change

_REASON = "Undone from the command line."
_HASH_DIGITS = 8
_MANIFEST_VERBS = {"delete": "forget", "merge": "merge", "annotate": "add to"}
_YOU = "you"
_MAX_MOVED = 20  # moved files that an undo lists

ClientOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Only changes by this client."),
]
DayOption = Annotated[
    datetime | None,
    typer.Option(parser=read_day, metavar="YYYY-MM-DD", help="Only changes of this day."),
]
PreviewOption = Annotated[
    bool, typer.Option("--preview", help="Show what would change; change nothing.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Skip confirmation.")]


def add_commands(app: typer.Typer) -> None:
    for command in (log, undo, learnt, forget, reconstruct, manifest):
        app.command(rich_help_panel="Changes")(command)


def log(
    context: typer.Context,
    note: Annotated[
        str | None,
        typer.Argument(metavar="NOTE", help="Only changes of this note: its title, path or id."),
    ] = None,
    *,
    client: Annotated[
        str | None,
        typer.Option(metavar="NAME", help='Only changes by this client; "you" for your own.'),
    ] = None,
    day: DayOption = None,
    most: Annotated[int, typer.Option("-n", "--number", min=1, help="How many changes.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the changes that memvault made, newest first, each with the hash that undoes it.

    Edits that you make in Obsidian are not listed.
    """
    changes = _changes(places_of(context), note, client, day)
    shown = changes[:most]
    if as_json:
        print_json([_as_dict(change) for change in shown])
        return
    if not changes:
        console.print("No changes found.")
        return
    print_table([_row(change) for change in shown], ("cyan", "dim"))
    if len(shown) < len(changes):
        print_hint(f"{len(shown):,} of {len(changes):,} changes. All of them: -n {len(changes)}.")


def _changes(
    places: Places, note: str | None, client: str | None, day: datetime | None
) -> list[Change]:
    """The changes in the vault's journal, which needs no running engine."""
    from memvault.curation.changes.change_text import author
    from memvault.curation.changes.history import History
    from memvault.vault.files import Vault
    from memvault.vault.journal import Journal
    from memvault.vault.version_store import VersionStore

    vault = Vault(places.vault)
    history = History(vault, Journal(vault), VersionStore(vault))
    changes = history.changes(day=day.date() if day else None)
    if client is not None:
        changes = [change for change in changes if client.casefold() == author(change).casefold()]
    return changes if note is None else _about(note, changes)


def _about(note: str, changes: Sequence[Change]) -> list[Change]:
    """The changes of the note that has, or once had, this name."""
    from memvault.text.words import name_key

    wanted, key = note.strip().lstrip("/"), name_key(note)

    def is_named(change: Change) -> bool:
        stems = [path.rpartition("/")[2].removesuffix(".md") for path in change.paths]
        names = {name_key(name) for name in (*change.names, *stems)}
        return wanted in (*change.node_ids, *change.paths) or key in names

    named = [change for change in changes if is_named(change)]
    ids = {node_id for change in named for node_id in change.node_ids}
    return [change for change in changes if change in named or ids & set(change.node_ids)]


def _row(change: Change) -> tuple[str, str, str]:
    from memvault.curation.changes.change_text import description

    at = change.at.astimezone().strftime("%Y-%m-%d %H:%M")
    return change.reversal_hash[:_HASH_DIGITS], at, " ".join(description(change).split())


def _as_dict(change: Change) -> dict[str, Any]:
    from memvault.curation.changes.change_text import author, description

    return {
        "reversal_hash": change.reversal_hash,
        "kind": str(change.kind),
        "timestamp": change.at.astimezone().isoformat(),
        "by": author(change),
        "description": description(change),
        "rationale": change.rationale,
        "paths": list(change.paths),
        "undone_by": change.undone_by,
    }


def undo(
    context: typer.Context,
    *,
    change: Annotated[
        str | None,
        typer.Argument(metavar="HASH", help="Change hash; the first characters suffice."),
    ] = None,
    client: ClientOption = None,
    day: DayOption = None,
    preview: PreviewOption = False,
    yes: YesOption = False,
    as_json: AsJson = False,
) -> None:
    """Undo a change, or all changes of a client or a day; `memvault log` lists them.

    Notes become what they were, to the byte. A note that was edited since is not touched.
    Several changes are shown first. An undo can itself be undone.
    """
    if (change is None) == (client is None and day is None):
        raise InvalidParams("Give the hash of a change, or --client, --day or both.")
    chosen = {"change": change, "client": client, "day": day.date().isoformat() if day else None}
    arguments = {key: value for key, value in chosen.items() if value is not None}
    asks = change is None and not (yes or as_json)
    with engine_of(places_of(context)) as engine:
        answer = _undo(engine, arguments, preview=preview or asks)
        if not as_json:
            _print_undone(answer)
        if asks and not preview and answer["undone"] and typer.confirm("Undo these changes?"):
            answer = _undo(engine, arguments, preview=False)
    if as_json:
        print_json(answer)
    elif redo := answer.get("reversal_hash"):
        print_line(f"Done. To redo: memvault undo {redo}")
    else:
        console.print("Nothing was changed.")
    if answer["conflicts"] and not answer["undone"]:
        raise typer.Exit(1)


def _undo(engine: Any, arguments: dict[str, Any], *, preview: bool) -> dict[str, Any]:
    call_arguments = {**arguments, "rationale": _REASON, "preview": preview}
    return dict(engine.call_tool("undo_change", call_arguments))


def _print_undone(answer: dict[str, Any]) -> None:
    for change in answer["undone"]:
        print_line((change["reversal_hash"][:_HASH_DIGITS], "cyan"), "  ", change["description"])
    moved = answer.get("moved") or ()
    for move in moved[:_MAX_MOVED]:
        print_line(f"    {move['path']} → {move['to']}")
    if more := len(moved[_MAX_MOVED:]) + (answer.get("more_moved") or 0):
        print_line(f"    and {more:,} more")
    print_lines_changed(answer.get("lines") or ())
    for conflict in answer["conflicts"]:
        short = conflict["reversal_hash"][:_HASH_DIGITS]
        print_line((f"{conflict['path']}: {conflict['reason']} ({short})", "yellow"))
        print_lines_changed(conflict.get("lines") or ())


def learnt(
    context: typer.Context,
    *,
    reset: Annotated[bool, typer.Option("--reset", help="Forget what was learnt.")] = False,
    undo_reset: Annotated[bool, typer.Option("--undo-reset", help="Undo the last reset.")] = False,
    as_json: AsJson = False,
) -> None:
    """Report what memvault learnt from how notes are used, or reset it.

    The Activity page shows which notes gained and lost. A running engine follows within seconds.
    """
    from memvault.consolidation.learning import Learning
    from memvault.model.change import Actor
    from memvault.vault.files import Vault

    places, person = places_of(context), Actor(kind="person", name=_YOU)
    learning = Learning(Vault(places.vault), places.state.device)
    if reset:
        learning.reset(person)
    elif undo_reset:
        learning.undo_reset(person)
    state, resets = learning.state, learning.resets()
    counts = {
        "notes": len(state.memories),
        "links": len(state.edges),
        "signals": state.signals,
        "unanswered": [question for question, _, _ in learning.unanswered()],
        "reset": resets[-1].ts.isoformat() if resets else None,
    }
    if as_json:
        print_json(counts)
        return
    print_line(
        f"Signals: {state.signals}. Notes: {len(state.memories)}. Links: {len(state.edges)}."
    )
    for question, at, client in learning.unanswered():
        print_line(f"No sure answer, asked on {at:%Y-%m-%d} by {client or 'you'}: {question}")
    if reset:
        print_line("Forgotten. To undo: memvault learnt --undo-reset")


def forget(
    context: typer.Context,
    note: Annotated[
        str,
        typer.Argument(
            metavar="NOTE",
            help="Title, alias, file name, path or id of a note, or the name of a concept.",
        ),
    ],
    *,
    permanent: Annotated[
        bool, typer.Option("--for-good", help="Delete it and its earlier versions at once.")
    ] = False,
    preview: PreviewOption = False,
    yes: YesOption = False,
    as_json: AsJson = False,
) -> None:
    """Move a note to the vault's trash, from which it can be restored for 30 days."""
    arguments: dict[str, Any] = {"target": note, "rationale": "Forgotten from the command line."}
    if permanent:
        arguments |= {"soft_delete": False, "reason": "user_requested"}
    with engine_of(places_of(context)) as engine:
        if permanent and not (yes or as_json or preview):
            planned = engine.call_tool("forget_concept", {**arguments, "preview": True})
            place = next(iter(planned["paths"]), planned["name"])
            if not typer.confirm(f"Delete {harmless(place)} for good?"):
                return
        answer = engine.call_tool("forget_concept", {**arguments, "preview": preview})
    if as_json:
        print_json(answer)
    elif preview:
        _print_forgetting(answer, permanent=permanent)
    elif permanent:
        print_line(f"Deleted {answer['name']} for good.")
    else:
        print_line(f"Forgot {answer['name']}. To restore: memvault undo {answer['reversal_hash']}")


def _print_forgetting(answer: dict[str, Any], *, permanent: bool) -> None:
    """What forgetting would remove, and the notes that link to it, which stay as they are."""
    if answer["paths"]:
        outcome = ": deleted for good, with its earlier versions" if permanent else " → trash"
    else:
        outcome = ": memvault no longer shows this name; your notes keep it"
    print_line((next(iter(answer["paths"]), answer["name"]), "cyan"), outcome)
    if naming := answer.get("linked_from"):
        print_line("Notes that link to it or name it stay as they are:")
        for path in naming:
            print_line(f"  {path}")
    console.print("Nothing was changed.")


def manifest(
    context: typer.Context,
    *,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="Read it back: show what would change, then apply it."),
    ] = False,
    yes: YesOption = False,
    as_json: AsJson = False,
) -> None:
    """Write manifest.md, a list of every concept, which you can edit; your own text in it stays.

    Delete lines or add directives in it, then run this with --apply.
    """
    places = places_of(context)
    if apply:
        _apply_manifest(places, yes=yes, as_json=as_json)
        return
    with engine_of(places) as engine:
        written = engine.write_manifest()
    if as_json:
        print_json(written)
        return
    concepts = counted(written["concepts"], "concept")
    print_line(f"{places.vault / str(written['path'])}: {concepts}.")
    if written["waiting"]:
        noun = "deleted line is" if written["waiting"] == 1 else "deleted lines are"
        print_line(f"{written['waiting']:,} {noun} not applied yet: memvault manifest --apply")


def _apply_manifest(places: Places, *, yes: bool, as_json: bool) -> None:
    with engine_of(places) as engine:
        answer = engine.call_tool("reload_manifest", {"preview": True})
        if not as_json:
            _print_preview(answer)
        wanted = bool(answer["changes_total"]) and not answer["errors"]
        if wanted and (yes or (not as_json and typer.confirm("Apply these changes?"))):
            answer = engine.call_tool("reload_manifest", {"preview": False, "confirm": True})
            if not as_json:
                _print_outcome(answer)
        elif wanted and not as_json:
            console.print("Nothing was changed.")
    if as_json:
        print_json(answer)
    if answer["errors"]:
        raise typer.Exit(1)


def _print_preview(answer: dict[str, Any]) -> None:
    for change in answer["changes_detected"]:
        _print_manifest_change(change)
    more = answer["changes_total"] - len(answer["changes_detected"])
    if more > 0:
        console.print(f"… and {more:,} more.")
    for error in answer["errors"]:
        print_line((f"{answer['path']}, {error}", "red"))
    if answer["errors"]:
        console.print("Nothing was changed.")
    elif not answer["changes_total"]:
        console.print("The manifest contains no changes.")
    elif question := answer.get("confirm_needed"):
        print_text(str(question).partition(". Confirm")[0] + ".", style="yellow")


def _print_manifest_change(change: dict[str, Any]) -> None:
    target, *merged = change["target_concepts"]
    concepts = f"{', '.join(merged)} into {target}" if merged else target
    print_line((_MANIFEST_VERBS[change["action"]], "bold"), " ", concepts)
    if remark := change.get("says"):
        print_text(remark, indent=2, style="dim")
    for note in change["notes"]:
        print_line("  ", (note["path"], "cyan"), "" if "lines" in note else " → trash")
        print_lines_changed(note.get("lines", ()), note["path"])


def _print_outcome(answer: dict[str, Any]) -> None:
    for error in answer["errors"]:
        print_line((str(error), "red"))
    if answer["applied"]:
        print_line(f"Done. To undo: memvault undo {answer['reversal_hash']}")
