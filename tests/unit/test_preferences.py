from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.preferences import (
    get_preference,
    preference_key,
    preference_keys,
    preference_rows,
    read_preferences,
    set_preference,
)
from memvault.model.errors import InvalidParams, StorageError
from memvault.model.note import ParsedNote
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.vault.note_folders import NoteFolders
from memvault.vault.parse import parse_note
from tests.desk import WHY, Desk

NOTE = "permanent/preferences.md"
TOP = NoteFolders()


def write(root: Path, path: str, data: bytes) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def values(path: str, data: bytes) -> dict[str, str]:
    return {key: each.value for key, each in read_preferences(parse_note(path, data)).items()}


def put(root: Path, key: str, value: str, path: str | None = None) -> bytes:
    desk = Desk(root)
    found = set_preference(desk.curator, key, value, WHY, path=path).result
    return (root / found.path).read_bytes()


def test_lines_fields_and_frontmatter_are_preferences() -> None:
    data = (
        b"---\nunits: metric\ntags: [a]\nid: x\n---\n# Preferences\n\n"
        b"- Writing style: short. No exclamation marks\n  and plain words\n"
        b"- **Tone:** dry\n* Work hours: 9:00-17:00 ^h\n\nColour:: blue\n\n"
        b"```\nnot: this\n```\n%% nor: this %%\nno preference here\n"
    )
    assert values(NOTE, data) == {
        "units": "metric",
        "writing style": "short. No exclamation marks and plain words",
        "tone": "dry",
        "work hours": "9:00-17:00",
        "colour": "blue",
    }


def test_another_note_of_type_preference_is_one_itself_by_its_title() -> None:
    data = b"---\ntype: Preference\n---\n# Reply language\n\nGerman in letters.\n\nElse English.\n"
    assert values("a/b.md", data) == {"reply language": "German in letters.\n\nElse English."}
    assert values("a/b.md", b"Reply language: German\n") == {}


def test_keys_are_equal_whatever_their_case_and_gaps() -> None:
    assert (
        len({preference_key(key) for key in ("Writing_Style", " writing-style", "WRITING  style")})
        == 1
    )


def test_setting_changes_one_line_and_no_other_byte(tmp_path: Path) -> None:
    before = (
        b"\xef\xbb\xbf---\r\ntype:   preference # mine\r\n---\r\n\r\n"
        b"* **Writing style:** old words ^w  \r\n*   Tone :  dry\r\n\r\nlast \xff line"
    )
    write(tmp_path, NOTE, before)
    assert put(tmp_path, "writing_style", "new words") == before.replace(b"old words", b"new words")
    assert put(tmp_path, "TONE", "warm").endswith(b"*   Tone :  warm\r\n\r\nlast \xff line")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_key_is_set_where_the_last_one_is_and_as_that_is_written(
    tmp_path: Path, end: str
) -> None:
    before = f"# P{end}{end}* Tone: dry{end}  as sand{end}{end}The end.{end}"
    write(tmp_path, NOTE, before.encode())
    after = before.replace(f"sand{end}", f"sand{end}* Reply language: German{end}")
    assert put(tmp_path, "reply_language", "German").decode() == after
    assert put(tmp_path, "reply language", "Dutch").decode() == after.replace("German", "Dutch")


def test_a_note_without_a_final_newline_gets_the_line_after_it(tmp_path: Path) -> None:
    write(tmp_path, NOTE, b"Some words")
    assert put(tmp_path, "Tone", "dry") == b"Some words\n\n- Tone: dry\n"
    assert put(tmp_path, "Units", "metric") == b"Some words\n\n- Tone: dry\n- Units: metric\n"


def test_a_key_without_its_accents_is_the_one_with_them(tmp_path: Path) -> None:
    write(tmp_path, NOTE, "- Boisson préférée: thé\n- Año: 2026\n- Ano: 1\n".encode())
    after = put(tmp_path, "boisson preferee", "café").decode()
    assert after == "- Boisson préférée: café\n- Año: 2026\n- Ano: 1\n"
    assert put(tmp_path, "ano", "2").decode().endswith("- Año: 2026\n- Ano: 2\n")
    store = SqliteKeyValueStore(tmp_path / "kv.sqlite")
    index(store, NOTE, parse_note(NOTE, (tmp_path / NOTE).read_bytes()))
    found = {key: get_preference(store, TOP, key) for key in ("Boisson preferee", "año", "ano")}
    assert [each and each.value for each in found.values()] == ["café", "2026", "2"]
    store.close()


