"""Which field of knowledge a note belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from memvault.model.domain import Domain
from memvault.model.memory import Memory
from memvault.vault.header import strings_of

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


def domain_of(memory: Memory) -> Domain:
    """The domain that a note's own marks name, else `Domain.GENERAL`.

    The marks are asked in this order: the frontmatter's ``domain``, its ``type``, the tags, the
    folders. The first whose words (singular or plural) belong to exactly one domain decides; one
    that names several, as the tags ``#research #code``, decides nothing.
    """
    marks: tuple[Callable[[], Iterable[str]], ...] = (
        lambda: strings_of(memory.metadata.get("domain")),
        lambda: (memory.type,),
        lambda: memory.tags,
        lambda: memory.path.split("/")[:-1],
    )
    for mark in marks:
        named = {domain for said in mark() for domain in _named_in(said)}
        if len(named) == 1:
            return named.pop()
    return Domain.GENERAL


@lru_cache(maxsize=4096)  # notes of one vault share their types, tags and folders
def _named_in(said: str) -> frozenset[Domain]:
    words = _WORD.findall(said.casefold())
    found = (_DOMAIN_OF.get(word) or _DOMAIN_OF.get(word.removesuffix("s")) for word in words)
    return frozenset(domain for domain in found if domain is not None)
