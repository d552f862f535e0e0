"""Recognises text that its writer does not assert: hearsay, dreams, stories, denials, quotes.

Such text confirms nothing and contradicts nothing, even in the person's own note.
"""

from __future__ import annotations

import re

from memvault.vault.readable import is_open_task, readable

# By language: who says, dreams or doubts it, and that it is not so.
_WORDS = {
    "en": r"says?|saying|said|tells?|told|(?:writes?|wrote|mentions?|mentioned) (?:that|to|us|me)|"
    r"answer(?:s|ed)|repl(?:y|ies|ied)|according to|dreamt|dreamed|(?:i|we|he|she|they) dreams?|"
    r"nightmares?|lied|(?:a|all) lies?|untrue|not true|nonsense|fake[ds]?|hoax|scams?|fraud|"
    r"phishing|made[- ]up(?! of)|fictional|fictitious|jokes?|joking|kidding|prank|monopoly|"
    r"hearsay|gossip|so-called",
    "de": r"sagt(?:e|en)?|schreibt|schrieb|laut|angeblich|geträumt|träumte?|gelogen|lüge|unsinn|"
    r"vielleicht|vermutlich|kann sein|könnte|stimmt nicht|nicht wahr|scherz|gerüchte?",
    "fr": r"selon|a dit|dit que|peut-être|prétend(?:ument)?|rêvé|mensonge|pas vrai|rumeurs?",
    "es": r"según|dice que|dijo|quizás?|tal vez|supuestamente|soñé|mentira|no es verdad|"
    r"rumor(?:es)?",
    "it": r"dice che|ha detto|forse|presunt[oa]|sognato|bugia|non è vero",
    "pt": r"diz que|disse|talvez|supostamente|sonhei|não é verdade|boatos?",
    "nl": r"volgens|zegt|misschien|gedroomd|leugens?|niet waar|zogenaamd|verzonnen",
    "ru": r"по словам|сказал[аи]?|говорит|говорят|якобы|возможно|приснилось|ложь|неправда|слухи",
}
_DOUBT = re.compile(rf"\b(?:{'|'.join(_WORDS.values())})\b", re.IGNORECASE)
_STORY = re.compile(
    r"\bin (?:the|a|an|my|his|her|our|this) (?:\w+ )?(?:novel|story|tale|film|movie|game|play|book|"
    r"series|sketch|quiz|comic|dream)\b(?! (?:industry|business|budget|team|version|world|of)\b)",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[,;:.–—(-]\s*(?:\w+[ ]){0,4}(?:wrong|false|incorrect|mistaken|mistake)\W*$", re.IGNORECASE
)
_HEADING = re.compile(
    r"\b(?:not true|untrue|rumou?rs?|hearsay|gossip|myths?|lies|jokes?|fakes?|scams?|phishing|"
    r"nonsense|dreams?|quotations|nicht wahr|gerüchte|lügen|träume|pas vrai|rumeurs|mensonges|"
    r"rumores|mentiras|sueños|boatos|bugie|niet waar|leugens|слухи|неправда)\b|"
    r"(?:^|> )(?:wrong|false|incorrect)\b",
    re.IGNORECASE,
)

_QUOTE = re.compile(r"\s*(?:[-*+]\s+)?>")
_CALLOUT = re.compile(r"[\s>]*\[!(?!quote|cite)")
_STRUCK = re.compile(r"~~.*?(?:~~|$)")


def is_doubtful(sentence: str, heading: str) -> bool:
    """Whether a sentence, or the headings above it, say that its writer does not assert it."""
    patterns = (_DOUBT, _STORY, _DENIED_AFTER)
    return any(pattern.search(sentence) for pattern in patterns) or bool(_HEADING.search(heading))


def is_set_apart(lines: list[str], sentence: str, value_text: str) -> bool:
    """Whether a sentence of these lines of Markdown is quoted, struck out or an open task.

    A callout is the writer's own. A sentence that is not in these lines counts as set apart.

    Args:
        value_text: the value that the sentence states.
    """
    sentence_text = readable(sentence)
    are_marked = [
        _is_marked(lines, number, value_text)
        for number, line in enumerate(lines)
        if sentence_text in readable(line.replace("~~", ""))
    ]
    if are_marked:
        return all(are_marked)
    with_value = [number for number, line in enumerate(lines) if value_text in line]
    return not with_value or any(_is_marked(lines, number, value_text) for number in with_value)


def _is_marked(lines: list[str], number: int, value_text: str) -> bool:
    line = lines[number]
    if is_open_task(line) or any(value_text in match[0] for match in _STRUCK.finditer(line)):
        return True
    if not _QUOTE.match(line):
        return False
    while number > 0 and _QUOTE.match(lines[number - 1]):
        number -= 1
    return _CALLOUT.match(lines[number]) is None
