"""Who wrote each sentence of a note."""
