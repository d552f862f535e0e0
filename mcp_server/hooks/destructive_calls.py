"""Recognises tool calls that delete what memvault cannot restore.

A seat belt, not a lock: it knows the usual commands, not every way to delete a file.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path, PurePath
from string import Template
from typing import Any

OWN_FOLDER = ".memvault"  # in the vault: history, archive and journal
_SEPARATOR = re.compile(r"[();|&]+")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_BEFORE_A_COMMAND = frozenset(
    {"sudo", "env", "command", "exec", "nohup", "time", "then", "do", "else", "{", "!"}
)
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "eval"})
_DELETES = frozenset({"rm", "rmdir", "unlink", "shred", "del", "erase", "rd", "ri", "remove-item"})
_SELECTS = ("-name", "-iname", "-path", "-ipath", "-regex", "-mtime", "-newer", "-size", "-empty")
_BY_NAME, _ANY_NOTE = ("-name", "-iname"), "\0.md"  # a name that only a general pattern matches
_MAX_DEPTH = 3  # of shells that shells start
_MAX_COMMAND_CHARS = 200_000  # reading more takes longer than a hook may
_MAX_PATH_CHARS = 4_096  # no system has longer paths

FOR_GOOD = "a note and all its earlier versions"
VAULT = "the vault or its folder .memvault, which holds the history and the archive"
REASON = (
    "memvault refuses this: it would delete {}, and that cannot be undone. Leave it to the person. "
    "A note that is forgotten, but not for good, can be restored for 30 days."
)


def destroyed_by_tool(tool: str, arguments: Mapping[str, Any]) -> str:
    """What a call of memvault's own tools deletes for good; "" for nothing."""
    at_once = str(arguments.get("soft_delete", True)).casefold() == "false"
    is_preview = str(arguments.get("preview", False)).casefold() == "true"
    return FOR_GOOD if tool.endswith("forget_concept") and at_once and not is_preview else ""


def destroyed_by_command(command: str, folder: str, vault: Path, depth: int = 0) -> str:
    """What a shell command run in a folder deletes for good; "" for nothing."""
    values = dict(os.environ)
    for words in _commands(command[:_MAX_COMMAND_CHARS]):
        for name, value in _assignments(words):
            values[name] = _expanded(value, values)[:_MAX_PATH_CHARS]
        words_run = _without_prefixes([_expanded(word, values) for word in words])
        program, arguments = PurePath(*words_run[:1]).name.casefold(), words_run[1:]
        if program in ("cd", "pushd") and arguments:
            entered = os.path.join(folder, arguments[-1])  # noqa: PTH118 (30 times as fast)
            folder = entered if len(entered) <= _MAX_PATH_CHARS else folder
        elif program in _SHELLS and depth < _MAX_DEPTH:
            inner = " ".join(arguments if program == "eval" else arguments[-1:])
            if destroyed := destroyed_by_command(inner, folder, vault, depth + 1):
                return destroyed
        elif destroyed := _destroyed_by_program(program, words_run, folder, vault):
            return destroyed
    return ""


def _destroyed_by_program(program: str, words: list[str], folder: str, vault: Path) -> str:
    """What a program that is no shell deletes for good; "" for nothing."""
    if _forgets_for_good(words):
        return FOR_GOOD
    targets = _targets(program, words[1:])
    return VAULT if any(_reaches(target, folder, vault) for target in targets) else ""


def _commands(command: str) -> Iterator[list[str]]:
    """The words of each simple command of a line."""
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:  # an open quotation mark, such as in a text for standard input
        words = [word.strip("'\"") for word in command.replace(";", " ; ").split()]
    simple: list[str] = []
    for word in words:
        if _SEPARATOR.fullmatch(word):
            yield simple
            simple = []
        else:
            simple.append(word)
    yield simple


def _assignments(words: list[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        match = _ASSIGNMENT.fullmatch(word)
        if match is None and word != "export":
            return
        if match is not None:
            yield match[1], match[2]


def _without_prefixes(words: list[str]) -> list[str]:
    """The words from the program's name on, without ``sudo`` and the like, and assignments."""
    i = 0
    while i < len(words) and (words[i] in _BEFORE_A_COMMAND or _ASSIGNMENT.fullmatch(words[i])):
        i += 1
        while i < len(words) and words[i].startswith("-"):  # an option of sudo or env
            i += 1
    return words[i:]


def _expanded(word: str, values: Mapping[str, str]) -> str:
    """The word with the values of its variables; a word longer than any path stays."""
    if len(word) > _MAX_PATH_CHARS:
        return word
    text = Template(word).safe_substitute(values)
    return str(Path.home()) + text[1:] if text == "~" or text.startswith("~/") else text


def _forgets_for_good(words: list[str]) -> bool:
    """Whether the words run ``memvault forget NOTE --for-good``, in whatever way."""
    names = [PurePath(word).stem.casefold() for word in words]
    index = names.index("memvault") if "memvault" in names else len(names)
    return "forget" in words[index:] and "--for-good" in words[index:]


def _targets(program: str, arguments: list[str]) -> list[str]:
    """The paths that a command deletes."""
    operands = [word for word in arguments if not word.startswith("-")]
    if program in _DELETES:
        return operands
    if program == "find" and ("-delete" in arguments or "rm" in arguments):
        places: list[str] = []
        for word in arguments:
            if word.startswith(("-", "(", "!")):
                break
            places.append(word)
        selects = any(
            word in _SELECTS
            and not (word in _BY_NAME and fnmatchcase(_ANY_NOTE, pattern.casefold()))
            for word, pattern in pairwise([*arguments, ""])
        )
        # A search for some names spares the other notes; of the history, nothing may be deleted.
        return [place for place in places if OWN_FOLDER in place or not selects]
    if program == "git" and "clean" in operands:
        return _cleaned(arguments)
    return []


def _cleaned(arguments: list[str]) -> list[str]:
    """The paths that ``git clean`` deletes; none for a dry run."""
    base = next((after for word, after in pairwise(arguments) if word == "-C"), ".")
    options = arguments[arguments.index("clean") + 1 :]
    short = "".join(word[1:] for word in options if re.fullmatch(r"-[a-zA-Z]+", word))
    if "n" in short or "--dry-run" in options or not ("f" in short or "--force" in options):
        return []
    places = [word for word in options if not word.startswith("-")]
    return [str(Path(base) / place) for place in places or ["."]]


def _reaches(target: str, folder: str, vault: Path) -> bool:
    """Whether a path, which may have wildcards, is memvault's folder in the vault, above or in
    it."""
    full_path = os.path.realpath(Path(folder or ".") / target)
    own_folder = PurePath(os.path.realpath(vault / OWN_FOLDER))
    pairs = zip(own_folder.parts, PurePath(full_path).parts, strict=False)
    return all(fnmatchcase(part.casefold(), pattern.casefold()) for part, pattern in pairs)
