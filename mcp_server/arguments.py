"""The tools' arguments: their limits, and what a model reads of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from memvault.model.query import Filters

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=4096,
        description="What to look for, in plain language. Names, dates and the person's own words "
        "help; a whole question works as well as keywords.",
    ),
]
TopK = Annotated[int, Field(ge=1, le=100, description="How many results at most.")]
MaxHops = Annotated[
    int, Field(ge=1, le=5, description="How many relations away from the question to go.")
]
Project = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=100,
        description="Ask within one project: its memories and those of no project are seen, "
        "never another project's.",
    ),
]
Verbosity = Annotated[
    int,
    Field(
        ge=0,
        le=2,
        description="0: ids and titles only. 1: the passage that answers. 2: more text and why.",
    ),
]
SessionId = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=128,
        description="An id that this conversation keeps; left out, the call stands alone.",
    ),
]
Narrowing = Annotated[
    Filters | None,
    Field(description="Narrow the answer; every field given must hold. Dates are ISO 8601."),
]
AskedMode = Annotated[
    Literal["auto", "planning", "execution", "default"],
    Field(description="auto lets memvault choose by the question."),
]
MemoryId = Annotated[str, Field(min_length=1, max_length=64, description="The id of a memory.")]
NotePath = Annotated[
    str, Field(min_length=1, max_length=1024, description="A note's path within the vault.")
]
PreferenceKey = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description='What the preference is about, e.g. "reply language".',
    ),
]
Rationale = Annotated[
    str,
    Field(
        description="Why this is kept, for the person who reads the note later.",
        json_schema_extra={"minLength": 10, "maxLength": 500},
    ),
]
