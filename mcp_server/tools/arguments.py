"""The tools' arguments: their limits, and what a model reads of them."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp_types import ToolAnnotations
from pydantic import Field

from memvault.model.search import Filters

CORE = {"core"}
FULL = {"full"}
READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
SETS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
TUNES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


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
MostShown = Annotated[
    int | None,
    Field(ge=1, le=100, description="How many at most; left out, the mode's own: 10, 20 or 5."),
]
AllowUnverified = Annotated[
    bool,
    Field(
        description="On legal, financial and policy matters, show text that nobody has confirmed. "
        "It is logged; say that it is unverified."
    ),
]
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
    int | None,
    Field(
        ge=0,
        le=2,
        description="0: ids and titles only. 1: the passage that answers. 2: more text and why. "
        "Left out: as set_verbosity said, else 1.",
    ),
]
SessionId = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=128,
        description="An id that this conversation keeps; left out, the connection is the session.",
    ),
]
Narrowing = Annotated[
    Filters | None,
    Field(description="Narrow the answer; every field given must hold. Dates are ISO 8601."),
]
AskedMode = Annotated[
    Literal["auto", "planning", "execution", "default"],
    Field(
        description="planning: many and varied, for ideas and alternatives. execution: few and "
        "sure, for acting on. auto chooses by the question."
    ),
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
TargetName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1024,
        description="Which memory or concept: its id, path or name; a tag with its #.",
    ),
]
