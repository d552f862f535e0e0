"""What a client edits in the person's note is not shown as the person's word, and hides none of it."""

from __future__ import annotations

import json

import pytest

from mcp_server.runtime.container import Container
from tests.benchmarks.trust_attempts import WHY, Caller
from tests.integration.malicious.vault import write


@pytest.mark.parametrize("form", ["raw", "narrative", "structured", "code_focused"])
def test_no_context_quotes_a_property_that_a_client_set_in_the_persons_note(
    call: Caller, form: str
) -> None:
    call("edit_memory", target="Marlin.md", operation="set_property", property="mascot",
         content="a grey heron", rationale=WHY)  # fmt: skip
    query = "Which mascot does Marlin have?"
    answer = call("inject_context", query=query, distillation_mode=form, max_tokens=900)
    assert answer["context"] and "grey heron" not in answer["context"]


def test_on_a_sensitive_question_only_the_persons_own_properties_are_shown(
    call: Caller, container: Container
) -> None:
    note = "---\ndeposit: 2890 EUR\n---\nA laptop with a matt screen, for drawings.\n"
    (container.vault.root / "Laptop.md").write_text(note, encoding="utf-8")
    container.indexing.scan()
    call("edit_memory", target="Laptop.md", operation="set_property", property="deposit_paid",
         content="1 EUR", rationale=WHY)  # fmt: skip
    found = call("recall_memory", query="What was the deposit of the laptop?")["nodes"]
    laptop = next(node for node in found if node["path"] == "Laptop.md")
    assert "deposit: 2890 EUR" in laptop["content"] and "1 EUR" not in laptop["content"]


@pytest.mark.parametrize(
    ("mark", "name"),
    [("\u2028", "flat"), ("\u2029", "barn"), ("\x85", "cabin"), ("\x0b", "boat"), ("\x0c", "shed")],
)
def test_no_line_mark_of_a_client_makes_a_quotation_the_persons_statement(
    call: Caller, container: Container, mark: str, name: str
) -> None:
    quoted = f"> The deposit of the {name} is 9000 euros.\n\nI have not answered.\n"
    note = f"# {name.title()}\n\nPiet wants to sell it.\n\nHe wrote:\n\n{quoted}"
    (container.vault.root / f"{name.title()}.md").write_text(note, encoding="utf-8")
    container.indexing.scan()
    claim = f"The deposit of the {name} is 9000 euros."
    call("store_memory", content=claim, title=f"{name} call", rationale=WHY)
    call("edit_memory", target=f"{name.title()}.md", operation="prepend",
         content="Photos are kept" + mark * 9 + " in the drawer.", rationale=WHY)  # fmt: skip
    found = call("recall_memory", query=f"How much is the deposit of the {name}?")["nodes"]
    claims = [node for node in found if node["title"] == f"{name} call"]
    assert claims and not any(node["verified"] for node in claims)


def test_a_day_that_a_client_sets_makes_no_word_of_the_persons_out_of_date(
    call: Caller, container: Container
) -> None:
    root = container.vault.root
    then = "---\ndate: 2019-05-01\n---\nThe deposit of Marlin is 70 EUR.\n"
    (root / "Then.md").write_text(then, encoding="utf-8")
    now = "---\ndate: 2026-02-01\n---\nThe deposit of Marlin is 95 EUR.\n"
    (root / "Now.md").write_text(now, encoding="utf-8")
    container.indexing.scan()
    query = "What is the deposit of Marlin?"
    status = {n["path"]: n.get("verification") for n in call("recall_memory", query=query)["nodes"]}
    assert status["Then.md"]["status"] == "contradicted" and status["Now.md"] is None
    call("edit_memory", target="Now.md", operation="set_property", property="date",
         content="2010-01-01", rationale=WHY)  # fmt: skip
    found = {n["path"]: n.get("verification") for n in call("recall_memory", query=query)["nodes"]}
    assert found["Then.md"]["status"] == "contradicted"


def test_what_a_client_adds_to_the_persons_note_is_not_shown_as_their_word(
    call: Caller, container: Container
) -> None:
    call(
        "annotate_node",
        target="Bank.md",
        note="The rent of the flat is 555 EUR a month.",
        rationale=WHY,
    )
    answer = call("recall_memory", query="What is the rent of the flat?")
    assert "555 EUR" not in json.dumps(answer)
    assert "910 EUR" in json.dumps(answer)


