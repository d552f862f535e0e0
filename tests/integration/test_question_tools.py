"""The question that settles most, and whether one thing is part of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_server.runtime.container import Container
from memvault.curation.tasks.open_questions import open_questions
from memvault.reasoning.entailment import Hierarchy
from tests.integration.caller import Caller, all_shown
from tests.integration.small_vault import opened
from tests.timing import seconds_of

NOTES = {
    "Kelp.md": "# Kelp\n\nis a:: [[Brown alga]]\n",
    "Brown alga.md": "# Brown alga\n\nis a:: [[Alga]]\n",
    "Alga.md": "# Alga\n\nLives in water.\n",
    "Oak.md": "# Oak\n\nA tree.\n",
    **{
        f"projects/{name}.md": f"---\ntype: project\n---\n# {name}\n\n{lead}\n"
        for name, lead in (
            ("Aurora", "Lead: [[Ada]]"), ("Marlin", "Lead: [[Ben]]"), ("Sable", "Lead: [[Cy]]"),
            ("Quill", "Nobody knows yet. See [[Aurora]]."),
        )
    },
    **{f"{name}.md": f"---\ntype: person\n---\n# {name}\n" for name in ("Ada", "Ben", "Cy")},
}  # fmt: skip


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    container = opened(tmp_path_factory.mktemp("questions"), NOTES)
    yield container
    container.close()


@pytest.fixture(scope="module")
def call(container: Container) -> Callable[..., dict[str, Any]]:
    return Caller(container, tools="full").ok


def test_a_chain_of_kinds_is_followed_and_cited(call: Any) -> None:
    answer = call("entailment_query", general="Alga", specific="Kelp")
    assert answer["entails"] is True
    assert [step["general"] for step in answer["chain"]] == ["Brown alga", "Alga"]
    assert answer["chain"][0]["path"] == "Kelp.md"


def test_nothing_follows_the_other_way_or_from_elsewhere(call: Any) -> None:
    assert call("entailment_query", general="Kelp", specific="Alga")["entails"] is False
    assert call("entailment_query", general="Alga", specific="Oak")["entails"] is False


def test_a_chain_is_found_within_a_millisecond(container: Container) -> None:
    live = container.live
    hierarchy = Hierarchy(live.graph_view, live.catalogue.by_id)
    kelp, alga = (live.catalogue.by_path(path) for path in ("Kelp.md", "Alga.md"))
    assert kelp is not None
    assert alga is not None
    assert hierarchy.chain(kelp.id, alga.id)
    assert seconds_of(lambda: hierarchy.chain(kelp.id, alga.id), times=50) < 0.001


def test_a_chain_follows_what_notes_state_now(tmp_path: Path) -> None:
    container = opened(tmp_path, {"A.md": "is a:: [[B]]\n", "B.md": "Plain.\n", "C.md": "Top.\n"})
    caller = Caller(container, "full")
    try:
        assert not caller.ok("entailment_query", general="C", specific="A")["entails"]
        written("B.md", "part of:: [[C]]\n")(container)
        assert len(caller.ok("entailment_query", general="C", specific="A")["chain"]) == 2
        written("B.md", "Plain again.\n")(container)
        assert not caller.ok("entailment_query", general="C", specific="A")["entails"]
    finally:
        container.close()


def test_the_question_that_settles_most_names_what_it_settles(call: Any) -> None:
    answer = call("epistemic_action")
    assert answer["question"]
    assert answer["settles"]
    assert 0.0 <= answer["entropy_before"] <= 1.0


def test_what_most_projects_state_is_asked_of_the_one_that_does_not(container: Container) -> None:
    live = container.live
    gap = open_questions((), list(live.catalogue.all()), live.graph_view)[0]
    assert gap.text.startswith("What is the lead of Quill? 3 of 4")


OLD = "---\ntype: fact\ncreated: 2020-01-01\n---\n"
Answered = Callable[[Container], object]


def verified(path: str) -> Answered:
    return lambda container: container.decisions.verify(path, all_shown(container), verified=True)


def written(path: str, text: str) -> Answered:
    def write(container: Container) -> None:
        (container.vault.root / path).write_text(text, encoding="utf-8")
        container.indexing.scan()

    return write


CLAIM = {
    "title": "Rent of the quay", "type": "fact", "project": "quay",
    "content": "The [[Yard]] pays it in May.", "rationale": "They said so.",
}  # fmt: skip
ANSWERS: dict[str, tuple[dict[str, str], str, set[str], Answered]] = {
    "conflicting_facts": (
        {"Quay.md": "Stones.\n", "Old quay.md": "contradicts:: [[Quay]]\n\nNo stones.\n"},
        "Which of these holds? Old quay.md contradicts Quay.md", {"Quay.md", "Old quay.md"}, verified("Quay.md"),
    ),
    "unverified_critical": (
        {"Yard.md": "Wet.\n"}, "Is “Rent of the quay” right? Unverified financial information.",
        {"projects/quay/Rent of the quay.md"}, verified("projects/quay/Rent of the quay.md"),
    ),
    "stale_fact": (
        {"Opening.md": OLD + "The [[Yard]] opens at seven.\n", "Yard.md": "Wet.\n"},
        "Does “Opening” still hold? Not confirmed for ", {"Opening.md"}, verified("Opening.md"),
    ),
    "unresolved_links": (
        {"A.md": "Ask [[Mole]] or [[B]].\n", "B.md": "Ask [[Mole]].\n", "C.md": "See [[B]], [[Reef]].\n"},
        "What is Mole? 2 notes link to it", {"A.md", "B.md"}, written("Mole.md", "A pier.\n"),
    ),
    "gap": (
        {path: text for path, text in NOTES.items() if "type:" in text},
        "What is the lead of Quill?", {"projects/Quill.md"},
        written("projects/Quill.md", "---\ntype: project\n---\n# Quill\n\nLead: [[Ada]]\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", ANSWERS)
def test_an_answer_lowers_the_entropy_of_its_question_by_a_third(
    tmp_path: Path, reason: str
) -> None:
    """Graph-tools 3.7: by more than 30%, measured from what the notes say before and after."""
    notes, asked, settles, answer = ANSWERS[reason]
    container = opened(tmp_path, notes)
    caller = Caller(container, "full")
    try:
        if reason == "unverified_critical":
            caller.ok("store_memory", **CLAIM)
        before = caller.ok("epistemic_action", session_id="one")
        assert before["reason"] == reason and before["question"].startswith(asked)
        assert {each["path"] for each in before["settles"]} == settles
        assert before["entropy_before"] > 0.5
        assert "last" not in caller.ok("epistemic_action", session_id="one")
        answer(container)
        last = caller.ok("epistemic_action", session_id="one")["last"]
        assert last["question"] == before["question"]
        assert last["entropy_after"] <= 0.7 * last["entropy_before"]
    finally:
        container.close()
