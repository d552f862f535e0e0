"""Bytes to text: a note is read whatever its encoding went through."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

BINARY_PROBE_BYTES = 8192
_MAX_CONTROL_SHARE = 0.1
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_NEWLINE = re.compile(r"\r\n?")


class Decoded(NamedTuple):
    """``text`` has ``\\n`` line ends and no byte order mark; empty when the bytes are binary."""

    text: str
    warnings: tuple[str, ...]


def decode(data: bytes, max_bytes: int) -> Decoded:
    """Read at most `max_bytes` of a note, cut after a whole line."""
    warnings: list[str] = []
    if len(data) > max_bytes:
        cut = data.rfind(b"\n", 0, max_bytes) + 1
        warnings.append(
            f"only the first {max_bytes / 1e6:.0f} MB of {len(data) / 1e6:.0f} MB are indexed; "
            "split the note to index all of it"
        )
        data = data[: cut or max_bytes]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
        warnings.append("the note is UTF-16; save it as UTF-8 so that memvault can also write it")
    elif is_binary(data):
        return Decoded("", (*warnings, "the file is not text and is not indexed"))
    else:
        text = data.decode("utf-8-sig", errors="replace")
        if "\ufffd" in text and (bad := _count_invalid(data)):
            warnings.append(f"{bad} bytes are not UTF-8 and were replaced; save the note as UTF-8")
    if "\r" in text:
        text = _NEWLINE.sub("\n", text)
    return Decoded(text.replace("\0", "\ufffd"), tuple(warnings))


def is_binary(data: bytes) -> bool:
    """As git judges it, a NUL near the start; or too many control characters."""
    probe = data[:BINARY_PROBE_BYTES]
    if b"\0" in probe:
        return True
    return len(_CONTROL.findall(probe)) > _MAX_CONTROL_SHARE * len(probe)


def _count_invalid(data: bytes) -> int:
    """How many bytes are not part of any UTF-8 character."""
    return len(data) - len(data.decode("utf-8", errors="ignore").encode("utf-8"))
