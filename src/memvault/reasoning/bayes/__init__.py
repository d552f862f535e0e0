"""How probable what the notes say is: Bayesian networks built from their statements and relations.

Exact inference is pgmpy's; where it would take too long, samples are drawn instead.
"""
