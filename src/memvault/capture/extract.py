"""Extracts decisions, preferences, facts, open questions and requests from a conversation.

Every item is a sentence that somebody said, with its speaker and without secrets. The rules look
for words that mark a decision, a preference or an open question in English, German, French, Spanish
and Japanese; a plain statement by the person is a fact in any language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from memvault.capture.transcripts import Speaker, TranscriptTurn
from memvault.text.replacements import changes_mind
from memvault.text.secrets import MASK, without_secrets
from memvault.text.stems import content_stems, stem
from memvault.vault.lines import bare_lines
from memvault.vault.markdown.labelled_sentences import sentences_in
from memvault.vault.session_lines import ItemKind

MAX_ITEM_CHARS = 400
LONG_TURN_CHARS = 6_000  # more than a person types: text was pasted
REPORTS_PER_TURN = 3
REQUEST_WORDS = 6  # shorter requests are unclear later ("Write the commit message")
REPEATED_SHARE = 0.8  # of a sentence's content words, from which it repeats another text
MASKED_WORDS = 4  # fewer content words around a removed secret say nothing ("The API key is …")
REACTION_WORDS = 7  # at most this many in a mere reaction ("That's awesome, congrats!")


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence worth keeping; for a decision also the sentence after it with the reason."""

    kind: ItemKind
    text: str
    speaker: Speaker
    at: datetime | None = None


_CODE_BLOCK = re.compile(r"^[ \t]*(`{3,}|~{3,})[\s\S]*?(?:^[ \t]*\1|\Z)", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+|>+\s*|#{1,6}\s+)")
_MARKS = re.compile(r"(\*\*|__|~~)(?=\S)(.{1,400}?)(?<=\S)\1")
_LOG_LINE = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\dT|\d\d:\d\d:\d\d|\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE)\b|Traceback|"
    r"File \"|at \S+\(|[+-]{3} |@@ |diff --git|\$ |>>> |npm |\|)"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SYMBOLS = re.compile(r"[{}<>;=|\\$^~@#()\[\]/_*&%]")

