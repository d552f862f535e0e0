"""A person who keeps all that memvault writes in one folder of the vault."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.doctor import examine
from memvault.cli.app import run
from memvault.cli.options import find_places
from memvault.cli.terminal import settings_of, vault_of
from memvault.config.settings import IndexSettings, NotesSettings, Settings, load_settings
from memvault.model.errors import InvalidParams
from memvault.model.memory import Lifecycle
from memvault.vault.note_folders import NoteFolders
from tests.integration.caller import Caller
from tests.integration.small_vault import opened
from tests.integration.tiny_engine import environment

WHY = "The person asked me to keep this."
NOW = datetime(2026, 3, 1, 8, tzinfo=UTC)
CHOSEN = Settings(index=IndexSettings(ner="off"), notes=NotesSettings(folder="AI/memvault"))


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Caller]:
    container = opened(tmp_path, settings=CHOSEN)
    yield Caller(container, tools="full")
    container.close()


@pytest.fixture
def commands(home: Path, forked_engines: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of a person with an empty home folder, whose engines are forked."""
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])


def stored(writer: Caller, **arguments: object) -> str:
    return writer.ok("store_memory", rationale=WHY, **arguments)["path"]


def test_what_a_client_stores_is_in_the_chosen_folder_and_nothing_else_changes(
    writer: Caller,
) -> None:
    before = writer.notes()
    paths = [
        stored(writer, content="The pump is green.", title="Pump"),
        stored(writer, content="We dive in May.", title="Dive", project="kelp"),
        stored(writer, content="We spoke of bats.", title="Talk", type="session"),
        writer.ok("annotate_node", target="Diving permits", note="Ask Jo.", rationale=WHY)["path"],
    ]
    day = datetime.now().astimezone().date().isoformat()
    assert paths == [
        "AI/memvault/projects/Pump.md", "AI/memvault/projects/kelp/Dive.md",
        f"AI/memvault/sessions/{day}/Talk.md", "AI/memvault/projects/Diving permits.md",
    ]  # fmt: skip
    assert {path: writer.notes()[path] for path in before} == before
    dive = writer.ok("get_memory", path="Dive")
    assert (dive["lifecycle"], dive["project"]) == ("temporary", "kelp")
    assert writer.ok("get_memory", path="Talk")["lifecycle"] == "ephemeral"


def test_a_preference_goes_to_the_note_that_has_it_else_to_the_chosen_folder(
    writer: Caller,
) -> None:
    writer.ok("set_preference", key="tone", value="plain", rationale=WHY)
    assert "Tone: plain" in (writer.notes()["AI/memvault/permanent/preferences.md"]).decode()
    writer.ok("set_preference", key="reply language", value="Welsh", rationale=WHY)
    assert b"Reply language: Welsh" in writer.notes()["permanent/preferences.md"]
    assert writer.ok("get_preference", key="tone")["value"] == "plain"


def test_a_memory_moves_between_the_folders_of_its_lifecycle_within_the_chosen_one(
    writer: Caller,
) -> None:
    writer = writer.person
    stored(writer, content="The pump is green.", title="Pump", project="kelp")
    kept = writer.ok(
        "set_lifecycle", target="Pump", lifecycle="permanent", move=True, rationale=WHY
    )
    assert kept["path"] == "AI/memvault/permanent/Pump.md"
    moved = writer.ok(
        "move_memory", target="Pump", destination="AI/memvault/projects/oven", rationale=WHY
    )
    assert moved["path"] == "AI/memvault/projects/oven/Pump.md"
    pump = writer.ok("get_memory", path="Pump")
    assert (pump["lifecycle"], pump["project"]) == ("temporary", "oven")


