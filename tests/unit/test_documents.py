"""PDF files and canvases are read as notes, page by page and card by card, and never written."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from memvault.model.errors import ReadOnlyDocument
from memvault.model.note import ParsedNote
from memvault.vault import documents
from memvault.vault.documents import document_text
from memvault.vault.files import Vault
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.parse import parse_note
from tests.documents import CANVAS, make_pdf


def parsed(path: str, data: bytes) -> ParsedNote:
    return parse_note(path, document_text(path, data))


def test_a_pdf_is_a_note_with_its_pages_as_headings():
    data = make_pdf(["The lease ends in May.\nThe rent is 900 Euro.", "", "Pets are wel-\ncome."])
    note = parsed("docs/Lease.pdf", data)
    assert note.title == "Lease"
    assert [heading.text for heading in note.headings] == ["Page 1", "Page 3"]
    assert [(block.heading, block.text) for block in note.blocks] == [
        (("Page 1",), "The lease ends in May.\nThe rent is 900 Euro."),
        (("Page 3",), "Pets are welcome."),
    ]
    assert [s.text for s in note.blocks[0].sentences] == [
        "The lease ends in May.",
        "The rent is 900 Euro.",
    ]
    text = document_text("docs/Lease.pdf", data).decode().split("\n")
    for block in note.blocks:
        for sentence in block.sentences:
            assert sentence.text in text[sentence.line - 1]
    assert memory_of(note, fallback_time=datetime(2026, 1, 1, tzinfo=UTC)).type == "pdf"


def test_a_pdf_is_called_by_its_own_title():
    assert parsed("a.pdf", make_pdf(["x"], title="Lease of 2026")).title == "Lease of 2026"
    assert parsed("a.pdf", make_pdf(["x"], title="The oﬃce")).title == "The office"
    assert parsed("Lease.pdf", make_pdf(["x"], title="lease_v3.docx")).title == "Lease"


def test_what_reads_like_markup_in_a_pdf_is_text():
    note = parsed("a.pdf", make_pdf(["# 1 [[Home]] #tag\n- key:: value"]))
    assert not note.links and not note.tags and not note.fields
    assert note.blocks[0].text == "# 1 [[Home]] #tag\n- key:: value"


@given(st.lists(st.text("ab .\n\f", max_size=60), max_size=4), st.text("ab\n", max_size=9))
def test_every_word_of_a_pdfs_text_is_in_a_block_on_its_line(pages: list[str], title: str):
    clean = [page.replace("\f", " ") for page in pages]
    body = "\n\n".join(f"\fPage {n}\n\n{page}" for n, page in enumerate(clean, 1))
    text = f"{title}\n\n{body}\n"
    note = parse_note("a.pdf", text.encode())
    found = " ".join(sentence.text for block in note.blocks for sentence in block.sentences)
    assert found.split() == " ".join(clean).split()
    lines = text.split("\n")
    for block in note.blocks:
        for sentence in block.sentences:
            first = sentence.text.split()[0]
            assert first in lines[sentence.line - 1]
            assert block.lines.first <= sentence.line <= block.lines.last


def test_no_further_page_of_a_pdf_is_read_after_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_SECONDS", 0.0)
    text = document_text("Kite.pdf", make_pdf(["The kite is red.", "It flies."])).decode()
    assert "The kite is red." in text and "flies" not in text


@pytest.mark.parametrize(
    ("repeats", "read"), [(200, 200), (2 * documents.MAX_FORMS, documents.MAX_FORMS)]
)
def test_a_form_that_a_page_repeats_again_and_again_is_read_a_limited_number_of_times(
    repeats: int, read: int
) -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(make_pdf(["kite"]))))
    [page] = writer.pages
    form = DecodedStreamObject()
    form.set_data(page.get_contents().get_data())
    form |= {
        NameObject("/Subtype"): NameObject("/Form"),
        NameObject("/Resources"): page["/Resources"],
    }
    forms = DictionaryObject({NameObject("/X"): writer._add_object(form)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): forms})
    repeated = DecodedStreamObject()
    repeated.set_data(b"/X Do " * repeats)
    page[NameObject("/Contents")] = writer._add_object(repeated)
    data = BytesIO()
    writer.write(data)
    assert document_text("Forms.pdf", data.getvalue()).count(b"kite") == read


def test_a_canvas_is_a_note_of_its_cards_and_connections():
    note = parsed("Plan.canvas", CANVAS)
    assert note.title == "Plan"
    assert [(block.heading[-1], block.text) for block in note.blocks] == [
        ("Plan", "Group: Spring"),
        ("Goals", "Plant the beans in May."),
        ("Card 2", "Ada"),
        ("Connections", "Goals Plant the beans in May. → leads: Ada"),
    ]
    assert {link.target for link in note.links} == {"people/Ada", "Beds"}
    assert note.frontmatter == {"type": "canvas"}


@pytest.mark.parametrize("name", ["a.pdf", "a.canvas"])
@given(data=st.binary(max_size=300) | st.sampled_from([b"%PDF-1.4 broken", b"[]", b'{"nodes": 3}']))
def test_a_damaged_document_has_its_name_only_and_never_fails(name: str, data: bytes):
    note = parsed(name, data)
    assert note.title == "a"


@pytest.mark.parametrize("data", [CANVAS, b"", b"{}\n", CANVAS[:40], b"\xff"])
def test_a_canvas_that_cannot_be_read_says_so(data: bytes):
    is_damaged = data in (CANVAS[:40], b"\xff")
    warnings = parsed("Plan.canvas", data).warnings
    assert any("canvas is damaged" in warning for warning in warnings) == is_damaged


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(["nodes", "edges", "type", "text", "file", "x", "label",
                                         "id", "fromNode", "toNode"]), inner, max_size=5)))  # fmt: skip
def test_any_json_is_read_as_a_canvas(value: object):
    assert parsed("a.canvas", json.dumps(value).encode()).path == "a.canvas"


def test_documents_are_listed_up_to_a_size_and_never_changed(tmp_path: Path):
    (tmp_path / "Lease.pdf").write_bytes(pdf := make_pdf(["The lease ends in May."]))
    (tmp_path / "Plan.canvas").write_bytes(CANVAS)
    (tmp_path / "Home.md").write_text("Home")
    vault = Vault(tmp_path)
    assert [stat.path for stat in vault.walk()] == ["Home.md", "Lease.pdf", "Plan.canvas"]
    assert b"The lease ends" in vault.read("Lease.pdf")
    for change in (
        lambda: vault.edit("Lease.pdf", lambda data: data + b"x"),
        lambda: vault.move("Lease.pdf", "Old.pdf"),
        lambda: vault.delete("Plan.canvas"),
    ):
        with pytest.raises(ReadOnlyDocument, match="read-only"):
            change()
    assert (tmp_path / "Lease.pdf").read_bytes() == pdf
    small = Vault(tmp_path, max_document_bytes=len(CANVAS))
    assert [stat.path for stat in small.walk()] == ["Home.md", "Plan.canvas"]
    assert not small.is_note("Lease.pdf") and small.is_note("Plan.canvas")
    assert [stat.path for stat in Vault(tmp_path, 0).walk()] == ["Home.md"]


def test_a_changed_pdf_is_read_again(tmp_path: Path):
    vault = Vault(tmp_path)
    for text in ("one", "another one"):
        (tmp_path / "a.pdf").write_bytes(make_pdf([text]))
        assert text.encode() in vault.read("a.pdf")
