"""``python -m tests.import_circles``: fails where source files import each other in a circle.

An import inside a function counts, one for type checking alone does not.
"""

from __future__ import annotations

import sys
from graphlib import CycleError, TopologicalSorter

import grimp

PACKAGES = ("memvault", "indexer", "mcp_server")


def main() -> int:
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        sys.stderr.write("import circle: " + " imported by ".join(error.args[1]) + "\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
