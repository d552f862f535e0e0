"""Setting a memory right: what changes in the notes' bytes, and that nothing else does."""

from __future__ import annotations

from datetime import date

import pytest

from memvault.curation.operations.annotate import stage_annotation
from memvault.curation.operations.merge import stage_merge
from memvault.curation.operations.properties import (
    stage_importance,
    stage_lifecycle,
    stage_pin,
    stage_tags,
    stage_verification,
)
from memvault.model.change import ChangeKind
from memvault.model.errors import InvalidParams, MalformedFrontmatter, NoteConflict
from memvault.model.memory import Lifecycle
from tests.desk import WHY, Desk

DAY = date(2026, 3, 1)


def annotated(desk: Desk, path: str, text: str) -> str:
    target = desk.target(path)
    done = desk.do(ChangeKind.ANNOTATED, target, lambda s: stage_annotation(s, target, text, DAY))
    return desk.read(done.result)


def test_a_merge_keeps_the_survivors_text_and_puts_the_others_under_a_heading(desk: Desk):
    desk.write("New.md", "# New\n\nKept as it is.\n")
    desk.write(
        "notes/Old.md",
        "---\ntags: [x]\naliases: Older\ntype: decision\nlead: '[[Ada]]'\n---\n# Old\n\nSaid.\n\n"
        "## Goals\n\nGoal.\n",
    )
    desk.merge("notes/Old.md", into="New.md")
    assert desk.read("New.md") == (
        "---\naliases:\n  - Old\n  - Older\ntags:\n  - x\n---\n# New\n\nKept as it is.\n\n"
        "# From Old\n\nIt had `type: decision`.\n\nlead:: [[Ada]]\n\nSaid.\n\n## Goals\n\nGoal.\n"
    )
    assert desk.tree().keys() == {"New.md"}
    assert ".trash/Old.md" in {p.relative_to(desk.root).as_posix() for p in desk.root.rglob("*")}


def test_a_merge_keeps_the_title_of_a_note_whose_heading_is_one_of_several_then(desk: Desk):
    desk.write("people/ada.md", "# Ada Berg\n\nOne.\n")
    desk.write("Old.md", "# Old\n\nTwo.\n")
    desk.merge("Old.md", into="people/ada.md")
    assert desk.memory("people/ada.md").title == "Ada Berg"
    assert desk.read("people/ada.md") == (
        "---\naliases:\n  - Old\ntitle: Ada Berg\n---\n# Ada Berg\n\nOne.\n\n# From Old\n\nTwo.\n"
    )


def test_a_merge_keeps_properties_that_fit_no_line_as_yaml(desk: Desk):
    desk.write("New.md", "# New\n\nOne.\n")
    desk.write("Old.md", "---\nowner: Ada\nabout: |\n  Two\n  lines\nby: {name: Bo}\n---\nOld.\n")
    desk.merge("Old.md", into="New.md")
    kept = (
        "It had `owner: Ada`.\n\n```yaml\nabout: |\n  Two\n  lines\nby: {name: Bo}\n```\n\nOld.\n"
    )
    assert desk.read("New.md").endswith(f"# From Old\n\n{kept}")


def test_a_merge_repeats_no_property_that_the_survivor_has_too(desk: Desk):
    desk.write("New.md", "---\ntype: fact\nlead: '[[Ada]]'\n---\nOne.\n")
    desk.write("Old.md", "---\ntype: fact\nlead: '[[Ada]]'\nproject: x\n---\nOther.\n")
    desk.merge("Old.md", into="New.md")
    assert desk.read("New.md").endswith("One.\n\n# From Old\n\nIt had `project: x`.\n\nOther.\n")


def test_links_to_a_merged_note_lead_to_the_survivor_and_read_as_before(desk: Desk):
    desk.write("New.md", "# New\n\nSee [[Old]].\n")
    desk.write("Old.md", "---\naliases: [Older]\n---\nText.\n\n## Goals\n\nGoal. ^g\n")
    desk.write(
        "Links.md",
        "---\r\nup: '[[Old]]'\r\n---\r\n"
        "[[Old]], [[old|shown]], [[Older]], [[Old#Goals]], [[Old#^g]], ![[Old]], "
        "[x](Old.md#Goals), [y](<Old.md>), [[Other]].\r\n\r\n"
        "`[[Old]]` %% [[Old]] %%\r\n\r\n```\r\n[[Old]]\r\n```\r\n\r\n"
        "| a | b |\r\n|--|--|\r\n| [[Old]] | c |\r\n",
    )
    desk.merge("Old.md", into="New.md")
    assert desk.read("Links.md") == (
        "---\r\nup: '[[New|Old]]'\r\n---\r\n"
        "[[New|Old]], [[New|shown]], [[New|Older]], [[New#Goals|Old > Goals]], [[New#^g|Old]], "
        "![[New#From Old|Old]], [x](New.md#Goals), [y](<New.md>), [[Other]].\r\n\r\n"
        "`[[Old]]` %% [[Old]] %%\r\n\r\n```\r\n[[Old]]\r\n```\r\n\r\n"
        "| a | b |\r\n|--|--|\r\n| [[New\\|Old]] | c |\r\n"
    )
    assert "See [[New|Old]]." in desk.read("New.md")


