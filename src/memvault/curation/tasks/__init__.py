"""Finds curation tasks, such as duplicates, contradictions and orphans, in the notes."""
