"""Recognises sentences that replace one thing by another, and what they replace.

"We moved from SQLite to Postgres" replaces SQLite. Callers choose a set of wordings: `DECISIONS`
of people; `CHOICES`, which are decisions and remarks such as "four spaces, not tabs";
`TOOL_CHANGES` of a subject; `FORMER_VALUES`, such as "no longer at four".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memvault.text.stems import content_stems

_OLD = r"(?P<old>[^,.;:!?。、]{1,60}?)"
_END = r"(?=[,.;:!?]|$)"
_NEXT = r"(?=[,.;:!?]|$|\s+(?:to|for|in|on|by|with|and|but|because|since|as|any ?more|now)\b)"
_WE = r"\b(?:we|i)(?:['’](?:ve|re|m|ll)| have| had| are| am| will)?\s+(?:\w+ly |just |now |also )?"
_SOME = r"[^.!?]{0,60}?"
_USE = r"(?:use|using|need|want|have|run|running|support|do)"
_THE = r"(?:la |le |les |l['’])?"

# Wordings of decisions, in English, German, French, Spanish and Japanese.
_DECISIONS = (
    rf"(?:^(?:please )?|\b(?:we|i|let['’]?s|our \w+)\b{_SOME})"
    rf"\b(?:mov|switch|chang|migrat|upgrad|convert)(?:e|ed|ing)?\b{_SOME}"
    rf"\bfrom {_OLD}\s+(?:over )?to\b",
    rf"\breplac(?:e|ed|ing) {_OLD}\s+(?:with|by)\b",
    rf"{_WE}(?:no longer|(?:do not|don['’]t) {_USE})\s+{_OLD}\s+any ?more\b",
    rf"{_WE}no longer {_USE}\s+{_OLD}{_NEXT}",
    rf"{_WE}(?:drop(?:ped)?|abandon(?:ed)?|ditch(?:ed)?|ga?[ai]ve up(?: on)?|got rid of|"
    rf"stop(?:ped)? using|move away from|moved away from)\s+{_OLD}{_NEXT}",
    r"\b(?:we|let['’]?s|use[sd]?|using|"
    r"go(?:ing)? with|went with|run|take|pick(?:ed)?|cho(?:o)?se|keep|is|are)\b"
    rf"{_SOME}\b(?:instead of|in place of|rather than) {_OLD}{_NEXT}",
    r"\b(?!(?:it|this|that|he|she)\b)\w+ (?:is|are|was|were|use|uses|want|need|(?:should|will) be)"
    rf" not (?!only|just|merely){_OLD},? but (?!also|only)",
    rf"\bvo[nm] {_OLD}\s+(?:auf|zu[mr]?|nach|ins?)\b{_SOME}"
    r"\b(?:um|ge|über)\w*(?:st(?:ie|e)g|wechsel|zog|stell)\w*",
    r"\b(?:wechsel[nt]?|migrieren|zogen|ziehen|steigen|stiegen|stellt?en)\b"
    rf"{_SOME}\bvo[nm] {_OLD}\s+(?:auf|zu[mr]?|nach)\b",
    rf"\b(?:wir|ich)\b{_SOME}\b(?:statt|anstatt|anstelle von|an Stelle von) {_OLD}{_END}",
    r"\b(?:nutzen?|nehmen?|verwenden?|brauchen?|benutzen?|haben?|wollen)\b"
    rf"{_SOME}\bkeine?n? {_OLD} mehr\b",
    rf"\b(?:nutzen?|nehmen?|verwenden?|brauchen?|benutzen?) {_OLD} nicht mehr\b",
    rf"\bnicht (?!nur){_OLD}, sondern\b",
    rf"\b(?:pass|migr|chang|bascul|déménag)\w* (?:de |du |d['’]){_OLD} (?:à|vers|aux?)\b",
    rf"\b(?:nous|on|je|j['’])\b{_SOME}"
    rf"\b(?:au lieu (?:de |du |d['’])|plutôt que (?:de )?|à la place de ){_THE}{_OLD}{_END}",
    r"\b(?:nous avons|on a|j['’]ai) (?:abandonné|laissé tomber|arrêté d(?:e |['’])utiliser) "
    rf"{_THE}{_OLD}{_END}",
    rf"\b(?:nous|on|je) n(?:['’]|e )\w+ plus (?:de |d['’])?{_THE}{_OLD}{_END}",
    rf"\bremplac\w+ {_THE}{_OLD} par\b",
    rf"\bpas (?!seulement){_OLD},? mais\b",
    rf"\b(?:pasa|cambia|migra|muda)\w* (?:de |del ){_OLD} (?:al?|hacia)\b",
    rf"\b(?:usa|utiliza|vamos|quiero|queremos|será)\w*\b{_SOME}"
    rf"\ben (?:lugar|vez) del? {_OLD}{_END}",
    rf"\bya no (?:us|utiliz|necesit|quer|ten)\w+ {_OLD}{_END}",
    r"\b(?:dejamos de usar|dejé de usar|hemos dejado(?: de usar)?|abandonamos|hemos abandonado) "
    rf"{_OLD}{_END}",
    rf"\b(?:reempla|sustitu)\w+ {_OLD} por\b",
    rf"\bno (?:es |son )?(?!sólo|solo){_OLD},? sino\b",
    r"(?P<old>[^、。\s]{1,30}?)から[^、。]{1,30}?[にへ](?:変更|移行|切り替え|乗り換え|変え)",
    r"(?P<old>[^、。\s]{1,30}?)(?:の代わりに|ではなく)",
)
# Wordings that plain remarks have, too: "four spaces, not tabs".
_REMARKS = (
    rf", not (?!sure|yet|only|even|just|so){_OLD}(?=[.!]|$)",
    rf"\binstead of {_OLD}{_NEXT}",
)
TOOL = r"(?P<{}>[\w#+./-]+(?: [\w#+./-]+){{0,3}}?)"
TOOL_END = (
    r"(?=\s+(?:for|in|on|at|since|as|because|instead|and|but|when|after|to|from|with|by|last|this|"
    r"now|tokens?|authentication)\b|[.,;:!?()]|\s*$)"
)
# Wordings of a change of tools, with its subject.
_TOOL_CHANGES = (
    r"^(?P<subject>.*?)\b(?:migrated|moved(?: over)?|switched(?: over)?|changed|converted|ported|"
    r"upgraded|went)\s+(?:from (?:the )?" + TOOL.format("old") + r" )?to (?:the |an? )?"
    + TOOL.format("new") + TOOL_END,
    r"^(?P<subject>.*?)\b(?:replaced|swapped)\s+(?:the )?" + TOOL.format("old")
    + r"\s+(?:with|by|for)\s+(?:the |an? )?" + TOOL.format("new") + TOOL_END,
    r"^(?P<subject>.*?)\b(?:no longer (?:uses?|using|runs? on|relies on)|stopped using|dropped|"
    r"abandoned|retired|got rid of|does not use|doesn't use|do not use|don't use|never used)\s+"
    r"(?:the )?" + TOOL.format("old") + TOOL_END,
)  # fmt: skip
_PHRASE = r"(?P<old>(?:[^.,;:!?()]|(?<=\d)[.,:](?=\d))+{})"
# Wordings of a value that holds no longer.
_FORMER_VALUES = (
    r"\b(?:no longer|instead of|rather than|nicht mehr|an?statt|statt|au lieu d(?:e|u)|ya no|"
    r"en (?:lugar|vez) de|non più|invece di|em vez de|niet meer|in plaats van|больше не|вместо) "
    + _PHRASE.format(""),
    rf"\bnot {_PHRASE.format('?')} any ?(?:more|longer)\b",
)


def _compiled(wordings: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(wording, re.IGNORECASE) for wording in wordings)


DECISIONS = _compiled(_DECISIONS)
CHOICES = (*DECISIONS, *_compiled(_REMARKS))
TOOL_CHANGES = _compiled(_TOOL_CHANGES)
FORMER_VALUES = _compiled(_FORMER_VALUES)


class Replacement(NamedTuple):
    """What a sentence replaces, from ``start`` to ``end``; empty texts where it does not say."""

    start: int
    end: int
    old: str
    new: str
    subject: str


def replacements(sentence: str, wordings: Sequence[re.Pattern[str]]) -> list[Replacement]:
    """What a sentence replaces by any of the wordings of a set, in the order of the sentence."""
    found = []
    for match in (match for wording in wordings for match in wording.finditer(sentence)):
        group = match.groupdict(default="")
        old, new, subject = (group.get(name, "") for name in ("old", "new", "subject"))
        found.append(Replacement(*match.span(), old, new, subject))
    return sorted(found, key=lambda replacement: replacement.start)


def changes_mind(sentence: str) -> bool:
    """Whether a sentence says that a choice has changed."""
    return any(wording.search(sentence) for wording in DECISIONS)


def replaced_choices(sentence: str) -> list[frozenset[str]]:
    """The stems of the content words of each choice that a sentence replaces."""
    stems_of_old = (content_stems(choice.old) for choice in replacements(sentence, CHOICES))
    return [words for words in stems_of_old if words]
