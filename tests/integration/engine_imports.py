"""What an engine imports and loads: by the process that engines are forked from, and nobody else."""

from mcp_server import server
from mcp_server.engine import process, startup
from mcp_server.runtime import container
from memvault.cli import app
from memvault.text import openvino_model
from memvault.text.question_parser import question_parser

__all__ = ["app", "container", "openvino_model", "process", "server", "startup"]

parser = question_parser()
if parser is not None:
    parser.people(["Ada"])