_DECIDES = re.compile(
    r"\b(?:we|i|you|they|the team)(?:'ve| have|'d| had)?\s+(?:\w+ly |just |now |also |finally )?"
    r"(?:decided|agreed|chose|chosen|settled on|opted|concluded|picked|went with|switched|committed)\b"
    r"|\b(?:decision|decided|resolved|agreed|verdict)\s*:"
    r"|\b(?:the|our|my) (?:final )?decision (?:is|was)\b"
    r"|\blet['’]?s (?:go with|use|stick (?:with|to)|keep|drop|switch|stay with|adopt|avoid)\b"
    r"|\b(?:we|i)(?:'ll| will| shall|'re going to| are going to|'m going to| am going to)"
    r"\s+(?:use|go with|stick (?:with|to)|switch|drop|adopt|keep|stay with|move to|migrate)\b"
    r"|\bgoing (?:forward|with)\b|\bfrom now on\b"
    r"|\bwe (?:must|should) (?:not |always |never )?(?:use|keep|avoid|store|write)\b"
    r"|\b(?:wir haben|ich habe) (?:\S+ ){0,12}?(?:entschieden|beschlossen|geeinigt|vereinbart)\b"
    r"|\b(?:entscheidung|beschluss|beschlossen|vereinbart)\s*:|\bab (?:jetzt|sofort)\b"
    r"|\bwir (?:bleiben bei|wechseln zu|steigen auf)\b"
    r"|\b(?:on a|nous avons|j['’]ai) (?:\w+ )?décidé\b|\bdécision\s*:|\bd(?:ésorma|orénavan)[it]s?\b"
    r"|\b(?:hemos decidido|decidimos|he decidido)\b|\bdecisión\s*:|\ba partir de ahora\b"
    r"|(?:こと|よう)に(?:決め|決定|し(?:た|ました|ます))|(?:決定|採用)(?:した|しました|します)",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|as it|in order to|otherwise)\b|;", re.IGNORECASE
)
_REASON_FOLLOWS = re.compile(
    r"^(?:because|since|the reason|that way|this way|otherwise|it|this|so)\b", re.IGNORECASE
)
_PREFERS = re.compile(
    r"\bi(?:'d| would)? (?:always |really |much |usually |strongly )?(?:prefer|like|love|hate|dislike|"
    r"want you to|favou?r|can't stand|don't like|do not like|never want|always want)\b"
    r"|\bmy (?:favou?rite|preference|preferred)\b"
    r"|\b(?:please )?(?:always|never) (?:\w+)\b.*|^(?:please )?(?:do not|don't) ever\b"
    r"|\bich (?:bevorzuge|mag|liebe|hasse|hätte lieber|möchte (?:immer|nie|lieber))\b|\bmir ist lieber\b"
    r"|\bbitte (?:immer|nie|niemals)\b|\bmeine? liebling\w+"
    r"|\bje (?:préfère|déteste|veux toujours)\b|\bj['’](?:aime|adore)\b|\bmon \w+ préféré"
    r"|\b(?:prefiero|odio|me gusta|me encanta)\b|\bmi \w+ favorit[oa]\b"
    r"|が(?:大)?(?:好き|嫌い)|の(?:ほう|方)が(?:いい|良い|好み)|は(?:必ず|常に|絶対に)",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\bopen (?:question|point|issue)s?\b|\bto ?do\s*:|\btbd\b|\bto be (?:decided|determined|clarified|done)\b"
    r"|\b(?:still|yet) (?:need|have|has|needs|unclear|open|undecided|to (?:decide|do|fix|find|check))\b"
    r"|\b(?:not|un)(?: yet)? ?(?:sure|clear|decided|certain) (?:whether|if|how|what|which|when|why|about)\b"
    r"|\b(?:i|we) (?:don't|do not) (?:yet )?know (?:whether|if|how|what|which|when|why)\b"
    r"|\b(?:undecided|unresolved|remains open|follow[- ]?up)\b|\bwe(?:'ll| will)? need to (?:find out|decide|check|figure)\b"
    r"|\boffene[rns]? (?:frage|punkt)|\bnoch (?:offen|unklar|ungeklärt|nicht (?:klar|sicher|entschieden))\b"
    r"|\bquestion ouverte\b|\bpas encore (?:clair|décidé|sûr)|\breste à (?:décider|vérifier|faire)\b"
    r"|\bpregunta abierta\b|\b(?:pendiente|por decidir)\b|\b(?:aún|todavía) no (?:está claro|se ha decidido|sabemos)\b"
    r"|未定|未決定|未解決|要確認|検討中|まだ(?:決ま|決め|分か|わか)っていま?",
    re.IGNORECASE,
)
_NARRATES = re.compile(
    r"^(?:now |next,? |first,? |then,? |ok(?:ay)?[,.!]? |great[,.!]? |sure[,.!]? |good[,.!]? )*"
    r"(?:let me|i['’]?ll|i will|i['’]?m going to|i am going to|let['’]?s (?:see|look|check|start|run)|"
    r"i (?:do not|don['’]t) know|you are welcome|here['’]?s|here is|here are|looking at|checking|running|reading|searching|you['’]?re (?:right|welcome))\b",
    re.IGNORECASE,
)
_REACTS = re.compile(
    r"^(?:(?:wow|woah|whoa|oh|aw+|yay|haha|yeah|yep|yup|hey|congrats|congratulations)\b[,!. ]*)*"
    r"(?:(?:that|this|it)(?:['’]s| is| sounds| looks| must be)\b|sounds\b|how (?:awesome|cool|nice|great|sweet|fun)\b|"
    r"so (?:cool|glad|happy|sweet)\b|(?:i['’]m (?:so |really )?)?(?:glad|happy|sorry) to hear\b|congrats\b|congratulations\b|"
    r"(?:awesome|amazing|great|nice|cool|good)\b)",
    re.IGNORECASE,
)
_COMMANDS = re.compile(
    r"^(?:(?:please|now|then|also|and|ok(?:ay)?|can you|could you|would you|i want you to|i need you to|"
    r"help me(?: to)?|go ahead and)[,:]?\s+)*"
    r"(?:add|fix|make|write|create|run|change|update|remove|delete|use|show|explain|find|check|look|read|"
    r"implement|refactor|test|build|install|move|rename|convert|generate|list|give|tell|try|do|set|put|"
    r"open|review|summari[sz]e|draft|plan|continue|go|start|stop|revert|commit|push|deploy|debug|clean|"
    r"compare|search|remember|note|help|let|leave|take|sort|format|translate|edit|replace|merge|document)\b",
    re.IGNORECASE,
)
# A report of the person's choice, in the assistant's words.
_ABOUT_PERSON = re.compile(r"\byou(?:['’](?:ve|d|re))?\b", re.IGNORECASE)
_USES = re.compile(r"(?:please )?(?:use|keep)\b", re.IGNORECASE)
_DECIDING = frozenset(
    map(stem, ("agreed", "choose", "chose", "chosen", "decide", "decided", "noted", "settled"))
)
_FILLER = frozenset(
    {
        "a", "again", "agreed", "ahead", "all", "alright", "also", "and", "awesome", "bye",
        "continue", "cool", "correct", "course", "do", "done", "exactly", "fine", "for", "go",
        "good", "got", "great", "haha", "happy", "hello", "hey", "hi", "i", "i'm", "is", "it",
        "keep", "let's", "lets", "lgtm", "lol", "looks", "me", "much", "next", "nice", "no",
        "nope", "now", "of", "ok", "okay", "on", "perfect", "please", "proceed", "right",
        "same", "see", "ship", "so", "sounds", "sure", "thank", "thanks", "that", "that's",
        "the", "then", "this", "to", "too", "very", "well", "with", "works", "wow", "yeah",
        "yep", "yes", "you",
    }
)  # fmt: skip


