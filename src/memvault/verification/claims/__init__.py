"""The claims of sentences: who or what, which attribute, which value."""
