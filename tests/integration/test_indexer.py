"""The indexes say what the vault says."""

from __future__ import annotations

import random
import shutil
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from uuid import UUID

import pytest

from indexer.batches import NOTES_AHEAD
from indexer.catalogue import Catalogue
from indexer.change_writer import FEW, FEW_LINKED
from indexer.doctor import examine, known_problems
from indexer.indexer import Indexer
from indexer.progress import Progress
from indexer.stale_edges import LINKED_AT_ONCE
from memvault.model.errors import StoreUnavailable
from memvault.model.memory import id_of_path
from memvault.model.note import ParsedNote
from memvault.model.search import Scope
from memvault.search.context.note_text import NOTE_TEXTS
from memvault.text.tokens import TokenCounter
from memvault.vault.parse import parse_note
from tests.snapshot import assert_as_rebuilt, snapshot

Write = Callable[..., Path]


def edges_of(indexer: Indexer, path: str) -> set[tuple[str, str | None, str]]:
    """(relation, path of the target or None, name of the target) of a note's edges."""
    memory = indexer.catalogue.by_path(path)
    assert memory is not None
    edges = [e for e in indexer.stores.graph.neighbours([memory.id]) if e.source == memory.id]
    nodes = indexer.stores.graph.nodes([e.target for e in edges])
    return {(e.relation, nodes[e.target].path, nodes[e.target].name) for e in edges}


def targets(indexer: Indexer, path: str) -> set[str | None]:
    return {target for _, target, _ in edges_of(indexer, path)}


def found(indexer: Indexer, words: str) -> list[str]:
    ranked = indexer.stores.vectors.rank_keywords(words, 10, scope=Scope())
    memories = [indexer.catalogue.by_id(note_id) for note_id in ranked.note_ids]
    return [memory.path for memory in memories if memory is not None]


def test_a_first_scan_makes_every_note_findable(indexer: Indexer, write: Write) -> None:
    write("permanent/Bread.md", "# Bread\n\nSourdough needs a starter and patience.\n")
    write("projects/kiln/Kiln.md", "# Kiln\n\nThe kiln reaches 1200 degrees.\n")
    report = indexer.scan()
    assert (report.indexed, report.removed) == (2, 0)
    assert found(indexer, "sourdough starter") == ["permanent/Bread.md"]


def test_questions_go_before_every_note_of_many_but_not_before_one_that_a_tool_wrote(
    indexer: Indexer, write: Write
) -> None:
    passed: list[int] = []
    indexer.let_pass = lambda: passed.append(len(indexer.catalogue))
    many = [f"n{number}.md" for number in range(FEW + 1)]
    for path in many:
        write(path, "A thing.\n")
    indexer.index(many[:1], finish_later=True)
    indexer.index(many[:3], finish_later=False)
    assert not passed
    indexer.scan()
    assert len(passed) >= len(many) - 3


def test_records_are_read_back_as_they_were(indexer: Indexer, write: Write) -> None:
    write("plain.md", "One thing.\n")
    write(
        "projects/kiln/Kiln.md",
        "---\nid: 0b1f6a0e-8a55-4a0b-9f4e-0a8f1b1d2c3d\naliases: [Oven]\ntags: [hot]\n"
        "importance: 0.9\ncreated: 2024-01-01\nverified: true\ncolour: [red]\n---\nSee [[plain]].\n",
    )
    indexer.scan()
    records = indexer.catalogue.records()
    assert Catalogue(indexer.stores.keyvalue).records() == records
    assert all(b'"format":' in record.packed() for record in records)


