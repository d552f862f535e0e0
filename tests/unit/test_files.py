"""The vault as files: walked, read, created and edited, and never left."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.curation.changes.curator import Curator
from memvault.curation.changes.file_edits import make_edit
from memvault.curation.changes.plan import Attribution, Edit
from memvault.curation.changes.staging import Staging
from memvault.model.change import ChangeKind
from memvault.model.errors import (
    DiskFull,
    NoteConflict,
    NoteNotFound,
    OutsideVault,
    StorageError,
    VaultMissing,
)
from memvault.vault import write as write_module
from memvault.vault.file_names import MAX_NAME_BYTES, safe_name
from memvault.vault.files import Vault
from memvault.vault.frontmatter.edit import set_key
from memvault.vault.ignore import IgnoreRules
from memvault.vault.journal import Journal
from memvault.vault.leftovers import leftovers, own_leftovers, remove_own_leftovers
from memvault.vault.own_folders import own_folder
from memvault.vault.writer_lock import WriterLock
from tests.forks import forks_of

posix_only = pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")


def create(vault: Vault, folder: str, title: str, data: bytes) -> str:
    """Write a new note as every operation does; returns its path."""
    curator = Curator(vault, Journal(vault))
    return curator.perform(
        lambda staging: staging.create_note(folder, title, data),
        ChangeKind.CREATED, (title,), (), Attribution("", "A test asked for it."),
    ).result  # fmt: skip


def write(root: Path, files: dict[str, str]) -> Vault:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return Vault(root)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def walked(vault: Vault) -> list[str]:
    paths = [note.path for note in vault.walk()]
    assert all(map(vault.is_note, paths))
    return sorted(paths)


def test_every_note_is_walked_and_nothing_else(tmp_path: Path) -> None:
    vault = write(
        tmp_path,
        {
            "a.md": "", "b/C.MD": "", "b/d.markdown": "", "日本/ノート.md": "", "picture.png": "", "x.txt": "",
            "manifest.md": "", "b/manifest.md": "", ".obsidian/x.md": "", ".trash/x.md": "", ".memvault/x.md": "", "b/.hidden.md": "",
        },
    )  # fmt: skip
    assert walked(vault) == ["a.md", "b/C.MD", "b/d.markdown", "b/manifest.md", "日本/ノート.md"]
    for path in ["manifest.md", ".obsidian/x.md", "b/.hidden.md", "x.txt", "../a.md", "b"]:
        assert not vault.is_note(path)


def test_a_note_that_is_gone_would_still_have_been_one(tmp_path: Path) -> None:
    assert Vault(tmp_path).is_note("gone/away.md")
    assert Vault(tmp_path).stat("gone/away.md") is None


def test_the_ignore_file_speaks_gitignore_and_is_read_again(tmp_path: Path) -> None:
    vault = write(
        tmp_path,
        {
            ".memvaultignore": "# private\n/diary/\n*draft*\n!keep draft.md\nwork/*/tmp\n",
            "diary/x.md": "", "sub/diary/x.md": "", "my draft.md": "", "keep draft.md": "", "work/a/tmp/x.md": "", "work/a/x.md": "",
        },
    )  # fmt: skip
    assert walked(vault) == ["keep draft.md", "sub/diary/x.md", "work/a/x.md"]
    assert not vault.is_note("diary/x.md")
    assert not vault.is_note("work/a/tmp/x.md")
    (tmp_path / ".memvaultignore").write_text("keep*\n")
    assert vault.is_note("diary/x.md")
    assert "keep draft.md" not in walked(vault)


def test_templates_are_no_notes_unless_the_person_takes_their_folder_back(tmp_path: Path) -> None:
    vault = write(
        tmp_path,
        {
            ".obsidian/templates.json": '{"folder": "/- Meta -/Blank [notes]"}',
            ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "Forms/"}',
            "- Meta -/Blank [notes]/day.md": "", "- Meta -/Blank n/x.md": "", "- Meta -/y.md": "",
            ".obsidian/plugins/quickadd/data.json": '{"templateFolderPath": "Quick"}',
            ".obsidian/plugins/obsidian-excalidraw-plugin/data.json": '{"scriptFolderPath": "Art"}',
            "Forms/sub/meeting.md": "", "work/Forms/x.md": "", "Quick/x.md": "", "Art/a/b.md": "",
        },
    )  # fmt: skip
    assert walked(vault) == ["- Meta -/Blank n/x.md", "- Meta -/y.md", "work/Forms/x.md"]
    (tmp_path / ".memvaultignore").write_text("!/Forms/\n")
    assert vault.is_note("Forms/sub/meeting.md")
    assert not vault.is_note("- Meta -/Blank [notes]/day.md")
    (tmp_path / ".obsidian/templates.json").write_text('{"folder": "Elsewhere"}')
    assert vault.is_note("- Meta -/Blank [notes]/day.md")


def test_what_obsidian_excludes_is_not_read_unless_the_person_takes_it_back(tmp_path: Path) -> None:
    vault = write(
        tmp_path,
        {
            ".obsidian/app.json": '{"userIgnoreFilters": ["Old [x]/", "Priv", "/a.*/", "sessions/", 3, ""]}',
            "Old [x]/a.md": "", "Old x/b.md": "", "work/Old [x]/c.md": "",
            "Private/d.md": "", "Privet.md": "", "a.md": "", "sessions/2026-01-01/e.md": "",
        },
    )  # fmt: skip
    kept = ["Old x/b.md", "a.md", "sessions/2026-01-01/e.md", "work/Old [x]/c.md"]
    assert walked(vault) == kept
    (tmp_path / ".memvaultignore").write_text("!/Private/\n")
    assert walked(vault) == sorted([*kept, "Private/d.md"])


def test_an_excluded_folder_stays_so_in_each_unicode_form_and_while_obsidian_writes(
    tmp_path: Path,
) -> None:
    settings = '{"userIgnoreFilters": ["Priv\u00e9/"]}'
    files = {".memvaultignore": "Caf\u00e9/\n", "Prive\u0301/a.md": "", "Cafe\u0301/b.md": ""}
    vault = write(tmp_path, {".obsidian/app.json": settings, **files})
    assert walked(vault) == []
    (tmp_path / ".obsidian/app.json").write_text("")
    assert walked(vault) == []
    (tmp_path / ".obsidian/app.json").write_text("{}")
    assert walked(vault) == ["Prive\u0301/a.md"]


def test_the_rule_that_excludes_a_path_is_named_whether_the_file_exists_or_not(
    tmp_path: Path,
) -> None:
    settings = {".obsidian/templates.json": '{"folder": "Forms"}'}
    write(tmp_path, {".memvaultignore": "diary/\n*.draft.md\n", **settings})
    forms = (
        "Obsidian's settings exclude Forms/ or keep templates there; to have it indexed, add the "
        "line !/Forms/ to .memvaultignore"
    )
    dots = "files and folders whose name begins with a dot are not read"
    reasons = {
        "Forms/Day.md": forms,
        "Forms/": forms,
        "a/diary/b/x.md": ".memvaultignore excludes a/diary/",
        "Letter.draft.md": ".memvaultignore excludes Letter.draft.md",
        ".trash/Quay.md": dots,
        "a/.hidden.md": dots,
        "a/b.md": None,
        "a/": None,
    }
    rules = IgnoreRules(tmp_path)
    assert {path: rules.why_excluded(path) for path in reasons} == reasons


@pytest.mark.parametrize(
    "settings",
    ['{"folder": "/"}', '{"folder": ""}', '{"folder": 3}', "[]", "{", "[" * 100_000],
    ids=["all", "none", "number", "list", "torn", "deep"],
)
def test_settings_that_name_no_folder_of_templates_exclude_nothing(
    tmp_path: Path, settings: str
) -> None:
    vault = write(tmp_path, {".obsidian/templates.json": settings, "a.md": "", "b/c.md": ""})
    assert walked(vault) == ["a.md", "b/c.md"]


@posix_only
def test_links_are_not_followed_out_of_the_vault_nor_around_in_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    vault = write(tmp_path / "vault", {"a.md": "here", "b/c.md": ""})
    write(outside, {"secret.md": "no", "dir/x.md": "no"})
    (vault.root / "b" / "up").symlink_to(vault.root, target_is_directory=True)
    (vault.root / "again.md").symlink_to(vault.root / "a.md")
    (vault.root / "out.md").symlink_to(outside / "secret.md")
    (vault.root / "out").symlink_to(outside, target_is_directory=True)
    (vault.root / "dead.md").symlink_to(vault.root / "nothing.md")

    assert walked(vault) == ["a.md", "b/c.md"]
    assert sorted(vault.problems) == ["out", "out.md"]  # what is not read is named
    for path in ["out.md", "out/secret.md"]:
        with pytest.raises(OutsideVault):
            vault.read(path)
        with pytest.raises(OutsideVault):
            vault.edit(path, lambda _data: b"x")
        assert vault.stat(path) is None
    with pytest.raises(OutsideVault):
        create(vault, "out/dir", "new", b"x")
    assert not vault.is_note("again.md")
    assert not vault.is_note("b/up/a.md")
    (vault.root / ".memvaultignore").write_text("out\nout.md\n")
    assert walked(vault) == ["a.md", "b/c.md"]
    assert not vault.problems
    assert (outside / "secret.md").read_text() == "no"
    assert sorted(path.name for path in outside.rglob("*")) == ["dir", "secret.md", "x.md"]


@posix_only
def test_a_vault_that_is_itself_a_link_is_read(tmp_path: Path) -> None:
    write(tmp_path / "real", {"a.md": "hi"})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    vault = Vault(tmp_path / "link")
    assert walked(vault) == ["a.md"]
    assert vault.relative(tmp_path / "link" / "a.md") == "a.md"
    assert vault.relative(tmp_path / "real" / "a.md") == "a.md"
    assert vault.relative(tmp_path / "other.md") is None


@posix_only
def test_a_folder_that_cannot_be_read_is_named_and_the_rest_walked() -> None:
    # Not in tmp_path: another pytest that starts closes its parent folder to other users again.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        vault = write(root, {"a.md": "", "locked/b.md": "", "z.md": ""})
        (root / "locked").chmod(0)
        try:
            code = (
                "import os, sys; from pathlib import Path; from memvault.vault.files import Vault\n"
                "os.getuid() or os.setuid(65534)\n"
                "vault = Vault(Path(sys.argv[1])); print([n.path for n in vault.walk()], vault.problems)\n"
            )
            out = subprocess.run(
                [sys.executable, "-c", code, str(vault.root)],
                capture_output=True,
                text=True,
                check=False,
            )
            assert (
                out.stdout
                == "['a.md', 'z.md'] {'locked': 'the folder cannot be read; allow reading it'}\n"
            ), out.stderr
        finally:
            (root / "locked").chmod(0o755)


@posix_only
def test_a_name_that_is_not_unicode_is_named_and_left_out(tmp_path: Path) -> None:
    try:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md"))).write_text("x")
    except OSError:
        pytest.skip("the file system takes Unicode names only")
    vault = write(tmp_path, {"a.md": ""})
    assert walked(vault) == ["a.md"]
    assert list(vault.problems) == ["bad?.md"]


@posix_only
def test_a_placeholder_of_icloud_is_named_in_unicode_and_only_without_its_note(
    tmp_path: Path,
) -> None:
    vault = write(tmp_path, {"a.md": "", ".a.md.icloud": "", ".b.md.icloud": ""})
    names = ["b.md"]
    with suppress(OSError):  # the file system takes Unicode names only
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/.bad\xff.md.icloud")).write_text("x")
        names.append("bad?.md")
    assert walked(vault) == ["a.md"]
    assert list(vault.problems) == names


def test_reading_says_what_is_wrong(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.md": "hello"})
    assert vault.read("a.md") == b"hello"
    for path in ["b.md", "a.md/b.md", "no/b.md"]:
        with pytest.raises(NoteNotFound, match="there is no note"):
            vault.read(path)
    for path in ["../a.md", "/etc/passwd", "x/../../a.md", "a\0.md", "", "./a.md", "x//y.md"]:
        with pytest.raises((OutsideVault, NoteNotFound)):
            vault.read(path)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Plain title", "Plain title.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ("/abs\\olute", "abs olute.md"),
        ("a\0b", "ab.md"),
        ("CON", "_CON.md"),
        ("nul.txt", "_nul.txt.md"),
        ("trailing. . ", "trailing.md"),
        ('<>:"/\\|?*', "Untitled.md"),
        ("", "Untitled.md"),
        (".hidden", "hidden.md"),
        ("note.md", "note.md"),
        ("a#b^c[[d]]|e", "a b c d e.md"),
        ("Über 日本 🧑‍🚀 नमस्ते", "Über 日本 🧑‍🚀 नमस्ते.md"),
        ("line\nbreak\ttab", "line break tab.md"),
        ("right\u202eleft", "rightleft.md"),
    ],
)
def test_a_title_becomes_a_name_that_every_system_takes(
    tmp_path: Path, title: str, name: str
) -> None:
    vault = Vault(tmp_path)
    path = create(vault, "", title, b"x")
    assert path == name
    assert vault.read(path) == b"x"
    assert vault.is_note(path)


@given(st.text(max_size=300))
def test_every_title_has_a_safe_name(title: str) -> None:
    name = safe_name(title)
    assert safe_name(name) == name
    assert 0 < len(name.encode("utf-8")) <= MAX_NAME_BYTES + 1
    assert not set(name) & set('<>:"/\\|?*\0\n#^[]')
    assert name == name.strip(" .")
    assert name.split(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@given(
    st.lists(
        st.sampled_from(
            ["..", ".", "", "a", "CON", "x\0", ".git", "/", "\\", "C:", "é" * 200, "ok"]
        ),
        max_size=4,
    ),
    st.text(max_size=20),
)
@settings(max_examples=60, deadline=None)
def test_nothing_is_ever_created_outside_the_vault(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], title: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    vault = Vault(home / "vault")
    (home / "vault").mkdir()
    try:
        path = create(vault, "/".join(parts), title, b"x")
    except OutsideVault:
        path = None
    files = [file for file in home.rglob("*") if file.is_file() and ".memvault" not in file.parts]
    assert files == ([vault.root / path] if path else [])
    assert [entry.name for entry in home.iterdir()] == ["vault"]


def test_folders_that_are_not_for_notes_are_refused(tmp_path: Path) -> None:
    vault = write(tmp_path, {".memvaultignore": "private/\n"})
    for folder in ["..", "a/../..", ".obsidian", "a/.git", "private", "private/x", "a\0b"]:
        with pytest.raises(OutsideVault):
            create(vault, folder, "t", b"")
    assert create(vault, "projects/What?: now", "t", b"") == "projects/What now/t.md"
    assert create(vault, "/projects/", "t", b"") == "projects/t.md"


def test_a_title_that_the_ignore_rules_leave_out_is_refused(tmp_path: Path) -> None:
    vault = write(tmp_path, {".memvaultignore": "*draft*\n"})
    with pytest.raises(OutsideVault, match="memvaultignore excludes My draft"):
        create(vault, "", "My draft", b"")
    assert names_in(tmp_path) == [".memvaultignore"]


def test_a_refused_folder_is_told_which_settings_exclude_it(tmp_path: Path) -> None:
    vault = write(tmp_path, {".obsidian/app.json": '{"userIgnoreFilters": ["projects/private/"]}'})
    with pytest.raises(OutsideVault, match="Obsidian's settings exclude projects/private/"):
        create(vault, "projects/private", "t", b"")


def test_a_taken_name_is_numbered_and_the_manifest_is_never_taken(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    assert [create(vault, "d", "Note", bytes([n])) for n in range(3)] == [
        "d/Note.md",
        "d/Note 2.md",
        "d/Note 3.md",
    ]
    assert vault.read("d/Note.md") == b"\0"
    assert create(vault, "", "manifest", b"") == "manifest 2.md"


def create_same(root: Path, writer: int) -> None:
    for number in range(20):
        create(Vault(root), "", "same", f"{writer} {number}".encode())


def test_many_writers_of_one_title_each_get_their_own_note(tmp_path: Path) -> None:
    forks = forks_of(__name__)
    writers = [forks.Process(target=create_same, args=(tmp_path, writer)) for writer in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    texts = {path.read_text() for path in tmp_path.glob("*.md")}
    assert texts == {f"{writer} {n}" for writer in range(3) for n in range(20)}


def test_a_file_that_appears_while_a_note_is_planned_is_not_overwritten(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    staging = Staging(vault)
    find = staging.free_path

    def find_then_appear(path: str, first: int) -> str:
        free = find(path, first)
        (tmp_path / free).write_text("theirs")
        return free

    staging.free_path = find_then_appear  # type: ignore[method-assign]
    staging.create("a.md", b"mine")
    [edit] = staging.plan(ChangeKind.CREATED, ("a",), ()).edits
    with pytest.raises(NoteConflict):
        make_edit(vault, edit)
    assert (tmp_path / "a.md").read_text() == "theirs"


@posix_only
def test_an_edit_keeps_the_mode_and_leaves_no_other_file(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.md": "one"})
    (tmp_path / "a.md").chmod(0o640)
    assert vault.edit("a.md", lambda data: data + b" two") == b"one two"
    assert (tmp_path / "a.md").stat().st_mode & 0o777 == 0o640
    assert names_in(tmp_path) == ["a.md"]
    with pytest.raises(ZeroDivisionError):
        vault.edit("a.md", lambda _data: bytes([1 // 0]))
    assert vault.read("a.md") == b"one two"


def test_an_edit_of_a_note_saved_in_the_meantime_starts_again(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.md": "mine"})
    saves = iter(["theirs", "theirs, later"])

    def change(data: bytes) -> bytes:
        if text := next(saves, None):
            (tmp_path / "a.md").write_text(text)
        return data + b" + edit"

    assert vault.edit("a.md", change) == b"theirs, later + edit"


def test_an_edit_of_a_note_that_never_rests_gives_up_and_loses_nothing(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.md": "0"})
    count = 0

    def change(data: bytes) -> bytes:
        nonlocal count
        count += 1
        (tmp_path / "a.md").write_text(str(count))
        return data + b"!"

    with pytest.raises(NoteConflict):
        vault.edit("a.md", change)
    assert vault.read("a.md") == str(count).encode()


def test_a_note_deleted_during_an_edit_is_not_found(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.md": "x"})

    def change(data: bytes) -> bytes:
        (tmp_path / "a.md").unlink()
        return data + b"!"

    with pytest.raises(NoteNotFound):
        vault.edit("a.md", change)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("another_agent", [False, True])
def test_neither_a_person_nor_an_agent_loses_words_to_the_other(
    tmp_path: Path, another_agent: bool
) -> None:
    vault = write(tmp_path, {"a.md": "---\nk: 0\n---\nstart"})
    note = tmp_path / "a.md"
    done = threading.Event()
    words = [f"word{n}" for n in range(60)]

    def person() -> None:
        for word in words:
            while True:
                text = note.read_bytes()
                if text:
                    break
            if another_agent:
                vault.edit("a.md", lambda data, word=word: data + b" " + word.encode())
                continue
            # A person's editor knows nothing of us: it saves its own text over whatever is there.
            swap_file = tmp_path / "editor.swp"
            swap_file.write_bytes(
                b"---\nk: 0\n---\n" + " ".join(words[: words.index(word) + 1]).encode()
            )
            swap_file.replace(note)
        done.set()

    writer = threading.Thread(target=person)
    writer.start()
    number = 0
    while not done.is_set():
        number += 1
        try:
            vault.edit("a.md", lambda data, number=number: set_key(data, "k", number))
        except NoteConflict:
            continue
    writer.join()
    vault.edit("a.md", lambda data: set_key(data, "k", -1))
    assert all(word.encode() in note.read_bytes() for word in words)
    assert note.read_bytes().startswith(b"---\nk: -1\n---\n")


@pytest.mark.parametrize(
    "save_before", [{1: b"theirs"}, {1: b""}, {1: b"theirs", 2: b"theirs, later"}, {2: b"unused"}]
)
def test_a_save_between_the_last_look_and_the_swap_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save_before: dict[int, bytes]
) -> None:
    vault = write(tmp_path, {"a.md": "mine"})
    swap, swaps = write_module.atomic_swap, 0

    def late_save(one: Path, other: Path) -> bool:
        nonlocal swaps
        swaps += 1
        if (text := save_before.get(swaps)) is not None:
            saved = tmp_path / "editor.swp"
            saved.write_bytes(text)
            saved.replace(tmp_path / "a.md")
        return swap(one, other)

    if not swap(tmp_path / "a.md", tmp_path / "a.md"):
        pytest.skip("this system cannot let two files change names")
    monkeypatch.setattr("memvault.vault.write.atomic_swap", late_save)
    expected = b"mine" if swaps_unused(save_before) else list(save_before.values())[-1]
    assert vault.edit("a.md", lambda data: data + b" + edit") == expected + b" + edit"
    assert vault.read("a.md") == expected + b" + edit"
    assert names_in(tmp_path) == ["a.md"]


@posix_only
@pytest.mark.parametrize("theirs", [b"theirs", None])
def test_a_save_just_before_a_replacement_is_not_lost_where_names_cannot_be_swapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: bytes | None
) -> None:
    vault, place = write(tmp_path, {"a.md": "mine"}), tmp_path / "a.md"
    saves: list[Callable[[], object]] = [
        place.unlink if theirs is None else lambda: place.write_bytes(theirs)
    ]

    def late_save(*_: Path) -> bool:
        if saves:
            saves.pop()()
        return False

    monkeypatch.setattr(write_module, "atomic_swap", late_save)
    if theirs is None:
        with pytest.raises(NoteNotFound):
            vault.edit("a.md", lambda data: data + b" + edit")
        assert names_in(tmp_path) == []
    else:
        assert vault.edit("a.md", lambda data: data + b" + edit") == b"theirs + edit"
        assert vault.read("a.md") == b"theirs + edit" and names_in(tmp_path) == ["a.md"]


@posix_only
@pytest.mark.parametrize("is_late", [True, False])
def test_a_save_just_before_a_replacement_is_not_lost_if_the_drive_then_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    vault, place, fsync = write(tmp_path, {"a.md": "mine"}), tmp_path / "a.md", os.fsync

    def late_save(*_: Path) -> bool:
        place.write_bytes(b"theirs")
        return False

    def fail() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def flush(handle: int) -> None:
        fail() if stat.S_ISDIR(os.fstat(handle).st_mode) else fsync(handle)

    def replaced_without_answer(source: Path, target: Path) -> None:
        source.rename(target)
        fail()

    monkeypatch.setattr(write_module, "atomic_swap", late_save)
    if is_late:
        monkeypatch.setattr(os, "fsync", flush)
    else:
        monkeypatch.setattr(Path, "replace", replaced_without_answer)
    with pytest.raises(StorageError, match="does not answer"):
        vault.edit("a.md", lambda data: data + b" + edit")
    monkeypatch.undo()
    kept = [vault.read("a.md"), *((tmp_path / path).read_bytes() for path in leftovers(vault))]
    assert b"theirs" in kept and len(kept) == (1 if is_late else 2)


def swaps_unused(save_before: dict[int, bytes]) -> bool:
    return 1 not in save_before


@pytest.mark.parametrize("later", [None, b"saved once more"])
def test_a_save_between_the_last_look_and_a_deletion_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: bytes | None
) -> None:
    vault = write(tmp_path, {"a.md": "mine"})
    moved = write_module.move

    def late_save(source: Path, target: Path) -> None:
        if source.name == "a.md":
            source.write_bytes(b"theirs")
        moved(source, target)
        if source.name == "a.md" and later is not None:
            source.write_bytes(later)

    monkeypatch.setattr("memvault.vault.write.move", late_save)
    with pytest.raises(NoteConflict):
        make_edit(vault, Edit("a.md", b"mine", None))
    assert vault.read("a.md") == (later or b"theirs")
    assert {file.read_bytes() for file in tmp_path.iterdir()} == {b"theirs", later} - {None}


def test_a_file_that_the_system_does_not_delete_stays_at_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = write(tmp_path, {"a.md": "mine"})

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "in use")

    monkeypatch.setattr(os, "unlink", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StorageError):
        make_edit(vault, Edit("a.md", b"mine", None))
    assert names_in(tmp_path) == ["a.md"] and vault.read("a.md") == b"mine"


def test_a_full_disk_is_said_and_nothing_is_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = write(tmp_path, {"a.md": "kept"})

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="disk is full"):
        vault.edit("a.md", lambda _data: b"new")
    with pytest.raises(DiskFull):
        vault.create_at("b.md", b"new")
    monkeypatch.undo()
    assert names_in(tmp_path) == ["a.md"]
    assert vault.read("a.md") == b"kept"


@pytest.fixture
def plain_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive with neither links, permissions, renames in one step nor folders that are flushed, as
    memory sticks and drives of other computers are."""
    fsync = os.fsync

    def unsupported(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    def flush(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            unsupported()
        fsync(handle)

    monkeypatch.setattr(os, "fsync", flush)
    for name in ("chmod", "link", "symlink"):
        monkeypatch.setattr(os, name, unsupported)
    for name in ("atomic_swap", "rename_if_free"):
        monkeypatch.setattr(write_module, name, lambda source, target: False)


@posix_only
@pytest.mark.usefixtures("plain_drive")
def test_notes_are_written_moved_and_deleted_on_a_plain_drive(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.md": "kept"})
    assert vault.create_at("b.md", b"new") and not vault.create_at("a.md", b"new")
    assert vault.edit("a.md", lambda data: data + b"!") == b"kept!"
    assert vault.move("b.md", "c.md") and not vault.move("a.md", "c.md")
    assert vault.read("a.md") == b"kept!" and vault.read("c.md") == b"new"
    assert vault.delete("c.md", b"new") and names_in(tmp_path) == ["a.md"]


@posix_only
@pytest.mark.usefixtures("plain_drive")
def test_a_new_note_that_a_plain_drive_refuses_leaves_no_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = write(tmp_path, {"a.md": "kept"})

    def unplugged(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "replace", unplugged)
    monkeypatch.setattr(Path, "replace", unplugged)
    with pytest.raises(StorageError):
        vault.create_at("b.md", b"new")
    assert names_in(tmp_path) == ["a.md"]


@posix_only
def test_a_drive_without_locks_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    vault = write(tmp_path, {"a.md": "kept"})
    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(StorageError, match=r"has no locks.* with locks"):
        create(vault, "", "b", b"new")
    assert names_in(tmp_path) == [".memvault", "a.md"]


@posix_only
@pytest.mark.parametrize("number", [errno.ENOTCONN, errno.EIO, errno.ESTALE])
def test_a_vault_on_a_drive_that_does_not_answer_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    vault = write(tmp_path, {"a.md": "kept"})
    assert not vault.is_missing()

    def no_answer(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "scandir", no_answer)
    with pytest.raises(VaultMissing, match="its drive is not connected"):
        vault.create_at("b.md", b"new")
    monkeypatch.undo()
    assert names_in(tmp_path) == ["a.md"]


@posix_only
def test_a_read_only_vault_is_said_in_clear_words(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.md": "kept"})
    code = (
        "import os, sys; from pathlib import Path; from memvault.vault.files import Vault\n"
        "from memvault.model.errors import StorageError\n"
        "os.getuid() or os.setuid(65534)\n"
        "vault = Vault(Path(sys.argv[1]))\n"
        "for act in (lambda: vault.create_at('b.md', b''), lambda: vault.edit('a.md', lambda d: d + b'!')):\n"
        "    try: act()\n"
        "    except StorageError as error: print(error.message)\n"
    )
    (tmp_path / "a.md").chmod(0o444)
    tmp_path.chmod(0o555)
    for folder in list(tmp_path.parents)[:3]:
        folder.chmod(folder.stat().st_mode | 0o055)
    try:
        out = subprocess.run(
            [sys.executable, "-c", code, str(vault.root)],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        tmp_path.chmod(0o755)
    first, second = out.stdout.splitlines()
    assert first.startswith("b.md cannot be accessed: it is read-only"), out.stderr
    assert second.startswith("a.md cannot be accessed: it is read-only")
    assert str(tmp_path) not in out.stdout


def test_leftovers_of_killed_writes_are_reported_and_kept(tmp_path: Path) -> None:
    vault = write(
        tmp_path,
        {"a.md": "", "d/.memvault-x1.tmp": "half", ".memvault-x2.tmp": "half", "d/.mine.tmp": ""},
    )
    assert leftovers(vault) == [".memvault-x2.tmp", "d/.memvault-x1.tmp"]
    assert (tmp_path / ".memvault-x2.tmp").read_text() == "half"
    assert walked(vault) == ["a.md"]


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EROFS, "its drive is read-only; make the drive writable"),
        (errno.EACCES, "allow it in the file's or folder's permissions"),
        (errno.ENOSPC, "free some space"),
        (errno.EIO, "its drive does not answer .*; connect the drive again, or check it"),
    ],
)
def test_storage_errors_say_what_to_do(number: int, advice: str) -> None:
    with pytest.raises(StorageError, match=advice), write_module.storage_errors("a.md"):
        raise OSError(number, os.strerror(number))


def test_storage_errors_never_show_a_path_outside_the_vault(tmp_path: Path) -> None:
    vault = write(tmp_path, {"file.md": ""})
    with pytest.raises(StorageError) as refused:
        vault.create_at("file.md/x.md", b"")
    assert str(tmp_path) not in refused.value.message


def test_writers_that_share_a_vault_lose_nothing_of_each_other(tmp_path: Path) -> None:
    (tmp_path / "Log.md").write_bytes(b"")

    def write(name: str) -> None:
        vault = Vault(tmp_path)  # as each process has its own
        for number in range(25):
            line = f"{name}{number}\n".encode()
            vault.edit("Log.md", lambda data, line=line: data + line)

    writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    written = (tmp_path / "Log.md").read_text().split()
    assert sorted(written) == sorted(f"{name}{number}" for name in "abcd" for number in range(25))


def test_a_writer_that_never_ends_is_said_and_the_note_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Log.md").write_bytes(b"one\n")
    monkeypatch.setattr("memvault.vault.writer_lock.TIMEOUT_SECONDS", 0.05)
    with WriterLock(tmp_path).held(), pytest.raises(StorageError, match="another memvault process"):
        Vault(tmp_path).edit("Log.md", lambda data: data + b"two\n")
    assert (tmp_path / "Log.md").read_bytes() == b"one\n"
    Vault(tmp_path).edit("Log.md", lambda data: data + b"two\n")


def test_what_killed_writes_left_in_memvaults_own_folders_is_removed_once_it_is_old(
    tmp_path: Path,
) -> None:
    own = ".memvault/history"
    kept = {
        "a.md": "",
        "d/.memvault-x1.tmp": "a person's",
        f"{own}/.mine.tmp": "",
        f"{own}/.memvault-new.tmp": "of a write that still runs",
        f"{own}/1234.zip": "",
        ".memvault/mine/.memvault-x.tmp": "",
    }
    folders = ("archive", "history", "journal", "learning", "manifest")
    old = [f".memvault/{folder}/.memvault-old.tmp" for folder in folders]
    vault = write(tmp_path, kept | dict.fromkeys(old, "half"))
    (tmp_path / own / ".memvault-link.tmp").symlink_to(tmp_path / "a.md")
    for path in [*kept, *old]:
        if "new" not in path:
            os.utime(tmp_path / path, (1e9, 1e9))
    assert own_leftovers(vault) == sorted([*old, f"{own}/.memvault-new.tmp"])
    remove_own_leftovers(vault)
    assert not any((tmp_path / path).exists() for path in old)
    assert all((tmp_path / path).exists() for path in kept)
    assert (tmp_path / own / ".memvault-link.tmp").is_symlink()


@pytest.mark.parametrize("link", [".memvault", ".memvault/history"])
def test_memvaults_own_folder_is_not_made_where_a_link_leads_out_of_the_vault(
    tmp_path: Path, link: str
) -> None:
    vault = write(tmp_path / "vault", {"a.md": ""})
    outside = tmp_path / "outside"
    outside.mkdir()
    place = vault.root / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside, target_is_directory=True)
    with pytest.raises(OutsideVault, match="history is a link out of the vault"):
        own_folder(vault, Path(".memvault/history"))
    assert names_in(outside) == []
    place.unlink()
    assert own_folder(vault, Path(".memvault/history")).is_dir()
