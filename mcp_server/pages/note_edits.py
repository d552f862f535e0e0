"""Turns a note into the text of a form, and the form's text into a note."""

from __future__ import annotations

from memvault.model.errors import InvalidParams
from memvault.text.diff import stretches
from memvault.vault.lines import lines_of, newline_of

_BOM = "\ufeff"


def editable(data: bytes) -> str | None:
    """The note as text; None if it is not UTF-8 text, because a form would lose bytes."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text.removeprefix(_BOM)


def edited(before: bytes, sent: str) -> bytes:
    """The note with the text that a form sent; unchanged lines keep their line ends.

    Raises:
        InvalidParams: the note is not UTF-8.
    """
    text = editable(before)
    if text is None:
        raise InvalidParams("This note is not UTF-8 text; edit it in your editor.")
    old = lines_of(text)
    wanted = sent.replace("\r\n", "\n").replace("\r", "\n")
    new = [line.rstrip("\n") for line in lines_of(wanted)]
    bare = [line.rstrip("\r\n") for line in old]
    end = newline_of(text)
    lines: list[str] = []
    for equal, i1, i2, j1, j2 in stretches(bare, new):
        lines += old[i1:i2] if equal else [line + end for line in new[j1:j2]]
    # Only the last line may lack a line end, and only if it was sent without one.
    lines = [line if line.endswith(("\r", "\n")) else line + end for line in lines]
    if lines and not wanted.endswith("\n"):
        lines[-1] = lines[-1].rstrip("\r\n")
    # A lone \r and the \n of an empty line after it would read as one line end, so the \r becomes
    # \n. Going up, since this \n may itself follow a lone \r.
    for k in reversed(range(len(lines) - 1)):
        if lines[k].endswith("\r") and lines[k + 1] == "\n":
            lines[k] = lines[k][:-1] + "\n"
    bom = _BOM if before.startswith(_BOM.encode()) else ""
    return (bom + "".join(lines)).encode("utf-8")
