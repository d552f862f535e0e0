"""Compresses sessions into a brief that a person writes (triple FR-42).

memvault extracts the key facts of the sessions, each with its source; the text of the brief is the
person's. Sentences are ranked by their cosine to the centroid of all of them (centroid
summarisation: Radev and others, Information Processing & Management 40, 2004) and chosen by maximal
marginal relevance, so that no fact is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import uuid4

import numpy as np

from memvault.curation.changes.forgetting import stage_forgetting
from memvault.curation.changes.staging import Staging
from memvault.curation.targets import Target
from memvault.model.errors import InvalidParams
from memvault.model.memory import Lifecycle, Memory
from memvault.model.moments import day_of, iso_utc
from memvault.model.note import Embed
from memvault.search.modes import centrality, diverse
from memvault.vault.compose import compose_note
from memvault.vault.file_names import safe_name
from memvault.vault.links import wikilink
from memvault.vault.parse import parse_note

MAX_FACTS = 16
VARIETY = 0.4  # weight of novelty against centrality in maximal marginal relevance
MIN_WORDS, MAX_CHARS = 4, 400  # length of a sentence that can be a key fact
MAX_SENTENCES = 400  # compared sentences; of more, only every second, third, … is


@dataclass(frozen=True, slots=True)
class KeyFact:
    """A sentence of a note without markup; ``line`` is counted from 1."""

    text: str
    memory: Memory
    line: int


class Sources(StrEnum):
    """Whether the sources stay or go to the trash when their brief is written."""

    STAY = "stay"
    TRASH = "trash"


@dataclass(frozen=True, slots=True)
class Brief:
    """A person's text about these sources, and whether the sources stay."""

    title: str
    text: str
    sources: Sequence[Memory]
    then: Sources
    project: str | None = None


def key_facts(
    memories: Iterable[Memory], read: Callable[[str], bytes], embed: Embed, limit: int = MAX_FACTS
) -> list[KeyFact]:
    """The most central sentences of these notes, in the order of the notes.

    Args:
        read: gives a note's bytes, by path; raises MemvaultError.
        embed: gives the vectors of texts, (n, dim), L2-normalised.
    """
    facts = [
        KeyFact(sentence.text, memory, sentence.line)
        for memory in memories
        for block in parse_note(memory.path, read(memory.path)).blocks
        for sentence in block.sentences
        if len(sentence.text.split()) >= MIN_WORDS and len(sentence.text) <= MAX_CHARS
    ]
    facts = facts[:: max(1, -(-len(facts) // MAX_SENTENCES))]
    if not facts:
        return []
    vectors = np.asarray(embed([fact.text for fact in facts]), np.float32)
    chosen = diverse(centrality(vectors).tolist(), vectors, limit, VARIETY)
    return [facts[index] for index in sorted(chosen)]


def stage_brief(staging: Staging, brief: Brief, now: datetime) -> str:
    """Stage the brief as a new note; returns its path.

    Sources that stay are linked; for those that go to the trash only the paths are listed, since
    links into the trash do not work.

    Raises:
        InvalidParams: it has no title, no text or no source.
    """
    title, text = " ".join(brief.title.split()), brief.text.replace("\r\n", "\n").strip()
    if not (title and text and brief.sources):
        raise InvalidParams("A brief needs a title, a text of yours, and the sessions it is of.")
    lifecycle = Lifecycle.TEMPORARY if brief.project else Lifecycle.PERMANENT
    folder = staging.vault.folders.of(lifecycle, brief.project, day_of(now))
    properties: dict[str, object] = {
        "id": str(uuid4()),
        "type": "brief",
        "lifecycle": str(lifecycle),
        **({"project": brief.project} if brief.project else {}),
        "created": iso_utc(now),
    }
    path = staging.vault.new_note_path(f"{folder}/{safe_name(title)}.md")
    is_trashed = brief.then is Sources.TRASH
    listed = [
        source.path if is_trashed else wikilink(source.path, path) for source in brief.sources
    ]
    body = f"# {title}\n\n{text}\n\n## Sources\n\n" + "\n".join(
        f"- {source_text}" for source_text in listed
    )
    path = staging.create(path, compose_note(properties, body))
    if is_trashed:
        for memory in brief.sources:
            stage_forgetting(staging, Target(memory.title, memory))
    return path
