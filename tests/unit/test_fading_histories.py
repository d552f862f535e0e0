"""Whatever happens to sessions that fade, no text is lost and the journal alone tells the same."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memvault.config.settings import FadingSettings
from memvault.consolidation.faded_text import (
    FadingStage,
    Original,
    Rarity,
    faded_body,
    is_worth_fading,
)
from memvault.consolidation.fading import NOTICE, Aging, Fading, FadingLog, may_fade, next_fading
from memvault.curation.changes.curator import Curator
from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.fade import (
    FadedText,
    body_is_unchanged,
    counted_from,
    fadings_by_note,
    last_fading,
    last_fading_in,
    stage_fading,
    stage_reconstruction,
)
from memvault.curation.operations.properties import stage_pin
from memvault.model.change import Change, ChangeKind, FileChange
from memvault.model.errors import InvalidParams, MalformedFrontmatter, NoteConflict
from memvault.model.memory import Memory
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.journal import Journal
from memvault.vault.parse import content_hash, parse_note
from memvault.vault.version_store import VersionStore
from tests.desk import MORNING, Desk
from tests.integration.killed_changes import stepping
from tests.property_examples import slow_property

SYSTEM = Attribution("memvault", "Old sessions fade", kind="system")
NAMES = [f"sessions/2026-03-01/{name}.md" for name in "AB"]
WORDS = [
    "boat",
    "mast",
    "anchor",
    "Ilse",
    "compass",
    "harbour",
    "chain",
    "storm",
    "Größe",
    "船",
    "sail",
    "#tag",
    "[[Plan]]",
    "**bold**",
]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=4, max_size=9).map(
    lambda words: " ".join(words) + "."
)
HEADS = st.sampled_from([
    "", "---\nlifecycle: ephemeral  # mine\ntags: [a]\n---\n", "---\r\ntype: session\r\n---\r\n\r\n",
    "---\nid: 6f1f7a52-3a04-4f0e-9d0c-5d2a1a7f7c11\nimportance: high\n---\n", "\ufeff# Title\n\n",
    "# Talk\n\n", "---\nlifecycle: ephemeral\n---\n# Talk\n\n", "---\ndate: 2026-02-01\n---\n",
    "---\nbroken: [\n---\n", "---\nno key here\n---\n",
])  # fmt: skip
KILLED = [None] * 12 + [*range(12)]  # before which step of a change, if any
ENDS = st.sampled_from(["\n", "\r\n", "\n- ", "\n\n"])


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """A session of some 250 words, in the forms that people's files have."""
    lines = draw(st.lists(SENTENCES, min_size=4, max_size=6, unique=True))
    many = [f"{number} {line}" for number in range(12) for line in lines]
    text = draw(HEADS) + draw(ENDS).join(many) + draw(st.sampled_from(["", "\n"]))
    return text.encode() + draw(st.sampled_from([b""] * 12 + [b"\xff"]))


def embed(given: Sequence[str]) -> npt.NDArray[np.float32]:
    """A vector of its words for each text."""
    found = np.zeros((len(given), 16), np.float32)
    for row, text in zip(found, given, strict=True):
        for word in text.split():
            row[crc32(word.encode()) % 16] += 1
    return found / np.maximum(1e-9, np.linalg.norm(found, axis=1, keepdims=True))


parsed = lru_cache(256)(parse_note)


@lru_cache(256)
def read_memory(path: str, data: bytes) -> Memory:
    return memory_of(parsed(path, data), fallback_time=MORNING)


class Killed(BaseException):
    """Ends a change as a kill of the process would."""


