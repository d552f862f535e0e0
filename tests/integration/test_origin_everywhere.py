"""Every answer says whose words it shows: one memory of each origin, asked for with each tool,
resource, prompt and page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from mcp_server.runtime.container import Container
from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.brief import Brief, Sources
from memvault.curation.operations.importing import import_conversations
from tests.benchmarks.trust_attempts import WHY, Caller, Pages, hooked, opened

# The name of the memory of each origin.
NAMES = {"person": "Alder", "client": "Birch", "web": "Cedar", "import": "Dogwood",
         "memvault": "Elder"}  # fmt: skip
TEXT = "{name} hut stands on the lake of glass.\n\ncauses:: [[Flood at {name}]]\n\n{name} hut is part of [[Huts]]."
SAID = "lake of glass"
ASKED = "Where does the {name} hut stand?"
# What each tool that reads is called with: `{id}`, `{id8}`, `{path}` and `{name}` are the memory's.
READING: dict[str, dict[str, Any]] = {
    "recall_memory": {"query": ASKED, "verbosity_level": 2},
    "vector_search": {"query": ASKED},
    "graph_query": {"query": ASKED},
    "inject_context": {"query": ASKED},
    "hydrate_citation": {"citation_tags": ["node_{id8}"]},
    "get_memory": {"id": "{id}"},
    "search": {"query": ASKED},
    "fetch": {"id": "{id}"},
    "get_neighborhood": {"node_id": "{id}"},
    "get_graph_manifest": {},
    "get_recent_context": {},
    "list_memories": {},
    "get_preference": {"key": "hut of {name}"},
    "get_node_lineage": {"node_id": "{id}", "include_content_diffs": True},
    "get_system_logs": {},
    "get_memetic_status": {},
    "get_system_instructions": {},
    "reflect_on_memory": {"goal": ASKED},
    "generate_search_plan": {"query": ASKED},
    "critique_context": {"reasoning_summary": "{name} hut stands on the hill of stone."},
    "query_causal": {"action": "{name}"},
    "expand_causal_path": {"node": "Flood at {name}"},
    "omni_infer": {"query_type": "forward", "clamped_nodes": [{"node_id": "{id}"}]},
    "probabilistic_query": {"query": "How likely does the {name} hut stand on the lake?"},
    "epistemic_action": {},
    "entailment_query": {"general": "Huts", "specific": "{name}"},
    "set_verbosity": {"level": 2},
    "check_adversarial": {"node_id": "{id}"},
    "get_steering_feedback": {},
    "get_neuromodulation": {},
    "homeostatic_status": {},
    "affective_score_signal": {"signal": {"actual_value": 0.5}},
    "affective_get_drive_state": {},
    "affective_emit_reward": {"reward": {"type": "reward", "value": 0.5}},
}
RESOURCES = [
    "utl://current_session/pulse", "utl://current_session/state", "context://current",
    "context://session", "context://global", "graph://{id}", "admin://manifest",
    *(f"visualize://{topic}?format={form}" for topic in ("topic/lake of glass", "node/{id}",
      "session/current") for form in ("d3", "mermaid", "graphviz")),
]  # fmt: skip


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    base = tmp_path_factory.mktemp("origins")
    with opened(base) as running:
        call, texts = Caller(running), {kind: TEXT.format(name=n) for kind, n in NAMES.items()}
        (running.vault.root / "Alder.md").write_text(texts["person"])
        (running.vault.root / "Huts.md").write_text("Huts are small houses.\n")
        running.indexing.index_written(["Alder.md", "Huts.md"])
        call("store_memory", content=texts["client"], title="Birch", rationale=WHY)
        call("store_memory", content=texts["web"], title="Cedar", rationale=WHY,
             metadata={"url": "https://example.com"})  # fmt: skip
        running.indexing.index_written(imported(running, base, texts["import"]))
        source = running.live.catalogue.by_path("Alder.md")
        assert source is not None
        why = Attribution("memvault", "a brief of sessions", kind="system")
        running.actions.compress(Brief("Elder", texts["memvault"], [source], Sources.STAY), why)
        yield running


def imported(container: Container, base: Path, text: str) -> list[str]:
    turns = [
        {"uuid": str(k), "sender": sender, "text": said, "created_at": f"2026-01-01T00:00:0{k}Z"}
        for k, (sender, said) in enumerate([("human", "Where?"), ("assistant", text)])
    ]
    export = [{"uuid": "c-1", "name": "Dogwood", "created_at": "2026-01-01T00:00:00Z",
               "updated_at": "2026-01-01T00:00:00Z", "chat_messages": turns}]  # fmt: skip
    (base / "conversations.json").write_text(json.dumps(export))
    return list(
        import_conversations(container.curator, base / "conversations.json", "claude").added
    )


@pytest.fixture(scope="module")
def call(container: Container) -> Caller:
    return Caller(container)


def filled(value: Any, container: Container, name: str) -> Any:
    memory = next(each for each in container.live.catalogue.all() if each.title == name)
    text = json.dumps(value)
    for key, said in (("id8", memory.id[:8]), ("id", memory.id), ("path", memory.path),
                      ("name", name)):  # fmt: skip
        text = text.replace(f"{{{key}}}", said)
    return json.loads(text)


def belied(answer: Any, known: str | None = None) -> Iterator[tuple[str, str | None]]:
    """The quotations of an answer whose origin is missing or wrong."""
    if isinstance(answer, dict):
        own = answer.get("origin", known)
        for key, each in answer.items():
            if key not in ("query", "topic", "question", "goal"):
                yield from belied(each, own)
    elif isinstance(answer, list):
        for each in answer:
            yield from belied(each, known)
    elif isinstance(answer, str):
        for kind, name in NAMES.items():
            is_quoted = f"{name} hut stands" in answer or f"causes:: Flood at {name}" in answer
            if (
                is_quoted
                and known != kind
                and not (kind == "person" and known is None and SAID not in answer)
            ):
                yield answer, known


def test_every_tool_that_reads_and_needs_an_argument_is_tried(call: Caller) -> None:
    async def listed() -> set[str]:
        async with Client(call.server) as one:
            return {
                tool.name
                for tool in await one.list_tools()
                if tool.annotations and tool.annotations.read_only_hint
                and tool.input_schema.get("required")
            }  # fmt: skip

    assert asyncio.run(listed()) <= READING.keys()


@pytest.mark.parametrize("tool", READING)
def test_a_tool_says_whose_words_it_quotes(call: Caller, container: Container, tool: str) -> None:
    for name in NAMES.values():
        answer = call(tool, "other", **filled(READING[tool], container, name))
        if tool == "inject_context":  # one text, whose sources say whose words they are
            assert answer["sources"]
            text = answer.pop("context")
            for kind, other in NAMES.items():
                sources = [each for each in answer["sources"] if each["title"] == other]
                assert (
                    f"{other} hut stands" not in text or sources[0].get("origin", "person") == kind
                )
        assert list(belied(answer)) == []


@pytest.mark.parametrize("resource", RESOURCES)
def test_a_resource_says_whose_words_it_quotes(
    call: Caller, container: Container, resource: str
) -> None:
    async def read(uri: str) -> str:
        async with Client(call.server) as one:
            await one.call_tool("recall_memory", {"query": "the huts on the lake"})
            return str((await one.read_resource(uri))[0].text)

    for kind, name in NAMES.items():
        text = asyncio.run(read(filled(resource, container, name)))
        by = {"person": "", "client": "eve", "web": "eve", "import": "claude"}.get(kind, kind)
        if text.startswith("{"):
            assert list(belied(json.loads(text))) == []
            if "_code" in text:  # a drawing, in which each note has its name
                assert (f"{name} (by {by})" in text) is bool(by and name in text)
        elif by:
            assert f"- {name} · 1 note" not in text or f"written by {by}, unverified" in text


def test_the_prompt_says_whose_words_it_quotes(call: Caller, container: Container) -> None:
    for kind, name in NAMES.items():
        parts = call.prompted(ASKED.format(name=name)).split("###")
        own = next(each for each in parts if f"{name} hut stands" in each)
        assert ("I have not confirmed this" in own) is (kind != "person")


def test_each_page_says_whose_words_it_shows(container: Container) -> None:
    pages = Pages(container)
    for kind, name in NAMES.items():
        if kind != "person":
            memory = filled("{id}", container, name)
            query = ASKED.format(name=name)
            assert pages.unmarked(f"{name} hut stands", query, name) == []
            assert "written by" in pages.get(f"/memory/{memory}")


def test_the_hooks_say_whose_words_they_give(container: Container) -> None:
    for kind, name in NAMES.items():
        lines = hooked(container, ASKED.format(name=name), name).replace("\\n", "\n").splitlines()
        for line in lines:
            if f"{name} hut stands" in line:
                assert (", claimed by " in line) is (kind != "person")


def test_a_sentence_that_a_client_changed_in_the_persons_note_says_so(
    call: Caller, container: Container
) -> None:
    text = "# Fir\n\nThe Fir hut sleeps nine. The Fir hut has a stove.\n"
    (container.vault.root / "Fir.md").write_text(text)
    container.indexing.index_written(["Fir.md"])
    call("edit_memory", target="Fir", operation="replace_text", find="nine", content="four",
         rationale=WHY)  # fmt: skip
    for form in ("raw", "narrative", "structured"):
        quoted = call("inject_context", query="How many does the Fir hut sleep?",
                      distillation_mode=form)["context"]  # fmt: skip
        assert "The Fir hut sleeps four. (written by eve, unverified)" in quoted
        assert "has a stove." in quoted and "has a stove. (written" not in quoted


def test_what_a_client_added_to_the_persons_list_is_shown_next_to_it_with_its_writer(
    call: Caller, container: Container
) -> None:
    own = "- [ ] paint the hut\n- [ ] call the roofer\n- [x] buy oil"
    (container.vault.root / "To do.md").write_text(f"{own}\n")
    container.indexing.index_written(["To do.md"])
    for edit in (
        {"operation": "append", "content": "- [ ] order the stove"},
        {"operation": "replace_text", "find": "call the roofer", "content": "call the roofer at 8"},
    ):
        call("edit_memory", target="To do", rationale=WHY, **edit)
    for tool, key in (("recall_memory", "nodes"), ("graph_query", "results")):
        nodes = call(tool, query="Is it on the list to paint the hut?")[key]
        (listed,) = (node for node in nodes if node["path"] == "To do.md")
        assert listed["content"] == own.replace("- [ ] call the roofer\n", "")
        assert listed["verified"] and listed["origin"] == "person"
        assert listed["added_by_others"] == [
            {"path": "To do.md", "lines": [line, line], "text": f"- [ ] {text}",
             "origin": "client", "written_by": "eve", "verified": False}
            for line, text in ((2, "call the roofer at 8"), (4, "order the stove"))
        ]  # fmt: skip
    asked = {"query": "Is it on the list to paint the hut with my medicine?"}
    (gated,) = (n for n in call("recall_memory", **asked)["nodes"] if n["path"] == "To do.md")
    assert "added_by_others" not in gated


def test_a_clients_line_that_says_in_words_what_replaces_something_is_shown(
    call: Caller, container: Container
) -> None:
    (container.vault.root / "Stove.md").write_text("The stove of the hut burns oil.\n")
    container.indexing.index_written(["Stove.md"])
    line = "Replaced by: a heat pump that was fitted in May"
    call("edit_memory", target="Stove", operation="append", content=line, rationale=WHY)
    nodes = call("recall_memory", query="What does the stove of the hut burn?")["nodes"]
    (stove,) = (node for node in nodes if node["path"] == "Stove.md")
    assert [added["text"] for added in stove["added_by_others"]] == [line]


def test_the_persons_sentence_that_contradicts_stays_theirs_next_to_a_clients_line(
    call: Caller, container: Container
) -> None:
    (container.vault.root / "Club.md").write_text(
        "The lease of the sailing club ends on 30 September 2027.\n"
    )
    container.indexing.index_written(["Club.md"])
    call("edit_memory", target="Club", operation="append", content="Bring a towel.",
         rationale=WHY)  # fmt: skip
    call("store_memory", title="Lease", content="The lease of the sailing club now ends on 9 June 2028.",
         rationale=WHY)  # fmt: skip
    nodes = call("recall_memory", query="When does the lease of the sailing club end?")["nodes"]
    (lease,) = (node for node in nodes if node["path"] == "projects/Lease.md")
    (against,) = lease["verification"]["contradicted_by"]
    assert against["sentence"] == "The lease of the sailing club ends on 30 September 2027."
    assert against["origin"] == "person" and "written_by" not in against
    (club,) = (node for node in nodes if node["path"] == "Club.md")
    (against,) = club["verification"]["contradicted_by"]
    assert (against["origin"], against["written_by"]) == ("client", "eve")


def test_each_client_that_added_to_the_persons_list_is_named_and_more_lines_are_marked(
    call: Caller, container: Container
) -> None:
    (container.vault.root / "Tools.md").write_text("- [ ] buy a saw\n")
    container.indexing.index_written(["Tools.md"])
    further = "\n".join(f"- [ ] sharpen tool number {number}" for number in range(30))
    for client, content in (("eve", "- [ ] oil the axe"), ("adam", "- [ ] sell the drill"),
                            ("adam", further)):  # fmt: skip
        call("edit_memory", client, target="Tools", operation="append", content=content,
             rationale=WHY)  # fmt: skip
    nodes = call("recall_memory", query="Is it on the list to buy a saw?")["nodes"]
    (tools,) = (node for node in nodes if node["path"] == "Tools.md")
    axe, others = tools["added_by_others"]
    assert (axe["text"], axe["written_by"]) == ("- [ ] oil the axe", "eve")
    assert others["text"].startswith("- [ ] sell the drill") and others["written_by"] == "adam"
    assert others["text"].endswith(" …")


def test_a_long_line_that_a_client_added_is_cut_as_any_sentence_is(
    call: Caller, container: Container
) -> None:
    (container.vault.root / "Shed.md").write_text("- [ ] mend the shed\n")
    container.indexing.index_written(["Shed.md"])
    call("edit_memory", target="Shed", rationale=WHY, operation="append",
         content="- [ ] " + "fetch planks for the shed " * 1000)  # fmt: skip
    nodes = call("recall_memory", query="Is it on the list to mend the shed?")["nodes"]
    (shed,) = (node for node in nodes if node["path"] == "Shed.md")
    (added,) = shed["added_by_others"]
    assert shed["content"] == "- [ ] mend the shed"
    assert added["text"].startswith("- [ ] fetch planks") and added["text"].endswith(" …")
    assert len(added["text"]) < 1100


def test_an_edit_says_if_the_persons_sentences_next_to_it_no_longer_count_as_theirs(
    call: Caller, container: Container
) -> None:
    for name, find, is_said in (("Ash", "It costs nine.", True), ("Oak", "nine", False)):
        text = f"The {name} hut has no nuts in its kitchen. It costs nine.\n"
        (container.vault.root / f"{name} hut.md").write_text(text)
        container.indexing.index_written([f"{name} hut.md"])
        edit = {"target": f"{name} hut", "operation": "replace_text", "find": find,
                "content": "One pays ten." if is_said else "ten", "rationale": WHY}  # fmt: skip
        assert "notice" not in call("edit_memory", **edit, preview=True)
        notice = call("edit_memory", **edit).get("notice", "")
        assert ("sentences next to what you replaced" in notice) is is_said
        assert ("undo_change, then append" in notice) is is_said


@pytest.mark.parametrize("own", ["", "# Yew\n\nThe Yew hut has a stove.\n"])
def test_a_client_is_the_writer_of_its_note_that_the_person_merged_into_theirs(
    call: Caller, container: Container, own: str
) -> None:
    name = "Yew" if own else "Hazel"
    (container.vault.root / f"{name}.md").write_text(own)
    container.indexing.index_written([f"{name}.md"])
    call("store_memory", title=f"{name} hut", content=f"The {name} hut sleeps ten.", rationale=WHY)
    by_person = Attribution("page", "merged on the page", kind="person")
    container.actions.merge([f"{name} hut"], name, by_person)
    page = Pages(container).get(f"/memory/{filled('{id}', container, name)}")
    assert f"{'partly ' if own else ''}written by eve, unverified" in page
    for form in ("raw", "narrative", "structured"):
        quoted = call("inject_context", query=f"How many does the {name} hut sleep?",
                      distillation_mode=form, max_tokens=900)["context"]  # fmt: skip
        part = next(each for each in quoted.split("\n\n") if f"{name} hut sleeps ten." in each)
        assert "(written by eve, unverified)" in part


def test_a_preference_is_of_the_client_that_set_it(call: Caller) -> None:
    for client, key in (("kite", "units"), ("eve", "tone"), ("kite", "paper")):
        call("set_preference", client, key=key, value="as usual", rationale=WHY)
    for client, key in (("kite", "units"), ("eve", "tone"), ("kite", "paper")):
        assert call("get_preference", key=key)["written_by"] == client


def test_a_property_that_a_client_set_as_a_preference_is_the_clients(
    container: Container, call: Caller
) -> None:
    path = "Drinks.md"
    note = "---\ntype: preference\ncoffee: black\ntea: green\n---\nHot drinks only.\n"
    (container.vault.root / path).write_text(note)
    container.indexing.index_written([path])
    call("set_preference", "kite", key="tea", value="white", rationale=WHY)
    tea, coffee = (call("get_preference", key=key) for key in ("tea", "coffee"))
    assert (tea["path"], tea["line"], tea["written_by"]) == (path, 4, "kite")
    assert (coffee["line"], coffee.get("written_by")) == (3, None)


def test_a_line_of_the_persons_is_theirs_in_a_note_to_which_a_client_added_another(
    container: Container, call: Caller
) -> None:
    (container.vault.root / "Willow.md").write_text("Willow hut is part of [[Huts]].\n")
    container.indexing.index_written(["Willow.md"])
    call("edit_memory", target="Willow.md", operation="append", content="It leaks.", rationale=WHY)
    memory = container.live.catalogue.by_path("Willow.md")
    assert memory is not None
    (found,) = [
        each
        for each in call("get_neighborhood", node_id=memory.id)["neighbors"]
        if each.get("line") == 1
    ]
    assert "written_by" not in found
