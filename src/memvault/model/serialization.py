"""Stored values that say their format: a number, a space, JSON.

A value in an older format is brought to the current one by its migrations, each a plain function
from the fields of one format to those of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from memvault.model.errors import SerializationFailed, UnknownFormat

Fields = dict[str, object]
Migration = Callable[[Fields], Fields]
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Format:
    """The formats of one kind of value: ``migrations[0]`` leads from 1 to 2, and so on."""

    what: str  # what the value is of, for messages: "memory"
    migrations: Sequence[Migration] = ()

    @property
    def current(self) -> int:
        return len(self.migrations) + 1

    def write(self, value: BaseModel, *, sparse: bool = False) -> bytes:
        """The value in the current format; if ``sparse``, without what has its default."""
        return b"%d %s" % (self.current, value.model_dump_json(exclude_defaults=sparse).encode())

    def read(self, kind: type[Model], data: bytes, id: str | None = None) -> Model:
        """The value, migrated if it is older.

        Args:
            id: whose value it is, for messages.

        Raises:
            UnknownFormat: it has a format that there is no way from; the message names id and
                format (EC-CORE-018).
            SerializationFailed: it is no value at all (ERR-CORE-008).
        """
        number, _, rest = data.partition(b" ")
        if not number.isdigit():
            raise _unreadable(self.what, id)
        try:
            fields = from_json(rest)
        except ValueError as error:
            raise _unreadable(self.what, id) from error
        return self.migrated(kind, int(number), fields, id)

    def migrated(
        self, kind: type[Model], version: int, fields: object, id: str | None = None
    ) -> Model:
        """The value of fields that were stored in the format ``version``; raises as `read`."""
        if not isinstance(fields, dict):
            raise _unreadable(self.what, id)
        if not 1 <= version <= self.current:
            raise UnknownFormat(
                f"Internal error: Data serialization failed: {self.what} {id or fields.get('id')} "
                f"has format version {version}, but this memvault reads up to {self.current}. "
                "Update memvault.",
                node_id=id or fields.get("id"),
                format_version=version,
            )
        try:
            for migrate in self.migrations[version - 1 :]:
                fields = migrate(fields)
            return kind.model_validate(fields)
        except (ValidationError, KeyError, TypeError, ValueError) as error:
            raise _unreadable(self.what, id, version) from error


def _unreadable(what: str, id: str | None, version: int | None = None) -> SerializationFailed:
    told = {"node_id": id, "format_version": version, "kind": what}
    return SerializationFailed(
        "Internal error: Data serialization failed",
        **{key: value for key, value in told.items() if value is not None},
    )
