"""Checks whether a text tries to give orders to the model that reads it.

Three kinds of signs add up within a passage: wordings (`wording`), ways of hiding (`hidden`), and
a logistic regression over the words and vectors of its sentences (`classifier`).
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memvault.model.note import Embed
from memvault.verification.immunity import hidden, wording
from memvault.verification.immunity.classifier import Classifier
from memvault.verification.immunity.folding import (
    Folded,
    folded_as_read,
    squeezed,
    unleeted,
    without_links,
)
from memvault.verification.immunity.hidden import HiddenText
from memvault.verification.immunity.titles import misleads
from memvault.verification.immunity.verdicts import Verdicts, verdict_key

THRESHOLD = 1.0  # sum of weights from which a passage is adversarial
HIDDEN_THRESHOLD = 0.5  # the same for text that people do not see
ENCODED = 0.6  # weight of several words in an encoding, whatever they mean
OPEN = 0.6  # score from which a misleading title counts
MISLEADING = 0.4  # weight of a misleading title
PASSAGE = 420  # characters within which signs add up
LEARNED_LAYERS = 64  # most hidden texts of which sentences are embedded
MAX_SECONDS = 2.0  # of processor time for one check; a text that takes longer is adversarial
MAX_SECONDS_PER_CHARACTER = 0.0001
MAX_EVIDENCE = 64
MAX_EMBEDDED = 4  # sentences, the most suspicious ones
MAX_VECTOR_ODDS = 0.8  # most log-odds that a vector adds, in 99 of 100 attacks
SURE = 2.0  # log-odds that weigh almost as much as the strongest wordings
_MAX_LEARNED = 0.84  # most weight by `SURE`; not enough with one mention of the user
CERTAIN = 3.5  # log-odds that suffice alone; hardly any ordinary note has such a sentence
TOO_SLOW = "too long to check"  # kind of the evidence of a text that takes too much time
LEARNED = "instruction"  # kind of the signs that only the classifier finds
_MIN_LEARNED = 0.2
_CLEAR = 0.5  # least weight of a learned sign that counts as an order in hidden text
_IN_CODE = 0.5  # factor of a tool call's weight in code, as in documentation
_QUOTED_SHARE = 0.3  # factor of a weight in a quotation, if the text around it is about attacks
SPLIT_WORDS = 8  # words split by invisible characters; no copied web page has so many
_WINDOW_CHARS = (12, 200)  # length of a sentence that is embedded
_EXCERPT = 200
_SHOWN_FROM = 0.3  # least weight of a sign that is shown as evidence with others
_STRONG = 0.9  # weight of a sign that is almost enough alone

_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?。！？]+|(?=\n)|$)")


class Action(StrEnum):
    NONE = "none"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True)
class SuspectExcerpt:
    """An excerpt with its offsets in `place`: the text, its title or a property's value."""

    kind: str
    excerpt: str
    start: int
    end: int
    place: str = "text"


@dataclass(frozen=True, slots=True)
class Assessment:
    adversarial: bool
    score: float  # of the worst passage; `THRESHOLD` and more is adversarial
    evidence: tuple[SuspectExcerpt, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(evidence.kind for evidence in self.evidence))

    @property
    def action(self) -> Action:
        return Action.QUARANTINE if self.adversarial else Action.NONE


@dataclass(frozen=True, slots=True)
class _Sign:
    """A sign of an attack at a span of the original text."""

    kind: str
    weight: float
    start: int
    end: int


class _TooSlow(Exception):
    pass


class _Limit:
    """Stops a check that takes too long by raising `_TooSlow`; the thread's time is counted."""

    def __init__(self, characters: int) -> None:
        self._last = time.thread_time() + MAX_SECONDS + characters * MAX_SECONDS_PER_CHARACTER

    def __call__(self) -> None:
        if time.thread_time() > self._last:
            raise _TooSlow


