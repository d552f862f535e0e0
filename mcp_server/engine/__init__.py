"""The engine process of a vault, and how bridges and the command line reach it."""

from typing import Literal

ToolSet = Literal["core", "full"]  # the tools that a connection is offered
