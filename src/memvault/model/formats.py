"""The versioned format in which values are stored, and how an older version is migrated."""

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
class StorageFormat:
    """The versioned storage format of one kind of value: a number, a space, JSON.

    ``migrations[0]`` converts the fields of version 1 to those of version 2, and so on.
    """

    name: str  # of the kind of value, for messages: "memory"
    migrations: Sequence[Migration] = ()

    @property
    def current(self) -> int:
        return len(self.migrations) + 1

    def write(self, value: BaseModel, *, sparse: bool = False) -> bytes:
        """The value in the current format; if ``sparse``, without fields at their default."""
        return b"%d %s" % (self.current, value.model_dump_json(exclude_defaults=sparse).encode())

    def read(self, model: type[Model], data: bytes, id: str | None = None) -> Model:
        """Decode a value, migrating it from an older version.

        Args:
            id: the value's id, for messages.

        Raises:
            UnknownFormat: the version is newer than this program; the message names id and
                version (EC-CORE-018).
            SerializationFailed: the bytes are not such a value (ERR-CORE-008).
        """
        number, _, content = data.partition(b" ")
        if not number.isdigit():
            raise _unreadable(self.name, id)
        try:
            fields = from_json(content)
        except ValueError as error:
            raise _unreadable(self.name, id) from error
        return self.migrated(model, int(number), fields, id)

    def migrated(
        self, model: type[Model], version: int, fields: object, id: str | None = None
    ) -> Model:
        """The value of fields stored in format ``version``; raises as `read` does."""
        if not isinstance(fields, dict):
            raise _unreadable(self.name, id)
        if not 1 <= version <= self.current:
            raise UnknownFormat(
                f"Internal error: Data serialization failed: {self.name} {id or fields.get('id')} "
                f"has format version {version}, but this memvault reads up to {self.current}. "
                "Update memvault.",
                node_id=id or fields.get("id"),
                format_version=version,
            )
        try:
            for migrate in self.migrations[version - 1 :]:
                fields = migrate(fields)
            return model.model_validate(fields)
        except (ValidationError, KeyError, TypeError, ValueError) as error:
            raise _unreadable(self.name, id, version) from error


def _unreadable(name: str, id: str | None, version: int | None = None) -> SerializationFailed:
    details = {"node_id": id, "format_version": version, "kind": name}
    return SerializationFailed(
        "Internal error: Data serialization failed",
        **{key: value for key, value in details.items() if value is not None},
    )
