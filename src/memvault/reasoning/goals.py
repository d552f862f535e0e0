"""Parses goals: which answers they ask for, which entities and times they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.search.times.time_expressions import cut_times
from memvault.search.times.time_spans import Calendar, Span
from memvault.text.mentions import Mention
from memvault.text.name_matcher import NameMatcher
from memvault.text.words import composed, some_words


class Need(StrEnum):
    """A kind of answer that a goal asks for."""

    CAUSE = "cause"
    CONFLICT = "conflict"
    RELATION = "relation"
    RECENT = "recent"
    OVERVIEW = "overview"
    CODE = "code"
    PREFERENCE = "preference"
    UPKEEP = "upkeep"
    CHANCE = "chance"
    CHECK = "check"


_CUES = {
    Need.CAUSE: r"why|because|caus(?:e|es|ed|al)|effects?|consequences?|led to|leads? to|reasons?"
    r"|depends?|dependenc(?:y|ies)|block(?:s|ed|ers?|ing)?|impact|result(?:s|ed)? in|root",
    Need.CONFLICT: r"contradict\w*|conflict\w*|inconsisten\w*|disagree\w*|supersed\w*|outdated"
    r"|changed (?:our|my|their|his|her) minds?|still (?:true|valid|current)",
    Need.RELATION: r"connect\w*|relation(?:s|ships?)?|relat(?:ed|es)|link(?:s|ed)?|between|knows"
    r"|(?:who|which|whose|where)\b.{0,60}\b(?:of|that|who|whose)",
    Need.RECENT: r"recent(?:ly)?|lately|latest|today|yesterday|this week|last week|catch (?:me )?up"
    r"|left off|what(?:'s| is) new|what changed",
    Need.OVERVIEW: r"overview|what (?:do you|can you|does (?:it|this|the memory)) know|everything"
    r"|what(?:'s| is) in (?:my|the|this) (?:memory|vault|notes)|my (?:memory|vault|notes) about"
    r"|discover|explore|might have missed|get to know",
    Need.CODE: r"code|snippets?|functions?|scripts?|implement(?:ed|ation|ing)?"
    r"|api|regex|sql|command",
    Need.PREFERENCE: r"prefer(?:s|red|ences?)?|likes? (?:it|things|me|my)|style|tone"
    r"|formatt?(?:ing|ed)?",
    Need.CHANCE: r"how (?:likely|probable|sure|certain)|probab\w*|likelihood|chances?|odds|risks?"
    r"|what if|what (?:happens|would happen) if|suppose",
    Need.CHECK: r"check|verif(?:y|ied)|fact-?check\w*|critiqu\w*|criticise|am i right"
    r"|(?:is|are) (?:it|this|that|these|those) (?:true|right|correct)|accurate\w*",
    Need.UPKEEP: r"duplicates?|clean(?: |-)?up|tidy|orphan\w*|stale|broken links?|curat\w*|health",
}
_PATTERNS = {need: re.compile(rf"\b(?:{cue})\b", re.IGNORECASE) for need, cue in _CUES.items()}
_QUESTION_END = re.compile(
    r"(?<=[?;])\s+|\s*\n[\s*\d.)-]*"
    r"|,?\s+(?:and|then|also|but)\s+(?=(?:who|whom|whose|what|when|where|why|how|which|did|does|do"
    r"|is|are|was|were)\b)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|these|those|that)\b", re.IGNORECASE
)
MIN_QUESTION_WORDS = 2


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that a goal names, with the vault's own name for it."""

    name: str
    id: str
    kind: str
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """A parsed goal.

    Attributes:
        resolved_text: the text with the names that the vault uses.
        entities: the entities that it names.
        needs: the kinds of answers that it asks for.
        types: the note types that it asks for.
        span: the first time that it names.
        questions: its single questions, if it has several; each can be understood alone.
    """

    text: str
    resolved_text: str
    entities: tuple[NamedEntity, ...] = ()
    needs: frozenset[Need] = frozenset()
    project: str | None = None
    types: tuple[str, ...] = ()
    span: Span | None = None
    questions: tuple[Goal, ...] = ()


