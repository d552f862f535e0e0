"""Reasoning over notes: causes, generality, conflicts, probabilities, plans and critique."""
