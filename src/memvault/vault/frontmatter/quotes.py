"""The quotes of YAML around a place in a line, and what must be escaped between them."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

_OPENING = re.compile(r"(?:^|[:\[{,-])[ \t]*\Z")


class YamlQuotes(NamedTuple):
    """The quote character around a text; "" for none."""

    mark: str

    @classmethod
    def before(cls, text: str) -> Self:
        """The quotes that are open at the end of this text, which begins anywhere in the YAML."""
        line = re.split(r"[\r\n]", text)[-1]
        mark, at = "", 0
        while at < len(line):
            char = line[at]
            if not mark and char in "'\"" and _OPENING.search(line[:at]):
                mark = char
            elif (mark == '"' and char == "\\") or (mark == "'" and line.startswith("''", at)):
                at += 1
            elif char == mark:
                mark = ""
            at += 1
        return cls(mark)

    def escaped(self, text: str) -> str:
        if self.mark == "'":
            return text.replace("'", "''")
        return re.sub(r'(["\\])', r"\\\1", text) if self.mark else text

    def unescaped(self, text: str) -> str:
        if self.mark == "'":
            return text.replace("''", "'")
        return re.sub(r'\\(["\\])', r"\1", text) if self.mark else text


NO_QUOTES = YamlQuotes("")
