"""Bayesian networks built from the statements and relations of notes.

pgmpy does exact inference; if that would take too long, samples are drawn instead.
"""