def test_the_notes_of_a_finished_project_stay_in_the_chosen_folder(writer: Caller) -> None:
    path = stored(writer, content="Bread takes an hour.", title="Bread", project="oven")
    assert path == "AI/memvault/projects/oven/Bread.md"
    done = writer.person.ok("archive_project", project="oven", rationale=WHY)
    assert done["moved"] == {
        path: "AI/memvault/archive/projects/oven/Bread.md",
        "projects/oven/Clay oven.md": "archive/projects/oven/Clay oven.md",
    }
    bread = writer.ok("get_memory", path="Bread")
    assert (bread["lifecycle"], bread["project"]) == ("temporary", "oven")
    writer.person.ok("undo_change", change=done["reversal_hash"], rationale=WHY)
    assert path in writer.notes()
    assert "projects/oven/Clay oven.md" in writer.notes()


@pytest.mark.parametrize("excluded", ["AI/", "AI/memvault/", "AI/memvault/Projects/"])
def test_the_chosen_folder_is_read_although_obsidian_leaves_it_out_of_its_search(
    tmp_path: Path, excluded: str
) -> None:
    filters = json.dumps({"userIgnoreFilters": [excluded, "Old/"]})
    notes = {".obsidian/app.json": filters, "Old/Pump.md": "The pump is red.\n"}
    container = opened(tmp_path, notes, settings=CHOSEN)
    writer = Caller(container, tools="full")
    path = stored(writer, content="The pump is green.", title="Pump")
    found = writer.ok("recall_memory", query="What colour is the pump?")["nodes"]
    listed = writer.ok("list_memories")["memories"]
    container.close()
    assert [each["path"] for each in found] == [each["path"] for each in listed] == [path]


def _link(target: Path) -> Callable[[Path], None]:
    return lambda place: place.symlink_to(target, target_is_directory=True)


def _file(place: Path) -> None:
    place.write_text("My own words.\n", encoding="utf-8")


def _ignored(place: Path) -> None:
    (place.parent / ".memvaultignore").write_text("/AI/\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (_link(Path("permanent")), "is a link"),
        (_link(Path("..")), "is a link"),
        (_file, "is a file"),
        (_ignored, ".memvaultignore excludes AI/"),
    ],
)
def test_a_chosen_folder_that_is_not_read_gets_no_note_until_that_is_corrected(
    writer: Caller, block: Callable[[Path], None], reason: str
) -> None:
    root = writer.container.vault.root
    block(root / "AI")
    before = sorted(root.parent.rglob("*.md"))
    calls: list[tuple[str, dict[str, str]]] = [
        ("store_memory", {"content": "The pump is green.", "title": "Pump"}),
        ("annotate_node", {"target": "Diving permits", "note": "Ask Jo."}),
        ("set_preference", {"key": "tone", "value": "plain"}),
    ]
    for tool, arguments in calls:
        refused = writer.error(tool, rationale=WHY, **arguments)["message"]
        assert reason in refused and "`memvault init --notes-folder`" in refused
    assert sorted(root.parent.rglob("*.md")) == before
    problems = [each.what for each in examine(writer.container.live.indexer)]
    (problem,) = [what for what in problems if "cannot hold new notes" in what]
    assert reason in problem
    (root / (".memvaultignore" if block is _ignored else "AI")).unlink()
    for tool, arguments in calls:
        assert writer.ok(tool, rationale=WHY, **arguments)["path"].startswith("AI/memvault/")
    assert not [each for each in examine(writer.container.live.indexer) if reason in each.what]


def test_the_chosen_folder_is_spelled_as_on_disk(writer: Caller) -> None:
    (writer.container.vault.root / "ai/Memvault/projects/Kelp Two").mkdir(parents=True)
    writer.ok("set_preference", key="tone", value="plain", rationale=WHY)
    assert "ai/Memvault/permanent/preferences.md" in writer.notes()
    assert writer.ok("get_preference", key="tone")["value"] == "plain"
    path = stored(writer, content="We dive in May.", title="Dive", project="kelp-two")
    assert path == "ai/Memvault/projects/Kelp Two/Dive.md"