@dataclass(frozen=True, slots=True)
class GoalReader:
    """Parses goals with the names, types and projects of one vault.

    Attributes:
        names: the names of the vault.
        by_id: gives the memory of a node's id.
        in_project: whether any memory belongs to a project.
        types: gives the types of the notes.
        project: the project to search in, even if the goal names another.
    """

    names: NameMatcher
    by_id: Callable[[str], Memory | None]
    in_project: Callable[[str], bool]
    types: Callable[[], Iterable[str]]
    project: str | None = None

    def read(self, text: str, today: Calendar) -> Goal:
        """Parse a goal; relative dates count from today."""
        text = composed(text.strip())
        goal = self._parse(text, today)
        questions = [self._parse(part, today) for part in self._split(text)]
        if self.project or goal.project is None:
            return replace(goal, questions=tuple(questions))
        in_project = [
            replace(question, project=question.project or goal.project) for question in questions
        ]
        return replace(goal, questions=tuple(in_project))

    def _parse(self, text: str, today: Calendar) -> Goal:
        entities = self._entities_in(text)
        _, cuts = cut_times(text, today)
        return Goal(
            text=text,
            resolved_text=self._with_vault_names(text),
            entities=entities,
            needs=frozenset(need for need, cue in _PATTERNS.items() if cue.search(text)),
            project=self.project or next(filter(None, map(self._project, entities)), None),
            types=self._types_in(text, entities),
            span=cuts[0].span if cuts else None,
        )

    def _entities_in(self, text: str) -> tuple[NamedEntity, ...]:
        by_id: dict[str, NamedEntity] = {}
        for mention in self.names.find(text, question=True):
            by_id.setdefault(mention.name.target, self._entity(mention))
        return tuple(by_id.values())

    def _entity(self, mention: Mention) -> NamedEntity:
        target = mention.name.target
        memory = self.by_id(target)
        name = memory.title if memory else self.names.spelling(target) or mention.name.text
        return NamedEntity(name, target, mention.name.kind, memory)

    def _project(self, entity: NamedEntity) -> str | None:
        """The project of a named entity, if the project has memories."""
        if entity.kind != NodeKind.PROJECT:
            return None
        project = entity.memory.project if entity.memory is not None else entity.name
        return project if project and self.in_project(project) else None

    def _types_in(self, text: str, entities: Iterable[NamedEntity]) -> tuple[str, ...]:
        words = set(some_words(text.lower()))
        # In "the project Aurora" the type is part of a name.
        excluded = {NodeKind.NOTE, *(entity.kind for entity in entities)}
        return tuple(
            kind
            for kind in sorted(set(self.types()))
            if kind not in excluded and {kind.lower(), kind.lower() + "s"} & words
        )

    def _split(self, text: str) -> Iterator[str]:
        """The single questions, with the names that their pronouns mean; empty if there is one."""
        parts = [part.strip(" ,;") for part in _QUESTION_END.split(text)]
        parts = [part for part in parts if len(some_words(part)) >= MIN_QUESTION_WORDS]
        if len(parts) < 2:
            return
        subjects: tuple[NamedEntity, ...] = ()
        for part in parts:
            entities = self._entities_in(part)
            if not entities and subjects and _PRONOUN.search(part):
                yield f"{part.rstrip('?')} ({', '.join(subject.name for subject in subjects)})"
            else:
                yield part
            subjects = entities or subjects

    def _with_vault_names(self, text: str) -> str:
        """The text with the vault's own names for aliases and given names.

        Titles that a client gave are not used.
        """
        pieces, position = [], 0
        for mention in self.names.find(text, question=True):
            entity = self._entity(mention)
            typed = text[mention.start : mention.end]
            is_claimed = entity.memory is not None and entity.memory.is_claim
            if is_claimed or entity.name.casefold() in text.casefold():
                continue
            if not _words(typed) <= _words(entity.name):  # an alias
                pieces += [text[position : mention.end], f" ({entity.name})"]
                position = mention.end
            elif entity.kind == NodeKind.PERSON:  # a given name
                pieces += [text[position : mention.start], entity.name]
                position = mention.end
        return "".join((*pieces, text[position:]))


def _words(name: str) -> set[str]:
    return set(some_words(name.lower()))
