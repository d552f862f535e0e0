"""What the tools give: typed, so that clients know the shape of an answer in advance.

What has nothing to say is left out, for every field costs a model tokens.
"""
