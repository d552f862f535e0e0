"""A clause with the names and values in it, and what a claim takes from its surroundings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memvault.reasoning.verification.amounts import (
    Amount,
    AmountKind,
    amounts_in,
    is_unit,
)
from memvault.reasoning.verification.claims import Claim, Source
from memvault.reasoning.verification.wording import (
    DENIED,
    EARLIER,
    GENERIC,
    HEDGED,
    NEGATED,
    NOT_SUBJECTS,
    PASSED_OVER,
    STOPS,
    UPDATES,
    canonical,
    readable,
)
from memvault.retrieval.roads.masks import literals
from memvault.text.words import name_key

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:()=]")
_LETTERS = re.compile(r"[^\W\d_]+")
_HAS_DIGIT = re.compile(r"\d")
_SIGNS = frozenset(",;:()=")

Span = tuple[int, int, str]  # start, end and key of a name
FindNames = Callable[[str, str | None], Sequence[Span]]


class About:
    """What a note is about where a sentence itself does not say.

    Args:
        find_names: the things of the vault that a text names, but for the one thing given too.
    """

    def __init__(self, source: Source, find_names: FindNames) -> None:
        self.source = source
        self._find = find_names
        self._known: set[str] = set()
        self.title = stems_of(readable(source.title))
        self.around = self.title | stems_of(source.heading) | stems_of(source.project or "")

    @cached_property
    def default(self) -> frozenset[str]:
        """What is meant where a sentence names nothing: the heading's thing, else the title's."""
        heading = self._named(self.source.heading.rsplit(" > ", 1)[-1])
        return heading or self._of_title(readable(self.source.title))

    def names(self, sentence: str) -> list[Span]:
        """Names of the vault, and what is spelled as a name; capitals alone (VAT) are a word."""
        found = [f for f in self._find(sentence, None) if not sentence[f[0]].islower()]
        self._known.update(key for *_, key in found)
        for start, end in literals(sentence):
            word = sentence[start:end]
            free = all(end <= a or b <= start for a, b, _ in found) and not is_unit(word)
            if free and word[0].isupper() and not (_HAS_DIGIT.search(word) or word.isupper()):
                found.append((start, end, name_key(word)))
        return sorted(found)

    def subjects(self, names: Sequence[Span]) -> frozenset[str]:
        """What a clause with these names is about. A lone capital ("the API") may be anybody's, so
        it stands beside what the note is about."""
        keys = frozenset(key for *_, key in names)
        if any(" " in key or key in self._known for key in keys):
            return keys
        return keys | self.default

    def _named(self, text: str) -> frozenset[str]:
        found = self._find(readable(text), self.source.note_id)
        self._known.update(key for *_, key in found)
        return frozenset(key for *_, key in found)

    def _of_title(self, title: str) -> frozenset[str]:
        others = self._named(title)
        if others:
            return others
        dated = any(a.kind is AmountKind.DATE for a in amounts_in(title))
        if dated or self.source.kind in NOT_SUBJECTS:
            project = self.source.project
            return (self._named(project) or frozenset({name_key(project)})) if project else others
        return frozenset({self.source.note_id})


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a name's word, a sign or a whole value of a clause."""

    text: str
    low: str
    name: str | None = None  # key of the name that it belongs to
    amount: int = -1  # number of the value that it is

    @property
    def is_content(self) -> bool:
        """Whether it may be part of an attribute's name."""
        return (
            self.name is None
            and self.amount < 0
            and self.low not in STOPS
            and self.low not in PASSED_OVER
            and self.text not in _SIGNS
            and len(self.low) > 1
        )


class Clause:
    """Part of a sentence that says one thing, or several of one kind.

    Args:
        outside: names of the sentence that stand in its other clauses.
    """

    def __init__(
        self, sentence: str, text: str, names: Sequence[Span], about: About, outside: Sequence[Span]
    ) -> None:
        self.sentence = sentence
        self.text = text
        self.names = names
        self.about = about
        self._outside = outside
        self.amounts = [
            a for a in amounts_in(text) if all(a.end <= b or c <= a.start for b, c, _ in names)
        ]
        self.tokens = tokens_of(text, names, self.amounts)

    def claim(
        self,
        words: Sequence[str],
        value: Amount | str,
        shown: str,
        *,
        subject: str | None = None,
        sole: bool = False,
    ) -> Claim | None:
        """That what these words name has this value; None if they name nothing.

        Args:
            subject: the one thing that it is said of, where the clause's names hold more.
            sole: there is one value at a time.
        """
        attribute = attribute_of(words)
        if not attribute:
            return None
        own = self.names or (self._outside if len(self._outside) == 1 else ())
        about, low = self.about, f" {self.text.lower()} "
        amount = value if isinstance(value, Amount) else None
        dates = (a for a in self.amounts if a.kind is AmountKind.DATE and a is not value)
        return Claim(
            subjects=frozenset({subject}) if subject else about.subjects(own),
            named=bool(own),
            attribute=attribute,
            label=" ".join(words),
            value=value,
            shown=shown,
            sentence=self.sentence,
            source=about.source,
            context=stems_of(self.sentence.replace(shown, " ")),
            around=about.around,
            about_title=about.title,
            when=tuple(dates),
            asserted=HEDGED.search(f" {self.sentence.lower()} ") is None,
            negated=NEGATED.search(low[: low.find(shown.lower())]) is not None
            or DENIED.search(low) is not None,
            outdated=(amount is not None and amount.earlier) or EARLIER.search(low) is not None,
            updates=UPDATES.search(low) is not None,
            sole=sole,
        )


def tokens_of(text: str, names: Sequence[Span], amounts: Sequence[Amount]) -> list[Token]:
    """Words and signs in order; a value is one token, and a name's possessive one of its own."""
    tokens: list[Token] = []
    position = 0
    for match in _WORD.finditer(text):
        if match.start() < position:
            continue
        position = match.end()
        number = next((k for k, a in enumerate(amounts) if a.start <= match.start() < a.end), -1)
        if number >= 0:
            position = amounts[number].end
            tokens.append(Token(text[amounts[number].start : position], "", amount=number))
            continue
        key = next((k for a, b, k in names if a <= match.start() < b), None)
        word, low = match[0], match[0].lower()
        possessive = low[-2:] in ("'s", "’s")
        if possessive:
            word, low = word[:-2], low[:-2]
        tokens.append(Token(word, low, key))
        if possessive and key is not None:
            tokens.append(Token("'s", "'s"))
    return tokens


def attribute_of(words: Sequence[str]) -> frozenset[str]:
    """Stems of the words that name an attribute; of several those that alone say something."""
    special = [word for word in words if word not in GENERIC and word.rstrip("s") not in GENERIC]
    return frozenset(canonical(word) for word in special or words[-1:])


@lru_cache(maxsize=4_000)
def stems_of(text: str) -> frozenset[str]:
    """Stems of the words of a text that say something, one for words that mean the same."""
    return frozenset(
        canonical(word) for word in _LETTERS.findall(text.lower()) if word not in STOPS
    )
