"""What every MCP call passes through: errors, limits, tool sets, client identity."""
