"""Checking what memories say against what other notes say of the same."""
