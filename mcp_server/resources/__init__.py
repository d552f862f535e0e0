"""MCP resources and their subscriptions."""
