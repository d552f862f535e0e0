"""Measures of memories: entropy, coherence, pulse, learning state; and sessions."""
