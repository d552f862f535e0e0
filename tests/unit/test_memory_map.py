"""Drawings of the graph: whatever notes are called, the drawing stays one."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memvault.model.search import Conflict, ConflictSide, NodeRef
from memvault.model.verification import ConflictKind
from memvault.reasoning.map_exports import MAX_CHARS, MAX_EDGES, d3, graphviz, mermaid
from memvault.reasoning.memory_map import MapEdge, MapNode, MemoryMap

HOSTILE = '"]; click n0 call x() %%{init: {}}%% <img src=x> `a` #quot; \\n style: x:#y; end'
DIRECTIVE = '%%{init: {"securityLevel": "loose"}}%%'
TEXTS = st.one_of(st.sampled_from([HOSTILE, DIRECTIVE, "ﬂ°lt¶ß", "", "a\nb\r\u2028c"]), st.text())
MERMAID_LINES = re.compile(
    r'    n\d+\["[^"]*"\]'
    r'|    n\d+ (?:-->|-\.-)\|"[^"]*"\| n\d+'
    r"|    class n\d+(?:,n\d+)* (?:memory|concept|asked|conflict)"
    r"|    linkStyle \d+(?:,\d+)* stroke:#c62828,stroke-width:3px"
    r"|    classDef [a-z]+ [a-z0-9:#, -]+"
    r"|flowchart LR"
)
DOT_STRING = r'"(?:[^"\\]|\\.)*"'
DOT_ATTRIBUTE = rf"[a-z]+=(?:{DOT_STRING}|[a-z0-9.]+)"
DOT_LINES = re.compile(
    rf"  (?:n\d+(?: -> n\d+)?|node|edge) \[{DOT_ATTRIBUTE}(?:, {DOT_ATTRIBUTE})*\];"
    r"|  rankdir=LR; overlap=false;|digraph memory \{|\}"
)


def map_of(names: list[str], relation: str) -> MemoryMap:
    nodes = [
        MapNode(f"id{at}", name, "note", "x.md" if at % 2 else None, 0.5, at == 0)
        for at, name in enumerate(names)
    ]
    ends = itertools.pairwise(nodes)
    edges = [MapEdge(a.id, b.id, relation, 0.25, 1, contested=True) for a, b in ends]
    sides = [ConflictSide(NodeRef(node.id, node.name), "", None, None) for node in nodes[:2]]
    clashes = [Conflict(ConflictKind.DIFFERENT_VALUES, relation, (sides[0], sides[-1]))]
    return MemoryMap(tuple(nodes), tuple(edges), tuple(clashes))


@given(st.lists(TEXTS, min_size=2, max_size=5), TEXTS)
def test_no_name_or_relation_breaks_out_of_a_mermaid_label(names: list[str], relation: str) -> None:
    code = mermaid(map_of(names, relation))
    lines = code.removesuffix("\n").split("\n")
    assert all(MERMAID_LINES.fullmatch(line) for line in lines), code
    assert code.splitlines() == lines
    labels = "".join(line.split('"')[1] for line in lines if '"' in line)
    assert not set(labels) & set("[]{}|<>%`\\&:=*~$@^ﬂ")
    assert re.fullmatch(r"(?:[^#;]|#\d+;)*", labels)


@given(st.lists(TEXTS, min_size=2, max_size=5), TEXTS)
def test_no_name_or_relation_breaks_out_of_a_string_of_graphviz(
    names: list[str], relation: str
) -> None:
    code = graphviz(map_of(names, relation))
    lines = code.removesuffix("\n").split("\n")
    assert all(DOT_LINES.fullmatch(line) for line in lines), code
    assert "<" not in code and ">" not in code.replace(" -> ", "")


@given(st.lists(TEXTS, min_size=2, max_size=5), TEXTS)
def test_d3_gives_every_name_as_it_is_written(names: list[str], relation: str) -> None:
    shown = json.loads(json.dumps(d3(map_of(names, relation))))
    assert [node["name"] for node in shown["nodes"]] == names
    ids = {node["id"] for node in shown["nodes"]}
    assert all({link["source"], link["target"]} <= ids for link in shown["links"])


def test_mermaid_is_given_no_more_than_it_draws() -> None:
    nodes = tuple(MapNode(f"id{at}", "<" * 60, "note", None, 0.1, False) for at in range(200))
    edges = tuple(
        MapEdge(f"id{at % 200}", f"id{at % 199}", "<" * 30, 0.1, 1, contested=at % 2 == 0)
        for at in range(600)
    )
    code = mermaid(MemoryMap(nodes, edges))
    assert 20_000 < code.count("#60;") * 4 < len(code) <= MAX_CHARS
    few = tuple(replace(node, name="mill") for node in nodes)
    short = mermaid(MemoryMap(few, tuple(replace(edge, relation="is") for edge in edges)))
    assert short.count("-->") == MAX_EDGES
