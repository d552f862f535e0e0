"""Reads and appends lines of the journal's files, compressed or not."""

from __future__ import annotations

import errno
import gzip
import os
import zlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from memvault.vault.write import sync_folder

COMPRESSED = ".gz"  # ends the name of a compressed file
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)  # raised for a damaged compressed file


def opened(file: Path) -> BinaryIO | gzip.GzipFile:
    """The opened file, decompressed if needed; it may have been compressed since it was listed."""
    if file.suffix != COMPRESSED:
        try:
            return file.open("rb")
        except FileNotFoundError:
            file = file.with_name(file.name + COMPRESSED)
    return gzip.open(file)


def lines(stream: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """The lines of a file; for a damaged compressed file, the last line reports the damage."""
    try:
        yield from iter(stream.readline, b"")  # a generator of the stream would close it
    except DAMAGED as error:
        yield f"damaged from here on: {error}\n".encode()


def is_after_line_end(stream: BinaryIO | gzip.GzipFile, offset: int) -> bool:
    try:
        stream.seek(max(0, offset - 1))
        return offset == 0 or stream.read(1) == b"\n"
    except DAMAGED:
        return False


def append_line(file: Path, line: bytes, flush: bool) -> None:
    """Append with one write; a truncated last line is terminated first."""
    is_new = not file.exists()
    with file.open("a+b", buffering=0) as stream:
        size = stream.seek(0, os.SEEK_END)
        if size:
            stream.seek(size - 1)
            if stream.read(1) != b"\n":
                line = b"\n" + line
        _write_or_truncate(stream, line, size, flush)
    if is_new:
        sync_folder(file.parent)


def _write_or_truncate(stream: FileIO, line: bytes, size: int, flush: bool) -> None:
    """Write the line; if that fails, the file keeps its size."""
    try:
        if stream.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if flush:
            os.fsync(stream.fileno())
    except OSError:
        stream.truncate(size)
        raise
