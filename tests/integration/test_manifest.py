"""manifest.md: written, edited by a person, read back as a preview, applied as one change."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from mcp_server.runtime.index_status import incomplete_because
from memvault.curation.changes import file_edits
from memvault.curation.changes.curator import Curator
from memvault.curation.changes.plan import Attribution, Edit
from memvault.model.errors import StorageError
from memvault.vault.files import Vault
from memvault.vault.ignore import IGNORE_FILE
from memvault.vault.journal import Journal
from tests.integration.caller import Caller
from tests.integration.small_vault import opened

NOTES = {
    "projects/mill/Tide mill.md": "---\ntype: project\n---\nThe tide mill grinds rye. "
    "Built by [[Runa Holt]], beside the [[Ost Harbour]].\n",
    "permanent/Runa Holt.md": "---\ntype: person\n---\nRuna Holt builds mills.\n",
    "permanent/R. Holt.md": "---\ntype: person\n---\nR. Holt was born in 1961.\n",
    "Sluice.md": "The sluice of the [[Tide mill]] leaks. [[R. Holt]] repaired it. #water\n",
    "a/Pump.md": "The pump by the river, near the [[Ost Harbour]].\n",
    "b/Pump.md": "Another pump.\n",
    "Bees.md": "The bees came from [[Orchard Lane]].\n",
    **{f"days/Day {number}.md": f"Walked {number} miles.\n" for number in range(20)},
}


@pytest.fixture
def mill(tmp_path: Path) -> Any:
    container = opened(tmp_path, NOTES)
    yield Caller(container).person
    container.close()


def root(caller: Caller) -> Path:
    return caller.container.vault.root


def written(caller: Caller) -> str:
    caller.container.manifest.write()
    return (root(caller) / "manifest.md").read_bytes().decode()


def edit(caller: Caller, change: Callable[[str], str]) -> str:
    text = change((root(caller) / "manifest.md").read_bytes().decode())
    (root(caller) / "manifest.md").write_bytes(text.encode())
    return text


def notes_of(caller: Caller) -> dict[str, bytes]:
    return {
        file.relative_to(root(caller)).as_posix(): file.read_bytes()
        for file in root(caller).rglob("*.md")
        if ".trash" not in file.parts and file.name != "manifest.md"
    }


def without(text: str, *starts: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(starts))


def apply(caller: Caller, **arguments: Any) -> dict[str, Any]:
    return caller.ok("reload_manifest", preview=False, **arguments)


def test_who_names_a_manifest_learns_how_it_is_written_edited_and_applied(mill: Caller) -> None:
    assert "`memvault manifest` writes it" in mill.error("reload_manifest")["message"]
    why = {"rationale": "What the person asked for"}
    edit = {"operation": "append", "content": "x", **why}
    for error in (
        mill.error("get_memory", path="manifest.md"),
        mill.error("edit_memory", target="manifest.md", **edit),
        mill.error("forget_concept", target="/manifest.md", **why),
    ):
        assert "`memvault manifest --apply` applies" in error["message"]


def test_a_manifest_lists_concepts_by_kind_with_what_is_counted(mill: Caller) -> None:
    text = written(mill)
    assert "### Projects\n\n- Tide mill · named in 2 notes\n" in text
    assert "### People\n\n- R. Holt · named in 1 note\n- Runa Holt · named in 1 note\n" in text
    assert "- Pump · 2 notes\n" in text
    assert "- Ost Harbour · no note · named in 2 notes\n" in text
    assert "### Tags\n\n- #water · named in 1 note\n" in text
    assert written(mill) == text
    assert "manifest.md" not in [memory.path for memory in mill.container.live.catalogue.all()]


def test_a_manifest_lists_no_day_that_has_no_note(mill: Caller) -> None:
    text = "Oiled the wheel.\n\n[[2026-03-04]] | [[2026-03-06]]\n"
    (root(mill) / "2026-03-05.md").write_text(text, encoding="utf-8")
    mill.container.indexing.scan()
    text = written(mill)
    assert "- 2026-03-05" in text
    assert "2026-03-04" not in text and "2026-03-06" not in text


def test_the_lines_stay_while_no_note_is_read(mill: Caller) -> None:
    before = written(mill)
    vault = root(mill)
    (vault / IGNORE_FILE).mkdir()
    mill.container.indexing.scan()
    assert "cannot be read" in (incomplete_because(mill.container) or "")
    with pytest.raises(StorageError, match="cannot be read"):
        mill.container.manifest.write()
    assert (vault / "manifest.md").read_text(encoding="utf-8") == before
    (vault / IGNORE_FILE).rmdir()
    mill.container.indexing.scan()
    assert incomplete_because(mill.container) is None
    assert written(mill).splitlines()[:-1] == before.splitlines()[:-1]


def test_a_preview_shows_each_note_and_line_and_touches_nothing(mill: Caller) -> None:
    written(mill)
    edit(mill, lambda text: without(text, "- Bees") + "[MERGE: Runa Holt, R. Holt]\n"
         "[NOTE: Sluice] mended in May\n")  # fmt: skip
    before, manifest = notes_of(mill), (root(mill) / "manifest.md").read_bytes()
    answer = mill.ok("reload_manifest")
    assert (answer["applied"], answer["errors"], answer["changes_total"]) == (False, [], 3)
    note, merge, delete = answer["changes_detected"]
    assert (note["action"], note["target_concepts"]) == ("annotate", ["Sluice"])
    assert note["resolved_node_ids"] == [mill.id_of("Sluice")]
    [touched] = note["notes"]
    assert touched["path"] == "Sluice.md"
    assert touched["lines"][-1]["after"].endswith("mended in May")
    assert (merge["action"], merge["target_concepts"]) == ("merge", ["Runa Holt", "R. Holt"])
    assert merge["resolved_node_ids"] == [mill.id_of("Runa Holt"), mill.id_of("R. Holt")]
    paths = {touched["path"]: touched.get("lines") for touched in merge["notes"]}
    assert set(paths) == {"permanent/Runa Holt.md", "permanent/R. Holt.md", "Sluice.md"}
    assert paths["permanent/R. Holt.md"] is None
    assert paths["Sluice.md"][0]["line"] == 1
    assert "[[Runa Holt|R. Holt]]" in paths["Sluice.md"][0]["after"]
    assert (delete["action"], delete["notes"]) == ("delete", [{"path": "Bees.md"}])
    assert (notes_of(mill), (root(mill) / "manifest.md").read_bytes()) == (before, manifest)


def test_what_is_applied_is_one_change_and_is_taken_back_to_the_byte(mill: Caller) -> None:
    written(mill)
    edited = edit(
        mill,
        lambda text: without(text, "- Bees", "- R. Holt").replace(
            "## Pending Merges\n", "## Pending Merges\n\nshe is the same\n[MERGE: Runa Holt, R. Holt]\n"
        ) + "[NOTE: R. Holt] mended the sluice in May\n",
    )  # fmt: skip
    before = notes_of(mill)
    answer = apply(mill)
    assert answer["applied"] and not answer["errors"] and answer["reversal_hash"]
    after = notes_of(mill)
    assert set(before) - set(after) == {"Bees.md", "permanent/R. Holt.md"}
    assert b"born in 1961" in after["permanent/Runa Holt.md"]
    assert b"mended the sluice in May" in after["permanent/Runa Holt.md"]
    assert b"[[Runa Holt|R. Holt]]" in after["Sluice.md"]
    text = (root(mill) / "manifest.md").read_text()
    assert "she is the same\n" in text and "[MERGE: Runa" not in text and "[NOTE: R." not in text
    assert "- Bees" not in text and "- R. Holt" not in text and "- Orchard Lane" not in text
    assert "- Runa Holt · named in 2 notes\n" in text
    assert written(mill) == text
    assert apply(mill)["changes_total"] == 0
    recalled = mill.ok("recall_memory", query="where did the bees come from?")["nodes"]
    assert "Bees.md" not in [node["path"] for node in recalled]
    undone = mill.ok("undo_change", change=answer["reversal_hash"], rationale="it was an accident")
    assert undone["reversal_hash"]
    assert notes_of(mill) == before
    assert (root(mill) / "manifest.md").read_bytes() == edited.encode()


def test_an_applied_manifest_is_undone_even_if_it_was_written_again_since(mill: Caller) -> None:
    written(mill)
    edit(mill, lambda text: without(text, "- Bees"))
    before = notes_of(mill)
    answer = apply(mill)
    (root(mill) / "Clover.md").write_text("The bees like clover.\n")
    mill.container.indexing.scan()
    rewritten = written(mill)
    mill.ok("undo_change", change=answer["reversal_hash"], rationale="it was an accident")
    assert notes_of(mill) == {**before, "Clover.md": b"The bees like clover.\n"}
    assert (root(mill) / "manifest.md").read_text() == rewritten
    assert "- Bees" in written(mill)


def test_what_appeared_since_is_not_taken_for_deleted(mill: Caller) -> None:
    text = written(mill)
    (root(mill) / "c").mkdir()
    (root(mill) / "c/Pump.md").write_text("A third pump, bought yesterday.\n")
    (root(mill) / "Windmill.md").write_text("The windmill stands on the hill.\n")
    mill.container.indexing.scan()
    edit(mill, lambda text: without(text, "- Pump"))
    [change] = mill.ok("reload_manifest")["changes_detected"]
    assert [note["path"] for note in change["notes"]] == ["a/Pump.md", "b/Pump.md"]
    assert "Pump is the name of 2 notes: a/Pump.md, b/Pump.md" in change["says"]
    assert "c/Pump.md came since the manifest was written, and stays" in change["says"]
    assert apply(mill, confirm=True)["applied"]
    assert {"c/Pump.md", "Windmill.md"} <= set(notes_of(mill))
    assert not {"a/Pump.md", "b/Pump.md"} & set(notes_of(mill))
    assert "- Windmill\n" in written(mill) and "- Windmill" not in text
    assert "- Pump\n" in written(mill)


def test_deletions_that_are_not_applied_wait_when_the_manifest_is_written(mill: Caller) -> None:
    written(mill)
    edited = edit(mill, lambda text: without(text, "- Bees") + "my words\n[NOTE: Sluice] see X\n")
    (root(mill) / "Windmill.md").write_text("The windmill stands on the hill.\n")
    mill.container.indexing.scan()
    assert mill.container.manifest.write().waiting == 1
    text = (root(mill) / "manifest.md").read_text()
    assert "- Windmill\n" in text and "- Bees" not in text
    assert (
        text.split("\n")[-3:] == edited.split("\n")[-3:] == ["my words", "[NOTE: Sluice] see X", ""]
    )
    changes = mill.ok("reload_manifest")["changes_detected"]
    assert [(each["action"], each["target_concepts"]) for each in changes] == [
        ("annotate", ["Sluice"]),
        ("delete", ["Bees"]),
    ]


def test_concepts_without_notes_are_forgotten_and_merged_without_touching_a_note(
    mill: Caller,
) -> None:
    written(mill)
    edit(mill, lambda text: without(text, "- Orchard Lane") + "[MERGE: Ost Harbour, #water]\n")
    answer = mill.ok("reload_manifest")
    assert any("tag" in error for error in answer["errors"])
    edit(mill, lambda text: without(text, "[MERGE"))
    [change] = mill.ok("reload_manifest")["changes_detected"]
    assert (change["notes"], change["says"]) == ([], "Orchard Lane has no note")
    before = notes_of(mill)
    answer = apply(mill)
    assert answer["applied"] and notes_of(mill) == before
    assert "Orchard Lane" not in written(mill)
    mill.container.indexing.rebuild()
    assert "Orchard Lane" not in written(mill)
    mill.ok("undo_change", change=answer["reversal_hash"], rationale="it was an accident")
    mill.container.indexing.scan()
    assert "orchard lane" in mill.container.manifest.concepts()


def test_forgetting_much_wants_to_be_confirmed(mill: Caller) -> None:
    written(mill)
    edit(mill, lambda text: without(text, "- Bees", "- Sluice"))
    before = notes_of(mill)
    assert "2 of 27 notes" in mill.ok("reload_manifest")["confirm_needed"]
    refused = apply(mill)
    assert not refused["applied"] and "confirm=true" in refused["errors"][0]
    assert notes_of(mill) == before
    assert apply(mill, confirm=True)["applied"]
    edit(mill, lambda text: without(text, *(f"- Day {number}" for number in range(11))))
    assert not apply(mill)["applied"]


def test_forgetting_one_concept_needs_no_confirmation(mill: Caller) -> None:
    written(mill)
    edit(mill, lambda text: without(text, "- Bees"))
    assert apply(mill)["applied"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: "", "line 1: the manifest is empty"),
        (lambda text: text[:600], "the manifest is truncated"),
        (lambda text: without(text, "## Active"), "line 1: the heading `## Active Concepts`"),
        (lambda text: without(text, "- "), "no concept is left"),
        (lambda text: text.replace("- Sluice", "- Sluce"), "nothing is named 'Sluce'"),
        (lambda text: text + "[MERGE: Sluice]\n", "[MERGE: Keep, Other]"),
        (
            lambda text: text + "[NOTE: Nobody] x\n",
            "No memory or concept has the id, path or name 'Nobody'",
        ),
        (lambda text: text + "[MERGE: Pump, Bees]\n", "Pump is the name of 2 notes: a/Pump.md"),
        (lambda text: text + "[NOTE: Pump] x\n", "name one by its path"),
        (lambda text: text + "[MERGE: Ost Harbour, Bees]\n", "has no note that could take"),
        (lambda text: without(text, "- Bees") + "[NOTE: Bees] x\n", "put its line back"),
        (lambda text: text + "[MERGE: Bees, Sluice]\n[MERGE: Sluice, Pump]\n", "another merge"),
    ],
)
def test_a_manifest_with_a_fault_changes_nothing_and_names_the_line(
    mill: Caller, change: Callable[[str], str], message: str
) -> None:
    written(mill)
    edited = edit(mill, lambda text: change(without(text, "- Tide mill")))
    before = notes_of(mill)
    answer = apply(mill, confirm=True)
    assert not answer["applied"]
    assert any(message in error and error.startswith("line ") for error in answer["errors"]), answer
    assert notes_of(mill) == before
    assert (root(mill) / "manifest.md").read_bytes() == edited.encode()


def test_a_manifest_of_an_unknown_writing_forgets_nothing(mill: Caller) -> None:
    written(mill)
    edit(mill, lambda text: without(text, "- Bees"))
    for state in (root(mill) / ".memvault/manifest").glob("*.json"):
        state.unlink()
    [error] = apply(mill)["errors"]
    assert "is not known here" in error
    assert "- Bees" in written(mill)


def test_two_notes_of_one_name_can_be_merged_by_their_paths(mill: Caller) -> None:
    written(mill)
    edit(mill, lambda text: text + "[MERGE: [[a/Pump.md]], [[b/Pump]]]\n")
    assert apply(mill)["applied"]
    assert b"Another pump." in notes_of(mill)["a/Pump.md"]
    assert "- Pump\n" in written(mill)


def test_no_file_but_the_vaults_own_manifest_is_applied(mill: Caller, tmp_path: Path) -> None:
    written(mill)
    (root(mill) / "copy").mkdir()
    shutil.copy(root(mill) / "manifest.md", root(mill) / "copy/manifest.md")
    outside = ("../manifest.md", "~/manifest.md", str(tmp_path / "x.md"), ".memvault/x.md")
    for path in (*outside, "Bees.md", "copy/manifest.md"):
        assert mill.error("reload_manifest", manifest_path=path)["code"] == -32602
    assert mill.ok("reload_manifest", manifest_path=str(root(mill) / "manifest.md"))["path"] == (
        "manifest.md"
    )


def test_the_resource_gives_the_manifest_and_writes_nothing(mill: Caller) -> None:
    async def read() -> str:
        async with Client(mill.server) as client:
            [content] = await client.read_resource("admin://manifest")
            assert content.mime_type == "text/markdown"
            return content.text

    shown = asyncio.run(read())
    assert "- Sluice" in shown and not (root(mill) / "manifest.md").exists()
    assert written(mill) == shown
    edit(mill, lambda text: text + "my words\n")
    assert asyncio.run(read()) == shown + "my words\n"


TEMPLATE = Path(__file__).parents[2] / "vault_template"


def test_the_template_comes_with_the_manifest_that_would_be_written_for_it(tmp_path: Path) -> None:
    shutil.copytree(TEMPLATE, tmp_path / "My vault")
    container = opened(tmp_path, {})
    try:
        text = (TEMPLATE / "manifest.md").read_text(encoding="utf-8")
        assert container.manifest.write().waiting == 0
        assert (container.vault.root / "manifest.md").read_text(encoding="utf-8") == text
        assert container.manifest.preview().edits == ()
        edited = without(text, "- Keep seeds in paper envelopes")
        (container.vault.root / "manifest.md").write_text(edited, encoding="utf-8")
        [edit] = container.manifest.preview().edits
        assert edit.concepts == ("Keep seeds in paper envelopes",)
    finally:
        container.close()


class Killed(BaseException):
    """As if the process ended here."""


def test_a_manifest_whose_applying_was_cut_off_at_any_step_is_wholly_applied_or_not_at_all(
    mill: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(mill)
    edit(mill, lambda text: without(text, "- Bees") + "[MERGE: Runa Holt, R. Holt]\n"
         "[NOTE: Runa Holt] mended the sluice\n")  # fmt: skip
    before, make = tree(mill), file_edits.make_edit
    keeper, steps = mill.container.manifest, 0
    for last in range(20):
        steps = 0

        def cut_off(vault: Vault, change: Edit, last: int = last) -> None:
            nonlocal steps
            if steps == last:
                raise Killed
            steps += 1
            make(vault, change)

        monkeypatch.setattr(file_edits, "make_edit", cut_off)
        try:
            keeper.apply(Attribution("", "applied in a test", kind="person"))
            break
        except Killed:
            monkeypatch.setattr(file_edits, "make_edit", make)
            journal = Journal(mill.container.vault, writer=mill.container.journal.writer)
            fresh = Curator(mill.container.vault, journal)
            assert len(fresh.recover()) == 1
            assert tree(mill) == before
            assert fresh.recover() == []
    assert steps == 5  # two notes to the trash, three that change
    assert tree(mill).keys() & {"Bees.md", "permanent/R. Holt.md"} == set()
    assert apply(mill)["changes_total"] == 0


def tree(caller: Caller) -> dict[str, bytes]:
    files = (file for file in root(caller).rglob("*") if file.is_file())
    found = {file.relative_to(root(caller)).as_posix(): file.read_bytes() for file in files}
    return {path: data for path, data in found.items() if not path.startswith(".memvault/")}
