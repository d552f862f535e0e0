"""Automatic changes of memory: fading, learning from use, and dreams."""
