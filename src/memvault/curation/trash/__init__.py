"""Forgetting and restoring notes and concepts."""
