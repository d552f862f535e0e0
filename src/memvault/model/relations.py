"""Standard names of relations, and what follows from each.

People name relations as they like (``superseded_by::``, "Caused by:"); these are the names that
mean the same to everybody, in English. All are compared after `relation_name`.
"""

from __future__ import annotations

from functools import lru_cache


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


# "Not both": the first group holds both ways, the second makes the note at the end of the edge
# outdated, the third the note at its start.
OPPOSING = _names(
    "contradicts, contradicted by, conflicts, conflicts with, disagrees with, disputes,"
    " disputed by, refutes, refuted by, opposes"
)
SUPERSEDING = _names("supersedes, replaces, invalidates, obsoletes, retracts")
SUPERSEDED = _names("superseded by, replaced by, invalidated by, obsoleted by, retracted by")

# The start of the edge brings about, allows or hinders its end.
CAUSING = _names(
    "causes, caused, leads to, led to, results in, resulted in, enables, enabled, triggers,"
    " triggered, produces, blocks, blocking, prevents, prevented, affects, influences, influenced,"
    " drives, contributes to, contributed to, motivates, gives rise to, gave rise to, brings about,"
    " brought about, required for, required by, prerequisite of, prerequisite for, implies"
)
# The same nouns as fields: ``effect:: [[X]]``.
EFFECT_FIELDS = _names(
    "effect, effects, consequence, consequences, outcome, outcomes, result, results"
)
# The end of the edge brings about, allows or hinders its start.
CAUSED = _names(
    "caused by, because of, due to, owing to, thanks to, result of, results from, resulted from,"
    " consequence of, outcome of, follows from, stems from, arises from, depends on, dependent on,"
    " depended on, relies on, requires, blocked by, held up by, enabled by, triggered by,"
    " prevented by, driven by, motivated by, influenced by, affected by, produced by,"
    " as a result of, in response to"
)
CAUSE_FIELDS = _names(
    "cause, root cause, reason, reasons, because, trigger, prerequisite, prerequisites,"
    " dependency, dependencies, blocker, blockers"
)

# Of the causal names, those that say the start makes its end less likely, or the end its start …
HINDERING = _names("blocks, blocking, prevents, prevented")
HINDERED = _names("blocked by, held up by, prevented by, blocker, blockers")
# … and those by which the start is needed for its end, or the end for its start.
NEEDED = _names("enables, enabled, required for, required by, prerequisite of, prerequisite for")
NEEDING = _names(
    "depends on, dependent on, depended on, relies on, requires, enabled by, prerequisite,"
    " prerequisites, dependency, dependencies"
)

# The start speaks for its end, or the end for its start.
SUPPORTING = _names("supports, confirms, corroborates, proves, backs, evidence for, argues for")
SUPPORTED = _names("supported by, confirmed by, corroborated by, proven by, backed by, evidence")

# The end of the edge is more general than its start …
BROADER = _names(
    "part of, is part of, up, parent, parents, is a, is an, is a kind of, kind of, type of,"
    " is a type of, instance of, is an instance of, example of, subclass of, broader, belongs to,"
    " member of, category, categories, project, child of, subtopic of, series, moc, index, area"
)
# … or more special.
NARROWER = _names(
    "has part, has parts, parts, contains, includes, comprises, consists of, down, child, children,"
    " narrower, subtopic, subtopics, examples, parent of, has member, members, covers"
)

# One thing has one value of these at a time, so two notes that give different ones conflict.
SINGLE_VALUED = _names(
    "lead, leader, led by, owner, owned by, maintainer, manager, assignee, responsible, chair,"
    " deadline, due, due date, start date, end date, launch date, release date, founded, birthday,"
    " born, price, cost, budget, amount, salary, rent, quantity, version, status, priority,"
    " employer, works at, works for, location, address, headquarters, capital, lives in, email,"
    " phone, spouse, doctor, landlord, language, licence, license, currency, decision"
)
# What a note says its statements are about, when that is not itself.
ABOUT = _names("about, subject, regarding, concerns, concerning")


@lru_cache(maxsize=10_000)
def relation_name(relation: str) -> str:
    """``Superseded_by`` and ``superseded-by`` are one relation: ``superseded by``."""
    return " ".join(relation.replace("_", " ").replace("-", " ").casefold().split())


def contradicts(relation: str) -> bool:
    """Whether an edge of this name says that its two ends do not both hold."""
    name = relation_name(relation)
    return name in OPPOSING or name in SUPERSEDING or name in SUPERSEDED
