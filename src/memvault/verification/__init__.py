"""Checks the claims of memories against those of other notes."""
