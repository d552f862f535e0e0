"""The engine's part in clients' hooks: give memories, and capture sessions."""
