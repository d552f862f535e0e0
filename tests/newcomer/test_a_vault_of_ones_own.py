"""The first hour with a vault that somebody has kept for years, of which nothing is known here.

The vault is the folder of ``MEMVAULT_NEWCOMER_VAULT``, else the documents of this repository but
the longest. It is copied; the tests run in the order of the file.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.newcomer.person import Newcomer

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ROOT / "docs"
LONGEST = ("trials.md", "benchmarks.md", "user-guide.md")  # most of all text
pytestmark = pytest.mark.usefixtures("forked_engines")
WORD = re.compile(r"[^\W\d_]+")
WHY = "The person asked for it while trying memvault."


def hashes(vault: Path) -> dict[str, str]:
    """The person's files, without what memvault adds."""
    return {
        path.relative_to(vault).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in vault.rglob("*")
        if path.is_file() and not {".memvault", ".trash"} & set(path.parts)
    }


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    home = tmp_path_factory.mktemp("home")
    vault = home / "Notes"
    given = os.environ.get("MEMVAULT_NEWCOMER_VAULT")
    left_out = shutil.ignore_patterns(*([] if given else LONGEST))
    shutil.copytree(given or DOCUMENTS, vault, ignore=left_out, copy_function=shutil.copyfile)
    for folder in (vault, *(each for each in vault.rglob("*") if each.is_dir())):
        folder.chmod(0o755)
    person = Newcomer(home, vault)
    yield person
    person.types("stop")


@pytest.fixture(scope="module")
def before(newcomer: Newcomer) -> dict[str, str]:
    return hashes(newcomer.vault)


@pytest.fixture(scope="module")
def chosen(before: dict[str, str], newcomer: Newcomer) -> list[Path]:
    """Some notes whose name is theirs alone, always the same."""
    notes = [newcomer.vault / path for path in sorted(before) if path.endswith(".md")]
    stems = [note.stem.casefold() for note in notes]
    alone = [
        note
        for note in notes
        if stems.count(note.stem.casefold()) == 1 and note.stat().st_size > 1_000
    ]
    return random.Random(5).sample(alone, min(6, len(alone)))


def test_init_touches_none_of_the_notes(newcomer: Newcomer, before: dict[str, str]) -> None:
    assert "your notes are unchanged" in newcomer.types("init", str(newcomer.vault))
    after = hashes(newcomer.vault)
    assert {path: after.get(path) for path in before} == before


def test_status_and_doctor_agree(newcomer: Newcomer) -> None:
    problems = dict(
        line.split("\t", 1) for line in newcomer.types("status").splitlines() if "\t" in line
    )["problems"]
    fine = newcomer.types("doctor") == "No problems found.\n"
    assert (problems == "none") == fine


def test_a_note_is_found_by_what_it_is_called(newcomer: Newcomer, chosen: list[Path]) -> None:
    found = [
        note.relative_to(newcomer.vault).as_posix()
        in [each["path"] for each in newcomer.recalled(f"What do my notes say on {note.stem}?")[:3]]
        for note in chosen
    ]
    assert found.count(True) >= len(found) - 1


def test_what_is_shown_of_a_note_is_its_own_text(newcomer: Newcomer, chosen: list[Path]) -> None:
    for each in newcomer.recalled(f"What do my notes say on {chosen[0].stem}?")[:3]:
        text = (newcomer.vault / each["path"]).read_text(encoding="utf-8", errors="replace")
        words = set(WORD.findall(text))
        shown = WORD.findall(each["content"])
        assert shown and sum(word in words for word in shown) > 0.8 * len(shown)


def test_show_related_and_the_page_take_a_notes_name(
    newcomer: Newcomer, chosen: list[Path]
) -> None:
    name = chosen[0].name
    assert name in newcomer.types("show", chosen[0].stem).splitlines()[0]
    newcomer.types("related", chosen[0].stem)
    for path in ("/", "/ask", "/curate", "/memories", "/concepts", "/timeline", "/activity"):
        assert newcomer.opens(path)[0] == 200, path


def test_a_question_that_no_note_answers_gets_none(newcomer: Newcomer) -> None:
    assert newcomer.recalled("zxqv blorp fnord") == []


def test_whatever_a_client_did_is_undone_to_the_byte(
    newcomer: Newcomer, chosen: list[Path], before: dict[str, str]
) -> None:
    name = chosen[-1].stem
    stored = newcomer.calls(
        "store_memory",
        content="The lighthouse keeper is Mrs Quill.",
        rationale=WHY,
        link_to=[name, "no such note at all"],
    )
    assert "no such note at all" in stored["notice"]
    newcomer.calls(
        "edit_memory", target=name, operation="append", content="A remark.", rationale=WHY
    )
    newcomer.calls("annotate_node", target=name, note="Another remark.", rationale=WHY)
    waits = newcomer.calls("forget_concept", target=chosen[0].stem, rationale=WHY)
    assert "waits for the person" in waits["notice"] and chosen[0].exists()
    newcomer.types("undo", "--client", "mcp", "--yes")
    after = hashes(newcomer.vault)
    assert {path: after.get(path) for path in before} == before
    assert not (newcomer.vault / stored["path"]).exists()


def test_an_unknown_project_is_an_error_that_lists_the_known(newcomer: Newcomer) -> None:
    with pytest.raises(Exception, match="No note belongs to a project 'nope'"):
        newcomer.calls("recall_memory", query="anything", project="nope")
