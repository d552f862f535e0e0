"""Middleware of every MCP call: errors, limits, tool sets, client identity, origins, and the early
embedding of questions."""