def test_links_in_text_that_moves_to_another_folder_lead_where_they_led(desk: Desk):
    desk.write("b/New.md", "New.\n")
    desk.write("a/Old.md", "[[./Near]], [[Near]], [n](Near.md), ![p](p.png), [[#Here]].\n")
    desk.write("a/Near.md", "Near.\n")
    desk.write("b/Near.md", "Another.\n")
    (desk.root / "a/p.png").write_bytes(b"png")
    desk.merge("a/Old.md", into="b/New.md")
    assert (
        "[[a/Near|Near]], [[a/Near|Near]], [n](a/Near.md), ![p](a/p.png), [[#Here]]."
        in desk.read("b/New.md")
    )


def test_several_notes_are_merged_at_once_each_with_its_origin(desk: Desk):
    for folder in "abc":
        desk.write(f"{folder}/Plan.md", f"Text of {folder}, with [[b/Plan]].\n")
    change = desk.merge("b/Plan.md", "c/Plan.md", into="a/Plan.md")
    assert desk.read("a/Plan.md") == (
        "Text of a, with [[Plan]].\n\n# From Plan\n\nText of b, with [[Plan]].\n\n"
        "# From Plan 2\n\nText of c, with [[Plan]].\n"
    )
    assert len(change.merged_from) == 2


def test_names_without_notes_become_one_and_no_note_is_touched(desk: Desk):
    desk.write("Note.md", "[[JWT]] and [[Json Web Token]].\n")
    before = desk.tree()
    change = desk.merge("JWT", into="Json Web Token")
    assert desk.tree() == before and change.files == ()
    into = desk.target("Json Web Token").node_ids[0]
    assert desk.curator.merged_concepts[desk.target("JWT").node_ids[0]].id == into
    desk.open()
    assert desk.curator.merged_concepts[desk.target("JWT").node_ids[0]].id == into
    desk.curator.undo([change.reversal_hash], WHY)
    assert not desk.curator.merged_concepts


def test_what_was_joined_to_a_name_joined_since_is_what_that_is_now(desk: Desk):
    desk.merge("One", into="Two")
    later = desk.merge("Two", into="Three")
    one, two, three = (desk.target(name).node_ids[0] for name in ("One", "Two", "Three"))
    assert {desk.curator.merged_concepts[one].id, desk.curator.merged_concepts[two].id} == {three}
    desk.curator.undo([later.reversal_hash], WHY)
    assert desk.curator.merged_concepts[one].id == two


def test_a_name_merged_into_a_note_becomes_its_alias(desk: Desk):
    desk.write("Token.md", "---\naliases: [Tok] # short\n---\nText.\n")
    desk.merge("JWT", into="Token.md")
    assert desk.read("Token.md") == "---\naliases: [Tok, JWT] # short\n---\nText.\n"


def test_a_note_is_not_merged_into_a_name_that_has_none(desk: Desk):
    desk.write("Token.md", "Text.\n")
    with pytest.raises(InvalidParams, match="has no note"):
        desk.merge("Token.md", into="JWT")
    with pytest.raises(InvalidParams, match="Nothing to merge"):
        desk.merge("Token.md", into="Token.md")


def test_remarks_stand_dated_under_one_heading_in_the_notes_own_line_ends(desk: Desk):
    desk.write("Note.md", b"# Note\r\n\r\nText without an end")
    annotated(desk, "Note.md", "First.")
    text = annotated(desk, "Note.md", "Second,\n\nin two lines.")
    assert text == (
        "# Note\r\n\r\nText without an end\r\n\r\n## Annotations\r\n\r\n"
        "- 2026-03-01 · First.\r\n- 2026-03-01 · Second,\r\n  in two lines.\r\n"
    )


def test_a_remark_goes_before_what_follows_the_annotations_and_out_of_open_code(desk: Desk):
    desk.write("A.md", "## Annotations\n\n- 2026-01-01 · Old.\n\n## Later\n\nMore.\n")
    assert annotated(desk, "A.md", "New.") == (
        "## Annotations\n\n- 2026-01-01 · Old.\n- 2026-03-01 · New.\n\n## Later\n\nMore.\n"
    )
    desk.write("B.md", "```\nopen code\n")
    assert annotated(desk, "B.md", "New.") == (
        "```\nopen code\n```\n\n## Annotations\n\n- 2026-03-01 · New.\n"
    )


