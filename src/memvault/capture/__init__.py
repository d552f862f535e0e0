"""A client's session: its transcript as a note, and what hooks quote to it from notes."""
