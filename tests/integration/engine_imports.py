"""What an engine imports and loads, and its tools: by the process that engines are forked from, and
nobody else."""

import functools
import gc

import pytest

from mcp_server import server
from mcp_server.engine import process, startup
from mcp_server.hooks.recall import HookRecall
from mcp_server.runtime import container, entity_pass, generations, indexing_service
from mcp_server.runtime.worker import give_back_memory
from memvault.cli import app
from memvault.search.times import time_translation
from memvault.text.encoders import openvino_model
from memvault.text.question_parser import question_parser
from tests.described_tools import described_once

__all__ = ["app", "container", "openvino_model", "process", "server", "startup"]

parser = question_parser()
if parser is not None:
    parser.people(["Ada"])
entity_pass.open_entity_pipeline = functools.cache(entity_pass.open_entity_pipeline)
entity_pass.open_entity_pipeline()
time_translation.warm_up()

server._tool = described_once(server._tool)
server.build_server(startup.Startup(lambda _: pytest.fail("nobody opens it")))

# Hardly any engine of the tests has hooks that need the vectors of the samples.
HookRecall.warm_up = lambda recall: None  # type: ignore[method-assign]

# Else each engine would go through all of this again and again, and copy it.
gc.collect()
gc.freeze()
generations.settle = indexing_service.settle = give_back_memory
