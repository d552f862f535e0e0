"""Which field of knowledge a note belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from memvault.model.domain import Domain
from memvault.model.memory import Memory
from memvault.vault.header import strings_of
from memvault.vault.markdown import parse_markdown

CODE_SHARE = 0.5  # of a note's lines, from which on it is about its code
_WORDS = {
    Domain.CODE: "api bug code codebase coding debugging development devops programming"
    " refactoring repo repository script snippet software",
    Domain.LEGAL: "agreement clause compliance contract court gdpr law lawsuit lawyer legal"
    " legislation licence license litigation patent regulation statute trademark",
    Domain.MEDICAL: "clinical clinic diagnosis disease doctor drug health hospital illness"
    " medical medication medicine patient pharmacy surgery symptom therapy vaccine",
    Domain.CREATIVE: "art artwork creative design drawing fiction illustration lyrics music novel"
    " painting photography poem poetry screenplay sketch song story storytelling worldbuilding",
    Domain.RESEARCH: "academic citation dataset dissertation experiment hypothesis literature"
    " lab paper preprint publication research science scientific study survey thesis",
}
_DOMAIN_OF = {word: domain for domain, words in _WORDS.items() for word in words.split()}
_WORD = re.compile(r"[^\W_]+")


def domain_of(memory: Memory, text: str = "") -> Domain:
    """The domain that a note's own marks name, else `Domain.GENERAL`.

    The marks are asked in this order: the frontmatter's ``domain``, its ``type``, the tags, the
    folders. The first whose words (singular or plural) belong to exactly one domain decides; one
    that names several, as the tags ``#research #code``, decides nothing. Last, a note of whose
    lines at least half are code is *code*.

    Args:
        text: the note under its frontmatter.
    """
    marks: tuple[Callable[[], Iterable[str]], ...] = (
        lambda: strings_of(memory.metadata.get("domain")),
        lambda: (memory.type,),
        lambda: memory.tags,
        lambda: PurePosixPath(memory.path).parent.parts,
    )
    for mark in marks:
        named = {domain for said in mark() for domain in _named_in(said)}
        if len(named) == 1:
            return named.pop()
    return Domain.CODE if _code_share(text) >= CODE_SHARE else Domain.GENERAL


def _named_in(said: str) -> set[Domain]:
    words = _WORD.findall(said.casefold())
    found = (_DOMAIN_OF.get(word) or _DOMAIN_OF.get(word.removesuffix("s")) for word in words)
    return {domain for domain in found if domain is not None}


def _code_share(text: str) -> float:
    """The share of a text's lines that are fenced or indented code, fences included."""
    if "```" not in text and "~~~" not in text and "    " not in text and "\t" not in text:
        return 0.0
    lines = text.split("\n")
    blocks = (t.map for t in parse_markdown(text) if t.type in {"fence", "code_block"} and t.map)
    code = sum(_filled(lines[first:end]) for first, end in blocks)
    return code / max(1, _filled(lines))


def _filled(lines: list[str]) -> int:
    return sum(1 for line in lines if line.strip())
