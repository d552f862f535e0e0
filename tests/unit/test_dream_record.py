"""The record of dreams: the same from the same entries, in whatever order and how often they come."""

from __future__ import annotations

import random
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memvault.consolidation.dreams.record import (
    DREAMED,
    KEPT,
    Discovery,
    DiscoveryKind,
    DreamPhase,
    DreamRecord,
    PhaseReport,
    Strengthened,
)
from memvault.model.change import Actor
from memvault.vault.files import Vault
from memvault.vault.journal import Journal, JournalEntry

START = datetime(2026, 3, 1, tzinfo=UTC)
IDS = st.sampled_from("abcd")
PAIRS = st.tuples(IDS, IDS).filter(lambda pair: pair[0] != pair[1])
REPORTS = st.builds(
    lambda hours, phase, pairs, found: PhaseReport(
        phase=phase,
        at=START + timedelta(hours=hours),
        strengthened=tuple(
            Strengthened(first=one, second=other, added=added / 1000)
            for (one, other), added in pairs
        ),
        found=tuple(
            Discovery(kind=kind, notes=pair, paths=pair, title="What?", reason=f"found at {hours}")
            for pair, kind in found
        ),
    ),
    st.integers(0, 2_000),
    st.sampled_from(DreamPhase),
    st.lists(st.tuples(PAIRS, st.integers(1, 100)), max_size=3),
    st.lists(st.tuples(PAIRS, st.sampled_from(DiscoveryKind)), max_size=3),
)


def entry_of(report: PhaseReport) -> JournalEntry:
    data = {"report": report.model_dump(mode="json")}
    return JournalEntry(ts=report.at, kind=DREAMED, actor=Actor(kind="system"), data=data)


def state(record: DreamRecord) -> object:
    at = START + timedelta(days=100)
    strengths = {key: record.strengths(key, at) for key in "abcd"}
    return record.waiting(), list(record.reports()), record.kept(), strengths


@given(st.lists(REPORTS, max_size=6, unique_by=lambda each: (each.at, each.phase)), st.randoms())
def test_the_state_kept_is_the_state_that_is_read_again(
    reports: list[PhaseReport], dice: random.Random
) -> None:
    entries = [entry_of(report) for report in reports]
    keys = sorted({found.key for report in reports for found in report.found})
    entries += [
        JournalEntry(ts=START, kind=KEPT, actor=Actor(kind="person"), data={"key": key})
        for key in keys[:2]
    ]
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Vault(Path(folder)))
        kept = DreamRecord(journal)
        shuffled = [*entries, *dice.sample(entries, len(entries) // 2)]
        dice.shuffle(shuffled)
        for entry in shuffled:  # a sync tool brings them late, or twice
            journal.append(entry, flush=False)
            kept.waiting()
        assert state(kept) == state(DreamRecord(journal))
        assert len(kept.reports()) == len(reports)
        assert {found.key for found in kept.waiting()} == set(keys) - set(keys[:2])
        for strengths in (kept.strengths(key, START) for key in "abcd"):
            assert all(0.0 < value <= 1.0 for value in strengths.values())
