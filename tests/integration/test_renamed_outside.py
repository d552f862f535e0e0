"""Notes that the person renames in Obsidian keep their ids, and new ones at their paths get others."""

from __future__ import annotations

import errno
import os

import pytest

from memvault.config.settings import Settings
from memvault.curation.changes.curator import Curator
from memvault.model.errors import DiskFull
from memvault.text.encoders.embedding import Embedder
from memvault.vault import journal_files
from memvault.vault.files import Vault
from tests.documents import make_pdf
from tests.integration.edited_vault import EditedVault, edited_vault
from tests.snapshot import differences, snapshot

START = {
    "Untitled.md": b"Seeds are kept in the cool shed.\n",
    "people/Ada.md": b"She plans the harbour, see [[Untitled]].\n",
    "people/Eve.md": b"She sails.\n",
}


def id_at(vault: EditedVault, path: str) -> str:
    memory = vault.live.catalogue.by_path(path)
    assert memory is not None
    return memory.id


def is_as_rebuilt(vault: EditedVault) -> bool:
    with vault.built_anew() as fresh:
        return differences(snapshot(vault.live), snapshot(fresh)) == []


@pytest.mark.parametrize("told", ["together", "scan"])
def test_a_renamed_note_keeps_its_id_and_the_next_one_at_its_path_gets_another(
    embedder: Embedder, settings: Settings, told: str
) -> None:
    with edited_vault(START, embedder, settings) as vault:
        vault.edit([])
        seeds = id_at(vault, "Untitled.md")
        vault.edit([([("move", "Untitled.md", "Seeds.md")], told)])
        assert id_at(vault, "Seeds.md") == seeds
        vault.edit([([("write", "Untitled.md", b"Tides come twice a day.\n")], told)])
        tides = id_at(vault, "Untitled.md")
        assert tides != seeds == id_at(vault, "Seeds.md")
        vault.edit([([("move", "Untitled.md", "Tides.md")], told)])
        vault.edit([([("write", "Untitled.md", b"Kites.\n")], told)])
        assert (id_at(vault, "Seeds.md"), id_at(vault, "Tides.md")) == (seeds, tides)
        assert id_at(vault, "Untitled.md") not in (seeds, tides)
        assert is_as_rebuilt(vault)


def test_a_renamed_folder_and_a_note_renamed_twice_keep_their_ids(
    embedder: Embedder, settings: Settings
) -> None:
    with edited_vault(START, embedder, settings) as vault:
        vault.edit([])
        before = [id_at(vault, path) for path in ("people/Ada.md", "people/Eve.md")]
        vault.edit([([("rename folder", "people", "crew")], "together")])
        vault.edit([([("move", "crew/Eve.md", "crew/Evelyn.md")], "together")])
        assert [id_at(vault, path) for path in ("crew/Ada.md", "crew/Evelyn.md")] == before
        vault.edit([([("move", "crew/Evelyn.md", "people/Eve.md")], "together")])
        assert id_at(vault, "people/Eve.md") == before[1]
        assert is_as_rebuilt(vault)


def test_a_note_renamed_while_a_new_one_took_its_path_is_not_mistaken_for_it(
    embedder: Embedder, settings: Settings
) -> None:
    """Both were done before memvault looked: that the note moved cannot be seen."""
    with edited_vault(START, embedder, settings) as vault:
        vault.edit([])
        seeds = id_at(vault, "Untitled.md")
        done: list[tuple[object, ...]] = [
            ("move", "Untitled.md", "Seeds.md"),
            ("write", "Untitled.md", b"Tides come twice a day.\n"),
        ]
        vault.edit([(done, "together")])
        assert id_at(vault, "Untitled.md") == seeds
        assert is_as_rebuilt(vault)