def extract(turns: Iterable[TranscriptTurn]) -> Iterator[Item]:
    """The items of a conversation, in order; a sentence may occur twice.

    What the assistant only repeats of the person's statements is left out.
    """
    stated = Statements()
    for turn in turns:
        sentences = _sentences(without_secrets(turn.text))
        if turn.speaker == "person":
            yield from _of_person(turn, sentences)
            stated.add(each for each in sentences if not each.endswith(("?", "？")))
        else:
            yield from (
                item for item in _of_assistant(turn, sentences) if not stated.repeated_by(item.text)
            )


class Statements:
    """Texts, by whose content words repetitions are found without comparing every two."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._having: dict[str, set[frozenset[str]]] = {}  # the statements with each word
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        for statement in map(content_words, texts):
            for word in statement:
                self._having.setdefault(word, set()).add(statement)

    def repeated_by(self, text: str) -> bool:
        """Whether one of the statements has nearly all content words of a text."""
        words = content_words(text)
        # A statement that lacks all of these words lacks too many.
        needed = math.ceil(REPEATED_SHARE * len(words))
        having = sorted((self._having.get(word, set()) for word in words), key=len)
        return any(
            len(words & statement) >= needed
            for statements in having[: len(words) - needed + 1]
            for statement in statements
        )


def content_words(text: str) -> frozenset[str]:
    """The stems of the words that say what a sentence is about, without words of deciding."""
    return content_stems(text) - _DECIDING


def says_little(text: str) -> bool:
    """Whether a message only greets, thanks, agrees or tells the assistant to continue."""
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
    return all(word in _FILLER for word in words)


def is_command(text: str) -> bool:
    """Whether a message tells the assistant to do something, rather than asking or stating."""
    return _COMMANDS.match(text) is not None


def _of_person(turn: TranscriptTurn, sentences: list[str]) -> Iterator[Item]:
    requested = False
    pasted = len(turn.text) > LONG_TURN_CHARS
    for index, (kind, sentence) in enumerate(_joined(sentences, by_person=True)):
        if kind is not None:
            yield Item(kind, sentence, "person", turn.at)
            continue
        asks, requests = sentence.endswith(("?", "？")), is_command(sentence)
        # A question states nothing, and would be found whenever it is asked again.
        if (asks and not requests) or (requests and requested) or (pasted and index >= 5):
            continue
        if requests and len(sentence.split()) < REQUEST_WORDS:
            continue
        requested = requested or requests
        yield Item(ItemKind.REQUEST if requests else ItemKind.FACT, sentence, "person", turn.at)


def _of_assistant(turn: TranscriptTurn, sentences: list[str]) -> Iterator[Item]:
    marked = _joined(sentences, by_person=False)
    plain = [
        index
        for index, (kind, sentence) in enumerate(marked)
        if kind is None and not _NARRATES.match(sentence) and not sentence.endswith(("?", "？"))
    ]
    reported = set(sorted(plain, key=lambda index: -_weight(marked[index][1]))[:REPORTS_PER_TURN])
    for index, (kind, sentence) in enumerate(marked):
        if kind is not None or index in reported:
            yield Item(kind or ItemKind.REPORT, sentence, "assistant", turn.at)


def _joined(sentences: list[str], *, by_person: bool) -> list[tuple[ItemKind | None, str]]:
    """The sentences with the kinds that their words mark, None for plain sentences.

    A decision is joined with the sentence after it if that gives the reason.
    """
    joined: list[tuple[ItemKind | None, str]] = []
    for sentence in sentences:
        kind = _marked(sentence, by_person=by_person)
        if joined and kind is None and _gives_reason(joined[-1], sentence):
            joined[-1] = (ItemKind.DECISION, f"{joined[-1][1]} {sentence}")
        else:
            joined.append((kind, sentence))
    return joined


def _gives_reason(before: tuple[ItemKind | None, str], sentence: str) -> bool:
    kind, decision = before
    return (
        kind is ItemKind.DECISION
        and not _REASON.search(decision)
        and len(decision) + len(sentence) < MAX_ITEM_CHARS
        and _REASON_FOLLOWS.match(sentence) is not None
    )


def _marked(sentence: str, *, by_person: bool) -> ItemKind | None:
    """The kind that the words of a sentence mark; None for a plain sentence."""
    if _OPEN.search(sentence):
        return ItemKind.OPEN_QUESTION
    if sentence.endswith(("?", "？")):
        return None
    if _decides(sentence, by_person=by_person):
        return ItemKind.DECISION
    if by_person and _PREFERS.search(sentence):
        return ItemKind.PREFERENCE
    return None


def _decides(sentence: str, *, by_person: bool) -> bool:
    if by_person:
        is_task = is_command(sentence) and not _USES.match(sentence)
        return _DECIDES.search(sentence) is not None or (changes_mind(sentence) and not is_task)
    if _ABOUT_PERSON.search(sentence):
        return False
    is_next_step = _NARRATES.match(sentence) and not _REASON.search(sentence)
    return _DECIDES.search(sentence) is not None and not is_next_step


def _weight(sentence: str) -> float:
    """A score of a sentence's information: its names and numbers, and a little for its length."""
    words = _WORD.findall(sentence)
    names = sum(word[0].isupper() for word in words[1:])
    numbers = sum(any(c.isdigit() for c in word) for word in words)
    return float(2 * min(names, 4) + 1.5 * min(numbers, 4) + min(len(words), 25) / 10)


