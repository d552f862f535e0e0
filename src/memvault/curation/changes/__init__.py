"""Changes to notes: planned, staged, applied, journalled, undone."""