def test_a_remark_on_a_name_without_a_note_makes_one(desk: Desk):
    assert annotated(desk, "Rate limiting?", "Deprecated.") == (
        "---\naliases: ['Rate limiting?']\n---\n\n# Rate limiting?\n\n## Annotations\n\n"
        "- 2026-03-01 · Deprecated.\n"
    )


def test_importance_lifecycle_and_verification_are_keys_and_nothing_else_moves(desk: Desk):
    desk.write("N.md", b"---\nImportance: 0.5   # mine\nx: {a: 1}\n---\nText \xff\n")
    note = desk.target("N.md")
    boosted = desk.do(
        ChangeKind.BOOSTED, note, lambda s: stage_importance(s, note, delta=0.3)
    ).result
    assert (boosted.before, boosted.after) == (0.5, 0.8)
    desk.do(ChangeKind.LIFECYCLE_SET, note, lambda s: stage_lifecycle(s, note, Lifecycle.EPHEMERAL))
    desk.do(
        ChangeKind.VERIFIED,
        note,
        lambda s: stage_verification(s, note, verified=False, by="Ada Berg", on=DAY),
    )
    desk.do(ChangeKind.PROPERTY_SET, note, lambda s: stage_tags(s, note, ["#a", "b", "a"]))
    desk.do(ChangeKind.PROPERTY_SET, note, lambda s: stage_pin(s, note, pinned=True))
    assert (desk.root / "N.md").read_bytes() == (
        b"---\nImportance: high   # mine\nx: {a: 1}\nlifecycle: ephemeral\nverified: false\n"
        b"verified_by: Ada Berg\nverified_on: 2026-03-01\ntags:\n  - a\n  - b\npinned: true\n"
        b"---\nText \xff\n"
    )


def test_the_importance_of_a_name_without_a_note_is_kept_in_the_journal(desk: Desk):
    desk.write("Note.md", "[[JWT]]\n")
    target = desk.target("JWT")
    done = desk.do(
        ChangeKind.BOOSTED, target, lambda s: stage_importance(s, target, importance=0.9)
    )
    desk.open()
    assert desk.curator.history.importance_of(target.node_ids) == 0.9
    desk.curator.undo([done.change.reversal_hash], WHY)
    assert desk.curator.history.importance_of(target.node_ids) == 0.5


def test_a_note_with_broken_yaml_is_not_written_and_the_line_is_named(desk: Desk):
    desk.write("Broken.md", "---\ntags: [open\n---\nText.\n")
    desk.write("Other.md", "Other.\n")
    before, note = desk.tree(), desk.target("Broken.md")
    with pytest.raises(MalformedFrontmatter) as caught:
        desk.do(ChangeKind.LIFECYCLE_SET, note, lambda s: stage_lifecycle(s, note, "temporary"))
    assert caught.value.data["line"]
    with pytest.raises(MalformedFrontmatter):
        desk.merge("Other.md", into="Broken.md")
    assert desk.tree() == before and not (desk.root / ".trash").exists()


def test_what_a_person_saves_meanwhile_is_in_the_change_or_stops_it(desk: Desk):
    desk.write("New.md", "New.\n")
    desk.write("Old.md", "Old.\n")
    note = desk.target("New.md")
    saved = []

    def stage(staging):
        path = stage_annotation(staging, note, "Remark.", DAY)
        if not saved:  # a person saves between the plan and the write
            desk.write("New.md", "New, and theirs.\n")
            saved.append(True)
        return path

    desk.do(ChangeKind.ANNOTATED, note, stage)
    assert desk.read("New.md") == ("New, and theirs.\n\n## Annotations\n\n- 2026-03-01 · Remark.\n")
    staging = desk.curator.stage()
    stage_annotation(staging, note, "Another.", DAY)
    plan = staging.plan(ChangeKind.ANNOTATED, ("New",), note.node_ids)
    desk.write("New.md", "Theirs alone.\n")
    with pytest.raises(NoteConflict):
        desk.curator.apply(plan, WHY)
    assert desk.read("New.md") == "Theirs alone.\n"


def test_a_preview_says_every_line_and_changes_nothing(desk: Desk):
    desk.write("New.md", "# New\n")
    desk.write("Old.md", "Text.\n")
    desk.write("Links.md", "One.\n\n[[Old]]\n")
    before, target = desk.tree(), desk.target("New.md")
    sources, known = [desk.target("Old.md")], desk.known()
    staging = desk.curator.stage()
    stage_merge(staging, known, sources, target)
    plan = staging.plan(ChangeKind.MERGED, ("New", "Old"), target.node_ids)
    lines = {(each.path, each.line, each.before, each.after) for each in plan.lines_changed()}
    assert ("Links.md", 3, "[[Old]]", "[[New|Old]]") in lines
    assert ("New.md", 1, None, "# From Old") in lines
    assert plan.paths == ["Links.md", "New.md", "Old.md"]
    assert desk.tree() == before and not desk.curator.history.changes()
