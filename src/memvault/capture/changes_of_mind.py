"""Recognises sentences that replace one choice by another, and what they replace.

"We moved from SQLite to Postgres" replaces SQLite. The wordings are those of the languages of
`memvault.capture.extract`.
"""

from __future__ import annotations

import re

from memvault.text.stems import stem
from memvault.text.words import STOP_WORDS

_OLD = r"(?P<old>[^,.;:!?。、]{1,60}?)"
_END = r"(?=[,.;:!?]|$)"
_NEXT = r"(?=[,.;:!?]|$|\s+(?:to|for|in|on|by|with|and|but|because|since|as|any ?more|now)\b)"
_WE = r"\b(?:we|i)(?:['’](?:ve|re|m|ll)| have| had| are| am| will)?\s+(?:\w+ly |just |now |also )?"
_SOME = r"[^.!?]{0,60}?"
_USE = r"(?:use|using|need|want|have|run|running|support|do)"
_THE = r"(?:la |le |les |l['’])?"

# Wordings of decisions, in English, German, French, Spanish and Japanese.
_CHANGES = (
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
_CHANGE = [re.compile(each, re.IGNORECASE) for each in _CHANGES]
_REMARK = [re.compile(each, re.IGNORECASE) for each in _REMARKS]
_WORD = re.compile(r"\d+|[^\W_]{2,}|[^\W\da-z_]")  # no single letters, as in "let's"


def changes_mind(sentence: str) -> bool:
    """Whether a sentence says that a choice has changed."""
    return any(each.search(sentence) for each in _CHANGE)


def replaced(sentence: str) -> list[frozenset[str]]:
    """The stems of the content words of each choice that a sentence replaces."""
    matches = (match for each in (*_CHANGE, *_REMARK) for match in each.finditer(sentence))
    return [words for match in matches if (words := content_stems(match["old"]))]


def content_stems(text: str) -> frozenset[str]:
    """The stems of the words that are not English function words, and the numbers."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
