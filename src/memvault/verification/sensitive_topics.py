"""Questions on legal, financial, medical and policy matters, where an error costs (triple 2.7).

One telling word is enough, unless the question only asks when, where or with whom something
happened: then it is no matter of law or money although it names a court or a bank.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Matter(StrEnum):
    LEGAL = "legal"
    FINANCIAL = "financial"
    MEDICAL = "medical"
    POLICY = "policy"


_WORDS = {
    Matter.LEGAL: (
        r"legal(?:ly)?|laws?|lawsuits?|liab\w+|clauses?|contracts?|contractual\w*|nda|gdpr|"
        r"complian\w+|statutory|warrant(?:y|ies)|patents?|copyrights?|trademarks?|licen[cs]ing|"
        r"indemni\w+|litigation|subpoenas?|notice period|termination|lease|jurisdiction|damages|"
        r"settlements?|terms and conditions|power of attorney|custody|visas?|will and testament"
    ),
    Matter.FINANCIAL: (
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
    Matter.MEDICAL: (
        r"medications?|medicines?|prescri\w+|dos(?:e|es|age|ages)|allerg(?:y|ies|ic)|diagnos\w+|"
        r"blood (?:type|group|pressure|test)|vaccin\w+|symptoms?|surger(?:y|ies)|insulin|epipen|"
        r"therap(?:y|ies)|side effects?|contraindicat\w+|milligrams?|mg"
    ),
    Matter.POLICY: (
        r"polic(?:y|ies)|regulations?|entitled|entitlements?|allowances?|permitted|"
        r"(?:am|are|is) (?:i|we|it|employees|staff) allowed|retention|quotas?|eligib\w+"
    ),
}
_PATTERNS = {matter: re.compile(rf"\b(?:{words})\b") for matter, words in _WORDS.items()}
_STORY = re.compile(r"^\W*(?:who|whom|where|why|with whom)\b")
_ASKS_OF_DOINGS = re.compile(r"\b(?:did|does|do|was|were|has|have|had)\b")


def matter_of(query: str) -> Matter | None:
    """The critical matter that a question is about, if any; microseconds."""
    text = " ".join(query.lower().split())
    if _STORY.search(text) and _ASKS_OF_DOINGS.search(text) and "owe" not in text:
        return None
    return next((m for m, pattern in _PATTERNS.items() if pattern.search(text)), None)