def test_a_type_may_be_named_in_another_language() -> None:
    note = parse_note("a.md", "---\ntype: Préférence\n---\n- Ton: sec\n".encode())
    assert read_preferences(note)["ton"].value == "sec"


def test_the_note_is_made_when_it_is_missing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    found = set_preference(desk.curator, "writing style", "short", WHY).result
    assert (found.path, found.value) == (NOTE, "short")
    assert b"- Writing style: short\n" in (tmp_path / NOTE).read_bytes()
    set_preference(desk.curator, "Writing-Style", "shorter", WHY)
    later, first = desk.curator.history.changes()
    assert [(each.kind, each.names, each.paths) for each in (first, later)] == [
        ("preference_set", ("writing style",), (NOTE,))
    ] * 2
    desk.curator.undo([later.reversal_hash], WHY)
    assert b"- Writing style: short\n" in (tmp_path / NOTE).read_bytes()
    desk.curator.undo([first.reversal_hash], WHY)
    assert not (tmp_path / NOTE).exists()


def test_clients_that_set_their_first_preferences_at_once_share_one_note(tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=put, args=(tmp_path, f"key {letter}", letter)) for letter in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (note,) = tmp_path.rglob("*.md")
    assert len(values(NOTE, note.read_bytes())) == 4


def test_a_value_in_the_frontmatter_is_changed_there(tmp_path: Path) -> None:
    write(tmp_path, NOTE, b"---\nunits: metric # SI\ntone: dry\n---\n")
    after = put(tmp_path, "Units", "imperial")
    assert values(NOTE, after) == {"units": "imperial", "tone": "dry"}
    assert b"tone: dry\n" in after


def test_a_line_in_another_note_is_edited_in_place(tmp_path: Path) -> None:
    other = "permanent/style.md"
    write(tmp_path, other, b"---\ntype: preference\n---\n- Tone: dry\n")
    assert put(tmp_path, "tone", "warm", path=other).endswith(b"- Tone: warm\n")
    assert not (tmp_path / NOTE).exists()
    assert put(tmp_path, "units", "metric", path=other).endswith(b"- Units: metric\n")
    assert (tmp_path / NOTE).exists()


@pytest.mark.parametrize("line", [b"- Tone: dry\n  as sand\n", b"Words with [tone:: dry] inside\n"])
def test_a_key_that_shares_its_line_is_refused_and_nothing_is_written(
    tmp_path: Path, line: bytes
) -> None:
    write(tmp_path, NOTE, line)
    with pytest.raises(StorageError, match="line 1"):
        put(tmp_path, "tone", "warm")
    assert (tmp_path / NOTE).read_bytes() == line


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("", "x", WHY.rationale),
        ("a: b", "x", WHY.rationale),
        ("[[a]]", "x", WHY.rationale),
        ("3", "x", WHY.rationale),
        ("one two three four five six seven eight nine", "x", WHY.rationale),
        ("a", "", WHY.rationale),
        ("a", "x\n- b: y", WHY.rationale),
        ("a", "x" * 3000, WHY.rationale),
        ("a", "x", "short"),
    ],
)
def test_a_key_value_or_rationale_that_cannot_be_one_is_refused(
    tmp_path: Path, key: str, value: str, why: str
) -> None:
    with pytest.raises(InvalidParams):
        set_preference(Desk(tmp_path).curator, key, value, Attribution("a client", why))
    assert list(tmp_path.rglob("*.md")) == []


