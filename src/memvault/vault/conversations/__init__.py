"""Conversations that a person had elsewhere, read from the exports of ChatGPT and Claude."""
