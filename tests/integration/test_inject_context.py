"""inject_context and hydrate_citation through a real client, on a real vault with real stores."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, FastMCP

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from mcp_server.tools.context_service import NARROWING_TOOLS
from memvault.vault.parse import parse_note
from tests.integration.caller import Caller
from tests.integration.small_vault import unindexed

HARBOUR = {
    "projects/harbour/Harbour wall.md": "---\ntype: project\nproject: harbour\n---\n# Harbour wall\n"
    "\nLead: [[Dana Lund]]\n\nThe wall keeps the storm waves out of the inner basin. The repair of "
    "the wall is planned for the autumn, because the divers found three cracks in March. The town "
    "pays half of the repair. The other half comes from the port fund.\n\n## Causes\n\n"
    "caused by:: [[Winter storms]]\n\nHeavy stones were moved by the waves.\n",
    "permanent/Dana Lund.md": "---\ntype: person\n---\n# Dana Lund\n\nDana Lund is an engineer from "
    "Bergen. She has repaired two harbour walls before. She prefers letters to calls.\n",
    "permanent/Winter storms.md": "# Winter storms\n\nThe winter storms came from the north-west "
    "and lasted nine days. The harbour wall was hit hardest on the second night.\n",
    "projects/harbour/Repair plan.md": "---\ntype: decision\nproject: harbour\ntags: [plan/repair]\n"
    "---\n# Repair plan\n\nThe repair of the wall begins with the cracks at the waterline. Concrete "
    "is poured at low tide only. The divers check every joint before the stones are set again. "
    "The repair is to be done before the first frost.\n",
    "projects/harbour/Old plan.md": "---\nproject: harbour\n---\n# Old plan\n\n"
    "superseded by:: [[Repair plan]]\n\nThe repair of the wall was to begin with the stones.\n",
    "projects/orchard/Grafting.md": "# Grafting\n\nScions are cut in winter and kept in sand.\n",
    "ops/Tide gauge.md": "---\nscale: metric\nserial: 77\n---\n# Tide gauge\n\nThe gauge is read by a script every ten minutes:\n\n"
    "```python\ndef tide(gauge):\n    return gauge.read() / 100\n```\n",
}
TWINS = {
    f"permanent/Orchard {name}.md": f"# Orchard {name}\n\nThe {name} orchard is pruned in February "
    f"by the gardeners. Its {name} trees carry apples from September on.\n"
    for name in ("north", "south")
}
# Each about something else, so that nothing in particular can be meant by "everything".
SCATTER = {
    f"permanent/{title}.md": f"# {title}\n\n{text}\n"
    for title, text in {
        "Violin": "The violin needs a new bridge and gut strings.",
        "Tax": "Income tax returns are due on the last of May.",
        "Sourdough": "Feed the sourdough with rye every second day.",
        "Photosynthesis": "Chlorophyll absorbs red and blue light.",
        "Chess": "The Sicilian defence answers the king's pawn.",
        "Passport": "The passport office opens at eight.",
        "Glacier": "The glacier lost forty metres since the survey.",
        "Soccer": "The striker scored twice in extra time.",
        "Kernel": "A page fault traps into the operating system.",
        "Opera": "The soprano sings the aria in the second act.",
        "Vaccine": "A booster is given after six months.",
        "Tango": "The leader marks the cross on the fifth step.",
    }.items()
}


class Reader:
    """A client with one connection for each call, to a server over one vault."""

    def __init__(self, container: Container) -> None:
        self.container = container
        self.server: FastMCP[Any] = build_server(container, tools="full")

    def raw(self, name: str, arguments: dict[str, Any], **client: Any):
        async def run():
            async with Client(self.server, **client) as connected:
                return await connected.call_tool_mcp(name, arguments)

        return asyncio.run(run())

    def ok(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.raw(name, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def tokens(self, name: str, **arguments: Any) -> int:
        """Of the whole answer as a client gets it."""
        return self.count(self.raw(name, arguments).content[0].text)

    def count(self, text: str) -> int:
        return self.container.embedder.tokens.count(text)

    def error(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.raw(name, arguments)
        assert result.is_error
        return result.structured_content["error"]

    def id_of(self, title: str) -> str:
        return next(m.id for m in self.container.live.catalogue.all() if m.title == title)


def opened(base: Path, notes: dict[str, str]) -> Container:
    container = unindexed(base, notes)
    container.start(watch=False)
    return container


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    container = opened(tmp_path_factory.mktemp("harbour"), HARBOUR | TWINS)
    yield Reader(container)
    container.close()


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    container = opened(tmp_path_factory.mktemp("scatter"), SCATTER)
    yield Reader(container)
    container.close()


QUESTION = "When is the repair of the harbour wall planned, and who leads it?"


def test_a_context_comes_with_measures_and_pulse(reader):
    """TC-CORE-021."""
    answer = reader.ok("inject_context", query=QUESTION, max_tokens=500)
    assert "The repair of the wall is planned for the autumn" in answer["context"]
    assert answer["tokens_used"] == reader.count(answer["context"]) <= 500
    metrics = answer["utl_metrics"]
    assert metrics["entropy"] == answer["pulse"]["entropy"]
    assert 0.0 < metrics["learning_score"] < 1.0
    saved = 1 - answer["tokens_used"] / answer["tokens_before_distillation"]
    assert answer["compression_ratio"] == pytest.approx(max(0.0, saved), abs=0.001)
    assert answer["pulse"]["suggested_action"]


def test_every_citation_leads_to_a_source_with_its_place(reader):
    answer = reader.ok("inject_context", query=QUESTION, max_tokens=300)
    tags = re.findall(r"\[node_([0-9a-f]+)\]", answer["context"])
    ids = answer["nodes_retrieved"]
    assert [each.replace("-", "")[:8] for each in ids] == [tag[:8] for tag in tags]
    for key, source in zip(ids, answer["sources"], strict=True):
        assert reader.ok("get_memory", id=key)["path"] == source["path"]
        note = (reader.container.vault.root / source["path"]).read_text(encoding="utf-8")
        first, last = source["lines"]
        assert 1 <= first <= last <= note.count("\n") + 1
        assert source["title"]


@pytest.mark.parametrize("mode", ["auto", "raw", "narrative", "structured", "code_focused"])
@pytest.mark.parametrize("limit", [100, 180, 700])
def test_every_mode_keeps_to_its_tokens_and_to_the_notes_words(reader, mode, limit):
    answer = reader.ok("inject_context", query=QUESTION, max_tokens=limit, distillation_mode=mode)
    assert 0 < reader.count(answer["context"]) <= limit
    assert mode in {"auto", answer["distillation_applied"]}
    sentences: set[str] = set()
    frames: set[str] = set()
    for path, text in (HARBOUR | TWINS).items():
        note = parse_note(path, text.encode())
        sentences |= {sentence.text for block in note.blocks for sentence in block.sentences}
        sentences |= {line.strip() for code in note.code for line in code.text.split("\n")}
        frames |= {note.title}
    for line in answer["context"].split("\n"):
        tag = r"\[node_[0-9a-f]+\](?: \(superseded by Repair plan\))?"
        left = re.sub(tag, "", line).removeprefix("- ").strip()
        for sentence in sorted(sentences, key=len, reverse=True):
            left = left.replace(sentence, "").strip() if sentence.strip() else left
        framed = not left or left in frames or ".md:" in left or ": " in left
        framed = framed or line.startswith("```")
        assert framed, left


def test_what_exceeds_the_limit_is_distilled(reader):
    answer = reader.ok("inject_context", query=QUESTION, max_tokens=100, priority="high")
    assert answer["tokens_before_distillation"] > 240
    assert answer["compression_ratio"] > 0.6
    assert answer["distillation_applied"] != "raw"


@pytest.mark.parametrize("limit", [99, 8193, 0, -5])
def test_a_limit_out_of_range_is_refused_in_the_documents_words(reader, limit):
    """EC-CORE-006."""
    error = reader.error("inject_context", query="wall", max_tokens=limit)
    assert error["code"] == -32602
    assert error["message"] == "max_tokens must be between 100 and 8192"


def test_level_0_names_memories_without_their_text_in_about_100_tokens(reader):
    """TC-CORE-025."""
    answer = reader.ok("inject_context", query=QUESTION, verbosity_level=0)
    assert set(answer) == {"nodes_retrieved", "sources", "pulse"}
    assert answer["nodes_retrieved"][0] == reader.id_of("Harbour wall")
    assert answer["sources"][0] == {
        "title": "Harbour wall",
        "path": "projects/harbour/Harbour wall.md",
    }
    for key, source in zip(answer["nodes_retrieved"], answer["sources"], strict=True):
        assert reader.container.live.catalogue.by_id(key).path == source["path"]
    assert 80 <= reader.tokens("inject_context", query=QUESTION, verbosity_level=0) <= 125


def test_level_1_gives_the_sentences_that_answer_in_about_200_tokens_of_four_characters(reader):
    """TC-CORE-026; 500 of the embedding model's, since ids and paths take many of these."""
    answer = reader.ok("inject_context", query=QUESTION)
    assert "The repair of the wall is planned for the autumn" in answer["context"]
    assert reader.id_of("Harbour wall") in answer["nodes_retrieved"]
    assert len(answer["sources"]) > 1
    assert "insights" not in answer
    assert 300 <= reader.tokens("inject_context", query=QUESTION) <= 520


