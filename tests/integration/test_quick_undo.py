"""Changes as pages show them, and the key that undoes the person's last one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from mcp_server.pages.shown_changes import last_of_person, shown_changes
from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.curation.decisions import by_person
from memvault.curation.operations.draft import Draft


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


def test_a_memory_whose_title_no_file_can_have_is_shown_by_one_name(
    vault_folder: Path, state: StateFolder, settings: Settings
) -> None:
    container = Container(vault_folder, settings, state)
    try:
        container.start(watch=False)
        text = "The boat sails at 9:30 from the east quay."
        container.actions.store(Draft.checked(content=text, rationale="Said in the chat."))
        (change,) = container.curator.history.changes(limit=1)
        (shown,) = shown_changes(container, [change], lines=False)
        assert [name.name for name in shown.names] == ["The boat sails at 9 30 from the east quay"]
    finally:
        container.close()
