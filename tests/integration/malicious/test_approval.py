"""What only the person may do waits for the person, and no client passes for them."""

from __future__ import annotations

import json

import pytest

from mcp_server.runtime.container import Container
from memvault.curation.changes.plan import Attribution
from memvault.model.change import Actor
from memvault.model.errors import NoteConflict
from tests.benchmarks.trust_attempts import WHY, Caller, Pages
from tests.integration.caller import all_shown
from tests.integration.malicious.vault import write


def test_a_clients_verification_waits_for_the_person(call: Caller, container: Container) -> None:
    stored = call("store_memory", content="The dose is 4 mg.", title="Dose", rationale=WHY)
    answer = call("verify_memory", target=stored["node_id"], verified=True, rationale=WHY)
    assert answer["after"] is False
    assert "Curate" in answer["notice"]
    call("set_lifecycle", target=stored["node_id"], lifecycle="permanent", rationale=WHY)
    waiting = container.proposals.waiting()
    mine = [each for each in waiting if each.note_id == stored["node_id"]]
    assert {str(each.kind) for each in mine} == {"verified", "permanent"}
    memory = container.live.catalogue.by_id(stored["node_id"])
    assert memory is not None
    assert not memory.verified
    container.decisions.verify(memory.id, all_shown(container), verified=True)
    found = call("recall_memory", query="What is the dose?")["nodes"]
    dose = next(each for each in found if each["id"] == memory.id)
    assert dose["verified"] is True
    assert "4 mg" in dose["content"]


