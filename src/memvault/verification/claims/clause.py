"""Clauses with their names and values, and the context that a claim takes from its note."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from memvault.search.relations.edge_templates import literals
from memvault.text.words import name_key
from memvault.vault.readable import readable
from memvault.verification.claims.amount_parsing import amounts_in
from memvault.verification.claims.amount_words import STOPS, is_unit
from memvault.verification.claims.amounts import Amount, AmountKind
from memvault.verification.claims.claim_stems import attribute_of, stems_of
from memvault.verification.claims.claims import Claim, ClaimSource
from memvault.verification.claims.clause_words import (
    DENIED,
    FORMER,
    HEDGED,
    NEGATED,
    NOT_ATTRIBUTES,
    OCCASION_TYPES,
    UPDATES,
    occurs,
)
from memvault.verification.vault_names import FindNames, Span

# Emoji before the days of a task (due, done, …), which are no values.
_TASK_EMOJI = re.compile(r"[📅📆🗓⏳⌛🛫✅❌➕]\ufe0f?\s*\Z")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:()=]")
_PUNCTUATION = frozenset(",;:()=")


class NoteContext:
    """What a sentence takes from its note: a subject, if it names none, and the words around it.

    Args:
        find_names: finds the names of the vault in a text, except those of one node.
    """

    def __init__(self, source: ClaimSource, find_names: FindNames) -> None:
        self.source = source
        self._find_names = find_names
        self.title_stems = stems_of(readable(source.title))
        self.heading_stems = (
            self.title_stems | stems_of(source.heading) | stems_of(source.project or "")
        )

    @cached_property
    def default_subjects(self) -> frozenset[str]:
        """The subjects of a sentence without names: those of the heading, else of the title.

        The subject of a property is always the note.
        """
        if self.source.is_property:
            return frozenset({self.source.note_id})
        last_heading = self.source.heading.rsplit(" > ", 1)[-1]
        return self._keys_in(last_heading) or self._title_subjects(readable(self.source.title))

    def names(self, sentence: str) -> list[Span]:
        """The names of the vault and words spelled as names, without words in capitals (VAT)."""
        spans = [
            span for span in self._find_names(sentence, None) if not sentence[span[0]].islower()
        ]
        for start, end in literals(sentence):
            word = sentence[start:end]
            is_free = all(end <= a or b <= start for a, b, _ in spans) and not is_unit(word)
            if is_free and word[0].isupper() and not word.isupper():
                spans.append((start, end, name_key(word)))
        return sorted(spans)

    def subjects(self, names: Sequence[Span]) -> frozenset[str]:
        """The subjects of a clause: its names, else the note's subjects."""
        return frozenset(key for *_, key in names) or self.default_subjects

    def _keys_in(self, text: str) -> frozenset[str]:
        """The keys of the other nodes that a text names."""
        return frozenset(key for *_, key in self._find_names(readable(text), self.source.note_id))

    def _title_subjects(self, title: str) -> frozenset[str]:
        """The nodes that a title names, else the project if it is an occasion, else the note."""
        keys = self._keys_in(title)
        if keys:
            return keys
        is_dated = any(a.kind is AmountKind.DATE for a in amounts_in(title))
        if is_dated or self.source.kind in OCCASION_TYPES:
            project = self.source.project
            return (self._keys_in(project) or frozenset({name_key(project)})) if project else keys
        return frozenset({self.source.note_id})


class Token(NamedTuple):
    """A word, a word of a name, a punctuation mark or a whole value in a clause."""

    text: str
    low: str
    name: str | None = None  # key of the name that it is part of
    amount: int = -1  # index of the value, if it is a value

    @property
    def is_content(self) -> bool:
        """Whether the token may be part of an attribute's name."""
        return (
            self.name is None
            and self.amount < 0
            and self.low not in STOPS
            and self.low not in NOT_ATTRIBUTES
            and self.text not in _PUNCTUATION
        )


