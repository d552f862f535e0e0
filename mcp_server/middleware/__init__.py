"""Middleware of every MCP call: errors, limits, tool sets, client identity, origins, quarantine,
and the early embedding of questions."""
