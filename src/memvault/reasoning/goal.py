"""What somebody wants of the memory, read from their words: what they name, when, and which kinds
of answer would help. By the vault's own names and by keyword, in milliseconds, without a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.retrieval.roads.when import Span, cut_times
from memvault.text.entities import NameRules
from memvault.text.mentions import Mention
from memvault.text.words import composed, some_words


class Wish(StrEnum):
    """A kind of answer that a goal asks for."""

    CAUSE = "cause"
    CONFLICT = "conflict"
    RELATION = "relation"
    RECENT = "recent"
    OVERVIEW = "overview"
    CODE = "code"
    PREFERENCE = "preference"
    UPKEEP = "upkeep"


_CUES = {
    Wish.CAUSE: r"why|because|caus(?:e|es|ed|al)|effects?|consequences?|led to|leads? to|reasons?"
    r"|depends?|dependenc(?:y|ies)|block(?:s|ed|ers?|ing)?|impact|result(?:s|ed)? in|root",
    Wish.CONFLICT: r"contradict\w*|conflict\w*|inconsisten\w*|disagree\w*|supersed\w*|outdated"
    r"|changed (?:our|my|their|his|her) minds?|still (?:true|valid|current)",
    Wish.RELATION: r"connect\w*|relation(?:s|ships?)?|relat(?:ed|es)|link(?:s|ed)?|between|knows"
    r"|(?:who|which|whose|where)\b.{0,60}\b(?:of|that|who|whose)",
    Wish.RECENT: r"recent(?:ly)?|lately|latest|today|yesterday|this week|last week|catch (?:me )?up"
    r"|left off|what(?:'s| is) new|what changed",
    Wish.OVERVIEW: r"overview|what (?:do you|can you|does (?:it|this|the memory)) know|everything"
    r"|what(?:'s| is) in (?:my|the|this) (?:memory|vault|notes)|my (?:memory|vault|notes) about"
    r"|discover|explore|might have missed|get to know",
    Wish.CODE: r"code|snippets?|functions?|scripts?|implement(?:ed|ation|ing)?"
    r"|api|regex|sql|command",
    Wish.PREFERENCE: r"prefer(?:s|red|ences?)?|likes? (?:it|things|me|my)|style|tone"
    r"|formatt?(?:ing|ed)?",
    Wish.UPKEEP: r"duplicates?|clean(?: |-)?up|tidy|orphan\w*|stale|broken links?|curat\w*|health",
}
_WISHES = {wish: re.compile(rf"\b(?:{cue})\b", re.IGNORECASE) for wish, cue in _CUES.items()}
_CLAUSES = re.compile(
    r"(?<=[?;])\s+|\s*\n[\s*\d.)-]*"
    r"|,?\s+(?:and|then|also|but)\s+(?=(?:who|whom|whose|what|when|where|why|how|which|did|does|do"
    r"|is|are|was|were)\b)",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|these|those|that)\b", re.IGNORECASE
)
SHORTEST_CLAUSE = 2  # words


@dataclass(frozen=True, slots=True)
class Named:
    """A thing of the vault that a goal names, by the name that the vault has for it."""

    name: str
    id: str
    kind: str
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """``told`` is the text in the vault's own names; ``types`` are the types of note that it asks
    for; ``clauses`` the questions in it where there are several, each understandable alone."""

    text: str
    told: str
    named: tuple[Named, ...] = ()
    wishes: frozenset[Wish] = frozenset()
    project: str | None = None
    types: tuple[str, ...] = ()
    span: Span | None = None
    clauses: tuple[Goal, ...] = ()


class GoalReader:
    """Reads goals by what one vault has names for.

    Args:
        names: of the vault.
        by_id: the memory of a node's id.
        in_project: whether any memory belongs to this project.
        types: the types that notes have.
        project: the project to ask within, whatever a goal names.
    """

    def __init__(
        self,
        names: NameRules,
        by_id: Callable[[str], Memory | None],
        in_project: Callable[[str], bool],
        types: Callable[[], Iterable[str]],
        project: str | None = None,
    ) -> None:
        self._names = names
        self._by_id = by_id
        self._in_project = in_project
        self._types = types
        self._asked_within = project

    def read(self, text: str, today: date) -> Goal:
        """What this text asks for, relative times counted from today."""
        text = composed(text.strip())
        whole = self._one_question(text, today)
        clauses = [self._one_question(part, today) for part in self._clauses(text)]
        if self._asked_within or whole.project is None:
            return replace(whole, clauses=tuple(clauses))
        within = [replace(each, project=each.project or whole.project) for each in clauses]
        return replace(whole, clauses=tuple(within))

    def _one_question(self, text: str, today: date) -> Goal:
        named = self._named(text)
        _, cuts = cut_times(text, today)
        return Goal(
            text=text,
            told=self._in_own_names(text),
            named=named,
            wishes=frozenset(wish for wish, cue in _WISHES.items() if cue.search(text)),
            project=self._asked_within or next(filter(None, map(self._project, named)), None),
            types=self._types_in(text, named),
            span=cuts[0].span if cuts else None,
        )

    def _named(self, text: str) -> tuple[Named, ...]:
        found: dict[str, Named] = {}
        for mention in self._names.find(text, question=True):
            found.setdefault(mention.name.target, self._one(mention))
        return tuple(found.values())

    def _one(self, mention: Mention) -> Named:
        target = mention.name.target
        memory = self._by_id(target)
        spelled = memory.title if memory else self._names.spelling(target) or mention.name.text
        return Named(spelled, target, mention.name.kind, memory)

    def _project(self, named: Named) -> str | None:
        """The project to ask within, if this names one that has memories."""
        if named.kind != NodeKind.PROJECT:
            return None
        project = named.memory.project if named.memory is not None else named.name
        return project if project and self._in_project(project) else None

    def _types_in(self, text: str, named: Iterable[Named]) -> tuple[str, ...]:
        said = set(some_words(text.lower()))
        own = {NodeKind.NOTE, *(each.kind for each in named)}  # "the project Aurora" is one thing
        return tuple(
            kind
            for kind in sorted(set(self._types()))
            if kind not in own and {kind.lower(), kind.lower() + "s"} & said
        )

    def _clauses(self, text: str) -> Iterator[str]:
        """The questions asked at once, with names where they only point; none if it is one."""
        parts = [part.strip(" ,;") for part in _CLAUSES.split(text)]
        parts = [part for part in parts if len(some_words(part)) >= SHORTEST_CLAUSE]
        if len(parts) < 2:
            return
        subjects: tuple[Named, ...] = ()
        for part in parts:
            own = self._named(part)
            points = not own and subjects and _POINTING.search(part)
            pointed = ", ".join(each.name for each in subjects)
            yield f"{part.rstrip('?')} ({pointed})" if points else part
            subjects = own or subjects

    def _in_own_names(self, text: str) -> str:
        """The text with the vault's names for what it names otherwise."""
        pieces, position = [], 0
        for mention in self._names.find(text, question=True):
            meant = self._one(mention)
            typed = text[mention.start : mention.end]
            if meant.name.casefold() in text.casefold():
                continue
            if not _words(typed) <= _words(meant.name):  # another name for it
                pieces += [text[position : mention.end], f" ({meant.name})"]
                position = mention.end
            elif meant.kind == NodeKind.PERSON:  # a given name
                pieces += [text[position : mention.start], meant.name]
                position = mention.end
        return "".join((*pieces, text[position:]))


def _words(name: str) -> set[str]:
    return set(some_words(name.lower()))
