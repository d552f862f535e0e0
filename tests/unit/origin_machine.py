"""A vault that the person and clients change in turn, and who wrote each sentence of it."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from indexer.note_reading import read_note
from memvault.curation.changes.forgetting import stage_forgetting
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging
from memvault.curation.changes.undo import undoable
from memvault.curation.operations.annotate import stage_annotation
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.edit import EditOperation, NoteEdit, stage_edit
from memvault.curation.operations.fade import (
    FadedText,
    last_fading,
    stage_fading,
    stage_reconstruction,
)
from memvault.curation.operations.importing import import_conversations
from memvault.curation.operations.merge import stage_merge
from memvault.curation.operations.move import stage_move
from memvault.curation.operations.properties import stage_verification
from memvault.curation.operations.remember import remember
from memvault.curation.origins.sentence_digests import units
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import MemvaultError
from memvault.model.note import LineRange
from memvault.vault.parse import content_hash
from tests.desk import MORNING
from tests.unit.origin_vault import (
    EVE,
    FOLDERS,
    NOUNS,
    PERSON,
    UPKEEP,
    WORD,
    EditedByPerson,
    attributions,
    forms,
    numbers,
    paths,
    words,
)


class OriginMachine(EditedByPerson):
    # -- changes through memvault ---------------------------------------------------------------

    def change(self, make: Callable[[], Change | None]) -> Change | None:
        before = self.all_files()
        try:
            change = make()
        except MemvaultError:
            change = None
        if change is None:
            assert self.all_files() == before
        return change

    def all_files(self) -> dict[str, bytes]:
        root = Path(self._home.name)
        found = (each for each in root.rglob("*") if each.is_file())
        tree = {each.relative_to(root).as_posix(): each.read_bytes() for each in found}
        return {path: data for path, data in tree.items() if not path.startswith("vault/.memvault")}

    def do(
        self, kind: ChangeKind, path: str, stage: Callable[[Staging], object], why: Attribution
    ) -> Change | None:
        def make() -> Change | None:
            target = self.desk.target(path)
            return self.desk.curator.perform(
                stage, kind, (target.name,), target.node_ids, why
            ).change

        return self.change(make)

    def by(self, why: Attribution) -> str:
        return "own" if why is PERSON else "eve"

    @rule(form=forms, folder=st.sampled_from(["", "kelp"]))
    def stores(self, form: str, folder: str) -> None:
        draft = Draft.checked(
            content=self.text("eve", form), title=f"Note {self.count}", rationale="The person asked me to.",
            client="eve", project=folder or None, lifecycle="temporary" if folder else "permanent",
        )  # fmt: skip
        self.change(lambda: remember(self.desk.curator, draft).change)

    @precondition(lambda self: self.notes())
    @rule(number=numbers, form=forms, at=numbers, why=attributions,
          operation=st.sampled_from(["append", "prepend", "section", "text", "property", "delete",
                                     "insert"]))  # fmt: skip
    def edits(self, number: int, form: str, at: int, why: Attribution, operation: str) -> None:
        path = self.note(number)
        before = self.desk.read(path)
        lines = [line for line in before.split("\n") if words(line)]
        line = lines[at % len(lines)] if lines else "?"
        sections = [each.lstrip("# ") for each in lines if each.startswith("## ")]
        text = self.text(self.by(why), form if operation != "prepend" else "{}\n")
        wanted = {
            "append": NoteEdit(EditOperation.APPEND, text),
            "prepend": NoteEdit(EditOperation.PREPEND, text),
            "section": NoteEdit(
                EditOperation.REPLACE_SECTION, text,
                section=sections[at % len(sections)] if sections else "?",
            ),
            "text": NoteEdit(EditOperation.REPLACE_TEXT, text.strip("\n#> -"), find=line.strip("#> -")),
            "insert": NoteEdit(EditOperation.APPEND, text, section=sections[-1] if sections else None),
            "property": NoteEdit(EditOperation.SET_PROPERTY, text.strip(), property="about"),
            "delete": NoteEdit(EditOperation.REPLACE_TEXT, "", find=line),
        }[operation]  # fmt: skip
        change = self.do(
            ChangeKind.EDITED, path,
            lambda staging: stage_edit(staging, self.desk.target(path), wanted), why,
        )  # fmt: skip
        if operation == "property" and why is PERSON:
            self.shared |= words(text)  # a merge says it in a sentence
        if change and why is EVE and operation not in ("append", "property"):
            self.doubtful[change.reversal_hash] = words(before)

    @precondition(lambda self: self.notes())
    @rule(number=numbers, why=attributions)
    def annotates(self, number: int, why: Attribution) -> None:
        path, text = self.note(number), self.sentence(self.by(why))
        self.do(
            ChangeKind.ANNOTATED, path,
            lambda s: stage_annotation(s, self.desk.target(path), text, MORNING.date()), why,
        )  # fmt: skip

    @precondition(lambda self: len(self.notes()) > 1)
    @rule(number=numbers, other=numbers, why=attributions)
    def merges(self, number: int, other: int, why: Attribution) -> None:
        path, into = self.note(number), self.note(other)

        def stage(staging: Staging) -> object:
            desk = self.desk
            return stage_merge(staging, desk.known(), [desk.target(path)], desk.target(into))

        self.do(ChangeKind.MERGED, into, stage, why)

    @precondition(lambda self: self.notes())
    @rule(number=numbers, to=st.sampled_from(FOLDERS) | paths, why=attributions)
    def moves(self, number: int, to: str, why: Attribution) -> None:
        path, desk = self.note(number), self.desk
        self.do(
            ChangeKind.MOVED, path,
            lambda s: stage_move(s, desk.known(), desk.target(path), to), why,
        )  # fmt: skip

    @precondition(lambda self: self.notes())
    @rule(number=numbers, why=attributions)
    def forgets(self, number: int, why: Attribution) -> None:
        path = self.note(number)
        self.do(
            ChangeKind.FORGOTTEN, path,
            lambda s: stage_forgetting(s, self.desk.target(path)), why,
        )  # fmt: skip

    @precondition(lambda self: self.desk.kept())
    @rule(number=numbers)
    def restores(self, number: int) -> None:
        kept = self.desk.kept()

        def make() -> Change | None:
            self.desk.restore(kept[number % len(kept)].reversal_hash)
            return self.desk.curator.history.changes(limit=1)[0]

        self.change(make)

    @precondition(lambda self: self.notes())
    @rule(number=numbers)
    def verifies(self, number: int) -> None:
        path = self.note(number)
        change = self.do(
            ChangeKind.VERIFIED, path,
            lambda s: stage_verification(
                s, self.desk.target(path), verified=True, by="Ada", on=MORNING.date()
            ), PERSON,
        )  # fmt: skip
        if change:
            self.doubtful[change.reversal_hash] = words(self.desk.read(path))

    @precondition(lambda self: self.notes())
    @rule(number=numbers, part=st.integers(1, 3))
    def fades(self, number: int, part: int) -> None:
        path, desk = self.note(number), self.desk
        memory, last = desk.memory(path), None
        if memory.faded:
            last = last_fading(desk.curator.history, memory)
        body = re.sub(r"(?s)\A---\n.*?\n---\n", "", desk.read(path))
        lines = [line for line in body.split("\n") if words(line)][::part]
        text = "\n\n".join(lines) + "\n"
        faded = FadedText(memory, "keys" if memory.faded else "summary", text,
                          content_hash(desk.vault.read(path)), MORNING)  # fmt: skip
        self.do(ChangeKind.FADED, path, lambda s: stage_fading(s, faded, last), UPKEEP)

    @precondition(lambda self: self.notes())
    @rule(number=numbers, why=attributions)
    def brings_back(self, number: int, why: Attribution) -> None:
        path, desk = self.note(number), self.desk
        last = last_fading(desk.curator.history, desk.memory(path))
        self.do(
            ChangeKind.RECONSTRUCTED, path,
            lambda s: stage_reconstruction(
                s, desk.target(path), last, desk.curator.history.content
            ), why,
        )  # fmt: skip

    @rule(number=st.integers(1, 2), longer=st.booleans())
    def imports(self, number: int, longer: bool) -> None:
        turns = [("human", "said"), ("assistant", "bot"), *([("human", "said")] if longer else [])]
        talk = {
            "uuid": f"u-{number}", "name": f"Talk {number}", "created_at": "2026-03-01T10:00:00Z",
            "chat_messages": [
                {"sender": sender, "text": f"The {NOUNS[number]} {by}{9000 + number * 10 + k} is here."}
                for k, (sender, by) in enumerate(turns)
            ],
        }  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            export = Path(folder) / "conversations.json"
            export.write_text(json.dumps([talk]), encoding="utf-8")
            import_conversations(self.desk.curator, export, "claude")

    @rule(number=st.integers(0, 12), why=attributions)
    def undoes(self, number: int, why: Attribution) -> None:
        changes = [
            each for each in self.desk.curator.history.changes(limit=None)
            if not each.undone_by and each.undoable
        ]  # fmt: skip
        if not changes:
            return
        wanted = changes[number % len(changes)]
        undone = self.change(lambda: self.desk.curator.undo([wanted.reversal_hash], why).change)
        if undone and why is EVE and wanted.kind is ChangeKind.UNDONE:
            # What a client redoes after the person undid it is the client's.
            tree = self.desk.tree()
            self.doubtful[undone.reversal_hash] = {
                word for file in undone.files for word in words(tree.get(file.place, b""))
            }

    # -- what must hold -------------------------------------------------------------------------

    def allowed(self) -> set[str]:
        """The words whose writer may be either."""
        changes = {
            each.reversal_hash: each for each in self.desk.curator.history.changes(limit=None)
        }
        active = (some for key, some in self.doubtful.items() if not changes[key].undone_by)
        return self.shared.union(*active)

    @invariant()
    def each_sentence_is_its_writers(self) -> None:
        allowed = self.allowed()
        for path in self.notes():
            found = read_note(self.live, path, 100_000)
            assert found is not None
            is_verified = found.memory("1").verified
            counts = Counter(WORD.findall(found.data.decode()))
            repeated = {word for word in counts if counts[word] > 2 and word.startswith("own")}
            for unit in units(found.data):
                said = words(unit.text) - allowed - repeated
                if not unit.is_body or not said:
                    continue
                origin = found.provenance.of_sentence(unit.text, LineRange(unit.line, unit.line))
                theirs = any(not word.startswith("own") for word in said)
                assert origin.is_person is not theirs, (path, unit.text, origin)
                is_unread = not said <= self.vouched
                assert not (theirs and is_verified and is_unread), (path, unit.text, "verified")
        self.remember_versions()

    def finish(self) -> None:
        """The next start sees the same, and undoing everything gives the first bytes."""
        fresh = self._guarded()
        for path in self.notes():
            live, again = (each.examined(path).provenance for each in (self.live, fresh))
            assert live == again, path
        history = self.desk.curator.history
        while not self.edited and (wanted := undoable(history.changes(limit=None))):
            undone = self.desk.curator.undo(wanted, PERSON)
            assert undone.change is not None, undone.conflicts
        assert self.edited or self.desk.tree() == self.first
        assert (Path(self._home.name) / "outside.md").read_text() == "Not in the vault.\n"
