"""Turns a client's transcript into a session note: reads, redacts, extracts, writes."""
