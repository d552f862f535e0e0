"""The live objects of an engine, its generations of indexes and its background work."""
