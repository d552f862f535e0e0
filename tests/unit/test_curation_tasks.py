"""What is a duplicate and what is stale, and what only looks so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memvault.cognition.vector_rows import Rows
from memvault.curation.tasks import near_duplicates
from memvault.curation.tasks.near_duplicates import BLOCK, MAX_NEAR, MIN_COSINE, Duplicates
from memvault.curation.tasks.note_tasks import (
    STALE_AFTER,
    IndexedNote,
    ages_from,
    finished_projects,
    outdated,
    unreadable_parts,
)
from memvault.curation.tasks.note_wording import (
    Similarity,
    Title,
    comparable_title,
    note_wording,
    similarity_of,
)
from memvault.model.change import CurationTask
from memvault.model.memory import Lifecycle, Memory, id_of_path
from memvault.model.provenance import Provenance
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.note_folders import NoteFolders
from memvault.vault.parse import parse_note
from tests.indexed_note import indexed_note

NOW = datetime(2026, 6, 1, tzinfo=UTC)
LONG = (
    "The harbour crane is checked every spring by two people from the yard, who grease the "
    "bearings, tighten the cables and write what they found into the red book by the door.\n"
)


def stale(note: IndexedNote) -> CurationTask | None:
    confirmed = ages_from(note)
    return None if confirmed is None else outdated(note.memory, confirmed, NOW)


def memory(path: str, text: str = "") -> Memory:
    return memory_of(parse_note(path, text.encode()), fallback_time=NOW)


def alike(one: tuple[str, str], other: tuple[str, str]) -> Similarity:
    first, second = (
        note_wording(comparable_title(memory(path, text)), text.encode())
        for path, text in (one, other)
    )
    assert similarity_of(first, second) is similarity_of(second, first)
    return similarity_of(first, second)


@pytest.mark.parametrize(
    ("changed", "how"),
    [
        (LONG, "copied"),
        (LONG + "\nOne more thing was said about it later that week.\n", "a sentence added"),
        (LONG.replace("tighten", "test"), "one word replaced"),
        ("---\ntags: [yard]\n---\n# Crane\n\n" + LONG, "a heading and frontmatter added"),
        (LONG.replace("crane", "[[Crane|crane]]"), "a link made"),
    ],
)
def test_a_copy_that_was_changed_a_little_is_a_duplicate(changed: str, how: str):
    assert alike(("Crane.md", LONG), ("yard/The crane.md", changed)) is Similarity.DUPLICATE, how


def test_what_means_the_same_in_other_words_is_not_taken_for_a_copy():
    other = "Each year before summer a pair of workers greases, tightens and logs the dock's hoist."
    assert alike(("Crane.md", LONG), ("Hoist.md", other)) is Similarity.NONE


TEMPLATE = "# {}\n\n## Done\n\n- went for a run before work and wrote some letters\n\n## Plans\n\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("daily/2026-05-01.md", "daily/2026-05-02.md"),
        ("journals/2026_05_01.md", "journals/2026_05_02.md"),
        ("2026-05-01 Standup.md", "2026-05-08 Standup.md"),
        ("Week 12.md", "Week 13.md"),
    ],
)
def test_two_days_or_weeks_from_one_template_are_not_duplicates(one: str, other: str):
    texts = TEMPLATE.format(one), TEMPLATE.format(other)
    assert alike((one, texts[0]), (other, texts[1])) is Similarity.NONE


def test_a_note_and_its_numbered_copy_are_duplicates():
    assert alike(("Crane.md", LONG), ("Crane 2.md", LONG)) is Similarity.DUPLICATE


def test_two_people_described_in_the_same_words_are_two_people():
    card = "---\ntype: person\n---\n" + LONG
    assert alike(("Ada Berg.md", card), ("Emil Roth.md", card)) is Similarity.NONE
    assert alike(("Ada Berg.md", card), ("Ada.md", card)) is Similarity.DUPLICATE


def test_cards_of_one_form_that_name_others_are_not_duplicates():
    form = "We talked with {} and {} about the plan for the new harbour. Nothing was settled yet."
    one, other = form.format("Ada", "Emil"), form.format("Mira", "Tomas")
    assert alike(("Talk one.md", one), ("Talk two.md", other)) is Similarity.NONE


def test_the_same_words_with_other_numbers_contradict_each_other():
    text = "The crane of the harbour may lift {} tonnes when the wind is below {} knots."
    one, other = text.format(12, 20), text.format(15, 20)
    assert alike(("Crane.md", one), ("Crane limits.md", other)) is Similarity.OTHER_NUMBERS


def test_too_little_text_is_only_a_copy_under_the_same_title():
    assert alike(("a/Tea.md", "Green, please."), ("b/Tea.md", "Green, please.")) is (
        Similarity.DUPLICATE
    )
    assert alike(("Tea.md", "Green, please."), ("Paint.md", "Green, please.")) is Similarity.NONE
    assert alike(("Tea.md", ""), ("Tea 2.md", "")) is Similarity.NONE


@examples(max_examples=30, deadline=None)
@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_can_be_compared_and_are_like_themselves(one: bytes, other: bytes):
    first, second = (note_wording(Title("t"), data) for data in (one, other))
    assert similarity_of(first, second) is similarity_of(second, first)
    assert not first.words or similarity_of(first, first) is Similarity.DUPLICATE


def near_pairs(vectors: Mapping[str, np.ndarray]) -> set[tuple[str, str]]:
    keys = sorted(vectors)
    return {
        (one, other)
        for place, one in enumerate(keys)
        for other in keys[place + 1 :]
        if float(vectors[one] @ vectors[other]) >= MIN_COSINE
    }


def rows_of(vectors: dict[str, np.ndarray]) -> Rows:
    ids = sorted(vectors)
    return Rows(ids, np.stack([vectors[key] for key in ids]))


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each note is compared with the others in several blocks."""
    monkeypatch.setattr(near_duplicates, "OTHERS", 32)


