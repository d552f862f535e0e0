"""The three stores: one protocol per role, implemented by an embedded and a server engine.

vectors: chunks, searched by vector and by keyword; graph: notes, entities and typed edges;
keyvalue: the catalogue of indexed notes, preferences, sessions, counters, caches.
"""