class Sessions(RuleBasedStateMachine):
    @initialize(both=st.tuples(texts(), texts()))
    def begin(self, both: tuple[bytes, bytes]) -> None:
        self.home = tempfile.TemporaryDirectory()
        self.desk = Desk(Path(self.home.name))
        self.log = FadingLog(self.desk.journal)
        self.archive = VersionStore(self.desk.vault)
        self.settings = FadingSettings()
        self.saved: dict[str, datetime] = {}
        self.read: dict[str, datetime] = {}
        self.replaced: set[str] = set()  # hashes of what memvault wrote over
        self.own: dict[str, bytes] = {}  # the last whole text of the person's, of a faded note
        for path, text in zip(NAMES, both, strict=True):
            self.save(path, text)
        self.wait(33, None)

    def teardown(self) -> None:
        self.home.cleanup()

    # -- what a person does -----------------------------------------------------------------------

    def save(self, path: str, text: bytes) -> None:
        self.desk.write(path, text)
        self.saved[path] = self.desk.now
        self.own.pop(path, None)

    @rule(path=st.sampled_from(NAMES), text=texts())
    def rewrite(self, path: str, text: bytes) -> None:
        self.save(path, text)

    @rule(path=st.sampled_from(NAMES), line=SENTENCES, at_end=st.booleans())
    def add(self, path: str, line: str, at_end: bool) -> None:
        data = (self.desk.root / path).read_bytes()
        own, faded = self.own.get(path), self.memory(path).faded
        self.save(path, data + f"\n{line}\n".encode() if at_end or not faded else data)
        if own is not None:
            self.own[path] = own

    @rule(path=st.just(NAMES[1]), pinned=st.booleans())
    def pin(self, path: str, pinned: bool) -> None:
        self.change(
            path,
            ChangeKind.PROPERTY_SET,
            lambda s: stage_pin(s, self.desk.target(path), pinned=pinned),
        )

    @rule(path=st.sampled_from(NAMES))
    def ask(self, path: str) -> None:
        self.read[path] = self.desk.now

    @rule(days=st.sampled_from([1, 8, 25, 33]), steps=st.sampled_from(KILLED))
    def wait(self, days: int, steps: int | None) -> None:
        self.desk.now += timedelta(days=days)
        self.log.announce(self.soon(), self.desk.now)
        self.fade(steps)

    @rule(number=st.integers(0, 5))
    def undo(self, number: int) -> None:
        changes = self.desk.curator.history.changes(limit=None)
        if number < len(changes):
            before = {path: (self.desk.root / path).read_bytes() for path in NAMES}
            try:
                done = self.desk.curator.undo([changes[number].reversal_hash], SYSTEM)
            except InvalidParams:
                return
            for path in done.change.paths if done.change else ():
                self.replaced.add(content_hash(before[path]))
                self.saved[path] = self.desk.now

    @rule(path=st.sampled_from(NAMES), steps=st.sampled_from(KILLED))
    def reconstruct(self, path: str, steps: int | None) -> None:
        before = (self.desk.root / path).read_bytes()
        last = self.last(path)
        content = self.desk.curator.history.content
        done = self.change(
            path, ChangeKind.RECONSTRUCTED,
            lambda s: stage_reconstruction(s, self.desk.target(path), last, content), steps,
        )  # fmt: skip
        if not done or last is None:
            return
        after = (self.desk.root / path).read_bytes()
        original = content(last.memo["original"])
        assert original is not None
        if content_hash(before) == last.files[0].after:
            assert after == original
        for line in before.split(b"\n"):
            if line.strip() and content_hash(before) != last.files[0].after:
                is_ours = line in (content(last.files[0].after or "") or b"").split(b"\n")
                assert is_ours or line.strip() in after

    # -- what memvault does -----------------------------------------------------------------------

    def fade(self, steps: int | None) -> None:
        for each in self.soon():
            at = self.log.fades_at(each)
            if at is None or at > self.desk.now:
                continue
            assert not each.memory.pinned and self.desk.now - each.since >= timedelta(days=30)
            path = each.memory.path
            before, last = (self.desk.root / path).read_bytes(), self.last(path)
            last = last if each.memory.faded else None
            content = self.desk.curator.history.content
            source = content(last.memo["original"]) if last else before
            assert source is not None
            original = Original(parsed(path, source), each.memory)
            body = faded_body(original, each.stage, embed, Rarity([]))
            faded = FadedText(each.memory, each.stage, body, content_hash(before), each.since)
            if self.change(
                path, ChangeKind.FADED, lambda s, f=faded, p=last: stage_fading(s, f, p), steps
            ):
                assert self.memory(path).faded == each.stage
                assert self.memory(path).id == each.memory.id

    @rule(steps=st.sampled_from(KILLED))
    def compress(self, steps: int | None) -> None:
        count = iter(range(steps if steps is not None else 10_000))

        def step() -> None:
            if next(count, None) is None:
                raise Killed

        try:
            with stepping(step):
                list(self.desk.journal.compress(self.desk.now))
        except Killed:
            self.desk.open()

    @rule()
    def start_again(self) -> None:
        self.desk.open()
        self.log = FadingLog(Journal(self.desk.vault))

    # -- what must hold ---------------------------------------------------------------------------

    @invariant()
    def nothing_is_lost(self) -> None:
        if not hasattr(self, "desk"):
            return
        there = {content_hash(data) for data in self.desk.tree().values()}
        for version in self.replaced - there:
            found = self.desk.curator.history.content(version)
            assert found is not None and content_hash(found) == version
        for path in NAMES:
            last = self.last(path)
            assert last is None or self.archive.archived(last.memo["original"]) is not None

    @invariant()
    def the_journal_alone_tells_the_same(self) -> None:
        if not hasattr(self, "desk"):
            return
        journal = Journal(self.desk.vault)
        anew, log = Curator(self.desk.vault, journal).history, FadingLog(journal)
        kept = self.desk.curator.history
        assert anew.changes(limit=None) == kept.changes(limit=None)
        for path in NAMES:
            memory = self.memory(path)
            assert last_fading(anew, memory) == last_fading(kept, memory)
        soon = self.soon()
        assert [log.fades_at(each) for each in soon] == [self.log.fades_at(each) for each in soon]

    # -- how --------------------------------------------------------------------------------------

    def memory(self, path: str) -> Memory:
        return read_memory(path, (self.desk.root / path).read_bytes())

    def last(self, path: str) -> Change | None:
        return last_fading(self.desk.curator.history, self.memory(path))

    def soon(self) -> list[Fading]:
        found = []
        for path in NAMES:
            memory, last = self.memory(path), self.last(path)
            data = (self.desk.root / path).read_bytes()
            note = parsed(path, data)
            if not may_fade(memory) or note.frontmatter_problem or note.warnings:
                continue
            if last is None if memory.faded else not is_worth_fading(note):
                continue
            if memory.faded and last is not None and not body_is_unchanged(data, last):
                continue
            saved = self.saved[path]
            counted = counted_from(last if memory.faded else None, memory, saved)
            fading = next_fading(
                Aging(memory, saved, self.read.get(path), 0, counted), self.settings
            )
            if fading is not None and fading.due <= self.desk.now + NOTICE:
                found.append(fading)
        return found

    def change(self, path, kind, stage, steps: int | None = None) -> bool:
        """Make a change, perhaps killed before its step of a number; whether it was made."""
        before = (self.desk.root / path).read_bytes()
        count = iter(range(steps if steps is not None else 10_000))

        def step() -> None:
            if next(count, None) is None:
                raise Killed

        target = self.desk.target(path)
        try:
            with stepping(step):
                self.desk.curator.perform(stage, kind, (target.name,), target.node_ids, SYSTEM)
        except Killed:
            self.desk.open()
        except (InvalidParams, NoteConflict, MalformedFrontmatter):
            assert (self.desk.root / path).read_bytes() == before
            return False
        if (self.desk.root / path).read_bytes() == before:
            return False
        self.replaced.add(content_hash(before))
        self.saved[path] = self.desk.now
        return True