def _sentences(text: str) -> list[str]:
    """The sentences of a message outside code, logs and tables."""
    found: list[str] = []
    for line in bare_lines(_CODE_BLOCK.sub("\n", text)):
        if _LOG_LINE.match(line) or line.startswith(("    ", "\t")):
            continue
        plain = " ".join(_MARKS.sub(r"\2", _BULLET.sub("", line)).split())
        sentences = map(str.strip, sentences_in(plain))
        found += [_cut(sentence) for sentence in sentences if _worth_keeping(sentence)]
    return found


def _worth_keeping(sentence: str) -> bool:
    if says_little(sentence):
        return False
    if len(sentence.split()) <= REACTION_WORDS and _REACTS.match(sentence):
        return False
    bare = sentence.replace(MASK, "")
    if bare != sentence and len(content_stems(bare)) < MASKED_WORDS:
        return False
    words = _WORD.findall(bare)
    letters = sum(c.isalpha() for c in bare)
    if letters < 8 or (len(words) < 3 and bare.isascii()):
        return False
    return len(_SYMBOLS.findall(bare)) <= max(6, letters // 6)


def _cut(sentence: str) -> str:
    if len(sentence) <= MAX_ITEM_CHARS:
        return sentence
    return sentence[: MAX_ITEM_CHARS - 1].rsplit(" ", 1)[0] + " …"
