"""Progress bars: how far, at what rate, how much time is left."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from memvault.cli.context import console
from memvault.model.errors import EngineUnavailable

if TYPE_CHECKING:
    from mcp_server.engine.client import EngineClient

_POLL_SECONDS = 0.2
_SCAN_MUST_BEGIN_SECONDS = 30.0


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed * 60:,.0f} notes/min", style="dim")


def bar() -> Progress:
    """A bar that goes away when it is done; nothing at all where stdout is no terminal."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def follow(reports: Iterable[dict[str, Any]]) -> None:
    """Show ``{stage, done, total}`` as they come; each stage fills the bar anew."""
    with bar() as progress:
        stage, task = "", progress.add_task("starting", total=None)
        for report in reports:
            if report["stage"] != stage:
                stage = str(report["stage"])
                progress.reset(task, description=stage)
            progress.update(task, completed=report["done"], total=report["total"] or None)


def follow_first_scan(engine: EngineClient) -> dict[str, Any]:
    """Wait until the engine has looked at every note once; gives its status then.

    Raises:
        EngineUnavailable: the engine stopped, or its scan did.
    """
    status: dict[str, Any] = {}

    def reports() -> Iterable[dict[str, Any]]:
        nonlocal status
        last_seen = time.monotonic()
        while not (status := engine.status())["last_scan"]:
            if status["indexing"] is not None:
                last_seen = time.monotonic()
                yield status["indexing"]
            elif time.monotonic() - last_seen > _SCAN_MUST_BEGIN_SECONDS:
                raise EngineUnavailable(
                    "The engine runs but does not index; `memvault doctor` may say why, and "
                    "engine.log in its state folder does."
                )
            time.sleep(_POLL_SECONDS)

    follow(reports())
    return status
