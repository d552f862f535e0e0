"""The Cypher that Ladybug and Neo4j share. Values come as parameters only.

Every node is a ``Node`` and every edge an ``Edge``; types and relations are free text, so they are
properties. There are two ``MATCH`` clauses instead of one with a comma, which Ladybug answers with
a cross product (900 edges/s instead of 25,000). Nodes are looked up through the index (``UNWIND``).
Edges of many nodes are found faster by ``IN``, those of few nodes one by one, which Ladybug's store
does (`IN_IDS`).
"""

from __future__ import annotations

_NODE = "n.id, n.kind, n.name, n.path, n.project, n.date"
_EDGE = (
    "a.id, b.id, e.relation, e.origin, e.sentence, e.line, e.ordinal, e.weight, e.place, e.length"
)
IN_IDS = "IN $ids"
_BY_ID = "UNWIND $ids AS i MATCH (n:Node {id: i})"
_EDGES = "MATCH (a:Node)-[e:Edge]->(b:Node)"

NODES = f"{_BY_ID} RETURN {_NODE}"
PATHS = f"{_BY_ID} RETURN n.id, n.path"
ALL_NODES = f"MATCH (n:Node) RETURN {_NODE}"
COUNT_NODES = "MATCH (n:Node) RETURN count(n)"
CREATE_NODES = (
    "UNWIND $rows AS r CREATE (:Node {id: r.id, kind: r.kind, name: r.name, path: r.path,"
    " project: r.project, date: r.date})"
)
UPDATE_NODES = (
    "UNWIND $rows AS r MATCH (n:Node {id: r.id}) SET n.kind = r.kind, n.name = r.name,"
    " n.path = r.path, n.project = r.project, n.date = r.date"
)
DELETE_NODES = f"{_BY_ID} DETACH DELETE n"

ALL_EDGES = f"{_EDGES} RETURN {_EDGE}"
COUNT_EDGES = f"{_EDGES} RETURN count(e)"
EDGES_FROM = f"{_EDGES} WHERE a.id {IN_IDS} RETURN {_EDGE}"
EDGES_TO = f"{_EDGES} WHERE b.id {IN_IDS} RETURN {_EDGE}"
EDGES_BETWEEN = f"{_EDGES} WHERE a.id {IN_IDS} AND b.id {IN_IDS} RETURN {_EDGE}"
CREATE_EDGES = (
    "UNWIND $rows AS r MATCH (a:Node {id: r.source}) MATCH (b:Node {id: r.target})"
    " CREATE (a)-[:Edge {relation: r.relation, origin: r.origin, sentence: r.sentence,"
    " line: r.line, ordinal: r.ordinal, weight: r.weight, place: r.place, length: r.length}]->(b)"
)
DELETE_EDGES_FROM = f"MATCH (a:Node)-[e:Edge]->(:Node) WHERE a.id {IN_IDS} DELETE e"

NAMED_BY = f"{_EDGES} WHERE a.id {IN_IDS} AND b.path IS NULL RETURN DISTINCT b.id"
STILL_NAMED = f"{_EDGES} WHERE b.id {IN_IDS} RETURN DISTINCT b.id"
