"""Compares two sentences word by word."""