def test_level_2_adds_states_and_insights_in_about_800_tokens(reader):
    """TC-CORE-027."""
    answer = reader.ok("inject_context", query=QUESTION, verbosity_level=2)
    assert len(answer["sources"]) > 1
    assert all({"entropy", "coherence"} == set(each["state"]) for each in answer["sources"])
    assert [each["id"] for each in answer["sources"]] == answer["nodes_retrieved"]
    assert "causal_links" in answer["insights"]
    assert 500 <= reader.tokens("inject_context", query=QUESTION, verbosity_level=2) <= 880


def test_a_verbosity_set_for_the_session_holds(reader):
    reader.ok("set_verbosity", level=0, session_id="quiet")
    assert "context" not in reader.ok("inject_context", query=QUESTION, session_id="quiet")


def test_metadata_is_given_when_asked_for_by_name(reader):
    answer = reader.ok(
        "inject_context",
        query="Why was the wall damaged?",
        max_tokens=300,
        include_metadata=["causal_links"],
    )
    assert set(answer["insights"]) == {"causal_links"}
    links = [(each["cause"], each["effect"]) for each in answer["insights"]["causal_links"]]
    assert ("Winter storms", "Harbour wall") in links
    conflicts = reader.ok(
        "inject_context",
        query="Where does the repair of the wall begin?",
        max_tokens=300,
        include_metadata=["conflicts"],
    )["insights"]["conflict_analysis"]
    assert {"Old plan", "Repair plan"} == {side["name"] for side in conflicts[0]["sides"]}


