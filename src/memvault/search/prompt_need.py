"""Estimates the probability that a memory helps with a prompt.

Similarity alone is not enough: in a vault about software, every prompt about code finds notes with
the same words. So the kind of prompt counts, too: does it hand over work ("write a test for the
parser") or ask for knowledge ("who wrote the report?")? The kind is the prompt's place between
samples of both, in the space of the model that embeds the notes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from memvault.model.note import Vector
from memvault.model.search import FoundBy, Hit

# Log-odds, fitted to four vaults and to captured sessions. `tests.benchmarks.bench_prompt_need`
# evaluates them, and prints the values that other vaults would give.
_INTERCEPT = -6.27
_RELEVANCE = 22.04  # per unit of a memory's relevance
_WORK = -3.28  # per half of the distance from questions to work
_QUESTION = 0.92  # for a prompt that ends with a question mark
_RELATION = 5.0  # for a memory found by relations: its relevance is not a cosine
NEEDED = 0.75  # smallest probability: a useless memory costs more than a missing one

_WORK_SAMPLES = (
    "Refactor this class into smaller functions",
    "Write a unit test for the parser module",
    "Fix the failing build",
    "Why does this function return None?",
    "Add a column to the users table and write the migration",
    "Rename this variable in every file",
    "What does this error message mean?",
    "Implement the endpoint and return JSON",
    "Run the tests again and show me the output",
    "Explain how this loop works",
    "Update the dependency and resolve the conflict",
    "Create a component with two buttons",
    "Make the request asynchronous",
    "Delete the unused code in this file",
    "How do I parse this string in Python?",
    "Commit the change and open a pull request",
    "The compiler complains about a missing type",
    "Change the colour of the header",
    "Speed up this query",
    "Deploy it to the test server",
    "Handle the exception and log it",
    "Format the file",
    "Why is this slow?",
    "Configure the pipeline to run on every push",
    "Translate this text to Spanish",
    "Write a shell script that removes old files",
    "Summarise the diff",
    "Set the timeout to ten seconds",
    "Show an icon while the page loads",
    "Use a dictionary here instead of a list",
)
_QUESTION_SAMPLES = (
    "What did we decide about the database?",
    "Who is responsible for the budget?",
    "When did I last see the dentist?",
    "What does my sister like to eat?",
    "Where did they go on holiday last summer?",
    "Which plan did we choose, and why?",
    "What do my notes say about sleep?",
    "How much did the new roof cost?",
    "Is there a way to share this with my family?",
    "Who wrote the report on water quality?",
    "What is her favourite book?",
    "How do I turn on the night mode on my phone?",
    "When was the company founded?",
    "What was the name of the hotel in the old town?",
    "Which of my projects are late?",
    "Does the insurance cover a broken window?",
    "What did Tom say about the contract?",
    "How long does delivery take?",
    "What should I tell the doctor about my knee?",
    "Where is the spare key?",
    "What did I promise to Anna?",
    "Which country has won most often?",
    "Can I cancel my subscription before the end of the year?",
    "How many people came to the party?",
    "Why did we move away from the old supplier?",
    "What have I learned about gardening?",
    "Who is the director of that film?",
    "What happened at the meeting on Tuesday?",
    "Do I still owe him money?",
    "I have a new job and start in March.",
)


class PromptNeed:
    """Estimates whether a prompt needs a memory. Thread-safe.

    Args:
        embed: a query's normalised vector.
    """

    def __init__(self, embed: Callable[[str], Vector]) -> None:
        self._embed = embed

    def work_share(self, prompt: str) -> float:
        """The prompt's kind: about 1 if it hands over work, about -1 if it asks for knowledge."""
        direction, middle, half_distance = self._scale
        return float((self._embed(prompt) @ direction - middle) / half_distance)

    def chance(self, prompt: str, hit: Hit, *, is_about_work: bool = False) -> float:
        """The probability in (0, 1) that the prompt needs this memory.

        Args:
            is_about_work: the memory decides how work is done, so prompts for work need it, too.
        """
        by_relation = hit.found_by is FoundBy.RELATION
        odds = _INTERCEPT + _RELEVANCE * hit.relevance + _RELATION * by_relation
        odds += _QUESTION * prompt.rstrip().endswith(("?", "？"))
        share = self.work_share(prompt)
        odds += _WORK * (min(0.0, share) if is_about_work else share)
        return 1.0 / (1.0 + math.exp(-odds))

    @cached_property
    def _scale(self) -> tuple[Vector, float, float]:
        """The vector from questions to work, the projection of its midpoint, and half of its
        squared length."""
        work = np.mean([self._embed(sample) for sample in _WORK_SAMPLES], axis=0)
        questions = np.mean([self._embed(sample) for sample in _QUESTION_SAMPLES], axis=0)
        direction = work - questions
        half_distance = float(direction @ direction) / 2
        return direction, float((work + questions) @ direction) / 2, half_distance