Sessions.TestCase.settings = examples(slow_property(15), stateful_step_count=14)
test_sessions = Sessions.TestCase


@pytest.mark.parametrize("stage", list(FadingStage))
def test_every_sentence_of_a_faded_text_is_in_the_original_note(stage: FadingStage) -> None:
    data = b"# Talk\n\n" + b"\n".join(b"- Ilse sold %d masts to Tomas." % n for n in range(80))
    note = parsed(NAMES[0], data)
    body = faded_body(Original(note, read_memory(NAMES[0], data)), stage, embed, Rarity([]))
    own = [line[2:].partition(" (line ")[0] for line in body.splitlines() if " (line " in line]
    assert bool(own) == (stage is FadingStage.SUMMARY)
    assert all(sentence.encode() in data for sentence in own)


def test_a_summary_of_a_conversation_says_who_said_what() -> None:
    turns = [
        f"- **{'Ilse' if n % 2 else 'Tomas'}:** So it is. I lost the {thing} in the harbour.\n\n"
        for n, thing in enumerate(["mast", "chain", "compass", "anchor", "rudder", "sail"])
    ]
    data = f"# Talk\n\n{''.join(turns)}And the keel was lost, too.\n\n## Later\n\nThe reader notes this.\n"
    note = parsed(NAMES[0], data.encode())
    body = faded_body(
        Original(note, read_memory(NAMES[0], data.encode())), FadingStage.SUMMARY, embed, Rarity([])
    )
    assert "- I lost the mast in the harbour. (Tomas, line 3)" in body
    assert "- I lost the chain in the harbour. (Ilse, line 5)" in body
    assert "- And the keel was lost, too. (Ilse, line 15)" in body
    assert "- The reader notes this. (line 19)" in body


def test_lines_that_look_like_an_order_only_together_are_not_left_together() -> None:
    def is_order(text: str) -> bool:
        return "masts" in text and "chains" in text

    kinds = ["masts" if n % 2 else "chains" for n in range(80)]
    data = "# Talk\n\n" + "\n".join(
        f"- Ilse sold {n} {each} to Tomas." for n, each in enumerate(kinds)
    )
    original = Original(parsed(NAMES[0], data.encode()), read_memory(NAMES[0], data.encode()))
    assert is_order(faded_body(original, FadingStage.SUMMARY, embed, Rarity([])))
    body = faded_body(original, FadingStage.SUMMARY, embed, Rarity([]), is_order=is_order)
    assert "Ilse sold" in body and not is_order(body)


def test_the_last_fading_of_each_of_many_notes_is_found_without_comparing_all_with_all() -> None:
    compared = 0

    class Ids(tuple[str, ...]):
        def __contains__(self, key: object) -> bool:
            nonlocal compared
            compared += 1
            return super().__contains__(key)

    text = b"---\nfaded: gist\n---\nThe boat leaks.\n"
    memories = [
        memory_of(parse_note(f"sessions/2026-03-01/{number}.md", text), fallback_time=MORNING)
        for number in range(100)
    ]
    changes = [
        Change.model_construct(
            reversal_hash=memory.id,
            kind=ChangeKind.FADED,
            at=MORNING,
            node_ids=Ids((memory.id,)),
            files=(FileChange(path=memory.path, before="", after=f"hash of {memory.path}"),),
        )
        for memory in memories
    ]
    by_note = fadings_by_note(SimpleNamespace(changes=lambda **_: changes))  # type: ignore[arg-type]
    for memory, change in zip(memories, changes, strict=True):
        assert last_fading_in(by_note, memory) is change
    assert compared <= len(memories)