def test_a_memory_is_kept_if_too_many_proposals_wait(
    call: Caller, container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memvault.curation.proposals.MAX_WAITING", 0)
    stored = call("store_memory", content="The lock is at km 7.", title="Lock",
                  lifecycle="permanent", rationale=WHY)  # fmt: skip
    assert container.live.catalogue.by_path(stored["path"]) is not None
    assert stored["notice"].startswith("Stored, but not proposed as permanent.")


def test_a_claim_on_a_stale_memory_that_was_verified_waits_too(
    call: Caller, container: Container
) -> None:
    path = container.vault.root / "Mole.md"
    path.write_text("---\ntype: fact\nverified: true\nverified_on: 2020-01-01\n---\nIt is dry.\n")
    container.indexing.index_written(["Mole.md"])
    call("verify_memory", target="Mole.md", verified=True, rationale=WHY)

    def waits() -> bool:
        waiting = container.proposals.waiting()
        return any(each.path == "Mole.md" for each in waiting)

    assert waits()
    container.decisions.verify("Mole.md", all_shown(container), verified=True)
    assert not waits()


def test_a_client_that_calls_itself_the_command_line_is_not_the_person(
    call: Caller, container: Container
) -> None:
    stored = call("store_memory", "memvault-cli", content="The loan is 8k.", title="Loan",
                  rationale=WHY)  # fmt: skip
    call("verify_memory", "memvault-cli", target=stored["node_id"], rationale=WHY)
    memory = container.live.catalogue.by_id(stored["node_id"])
    assert memory is not None
    assert not memory.verified
    assert memory.provenance.origin.kind == "client"


@pytest.mark.parametrize("name", ["you", "the per\u200bson", "\uff39ou", "p\u0430ge"])
def test_no_client_is_shown_under_the_persons_name(call: Caller, name: str) -> None:
    stored = call("store_memory", name, content=f"A pear, {name}.", title="Pear", rationale=WHY)
    shown = name.replace("\u200b", "")  # what nobody sees is left out of answers
    assert stored["written_by"] == f"a client named {shown}"


def test_no_manifest_of_a_client_forgets_the_persons_notes(
    call: Caller, container: Container
) -> None:
    text = container.manifest.text()
    without = "\n".join(line for line in text.splitlines() if not line.startswith("- Bank"))
    stored = call("store_memory", content=without, title="Manifest", rationale=WHY)
    error = call.error("reload_manifest", manifest_path=stored["path"], preview=False,
                       confirm=True, rationale=WHY)  # fmt: skip
    assert "only manifest.md in the vault's folder is applied" in error
    assert (container.vault.root / "Bank.md").exists()


def test_an_edited_manifest_that_a_client_applies_waits_for_the_person(
    call: Caller, container: Container
) -> None:
    write(container, "Quay.md", "# Quay\n\nThe quay has four bollards.\n")
    write(container, "Pier.md", "# Pier\n\nThe pier has two lamps.\n")
    container.manifest.write()
    manifest = container.vault.root / "manifest.md"
    lines = manifest.read_text().splitlines(keepends=True)
    manifest.write_text("".join(line for line in lines if not line.startswith("- Quay")))
    for preview in (True, False):
        answer = call("reload_manifest", preview=preview, confirm=True, rationale=WHY)
        assert not answer["applied"] and "waits for the person" in answer["notice"]
    past_the_tool = container.manifest.apply(Attribution("ChatGPT", WHY), confirm=True)
    assert past_the_tool.change is None and past_the_tool.approval is not None
    assert (container.vault.root / "Quay.md").exists()
    [waiting] = [each for each in container.proposals.waiting() if each.path == "Quay.md"]
    assert "which moves to the trash: Quay.md" in Pages(container).get("/curate")
    manifest.write_text("".join(line for line in lines if not line.startswith("- Pier")))
    with pytest.raises(NoteConflict, match="edited since"):
        container.decisions.accept(waiting, all_shown(container))
    manifest.write_text("".join(line for line in lines if not line.startswith("- Quay")))
    container.decisions.accept(waiting, all_shown(container))
    assert not (container.vault.root / "Quay.md").exists()
    assert (container.vault.root / "Pier.md").exists()
    container.proposals.decide(waiting.key, Actor(kind="person"))
    manifest.unlink()


@pytest.mark.parametrize("way", ["moved", "listed"])
def test_no_client_reads_or_changes_by_the_history_what_is_no_note_any_more(
    call: Caller, container: Container, way: str
) -> None:
    root, secret = container.vault.root, f"Vermilion plan of the {way} party"
    stored = call("store_memory", content=f"{secret}.", title=f"Feast {way}", rationale=WHY)
    path = stored["path"]
    edit = call("edit_memory", target=path, operation="append", content=f"{secret}, again.",
                rationale=WHY)  # fmt: skip
    hidden = f"private/Feast {way}.md" if way == "moved" else path
    (root / ".memvaultignore").write_text("private/\n" if way == "moved" else f"/{path}\n")
    if way == "moved":
        (root / "private").mkdir()
        (root / path).rename(root / hidden)
    container.indexing.scan()
    before = (root / hidden).read_bytes()
    if way == "moved":  # a note of the client at the old path opens nothing either
        again = call("store_memory", content="Nothing.", title=f"Feast {way}", rationale=WHY)
        assert again["path"] == path
    for answer in (
        call("get_node_lineage", "other", node_id=stored["node_id"], include_content_diffs=True),
        call("get_node_lineage", "other", node_id=path, include_content_diffs=True)
        if way == "moved"
        else {},
        call("undo_change", "other", change=edit["reversal_hash"], preview=True, rationale=WHY),
        call("undo_change", "other", change=edit["reversal_hash"], rationale=WHY),
    ):
        assert secret not in json.dumps(answer)
        assert not answer.get("undone")
    assert (root / hidden).read_bytes() == before
    (root / ".memvaultignore").unlink()
    container.indexing.scan()


def test_the_person_still_undoes_a_change_of_what_they_hid_from_clients(
    call: Caller, container: Container
) -> None:
    stored = call("store_memory", content="First.", title="Hidden feast", rationale=WHY)
    path = stored["path"]
    before = (container.vault.root / path).read_bytes()
    edit = call("edit_memory", target=path, operation="append", content="Second.", rationale=WHY)
    (container.vault.root / ".memvaultignore").write_text(f"/{path}\n")
    container.indexing.scan()
    refused = call("undo_change", change=edit["reversal_hash"], rationale=WHY)
    assert "no longer a note that clients may read" in refused["conflicts"][0]["reason"]
    by_person = Attribution("", "undone on the page", kind="person")
    assert container.actions.undo([edit["reversal_hash"]], by_person).undone
    assert (container.vault.root / path).read_bytes() == before
    (container.vault.root / ".memvaultignore").unlink()
    container.indexing.scan()


@pytest.mark.parametrize(
    "path", [".memvaultignore", ".memvault/journal/x.jsonl", "manifest.md", "../../etc/passwd",
             ".obsidian/app.json", ".trash/Bank.md"],
)  # fmt: skip
def test_no_client_edits_what_is_no_note(call: Caller, path: str) -> None:
    error = call.error("edit_memory", target=path, operation="append", content="x", rationale=WHY)
    reasons = ("No memory or concept", "is not a memory", "is not indexed: ")
    assert any(reason in error for reason in reasons)
