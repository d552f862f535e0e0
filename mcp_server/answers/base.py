"""Base classes and field types of all answers.

An answer is read from an object of the library: each field from the attribute of the same name, or
from the attribute that `read_from` or `optional` names. Other fields are passed as arguments.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from textwrap import shorten
from types import SimpleNamespace
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from memvault.model.state import CognitivePulse

SENTENCE_CHARS = 160


def utc(moment: datetime) -> datetime:
    """The moment in UTC, to the second, as answers show it."""
    return moment.astimezone(UTC).replace(microsecond=0)


def brief(sentence: str) -> str:
    """The sentence on one line; a long one is cut after a word."""
    if len(sentence) <= SENTENCE_CHARS:
        return " ".join(sentence.split())
    return shorten(sentence, SENTENCE_CHARS, placeholder=" …")


Value = TypeVar("Value")
Filled = Annotated[Value | None, BeforeValidator(lambda value: value or None)]
"""A text or list; None in place of an empty one."""
Brief = Annotated[str | None, BeforeValidator(lambda sentence: brief(sentence or "") or None)]
Moment = Annotated[datetime, AfterValidator(utc)]
THREE_PLACES = AfterValidator(lambda number: round(number, 3))
Rounded = Annotated[float, THREE_PLACES]
# First and last line; a list, since some clients refuse schemas of tuples.
Lines = Annotated[list[int], Field(min_length=2, max_length=2)]


def _is_none(value: object) -> bool:
    return value is None


def read_from(path: str, **field: Any) -> Any:
    """A field that is read from this attribute, "memory.title", of the library's object."""
    return Field(validation_alias=AliasPath(*path.split(".")), **field)


def optional(path: str | None = None, **field: Any) -> Any:
    """A field that is left out of the answer when it is None; ``path`` as in `read_from`."""
    if path is not None:
        field["validation_alias"] = AliasPath(*path.split("."))
    return Field(None, exclude_if=_is_none, **field)


class Shape(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        from_attributes=True,
        serialize_by_alias=True,
        validate_by_alias=True,
        validate_by_name=True,
    )

    @classmethod
    def of(cls, source: object, **more: Any) -> Self:
        """The answer that shows this object of the library.

        Args:
            more: fields without a path, in place of the object's own attributes.
        """
        if not more:
            return cls.model_validate(source)
        own = {name: getattr(source, name) for name in _read_by(cls) if hasattr(source, name)}
        return cls.model_validate(SimpleNamespace(**{**own, **more}))

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema without null for optional fields, which are left out instead.

        Clients check every answer by this schema, and each choice in it costs them time.
        """
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, field in cls.model_fields.items():
            described = properties.get(field.serialization_alias or name, {})
            if field.exclude_if is _is_none and "anyOf" in described:
                described.pop("default", None)
                choices = [part for part in described.pop("anyOf") if part != {"type": "null"}]
                described.update(choices[0] if len(choices) == 1 else {"anyOf": choices})
        return schema


@cache
def _read_by(shape: type[Shape]) -> frozenset[str]:
    """The names of the library object's attributes that this answer is read from."""
    paths = (field.validation_alias for field in shape.model_fields.values())
    first = {str(path.path[0]) for path in paths if isinstance(path, AliasPath)}
    return frozenset(first | shape.model_fields.keys())


class Answer(Shape):
    """Every answer has a pulse; ``notice`` says what is missing from it, and why."""

    pulse: CognitivePulse
    notice: str | None = optional()


class Named(Shape):
    """A memory as every answer names it; ``path`` is relative to the vault."""

    id: str
    title: str
    path: str


class MemoryNamed(Named):
    """As `Named`, read from an object with a ``memory``."""

    id: str = read_from("memory.id")
    title: str = read_from("memory.title")
    path: str = read_from("memory.path")


def below_title(heading: str, title: str) -> str | None:
    """A heading's path without the note's title at its start; None for the title itself."""
    first, _, below = heading.partition(" > ")
    return (below if first.casefold() == title.casefold() else heading) or None
