"""What people and agents do to a vault, as Hypothesis draws it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import strategies as st

from indexer.indexer import Indexer
from memvault.curation.changes.curator import Curator
from memvault.curation.changes.forgetting import stage_forgetting, stage_restoring
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging
from memvault.curation.changes.undo import undoable
from memvault.curation.link_targets import LinkTargets
from memvault.curation.operations.annotate import stage_annotation
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.fade import (
    FadedText,
    last_fading,
    stage_fading,
    stage_reconstruction,
)
from memvault.curation.operations.merge import MergeIndex, stage_merge
from memvault.curation.operations.move import stage_move
from memvault.curation.operations.preferences import set_preference
from memvault.curation.operations.properties import (
    stage_importance,
    stage_lifecycle,
    stage_verification,
)
from memvault.curation.operations.remember import remember
from memvault.curation.targets import Target, resolve
from memvault.model.change import ChangeKind
from memvault.model.errors import MemvaultError, OutsideVault
from memvault.model.memory import Lifecycle, id_of_path
from memvault.vault.frontmatter.edit import remove_key, set_key
from memvault.vault.parse import content_hash

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
FIRST_SAVE = 1_700_000_000_000_000_000  # ns; each save is one second later than the one before

PATHS = (
    "Ada Berg.md", "people/Ada Berg.md", "people/Emil Roth.md", "Plan.md", "Index.md",
    "projects/aurora/Aurora.md", "projects/aurora/Plan.md", "projects/kelp/Harbour.md",
    "archive/Plan.md", "Harbour.md", "ideas/café.md", "บันทึก.md", "日本/記憶.md", "日本/京都.md",
    "sessions/2024-05-01/Talk.md", "permanent/preferences.md", "permanent/Reply language.md",
    "ideas/Harbour's plan.md", "ideas/aurora.md", "202402011305 Harbour.md",
)  # fmt: skip
FOLDERS = ("people", "projects/aurora", "archive", "日本", "ideas")
NAMES = (
    "Ada Berg", "Ada", "Emil Roth", "Aurora", "Plan", "Harbour", "บันทึก", "京都", "aurora x",
    "Night Watch", "café", "Lantern", "Reply language", "plans",
)  # fmt: skip
SENTENCES = (
    "I met Ada Berg and Emil Roth at the harbour.", "Ada said that the Plan is late.",
    "See [[Ada Berg]] and [[Plan|the old plan]].", "Lead: [[Emil Roth]]", "Lead: Ada Berg",
    "supersedes:: [[projects/aurora/Plan]]", "![[Harbour]]", "![[Aurora#Goals]]",
    "# Aurora and its plans", "## Ada Berg on Night Watch", "# บันทึกของ Ada", "## 京都の記憶",
    "เราอ่านบันทึกเมื่อวาน", "昨日、京都で記憶について話した。", "Ask [[Night Watch]] or [[night watch]].",
    "Night Watch is run by Ada's team. #storage/db", "Aurora X was its name. #aurora",
    "[[archive/Plan]] lies beside [[./Plan]] and [[../Plan]].", "- Reply language: Welsh",
    "Café and café are one place; [[café]] too.", "[a link](people/Ada%20Berg.md) to a person",
    "The harbours of AURORA, the auroras.", "Emil's plan; Roth's plans. #Storage",
    "[[Lantern]] and Lantern, the lanterns.", "- Tabs or spaces: spaces", "[[Ada]] knows [[京都]].",
    "Harbour's plan is not the Harbour plan.", "[[#Goals]] and [[Reply language]].",
    "==Ada Berg== asked ==[[Plan|the a==b plan]]==.", "",
)  # fmt: skip
IDS = ("0b1f6a0e-8a55-4a0b-9f4e-0a8f1b1d2c3d", "11111111-2222-4333-8444-555555555555", "no-uuid")
IDS += tuple(map(id_of_path, ("Plan.md", "people/Ada Berg.md", "ideas/café.md")))  # as of a copy
TYPES = ("person", "project", "decision", "preference", "note", "tool", "organisation")
PROJECTS = ("aurora", "Aurora", "kelp", "[[Aurora]]")

_name = st.sampled_from(NAMES)
_values = {
    "id": st.sampled_from(IDS),
    "aliases": st.lists(_name, max_size=2),
    "type": st.sampled_from(TYPES),
    "project": st.sampled_from(PROJECTS),
    "people": st.lists(_name, max_size=2),
    "owner": _name,
    "related": st.sampled_from(["[[Plan]]", "[[Lantern]]", "Night Watch"]),
    "tags": st.lists(st.sampled_from(["storage/db", "Aurora", "lantern", "AURORA"]), max_size=2),
    "created": st.just("2024-02-03"),
    "date": st.sampled_from(["2024-02-04", "soon"]),
}
_key = st.sampled_from(sorted(_values))
_path = st.sampled_from(PATHS)


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    keys = draw(st.lists(_key, max_size=3, unique=True))
    head = b""
    for key in keys:
        head = set_key(head, key, draw(_values[key]))
    body = draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5))
    return head + "\n\n".join(body).encode() + b"\n"


@st.composite
def key_changes(draw: st.DrawFn) -> tuple[str, object]:
    key = draw(_key)
    return key, draw(st.none() | _values[key])


# What an editor never saves, but other programs, syncs and crashes do.
_SHAPES = (
    lambda note: note.replace(b"\n", b"\r\n"), lambda note: b"\xef\xbb\xbf" + note,
    lambda note: note.decode().encode("utf-16"), lambda note: note + b"caf\xe9 \xff",
    lambda note: note + b"\0", lambda note: b"", lambda note: note[: len(note) // 2],
    lambda note: b"---\ntags: [open\nproject: kelp\n---\n" + note, lambda note: b"%%\n" + note,
    lambda note: note.replace(b"\n\n", b"\n```\n", 1), lambda note: note.upper(),
)  # fmt: skip


@st.composite
def odd_notes(draw: st.DrawFn) -> bytes:
    return draw(st.sampled_from(_SHAPES))(draw(notes()))


_thing = st.one_of(_path, _name)
operations = (
    st.tuples(st.just("merge"), st.lists(_thing, min_size=1, max_size=2), _thing),
    st.tuples(st.just("merge concepts"), st.integers(0, 99), st.integers(0, 99)),
    st.tuples(st.just("annotate"), _thing, st.sampled_from([s for s in SENTENCES if s])),
    st.tuples(st.just("boost"), _thing, st.sampled_from([-0.3, 0.3, 0.1])),
    st.tuples(st.just("set"), _thing, st.sampled_from(list(Lifecycle))),
    st.tuples(st.just("verify"), _thing, st.booleans()),
    st.tuples(st.just("fade"), _path, st.sampled_from([s for s in SENTENCES if s])),
    st.tuples(st.just("bring back"), _path),
)
vaults = st.dictionaries(_path, notes(), min_size=3, max_size=9)
moves = st.one_of(
    st.tuples(st.just("write"), _path, notes()),
    st.tuples(st.just("write"), _path, notes()),
    st.tuples(st.just("write"), _path, odd_notes()),
    st.tuples(st.just("save in the past"), _path, notes()),
    st.tuples(st.just("swap"), _path, _path),
    st.tuples(st.just("change case"), _path),
    st.tuples(st.just("link"), _path, _path),
    st.tuples(st.just("delete"), _path),
    st.tuples(st.just("move"), _path, _path),
    st.tuples(st.just("move note"), _thing, st.sampled_from(FOLDERS) | _path),
    st.tuples(st.just("move note"), _path, st.sampled_from(FOLDERS) | _path),
    st.tuples(st.just("copy"), _path, _path),
    st.tuples(st.just("save again"), _path),
    st.tuples(st.just("key"), _path, key_changes()),
    st.tuples(st.just("rename folder"), st.sampled_from(FOLDERS), st.sampled_from(FOLDERS)),
    st.tuples(st.just("remember"), _name, st.sampled_from(SENTENCES), _path),
    st.tuples(st.just("prefer"), st.sampled_from(["Reply language", "Tabs"]), _name),
    st.tuples(st.just("forget"), st.one_of(_path, _name)),
    st.tuples(st.just("forget concept"), st.integers(0, 99)),
    st.tuples(st.just("restore"), st.integers(0, 9)),
    *operations,
    st.tuples(st.just("undo"), st.integers(0, 9)),
    st.tuples(st.just("ignore"), st.sampled_from(["", "archive/\n", "people/\n*aurora*\n"])),
    st.tuples(st.just("exclude"), st.sampled_from(["", "archive/", "ideas/H"])),
)
# How the indexer comes to know: all at once, path by path in either order, or by a scan.
tellings = st.sampled_from(["together", "one by one", "backwards", "scan", "later"])


@dataclass
class Hand:
    """Does the moves on a real vault and keeps the paths that the watcher would have heard of."""

    root: Path
    indexer: Indexer
    curator: Curator
    touched: list[str] = field(default_factory=list)
    wants_scan: bool = False
    saves: int = 0

    def write(self, path: str, data: bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_symlink():
            file.unlink()
        file.write_bytes(data)
        self._saved(path)

    def do(self, move: tuple[object, ...]) -> None:
        getattr(self, "_" + str(move[0]).replace(" ", "_"))(*move[1:])

    def tell(self, notification: str) -> None:
        """Let the indexer know of what was done since it last heard."""
        paths = list(dict.fromkeys(self.touched))
        if notification == "later":
            return
        if notification == "scan" or self.wants_scan:
            self.indexer.scan()
        elif notification == "together":
            self.indexer.index(paths)
        else:
            for path in paths if notification == "one by one" else reversed(paths):
                self.indexer.index([path])
        self.touched, self.wants_scan = [], False

    def _saved(self, path: str) -> None:
        self.saves += 1
        moment = FIRST_SAVE + self.saves * 1_000_000_000
        os.utime(self.root / path, ns=(moment, moment))
        self.touched.append(path)

    def _write(self, path: str, data: bytes) -> None:
        self.write(path, data)

    def _delete(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)
        self.touched.append(path)

    def _move(self, source: str, target: str) -> None:
        if (self.root / source).is_file():
            (self.root / target).parent.mkdir(parents=True, exist_ok=True)
            (self.root / source).replace(self.root / target)
            self.touched += [source, target]

    def _save_in_the_past(self, path: str, data: bytes) -> None:
        """The clock is set back, or a sync gives the file the time that it has elsewhere."""
        self.write(path, data)
        moment = FIRST_SAVE - self.saves * 1_000_000_000
        os.utime(self.root / path, ns=(moment, moment))

    def _swap(self, one: str, other: str) -> None:
        """Two notes exchange their names, and each keeps its time."""
        first, second = self.root / one, self.root / other
        if one != other and first.is_file() and second.is_file():
            first.replace(first.with_suffix(".tmp"))
            second.replace(first)
            first.with_suffix(".tmp").replace(second)
            self.touched += [one, other]

    def _change_case(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        self._move(path, f"{folder}/{name.swapcase()}".strip("/").replace(".MD", ".md"))

    def _link(self, source: str, target: str) -> None:
        """A symbolic link in place of a note, to a note or to nothing."""
        if source != target:
            self._delete(target)
            (self.root / target).parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):  # Windows asks for a privilege
                (self.root / target).symlink_to(self.root / source)

    def _copy(self, source: str, target: str) -> None:
        if source != target and (self.root / source).is_file():
            self.write(target, (self.root / source).read_bytes())

    def _save_again(self, path: str) -> None:
        if (self.root / path).is_file():
            self._saved(path)

    def _key(self, path: str, change: tuple[str, object]) -> None:
        key, value = change
        if (self.root / path).is_file():
            data = (self.root / path).read_bytes()
            self.write(path, remove_key(data, key) if value is None else set_key(data, key, value))

    def _rename_folder(self, source: str, target: str) -> None:
        if (self.root / source).is_dir() and not (self.root / target).exists():
            before = list(self._inside(source))
            (self.root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(self.root / source, self.root / target)
            self.touched += [*before, *self._inside(target)]

    def _inside(self, folder: str) -> Iterator[str]:
        for file in sorted((self.root / folder).rglob("*.md")):
            yield file.relative_to(self.root).as_posix()

    def _remember(self, title: str, content: str, link_to: str) -> None:
        known = self.indexer.catalogue
        related = [memory] if (memory := known.by_path(link_to)) else []
        draft = Draft.checked(
            content=content or "Nothing much.",
            title=title,
            rationale="To be found again.",
        )
        try:
            index = MergeIndex(known, self.indexer.links, lambda _: set())
            stored = remember(self.curator, draft, LinkTargets(related), index)
        except OutsideVault:  # the ignore rules leave it out
            return
        self._saved(stored.result.path)

    def _prefer(self, key: str, value: str) -> None:
        why = Attribution("a client", "As they asked me to.")
        try:
            preference = set_preference(self.curator, key, value, why)
        except MemvaultError:
            return
        self._saved(preference.result.path)

    def _forget(self, target: str) -> None:
        self._operate(
            ChangeKind.FORGOTTEN, [target], lambda staging, f: stage_forgetting(staging, f[0])
        )

    def _forget_concept(self, number: int) -> None:
        nodes = self.indexer.stores.graph.all_nodes()
        concepts = sorted(node.id for node in nodes if node.path is None)
        if concepts:
            self._forget(concepts[number % len(concepts)])

    def _restore(self, number: int) -> None:
        curator = self.curator
        kept = curator.tombstones.kept()
        if not kept:
            return
        target = kept[number % len(kept)]
        done = curator.perform(
            lambda staging: stage_restoring(
                staging, curator.tombstones, curator.history, target.reversal_hash, curator.now()
            ),
            ChangeKind.RESTORED,
            (target.name,),
            target.node_ids,
            Attribution("a client", "They want it back."),
        )
        self.touched += done.change.paths if done.change else ()

    def _merge(self, sources: list[str], target: str) -> None:
        def stage(staging: Staging, found: list[Target]) -> object:
            known = MergeIndex(
                self.indexer.catalogue, self.indexer.links, self.indexer.catalogue.linking
            )
            return stage_merge(staging, known, found[1:], found[0])

        self._operate(ChangeKind.MERGED, [target, *sources], stage)

    def _move_note(self, target: str, destination: str) -> None:
        def stage(staging: Staging, found: list[Target]) -> object:
            known = MergeIndex(
                self.indexer.catalogue, self.indexer.links, self.indexer.catalogue.linking
            )
            return stage_move(staging, known, found[0], destination)

        self._operate(ChangeKind.MOVED, [target], stage)

    def _merge_concepts(self, one: int, other: int) -> None:
        nodes = self.indexer.stores.graph.all_nodes()
        concepts = sorted(node.id for node in nodes if node.path is None)
        if concepts:
            self._merge([concepts[one % len(concepts)]], concepts[other % len(concepts)])

    def _annotate(self, target: str, text: str) -> None:
        self._operate(
            ChangeKind.ANNOTATED, [target], lambda s, f: stage_annotation(s, f[0], text, NOW.date())
        )

    def _boost(self, target: str, delta: float) -> None:
        self._operate(
            ChangeKind.BOOSTED, [target], lambda s, f: stage_importance(s, f[0], delta=delta)
        )

    def _set(self, target: str, lifecycle: Lifecycle) -> None:
        self._operate(
            ChangeKind.LIFECYCLE_SET, [target], lambda s, f: stage_lifecycle(s, f[0], lifecycle)
        )

    def _verify(self, target: str, verified: bool) -> None:
        self._operate(
            ChangeKind.VERIFIED,
            [target],
            lambda s, f: stage_verification(s, f[0], verified=verified, by="Ada", on=NOW.date()),
        )

    def _fade(self, path: str, left: str) -> None:
        def stage(staging: Staging, found: list[Target]) -> object:
            note = found[0].note
            assert note is not None
            version = content_hash(staging.read(note.path))
            last = last_fading(self.curator.history, note) if note.faded else None
            stage_name = "keys" if note.faded else "summary"
            return stage_fading(
                staging, FadedText(note, stage_name, f"{left}\n", version, NOW), last
            )

        if (self.root / path).is_file() and b"faded:" not in (self.root / path).read_bytes():
            self.write(path, (self.root / path).read_bytes() + b"\nA long talk of the harbour." * 9)
        self._operate(ChangeKind.FADED, [path], stage)

    def _bring_back(self, path: str) -> None:
        def stage(staging: Staging, found: list[Target]) -> object:
            history, note = self.curator.history, found[0].note
            last = last_fading(history, note) if note is not None else None
            return stage_reconstruction(staging, found[0], last, history.content)

        self._operate(ChangeKind.RECONSTRUCTED, [path], stage)

    def _undo(self, number: int) -> None:
        changes = self.curator.history.changes(limit=10)
        standing = [
            change.reversal_hash
            for change in changes
            if change.undone_by is None and change.reversal_hash in undoable(changes)
        ]
        if standing:
            self.undo(standing[number % len(standing)])

    def undo(self, reversal_hash: str) -> bool:
        """Whether it could be taken back."""
        undone = self.curator.undo(
            [reversal_hash], Attribution("a client", "They want it as before.")
        )
        self.touched += undone.change.paths if undone.change else ()
        return undone.change is not None

    def _operate(
        self,
        kind: ChangeKind,
        targets: list[str],
        stage: Callable[[Staging, list[Target]], object],
    ) -> None:
        indexer, why = self.indexer, Attribution("a client", "They asked me to set it right.")
        try:
            found = [resolve(each, indexer.catalogue, indexer.stores.graph) for each in targets]
        except MemvaultError:  # nothing is called so, or several notes are
            return
        try:
            done = self.curator.perform(
                lambda staging: stage(staging, found), kind, (found[0].name,),
                found[0].node_ids, why,
            )  # fmt: skip
        except MemvaultError:  # its YAML is broken, it is no note, …
            return
        self.touched += done.change.paths if done.change else ()

    def _ignore(self, rules: str) -> None:
        (self.root / ".memvaultignore").write_text(rules, encoding="utf-8")
        self.wants_scan = True

    def _exclude(self, start: str) -> None:
        file = self.root / ".obsidian" / "app.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"userIgnoreFilters": [start]}), encoding="utf-8")
        self.wants_scan = True
