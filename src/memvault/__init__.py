"""memvault: a person's Obsidian vault as the memory of every AI they use.

Importing this package switches off what its dependencies report, check or look up on the network,
in this process and in those that it starts.
"""

import os
import sys

__version__ = "0.1.0"

# OpenVINO contacts an analytics host through this package, on by default, and writes a client id
# into the home folder. Where the package cannot be imported, it uses an inert one of its own.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
os.environ |= {
    "DO_NOT_TRACK": "1",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
}
