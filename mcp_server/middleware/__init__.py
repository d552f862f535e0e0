"""What every MCP call passes through: errors, limits, tool sets, client identity, origins, the
early embedding of questions."""
