"""Reading a question, and walking the graph along the relations that it names."""