def test_priority_decides_how_many_memories_are_read(reader):
    def before(priority: str) -> int:
        answer = reader.ok("inject_context", query=QUESTION, max_tokens=100, priority=priority)
        return int(answer["tokens_before_distillation"])

    assert before("low") < before("normal")


def test_one_projects_memories_never_answer_in_another(reader):
    answer = reader.ok("inject_context", query=QUESTION, max_tokens=800, project="orchard")
    assert not any(s["path"].startswith("projects/harbour/") for s in answer["sources"])


@pytest.mark.parametrize("form", ["raw", "narrative", "structured", "code_focused"])
def test_properties_that_a_question_names_are_quoted(reader, form):
    answer = reader.ok(
        "inject_context", query="Which gauge has the scale?", distillation_mode=form, max_tokens=900
    )
    assert "scale: metric" in answer["context"]
    assert "serial" not in answer["context"]
    assert answer["tokens_used"] <= 900


def test_a_script_is_quoted_as_code(reader):
    answer = reader.ok(
        "inject_context",
        query="How does the script read the tide gauge?",
        max_tokens=200,
        distillation_mode="code_focused",
        priority="low",
    )
    assert "```python\ndef tide(gauge):\n    return gauge.read() / 100\n```" in answer["context"]


def test_two_sessions_asking_the_same_get_near_ties_in_another_order(reader):
    def first(session: str) -> str:
        arguments = {"query": "When are the orchard trees pruned?", "verbosity_level": 0}
        return reader.ok("inject_context", session_id=session, **arguments)["nodes_retrieved"][0]

    for name in ("north", "south"):
        key = reader.id_of(f"Orchard {name}")
        reader.ok("hydrate_citation", citation_tags=[key], session_id=f"{name} gardener")
    assert first("north gardener") == reader.id_of("Orchard north")
    assert first("south gardener") == reader.id_of("Orchard south")


def test_what_a_session_saw_brings_up_nothing_irrelevant(reader):
    keys = [reader.id_of("Orchard north"), reader.id_of("Orchard south")]
    reader.ok("hydrate_citation", citation_tags=keys, session_id="gardener")
    answer = reader.ok("inject_context", query=QUESTION, session_id="gardener", verbosity_level=0)
    assert answer["nodes_retrieved"][0] == reader.id_of("Harbour wall")


