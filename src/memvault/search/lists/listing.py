"""Lists of notes for questions that no text has to fit: for a time, for tasks, for what is latest,
for the person, for all notes of a type, or for notes with given properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from datetime import date
from itertools import islice

from memvault.model.distinct import distinct_by
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.note import Chunk
from memvault.model.search import FoundBy, Hit, Scope
from memvault.search.association import POOL_SIZE
from memvault.search.hybrid import HybridSearch
from memvault.search.lists.general_questions import (
    asks_for_all,
    asks_for_fact,
    asks_only_for_latest,
    asks_only_for_person,
    begins_as_a_word_of,
    type_asked_for,
)
from memvault.search.lists.named_groups import (
    is_of_folders,
    names_in_note,
    notes_in_group,
    notes_named,
)
from memvault.search.lists.note_properties import terms_of_key
from memvault.search.lists.overdue import asks_for_overdue, due_days, without_overdue
from memvault.search.lists.property_questions import PropertyQuestion
from memvault.search.order import by_importance, has_only_title, is_preference, latest_first
from memvault.search.property_text import KeysByNearness, shown_value, terms_of
from memvault.search.relations.relation_search import Indexed
from memvault.search.scope import all_in_scope, in_scope
from memvault.search.task_words import asks_for_tasks
from memvault.search.times.question_time import (
    QuestionTime,
    asks_for_newest,
    says_its_day,
    without_newest,
)
from memvault.search.times.time_question_words import asks_only_for_tasks, words_beyond_plans
from memvault.stores.graph_view import GraphView
from memvault.text.chunking import OPEN_TASK
from memvault.text.encoders.embedding import Embedder
from memvault.text.words import some_words

MAX_LATEST = 3  # notes with the latest values of a property
MAX_OTHER_WORDS = 1  # of a question for one, besides the key: whose value it is
GROUP_SHARE = 0.7  # of the results, at most, for the notes of a folder or tag that is named
MAX_TITLED = 3  # notes with a time in their title that begin the notes of it
MIN_DAYS = 2  # notes with a day of their own that have it
MAX_NAMING_WORDS = 4  # words of a question that name a folder, project or title
MAX_TASK_WORDS = 4  # words of a question that say which tasks it asks for


class Listing:
    """Lists notes; safe in any thread."""

    def __init__(
        self,
        hybrid: HybridSearch,
        indexed: Indexed,
        view: GraphView,
        embedder: Embedder,
        today: Callable[[], date],
    ) -> None:
        self._hybrid = hybrid
        self._today = today
        self._by_nearness = KeysByNearness(embedder)
        self._indexed = indexed
        self._view = view

    def notes_for(
        self, question: str, time: QuestionTime | None, limit: int, scope: Scope
    ) -> tuple[list[Hit], int]:
        """At most ``limit`` notes, with relevance 1; none for a question that names a subject.

        Args:
            time: the time that the question names, if any.

        Returns:
            The notes, and how many there are if the question is for all of a time or all tasks; 0
            if it is not.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        total = 0
        if asks_for_overdue(question):
            return [], 0  # it asks for no more of that time: see `matching`
        if time is None and asks_only_for_tasks(question):
            memories = [memory for memory, _ in self._with_open_tasks(scope)]
            hits, total = self._task_hits(question, memories[:limit]), len(memories)
        elif time is not None and time.asks_for_notes:
            memories, with_tasks = self._of_time(question, time, scope)
            hits = self._notes_of_time(question, time, memories[:limit], with_tasks, scope)
            total = len(memories)
        elif time is None:
            hits = self._hits_of(question, self._without_subject(question, scope)[:limit])
        elif kind := type_asked_for(time.rest, self._indexed.catalogue.types):
            memories = self._of_type_and_time(kind, time, scope)
            hits, total = self._hits_of(question, memories[:limit]), len(memories)
        else:
            return [], 0
        for hit in hits:
            hit.relevance = 1.0  # the question asks for no more than the list
        return hits, total

    def matching(
        self, question: str, time: QuestionTime | None, limit: int, scope: Scope
    ) -> tuple[list[Hit], str | None]:
        """Notes with the tasks or properties that the question names, and a notice of their number.

        Their relevance is 1. Text may answer such a question better, so they are not all results.
        Without notes, the notice says that nothing is overdue.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        notice, hits = None, list[Hit]()
        wants_tasks = asks_for_tasks(question)
        if wants_tasks:
            hits = self._notes_with_tasks_about(question, time, limit, scope)
        if not wants_tasks or asks_for_overdue(question):
            with_properties, notice = self._notes_with_properties(question, time, limit, scope)
            listed_ids = {hit.memory.id for hit in hits}
            hits += [hit for hit in with_properties if hit.memory.id not in listed_ids]
        if not hits and asks_for_overdue(question) and self._names_no_subject(question, time):
            day = self._today() if time is None else time.last_day
            return [], f"No open task and no property names a due day before {day.isoformat()}."
        if not hits and time is None and not wants_tasks:
            hits = self._latest_values(question, scope)[:limit]
            hits = hits or self._of_group(question, limit, scope)
        if not hits and time is not None and not wants_tasks:
            hits = self._hits_of(question, self._notes_of_time_named(question, time, scope)[:limit])
        for hit in hits:
            hit.relevance = 1.0
        return hits, notice

    def _notes_with_properties(
        self, question: str, time: QuestionTime | None, limit: int, scope: Scope
    ) -> tuple[list[Hit], str | None]:
        """Notes whose properties answer, and a notice of their number."""
        catalogue = self._indexed.catalogue
        property_question = PropertyQuestion.read(question, time, catalogue, self._today())
        if property_question is None:
            return [], None
        answer = property_question.answer(catalogue, self._by_nearness)
        memories = [memory for memory in answer.notes if in_scope(memory, scope)]
        hits = self._hits_of(question, memories[:limit])
        if not memories or not answer.is_list:
            return hits, None
        return hits, _property_notice(len(memories), len(hits), answer.compared_key)

    def _latest_values(self, question: str, scope: Scope) -> list[Hit]:
        """The notes with the latest values of the property that a question asks for ("What is the
        latest weight?"), which notes of several days have."""
        catalogue, today = self._indexed.catalogue, self._today()
        if not asks_for_newest(question):
            return []
        terms = terms_of(without_newest(question))
        key_terms = {key: terms_of_key(key) for key in catalogue.property_keys()}
        keys = [key for key, of_key in key_terms.items() if of_key and of_key <= terms]
        other_terms = terms.difference(*(key_terms[key] for key in keys))
        if len(other_terms) > MAX_OTHER_WORDS:
            return []
        having = {
            memory.id: memory
            for key in keys
            for memory in catalogue.by_paths(catalogue.paths_with_property(key))
            if says_its_day(memory) and memory.day <= today and shown_value(memory.properties[key])
        }
        if len(having) < MIN_DAYS:
            return []
        named = [
            memory for memory in having.values() if other_terms <= terms_of(names_in_note(memory))
        ]
        memories = latest_first(named or having.values())
        hits = [Hit(memory, 0.0) for memory in memories if in_scope(memory, scope)][:MAX_LATEST]
        self._hybrid.read_passages(question, hits)
        return hits

    def _of_group(self, question: str, limit: int, scope: Scope) -> list[Hit]:
        """The notes of the folder or tag that a question names ("my recipes"), the nearest first;
        notes elsewhere may say more of it, so these do not take all places. None if the question
        asks for a fact ("When is the wedding?") or a note elsewhere has that name."""
        catalogue = self._indexed.catalogue
        group = None if asks_for_fact(question) else type_asked_for(question, catalogue.groups)
        if group is None or not (memories := notes_in_group(group, catalogue, scope)):
            return []
        named = notes_named(group, catalogue, scope)
        if not all(is_of_folders(memory, memories) for memory in named):
            return []
        nearest = self._hybrid.search(question, POOL_SIZE, scope)
        place = {hit.memory.id: place for place, hit in enumerate(nearest)}
        memories.sort(key=lambda memory: place.get(memory.id, len(place)))
        memories = distinct_by([*named, *memories], lambda memory: memory.id)
        return self._hits_of(question, memories[: round(GROUP_SHARE * limit)])

    def _notes_with_tasks_about(
        self, question: str, time: QuestionTime | None, limit: int, scope: Scope
    ) -> list[Hit]:
        """At most ``limit`` notes with an open task that the question is about; first due first.

        Its words must be in the task, or in the note's path, title, type, project or tags, and the
        task must be of the time that the question names, or overdue then if it asks for that.
        """
        is_overdue = asks_for_overdue(question)
        rest = without_overdue(time.rest if time is not None else question)
        words = words_beyond_plans(rest, question)
        if (not words and not is_overdue) or len(words) > MAX_TASK_WORDS:
            return []
        overdue_on = self._today() if time is None else time.last_day

        def is_of_time(memory: Memory, task: str) -> bool:
            if is_overdue:
                return any(day < overdue_on for day in due_days(memory, task))
            return time is None or time.is_named_in(memory, task)

        def is_about(memory: Memory, tasks: Sequence[str]) -> bool:
            words_of_note = _words(names_in_note(memory))
            return any(
                words <= _words(task) | words_of_note and is_of_time(memory, task) for task in tasks
            )

        with_tasks = self._with_open_tasks(scope)
        memories = (memory for memory, tasks in with_tasks if is_about(memory, tasks))
        return self._task_hits(question, islice(memories, limit))

    def _names_no_subject(self, question: str, time: QuestionTime | None) -> bool:
        """Whether a question for what is overdue names no subject."""
        rest = without_overdue(time.rest if time is not None else question)
        return not words_beyond_plans(rest, question)

    def _notes_of_time_named(self, question: str, time: QuestionTime, scope: Scope) -> list[Memory]:
        """Notes dated within the time whose folder, title, type, project and tags have all words
        of the question ("What did I do in the lab last Thursday?")."""
        subject_words = time.subject_words(question)
        if not 0 < len(subject_words) <= MAX_NAMING_WORDS:
            return []
        terms = terms_of(" ".join(subject_words))
        starts = [word[:3] for word in subject_words]  # a quick look that excludes most notes
        named = [
            memory
            for memory in self._indexed.catalogue.of_days(time.days_meant())
            if says_its_day(memory)
            and in_scope(memory, scope)
            and all(start in names_in_note(memory).casefold() for start in starts)
            and terms <= terms_of(names_in_note(memory))
        ]
        return time.all_of_this_time(named, lambda _: ()) if named and terms else []

    def _of_time(
        self, question: str, time: QuestionTime, scope: Scope
    ) -> tuple[list[Memory], set[str]]:
        """The notes of the time or that name a day of it, and open tasks if these are asked for:
        tasks of that time first, other tasks after the notes of it; and the ids of those with open
        tasks.

        Notes of a type that a verb of the question means come first: "What did we decide in March?"
        is for decisions. Notes whose titles name the time come before the others, or after them if
        these are many: then their titles say only that they are of that year ("Invoice 7 of 2026").
        """
        catalogue = self._indexed.catalogue
        wants_tasks = asks_for_tasks(question) and not time.past
        with_tasks = self._with_open_tasks(scope) if wants_tasks else []
        memories_with_tasks = [memory for memory, _ in with_tasks]
        first_ids = {
            memory.id
            for memory, tasks in with_tasks
            if any(time.is_named_in(memory, task) for task in tasks)
        }
        dated = (m for m in catalogue.of_days(time.days_meant()) if in_scope(m, scope))
        with_time = [memory for memory in catalogue.all() if time.is_in_title(memory)]
        titled = latest_first(memory for memory in with_time if in_scope(memory, scope))
        of_time = time.all_of_this_time(dated, catalogue.days_named, memories_with_tasks)
        both = [*titled, *of_time] if len(titled) <= MAX_TITLED else [*of_time, *titled]
        memories = distinct_by(both, lambda memory: memory.id)
        is_of_type = begins_as_a_word_of(question)
        memories.sort(key=lambda memory: not is_of_type(memory.type))
        memories.sort(key=lambda memory: memory.id not in first_ids)
        return memories, {memory.id for memory in memories_with_tasks}

    def _notes_of_time(
        self,
        question: str,
        time: QuestionTime,
        memories: Sequence[Memory],
        ids_with_tasks: Set[str],
        scope: Scope,
    ) -> list[Hit]:
        """These notes with their passages that answer, that have open tasks, or that name a day of
        the time; notes without text last."""
        nearest = self._hybrid.search(question, POOL_SIZE, time.narrowed(scope))
        hit_of = {hit.memory.id: hit for hit in nearest if hit.memory.id not in ids_with_tasks}
        hits = [hit_of.get(memory.id) or Hit(memory, 0.0) for memory in memories]
        for hit in hits:
            if not time.has(hit.memory):
                hit.chunk_id = None  # show the passage that names the day instead

        def answers(memory: Memory, passage: Chunk) -> bool:
            has_task = memory.id in ids_with_tasks and _has_open_task(memory, passage)
            return has_task or time.is_named_in(memory, passage.text)

        self._hybrid.read_passages(question, hits, answers)
        return sorted(hits, key=has_only_title)

    def _without_subject(self, question: str, scope: Scope) -> list[Memory]:
        """The memories that a question without a subject asks for."""
        catalogue = self._indexed.catalogue
        if asks_only_for_person(question):
            return self._about_person(all_in_scope(catalogue, scope))
        if asks_only_for_latest(question):
            return latest_first(all_in_scope(catalogue, scope))
        if kind := type_asked_for(question, catalogue.types):
            memories = catalogue.by_paths(catalogue.paths_of_type(kind))
            return by_importance(memory for memory in memories if in_scope(memory, scope))
        group = type_asked_for(question, catalogue.groups) if asks_for_all(question) else None
        return notes_in_group(group, catalogue, scope) if group is not None else []

    def _about_person(self, memories: Iterable[Memory]) -> list[Memory]:
        """Preferences first, then the most important; of these the notes that most others link to,
        then the latest, those of a day after others."""

        ordered, links = by_importance(memories), dict[str, int]()
        with suppress(StoreUnavailable, GraphQueryError):
            links = {memory.id: self._linking(memory.id) for memory in ordered}

        def rank(memory: Memory) -> tuple[bool, float, int, bool]:
            of_links = -links.get(memory.id, 0)
            return not is_preference(memory), -memory.importance, of_links, says_its_day(memory)

        return sorted(ordered, key=rank)

    def _linking(self, memory_id: str) -> int:
        """How many notes link to a note or name it."""
        edges = self._view.touching(memory_id)
        return len({edge.source for edge in edges if edge.source != memory_id})

    def _of_type_and_time(self, kind: str, time: QuestionTime, scope: Scope) -> list[Memory]:
        """All notes of a type that are of a time or name a day of it."""
        catalogue = self._indexed.catalogue
        of_type = catalogue.by_paths(catalogue.paths_of_type(kind))
        of_scope = (memory for memory in of_type if in_scope(memory, scope))
        return time.all_of_this_time(of_scope, catalogue.days_named)

    def _hits_of(self, question: str, memories: Iterable[Memory]) -> list[Hit]:
        hits = [Hit(memory, 0.0, found_by=FoundBy.LIST) for memory in memories]
        self._hybrid.read_passages(question, hits)
        return hits

    def _with_open_tasks(self, scope: Scope) -> list[tuple[Memory, Sequence[str]]]:
        """The notes with open tasks, and these tasks; the first due first, then the latest."""
        pairs = {pair[0].id: pair for pair in self._indexed.catalogue.with_open_tasks()}
        memories = (memory for memory, _ in pairs.values() if in_scope(memory, scope))
        latest = [pairs[memory.id] for memory in latest_first(memories)]
        return sorted(latest, key=lambda pair: _first_due_day(*pair))

    def _task_hits(self, question: str, memories: Iterable[Memory]) -> list[Hit]:
        """These notes with their passages that have open tasks."""
        hits = [Hit(memory, 0.0) for memory in memories]
        self._hybrid.read_passages(question, hits, _has_open_task)
        return hits


def _first_due_day(memory: Memory, tasks: Iterable[str]) -> date:
    """The first day on which a task is due; `date.max`, which sorts last, if none is."""
    return min((day for task in tasks for day in due_days(memory, task)), default=date.max)


def _has_open_task(memory: Memory, passage: Chunk) -> bool:
    return OPEN_TASK in passage.context


def _property_notice(count: int, shown_count: int, compared_key: str | None) -> str:
    notes = "1 note has" if count == 1 else f"{count} notes have"
    comparison = f", compared by `{compared_key}`" if compared_key is not None else ""
    remainder = (
        f"; {shown_count} of them are here. Ask for more results to see all"
        if shown_count < count
        else ""
    )
    return f"{notes} the properties that the question names{comparison}{remainder}."


def _words(text: str) -> set[str]:
    return set(some_words(text))
