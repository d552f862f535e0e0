"""What a tiny engine imports: by the process that tiny engines are forked from, and nobody else."""

import fastmcp.server

from mcp_server.engine import process
from mcp_server.middleware import client_identity

__all__ = ["client_identity", "fastmcp", "process"]
