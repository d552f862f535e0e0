"""Deleting for good: a client can only delete what no person touched, and nothing brings back what
the person removed but the person."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.runtime.container import Container
from memvault.curation.changes.curator import Curator
from memvault.curation.changes.plan import Attribution, Forgetting
from memvault.curation.changes.staging import Staging
from memvault.curation.decisions import by_person
from memvault.model.change import Actor, Change, ChangeKind
from memvault.model.errors import MemvaultError
from memvault.vault.files import Vault
from memvault.vault.journal import Journal
from memvault.vault.version_store import KEPT_BYTES
from tests.benchmarks.trust_attempts import WHY, Caller, Pages, opened

number = itertools.count(1)
OWN = "# Will\n\nThe house goes to Ada.\n"


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    with opened(tmp_path_factory.mktemp("deleting")) as running:
        yield running


@pytest.fixture(scope="module")
def call(container: Container) -> Caller:
    return Caller(container)


@pytest.fixture
def will(container: Container) -> str:
    """A note that the person typed."""
    return typed(container, "Will.md", OWN)


def typed(container: Container, path: str, text: str) -> str:
    (container.vault.root / path).write_text(text, encoding="utf-8")
    container.indexing.index_written([path])
    return path


def deleted(call: Caller, target: str, client: str = "eve") -> dict[str, Any]:
    return call(
        "forget_concept", client, target=target, soft_delete=False, reason="user_requested",
        rationale=WHY,
    )  # fmt: skip


def kept_anywhere(container: Container, words: str) -> bool:
    """Whether the trash, a note or a kept version still says it."""
    history = container.curator.history
    versions = {
        version
        for change in history.changes(limit=None)
        for file in change.files
        for version in (file.before, file.after)
        if version is not None
    }
    texts = [history.content(version) or b"" for version in versions]
    texts += [path.read_bytes() for path in container.vault.root.rglob("*.md")]
    return any(words.encode() in text for text in texts)


def test_a_client_deletes_for_good_what_it_alone_wrote(call: Caller, container: Container) -> None:
    stored = call("store_memory", "eve", content="A draft of eve.", title="Draft", rationale=WHY)
    call("annotate_node", "eve", target=stored["path"], note="And later.", rationale=WHY)
    answer = deleted(call, stored["path"], "eve")
    assert answer["deletion"] == "done"
    assert not kept_anywhere(container, "A draft of eve.")


def test_a_persons_note_stays_and_its_deletion_waits_for_the_person(
    call: Caller, container: Container, will: str
) -> None:
    for preview in (True, False):
        answer = call("forget_concept", target=will, soft_delete=False, reason="user_requested",
                      preview=preview, rationale=WHY)  # fmt: skip
        assert answer["deletion"] == "proposed"
        assert "This waits for the person: Will.md" in answer["notice"]
    assert answer["paths"] == answer["node_ids"] == [] and "reversal_hash" not in answer
    assert (container.vault.root / "Will.md").read_text() == OWN
    (waiting,) = container.proposals.waiting()
    assert (waiting.kind, waiting.path, waiting.client) == ("forgotten", "Will.md", "eve")
    error = call.error("restore_concept", target=will, rationale=WHY)
    assert "still waits for the person" in error and "Curate" in error
    container.proposals.decide(waiting.key, Actor(kind="person"))
    assert container.proposals.waiting() == []


Way = Callable[[Caller, Container], str]


def emptied(call: Caller, container: Container) -> str:
    path = typed(container, f"Will {next(number)}.md", OWN)
    call("edit_memory", target=path, operation="replace_section", section="Will", content="x",
         rationale=WHY)  # fmt: skip
    return path


def emptied_and_undone(call: Caller, container: Container) -> str:
    path = typed(container, f"Will {next(number)}.md", OWN)
    done = call("edit_memory", target=path, operation="replace_text", find="The house goes to Ada.",
                content="x", rationale=WHY)  # fmt: skip
    call("undo_change", change=done["reversal_hash"], rationale=WHY)
    return path


def merged_away(call: Caller, container: Container) -> str:
    path = typed(container, f"Will {next(number)}.md", OWN)
    stored = claimed(call, "Mine.")
    call("merge_concepts", sources=[path, stored], target=stored, rationale=WHY)
    assert stored in call("merge_concepts", sources=[path, stored], target=path, rationale=WHY)[
        "notes_changed"
    ]  # fmt: skip
    return path


def moved(call: Caller, container: Container) -> str:
    path = f"projects/wills/Will {next(number)}.md"
    (container.vault.root / path).parent.mkdir(parents=True, exist_ok=True)
    typed(container, path, OWN)
    done = container.actions.archive_project("wills", by_person("archived on the page"))
    return done.result[path]


def claimed(call: Caller, text: str = "The house goes to Ada.") -> str:
    title = f"Mine {next(number)}"
    return str(call("store_memory", content=text, title=title, rationale=WHY)["path"])


def written_by_the_person_into_a_clients_note(call: Caller, container: Container) -> str:
    path = claimed(call, "Mine.")
    text = (container.vault.root / path).read_text()
    typed(container, path, text + "\nThe house goes to Ada.\n")
    call("edit_memory", target=path, operation="replace_text", find="The house goes to Ada.",
         content="x", rationale=WHY)  # fmt: skip
    return path


def marked_by_the_person(call: Caller, container: Container) -> str:
    path = claimed(call)
    container.actions.pin(path, by_person("pinned on the page"), pinned=True)
    return path


def moved_by_the_person(call: Caller, container: Container) -> str:
    path, place = claimed(call), f"Moved {next(number)}.md"
    (container.vault.root / path).rename(container.vault.root / place)
    container.indexing.index_written([path, place])
    return place


def at_the_place_of_the_persons_note(call: Caller, container: Container) -> str:
    title = f"Will {next(number)}"
    path = f"projects/wills/{title}.md"
    (container.vault.root / path).parent.mkdir(parents=True, exist_ok=True)
    typed(container, path, OWN)
    call("edit_memory", target=path, operation="append", content="x", rationale=WHY)
    removed(container, path)
    stored = call("store_memory", content="y", title=title, project="wills", rationale=WHY)
    assert stored["path"] == path
    return path


@pytest.mark.parametrize(
    "way",
    [emptied, emptied_and_undone, merged_away, moved, written_by_the_person_into_a_clients_note,
     marked_by_the_person, moved_by_the_person, at_the_place_of_the_persons_note],
    ids=lambda way: way.__name__,
)  # fmt: skip
def test_no_way_around_deletes_the_persons_words(
    call: Caller, container: Container, way: Way
) -> None:
    target = way(call, container)
    before = (container.vault.root / target).read_bytes()
    assert deleted(call, target, "mallory")["deletion"] == "proposed"
    assert "notice" in call("forget_concept", target=target, rationale=WHY)
    assert (container.vault.root / target).read_bytes() == before
    assert kept_anywhere(container, "The house goes to Ada.")


EVE = Attribution("eve", WHY, reason="user_requested")


def rewritten(curator: Curator, text: bytes, *paths: str) -> Change:
    """The change by which a client gives these notes another text."""

    def stage(staging: Staging) -> None:
        for path in paths:
            staging.write(path, text)

    change = curator.perform(stage, ChangeKind.EDITED, paths, (), EVE).change
    assert change is not None
    return change


def test_however_large_a_note_is_what_a_client_does_to_it_can_be_undone(tmp_path: Path) -> None:
    text = b"All that was ever said.\n" + b" " * KEPT_BYTES
    (tmp_path / "Large.md").write_bytes(text)
    curator = Curator(Vault(tmp_path), Journal(Vault(tmp_path)))
    change = rewritten(curator, b"x", "Large.md")
    curator.undo([change.reversal_hash], EVE)
    assert (tmp_path / "Large.md").read_bytes() == text


def test_deleting_a_copy_for_good_keeps_the_versions_of_the_original(tmp_path: Path) -> None:
    for path in ("Original.md", "Copy.md"):
        (tmp_path / path).write_text(OWN, encoding="utf-8")
    curator = Curator(Vault(tmp_path), Journal(Vault(tmp_path)))
    change = rewritten(curator, b"x", "Original.md", "Copy.md")
    copy = Forgetting("Copy", "note", ("1",), (), "Copy.md", permanent=True)
    curator.perform(lambda staging: staging.forget(copy), ChangeKind.FORGOTTEN, (), (), EVE)
    before = change.files[0].before
    assert before is not None
    assert curator.history.content(before) == OWN.encode()


def removed(container: Container, path: str) -> str:
    target = container.actions.target(path)
    change = container.actions.forget([target], by_person("forgotten on the page")).change
    assert change is not None
    return change.reversal_hash


def test_what_the_person_forgot_no_client_restores(
    call: Caller, container: Container, will: str
) -> None:
    key = removed(container, will)
    for arguments in ({"target": will}, {"reversal_hash": key}):
        assert "only they" in call.error("restore_concept", rationale=WHY, **arguments)
    assert "only they" in call("undo_change", change=key, rationale=WHY)["notice"]
    assert not (container.vault.root / will).exists()
    container.actions.restore(key, by_person("restored on the page"))
    assert (container.vault.root / will).read_text() == OWN
    assert not [each for each in container.proposals.waiting() if each.path == will]


def test_what_the_person_took_back_no_client_brings_back(
    call: Caller, container: Container
) -> None:
    stored = call("store_memory", content="A claim.", title="Claimed", rationale=WHY)
    done = container.curator.history.changes(node_id=stored["node_id"])[0].reversal_hash
    undone = container.actions.undo([done], by_person("undone on the page")).change
    assert undone is not None
    for change in ({"change": undone.reversal_hash}, {"day": date.today().isoformat()}):
        answer = call("undo_change", rationale=WHY, **change)
        assert "only they undo" in answer["notice"] and answer["undone"] == []
        assert not (container.vault.root / stored["path"]).exists()


Ask = tuple[str, dict[str, Any]]
_TITLES = st.sampled_from(["Own one", "Own two", "Theirs one", "Theirs two"])
_CALLS: st.SearchStrategy[Ask] = st.one_of(
    st.builds(lambda t: ("forget_concept", {"target": t}), _TITLES),
    st.builds(
        lambda one, two: ("merge_concepts", {"sources": [one, two], "target": two}),
        _TITLES, _TITLES,
    ),
    st.integers(0, 9).map(lambda number: ("undo_change", {"number": number})),
    st.builds(lambda t: ("pin", {"target": t}), st.sampled_from(["Own one", "Own two"])),
)  # fmt: skip


@settings(max_examples=8, deadline=None)
@given(st.lists(_CALLS, min_size=1, max_size=6))
def test_whatever_a_client_calls_the_persons_notes_and_changes_stay(
    call: Caller, container: Container, calls: list[Ask]
) -> None:
    own = [typed(container, f"Own {each}.md", f"Words {each}.\n") for each in ("one", "two")]
    for title in ("Theirs one", "Theirs two"):
        call("store_memory", content=f"A claim, {title}.", title=title, rationale=WHY)
    for tool, arguments in calls:
        if tool == "pin":  # by the person
            with suppress(MemvaultError):
                container.actions.pin(arguments["target"], by_person("pinned"), pinned=True)
            continue
        if tool == "undo_change":
            changes = container.curator.history.changes(limit=10)
            arguments["change"] = changes[arguments.pop("number") % len(changes)].reversal_hash
        pinned = [b"pinned: true" in (container.vault.root / path).read_bytes() for path in own]
        call.raw(tool, rationale=WHY, **arguments)
        for path, before in zip(own, pinned, strict=True):
            after = (container.vault.root / path).read_bytes()
            assert f"Words {path[4:7]}.".encode() in after
            assert before == (b"pinned: true" in after)


@pytest.mark.parametrize("yes", [True, False])
def test_a_merge_and_an_undo_wait_on_curate(call: Caller, container: Container, yes: bool) -> None:
    path, other = typed(container, f"Well {yes}.md", f"Water, {yes}.\n"), claimed(call, "Deep.")
    change = container.actions.pin(path, by_person("pinned on the page"), pinned=True).change
    assert change is not None
    call("undo_change", change=change.reversal_hash, rationale=WHY)
    call("merge_concepts", sources=[path, other], target=other, rationale=WHY)
    pages = Pages(container)
    page = pages.get("/curate")
    assert "What AI clients ask of you" in pages.get("/")
    assert "eve asks to merge this note into Mine" in page and "See what changes" in page
    assert "eve asks to undo:" in page
    for each in [each for each in container.proposals.waiting() if each.path == path][::-1]:
        pages.post(f"/curate/{'accept' if yes else 'decline'}", proposal=each.key)
    assert (container.vault.root / path).exists() is not yes
    assert (f"Water, {yes}." in (container.vault.root / other).read_text()) is yes
    assert container.curator.history.change(change.reversal_hash).undone_by or not yes
    assert not [each for each in container.proposals.waiting() if each.path == path]


def test_what_cannot_be_done_yet_still_waits(call: Caller, container: Container) -> None:
    path = typed(container, "Buoy.md", "Red.\n")
    change = container.actions.pin(path, by_person("pinned on the page"), pinned=True).change
    assert change is not None
    call("undo_change", change=change.reversal_hash, rationale=WHY)
    (waiting,) = [each for each in container.proposals.waiting() if each.path == path]
    pinned = (container.vault.root / path).read_text()
    typed(container, path, pinned.replace("pinned: true", "pinned: 2031"))
    pages = Pages(container)
    with pytest.raises(AssertionError, match=r"Buoy\.md: it was changed since and stays as it is"):
        pages.post("/curate/accept", proposal=waiting.key)
    assert waiting in container.proposals.waiting()
    typed(container, path, pinned)
    pages.post("/curate/accept", proposal=waiting.key)
    assert (container.vault.root / path).read_text() == "Red.\n"
    assert waiting not in container.proposals.waiting()


def test_the_text_of_what_is_forgotten_is_in_no_lineage(call: Caller, container: Container) -> None:
    path = typed(
        container, "Secret.md", "---\nid: 3f0c8f4e-8a3e-4c06-9d7a-1f2b3c4d5e6f\n---\nOpen sesame.\n"
    )
    call("edit_memory", target=path, operation="append", content="More.", rationale=WHY)
    removed(container, path)
    found = call("get_node_lineage", node_id="3f0c8f4e-8a3e-4c06-9d7a-1f2b3c4d5e6f",
                 include_content_diffs=True)  # fmt: skip
    assert found["lineage"]
    assert "sesame" not in str(found)


@pytest.mark.parametrize("wish", ["keep", "delete"])
def test_the_person_decides_on_curate(call: Caller, container: Container, wish: str) -> None:
    path = typed(container, f"Wish {wish}.md", f"# Wish\n\nTo {wish} it.\n")
    deleted(call, path)
    pages = Pages(container)
    assert "eve asks to delete this note for good" in pages.get("/curate")
    waiting = container.proposals.waiting()[0]
    pages.post(f"/curate/{'accept' if wish == 'delete' else 'decline'}", proposal=waiting.key)
    assert waiting.path == path
    assert waiting not in container.proposals.waiting()
    assert kept_anywhere(container, f"To {wish} it.") is (wish == "keep")
    if wish == "delete":
        purged, gone = container.curator.history.changes(path=path)
        assert (purged.kind, gone.kind, gone.actor.kind) == ("purged", "forgotten", "person")


def test_the_person_deletes_for_good_on_the_page(container: Container) -> None:
    path = typed(container, "Diary.md", "Nobody shall read this.\n")
    memory = container.live.catalogue.by_path(path)
    assert memory is not None
    Pages(container).post(f"/memory/{memory.id}/forget", permanent="yes")
    assert not kept_anywhere(container, "Nobody shall read this.")


def test_today_lists_what_a_client_changed_in_a_note_of_the_persons(
    call: Caller, container: Container
) -> None:
    typed(container, "Weir.md", "The weir is 2 m high.\n")
    call("annotate_node", target="Weir", note="Measured again in May.", rationale=WHY)
    assert 'added a remark to <a href="/memory/' in Pages(container).get("/")


def test_a_client_does_not_delete_what_another_client_wrote_by_merging_it_first(
    call: Caller, container: Container
) -> None:
    theirs = call("store_memory", "adam", content="A draft of adam.", title="A", rationale=WHY)
    own = call("store_memory", "eve", content="A draft of eve.", title="E", rationale=WHY)
    both = [theirs["path"], own["path"]]
    call("merge_concepts", "eve", sources=both, target=both[1], rationale=WHY)
    answer = deleted(call, own["path"], "eve")
    assert answer["deletion"] != "done"
    assert kept_anywhere(container, "A draft of adam.")


def test_a_client_does_not_delete_what_another_client_wrote_on_a_name_that_it_merges(
    call: Caller, container: Container
) -> None:
    own = call("store_memory", "eve", content="A draft on [[Zed]].", title="Zeds", rationale=WHY)
    call("annotate_node", "adam", target="Zed", note="A remark of adam.", rationale=WHY)
    call("merge_concepts", "eve", sources=["Zed", own["path"]], target=own["path"], rationale=WHY)
    assert deleted(call, own["path"])["deletion"] != "done"
    assert kept_anywhere(container, "A remark of adam.")


def test_a_client_deletes_its_own_note_from_which_another_clients_came_out_again(
    call: Caller, container: Container
) -> None:
    theirs = call("store_memory", "adam", content="A plan of adam.", title="P", rationale=WHY)
    own = call("store_memory", "eve", content="A plan of eve.", title="Q", rationale=WHY)
    both = [theirs["path"], own["path"]]
    merge = call("merge_concepts", "eve", sources=both, target=both[1], rationale=WHY)
    call("undo_change", "eve", change=merge["reversal_hash"], rationale=WHY)
    assert deleted(call, own["path"])["deletion"] == "done"
    assert (container.vault.root / both[0]).exists()


def test_a_client_deletes_its_own_note_that_links_to_what_it_merged_elsewhere(
    call: Caller, container: Container
) -> None:
    theirs = call("store_memory", "adam", content="A map of adam.", title="Map", rationale=WHY)
    other = call("store_memory", "eve", content="An atlas of eve.", title="Atlas", rationale=WHY)
    own = call("store_memory", "eve", content="See [[Map]].", title="Seen", rationale=WHY)
    both = [theirs["path"], other["path"]]
    merge = call("merge_concepts", "eve", sources=both, target=both[1], rationale=WHY)
    assert own["path"] in merge["notes_changed"]
    assert deleted(call, own["path"])["deletion"] == "done"
    assert kept_anywhere(container, "A map of adam.")
