"""Recognises sensitive questions, withholds unconfirmed text from their answers, and logs that.

One telling word (`sensitive_words`) is enough, in any language, unless the question only asks who
did something, or where or why: then it is no matter of law or money although it names a contract or
a bank.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from memvault.model.change import Actor
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.provenance import own_lines
from memvault.model.search import Hit, SearchResult, Status, Verification
from memvault.text.secrets import without_secrets
from memvault.text.words import without_accents
from memvault.vault.frontmatter.edit import body_of
from memvault.vault.journal import Journal, JournalEntry
from memvault.verification.sensitive_words import SPACED, UNSPACED, SensitiveTopic

MAX_OWN_CHARS = 8_000  # of the person's words in a note whose best passage somebody else wrote


# Stories: questions who did something, or where or why, by the word that asks and, in other
# languages than English, a form of the past. "Who has a right to" is no story.
_STORIES = tuple(
    (re.compile(rf"\W*(?:{asks})\b"), re.compile(of_doings))
    for asks, of_doings in (
        ("who|whom|where|why|with whom", r"\b(?:did|does|do|was|were|has|have|had)\b"),
        (
            "(?:mit |von |bei )?(?:wer|wen|wem)|wo|wohin|woher|warum|wieso|weshalb",
            r"\b(?:hat|haben|hast|hatten?|waren?|wurden?)\b(?! (?:das )?(?:recht|anspruch))",
        ),
        (
            "(?:avec |[aà] |chez |par )?qui|(?:d['’])?o[uù]|pourquoi",
            r"\b(?:a-t-|ont-|as-tu|ai-je|avons-|avez-|avai(?:t|ent)|étai(?:t|ent))"
            r"|\bqui (?:a|ont) (?!(?:le )?droit)",
        ),
        (
            "(?:a |con |de )?qui[eé]n(?:es)?|(?:a|de )?d[oó]nde|por qu[eé]",
            r"\w(?:ó|[aei]ron|[ai]ste)\b|\b(?:ha|han|había|habían) \w+[dh]o\b",
        ),
        (
            "(?:con |a |da )?chi|(?:da )?dove|perch[eéè]",
            r"\b(?:ha|hanno|hai|aveva|avevano)\b(?! (?:il )?diritto)|\b(?:è|sono) stat[oaie]\b",
        ),
        ("(?:com |a |de )?quem|a?onde|por ?qu[eê]", r"\w\w(?:ou|iu|[aei]ram)\b"),
        (
            "(?:met |van |bij )?wie|waar|waarom|waarheen",
            r"\b(?:heeft|hebben|heb|had|hadden|was|waren|werd)\b(?! recht)",
        ),
        ("кто|кого|кому|с кем|где|куда|откуда|почему|зачем", r"\w\wл[аои]?(?:сь|ся)?\b"),
        (".{0,12}(?:誰|だれ|どこ|なぜ|どうして).*", r"[ただ](?:の|か|のか|のですか)?\W*$"),
        (".{0,12}(?:谁|誰|哪里|哪裡|哪儿|在哪|为什么|為什麼).*", "[了过過]"),
    )
)


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else without_accents(text.lower())


def _any_of(words: Mapping[str, str]) -> str:
    """One expression of all entries; of those with the same first letter, the letter stands once,
    so that most are not tried."""
    by_first: dict[str, list[str]] = {}
    for entry in dict.fromkeys(_folded(" ".join(words.values())).split()):
        first = entry[0] if entry[0].isalpha() or entry[0] == "*" else ""
        by_first.setdefault(first, []).append(entry.removeprefix(first))
    groups = (f"{first}(?:{'|'.join(entries)})" for first, entries in by_first.items())
    return "|".join(groups).replace("*", r"\w*").replace("_", " ")


_SPACED = {topic: re.compile(rf"\b(?=\w)(?:{_any_of(words)})\b") for topic, words in SPACED.items()}
_UNSPACED = {topic: re.compile(_any_of(words)) for topic, words in UNSPACED.items()}
_HAN_OR_KANA = re.compile("[\u3041-\u9fff]")


def sensitive_topic_of(query: str) -> SensitiveTopic | None:
    """The sensitive matter that a question in any of ten languages is about, if any; microseconds.

    Legal are laws, contracts, rights in works and claims against somebody; financial what
    something costs, what somebody earns, owes or owns, taxes, insurance and bank details; medical
    are medicines, allergies, diagnoses, vaccinations and treatments; policy is what the rules of an
    office or a firm permit or entitle to.
    """
    words = " ".join(_folded(query).replace("’", "'").split())
    topic = _first(_SPACED, words)
    if topic is None and not words.isascii() and _HAN_OR_KANA.search(words):
        topic = _first(_UNSPACED, words)
    return None if topic is None or _is_story(query) else topic


def _first(patterns: Mapping[SensitiveTopic, re.Pattern[str]], words: str) -> SensitiveTopic | None:
    return next((topic for topic, pattern in patterns.items() if pattern.search(words)), None)


def _is_story(query: str) -> bool:
    text = " ".join(query.lower().split())
    return "owe" not in text and any(
        asks.match(text) and of_doings.search(text) for asks, of_doings in _STORIES
    )


class Gate:
    """Removes unconfirmed text from hits. Thread-safe.

    Args:
        read: gives a note's bytes, by path.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read

    def narrow(self, hit: Hit) -> None:
        """Reduce a hit to the person's words or the claims that they confirm, else withhold it.

        Unconfirmed claims are not quoted as evidence either.
        """
        hit.gated = True
        check = hit.verification
        against = tuple(
            replace(each, sentence="", said="") if each.is_claim else each
            for each in check.contradicted_by
        )
        hit.verification = replace(check, contradicted_by=against)
        provenance = hit.memory.provenance
        if check.marked or provenance.is_person:
            return
        if check.verified and not check.by_person:
            hit.text = "\n".join(check.stated)
            hit.withheld = not hit.text
        elif check.by_person:
            self._keep_own(hit)
        else:
            self._own_part(hit)

    def _keep_own(self, hit: Hit) -> None:
        text = self.own_text(hit.memory, hit.lines)
        if text:
            hit.text, hit.own_only = text, True
        else:
            self._own_part(hit)

    def _own_part(self, hit: Hit) -> None:
        """Show the person's words of a note whose best passage others wrote; withhold it if none.

        So nobody can hide the person's words behind a passage that fits the question better.
        """
        text = self.own_text(hit.memory) if hit.memory.provenance.is_mixed else ""
        if not text:
            hit.withheld = True
            return
        hit.text, hit.own_only = text, True
        against = hit.verification.contradicted_by
        hit.verification = Verification(
            Status.VERIFIED, 1.0, by_person=True, answers=False, contradicted_by=against
        )

    def own_text(self, memory: Memory, lines: LineRange | None = None) -> str:
        """The person's words in these lines, or the whole body, of a note with several authors."""
        try:
            data = own_lines(self._read(memory.path), memory.provenance)
            if lines is None:
                return body_of(data).decode("utf-8", "replace").strip()[:MAX_OWN_CHARS]
        except MemvaultError:
            return ""
        text = data.decode("utf-8", "replace")
        return "\n".join(text.split("\n")[lines.first - 1 : lines.last]).strip()


