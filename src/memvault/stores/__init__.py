"""The three stores: one small protocol per role, engines as adapters of it.

vectors: chunks by likeness and keyword; graph: notes, entities and typed edges;
keyvalue: the catalogue of what is indexed, preferences, sessions, counters, caches.
"""
