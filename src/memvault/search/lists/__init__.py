"""Lists of notes, for questions that properties, tasks, types or times answer."""
