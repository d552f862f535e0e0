"""The key that undoes the person's last change on the page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from mcp_server.pages.page_actions import by_person
from mcp_server.pages.shown_changes import last_of_person
from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings


def test_one_key_undoes_the_last_change_only_within_a_day(
    vault_folder: Path, state: StateFolder, settings: Settings
) -> None:
    (vault_folder / "Yard.md").write_text("The yard is by the water.\n", encoding="utf-8")
    time = [datetime.now(UTC)]
    container = Container(vault_folder, settings, state, clock=lambda: time[0])
    try:
        container.start(watch=False)
        done = container.actions.annotate("Yard", "It floods.", by_person("noted on the page"))
        time[0] += timedelta(hours=23)
        assert last_of_person(container) == done.change is not None
        time[0] += timedelta(hours=2)
        assert last_of_person(container) is None
    finally:
        container.close()