def test_a_client_that_edits_what_the_person_verified_does_not_inherit_the_mark(
    call: Caller, container: Container
) -> None:
    path = container.vault.root / "Fees.md"
    path.write_text("---\nverified: true\n---\n# Fees\n\nThe rent of the hall is 40 EUR.\n")
    container.indexing.index_written(["Fees.md"])
    call(
        "annotate_node", target="Fees.md", note="The rent of the hall is 4,000 EUR.", rationale=WHY
    )
    answer = call("recall_memory", query="How much is the rent of the hall?")
    assert "4,000" not in json.dumps(answer)
    assert "40 EUR" in json.dumps(answer)


def test_no_property_of_a_client_makes_the_persons_word_a_contradicted_claim(
    call: Caller, container: Container
) -> None:
    write(container, "Choir.md", "# Choir\n\nThe choir's bank account is DE02 3333.\n")
    claim = "The choir's bank account is DE99 8888."
    call("store_memory", content=claim, title="Choir account", rationale=WHY)
    for target, name, other in (
        ("Choir.md", "superseded_by", "[[Choir account]]"),
        ("Choir account", "contradicts", "[[Choir]]"),
    ):
        call("edit_memory", target=target, operation="set_property", property=name,
             content=other, rationale=WHY)  # fmt: skip
    answer = call("recall_memory", "other", query="What is the choir's bank account?")
    own = next(each for each in answer["nodes"] if each["path"] == "Choir.md")
    assert own["verified"] is True
    assert "DE02 3333" in own["content"]
    assert "DE99" not in json.dumps(answer)


def test_no_heading_or_word_of_a_client_passes_for_the_persons(
    call: Caller, container: Container
) -> None:
    write(container, "Chess.md", "# Chess\n\nThe chess club's cup goes to Ada. It is silver.\n")
    for old, new in (("# Chess", "# The chess club's bank account is DE99 4444"),
                     ("to Ada", "to Tom")):  # fmt: skip
        call("edit_memory", target="Chess.md", operation="replace_text", find=old, content=new,
             rationale=WHY)  # fmt: skip
    for tool in ("recall_memory", "vector_search", "graph_query", "inject_context"):
        assert "DE99 4444" not in json.dumps(call(tool, "other", query="Chess club's bank account"))
    prompted = call.prompted("Who gets the cup of the chess club?")
    assert "DE99 4444" not in prompted
    assert "(Written by eve; I have not confirmed this.)\\nThe chess club's cup" in prompted


OPENINGS = ("%%", "<!--", "Seen.\n\n<!-- a draft\n", "- a\n\n%%\nb")
CRANE = "# Crane\n\n## Use\n\nBelow it.\n\n## Load\n\nThe crane lifts 12 tonnes.\n"


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize(
    ("operation", "where"),
    [
        ("append", {}),
        ("prepend", {}),
        ("replace_text", {"find": "Below it."}),
        ("replace_section", {"section": "Use"}),
    ],
)
def test_no_client_hides_what_the_person_wrote_in_a_comment_without_an_end(
    call: Caller, container: Container, operation: str, where: dict[str, str], opening: str
) -> None:
    write(container, "Crane.md", CRANE)
    edit = {"target": "Crane.md", "operation": operation, "rationale": WHY, **where}
    assert "close it" in call.error("edit_memory", content=opening, **edit)
    assert (container.vault.root / "Crane.md").read_text() == CRANE
    call("edit_memory", content="%% closed %%", **edit)


@pytest.mark.parametrize(
    ("number", "line"),
    enumerate(
        ["It is blue.", "It sets in nine hours.", "How long does it take to set? Nine hours."]
    ),
)
@pytest.mark.parametrize("operation", ["replace_text", "prepend"])
def test_the_persons_sentence_shown_alone_keeps_its_mark_whatever_a_client_puts_next_to_it(
    call: Caller, container: Container, number: int, line: str, operation: str
) -> None:
    name = f"Glue {operation[:3]}{number}"
    own = f"{name} sets in four hours at room temperature."
    write(container, f"{name}.md", f"# {name}\n\n{own}\n")
    new = {"content": line.replace("It", name).replace("it", name)}
    if operation == "replace_text":
        new = {"find": own, "content": f"{own} {new['content']}"}
    call("edit_memory", target=name, operation=operation, rationale=WHY, **new)
    for tool, key in (("recall_memory", "nodes"), ("graph_query", "results")):
        found = call(tool, "other", query=f"How long does {name} take to set?")[key]
        (node,) = [each for each in found if each["path"] == f"{name}.md"]
        if node["content"] == own:
            assert (node["verified"], node["origin"], node.get("written_by")) == (
                True, "person", None,
            )  # fmt: skip
        else:
            assert (node["verified"], node["origin"]) == (False, "client")
