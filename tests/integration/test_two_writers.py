"""An agent edits, through MCP, a note that a person is saving: neither loses words."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.model.change import ChangeKind

NOTE = "permanent/preferences.md"
SAVES = 60
HEAD = "---\n# mine\nlifecycle: 'permanent'\n---\n- Tone: warm\n\n"


def save_in_place(note: Path, text: str) -> None:
    note.write_text(text, newline="")


def save_by_rename(note: Path, text: str) -> None:
    swap_file = note.with_name("preferences.swp")
    swap_file.write_text(text, newline="")
    swap_file.replace(note)


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
def test_a_person_who_saves_and_an_agent_who_sets_a_preference_keep_their_words(
    vault_folder: Path,
    state: StateFolder,
    settings: Settings,
    write: Callable[..., Path],
    save: Callable[[Path, str], None],
) -> None:
    note = write(NOTE, HEAD)
    container = Container(vault_folder, settings, state)
    words = [f"word{number}" for number in range(SAVES)]
    saving = threading.Event()
    saving.set()

    def person() -> None:
        """Goes on writing in what the note says now, as an editor that looks at the file does."""
        for number in range(SAVES):
            tone = next((line for line in note.read_text().splitlines() if "Tone" in line), "")
            text = HEAD.replace("- Tone: warm", tone or "- Tone: warm")
            save(note, text + " ".join(words[: number + 1]) + "\n")
            time.sleep(0.01)
        saving.clear()

    async def agent() -> int:
        done = 0
        async with Client(build_server(container)) as client:
            while saving.is_set() or not done:
                arguments = {
                    "key": "Tone",
                    "value": f"tone {done}",
                    "rationale": "They asked for it.",
                }
                result = await client.call_tool_mcp("set_preference", arguments)
                error = (result.structured_content or {}).get("error")
                if error:
                    assert "changed in the meantime; try again" in error["message"]
                else:
                    done += 1
            final = {"key": "Tone", "value": "dry at last", "rationale": "They asked for it."}
            await client.call_tool("set_preference", final)
            found = await client.call_tool("get_preference", {"key": "tone"})
            assert found.structured_content["value"] == "dry at last"
        return done

    try:
        container.start()
        editor = threading.Thread(target=person)
        editor.start()
        agreed = asyncio.run(agent())
        editor.join()
        assert agreed > 0
        text = HEAD.replace("warm", "dry at last") + " ".join(words) + "\n"
        assert note.read_text() == text
        assert [entry.name for entry in note.parent.iterdir()] == [note.name]
        changes = container.curator.history.changes(limit=None)
        assert [each.kind for each in changes] == [ChangeKind.PREFERENCE_SET] * (agreed + 1)
    finally:
        container.close()
