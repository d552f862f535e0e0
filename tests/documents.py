"""Small real PDF files and canvases."""

from __future__ import annotations

import io
import json

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

CANVAS = json.dumps(
    {
        "nodes": [
            {"id": "g", "type": "group", "label": "Spring", "x": 0, "y": 0},
            {"id": "b", "type": "file", "file": "people/Ada.md", "x": 0, "y": 200},
            {
                "id": "a",
                "type": "text",
                "text": "# Goals\nPlant the [[Beds|beans]] in May.",
                "x": 0,
            },
        ],
        "edges": [{"id": "e", "fromNode": "a", "toNode": "b", "label": "leads"}],
    }
).encode()


def make_pdf(pages: list[str], title: str = "") -> bytes:
    """A PDF whose pages have these lines of text."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(300, 400)
        fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        lines = [
            line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            for line in text.split("\n")
        ]
        shown = " T* ".join(f"({line}) Tj" for line in lines)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 14 TL 20 350 Td {shown} ET".encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    if title:
        writer.add_metadata({"/Title": title})
    data = io.BytesIO()
    writer.write(data)
    return data.getvalue()
