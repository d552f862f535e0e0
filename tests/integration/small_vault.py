"""Small vaults of given notes, open and indexed; one of them is shared by several modules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings

KELP = {
    "permanent/Mira Sand.md": "---\ntype: person\naliases: [Mira]\n---\n"
    "Mira Sand is a marine biologist. She works at the [[Harbour Lab]] in Lisbon.\n",
    "permanent/Harbour Lab.md": "---\ntype: organisation\n---\n"
    "A research institute on the Tagus that studies algae and tides.\n",
    "projects/kelp/Kelp census.md": "---\ntype: project\nproject: kelp\nimportance: high\n"
    "tags: [ocean, survey]\n---\n# Kelp census\n\nLead: [[Mira Sand]]\n\n"
    "We count kelp along the coast every spring. See also [[Diving permits]].\n",
    "projects/kelp/Counting by drone.md": "---\ntype: decision\nproject: kelp\n---\n"
    "supersedes:: [[Counting by boat]]\n\nThe kelp is counted by drone, which is cheaper.\n",
    "projects/kelp/Counting by boat.md": "---\ntype: decision\nproject: kelp\n---\n"
    "The kelp is counted from a boat, with two divers.\n",
    "projects/oven/Clay oven.md": "---\ntype: project\nproject: oven\n---\n"
    "Building a clay oven in the garden: sand, straw and three weekends.\n",
    "permanent/preferences.md": "---\ntype: preference\n---\n- Reply language: Portuguese\n",
    "permanent/Broken.md": "---\ntags: [unclosed\ntype: note\n---\nA note with a typing error above.\n",
}


def write_notes(vault: Path, notes: Mapping[str, str] = KELP) -> None:
    vault.mkdir(parents=True, exist_ok=True)
    for path, text in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8")


def unindexed(
    home: Path,
    notes: Mapping[str, str],
    name: str = "vault",
    settings: Settings | None = None,
) -> Container:
    """The notes in a vault of that name below `home`, and its state in ``home/state``."""
    vault = home / name
    write_notes(vault, notes)
    settings = settings or Settings(index=IndexSettings(ner="off"))
    return Container(vault, settings, StateFolder.of_vault(vault, home / "state"))


def opened(
    home: Path,
    notes: Mapping[str, str] = KELP,
    name: str = "My vault",
    settings: Settings | None = None,
) -> Container:
    """As `unindexed`, but scanned once; not watched."""
    container = unindexed(home, notes, name, settings)
    container.indexing.scan()
    return container
