"""What storing and editing tell a client, over MCP."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memvault.curation.operations.draft import Draft
from memvault.curation.operations.importing import import_conversations
from memvault.curation.operations.remember import remember
from memvault.model.errors import StorageError
from tests.desk import Desk
from tests.integration.caller import Caller

WHY = "The person asked me to keep this."


def test_an_excerpt_shows_the_words_of_the_client_and_no_line_of_bookkeeping(writer) -> None:
    writer.ok(
        "store_memory", content="From December we live in Kungsgatan 14.", title="New address",
        rationale=WHY, metadata={"landlord": "Stena", "city": "Norrvik"},
    )  # fmt: skip
    address = next(
        each
        for each in writer.ok("recall_memory", query="what is our new address?")["nodes"]
        if each["title"] == "New address"
    )
    assert "Kungsgatan 14" in address["content"] and "city: Norrvik" in address["content"]
    assert "source:" not in address["content"]


def test_the_id_of_an_imported_document_is_no_answer(writer) -> None:
    root = writer.container.vault.root
    document = {
        "uuid": "7a31c0de-0000-4000-8000-000000000000", "filename": "Beds.md",
        "content": "The plot in the valley costs 85 crowns.", "created_at": "2026-01-02T00:00:00Z",
    }  # fmt: skip
    plot = {"uuid": "p-1", "name": "Plot", "description": "Ours.", "docs": [document]}
    export = root.parent / "projects.json"
    export.write_text(json.dumps([plot]), encoding="utf-8")
    import_conversations(writer.container.curator, export, "claude")
    writer.container.indexing.scan()
    found = writer.ok("recall_memory", query="How much does the plot in the valley cost?")["nodes"]
    beds = next(each for each in found if each["title"] == "Beds")
    assert "85 crowns" in beds["content"] and "imported" not in beds["content"]


def test_the_source_that_a_person_names_is_shown(writer) -> None:
    path = writer.container.vault.root / "Fog.md"
    path.write_text(
        "---\nsource: Harbour Almanac\n---\nFog is thickest at dawn.\n", encoding="utf-8"
    )
    writer.container.indexing.index_written(["Fog.md"])
    found = writer.ok("recall_memory", query="what is the source of the note on fog?")["nodes"]
    fog = next(each for each in found if each["path"] == "Fog.md")
    assert "source: Harbour Almanac" in fog["content"]


def test_a_fact_that_a_client_stores_lasts_and_a_record_of_the_session_fades(writer) -> None:
    facts = {"Phone": "The number of the vet is 0555 71.", "Dose": "Granny takes 5 mg a day."}
    for title, content in facts.items():
        writer.ok("store_memory", content=content, title=title, rationale=WHY)
        assert writer.ok("get_memory", path=title)["lifecycle"] == "temporary"
    writer.ok(
        "store_memory", content="We spoke of bats.", title="Talk", type="session", rationale=WHY
    )
    assert writer.ok("get_memory", path="Talk")["lifecycle"] == "ephemeral"


def test_a_client_that_asks_for_a_permanent_memory_learns_that_the_person_decides(writer) -> None:
    asked = {"content": "The well is 9 m deep.", "lifecycle": "permanent", "rationale": WHY}
    stored = writer.ok("store_memory", **asked)
    assert stored["path"].startswith("projects/")
    assert stored["notice"].startswith("Only the person makes a memory permanent: the Curate page")
    assert stored["notice"].endswith(f"the note is {stored['path']}.")
    asked["content"] = "I like short answers."
    assert "notice" not in writer.ok("store_memory", type="preference", **asked)
    asked["content"] = "The pump is green."
    assert "notice" not in writer.person.ok("store_memory", **asked)


def test_what_contradicts_an_older_memory_says_so_and_how_to_supersede_it(writer: Caller) -> None:
    old = writer.ok(
        "store_memory", content="The rent of the workshop is 900 EUR a month.", title="Workshop",
        rationale=WHY,
    )  # fmt: skip
    assert "contradicts" not in old
    new = writer.ok(
        "store_memory", content="The rent of the workshop is 950 EUR a month.", rationale=WHY,
        title="Workshop rent",
    )  # fmt: skip
    assert [each["id"] for each in new["contradicts"]] == [old["node_id"]]
    assert "900 EUR" in new["contradicts"][0]["text"]
    assert "edit_memory" in new["notice"] and "[[Workshop rent]]" in new["notice"]
    writer.ok(
        "edit_memory", target="Workshop", operation="append", rationale=WHY,
        content="Superseded by: [[Workshop rent]]",
    )  # fmt: skip
    assert "Superseded by: [[Workshop rent]]" in writer.ok("get_memory", path="Workshop")["content"]


def test_the_advice_to_supersede_links_the_new_note_although_both_have_the_same_title(writer):
    def stored(content: str) -> dict[str, Any]:
        return writer.ok("store_memory", content=content, title="Workshop", rationale=WHY)

    old = stored("The rent of the workshop is 900 EUR a month.")
    again = stored("The rent of the workshop is 900 EUR a month, as agreed.")
    assert "says nearly the same" in again["notice"]
    assert advised_link(writer, again["notice"], old["path"]) == again["path"]
    new = stored("The rent of the workshop is 950 EUR a month.")
    assert new["contradicts"]
    for each in new["contradicts"]:
        assert advised_link(writer, new["notice"], each["path"]) == new["path"]
    target = new["path"]
    writer.ok(
        "edit_memory", target=target, operation="append", content="It is cold.", rationale=WHY
    )
    edited = writer.ok(
        "edit_memory", target=target, operation="append", rationale=WHY,
        content="The rent of the workshop is 970 EUR a month.",
    )  # fmt: skip
    assert advised_link(writer, edited["notice"], old["path"]) == target


def test_an_equal_title_in_the_same_project_or_a_permanent_note_is_reported(writer) -> None:
    def stored(**arguments: Any) -> dict[str, Any]:
        return writer.ok("store_memory", **arguments, rationale=WHY)

    first = stored(content="Rye flour, water, salt.", title="Rye loaf", project="oven")
    assert "notice" not in first
    again = stored(content="Bake it for an hour.", title="Rye Loaf", project="oven")
    for part in (first["path"], again["path"], "edit_memory", f"target={first['path']!r}"):
        assert part in again["notice"]
    assert "merge_concepts" not in again["notice"]  # not a tool of this client
    assert "notice" not in stored(content="Thirty jars.", title="Rye loaf", project="kelp")
    lab = stored(content="It has three boats.", title="Harbour Lab", project="kelp")
    assert "permanent/Harbour Lab.md" in lab["notice"]


def test_the_notice_of_an_equal_title_offers_a_merge_to_who_can_merge(writer: Caller) -> None:
    client = Caller(writer.container, tools="full")
    stored = client.ok("store_memory", content="Boats.", title="Harbour Lab", rationale=WHY)
    assert "merge_concepts" in stored["notice"]


def test_a_name_that_two_notes_share_is_refused_with_both_paths(writer: Caller) -> None:
    contents = ("Rye flour, water, salt.", "Bake it for an hour.")
    both = [
        writer.ok("store_memory", content=content, title="Rye loaf", rationale=WHY)["path"]
        for content in contents
    ]
    edit = {"target": "Rye loaf", "operation": "append", "content": "x", "rationale": WHY}
    for tool, arguments in (("get_memory", {"path": "Rye loaf"}), ("edit_memory", edit)):
        error = writer.error(tool, **arguments)
        assert [each["path"] for each in error["data"]["candidates"]] == both
        assert all(path in error["message"] for path in both)
    for path in both:
        assert writer.ok("get_memory", path=path)["path"] == path


def advised_link(writer: Caller, notice: str, older: str) -> str | None:
    """The path of the note to which the advised "Superseded by" leads from the older note."""
    (target,) = re.findall(r"'Superseded by: \[\[([^]|]+)", notice)
    return writer.container.live.indexer.links.resolve(target, older)


def test_memories_on_the_same_matter_are_named_whatever_their_words(writer: Caller) -> None:
    facts = [
        "Noor lives in Leeds with her partner Tim.",
        "The long run of the week is 14 km at the moment.",
        "The hall is painted in sage green.",
    ]
    ids = [writer.ok("store_memory", content=each, rationale=WHY)["node_id"] for each in facts]
    changed = {
        "Noor and Tim moved to Nottingham on 1 November.": ids[0],
        "The long run has grown to 18 km.": ids[1],
        "The dishwasher needs salt.": None,
    }
    for content, older in changed.items():
        stored = writer.ok("store_memory", content=content, rationale=WHY)
        related = stored.get("related", [])
        assert [each["id"] for each in related] == ([older] if older else []), content
        quoted = dict(zip(ids, facts, strict=True))
        assert all(each["text"] == quoted[each["id"]] for each in related)
        assert all(each["written_by"] == stored["written_by"] for each in related)


def test_unverified_claims_on_sensitive_matters_are_named_without_their_text(
    writer: Caller,
) -> None:
    (writer.container.vault.root / "permanent/Rent.md").write_text("The rent is 800 euros.\n")
    writer.container.live.indexer.scan()
    claim = "The rent of the flat is 900 euros a month."
    claimed = writer.ok("store_memory", content=claim, rationale=WHY)["node_id"]
    new = writer.ok("store_memory", content="The rent rises in May.", rationale=WHY)
    text_of = {each["title"]: each.get("text") for each in new["related"]}
    assert text_of["Rent"] == "The rent is 800 euros."
    assert [each.get("text") for each in new["related"] if each["id"] == claimed] == [None]
    other = writer.ok("store_memory", content="The flat is 900 euros a month.", rationale=WHY)
    assert [each.get("text") for each in other["related"] if each["id"] == claimed] == [None]


def test_what_repeats_a_memory_says_which_and_how_to_take_it_back(writer: Caller) -> None:
    def stored(content: str) -> dict[str, Any]:
        return writer.ok("store_memory", content=content, rationale=WHY)

    first = stored("The user prefers short answers in plain English.")
    again = stored("User prefers short answers in plain English.")
    assert again["notice"].startswith(f"{first['path']} says nearly the same.")
    writer.ok("undo_change", change=again["reversal_hash"], rationale=WHY)
    assert not (writer.container.vault.root / again["path"]).exists()
    assert "notice" not in stored("Gulls nest on the roof of the boat house.")


def test_a_session_that_holds_the_stored_sentence_is_no_duplicate_of_it(writer: Caller) -> None:
    said = (
        "The licence for the tide tables of the harbour costs 300 euros a year for each station, "
        "and the contract with the harbour office ends in May 2027."
    )
    head = (
        "---\ntype: session\nlifecycle: ephemeral\nsession: s-1\n---\n# Session in tide-licence\n\n"
    )
    path = writer.container.vault.root / "sessions" / "aurora 09.00.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{head}## Facts stated by the person\n\n- {said}\n", encoding="utf-8")
    writer.container.indexing.index_written(["sessions/aurora 09.00.md"])
    first = writer.ok("store_memory", content=said, rationale=WHY)
    assert "notice" not in first
    again = writer.ok("store_memory", content=f"{said} ", title="Licence", rationale=WHY)
    assert again["notice"].startswith(f"{first['path']} says nearly the same.")


def test_an_edit_that_contradicts_a_memory_says_so_unless_it_replaces_what_it_contradicts(writer):
    for title, content in {"Workshop": "The rent of the workshop is 900 EUR a month.",
                           "Ideas": "Ask the neighbours about a shed."}.items():  # fmt: skip
        writer.ok("store_memory", content=content, title=title, rationale=WHY)
    new = "The rent of the workshop is 950 EUR a month."
    for target, preview in (("Ideas", True), ("Ideas", False)):
        edited = writer.ok(
            "edit_memory", target=target, operation="append", content=new, rationale=WHY,
            preview=preview,
        )  # fmt: skip
        assert [each["title"] for each in edited["contradicts"]] == ["Workshop"]
        assert "Superseded by: [[Ideas]]" in edited["notice"]
    writer.ok("undo_change", change=edited["reversal_hash"], rationale=WHY)
    corrected = writer.ok(
        "edit_memory", target="Workshop", operation="replace_text", content="950", find="900",
        rationale=WHY,
    )  # fmt: skip
    assert "contradicts" not in corrected
    whole = writer.ok(
        "edit_memory", target="Workshop", operation="replace_text", rationale=WHY,
        content="The rent of the workshop is 980 EUR a month.",
        find="The rent of the workshop is 950 EUR a month.",
    )  # fmt: skip
    assert "contradicts" not in whole


def test_an_edit_is_compared_by_its_whole_sentences_apart_from_the_note_itself(writer) -> None:
    notes = {
        "Survey": "The sonar pass was done on 12 November; two gaps are left.",
        "Plumber": "Ask for a receipt. The plumber comes on Wednesday 25 November at 8:30.",
        "Calls": "The plumber comes on Thursday 26 November at 8:30, said Sven.",
    }
    for title, content in notes.items():
        writer.ok("store_memory", content=content, title=title, rationale=WHY)
    edited = writer.ok(
        "edit_memory", target="Plumber", operation="replace_text", rationale=WHY,
        find="Wednesday 25 November", content="Tuesday 24 November",
    )  # fmt: skip
    assert [each["title"] for each in edited["contradicts"]] == ["Calls"]


def test_what_is_like_a_memory_but_about_something_else_contradicts_nothing(writer) -> None:
    notes = {
        "Granny": "She takes 5 mg of amlodipine every morning.",
        "Kitchen": "The new kitchen costs 14,200 euros.",
        "Dr Nyman": "Next appointment on 7 December at 9:20.",
        "Noor": "She lives in Leeds with her partner Tim and their daughter Ayla (born May 2021).",
        "Blood pressure": "| Date | Morning |\n|---|---|\n| 2026-10-12 | 148/94 |",
    }
    for title, content in notes.items():
        writer.ok("store_memory", content=content, title=title, rationale=WHY)
    facts = {
        "Granny takes 20 mg of atorvastatin in the evening.": None,
        "The new sofa costs 1,250 euros.": None,
        "The next appointment with the optician is on 9 December at 14:00.": None,
        "Noor plans a trip to Porto with Tim and Ayla from 3 to 10 April 2027.": None,
        "My blood pressure was 128/80 on 21 November.": None,
        "Granny takes 10 mg of amlodipine every morning.": "Granny",
        "The new kitchen costs 15,800 euros.": "Kitchen",
        "The next appointment with Dr Nyman is on 14 December at 9:20.": "Dr Nyman",
    }
    for content, title in facts.items():
        stored = writer.ok("store_memory", content=content, rationale=WHY)
        titles = [each["title"] for each in stored.get("contradicts", [])]
        assert titles == ([title] if title else []), content
        writer.ok("undo_change", change=stored["reversal_hash"], rationale=WHY)


def test_values_in_tables_and_denials_contradict_and_other_subjects_do_not(writer: Caller) -> None:
    notes = {
        "Loans": "| | Basic | Plus |\n|---|---|---|\n| Longest loan | 2 weeks | 6 weeks |",
        "Cards": "Library cards are not transferable.",
        "Staff": "Ines Farrow runs the desk; Tom Adeyemi repairs the bindings.",
        "Printer": "The printer contract ends on 30 November 2026.",
    }
    for title, content in notes.items():
        writer.ok("store_memory", content=content, title=title, rationale=WHY)
    for content, against in {
        "The longest loan on Plus is 2 weeks.": ["Loans"],
        "The longest loan on Basic is 2 weeks.": [],
        "Library cards can be transferred.": ["Cards"],
        "Tom Adeyemi runs the desk.": ["Staff"],
        "Ines Farrow runs the desk.": [],
        "The scanner contract ends on 31 December 2026.": [],
    }.items():
        stored = writer.ok("store_memory", content=content, rationale=WHY)
        assert [each["title"] for each in stored.get("contradicts", [])] == against, content
        writer.ok("undo_change", change=stored["reversal_hash"], rationale=WHY)


@pytest.mark.parametrize("name", ["Bread oven", "Bread oven: where?"])
def test_a_link_to_a_note_that_is_stored_later_leads_to_it(writer: Caller, name: str) -> None:
    def stored(title: str, **arguments: Any) -> dict[str, Any]:
        content = f"{title} needs sand."
        return writer.ok("store_memory", content=content, title=title, rationale=WHY, **arguments)

    def linked(path: str) -> list[str | None]:
        links = writer.ok("get_memory", path=path)["links"]
        return [each.get("path") for each in links if each["title"].startswith("Bread oven")]

    before = stored("A plan", link_to=[name])
    assert f"no note has yet: {name!r}" in before["notice"] and linked(before["path"]) == [None]
    oven = stored(name, project="oven")
    assert "notice" not in oven
    after = stored("A list", link_to=[name])
    assert "notice" not in after
    assert linked(before["path"]) == linked(after["path"]) == [oven["path"]]
    backlinks = writer.ok("get_memory", path=oven["path"])["backlinks"]
    assert {each["path"] for each in backlinks} >= {before["path"], after["path"]}


def test_a_link_to_an_unknown_name_is_kept_and_one_to_an_unknown_id_or_path_is_not(writer) -> None:
    wrong = ["00000000-0000-4000-8000-000000000000", "projects/../../Away.md", "#sand", "…"]
    stored = writer.ok(
        "store_memory", content="A thought of today.", title="Thought", rationale=WHY,
        link_to=["Harbour Lab", "Harbor Lab", "Thought", *wrong],
    )  # fmt: skip
    text = (writer.container.vault.root / stored["path"]).read_text(encoding="utf-8")
    assert text.endswith("Related: [[Harbour Lab]], [[Harbor Lab]]\n")
    assert "'Harbor Lab' (nearest: Harbour Lab)" in stored["notice"]
    left_out = stored["notice"].partition("Stored without a link to ")[2]
    assert all(repr(each) in left_out for each in wrong)


@pytest.mark.parametrize("tool", ["store_memory", "trigger_dream"])
def test_a_secret_in_the_reason_reaches_neither_the_note_nor_the_journal(
    writer: Caller, tool: str
) -> None:
    key = "sk-abcdefghijklmnopqrstuvwx1234567890ABCDEFGH"
    content = {"content": "The kiln is hot."} if tool == "store_memory" else {}
    writer.ok(tool, rationale=f"Its API key is {key}, I heard", **content)
    files = [file for file in writer.container.vault.root.rglob("*") if file.is_file()]
    kept = [file.read_bytes() for file in files]
    assert any(b"I heard" in data for data in kept)
    assert not any(key.encode() in data for data in kept)


def test_a_secret_is_pointed_out_and_names_no_file(writer: Caller) -> None:
    stored = writer.ok(
        "store_memory", content="password: kT9x-ffQ2-zz81", rationale="A login to keep for later."
    )
    assert "secret (password)" in stored["notice"]
    assert "kT9x" not in stored["path"] and "login" in stored["path"]


def test_a_note_is_edited_previewed_refused_and_undone_by_tools(writer: Caller) -> None:
    path = "permanent/Harbour Lab.md"
    before = (writer.container.vault.root / path).read_bytes()
    arguments = {"target": "Harbour Lab", "operation": "append", "content": "Open on Sundays."}
    shown = writer.ok("edit_memory", **arguments, rationale=WHY, preview=True)
    assert shown["after"].strip() == "Open on Sundays." and "reversal_hash" not in shown
    assert (writer.container.vault.root / path).read_bytes() == before
    done = writer.ok("edit_memory", **arguments, rationale=WHY)
    assert (writer.container.vault.root / path).read_bytes() == before + done["after"].encode()
    error = writer.error(
        "edit_memory", target=path, operation="replace_text", content="x", find="Open on Sunday.",
        rationale=WHY,
    )  # fmt: skip
    assert error["data"]["nearest"] == ["Open on Sundays."]
    writer.ok("undo_change", change=done["reversal_hash"], rationale=WHY)
    assert (writer.container.vault.root / path).read_bytes() == before


def test_an_unknown_target_is_answered_with_the_nearest_names(writer: Caller) -> None:
    error = writer.error("forget_concept", target="Harbour Labs", rationale=WHY)
    assert error["data"]["nearest"][0] == "Harbour Lab"


def test_a_name_without_a_note_is_answered_with_how_to_find_who_names_it(writer: Caller) -> None:
    writer.ok("store_memory", content="[[Ferry Aurora]] sails at noon.", rationale=WHY)
    message = writer.error("get_memory", path="Ferry Aurora")["message"]
    assert message.startswith("'Ferry Aurora' has no note of its own;")
    assert "get_neighborhood" in message


def test_a_part_of_a_name_is_answered_with_the_whole_name(writer: Caller) -> None:
    title = "ADR-004 Move from one message queue to another"
    writer.ok("store_memory", content="We move.", title=title, rationale=WHY)
    for tool, arguments in (
        ("edit_memory", {"target": "ADR-004", "operation": "append", "content": "x"}),
        ("forget_concept", {"target": "message queue"}),
    ):
        assert writer.error(tool, rationale=WHY, **arguments)["data"]["nearest"] == [title]
    assert title in writer.error("get_memory", path="adr-004")["message"]


def test_a_folder_that_is_swapped_for_a_link_during_a_store_is_a_domain_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    (tmp_path / "projects").mkdir()

    def swapped(path: object, **_: object) -> str:
        raise OSError(22, "Invalid argument")  # as readlink(2) answers for what is no link

    draft = Draft.checked(content="A thought.", rationale=WHY, project="kelp")
    monkeypatch.setattr("memvault.vault.files.os.path.realpath", swapped)
    with pytest.raises(StorageError):
        remember(desk.curator, draft)


def test_the_persons_command_line_is_named_as_such_and_no_client_can_have_its_name(
    writer: Caller,
) -> None:
    named = {}
    for caller in (writer.person, writer.named("memvault's command line")):
        path = caller.ok("store_memory", content="The pump is green.", rationale=WHY)["path"]
        named[caller] = writer.notes()[path].decode()
        writer.person.ok("forget_concept", target=path, rationale=WHY, reason="outdated")
    by_person, by_client = named.values()
    assert "source: memvault's command line" in by_person
    assert "source: a client named memvault's command line" in by_client