def test_the_words_of_a_note_are_counted_once_also_where_it_is_embedded_early(
    indexer: Indexer, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    count_all = TokenCounter.count_all

    def counting(counter: TokenCounter, texts: Sequence[str]) -> list[int]:
        counted.extend(texts)
        return count_all(counter, texts)

    monkeypatch.setattr(TokenCounter, "count_all", counting)
    for number in range(NOTES_AHEAD + 20):
        write(f"n{number}.md", f"# Note {number}\n\nIt is about thing {number} alone.\n")
    indexer.scan()
    own = [text for text in counted if text.startswith("It is about")]
    assert len(own) == len(set(own)) == NOTES_AHEAD + 20


def test_rows_of_other_namespaces_are_written_also_without_a_record(indexer: Indexer) -> None:
    store = indexer.stores.keyvalue
    store.put_many("other", {"old": b"1"})
    indexer.catalogue.commit([], delete={"other": ["old"]}, write={"other": {"new": b"2"}})
    assert dict(store.items("other")) == {"new": b"2"}


def test_an_unchanged_vault_is_not_indexed_again(indexer: Indexer, write: Write) -> None:
    write("a.md", "One thing.\n")
    indexer.scan()
    before = indexer.version
    report = indexer.scan()
    assert (report.indexed, report.unchanged, indexer.version) == (0, 1, before)


def test_a_note_saved_without_a_change_stays_as_it_is(indexer: Indexer, write: Write) -> None:
    write("a.md", "---\ncreated: 2024-01-01\n---\nOne thing.\n")
    indexer.scan()
    before = snapshot(indexer)
    write("a.md", "---\ncreated: 2024-01-01\n---\nOne thing.\n")
    assert indexer.scan().indexed == 0
    assert snapshot(indexer) == before


def test_a_note_is_found_before_others_are_linked_to_it_and_these_links_are_never_lost(
    indexer: Indexer, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.md", "See [[Quince]].\n")
    indexer.scan()
    write("Quince.md", "A hard yellow fruit.\n")
    requested: list[list[str]] = []

    def power_cut(paths: Collection[str]) -> None:
        requested.append(found(indexer, "yellow fruit"))
        raise StoreUnavailable("the power is cut")

    with monkeypatch.context() as interrupted, pytest.raises(StoreUnavailable):
        interrupted.setattr(indexer._graphs, "rewrite_edges", power_cut)
        indexer.index(["Quince.md"])
    assert requested == [["Quince.md"]]
    assert targets(indexer, "a.md") == {None}
    indexer.scan()
    assert targets(indexer, "a.md") == {"Quince.md"}
    assert indexer.catalogue.to_relink.all() == set()


def test_many_notes_that_name_a_new_one_are_linked_after_the_answer(
    indexer: Indexer, write: Write
) -> None:
    linking = [f"n{number}.md" for number in range(LINKED_AT_ONCE + FEW_LINKED)]
    for path in linking:
        write(path, "See [[Quince]].\n")
    indexer.scan()
    write("Quince.md", "A hard yellow fruit.\n")
    report = indexer.index(["Quince.md"], finish_later=True)
    assert (report.indexed, report.unfinished, report.relinked) == (1, True, 0)
    assert indexer.catalogue.to_relink.all() == set(linking)
    assert indexer.finish_some() and not indexer.catalogue.new_phrases.all()
    assert indexer.finish_some() and 0 < len(indexer.catalogue.to_relink.all()) < len(linking)
    assert not indexer.finish_some() and not indexer.catalogue.to_relink.all()
    assert all(targets(indexer, path) == {"Quince.md"} for path in linking)


def test_what_a_power_cut_took_back_is_indexed_again_by_the_next_start(
    indexer: Indexer, open_indexer: Callable[..., Indexer], write: Write
) -> None:
    write("a.md", "Apples.\n")
    indexer.scan()
    write("Quince.md", "A hard yellow fruit.\n")
    assert indexer.index(["Quince.md"], finish_later=True).unfinished
    assert found(indexer, "yellow fruit") == ["Quince.md"]
    assert indexer.catalogue.unflushed() == {"Quince.md"}
    quince = indexer.catalogue.by_path("Quince.md")
    assert quince is not None
    indexer.stores.vectors.remove([quince.id])  # as a power cut would
    indexer.stores.close()
    again = open_indexer()
    assert again.scan().indexed == 1
    assert found(again, "yellow fruit") == ["Quince.md"]
    assert again.catalogue.unflushed() == set()
    assert again.scan().indexed == 0


def test_what_is_flushed_is_not_indexed_again(indexer: Indexer, write: Write) -> None:
    write("Quince.md", "A hard yellow fruit.\n")
    indexer.index(["Quince.md"], finish_later=True)
    while indexer.finish_some():
        pass
    assert indexer.catalogue.unflushed() == set()
    assert indexer.scan().indexed == 0


def test_a_few_are_linked_before_it(indexer: Indexer, write: Write) -> None:
    write("a.md", "See [[Quince]].\n")
    indexer.scan()
    write("Quince.md", "A hard yellow fruit.\n")
    assert indexer.index(["Quince.md"], finish_later=True).relinked == 1
    assert targets(indexer, "a.md") == {"Quince.md"}


def test_notes_that_only_mention_a_new_one_are_looked_up_after_it(
    indexer: Indexer, write: Write
) -> None:
    write("a.md", "We planted a Kadota Fig by the wall.\n")
    indexer.scan()
    write("Kadota Fig.md", "A tree.\n")
    assert indexer.index(["Kadota Fig.md"], finish_later=True).unfinished
    assert "Kadota Fig" in indexer.catalogue.new_phrases.all()
    while indexer.finish_some():
        pass
    assert targets(indexer, "a.md") == {"Kadota Fig.md"}
    assert indexer.catalogue.new_phrases.all() == set()


def test_what_was_still_to_be_looked_up_is_made_good_by_the_next_scan(
    indexer: Indexer, write: Write
) -> None:
    write("a.md", "We planted a Kadota Fig by the wall.\n")
    indexer.scan()
    write("Kadota Fig.md", "A tree.\n")
    indexer.index(["Kadota Fig.md"], finish_later=True)
    indexer.scan()
    assert targets(indexer, "a.md") == {"Kadota Fig.md"}
    assert indexer.catalogue.new_phrases.all() == set()


def test_progress_names_the_large_note_that_takes_long(
    indexer: Indexer, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.change_set.LARGE_BYTES", 2_000)
    for name in ("a", "m", "z"):
        write(f"{name}.md", "Short.\n" * (1_000 if name != "m" else 1))
    reports: list[Progress] = []
    indexer.scan(reports.append)
    indexing = [
        (report.done, report.large_note) for report in reports if report.stage == "indexing"
    ]
    assert indexing == [(1, "a.md"), (2, "z.md"), (3, None)]


@pytest.mark.parametrize("stage", ["reading", "indexing"])
def test_changes_amid_a_long_scan_leave_what_a_fresh_index_has(
    open_indexer: Callable[..., Indexer], write: Write, vault_folder: Path, stage: str
) -> None:
    live, own = open_indexer(), "0b1f6a0e-8a55-4a0b-9f4e-0a8f1b1d2c3d"
    with_id = f"---\nid: {own}\n---\nA shady tree, see [[Fig 3]] and Fig 99.\n"
    for number in range(100):
        write(f"n/Fig {number}.md", f"Number {number}, see [[Fig {number // 2}]] and [[Elm]].\n")
    write("n/Fig 10.md", "Beside the Larch.\n")
    write("x/Elm.md", with_id)
    write("z/late/Oak.md", "Oaks. See [[Elm]].\n")
    folder = vault_folder / "z/late"

    def change() -> None:
        folder.rename(vault_folder / "z/later")
        live.scan()
        assert found(live, "oaks") == ["z/later/Oak.md"]
        write("n/Fig 99.md", "---\naliases: [Sycamore]\n---\nOnly here: marzipan.\n")
        write("n/Fig 0.md", "Only here: nougat and the Sycamore.\n")
        (vault_folder / "n/Fig 9.md").unlink()
        (vault_folder / "n/Fig 1.md").unlink()
        assert live.index(["n/Fig 0.md", "n/Fig 1.md", "n/Fig 9.md", "n/Fig 99.md"]).indexed == 2
        assert sorted(found(live, "marzipan nougat")) == ["n/Fig 0.md", "n/Fig 99.md"]
        write(
            "n/Fig 97.md", "---\naliases: [Larch]\n---\nNamed by a note that was written before.\n"
        )
        live.index(["n/Fig 97.md"], finish_later=True)
        write("a/Elm.md", with_id)
        live.index(["a/Elm.md"])

    changed = False

    def report(progress: Progress) -> None:
        nonlocal changed
        if progress.stage == stage and progress.done >= 10 and not changed:
            changed = True
            change()

    live.scan(report)
    assert changed
    assert_as_rebuilt(live, open_indexer)
    assert live.scan().indexed == 0


def test_an_id_goes_to_the_next_copy_where_the_one_before_has_changed_too(
    open_indexer: Callable[..., Indexer], write: Write, vault_folder: Path
) -> None:
    live = open_indexer()
    for path in ("Oak.md", "a/Oak.md", "notes/Oak.md"):
        write(path, "---\nid: 0b1f6a0e-8a55-4a0b-9f4e-000000000001\n---\nIn the yard.\n")
    live.scan()
    (vault_folder / "Oak.md").unlink()
    write("a/Oak.md", "By the gate.\n")
    live.index(["Oak.md"])
    live.index(["a/Oak.md"])
    assert_as_rebuilt(live, open_indexer)


def test_a_scan_mends_ids_that_went_to_the_wrong_copy(
    open_indexer: Callable[..., Indexer], write: Write
) -> None:
    live = open_indexer()
    paths = ("Oak.md", "a/Oak.md")
    for path in paths:
        write(path, "---\nid: 0b1f6a0e-8a55-4a0b-9f4e-000000000001\n---\nIn the yard.\n")
    live.scan()
    records = [record for path in paths if (record := live.catalogue.record(path)) is not None]
    ids = [record.memory.id for record in reversed(records)]
    live.catalogue.commit(
        record.model_copy(update={"memory": record.memory.model_copy(update={"id": key})})
        for record, key in zip(records, ids, strict=True)
    )
    assert live.scan().indexed == 2
    assert_as_rebuilt(live, open_indexer)
    assert live.scan().indexed == 0


def test_relinking_a_note_amid_a_scan_takes_no_id_back_from_a_copy(
    open_indexer: Callable[..., Indexer], write: Write
) -> None:
    live = open_indexer()
    for path in ("a/Oak.md", "z.md"):
        write(path, "---\nid: 0b1f6a0e-8a55-4a0b-9f4e-000000000001\n---\nIn the yard.\n")
    live.scan()
    write("a/Oak.md", "---\nid: 0b1f6a0e-8a55-4a0b-9f4e-000000000001\n---\nBy the gate.\n")
    write("z.md", "In the yard.\n")
    for number in range(20):  # so that the two are written one after the other
        write(f"m/Elm {number}.md", "At the back.\n")
    live.on_batch.append(lambda count, seconds: live.relink(["z.md"]))
    live.scan()
    assert_as_rebuilt(live, open_indexer)


def test_a_note_saved_unchanged_amid_a_scan_gets_the_edges_that_the_scan_was_to_write(
    open_indexer: Callable[..., Indexer], write: Write
) -> None:
    live = open_indexer()
    write("b/Oak.md", "In the yard.\n")
    write("z.md", "See [[Oak]].\n")
    live.index(["b/Oak.md", "z.md"], finish_later=True)  # not flushed: a scan writes them again
    write("a.md", "---\naliases: [Oak]\n---\nBy the gate.\n")
    (live.vault.root / "b/Oak.md").unlink()
    for number in range(20):  # so that z.md is in a later batch
        write(f"m/Elm {number}.md", "At the back.\n")
    saved = iter(["z.md"])
    live.on_batch.append(lambda count, seconds: live.index([*saved]) and None)
    live.scan()
    assert_as_rebuilt(live, open_indexer)


@pytest.mark.parametrize("seed", [1, 9])
def test_changes_from_all_sides_amid_a_scan_leave_what_a_fresh_index_has(
    open_indexer: Callable[..., Indexer], write: Write, vault_folder: Path, seed: int
) -> None:
    live, editing = open_indexer(), threading.Lock()
    trees = ["Elm", "Oak", "Fig", "Pear", "Plum", "Lime", "Yew", "Ash", "Birch", "Cedar"]
    paths = [f"{folder}/{tree} {k}.md" for folder in "abz" for tree in trees for k in range(4)]

    def note(chance: random.Random) -> str:
        properties = ""
        if chance.random() < 0.2:  # copies have one id
            properties = f"---\nid: 0b1f6a0e-8a55-4a0b-9f4e-{chance.randrange(6):012d}\n---\n"
        elif chance.random() < 0.4:
            properties = f"---\naliases: [{chance.choice(trees)} {chance.randrange(8)}]\n---\n"
        link, name = chance.choices(trees, k=2)
        return (
            f"{properties}See [[{link} {chance.randrange(6)}]] and {name} {chance.randrange(8)}.\n"
        )

    def change(chance: random.Random) -> list[str]:
        """Write, delete or move a note; the paths that this concerns."""
        path = chance.choice(paths)
        file, action = vault_folder / path, chance.random()
        if action < 0.5 or not file.exists():
            write(path, note(chance))
        elif action < 0.7:
            file.unlink()
        else:
            to = f"{chance.choice('abz')}/{file.name}"
            file.replace(vault_folder / to)
            return [path, to]
        return [path]

    def work(number: int) -> None:
        chance = random.Random(100 * seed + number)
        for _ in range(12):
            with editing:
                changed = [each for _ in range(3) for each in change(chance)]
            if chance.random() < 0.8:
                live.index(changed, finish_later=chance.random() < 0.5)
            elif chance.random() < 0.5:
                live.scan()
            else:
                live.finish_some()

    first = random.Random(seed)
    for path in paths:
        write(path, note(first))
    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(live.scan), *(threads.submit(work, n) for n in range(3))]
    for each in running:
        each.result()
    live.scan()
    while live.finish_some():
        pass
    assert_as_rebuilt(live, open_indexer)


def test_an_edit_replaces_what_the_note_said(indexer: Indexer, write: Write) -> None:
    write("a.md", "The meeting is in Lisbon.\n")
    indexer.scan()
    write("a.md", "The meeting is in Porto, not far from the river.\n")
    indexer.index(["a.md"])
    assert found(indexer, "Lisbon") == []
    assert found(indexer, "Porto river") == ["a.md"]


def test_a_deleted_note_is_forgotten(indexer: Indexer, write: Write) -> None:
    write("a.md", "Lemons keep well.\n")
    write("b.md", "See [[a]].\n")
    indexer.scan()
    (indexer.vault.root / "a.md").unlink()
    indexer.index(["a.md"])
    assert found(indexer, "lemons") == []
    assert [path for path, _ in indexer.stores.keyvalue.items(NOTE_TEXTS)] == ["b.md"]
    assert edges_of(indexer, "b.md") == {("links to", None, "a")} or targets(indexer, "b.md") == {
        None
    }


def test_a_moved_note_keeps_its_links(indexer: Indexer, write: Write) -> None:
    write("inbox/Walnut.md", "# Walnut\n\nA dark wood.\n")
    write("b.md", "Built from [[Walnut]].\n")
    indexer.scan()
    (indexer.vault.root / "permanent").mkdir()
    shutil.move(indexer.vault.root / "inbox/Walnut.md", indexer.vault.root / "permanent/Walnut.md")
    indexer.index(["inbox/Walnut.md", "permanent/Walnut.md"])
    assert targets(indexer, "b.md") == {"permanent/Walnut.md"}
    assert indexer.catalogue.by_id(id_of_path("inbox/Walnut.md")) is None


def test_ids_are_found_by_the_digits_they_begin_with(indexer: Indexer, write: Write) -> None:
    twins = [f"550e8400-e29b-41d4-a716-44665544000{number}" for number in (1, 2)]
    for number, twin in enumerate(twins):
        write(f"Twin {number}.md", f"---\nid: {twin}\n---\nText {number}.\n")
    gone = write("Other.md", "Another text.\n")
    indexer.scan()
    starting = indexer.catalogue.ids_starting
    other = id_of_path("Other.md").replace("-", "")
    assert sorted(starting("550e8400")) == sorted(starting("550e84")) == twins
    assert starting("550e8400e29b41d4a716446655440002") == [twins[1]]
    assert [each.replace("-", "") for each in starting(other[:8])] == [other]
    gone.unlink()
    (gone.parent / "Twin 0.md").unlink()
    indexer.scan()
    assert list(starting(other[:8])) == []
    assert starting("550e8400") == [twins[1]]


def test_notes_are_found_by_their_day_and_by_the_days_that_they_name(
    indexer: Indexer, write: Write
) -> None:
    dentist = "The dentist is on 2026-11-24 and on 2026-12-03.\n"
    write("sessions/Boiler.md", f"---\ndate: 2026-11-18\n---\n{dentist}")
    roof = write("sessions/Roof.md", "---\ndate: 2026-12-02\n---\nTwo tiles slipped.\n")
    indexer.scan()

    def of_days(*days: str) -> set[str]:
        meant = {date.fromisoformat(day) for day in days}
        return {memory.title for memory in indexer.catalogue.of_days(meant.__contains__)}

    assert of_days("2026-11-18") == of_days("2026-11-24") == {"Boiler"}
    assert of_days("2026-12-02", "2026-12-03") == {"Boiler", "Roof"}
    assert of_days("2026-11-19") == set()

    write("sessions/Boiler.md", f"---\ndate: 2026-11-19\n---\n{dentist}")
    roof.unlink()
    indexer.scan()
    assert of_days("2026-11-18", "2026-12-02") == set()
    assert of_days("2026-11-19") == {"Boiler"}


def test_a_note_written_later_catches_the_links_that_waited_for_it(
    indexer: Indexer, write: Write
) -> None:
    write("b.md", "Ask [[Mira Holm]] about it.\n")
    indexer.scan()
    assert targets(indexer, "b.md") == {None}
    write("people/Mira Holm.md", "---\ntype: person\n---\nPotter.\n")
    report = indexer.index(["people/Mira Holm.md"])
    assert report.relinked == 1
    assert targets(indexer, "b.md") == {"people/Mira Holm.md"}


def test_a_name_in_plain_text_becomes_an_edge_when_its_note_appears(
    indexer: Indexer, write: Write
) -> None:
    write("b.md", "I spoke with Mira Holm yesterday.\n")
    indexer.scan()
    write("people/Mira Holm.md", "---\ntype: person\n---\nPotter.\n")
    indexer.index(["people/Mira Holm.md"])
    assert targets(indexer, "b.md") == {"people/Mira Holm.md"}


def test_a_fault_of_ours_in_one_note_keeps_no_other_from_being_indexed(
    indexer: Indexer, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(path: str, data: bytes, *, max_bytes: int) -> ParsedNote:
        if b"odd" in data:
            raise KeyError("odd")
        return parse_note(path, data, max_bytes=max_bytes)

    for name in "abc":
        write(f"{name}.md", "odd\n" if name == "b" else "even\n")
    with monkeypatch.context() as faulty:
        faulty.setattr("indexer.note_reading.parse_note", parse)
        indexer.scan()
        assert sorted(indexer.catalogue.paths()) == ["a.md", "c.md"]
        assert "fault in memvault" in indexer.problems["b.md"]
    indexer.scan()
    assert sorted(indexer.catalogue.paths()) == ["a.md", "b.md", "c.md"]
    assert not indexer.problems


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_the_advice_on_a_file_that_is_not_read_fits_it(
    indexer: Indexer, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.md").write_text("Away.\n")
    (indexer.vault.root / "link.md").symlink_to(tmp_path / "elsewhere.md")
    write(".memvaultignore", "!\n")
    indexer.scan()
    advice = {problem.path: problem.advice for problem in examine(indexer)}
    assert advice == {
        "link.md": "move that into the vault, or list the link in .memvaultignore",
        ".": "it will be read when this is corrected",
    }


def test_an_id_is_the_same_in_any_spelling(indexer: Indexer, write: Write) -> None:
    written = "0192F0C11111722283334444555566AA"
    write("Card.md", f"---\nid: {written}\n---\nThe card is blue.\n")
    indexer.scan()
    note_id = str(UUID(written))
    assert [memory.id for memory in indexer.catalogue.all()] == [note_id]
    write("Copy.md", f"---\nid: {note_id}\n---\nThe copy is red.\n")
    indexer.scan()
    assert [memory.path for memory in indexer.catalogue.all() if memory.id == note_id] == [
        "Card.md"
    ]


def test_of_two_notes_with_one_id_the_first_path_keeps_it(indexer: Indexer, write: Write) -> None:
    text = "---\nid: 0b1f6a0e-8a55-4a0b-9f4e-0a8f1b1d2c3d\n---\nCopied.\n"
    write("b.md", text)
    indexer.scan()
    write("a.md", text)
    indexer.index(["a.md"])
    first, second = indexer.catalogue.by_path("a.md"), indexer.catalogue.by_path("b.md")
    assert first is not None and second is not None
    assert first.id == "0b1f6a0e-8a55-4a0b-9f4e-0a8f1b1d2c3d"
    assert second.id == id_of_path("b.md")
    assert "b.md: same id as a.md" in known_problems(indexer)
    (indexer.vault.root / "a.md").unlink()
    indexer.index(["a.md"])
    remaining = indexer.catalogue.by_path("b.md")
    assert remaining is not None and remaining.id == first.id


BOAT = "75ee390e-67e3-4d83-938f-2a91792b49ef"


@pytest.mark.parametrize("other", ["a.md", "z.md"])
@pytest.mark.parametrize("order", [("n.md", "other"), ("other", "n.md")])
@pytest.mark.parametrize("own_text", ["Mine.\n", "---\nid: {}\n---\nMine.\n"])
def test_the_id_that_is_derived_from_a_notes_path_is_nobody_elses(
    indexer: Indexer, write: Write, other: str, order: tuple[str, str], own_text: str
) -> None:
    """A faded note has it in its frontmatter; so has its copy, and whatever else names it."""
    own = id_of_path("n.md")
    texts = {"n.md": own_text.format(own), other: f"---\nid: {own}\n---\nA copy of [[n]].\n"}
    write("q.md", f"See [[n]] and [[{other}]].\n")
    indexer.scan()
    for path in (other if each == "other" else each for each in order):
        write(path, texts[path])
        indexer.index([path])
    notes = {memory.path: memory.id for memory in indexer.catalogue.all()}
    assert notes["n.md"] == own and notes[other] == id_of_path(other)
    assert f"{other}: same id as n.md" in known_problems(indexer)
    (indexer.vault.root / "n.md").unlink()
    indexer.index(["n.md"])
    copy = indexer.catalogue.by_path(other)
    assert copy is not None and copy.id == own, "as of a note that was renamed"


@pytest.mark.parametrize("first", ["Boat.md", "Boat (conflicted copy).md"])
def test_a_copy_leaves_the_id_to_the_note_whose_name_it_lengthens(
    indexer: Indexer, write: Write, first: str
) -> None:
    paths = ["Boat.md", "Boat (conflicted copy).md"]
    for path in (first, *(each for each in paths if each != first)):
        write(path, f"---\nid: {BOAT}\n---\nMoored at pier 7.\n")
        indexer.index([path])
    known = indexer.catalogue.by_id(BOAT)
    assert known is not None and known.path == "Boat.md"
    assert known_problems(indexer) == [
        "Boat (conflicted copy).md: a sync tool made this copy, as Boat.md changed on two devices"
    ]


@pytest.mark.parametrize(
    "copy",
    [
        "Boat (Ada's conflicted copy 2026-01-02).md",
        "Boat (SFConflict ada@example.org 2026-01-02-10-11-12).md",
        "Boat.sync-conflict-20260102-101112-ABCDEFG.md",
    ],
)
def test_a_copy_that_a_sync_tool_made_of_a_note_is_named(
    indexer: Indexer, write: Write, copy: str
) -> None:
    write("Boat.md", "Moored at pier 7.\n")
    write(copy, "Moored at pier 9.\n")
    write(copy.replace("Boat", "Lost"), "Moored at pier 11.\n")
    indexer.scan()
    assert known_problems(indexer) == [
        f"{copy}: a sync tool made this copy, as Boat.md changed on two devices"
    ]


def test_a_note_that_is_only_in_icloud_is_named_until_it_is_downloaded(
    indexer: Indexer, write: Write, vault_folder: Path
) -> None:
    write("boats/Heron.md", "The Heron leaks.\n")
    write("boats/.Photo.png.icloud", "bplist00")
    indexer.scan()
    assert known_problems(indexer) == []
    (vault_folder / "boats/Heron.md").rename(vault_folder / "boats/.Heron.md.icloud")
    indexer.scan()
    (problem,) = known_problems(indexer)
    assert problem.startswith("boats/Heron.md: it is only in iCloud, so it is not found")
    assert len(indexer.catalogue) == 0
    (vault_folder / "boats/.Heron.md.icloud").rename(vault_folder / "boats/Heron.md")
    indexer.scan()
    assert known_problems(indexer) == [] and len(indexer.catalogue) == 1


def test_edits_made_while_nobody_watched_are_found_by_the_next_scan(
    open_indexer: Callable[..., Indexer], write: Write, vault_folder: Path
) -> None:
    write("a.md", "Alpha note about tents.\n")
    write("b.md", "Beta note about stoves.\n")
    first = open_indexer()
    first.scan()
    first.stores.close()
    write("a.md", "Alpha note about canoes.\n")
    (vault_folder / "b.md").unlink()
    write("c.md", "Gamma note about lanterns.\n")
    second = open_indexer()
    report = second.scan()
    assert (report.indexed, report.removed) == (2, 1)
    assert found(second, "canoes") == ["a.md"]
    assert found(second, "stoves") == []


def test_an_index_that_came_back_empty_is_filled_again(
    open_indexer: Callable[..., Indexer], write: Write
) -> None:
    write("a.md", "Alpha note about tents.\n")
    first = open_indexer()
    first.scan()
    first.stores.vectors.remove(list(first.stores.vectors.note_ids()))
    assert first.scan().indexed == 1
    assert found(first, "tents") == ["a.md"]


@pytest.mark.parametrize("step", ["relink", "vectors", "graph", "commit"])
def test_a_change_cut_off_at_any_step_is_completed_by_the_next_scan(
    open_indexer: Callable[..., Indexer],
    write: Write,
    vault_folder: Path,
    step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Cut(Exception):
        pass

    def cut(*_: object) -> None:
        raise Cut

    write("a.md", "Alpha. See [[New]] and [[b]].\n")
    write("b.md", "Beta.\n")
    live = open_indexer()
    live.scan()
    write("New.md", "# New\n\nFresh words, see [[a]].\n")
    (vault_folder / "b.md").unlink()
    with monkeypatch.context() as patch:
        owner, name = {
            "relink": (live.stores.graph, "replace"),
            "vectors": (live.stores.vectors, "replace"),
            "graph": (live.stores.graph, "remove"),
            "commit": (live.catalogue, "commit"),
        }[step]
        patch.setattr(owner, name, cut)
        with pytest.raises(Cut):
            live.scan()
    live.stores.close()
    again = open_indexer()
    again.scan()
    assert_as_rebuilt(again, open_indexer)


@pytest.mark.parametrize("target", ["a/Elm.md", "z/Elm.md"])
def test_a_note_with_an_id_keeps_it_when_it_is_seen_to_come_before_it_is_seen_to_go(
    open_indexer: Callable[..., Indexer], write: Write, vault_folder: Path, target: str
) -> None:
    old = write("m/Elm.md", "---\nid: 0b1f6a0e-8a55-4a0b-9f4e-0a8f1b1d2c3d\n---\nA shady tree.\n")
    live = open_indexer()
    live.scan()
    write(target, "").unlink()
    old.replace(vault_folder / target)
    live.index([target])
    live.index(["m/Elm.md"])
    assert found(live, "shady") == [target]
    assert_as_rebuilt(live, open_indexer)


def test_a_heading_with_nothing_beneath_it_is_found_and_linked(
    indexer: Indexer, write: Write
) -> None:
    write("a.md", "# Plans\n\nSome words.\n\n## Kayak for Mira Holm\n\n## Sledge\n")
    indexer.scan()
    assert found(indexer, "kayak") == ["a.md"]
    write("people/Mira Holm.md", "---\ntype: person\n---\nPotter.\n")
    indexer.index(["people/Mira Holm.md"])
    assert "people/Mira Holm.md" in targets(indexer, "a.md")


def test_small_notes_are_searchable_before_a_large_one_is_indexed(
    indexer: Indexer, write: Write
) -> None:
    write("A large one.md", "Line upon line.\n" * 20_000)
    write("z.md", "Lemons keep well.\n")
    seen = []
    indexer.scan(lambda progress: seen.append((progress.stage, found(indexer, "lemons"))))
    indexing = [hits for stage, hits in seen if stage == "indexing"]
    assert indexing[0] == ["z.md"]
    assert len(indexer.catalogue) == 2
