"""Clauses with their names and values, and the context that a claim takes from its note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from memvault.search.relations.edge_templates import literals
from memvault.text.stems import stem
from memvault.text.words import letter_runs, name_key
from memvault.verification.amount_parsing import amounts_in
from memvault.verification.amount_words import STOPS, is_unit
from memvault.verification.amounts import Amount, AmountKind
from memvault.verification.claims import Claim, Source


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Verbs that set or change a value without naming it, and words of precision.
PASSED_OVER = _words(
    "set sets raise raised raises cut cuts reduce reduced reduces increase increased increases "
    "lower lowered cap capped fix fixed agree agreed agrees move moved moves push pushed change "
    "changed changes update updated revise revised limit limited extend extended shorten shortened "
    "bump bumped trim trimmed stand stands stood remain remains remained amount amounts amounted "
    "come comes came total totals totalled totaled equal equals reach reaches reached hit hits go "
    "goes went keep keeps kept settle settled sit sits get gets got make makes made become becomes "
    "became bring brings brought put puts use uses used need needs needed say says said state "
    "states stated confirm confirmed confirms note noted record recorded decide decided sign "
    "signed approve approved approves grant grants granted allow allows allowed give gives gave "
    "given have offer offers provide provides lasts "
    "postpone postponed delay delayed reschedule rescheduled shift shifted slip slipped switch "
    "switched grow grew grown fall fell fallen drop dropped double doubled halve halved "
    "currently roughly approximately approx exactly nearly almost about around today officially "
    "finally recently originally formerly previously initially meanwhile however instead right "
    "everyone anyone somebody someone nobody team board client yesterday tomorrow"
)  # fmt: skip
# Words that do not name an attribute by themselves.
GENERIC = _words(
    "date day time amount number value figure total overall approved agreed current new final "
    "latest planned official exact actual full whole limit level size monthly annual yearly "
    "weekly daily quarterly confirmed revised updated original initial maximum minimum max min "
    "annum version run runs running ran has have"
)
IRREGULAR = {
    "ran": "run", "held": "hold", "paid": "pay", "sold": "sell", "built": "build",
    "began": "begin", "begun": "begin", "people": "person", "spent": "spend", "lent": "lend",
    "took": "take", "takes": "take", "bought": "buy", "wrote": "write", "met": "meet",
}  # fmt: skip
_SAME_GROUPS = (
    "end expire expires expiry finish terminate close lapse",
    "start begin commence kickoff onset",
    "cost price priced",
    "salary wage",
    "renew renewal renews",
    "launch release ship golive",
    "deadline due",
    "staff headcount employee",
    "licence license",
    "weight weigh weighed heavy mass",
    "height tall",
    "width wide",
    "depth deep",
    "capacity volume",
    "warranty guarantee",
    "supplier supply supplies supplied vendor",
)
_FORMS = [stem(word) for group in _SAME_GROUPS for word in group.split()]
_SAME = {stem(word): stem(group.split()[0]) for group in _SAME_GROUPS for word in group.split()}
# Verbs and nouns of roles that one person holds at a time, each with the role's noun.
ROLE_VERBS = {
    form: role
    for role, forms in {
        "lead": "lead leads led leader leading heads headed head",
        "owner": "owns owned owner",
        "manager": "manages managed manager",
        "chair": "chairs chaired chair chairperson chairman chairwoman",
        "maintainer": "maintains maintained maintainer",
        "treasurer": "treasurer",
        "landlord": "landlord landlady",
        "director": "director directs directed",
    }.items()
    for form in forms.split()
}
# Words after which the paid item follows the sum: "it costs us 900 a month in rent".
PAYING = _words("cost costs pay pays paid charge charges charged spend spends spent bill bills us")
# Words after an amount that make it a distance in time or space, not a value.
RELATIVE = _words("ago later earlier after before old long left apart away")
# Types of notes whose title names an occasion rather than the subject of their sentences.
NOT_SUBJECTS = _words(
    "session daily weekly meeting chat log journal conversation minutes preference diary"
)

CLAUSE = re.compile(
    r";|,?\s+(?:but|while|whereas|although|though)\s+|,\s+(?:and|so|which|then)\s+|\s[–—]\s|"
    r"\s+and\s+(?=(?:the|its|our|a|an|his|her|their)\s+\w+)",
    re.IGNORECASE,
)
_HEDGES = sorted(
    _words(
        "if maybe perhaps possibly probably might could would should hopes? hoped hoping wants? "
        "wanted wish(?:es|ed)? asks? asked requested requesting propos(?:e|es|ed|al|ing) "
        "suggest(?:s|ed|ing|ion)? consider(?:s|ed|ing)? discuss(?:es|ed|ing)? rumou?rs? rumou?red "
        "heard allegedly apparently supposedly reportedly estimates? estimated guess(?:es|ed)? "
        "thinks? thought believes? believed expects? expected assum(?:e|es|ed) hypothetical draft "
        "tentative(?:ly)? unconfirmed unsure unclear imagine offers? offered "
        "negotiat(?:e|es|ed|ing|ion) tbc tbd targets? targeted targeting goal claims? claimed "
        "rejected declined whether suppos(?:e|es|ing) wonder(?:s|ed|ing)? "
        "doubt(?:s|ed|ful)? pretend presumably"
    )
)
_HEDGED_PHRASES = (
    r"(?<!in )(?<!of )(?<!\d )may(?! \d)(?!,)",  # not the month
    "not sure", "no idea", "(?:do not|don't|don’t|doesn't|does not) know", "for example",
    r"e\.g\.", "remind me", "to be confirmed", "turned down",
)  # fmt: skip
HEDGED = re.compile(rf"\?|[^\w](?:{'|'.join((*_HEDGES, *_HEDGED_PHRASES))})[^\w]")
NEGATED = re.compile(
    r"[^\w](?:not|no longer|never|isn't|isn’t|wasn't|wasn’t|aren't|aren’t|doesn't|doesn’t|didn't|"
    r"didn’t|won't|won’t|cannot|can't|neither|nor)[^\w]"
)
DENIED = re.compile(r"[^\w](?:wrong|false|incorrect|mistaken|untrue|not true|a mistake)[^\w]")
EARLIER = re.compile(
    r"[^\w](?:formerly|previously|originally|used to|no longer|until recently|in the past|back "
    r"then|at first|initially|had been|was once|old figure|outdated)[^\w]|"
    r"^\W*until (?:the|we|our|my|last|then|(?:19|20)\d\d)\b"
)
# Sentences that retract the one before: "That was a mistake.", "This was before the move."
TAKEN_BACK = re.compile(
    r"^\W*(?:but |and |sorry,? )?(?:that|this|it|which|all that) "
    r"(?:(?:was|is|were|proved|proves) (?:(?:all|just|simply|not|now|no longer) )?"
    r"(?:an? )?(?:wrong|false|incorrect|mistake|mistaken|untrue|true|error|typo|joke|guess|rumou?r|"
    r"outdated|obsolete|over|history)\b|turned out (?:to be )?(?:wrong|false|incorrect|otherwise)|"
    r"(?:was|were) (?:before|until|under|back|in (?:19|20)\d\d|with the old|when)\b|"
    r"(?:no longer|does not|doesn't|did not|didn't) (?:hold|hold true|apply|last|work out)\b|"
    r"has (?:since )?changed)",
    re.IGNORECASE,
)
UPDATES = re.compile(
    r"[^\w](?:rais(?:e|es|ed)|cut|reduced|increased|lowered|moved|pushed|changed|updated|revised|"
    r"extended|shortened|bumped|trimmed|postponed|delayed|rescheduled|shifted|slipped|switched|"
    r"migrated|replaced|renamed|corrected|now|as of|since|from now on|went (?:up|down)|grew|fell|"
    r"dropped|took over|takes over|handed over|brought forward)[^\w]"
)

# Signs before the days of a task (due, done, …), which are no values.
_TASK_SIGN = re.compile(r"[📅📆🗓⏳⌛🛫✅❌➕]\ufe0f?\s*\Z")
_LINK = re.compile(r"!?\[\[(?P<target>[^\]|]*)(?:\|(?P<shown>[^\]]*))?\]\]")
_WEB_LINK = re.compile(r"!?\[(?P<shown>[^\]]*)\]\([^)]*\)")
_FORMAT = re.compile(
    r"[*_`~]{1,3}|==|^#{1,6}\s+|^\s*(?:[-+*>]|\d+[.)])\s+(?:\[.\]\s+)?|^\|\s*|\s*\|$"
)
# Without any of these, a line is readable as it is.
_MARK = re.compile(r"[*_`~=#|\[]")
_ITEM = re.compile(r"\s*[-+>\d]")


def readable(text: str) -> str:
    """A line of Markdown as plain text, without marks and with the shown text of links.

    A table row of two cells keeps its bar.
    """
    if not (_MARK.search(text) or _ITEM.match(text)):
        return " ".join(text.split())
    if "[" in text:
        text = _LINK.sub(lambda m: m["shown"] or m["target"].split("#")[0].rsplit("/", 1)[-1], text)
        text = _WEB_LINK.sub(lambda m: m["shown"], text)
    previous = None
    while previous != text:
        previous, text = text, _FORMAT.sub("", text)
    return " ".join(text.split())


@lru_cache(maxsize=20_000)
def canonical(word: str) -> str:
    """The stem of a word; the same for all words that name the same attribute."""
    word = word.lower()
    role = ROLE_VERBS.get(word)
    if role is not None:
        return role
    found = stem(IRREGULAR.get(word, word))
    joined = stem(word.replace("-", "")) if "-" in word else found
    return _SAME.get(joined) or _SAME.get(found, found)


@lru_cache(maxsize=1_000)
def hints(stems: frozenset[str]) -> tuple[str, ...]:
    """Texts one of which occurs in any lower-case sentence that has a word with these stems.

    They allow a quick check before a sentence is read.
    """
    told = {word for word in (*ROLE_VERBS, *IRREGULAR, *_FORMS) if canonical(word) in stems}
    return tuple(stems | told)


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:()=]")
_SIGNS = frozenset(",;:()=")

Span = tuple[int, int, str]  # start, end and key of a name
FindNames = Callable[[str, str | None], Sequence[Span]]


class About:
    """The subject of a note, for sentences that do not name their own.

    Args:
        find_names: finds the names of the vault in a text, except those of one node.
    """

    def __init__(self, source: Source, find_names: FindNames) -> None:
        self.source = source
        self._find = find_names
        self.title = stems_of(readable(source.title))
        self.around = self.title | stems_of(source.heading) | stems_of(source.project or "")

    @cached_property
    def default(self) -> frozenset[str]:
        """The subject of a sentence without names: that of the heading, else of the title.

        The subject of a property is always the note.
        """
        if self.source.is_property:
            return frozenset({self.source.note_id})
        heading = self._named(self.source.heading.rsplit(" > ", 1)[-1])
        return heading or self._of_title(readable(self.source.title))

    def names(self, sentence: str) -> list[Span]:
        """The names of the vault and words spelled as names, without words in capitals (VAT)."""
        found = [f for f in self._find(sentence, None) if not sentence[f[0]].islower()]
        for start, end in literals(sentence):
            word = sentence[start:end]
            free = all(end <= a or b <= start for a, b, _ in found) and not is_unit(word)
            if free and word[0].isupper() and not word.isupper():
                found.append((start, end, name_key(word)))
        return sorted(found)

    def subjects(self, names: Sequence[Span]) -> frozenset[str]:
        """The subjects of a clause: its names, else the note's subject."""
        return frozenset(key for *_, key in names) or self.default

    def _named(self, text: str) -> frozenset[str]:
        return frozenset(key for *_, key in self._find(readable(text), self.source.note_id))

    def _of_title(self, title: str) -> frozenset[str]:
        others = self._named(title)
        if others:
            return others
        dated = any(a.kind is AmountKind.DATE for a in amounts_in(title))
        if dated or self.source.kind in NOT_SUBJECTS:
            project = self.source.project
            return (self._named(project) or frozenset({name_key(project)})) if project else others
        return frozenset({self.source.note_id})


