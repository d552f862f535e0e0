"""The files that a client's tool call edits or deletes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from memvault.model.json_text import json_object

_EDITING_TOOLS = frozenset(
    {
        "write", "edit", "multiedit", "notebookedit", "delete", "write_file", "replace",
        "edit_file", "editfiles", "create_file", "delete_file", "apply_patch", "search_replace",
        "str_replace", "replace_string_in_file", "insert_edit_into_file",
        "multi_replace_string_in_file",
    }
)  # fmt: skip
_PATH_KEYS = ("file_path", "filePath", "notebook_path", "path", "target_file", "files")
_PATCH_KEYS = ("input", "command")
_LIST_OF_EDITS = "replacements"  # each with a path of its own
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


def edited_files(tool: object, arguments: object) -> tuple[str, ...]:
    """The paths in a call of an editing tool, each once; none for another tool.

    Args:
        arguments: an object, or JSON or a patch as text.
    """
    if not isinstance(tool, str) or tool.lower() not in _EDITING_TOOLS:
        return ()
    if isinstance(arguments, str):
        arguments = json_object(arguments) or {"input": arguments}
    if not isinstance(arguments, Mapping):
        return ()
    paths = _named(arguments)
    edits = arguments.get(_LIST_OF_EDITS)
    for edit in edits if isinstance(edits, list) else ():
        paths += _named(edit) if isinstance(edit, Mapping) else []
    for key in _PATCH_KEYS:
        paths += patched_files(arguments.get(key))
    return tuple(dict.fromkeys(path for path in paths if isinstance(path, str) and path))


def patched_files(patch: object) -> list[str]:
    """The paths in a patch as Codex's apply_patch takes it."""
    return [path.strip() for path in _PATCHED.findall(patch)] if isinstance(patch, str) else []


def _named(arguments: Mapping[str, Any]) -> list[Any]:
    values = [arguments[key] for key in _PATH_KEYS if key in arguments]
    return [path for value in values for path in (value if isinstance(value, list) else [value])]
