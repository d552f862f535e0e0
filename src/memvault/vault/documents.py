"""Reads documents among notes: PDF files and Obsidian's canvases.

A document is indexed as a note with its text (`document_text`). A PDF becomes plain text with a
line ``Page 3`` in front of each page, marked by a form feed as by pdftotext, and `parse_pages`
parses that. A canvas becomes Markdown with a heading ``Card 3`` for each card, and its connections.
"""

from __future__ import annotations

import io
import logging
import re
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from cachetools import LRUCache

from memvault.model.errors import ReadOnlyDocument
from memvault.model.json_text import json_value
from memvault.model.note import Block, Heading, LineRange, Sentence
from memvault.model.priority import make_way
from memvault.model.unicode_forms import normalized
from memvault.vault.markdown.labelled_sentences import sentence_starts

PDF, CANVAS = ".pdf", ".canvas"
DOCUMENT_SUFFIXES = frozenset({PDF, CANVAS})
CACHED_TEXTS = 64
MAX_PAGES = 2_000
MAX_TEXT_CHARS = 4_000_000
# Two kilobytes of a hostile PDF can repeat a form of its pages for days.
MAX_SECONDS = 300.0  # of processor time after which no further page of a PDF is read
MAX_FORMS = 300  # of a page; drawings have more than a hundred
PAGE_MARK = "\f"

_CANVAS_START = "---\ntype: canvas\n---"
_FILE_NAME = re.compile(r"\.\w{2,5}\Z")  # some programs set the source's file name as title
_LIGATURES = {ord(sign): normalized(sign, "NFKC") for sign in "ﬀﬁﬂﬃﬄﬅﬆ"}
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\n(?=[^\W\d_A-Z])")
_SPACES = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r"\n\s*\n")
_HEADING = re.compile(r"^(?P<marks>#{1,6})(?=[ \t])", re.MULTILINE)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")

_log = logging.getLogger(__name__)


def is_document(path: str) -> bool:
    """Whether the path is that of a PDF file or a canvas."""
    return PurePosixPath(path).suffix.lower() in DOCUMENT_SUFFIXES


class DocumentTexts:
    """Texts of documents, cached because reading a PDF takes 10 to 50 ms a page. Thread-safe."""

    def __init__(self) -> None:
        self._texts: LRUCache[tuple[str, int, int], bytes] = LRUCache(CACHED_TEXTS)
        self._lock = threading.Lock()

    def read(self, path: str, file: Path) -> bytes:
        """The text of the document in this file; raises OSError if it cannot be read."""
        stat = file.stat()
        key = path, stat.st_size, stat.st_mtime_ns
        with self._lock:
            cached = self._texts.get(key)
        if cached is not None:
            return cached
        text = document_text(path, file.read_bytes())
        with self._lock:
            self._texts[key] = text
        return text