class Token(NamedTuple):
    """A word, a word of a name, a sign or a whole value in a clause."""

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
            and self.low not in PASSED_OVER
            and self.text not in _SIGNS
        )


class Stated(NamedTuple):
    """A claim with only its attribute read; ``claim`` reads the rest."""

    attribute: frozenset[str]
    claim: Callable[[], Claim]


class Clause:
    """A part of a sentence with one statement, or several of one kind.

    Args:
        outside: names in the sentence's other clauses.
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
            a
            for a in amounts_in(text)
            if all(a.end <= b or c <= a.start for b, c, _ in names)
            and not _TASK_SIGN.search(text, 0, a.start)
        ]

    @cached_property
    def tokens(self) -> list[Token]:
        return tokens_of(self.text, self.names, self.amounts)

    def claim(
        self,
        words: Sequence[str],
        value: Amount | str,
        shown: str,
        *,
        subject: str | None = None,
        sole: bool = False,
    ) -> Stated | None:
        """The claim that the attribute named by these words has this value.

        None if the words name no attribute.

        Args:
            subject: the single subject, if the clause has more names.
            sole: whether the attribute has one value at a time.
        """
        attribute = attribute_of(words)
        if not attribute:
            return None
        label = " ".join(words)
        return Stated(
            attribute, partial(self._claim, attribute, label, value, shown, subject, sole=sole)
        )

    def _claim(
        self,
        attribute: frozenset[str],
        label: str,
        value: Amount | str,
        shown: str,
        subject: str | None,
        *,
        sole: bool,
    ) -> Claim:
        own = self.names or (self._outside if len(self._outside) == 1 else ())
        about, low = self.about, f" {self.text.lower()} "
        amount = value if isinstance(value, Amount) else None
        dates = (a for a in self.amounts if a.kind is AmountKind.DATE and a is not value)
        return Claim(
            subjects=frozenset({subject}) if subject else about.subjects(own),
            named=bool(own),
            attribute=attribute,
            label=label,
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
    """The words and signs in order; a value is one token, a name's "'s" a separate one."""
    tokens: list[Token] = []
    position = 0
    for match in _WORD.finditer(text):
        start = match.start()
        if start < position:
            continue
        position = match.end()
        inside = (k for k, a in enumerate(amounts) if a.start <= start < a.end)
        number = next(inside, -1) if amounts else -1
        if number >= 0:
            position = amounts[number].end
            tokens.append(Token(text[amounts[number].start : position], "", amount=number))
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


def attribute_of(words: Sequence[str]) -> frozenset[str]:
    """The stems of the words that name an attribute, without generic words if others remain."""
    special = [word for word in words if word not in GENERIC and word.rstrip("s") not in GENERIC]
    return frozenset(canonical(word) for word in special or words[-1:])


@lru_cache(maxsize=4_000)
def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's content words; synonyms have one stem."""
    return stems_among(letter_runs(text))


def stems_among(words: Iterable[str]) -> frozenset[str]:
    """The stems of the content words among these words; synonyms have one stem."""
    return frozenset(canonical(word) for word in words if word not in STOPS)
