"""What every answer is made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from memvault.model.state import CognitivePulse

# First and last line; a list, since some clients refuse schemas of tuples.
Lines = Annotated[list[int], Field(min_length=2, max_length=2)]


def _is_none(value: object) -> bool:
    return value is None


def optional(**field: Any) -> Any:
    """A field that is left out of the answer when it is None."""
    return Field(None, exclude_if=_is_none, **field)


class Shape(BaseModel):
    model_config = ConfigDict(frozen=True, serialize_by_alias=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Without the null that an optional field never has: clients check every answer by this
        schema, and each choice in it costs them time."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, field in cls.model_fields.items():
            described = properties.get(field.serialization_alias or name, {})
            if field.exclude_if is _is_none and "anyOf" in described:
                described.pop("default", None)
                choices = [one for one in described.pop("anyOf") if one != {"type": "null"}]
                described.update(choices[0] if len(choices) == 1 else {"anyOf": choices})
        return schema


class Answer(Shape):
    """Every answer has a pulse; ``notice`` says what could not be asked this time."""

    pulse: CognitivePulse
    notice: str | None = optional()


class Named(Shape):
    """A memory as every answer names it; ``path`` is relative to the vault."""

    id: str
    title: str
    path: str


def utc(moment: datetime) -> datetime:
    """The moment in UTC, to the second, as answers show it."""
    return moment.astimezone(UTC).replace(microsecond=0)


def below_title(heading: str, title: str) -> str | None:
    """A heading's path without the title at its head, which is told anyway; None for the title
    itself."""
    first, _, rest = heading.partition(" > ")
    return (rest if first.casefold() == title.casefold() else heading) or None