class Immunity:
    """Checks texts; safe in any thread.

    Args:
        embed: gives the vectors of texts, (n, 384) float32, normalised, of the default model; None
            if no model is loaded.
        verdicts: of the texts that `is_adversarial` was asked of before.
    """

    def __init__(self, embed: Embed | None, verdicts: Verdicts | None = None) -> None:
        self._embed = embed
        self._verdicts = verdicts
        self._classifier = Classifier.shipped()

    def is_adversarial(self, text: str, title: str = "", folder: str = "") -> bool:
        """Whether `check` finds orders to a model in a text, its title or its folder."""
        key = verdict_key(text, title, folder)
        known = self._verdicts.get(key) if self._verdicts else None
        if known is None:
            assessment = self.check(text, title, {"folder": folder})
            known = assessment.adversarial
            if self._verdicts:  # a quicker computer, or a later start, may have the time
                lasting = TOO_SLOW not in assessment.kinds
                self._verdicts.put(key, adversarial=known, lasting=lasting)
        return known

    def check(
        self, text: str, title: str = "", properties: Mapping[str, object] | None = None
    ) -> Assessment:
        """Check a text, its title and its properties for orders to a model."""
        places = [("text", text)]
        places += [("title", title)] if title else []
        places += [(key, value) for key, value in _values(properties or {})]
        on_step = _Limit(sum(len(value) for _, value in places))
        try:
            findings = [self._place(name, value, on_step) for name, value in places]
        except _TooSlow:
            too_slow = SuspectExcerpt(TOO_SLOW, text[:_EXCERPT], 0, len(text))
            return Assessment(True, THRESHOLD, (too_slow,))
        if OPEN <= findings[0].score < THRESHOLD and misleads(text, title):
            findings[0] = _misleading(findings[0], text, title)
        worst = max(findings, key=lambda assessment: assessment.score)
        evidence = tuple(e for f in findings if f.score >= THRESHOLD for e in f.evidence)
        return Assessment(worst.score >= THRESHOLD, worst.score, evidence or worst.evidence)

    def _place(self, name: str, text: str, on_step: _Limit) -> Assessment:
        visible = _Visible.of(text)
        signs = self._signs(visible, on_step)
        buried = self._buried(visible, on_step)
        signs += [sign for _, sign in buried if sign.kind == "hidden encoding"]
        visible_score, strongest = _worst_passage(signs)
        best = max([visible_score, *(score for score, _ in buried)])
        if best >= THRESHOLD:
            shown = signs if visible_score >= THRESHOLD else ()
            strongest = [sign for sign in shown if sign.weight >= _SHOWN_FROM]
            strongest += [sign for score, sign in buried if score >= THRESHOLD]
        evidence = tuple(
            SuspectExcerpt(s.kind, text[s.start : s.end].strip()[:_EXCERPT], s.start, s.end, name)
            for s in strongest[:MAX_EVIDENCE]
        )
        return Assessment(best >= THRESHOLD, round(best, 3), evidence)

    def _buried(self, visible: _Visible, on_step: _Limit) -> list[tuple[float, _Sign]]:
        """The score and sign of each hidden text, the sentences of the most suspicious embedded."""
        layers = hidden.hidden_texts(visible.text)
        visible_by_text: dict[str, _Visible] = {}
        for layer in layers:
            if layer.decoded not in visible_by_text:
                visible_by_text[layer.decoded] = _Visible.of(layer.decoded)
                on_step()
        embedded = set(visible_by_text)
        if self._embed is not None and len(visible_by_text) > LEARNED_LAYERS:
            by_odds = sorted(visible_by_text, key=lambda text: self._odds(visible_by_text[text]))
            embedded = set(by_odds[-LEARNED_LAYERS:])
        return [
            self._hidden(
                layer,
                visible_by_text[layer.decoded],
                visible.quotes(layer.start, layer.end),
                layer.decoded in embedded,
                on_step,
            )
            for layer in layers
        ]

    def _odds(self, visible: _Visible) -> float:
        """The log-odds of the most suspicious sentence by its words."""
        spans = visible.sentences()
        return max(
            (self._classifier.of_words(visible.folded_part(*span)) for span in spans), default=-99.0
        )

    def _hidden(
        self,
        hidden_text: HiddenText,
        visible: _Visible,
        is_quoted: bool,
        is_embedded: bool,
        on_step: _Limit,
    ) -> tuple[float, _Sign]:
        """The score of a hidden text, scaled so that its limit is also `THRESHOLD`."""
        is_seen = hidden_text.kind in ("link", "alt text")  # people also read these
        limit = THRESHOLD if is_seen else HIDDEN_THRESHOLD
        score, signs = _worst_passage(self._signs(visible, on_step, limit, is_embedded))
        score *= THRESHOLD / limit if any(map(_is_order, signs)) else HIDDEN_THRESHOLD
        if hidden_text.kind == "encoding" and hidden_text.decoded.count(" ") >= 3:
            score += ENCODED
        score *= _QUOTED_SHARE if is_quoted else 1.0
        if hidden_text.certain:
            score += THRESHOLD
        return score, _Sign(f"hidden {hidden_text.kind}", score, hidden_text.start, hidden_text.end)

    def _signs(
        self, visible: _Visible, on_step: _Limit, limit: float = THRESHOLD, is_embedded: bool = True
    ) -> list[_Sign]:
        """The wordings, and, if they do not reach the limit, the signs of the classifier."""
        signs = list(visible.signs(on_step))
        missing = limit - _worst_passage(signs)[0]
        return (
            signs + list(self._learned(visible, missing)) if missing > 0 and is_embedded else signs
        )

    def _learned(self, visible: _Visible, missing: float) -> Iterator[_Sign]:
        """The classifier's signs in the sentences that could add up to at least ``missing``.

        A vector takes milliseconds, so sentences whose words make that impossible are not embedded.
        """
        if self._embed is None:
            return
        words = self._classifier.of_words
        spans = [(words(visible.folded_part(*span)), span) for span in visible.sentences()]
        candidates = sorted(
            scored for scored in spans if _weight(scored[0] + MAX_VECTOR_ODDS) >= missing
        )
        for word_odds, (start, end) in candidates[: -MAX_EMBEDDED - 1 : -1]:
            (vector_odds,) = self._classifier.of_vectors(self._embed([visible.text[start:end]]))
            weight = _weight(word_odds + vector_odds) * visible.share(start, end)
            if weight >= _MIN_LEARNED:
                yield _Sign(LEARNED, weight, start, end)
            if weight >= missing:
                return


