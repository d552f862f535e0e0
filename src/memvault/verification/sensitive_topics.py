"""Recognises sensitive questions, withholds unconfirmed text from their answers, and logs that.

Sensitive are legal, financial, medical and policy questions, where an error is costly (triple 2.7).
One typical word is enough, unless the question only asks who, where, why or with whom about an
event: such a question is not sensitive, even if it names a court or a bank.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from memvault.model.change import Actor
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.provenance import own_lines
from memvault.model.search import Hit, SearchResult, Status, Verification
from memvault.text.secrets import without_secrets
from memvault.vault.frontmatter.edit import body_of
from memvault.vault.journal import Journal, JournalEntry

MAX_OWN_CHARS = 8_000  # of the person's words in a note whose best passage somebody else wrote


class SensitiveTopic(StrEnum):
    LEGAL = "legal"
    FINANCIAL = "financial"
    MEDICAL = "medical"
    POLICY = "policy"


_WORDS = {
    SensitiveTopic.LEGAL: (
        r"legal(?:ly)?|laws?|lawsuits?|liab\w+|clauses?|contracts?|contractual\w*|nda|gdpr|"
        r"complian\w+|statutory|warrant(?:y|ies)|patents?|copyrights?|trademarks?|licen[cs]ing|"
        r"indemni\w+|litigation|subpoenas?|notice period|termination|lease|jurisdiction|damages|"
        r"settlements?|terms and conditions|power of attorney|custody|visas?|will and testament"
    ),
    SensitiveTopic.FINANCIAL: (
        r"budgets?|prices?|pricing|costs?|salar(?:y|ies)|wages?|invoices?|fees?|tax(?:es)?|vat|"
        r"revenues?|debts?|loans?|mortgages?|rents?|refunds?|payroll|premiums?|"
        r"ibans?|bics?|account numbers?|bank (?:accounts?|details|transfers?)|sort codes?|"
        r"wire transfers?|"
        r"(?:pay|transfer|wire|send) (?:the |this |that )?(?:money|rent|invoice|bill|deposit|it)|"
        r"(?:which|what) account|card numbers?|pension|royalt(?:y|ies)|commissions?|bonus(?:es)?|"
        r"net worth|profits?|dividends?|deposit|interest rate|"
        r"how much (?:money|do (?:i|we) (?:owe|pay)|did (?:i|we) (?:owe|pay|spend)|is .* worth)|"
        r"payments?|owe[sd]?|fines?|penalt(?:y|ies)|insured|insurance"
    ),
    SensitiveTopic.MEDICAL: (
        r"medications?|medicines?|prescri\w+|dos(?:e|es|age|ages)|allerg(?:y|ies|ic)|diagnos\w+|"
        r"blood (?:type|group|pressure|test)|vaccin\w+|symptoms?|surger(?:y|ies)|insulin|epipen|"
        r"therap(?:y|ies)|side effects?|contraindicat\w+|milligrams?|mg"
    ),
    SensitiveTopic.POLICY: (
        r"polic(?:y|ies)|regulations?|entitled|entitlements?|allowances?|permitted|"
        r"(?:am|are|is) (?:i|we|it|employees|staff) allowed|retention|quotas?|eligib\w+"
    ),
}
_PATTERNS = {matter: re.compile(rf"\b(?:{words})\b") for matter, words in _WORDS.items()}
_STORY = re.compile(r"^\W*(?:who|whom|where|why|with whom)\b")
_ASKS_OF_DOINGS = re.compile(r"\b(?:did|does|do|was|were|has|have|had)\b")


def sensitive_topic_of(query: str) -> SensitiveTopic | None:
    """The sensitive topic of a question, or None. Takes microseconds."""
    text = " ".join(query.lower().split())
    if _STORY.search(text) and _ASKS_OF_DOINGS.search(text) and "owe" not in text:
        return None
    return next((m for m, pattern in _PATTERNS.items() if pattern.search(text)), None)


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
