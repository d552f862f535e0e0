"""What kind of file some bytes are, told by how they begin."""

from __future__ import annotations

from typing import Literal, NamedTuple

Modality = Literal["text", "image", "audio", "video"]


class FileKind(NamedTuple):
    modality: Modality
    suffix: str  # with its dot, as Obsidian embeds it


_BEGINNINGS: tuple[tuple[bytes, FileKind], ...] = (
    (b"\x89PNG\r\n\x1a\n", FileKind("image", ".png")),
    (b"\xff\xd8\xff", FileKind("image", ".jpg")),
    (b"GIF87a", FileKind("image", ".gif")),
    (b"GIF89a", FileKind("image", ".gif")),
    (b"BM", FileKind("image", ".bmp")),
    (b"ID3", FileKind("audio", ".mp3")),
    (b"\xff\xfb", FileKind("audio", ".mp3")),
    (b"\xff\xf3", FileKind("audio", ".mp3")),
    (b"\xff\xf2", FileKind("audio", ".mp3")),
    (b"fLaC", FileKind("audio", ".flac")),
    (b"OggS", FileKind("audio", ".ogg")),
)
_RIFF = {
    b"WEBP": FileKind("image", ".webp"),
    b"WAVE": FileKind("audio", ".wav"),
}
_BRANDS = {
    b"avif": FileKind("image", ".avif"),
    b"M4A ": FileKind("audio", ".m4a"),
    b"M4B ": FileKind("audio", ".m4a"),
    b"qt  ": FileKind("video", ".mov"),
}
_EBML = b"\x1a\x45\xdf\xa3"


def kind_of(data: bytes) -> FileKind | None:
    """The kind of a picture, sound or film that Obsidian can show; None for anything else."""
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12])
    if data[4:8] == b"ftyp":  # ISO base media file format: the brand tells
        return _BRANDS.get(data[8:12], FileKind("video", ".mp4"))
    if data[:4] == _EBML:
        return FileKind("video", ".webm" if b"webm" in data[:64] else ".mkv")
    for beginning, kind in _BEGINNINGS:
        if data.startswith(beginning):
            return kind
    return None