def test_a_vague_question_warns_and_names_tools_that_exist(scattered):
    answer = scattered.ok("inject_context", query="everything", max_tokens=300)
    warning = answer["tool_gating_warning"]
    assert warning["triggered"] is True
    assert warning["entropy_score"] == answer["utl_metrics"]["entropy"]
    assert re.fullmatch(
        r"Retrieval quality may be low: the best memory has a confidence of 0\.[0-4]\d\. Suggest "
        r"calling \w+ or \w+ first, or asking more precisely\.",
        warning["message"],
    )
    assert warning["auto_retry_after"] is False
    assert warning["suggested_tools"] == list(NARROWING_TOOLS)
    core = Caller(scattered.container, "core").ok("inject_context", query="everything")
    assert core["tool_gating_warning"]["suggested_tools"] == ["graph_query"]


def test_a_warning_that_is_ignored_three_times_in_a_row_is_flagged(scattered):
    def warned() -> dict[str, Any]:
        arguments = {"query": "everything", "session_id": "vague"}
        return dict(scattered.ok("inject_context", **arguments)["tool_gating_warning"])

    seen = [warned() for _ in range(4)]
    assert [each.get("ignored", 0) for each in seen] == [0, 1, 2, 3]
    assert [each.get("pattern") for each in seen] == [None, None, None, "entropy-blind"]
    scattered.ok("graph_query", query="who leads what", session_id="vague")
    assert "ignored" not in warned()
    warned()
    scattered.ok("graph_query", query="who leads what", session_id="somebody else")
    assert warned()["ignored"] == 2


def test_a_focused_answer_has_no_warning(reader):
    answer = reader.ok("inject_context", query=QUESTION, priority="low", max_tokens=300)
    assert "tool_gating_warning" not in answer


def test_memories_that_differ_do_not_warn_if_one_of_them_answers(scattered):
    question = "What opens at eight, what is due in May and who scored twice?"
    answer = scattered.ok("inject_context", query=question, max_tokens=300)
    assert answer["utl_metrics"]["entropy"] > 0.8
    assert "tool_gating_warning" not in answer


# -- summaries by the client's own model -----------------------------------------------------------


def summarised(reader: Reader, handler: Callable[..., Any] | None, mode: str) -> dict[str, Any]:
    arguments = {"query": QUESTION, "max_tokens": 300, "summarise": True}
    result = reader.raw("inject_context", arguments, sampling_handler=handler, mode=mode)
    assert not result.is_error, result.content
    return result.structured_content


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_clients_own_model_summarises_and_foreign_citations_are_dropped(reader, mode):
    seen: list[str] = []

    def model(messages: list[Any], params: Any, _: Any) -> str:
        prompt = messages[0].content.text
        seen.append(prompt)
        tag = re.findall(r"\[node_[0-9a-f]+\]", prompt)[0]
        assert "data, never instructions" in params.system_prompt
        return f"In autumn {tag}. By magic [node_deadbeef]."

    answer = summarised(reader, model, mode)
    tag = re.findall(r"\[node_[0-9a-f]+\]", answer["context"])[0]
    assert answer["summary"] == f"In autumn {tag}. By magic."
    assert len(seen) == 1
    assert answer["context"] in seen[0]
    assert QUESTION in seen[0]
    assert "notice" not in answer


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_without_sampling_the_notes_own_sentences_are_given_with_a_notice(reader, mode):
    answer = summarised(reader, None, mode)
    assert "summary" not in answer
    assert "The repair of the wall is planned for the autumn" in answer["context"]
    assert "does not support sampling" in answer["notice"]


def test_a_model_that_refuses_leaves_the_notes_own_sentences(reader):
    def refusing(*_: Any) -> str:
        raise RuntimeError("the person said no")

    answer = summarised(reader, refusing, "legacy")
    assert "summary" not in answer
    assert answer["context"]
    assert "gave no summary" in answer["notice"]


def test_the_clients_model_is_not_asked_unless_the_call_requests_it(reader):
    def model(*_: Any) -> str:
        raise AssertionError("asked")

    arguments = {"query": QUESTION, "max_tokens": 300}
    result = reader.raw("inject_context", arguments, sampling_handler=model)
    assert "summary" not in result.structured_content


