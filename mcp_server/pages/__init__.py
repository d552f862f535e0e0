"""The web pages: what the memory holds, who put it there, and setting it right by hand."""