@dataclass(eq=False)
class Clause:
    """A part of a sentence with one statement, or several of one kind.

    Attributes:
        outside: names in the sentence's other clauses.
    """

    sentence: str
    text: str
    names: Sequence[Span]
    note: NoteContext
    outside: Sequence[Span]

    @cached_property
    def amounts(self) -> list[Amount]:
        return [
            amount
            for amount in amounts_in(self.text)
            if all(amount.end <= start or end <= amount.start for start, end, _ in self.names)
            and not _TASK_EMOJI.search(self.text, 0, amount.start)
        ]

    @cached_property
    def tokens(self) -> list[Token]:
        return tokens_of(self.text, self.names, self.amounts)

    def stated(
        self,
        words: Sequence[str],
        value: Amount | str,
        value_text: str,
        *,
        subject: str | None = None,
        single_valued: bool = False,
    ) -> StatedValue | None:
        """The value of the attribute that these words name; None if they name none.

        Args:
            subject: the single subject, if the clause has more names.
            single_valued: whether the attribute has one value at a time.
        """
        attribute = attribute_of(words)
        if not attribute:
            return None
        return StatedValue(self, attribute, words, value, value_text, subject, single_valued)

    def claim(self, stated: StatedValue) -> Claim:
        """The claim that an attribute has this value."""
        value, value_text = stated.value, stated.value_text
        names = self.names or (self.outside if len(self.outside) == 1 else ())
        note, low = self.note, f" {self.text.lower()} "
        amount = value if isinstance(value, Amount) else None
        dates = (a for a in self.amounts if a.kind is AmountKind.DATE and a is not value)
        return Claim(
            subjects=frozenset({stated.subject}) if stated.subject else note.subjects(names),
            names_subject=bool(names),
            attribute=stated.attribute,
            label=" ".join(stated.words),
            value=value,
            value_text=value_text,
            sentence=self.sentence,
            source=note.source,
            sentence_stems=stems_of(self.sentence.replace(value_text, " ")),
            heading_stems=note.heading_stems,
            title_stems=note.title_stems,
            dates=tuple(dates),
            asserted=not occurs(HEDGED, self.sentence),
            negated=NEGATED.search(low[: low.find(value_text.lower())]) is not None
            or occurs(DENIED, self.text),
            outdated=(amount is not None and amount.earlier) or occurs(FORMER, self.text),
            updates=occurs(UPDATES, self.text),
            single_valued=stated.single_valued,
        )


class StatedValue(NamedTuple):
    """A value that a clause states of an attribute; its claim is made when it is asked for.

    Attributes:
        attribute: stems of the attribute's words.
        subject: the single subject, if the clause has more names.
        single_valued: whether the attribute has one value at a time.
    """

    clause: Clause
    attribute: frozenset[str]
    words: Sequence[str]
    value: Amount | str
    value_text: str
    subject: str | None
    single_valued: bool


def tokens_of(text: str, names: Sequence[Span], amounts: Sequence[Amount]) -> list[Token]:
    """The words and punctuation in order; a value is one token, a name's "'s" a separate one."""
    tokens: list[Token] = []
    position = 0
    for match in _WORD.finditer(text):
        start = match.start()
        if start < position:
            continue
        position = match.end()
        around = (k for k, a in enumerate(amounts) if a.start <= start < a.end)
        index = next(around, -1) if amounts else -1
        if index >= 0:
            position = amounts[index].end
            tokens.append(Token(text[amounts[index].start : position], "", amount=index))
            continue
        key = next((k for a, b, k in names if a <= start < b), None) if names else None
        word = match[0]
        low = word.lower()
        possessive = low[-2:] in ("'s", "’s")
        if possessive:
            word, low = word[:-2], low[:-2]
        tokens.append(Token(word, low, key))
        if possessive and key is not None:
            tokens.append(Token("'s", "'s"))
    return tokens