@pytest.mark.usefixtures("commands")
def test_init_takes_the_folder_as_a_shell_completes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vault = tmp_path / "mine"
    (vault / "AI").mkdir(parents=True)
    for elsewhere in (tmp_path, tmp_path / "AI", "/AI"):
        assert run(["init", str(vault), "--notes-folder", str(elsewhere)]) == 2
        assert "is outside the vault" in capsys.readouterr().err
    (vault / "link").symlink_to(vault / "AI")
    assert run(["init", str(vault), "--notes-folder", "link"]) == 2
    assert "link is a link" in capsys.readouterr().err
    assert run(["init", str(vault), "--notes-folder", f"{vault / 'AI'}/"]) == 0
    assert settings_of(find_places(str(vault), None)).notes.folder == "AI"
    assert run(["--vault", str(vault), "stop"]) == 0


@pytest.mark.usefixtures("commands")
def test_init_writes_the_folder_to_the_vaults_configuration_and_says_where_notes_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vault = tmp_path / "mine"
    (vault / "Boat").mkdir(parents=True)
    (vault / "Boat" / "Keel.md").write_text("The keel is oak.\n", encoding="utf-8")
    assert run(["init", str(vault), "--notes-folder", "../elsewhere"]) == 2
    assert "'../elsewhere' must be a folder in the vault" in capsys.readouterr().err
    assert run(["init", str(vault), "--notes-folder", "AI"]) == 0
    shown = capsys.readouterr().out
    places = find_places(str(vault), None)
    assert "your notes are unchanged; new ones go to AI/" in shown
    assert f"The settings of this vault are in {places.state.config_file}" in shown
    assert settings_of(places).notes.folder == "AI"
    assert vault_of(places).folders == NoteFolders("AI")
    assert run(["--vault", str(vault), "new", "Mast", "--text", "It is larch."]) == 0
    assert (vault / "AI/permanent/Mast.md").is_file()
    assert run(["--vault", str(vault), "stop"]) == 0


@pytest.mark.parametrize(
    "folder", ["..", "/AI", "AI/../..", ".hidden", "a\\b", "AI//x", "C:", "AI/ x", "A" * 121]
)
def test_a_folder_outside_of_the_vault_or_hidden_is_refused(tmp_path: Path, folder: str) -> None:
    file = tmp_path / "memvault.toml"
    file.write_text(f"[notes]\nfolder = '{folder}'\n", encoding="utf-8")
    with pytest.raises(InvalidParams, match=r"notes\.folder: must be a folder in the vault"):
        load_settings(file)


@pytest.mark.usefixtures("commands")
def test_the_settings_that_init_changes_keep_their_other_bytes(tmp_path: Path) -> None:
    real, file = tmp_path / "dotfiles.toml", tmp_path / "memvault.toml"
    real.write_bytes(b"# mine\r\n[engine]\r\nidle_exit_seconds = 5   # short\r\n")
    file.symlink_to(real)
    vault = tmp_path / "mine"
    assert run(["init", str(vault), "--config", str(file), "--notes-folder", "AI"]) == 0
    assert run(["--vault", str(vault), "stop"]) == 0
    assert file.is_symlink()
    assert real.read_bytes().startswith(
        b"# mine\r\n[engine]\r\nidle_exit_seconds = 5   # short\r\n"
    )
    assert load_settings(file).notes.folder == "AI"


@pytest.mark.parametrize("folder", ["projects", "Permanent/AI", "sessions", "archive/AI"])
def test_a_folder_that_says_what_its_notes_are_is_refused(folder: str) -> None:
    with pytest.raises(ValueError, match="must not be in"):
        NotesSettings(folder=folder)


name = st.text("aAé ßx.", min_size=1).filter(lambda text: text.strip(". ") == text)
path = st.lists(name, max_size=3).map("/".join)


@given(path, path.filter(bool))
def test_a_path_in_the_chosen_folder_is_found_relative_to_it_in_any_case(
    chosen: str, below: str
) -> None:
    folders = NoteFolders(chosen)
    assert folders.relative(folders.within(below)) == below
    assert NoteFolders(chosen.swapcase()).relative(folders.within(below)) == below
    for lifecycle in Lifecycle:
        assert folders.of(lifecycle, "x", NOW.date()).startswith(chosen)