@dataclass(slots=True)
class _Visible:
    text: str
    folded: Folded
    talk: list[int]  # offsets of words about attacks
    quoted: list[tuple[int, int]]

    @classmethod
    def of(cls, text: str) -> _Visible:
        folded = folded_as_read(text)
        talk = [folded.span(*span)[0] for span in wording.talk_of_attacks(folded.text)]
        return cls(text, folded, talk, wording.quotations(text))

    def share(self, start: int, end: int) -> float:
        """The factor of a weight in this span: lower in a quotation in a text about attacks.

        Outside quotations it is 1, since a text about attacks can also be one.
        """
        return _QUOTED_SHARE if self.quotes(start, end) else 1.0

    def quotes(self, start: int, end: int) -> bool:
        """Whether this span is quoted, with words about attacks near the quotation, not in it."""
        quotation = self._quotation(start, end) if self.talk else None
        if quotation is None:
            return False
        first, last = quotation
        nearby = range(first - PASSAGE, last + PASSAGE)
        talk = self.talk
        before = bisect_left(talk, nearby.start) < bisect_left(talk, first)
        return before or bisect_left(talk, last) < bisect_left(talk, nearby.stop)

    def _quotation(self, start: int, end: int) -> tuple[int, int] | None:
        index = bisect_right(self.quoted, (end, end)) - 1
        nearby = self.quoted[max(0, index - 1) : index + 2]
        return next(
            (
                (a, b)
                for a, b in nearby
                if (a <= start + 2 and end <= b + 2)
                or (start <= a and b <= end and (b - a) * 2 > end - start)
            ),
            None,
        )

    def signs(self, on_step: _Limit) -> Iterator[_Sign]:
        has_strong = False
        reported: set[tuple[str, int]] = set()
        for match in wording.cues_in(self.folded.text, on_step):
            reported.add((match.kind, match.start))
            has_strong = has_strong or match.weight >= _STRONG
            yield self._sign(match, self.folded)
        folded = self.folded.text
        unleeted_text = unleeted(folded)
        if unleeted_text != folded:
            for match in wording.cues_in(unleeted_text, on_step):
                if (match.kind, match.start) not in reported:
                    yield self._sign(match, self.folded)
        shown = without_links(self.folded)
        if shown is not self.folded:
            for match in wording.cues_in(shown.text, on_step):
                yield self._sign(match, shown)
        if hidden.splits_words(self.text) >= SPLIT_WORDS:
            yield _Sign("hidden invisible", _STRONG, 0, len(self.text))
        if not has_strong and wording.SQUEEZED.search(squeezed(unleeted_text)):
            yield _Sign("disguise", THRESHOLD, 0, len(self.text))

    def _sign(self, match: wording.CueMatch, folded: Folded) -> _Sign:
        start, end = folded.span(match.start, match.end)
        share = self.share(start, end)
        if match.kind == "tool call" and self._quotation(start, end):
            share = min(share, _IN_CODE)
        return _Sign(match.kind, match.weight * share, start, end)

    def sentences(self) -> list[tuple[int, int]]:
        min_chars, max_chars = _WINDOW_CHARS
        spans = [
            (m.start(), min(m.end(), m.start() + max_chars)) for m in _SENTENCE.finditer(self.text)
        ]
        return [(a, b) for a, b in spans if len(self.text[a:b].strip()) >= min_chars]

    def folded_part(self, start: int, end: int) -> str:
        """The folded text of a span of the original."""
        places = self.folded.places
        if places is None:
            return self.folded.text[start:end]
        return self.folded.text[bisect_left(places, start) : bisect_left(places, end)]


