"""What the engine does for clients' hooks: give memories, and capture sessions."""
