"""Reads conversations from the exports of ChatGPT and Claude."""
