"""What a question asks for: the stems of its words, the nodes it names, the kind of value."""

from __future__ import annotations

from dataclasses import dataclass

from memvault.search.question_languages import is_function_word_in
from memvault.search.relations.edge_templates import literals
from memvault.text.words import STOP_WORDS, letter_runs
from memvault.verification.claims.amount_words import CURRENCIES, MEASURES, SPANS
from memvault.verification.claims.amounts import AmountKind
from memvault.verification.claims.claim_stems import GENERIC_WORDS, canonical_stem, stems_among
from memvault.verification.claims.claims import NAME, Claim
from memvault.verification.claims.clause_words import PAYING_WORDS
from memvault.verification.vault_names import FindNames

_KINDS = {"how much": AmountKind.MONEY, "when": AmountKind.DATE, "how long": AmountKind.SPAN}
_NO_ANSWERS = {
    AmountKind.MONEY: (AmountKind.DATE, AmountKind.TIME, AmountKind.SPAN, AmountKind.VERSION),
    AmountKind.DATE: (AmountKind.MONEY, AmountKind.SHARE, AmountKind.MEASURE, AmountKind.VERSION),
    AmountKind.SPAN: (AmountKind.MONEY, AmountKind.SHARE, AmountKind.VERSION),
}
# Words that name no subject: function words, those that ask, units, and such as "current".
_ASKING = ("tell", "show", "say", "know", "remember", "remind", "long", "often", "exactly")
_VALUE_WORDS = (*GENERIC_WORDS, *PAYING_WORDS, *CURRENCIES, *MEASURES, *SPANS)
_WITHOUT_SUBJECT = frozenset(map(canonical_stem, (*STOP_WORDS, *_ASKING, *_VALUE_WORDS)))


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """A parsed question.

    Attributes:
        stems: the stems of its words.
        nodes: the keys of the nodes that it names.
        kind: the kind of value that answers it, if known.
        asks_who: whether it asks for a person.
    """

    stems: frozenset[str]
    nodes: frozenset[str]
    kind: AmountKind | None
    asks_who: bool

    @property
    def names_kind(self) -> bool:
        """Whether a kind of value, or a person, is known to answer the question."""
        return self.kind is not None or self.asks_who

    def allows(self, claim: Claim) -> bool:
        """Whether a claim's kind of value may answer: no day for "how much", no sum for "when"."""
        excluded = _NO_ANSWERS.get(self.kind) if self.kind is not None else None
        return excluded is None or isinstance(claim.value, str) or claim.value.kind not in excluded

    def asks_for(self, claim: Claim) -> bool:
        """Whether a claim's value is of the kind that answers the question."""
        if isinstance(claim.value, str):
            return self.asks_who and claim.value.startswith(NAME)
        return claim.value.kind is self.kind

    def is_answered_by(self, claim: Claim) -> bool:
        """Whether a claim about what the question asks for shares its subject: the cost of a saw is
        no answer about a mower.

        That is a node that the question names, or else a word of it besides the claim's attribute,
        in the claim's sentence or headings; true if the question has no such word.
        """
        other_stems = self.stems - claim.attribute - _WITHOUT_SUBJECT
        return (
            bool(self.nodes)
            or not other_stems
            or not other_stems.isdisjoint(claim.sentence_stems | claim.heading_stems)
        )


def question_terms(question: str, find_names: FindNames) -> QuestionTerms:
    """The terms of a question; the words of names are not among its stems."""
    low = " ".join(question.lower().split())
    names = find_names(question, None)
    without_names = question
    capitals = [span for span in literals(question) if question[span[0]].isupper()]
    for start, end in sorted([(a, b) for a, b, _ in names] + capitals, reverse=True):
        without_names = without_names[:start] + " " * (end - start) + without_names[end:]
    kind = next((kind for words, kind in _KINDS.items() if words in low), None)
    nodes = frozenset(key for *_, key in names)
    words = [word for word in letter_runs(without_names) if not is_function_word_in(question, word)]
    return QuestionTerms(stems_among(words), nodes, kind, low.startswith("who"))
