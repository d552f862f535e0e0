"""Questions and what answered them; and what stands for a memory that is used much."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from memvault.consolidation.cases import by_similarity, by_value, cases
from memvault.consolidation.distillation import (
    DistillationLog,
    distil,
    is_candidate,
)
from memvault.consolidation.rewards import LearnedState, Signal, SignalKind, Use
from memvault.model.memory import Memory
from memvault.vault.files import Vault
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.journal import Journal
from memvault.vault.parse import ParsedNote, parse_note

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TODAY = NOON.toordinal()


def signal(question: str, memory: str, thousandths: int = 500, days_ago: int = 0) -> Signal:
    return Signal(
        at=NOON - timedelta(days=days_ago), kind=SignalKind.OPENED, thousandths=thousandths,
        memory=memory, question=question,
    )  # fmt: skip


def learnt(*signals: Signal) -> LearnedState:
    state = LearnedState()
    for each in signals:
        state.add(each)
    return state


def test_a_case_is_worth_what_use_said_of_it_and_each_outcome_moves_that() -> None:
    state = learnt(signal("How deep?", "quay"), signal("How deep?", "ferry", -100))
    first, second = cases(state, TODAY)
    assert (first.memory, first.value, second.memory, second.value) == ("quay", 0.5, "ferry", -0.1)
    state.add(signal("How deep?", "ferry", 1_000))
    assert [each.memory for each in cases(state, TODAY)] == ["ferry", "quay"]
    assert by_value(cases(state, TODAY), 1)[0].value == 0.9


def test_cases_are_found_by_a_question_like_theirs() -> None:
    state = learnt(signal("How deep?", "quay"), signal("Who leads?", "crane"))
    vectors = {
        "How deep?": np.eye(3, dtype=np.float32)[0],
        "Who leads?": np.eye(3, dtype=np.float32)[1],
    }
    query_vector = np.array([0.8, 0.6, 0.0], np.float32)
    found = by_similarity(cases(state, TODAY), vectors, query_vector, 0.7, 5)
    assert [each.memory for each in found] == ["quay"]
    assert by_similarity(cases(state, TODAY), {}, query_vector, 0.7, 5) == []


def test_a_full_bank_leaves_out_the_oldest_cases_and_never_the_best() -> None:
    """EC-AUTO-14; what is left out stays in the sum of its memory."""
    state = learnt(
        signal("Best", "quay", 1_000), signal("Old", "quay", 400, days_ago=40),
        signal("New", "quay", 100), signal("Older", "quay", 800, days_ago=90),
    )  # fmt: skip
    assert [each.question for each in cases(state, TODAY, 2)] == ["Best", "New"]
    assert len(cases(state, TODAY)) == 4
    assert state.memories["quay"].utility(TODAY) > 1.0


def test_days_that_count_for_nothing_are_dropped_in_any_order() -> None:
    signals = [signal("", "quay", 900, days_ago=days) for days in (0, 10, 299, 300, 301, 700)]
    one, other = learnt(*signals), learnt(*reversed(signals))
    assert one == other
    assert sorted(TODAY - day for day in one.memories["quay"].days) == [0, 10, 299]
    assert one.memories["quay"].times == 6


DEEP = [f"The harbour is dredged to a depth of {n} metres for the ferry." for n in range(8)]


WIDE = 4096


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    found = np.zeros((len(texts), WIDE), np.float32)
    for row, text in zip(found, texts, strict=True):
        for word in text.split():
            row[crc32(word.encode()) % WIDE] += 1
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def read(text: str) -> tuple[Memory, ParsedNote]:
    note = parse_note("Harbour.md", text.encode())
    return memory_of(note, fallback_time=NOON), note


def test_a_memory_is_distilled_to_its_own_sentences_that_mean_the_same() -> None:
    memory, note = read("# Harbour\n\n" + " ".join(DEEP))
    found = distil(memory, note, embed)
    assert found is not None and found.fidelity >= 0.8 and found.ratio > 0.5
    sentences = [note.sentences[at].text for at in found.sentences]
    assert (
        sentences
        and set(sentences) <= set(DEEP)
        and sum(len(each.split()) for each in sentences) <= 40
    )


def test_what_no_few_sentences_stand_for_stays_as_it_is() -> None:
    """EC-AUTO-15."""
    unlike = [" ".join(f"{word}{word}" for _ in range(16)) + "." for word in map(str, range(190))]
    memory, note = read("# Words\n\n" + "\n\n".join(unlike))
    assert distil(memory, note, embed) is None
    memory, note = read("# Short\n\nThe harbour is deep.")
    assert distil(memory, note, embed) is None


def test_only_what_is_read_much_and_well_is_distilled() -> None:
    memory, _ = read("# Harbour\n\nDeep.")
    liked, disliked = Use({TODAY: 900, TODAY - 1: -100}), Use({TODAY: 500, TODAY - 1: -500})
    later = NOON + timedelta(days=8)
    assert is_candidate(memory, 11, liked, later)
    assert not is_candidate(memory, 10, liked, later)
    assert not is_candidate(memory, 11, disliked, later)
    assert not is_candidate(memory, 11, None, later)
    assert not is_candidate(memory, 11, liked, NOON + timedelta(days=6))


def test_the_journal_tells_what_was_distilled_until_the_note_changes(tmp_path: Path) -> None:
    log = DistillationLog(Journal(Vault(tmp_path)))
    memory, note = read("# Harbour\n\n" + " ".join(DEEP))
    found = distil(memory, note, embed)
    assert found is not None
    log.add([found], NOON)
    for each in (log, DistillationLog(Journal(Vault(tmp_path)))):
        assert each.of(memory) == found
        assert each.of(memory.model_copy(update={"content_hash": "0" * 32})) is None
    assert DEEP[0] not in "".join(f.read_text() for f in Journal(Vault(tmp_path)).files())
