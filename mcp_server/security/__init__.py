"""Access control of the engine."""
