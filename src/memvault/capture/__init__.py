"""From a client's transcript to a session note: read, redact, extract, write."""
