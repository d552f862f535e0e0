"""Reads conversations from the exports of ChatGPT, Claude and Gemini."""
