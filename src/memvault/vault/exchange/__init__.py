"""Conversations in, everything out."""