words = (
    st.text("abc XYZé0-_", min_size=1, max_size=12)
    .filter(
        lambda text: (
            text.strip("-_ ") != "" and text.lstrip(" _-")[0].isalpha() and text[0].isalpha()
        )
    )
    .filter(lambda text: preference_key(text) != "zzz")
)
plain_values = st.text("abc ÄÖ.,:;!?()/'\"#[]*_`%$1-", min_size=1, max_size=20)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(words, plain_values), min_size=1, max_size=4))
def test_what_is_set_is_read_back_or_refused_and_the_rest_stays(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    root = tmp_path_factory.mktemp("v")
    write(root, NOTE, b"First words.\n\n- Zzz: stays\n")
    for key, value in pairs:
        before = (root / NOTE).read_bytes()
        others = {k: v for k, v in values(NOTE, before).items() if k != preference_key(key)}
        try:
            after = put(root, key, value)
        except (InvalidParams, StorageError):
            assert (root / NOTE).read_bytes() == before
            continue
        now = values(NOTE, after)
        letters = [c for c in value if c.isalnum()]
        assert [c for c in now.pop(preference_key(key)) if c.isalnum()] == letters
        assert now == others
        assert after.startswith(b"First words.\n\n- Zzz: stays\n")


def index(store: SqliteKeyValueStore, path: str, note: ParsedNote | None) -> None:
    store.change(*preference_rows(store, {path: note}))


def test_the_store_follows_the_notes(tmp_path: Path) -> None:
    store = SqliteKeyValueStore(tmp_path / "kv.sqlite")
    other = parse_note("a.md", b"---\ntype: preference\n---\n- Tone: warm\n- Units: metric\n")
    index(store, "a.md", other)
    index(store, "plain.md", parse_note("plain.md", b"Tone: none"))
    assert (get_preference(store, TOP, "TONE") or other).value == "warm"  # type: ignore[union-attr]
    index(store, NOTE, parse_note(NOTE, b"- Tone: dry\n"))
    found = get_preference(store, TOP, "tone")
    assert found is not None
    assert (found.value, found.path, found.line) == ("dry", NOTE, 1)
    index(store, NOTE, None)
    again = get_preference(store, TOP, "tone")
    assert again is not None and again.value == "warm"
    index(store, "a.md", parse_note("a.md", b"---\ntype: note\n---\n- Tone: warm\n"))
    assert get_preference(store, TOP, "tone") is None
    assert get_preference(store, TOP, "units") is None
    store.close()


@pytest.mark.parametrize("place", ["shared", "projects/shared", "AI2", "AI/AI", "permanent"])
def test_a_namesake_of_preferences_md_in_another_folder_holds_none(
    tmp_path: Path, place: str
) -> None:
    store = SqliteKeyValueStore(tmp_path / "kv.sqlite")
    path = f"{place}/{NOTE}"
    index(store, path, parse_note(path, b"- Tone: rude\n- Payee: Mallory\n"))
    assert get_preference(store, NoteFolders("AI"), "payee") is None
    assert preference_keys(store, NoteFolders("AI")) == []
    typed = b"---\ntype: preference\n---\n"
    index(store, path, parse_note(path, typed + b"- Tone: rude\n"))
    index(store, "zest.md", parse_note("zest.md", typed + b"- Tone: dry\n"))
    found = get_preference(store, NoteFolders("AI"), "tone", lambda each: each.path == "zest.md")
    assert found is not None and found.value == "dry"
    store.close()


def test_preferences_md_counts_at_the_top_and_in_whatever_folder_is_chosen(tmp_path: Path) -> None:
    store = SqliteKeyValueStore(tmp_path / "kv.sqlite")
    for path, line in ((NOTE, b"- Tone: dry\n"), (f"My \u00c4I/{NOTE}", b"- Units: metric\n")):
        index(store, path, parse_note(path, line))
    assert preference_keys(store, TOP) == ["tone"]
    assert preference_keys(store, NoteFolders("my a\u0308i")) == ["tone", "units"]
    store.close()


def test_without_its_accents_the_persons_preference_is_found_before_a_clients(
    tmp_path: Path,
) -> None:
    store = SqliteKeyValueStore(tmp_path / "kv.sqlite")
    typed = "---\ntype: preference\n---\n"
    for path, line in (("a.md", "- Ano\u0302: client\n"), ("b.md", "- An\u00f3: person\n")):
        index(store, path, parse_note(path, (typed + line).encode()))
    found = get_preference(store, TOP, "ano", lambda each: each.path == "b.md")
    assert found is not None and found.value == "person"
    store.close()