WITHHELD, USED = "unverified_withheld", "unverified_used"


@dataclass(frozen=True, slots=True)
class GatedQuestion:
    """A sensitive question that found unconfirmed claims.

    ``overridden`` is whether the client requested their text nevertheless.
    """

    at: datetime
    client: str
    query: str
    matter: str
    memories: tuple[str, ...]
    overridden: bool


class GateLog:
    """Logs the unconfirmed claims that were withheld from, or given to, a client (triple FR-47).

    Thread-safe.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def record(self, query: str, result: SearchResult, client: str) -> None:
        """Log an answer if its question is sensitive and it has unconfirmed claims.

        Raises StorageError, DiskFull: the journal cannot be written.
        """
        if result.matter is None or not result.claims:
            return
        withheld = any(hit.withheld for hit in result.hits)
        self._journal.append(
            JournalEntry(
                ts=datetime.now(UTC),
                kind=WITHHELD if withheld else USED,
                actor=Actor(kind="client", name=client),
                data={
                    "query": without_secrets(query),
                    "matter": result.matter,
                    "memories": [hit.memory.id for hit in result.claims],
                },
            )
        )

    def recent(self, most: int) -> list[GatedQuestion]:
        """The latest logged questions, newest first."""
        last = deque(self._journal.entries({WITHHELD, USED}), maxlen=most)
        return [
            GatedQuestion(
                entry.ts,
                entry.actor.name,
                str(entry.data.get("query", "")),
                str(entry.data.get("matter", "")),
                tuple(map(str, entry.data.get("memories", ()))),
                overridden=entry.kind == USED,
            )
            for entry in reversed(last)
        ]