def test_pairs_kept_as_notes_change_are_those_found_from_scratch(few_at_once: None):
    """More notes than one block holds, in pairs that lie close to each other."""
    dice = np.random.default_rng(3)
    count = BLOCK + 40
    texts = {f"n/{number}.md": LONG for number in range(count)}
    memories = {each.id: each for each in (memory(path, text) for path, text in texts.items())}
    memories = {key: each.model_copy(update={"title": "Crane"}) for key, each in memories.items()}

    def drawn() -> np.ndarray:
        vector = dice.normal(size=24).astype(np.float32)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    vectors = {key: drawn() for key in memories}
    keys = list(memories)
    for one, other in zip(keys[:60:2], keys[-60::2], strict=True):
        vectors[other] = vectors[one]
    kept = Duplicates(lambda path: LONG.encode())
    changes = [set(keys), {keys[-2]}, {keys[5], keys[70]}]
    for number, changed in enumerate(changes):
        if number:
            for key in changed:
                vectors[key] = vectors[keys[100 + number]].copy()
        tasks = kept.tasks(memories, changed, rows_of(vectors))
        found = {tuple(sorted(task.target_nodes)) for task in tasks}
        assert found == near_pairs(vectors) and found
    gone = keys[0]
    left = {key: each for key, each in memories.items() if key != gone}
    assert all(gone not in task.target_nodes for task in kept.tasks(left, {gone}, rows_of(vectors)))


def test_two_notes_of_one_title_that_differ_in_a_line_are_near_duplicates():
    texts = {
        "Unlock.md": b"1. Open the console\n2. passphrase: red safe, item lock\n3. start all of it",
        "Unlock (copy).md": b"1. Open the console\n2. passphrase: blue box, note lock\n"
        b"3. start all of it",
    }
    first, second = (memory(path, "# Unlock after reboot") for path in texts)
    vectors = {
        first.id: np.array([1.0, 0.0], np.float32),
        second.id: np.array([0.86, 0.51], np.float32),
    }
    found = Duplicates(texts.__getitem__).tasks(
        {each.id: each for each in (first, second)}, set(vectors), rows_of(vectors)
    )
    assert [set(task.target_nodes) for task in found] == [set(vectors)]


def test_a_note_with_many_near_ones_is_compared_with_the_nearest_only(few_at_once: None):
    same = np.ones(4, np.float32) / 2
    memories = {each.id: each for each in (memory(f"{n}/Crane.md") for n in range(40))}
    read: list[str] = []

    def text(path: str) -> bytes:
        read.append(path)
        return LONG.encode()

    kept = Duplicates(text)
    rows = rows_of(dict.fromkeys(memories, same))
    assert len(kept.tasks(memories, set(memories), rows)) <= 40 * MAX_NEAR
    assert len(read) == 40  # each once


