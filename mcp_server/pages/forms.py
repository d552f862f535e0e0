"""Input from the browser: forms, the page to return to, and the page of a list."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.datastructures import FormData
from starlette.requests import Request

from memvault.model.errors import InvalidParams

MAX_FIELDS = 1_000
MAX_BYTES = 4 * 2**20


class FormToken:
    """The token of one engine's forms."""

    def __init__(self) -> None:
        self.text = secrets.token_urlsafe(24)

    def fits(self, sent: str) -> bool:
        return hmac.compare_digest(sent.encode(), self.text.encode())


class Form:
    """The fields of a form."""

    def __init__(self, data: FormData) -> None:
        self._data = data

    @classmethod
    async def of(cls, request: Request) -> Form:
        """The form of a request. Raises InvalidParams: it is larger than any of our forms."""
        if int(request.headers.get("content-length") or 0) > MAX_BYTES:
            raise InvalidParams("This is more than a page can take; edit the note in your editor.")
        return cls(await request.form(max_files=0, max_fields=MAX_FIELDS, max_part_size=MAX_BYTES))

    def text(self, name: str) -> str:
        """The field's text; empty if it was not sent."""
        value = self._data.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        return [value for value in self._data.getlist(name) if isinstance(value, str)]

    def seen(self) -> dict[str, str]:
        """The content hash of each note that the page showed, by id."""
        pairs = (field.partition(" ") for field in self.texts("seen"))
        return {note_id: shown for note_id, _, shown in pairs}

    def why(self) -> str:
        """The reason that the person gave, on one line; empty if none."""
        return " ".join(self.text("why").split())

    def needed(self, name: str) -> str:
        """The field's text. Raises InvalidParams: it is empty or was not sent."""
        value = self.text(name).strip()
        if not value:
            raise InvalidParams(f"Give a {name}.", parameter=name)
        return value

    def yes(self, name: str) -> bool:
        """Whether the field is "yes". Raises InvalidParams: it is empty or was not sent."""
        return self.needed(name) == "yes"


def back_to(path: str) -> str:
    """The path if it is on this site, else "/"."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and "\n" not in path
    return path if is_own else "/"


PAGE_SIZE = 50
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class PageOfRows(Generic[Row]):
    """The rows of page ``number`` of ``last``, of ``total`` rows in all."""

    rows: Sequence[Row]
    number: int
    last: int
    total: int


def paged(rows: Sequence[Row], requested: str) -> PageOfRows[Row]:
    """The rows of the requested page, or of the nearest one; of the first for invalid numbers."""
    last = max(1, -(-len(rows) // PAGE_SIZE))
    number = min(
        max(1, int(requested) if requested.isdecimal() and len(requested) < 9 else 1), last
    )
    return PageOfRows(rows[(number - 1) * PAGE_SIZE : number * PAGE_SIZE], number, last, len(rows))
