"""A vault that the person and clients change in turn, and who wrote each sentence of it.

Each sentence has a word of its own that says who wrote it, such as ``own12`` or ``eve7``.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from indexer.change_set import read_note
from memvault.curation.changes.forgetting import stage_forgetting
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging
from memvault.curation.changes.undo import undoable
from memvault.curation.guarded_vault import GuardedVault
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
from memvault.curation.provenance import Provenances
from memvault.curation.quarantine import Quarantine
from memvault.curation.sentence_digests import units
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import MemvaultError
from memvault.model.note import LineRange
from memvault.vault.journal import Journal
from memvault.vault.parse import content_hash
from memvault.verification.immunity import Immunity
from tests.desk import MORNING, Desk

EVE = Attribution("eve", "They asked me to.")
PERSON = Attribution("page", "The person did it.", kind="person")
UPKEEP = Attribution("memvault", "Upkeep.", kind="system")
PATHS = ("Boat.md", "Hut.md", "ideas/Kite.md", "ideas/Hut.md")
FOLDERS = ("ideas", "permanent", "projects/kelp", "")
NOUNS = ("kite", "harbour", "lantern", "cellar", "orchard", "bicycle", "letter", "garden")
WORD = re.compile(r"\b(?:own|eve|said|bot)\d+\b")

_path = st.sampled_from(PATHS)
_number = st.integers(0, 30)
_why = st.sampled_from([EVE, EVE, PERSON])
_form = st.sampled_from(["{}\n", "{}\n", "- {}\n", "## {}\n", "> {}\n", "{} {}\n", "{}\n\n{}\n"])


def words(text: str | bytes) -> set[str]:
    return set(WORD.findall(text.decode() if isinstance(text, bytes) else text))


class OriginMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.first: dict[str, bytes] = {}
        self._home = tempfile.TemporaryDirectory()
        home = Path(self._home.name)
        (home / "vault").mkdir()
        (home / "outside.md").write_text("Not in the vault.\n")
        self.desk = Desk(home / "vault")
        self.live = self._guarded()
        self.count = 0
        self.shared: set[str] = set()  # words that more than one hand wrote
        self.doubtful: dict[str, set[str]] = {}  # by change: words that it may give another writer
        self.versions: list[dict[str, bytes]] = []
        self.edited = False  # whether the person saved a file in an editor

    def teardown(self) -> None:
        try:
            self.finish()
        finally:
            self._home.cleanup()

    def _guarded(self) -> GuardedVault:
        desk = self.desk
        journal = Journal(desk.vault)
        return GuardedVault(
            desk.vault, Provenances(journal, desk.vault), Quarantine(journal),
            Immunity(embed=None), desk.curator.moved,
        )  # fmt: skip

    # -- what is written ------------------------------------------------------------------------

    def sentence(self, by: str) -> str:
        self.count += 1
        noun, other = NOUNS[self.count % 8], NOUNS[(self.count // 8 + 3) % 8]
        return f"The {noun} {by}{self.count} is near the {other} of {by}{self.count}."

    def text(self, by: str, form: str) -> str:
        return form.format(*(self.sentence(by) for _ in range(form.count("{}"))))

    def notes(self) -> list[str]:
        return sorted(self.desk.tree())

    def note(self, number: int) -> str:
        found = self.notes()
        return found[number % len(found)]

    # -- the person -----------------------------------------------------------------------------

    def save(self, path: str, data: str | bytes) -> None:
        self.edited = True
        self.desk.write(path, data)

    @initialize(forms=st.lists(_form, min_size=1, max_size=4), more=st.lists(_form, max_size=3))
    def begin(self, forms: list[str], more: list[str]) -> None:
        for path, some in zip(PATHS, (forms, more), strict=False):
            if some:
                self.desk.write(path, "\n".join(self.text("own", form) for form in some))
        self.first = self.desk.tree()
        self.remember_versions()

    def remember_versions(self) -> None:
        tree = self.desk.tree()
        if not self.versions or self.versions[-1] != tree:
            self.versions.append(tree)

    @rule(path=_path, form=_form)
    def writes_note(self, path: str, form: str) -> None:
        if not (self.desk.root / path).exists():
            self.save(path, self.text("own", form))

    @precondition(lambda self: self.notes())
    @rule(number=_number, at=_number, form=_form)
    def types(self, number: int, at: int, form: str) -> None:
        path = self.note(number)
        lines = self.desk.read(path).split("\n")
        head = lines.index("---", 1) + 1 if lines[0] == "---" else 0
        at = head + at % (len(lines) - head + 1)
        lines[at:at] = ["", self.text("own", form).rstrip("\n"), ""]
        self.save(path, "\n".join(lines))

    @precondition(lambda self: self.notes())
    @rule(number=_number, at=_number)
    def deletes_line(self, number: int, at: int) -> None:
        path = self.note(number)
        lines = self.desk.read(path).split("\n")
        head = lines.index("---", 1) + 1 if lines[0] == "---" else 0
        full = [k for k in range(head, len(lines)) if lines[k].strip()]
        if full:
            del lines[full[at % len(full)]]
            self.save(path, "\n".join(lines))

    @precondition(lambda self: self.notes())
    @rule(number=_number, dice=st.integers(0, 9))
    def reorders(self, number: int, dice: int) -> None:
        path = self.note(number)
        text = self.desk.read(path)
        head, body = re.match(r"(?s)(---\n.*?\n---\n|)(.*)", text).groups()  # type: ignore[union-attr]
        parts = body.strip("\n").split("\n\n")
        random.Random(dice).shuffle(parts)
        self.save(path, head + "\n\n".join(parts) + "\n")

    @precondition(lambda self: self.notes())
    @rule(number=_number, other=_number, at=_number)
    def pastes(self, number: int, other: int, at: int) -> None:
        lines = [line for line in self.desk.read(self.note(number)).split("\n") if words(line)]
        if lines:
            line = lines[at % len(lines)]
            self.shared |= words(line)
            path = self.note(other)
            self.save(path, f"{self.desk.read(path).rstrip()}\n\n{line}\n")

    @precondition(lambda self: self.notes())
    @rule(number=_number, path=_path)
    def renames(self, number: int, path: str) -> None:
        source, target = self.desk.root / self.note(number), self.desk.root / path
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
            self.edited = True

    @precondition(lambda self: self.notes())
    @rule(number=_number)
    def deletes(self, number: int) -> None:
        (self.desk.root / self.note(number)).unlink()
        self.edited = True

    @precondition(lambda self: self.versions)
    @rule(number=_number, at=_number)
    def restores_version(self, number: int, at: int) -> None:
        version = self.versions[number % len(self.versions)]
        if version:
            path = sorted(version)[at % len(version)]
            self.save(path, version[path])

    @precondition(lambda self: self.versions)
    @rule(number=_number)
    def checks_out(self, number: int) -> None:
        version = self.versions[number % len(self.versions)]
        for path in self.notes():
            if path not in version:
                (self.desk.root / path).unlink()
        for path, data in version.items():
            self.save(path, data)

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

    @rule(form=_form, folder=st.sampled_from(["", "kelp"]))
    def stores(self, form: str, folder: str) -> None:
        draft = Draft.checked(
            content=self.text("eve", form), title=f"Note {self.count}", rationale="The person asked me to.",
            client="eve", project=folder or None, lifecycle="temporary" if folder else "permanent",
        )  # fmt: skip
        self.change(lambda: remember(self.desk.curator, draft).change)

    @precondition(lambda self: self.notes())
    @rule(number=_number, form=_form, at=_number, why=_why,
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
    @rule(number=_number, why=_why)
    def annotates(self, number: int, why: Attribution) -> None:
        path, text = self.note(number), self.sentence(self.by(why))
        self.do(
            ChangeKind.ANNOTATED, path,
            lambda s: stage_annotation(s, self.desk.target(path), text, MORNING.date()), why,
        )  # fmt: skip

    @precondition(lambda self: len(self.notes()) > 1)
    @rule(number=_number, other=_number, why=_why)
    def merges(self, number: int, other: int, why: Attribution) -> None:
        path, into = self.note(number), self.note(other)

        def stage(staging: Staging) -> object:
            desk = self.desk
            return stage_merge(staging, desk.known(), [desk.target(path)], desk.target(into))

        self.do(ChangeKind.MERGED, into, stage, why)

    @precondition(lambda self: self.notes())
    @rule(number=_number, to=st.sampled_from(FOLDERS) | _path, why=_why)
    def moves(self, number: int, to: str, why: Attribution) -> None:
        path, desk = self.note(number), self.desk
        self.do(
            ChangeKind.MOVED, path,
            lambda s: stage_move(s, desk.known(), desk.target(path), to), why,
        )  # fmt: skip

    @precondition(lambda self: self.notes())
    @rule(number=_number, why=_why)
    def forgets(self, number: int, why: Attribution) -> None:
        path = self.note(number)
        self.do(
            ChangeKind.FORGOTTEN, path,
            lambda s: stage_forgetting(s, self.desk.target(path)), why,
        )  # fmt: skip

    @precondition(lambda self: self.desk.kept())
    @rule(number=_number)
    def restores(self, number: int) -> None:
        kept = self.desk.kept()

        def make() -> Change | None:
            self.desk.restore(kept[number % len(kept)].reversal_hash)
            return self.desk.curator.history.changes(limit=1)[0]

        self.change(make)

    @precondition(lambda self: self.notes())
    @rule(number=_number)
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
    @rule(number=_number, part=st.integers(1, 3))
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
    @rule(number=_number, why=_why)
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

    @rule(number=st.integers(0, 12), why=_why)
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
                assert not (theirs and is_verified), (path, unit.text, "verified")
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