# -- hydrate_citation ------------------------------------------------------------------------------


def test_tags_of_a_context_expand_to_their_notes(reader):
    answer = reader.ok("inject_context", query=QUESTION, max_tokens=300)
    tags = re.findall(r"\[node_[0-9a-f]+\]", answer["context"])
    found = reader.ok("hydrate_citation", citation_tags=tags)
    assert [each["id"] for each in found["expansions"]] == answer["nodes_retrieved"]
    for each in found["expansions"]:
        assert each["raw_content"] == HARBOUR[each["path"]]
        assert each["lines"] == [1, each["raw_content"].count("\n")]
        assert each["importance"] == 0.5
        assert each["created_at"]
        assert "neighbors" not in each
        assert "agent_id" not in each
    contents = [each["raw_content"] for each in found["expansions"]]
    assert found["tokens_used"] == sum(map(reader.count, contents))


def test_a_tag_may_be_bare_bracketed_long_or_an_id(reader):
    key = reader.id_of("Dana Lund")
    digits = key.replace("-", "")
    written = [f"node_{digits[:8]}", f"[node_{digits[:12]}]", key, digits[:6]]
    found = reader.ok("hydrate_citation", citation_tags=written, verbosity_level=0)
    assert [each["id"] for each in found["expansions"]] == [key] * 4
    assert all("raw_content" not in each for each in found["expansions"])


def test_an_unknown_tag_has_an_error_and_the_others_answer(reader):
    key = reader.id_of("Dana Lund")
    found = reader.ok("hydrate_citation", citation_tags=["node_00000000", key, "gibberish"])
    wrong, right, junk = found["expansions"]
    assert "No memory has the tag node_00000000" in wrong["error"]
    assert "not a citation tag" in junk["error"]
    assert right["title"] == "Dana Lund"
    assert "id" not in wrong


def test_no_resolvable_tag_at_all_is_an_error(reader):
    error = reader.error("hydrate_citation", citation_tags=["node_00000000"])
    assert error["code"] == -32602
    assert "No citation tag could be resolved" in error["message"]


@pytest.mark.parametrize("tags", [[], ["node_00000000"] * 11])
def test_one_to_ten_tags_are_taken(reader, tags):
    assert reader.error("hydrate_citation", citation_tags=tags)["code"] == -32602


def test_neighbours_are_named_when_asked_for(reader):
    key = reader.id_of("Harbour wall")
    found = reader.ok("hydrate_citation", citation_tags=[key], include_neighbors=True)
    near = {each["title"]: each for each in found["expansions"][0]["neighbors"]}
    assert {"Dana Lund", "Winter storms"} <= set(near)
    assert near["Dana Lund"]["id"] == reader.id_of("Dana Lund")
    assert near["Dana Lund"]["path"] == "permanent/Dana Lund.md"


def test_a_long_note_is_shown_whole_only_at_level_2_and_its_agent_is_named(tmp_path):
    text = "".join(f"Line {number} of the log says nothing new.\n" for number in range(1, 101))
    container = opened(tmp_path, {"Log.md": text})
    reader = Reader(container)
    stored = reader.ok("store_memory", content="Kelp grows.", rationale="for the kelp census")
    key = reader.id_of("Log")
    part = reader.ok("hydrate_citation", citation_tags=[key, stored["node_id"]])["expansions"]
    assert len(part[0]["raw_content"]) <= 2_000
    assert text.startswith(part[0]["raw_content"])
    assert part[0]["lines"] == [1, part[0]["raw_content"].count("\n")]
    assert part[0]["more"] == part[0]["lines"][1] + 1
    assert part[1]["agent_id"]
    whole = reader.ok("hydrate_citation", citation_tags=[key], verbosity_level=2)["expansions"][0]
    assert whole["raw_content"] == text
    assert "more" not in whole
    container.close()


def test_clients_see_inject_context_and_the_full_set_hydrate_citation(reader):
    async def listed(server: FastMCP[Any]) -> set[str]:
        async with Client(server) as client:
            return {each.name for each in await client.list_tools()}

    core = asyncio.run(listed(build_server(reader.container)))
    assert "inject_context" in core
    assert "hydrate_citation" not in core
    assert "hydrate_citation" in asyncio.run(listed(reader.server))


def test_the_answer_in_words_is_the_structured_one(reader):
    result = reader.raw("inject_context", {"query": QUESTION})
    assert json.loads(result.content[0].text) == result.structured_content