def is_canvas(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() == CANVAS


def check_writable(path: str, documents: Collection[str] = DOCUMENT_SUFFIXES) -> None:
    """Refuse to change a document of these kinds.

    Raises:
        ReadOnlyDocument: the path is that of a PDF file or a canvas.
    """
    if PurePosixPath(path).suffix.lower() in documents:
        raise ReadOnlyDocument(
            f"{path} is read-only: memvault never changes PDF files, and in canvases only the "
            "links to notes that move. Change it in its own program, or write a note that links "
            "to it.",
            path=path,
        )


def document_text(path: str, data: bytes) -> bytes:
    """The text of a document, as UTF-8. Never raises: a damaged document has only a title."""
    stem = PurePosixPath(path).stem
    is_pdf = PurePosixPath(path).suffix.lower() == PDF
    try:
        text = _pdf_text(stem, data) if is_pdf else _canvas_text(stem, data)
    except Exception as error:  # a damaged file may cause any error in the readers
        _log.info("%s cannot be read: %s", path, type(error).__name__)
        text = stem if is_pdf else f"# {stem}\n"
    return text[:MAX_TEXT_CHARS].encode("utf-8", "replace")


def _pdf_text(stem: str, data: bytes) -> str:
    import pypdf  # takes 0.6 s

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # else it logs every oddity
    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted:
        reader.decrypt("")  # many files are encrypted only to restrict printing
    title = reader.metadata.title if reader.metadata else None
    title_words = " ".join(_clean(title or "").split())
    parts, length = [stem if not title_words or _FILE_NAME.search(title_words) else title_words], 0
    until = time.thread_time() + MAX_SECONDS
    for number, page in enumerate(reader.pages, 1):
        make_way()
        with pypdf.apply_configuration(xform_maximum_invocations_per_extraction=MAX_FORMS):
            page_text = page.extract_text()
        text = _HYPHENATED.sub("", _clean(page_text or "")).strip()
        if text:
            parts.append(f"{PAGE_MARK}Page {number}\n\n{text}")
            length += len(text)
        if number >= MAX_PAGES or length > MAX_TEXT_CHARS or time.thread_time() > until:
            break
    return "\n\n".join(parts) + "\n"


def _clean(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace(PAGE_MARK, "\n")
    return _SPACES.sub(" ", _UNPRINTABLE.sub(" ", text)).translate(_LIGATURES)


def parse_pages(text: str) -> tuple[str, list[Heading], list[Block]]:
    """The title, page headings and paragraphs of a PDF's text (`document_text`)."""
    title, *pages = text.split(PAGE_MARK)
    headings: list[Heading] = []
    blocks: list[Block] = []
    line = 1 + title.count("\n")
    for page in pages:
        head, _, body = page.partition("\n")
        headings.append(Heading(head.strip(), 2, line))
        blocks += _paragraphs(body, line + 1, head.strip())
        line += page.count("\n")
    return title.strip(), headings, blocks


def _paragraphs(body: str, line: int, heading: str) -> Iterator[Block]:
    for paragraph in _BLANK_LINES.split(body):
        start = body.index(paragraph)
        line, body = line + body.count("\n", 0, start), body[start:]
        text = paragraph.strip("\n")
        first = line + paragraph.index(text) if text.strip() else line
        if text.strip():
            last = first + text.count("\n")
            starts = sentence_starts(text)
            sentences = tuple(
                Sentence(" ".join(text[begin:end].split()), first + text.count("\n", 0, begin))
                for begin, end in zip(starts, [*starts[1:], len(text)], strict=True)
                if text[begin:end].strip()
            )
            yield Block(text, LineRange(first, last), (heading,), sentences)
        line, body = line + paragraph.count("\n"), body[len(paragraph) :]


def is_unread_canvas(text: str) -> bool:
    """Whether a canvas's text (`document_text`) is only its title, because it is damaged."""
    return not text.startswith(_CANVAS_START)


def _canvas_text(stem: str, data: bytes) -> str:
    json_text = data.decode("utf-8-sig")
    canvas = json_value(json_text) if json_text.strip() else {}  # a new canvas may be empty
    nodes = list(filter(_is_object, _list(canvas, "nodes")))
    cards = [node for node in nodes if node.get("type") != "group"]
    cards.sort(key=lambda node: (_number(node, "y"), _number(node, "x")))
    parts = [_CANVAS_START, f"# {stem}"]
    parts += [f"Group: {label}" for node in nodes if (label := _label(node))]
    for number, card in enumerate(cards, 1):
        parts.append(f"## Card {number}\n\n{_card(card)}")
    names = {str(card.get("id")): _name(card, number) for number, card in enumerate(cards, 1)}
    names |= {str(node.get("id")): label for node in nodes if (label := _label(node))}
    edges = []
    for edge in filter(_is_object, _list(canvas, "edges")):
        ends = [names.get(str(edge.get(key))) for key in ("fromNode", "toNode")]
        if all(ends):
            label = _label(edge)
            edges.append(f"- {ends[0]} → {f'{label}: ' if label else ''}{ends[1]}")
    if edges:
        parts.append("## Connections\n\n" + "\n".join(edges))
    return "\n\n".join(parts) + "\n"


def _card(card: dict[str, Any]) -> str:
    """A card's Markdown, with its headings moved below the card's own."""
    text = str(card.get("text") or "")
    if card.get("type") == "file":
        file = str(card.get("file") or "").removesuffix(".md")
        text = f"[[{file}{card.get('subpath') or ''}]]"
    elif card.get("type") == "link":
        text = f"<{card.get('url') or ''}>"
    return _HEADING.sub(lambda match: f"##{match['marks']}"[:6], text).strip()


def _name(card: dict[str, Any], number: int) -> str:
    if card.get("type") == "file":
        return _card(card)
    words = " ".join(str(card.get("text") or card.get("url") or "").lstrip("# ").split())
    return words if len(words) <= 60 and words else f"Card {number}"


def _list(value: Any, key: str) -> list[Any]:
    items = value.get(key) if isinstance(value, dict) else None
    return items if isinstance(items, list) else []


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _number(node: dict[str, Any], key: str) -> float:
    value = node.get(key)
    return float(value) if isinstance(value, int | float) else 0.0


def _label(element: dict[str, Any]) -> str:
    """The label of a canvas's node or edge, on one line."""
    return " ".join(str(element.get("label") or "").split())
