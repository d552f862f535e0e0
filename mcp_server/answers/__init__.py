"""Typed answers of the tools, so that clients know the shape of an answer in advance.

Empty fields are left out, because every field costs a model tokens.
"""
