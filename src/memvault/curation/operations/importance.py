"""How much a memory matters: a key of its note, or for a concept without one, a line of the
journal."""

from __future__ import annotations

from memvault.curation.operations.properties import Setting, property_of, set_property
from memvault.curation.staging import Staging
from memvault.curation.targets import Target
from memvault.model.change import Fact, FactKind
from memvault.model.errors import InvalidParams
from memvault.model.memory import DEFAULT_IMPORTANCE
from memvault.vault.compose import importance_word
from memvault.vault.properties import read_importance


def stage_importance(
    staging: Staging,
    target: Target,
    *,
    importance: float | None = None,
    delta: float | None = None,
    known: float = DEFAULT_IMPORTANCE,
) -> Setting:
    """Set the importance, or change it by ``delta``; it stays within [0, 1].

    Args:
        known: what a concept without a note has now.

    Raises:
        InvalidParams: neither or both are given.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    if (importance is None) == (delta is None):
        raise InvalidParams("Provide either importance or delta, not both and not neither")
    path = target.note.path if target.note else None
    before = read_importance(property_of(staging, path, "importance")) if path else known
    wanted = importance if importance is not None else before + (delta or 0.0)
    after = round(min(1.0, max(0.0, wanted)), 3)
    if path is None:
        if after != before:
            staging.note_fact(
                Fact(kind=FactKind.IMPORTANCE, node_ids=target.node_ids, names=(target.name,),
                     value=after)
            )  # fmt: skip
    elif after != before:
        set_property(staging, path, "importance", importance_word(after) or "medium")
    return Setting(path, before, after)
