"""Curation tasks: found in what the notes say, never invented."""