def test_of_notes_with_the_same_bytes_none_is_taken_for_a_renamed_one(
    embedder: Embedder, settings: Settings
) -> None:
    same = {"a.md": b"Nothing yet.\n", "b.md": b"Nothing yet.\n"}
    with edited_vault(same, embedder, settings) as vault:
        vault.edit([])
        before = {id_at(vault, path) for path in same}
        done: list[tuple[object, ...]] = [("move", "a.md", "c.md"), ("move", "b.md", "d.md")]
        vault.edit([(done, "together")])
        assert before.isdisjoint({id_at(vault, "c.md"), id_at(vault, "d.md")})
        assert is_as_rebuilt(vault)


def test_the_undo_of_a_move_after_a_rename_gives_the_note_its_first_id(
    embedder: Embedder, settings: Settings
) -> None:
    with edited_vault(START, embedder, settings) as vault:
        vault.edit([])
        eve = id_at(vault, "people/Eve.md")
        vault.edit([([("move note", "people/Eve.md", "crew")], "together")])
        vault.edit([([("move", "crew/Eve.md", "crew/Evelyn.md")], "together")])
        assert id_at(vault, "crew/Evelyn.md") == eve
        vault.edit([([("move", "crew/Evelyn.md", "crew/Eve.md")], "together")])
        vault.edit([([("undo", 0)], "together")])
        assert id_at(vault, "people/Eve.md") == eve
        assert is_as_rebuilt(vault)


@pytest.mark.parametrize("deleted_came_from", ["Untitled.md", "people/Eve.md"])
def test_a_note_renamed_to_the_path_of_a_deleted_one_keeps_its_own_id(
    embedder: Embedder, settings: Settings, deleted_came_from: str
) -> None:
    with edited_vault(START, embedder, settings) as vault:
        vault.edit([])
        deleted = id_at(vault, deleted_came_from)
        vault.edit([([("move", deleted_came_from, "Plan.md")], "together")])
        vault.edit([([("delete", "Plan.md")], "together")])
        vault.edit([([("write", "Untitled.md", b"Tides come twice a day.\n")], "together")])
        tides = id_at(vault, "Untitled.md")
        vault.edit([([("move", "Untitled.md", "Plan.md")], "together")])
        assert id_at(vault, "Plan.md") == tides != deleted
        vault.edit([([("write", "Untitled.md", b"Kites.\n")], "together")])
        assert id_at(vault, "Untitled.md") not in (tides, deleted)
        assert is_as_rebuilt(vault)


def test_a_scan_with_the_title_of_a_deleted_one_is_not_taken_for_it(
    embedder: Embedder, settings: Settings
) -> None:
    """Neither has a text, so both are indexed alike."""
    first, second = (make_pdf([""] * pages, title="Scanned document") for pages in (1, 2))
    with edited_vault({"rent.pdf": first}, embedder, settings) as vault:
        vault.edit([])
        rent = id_at(vault, "rent.pdf")
        vault.edit([([("delete", "rent.pdf"), ("write", "tax.pdf", second)], "together")])
        assert id_at(vault, "tax.pdf") != rent


def test_a_note_renamed_while_the_disk_is_full_keeps_its_id_when_there_is_room(
    embedder: Embedder, settings: Settings
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with edited_vault(START, embedder, settings) as vault:
        vault.edit([])
        seeds = id_at(vault, "Untitled.md")
        with pytest.MonkeyPatch.context() as patch, pytest.raises(DiskFull):
            patch.setattr(journal_files, "_write_or_truncate", full)
            vault.edit([([("move", "Untitled.md", "Seeds.md")], "together")])
        assert vault.live.lacks_space
        vault.live.scan()
        assert id_at(vault, "Seeds.md") == seeds and not vault.live.lacks_space
        assert is_as_rebuilt(vault)


def test_what_is_not_recorded_as_renamed_changes_no_history(
    embedder: Embedder, settings: Settings
) -> None:
    with edited_vault(START, embedder, settings) as vault:
        vault.edit([([("move", "Untitled.md", "Seeds.md")], "together")])
        assert Curator(Vault(vault.root), vault.journal).history.changes() == []
