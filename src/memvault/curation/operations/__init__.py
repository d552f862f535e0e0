"""Operations on memories: each function stages its edits; none changes a note."""