DAYS_AGO = {days: (NOW - timedelta(days=days)).date().isoformat() for days in (10, 181, 400)}


@pytest.mark.parametrize(
    ("frontmatter", "is_stale"),
    [
        (f"type: fact\ncreated: {DAYS_AGO[181]}", True),
        (f"type: decision\ndate: {DAYS_AGO[400]}", True),
        (f"type: fact\ncreated: {DAYS_AGO[10]}", False),
        (f"type: fact\ncreated: {DAYS_AGO[400]}\nverified_on: {DAYS_AGO[10]}", False),
        (f"type: fact\ncreated: {DAYS_AGO[400]}\nverified: true", True),
        (f"type: fact\ncreated: {DAYS_AGO[400]}\npinned: true", False),
        (f"type: fact\ncreated: {DAYS_AGO[400]}\nlifecycle: ephemeral", False),
        (f"type: note\ncreated: {DAYS_AGO[400]}", False),
        (f"type: person\ncreated: {DAYS_AGO[400]}", False),
        ("type: fact", False),
    ],
)
def test_facts_and_decisions_go_stale_after_half_a_year(frontmatter: str, is_stale: bool):
    found = memory("Fact.md", f"---\n{frontmatter}\n---\nThe yard opens at seven.\n")
    task = stale(indexed_note(found, NOW))
    assert (task is not None) == is_stale
    calls = [call.tool for call in task.settled_by] if task else []
    assert calls == (["verify_memory"] if is_stale else [])


def test_a_fact_that_names_no_day_ages_from_when_it_was_saved():
    saved = NOW - STALE_AFTER - timedelta(days=1)
    found = memory_of(parse_note("Fact.md", b"---\ntype: fact\n---\nSeven."), fallback_time=saved)
    assert stale(indexed_note(found, saved)) is not None


@pytest.mark.parametrize("around", ["", "AI/"])
def test_a_fact_in_the_archive_does_not_go_stale_in_a_chosen_folder_either(around: str):
    path = f"{around}archive/projects/oven/Fact.md"
    found = memory_of(parse_note(path, b"---\ntype: fact\n---\nSeven."), fallback_time=NOW)
    assert ages_from(indexed_note(found, NOW), NoteFolders("AI")) is None


def test_a_finished_project_says_where_its_notes_go_in_a_chosen_folder():
    long_ago = NOW - timedelta(days=400)
    paths = ("AI/projects/oven/Bread.md", "projects/oven/Clay.md")
    notes = [memory_of(parse_note(path, b"Of clay."), fallback_time=NOW) for path in paths]
    facts = [indexed_note(note, long_ago) for note in notes]
    (task,) = finished_projects(facts, NOW, NoteFolders("AI"))
    assert task.detail.endswith(
        "; move its 2 notes to archive/projects/oven/ and AI/archive/projects/oven/"
    )


def test_an_old_note_without_a_date_is_not_outdated_because_a_client_edited_it():
    note, old = parse_note("Boat.md", b"---\nstatus: ready\n---\nThe boat."), NOW - 2 * STALE_AFTER
    edited = Provenance(mtime_ns=int(old.timestamp() * 1e9))
    for provenance in (Provenance(), edited):
        found = memory_of(note, fallback_time=old).model_copy(update={"provenance": provenance})
        saved = NOW if provenance is edited else old
        assert ages_from(indexed_note(found, saved), states_value=True) is None


def test_an_important_stale_fact_comes_before_others():
    text = f"---\ntype: fact\ncreated: {DAYS_AGO[400]}\nimportance: high\n---\nSeven.\n"
    task = stale(indexed_note(memory("Fact.md", text), NOW))
    assert task is not None and task.priority == "medium"


def test_an_unreadable_note_is_a_task_that_names_the_repair():
    own = Memory(
        id=id_of_path("a.md"),
        path="a.md",
        title="a",
        lifecycle=Lifecycle.PERMANENT,
        created_at=NOW,
    )
    tasks = unreadable_parts(
        indexed_note(own, NOW, "line 2: a bracket is open", ("3 bytes are not UTF-8",))
    )
    assert [(task.task_type, task.priority) for task in tasks] == [
        ("malformed_frontmatter", "high"),
        ("malformed_text", "medium"),
    ]
    assert "line 2" in tasks[0].detail and "correct the YAML in your editor" in tasks[0].detail