def _misleading(assessment: Assessment, text: str, title: str) -> Assessment:
    score = round(assessment.score + MISLEADING, 3)
    evidence = SuspectExcerpt("misleading title", title or text[:_EXCERPT], 0, len(title), "title")
    return Assessment(score >= THRESHOLD, score, (*assessment.evidence, evidence))


def _weight(logit: float) -> float:
    """The weight of a sentence with these log-odds, rarely enough for a assessment by itself."""
    return max(0.0, min(_MAX_LEARNED, logit / SURE), min(THRESHOLD, logit / CERTAIN))


def _is_order(sign: _Sign) -> bool:
    return sign.weight >= _CLEAR if sign.kind == LEARNED else wording.orders(sign.kind)


def _worst_passage(signs: Sequence[_Sign]) -> tuple[float, list[_Sign]]:
    """The largest sum of weights within `PASSAGE` characters, each kind once, and its signs."""
    ordered = sorted(signs, key=lambda sign: sign.start)
    best, worst = 0.0, list[_Sign]()
    for index, first in enumerate(ordered):
        kinds: dict[str, _Sign] = {}
        for sign in ordered[index:]:
            if sign.start - first.start > PASSAGE:
                break
            strongest = kinds.get(sign.kind)
            if strongest is None or strongest.weight < sign.weight:
                kinds[sign.kind] = sign
        score = sum(sign.weight for sign in kinds.values())
        if score > best:
            best, worst = score, list(kinds.values())
    return best, worst


def _values(properties: Mapping[str, object], depth: int = 0) -> Iterator[tuple[str, str]]:
    for key, value in properties.items():
        if isinstance(value, Mapping) and depth < 3:
            yield from _values(value, depth + 1)
        elif isinstance(value, list | tuple):
            yield str(key), "\n".join(str(item) for item in value)
        elif isinstance(value, str):
            yield str(key), value
