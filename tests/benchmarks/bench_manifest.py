"""``manifest.md`` of a large vault: writing it, previewing a person's edits, applying them.

``python -m tests.benchmarks.bench_manifest [--notes N] [--keep DIR]``

Each note links to four things that have no note, so there are five concepts a note. Also the time
that a map takes (visualize://), as the resource draws it, without the protocol.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

from mcp_server.engine.startup import Startup
from mcp_server.resources.visualize import VisualResources
from mcp_server.runtime.container import Container
from mcp_server.tools.toolbox import Toolbox
from memvault.curation.changes.plan import Attribution
from tests.benchmarks.figures import Figure, median, percentile, show, timed
from tests.benchmarks.measured_vaults import opened, parser_for

NAMED = 4  # things without a note that each note links to
DELETED, MERGED, ANNOTATED = 40, 5, 10  # concepts, of each what a person might do in a sitting
SOUNDS = ("ba", "de", "fi", "go", "ku", "la", "mo", "ne", "pi", "ra", "so", "tu", "va", "xe", "zo")


def words(number: int) -> str:
    """A name that no other number has."""
    sounds = []
    for _ in range(5):
        number, rest = divmod(number, len(SOUNDS))
        sounds.append(SOUNDS[rest])
    return "".join(sounds).capitalize()


def write_notes(vault: Path, count: int) -> None:
    for number in range(count):
        links = (f"[[{words(count + number * NAMED + each)}]]" for each in range(NAMED))
        folder = vault / f"part {number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"Here {', '.join(links)} meet, as [[{words((number * 7) % count)}]] says.\n"
        (folder / f"{words(number)}.md").write_text(text, encoding="utf-8")


def edit(manifest: Path, count: int) -> None:
    """What a person might do to the list."""
    dice = random.Random(3)
    names = [words(number) for number in dice.sample(range(count), DELETED // 2 + MERGED * 2)]
    merged, deleted = names[: MERGED * 2], names[MERGED * 2 :]
    deleted += [words(count + number) for number in range(DELETED // 2)]
    gone = {f"- {name}" for name in deleted}
    lines = [
        line
        for line in manifest.read_text(encoding="utf-8").splitlines()
        if line.split(" · ")[0] not in gone
    ]
    lines += [f"[MERGE: {merged[n]}, {merged[n + 1]}]" for n in range(0, MERGED * 2, 2)]
    lines += [f"[NOTE: {merged[n]}] seen again" for n in range(min(ANNOTATED, len(merged)))]
    manifest.write_text("\n".join([*lines, ""]), encoding="utf-8")


def measure(container: Container) -> list[Figure]:
    keeper, count = container.manifest, len(container.live.catalogue)
    container.live.similarity_index.load()
    container.live.graph_view.load()
    concepts = len(keeper.concepts())
    writing = timed(keeper.write, 3, warm_up=0)
    edit(container.vault.root / "manifest.md", count)
    previews = timed(keeper.preview, 5, warm_up=0)
    changes = len(keeper.preview().edits)
    began = time.perf_counter()
    container.manifest.apply(Attribution("", "a benchmark", kind="person"), confirm=True)
    applying = (time.perf_counter() - began) * 1e3
    box = Toolbox(Startup.of(container))
    resources = VisualResources(box)
    ids = random.Random(5).choices([memory.id for memory in container.live.catalogue.all()], k=200)
    nodes = iter(ids)

    def draw() -> object:
        drawn = resources.map("node", next(nodes), depth="3")
        return json.loads(str(drawn.contents[0].content))

    draws = timed(draw, 100)
    return [
        Figure("concepts", concepts, ""),
        Figure("manifest written", median(writing), "ms"),
        Figure(f"preview of {changes} changes", max(previews), "ms", "2000"),
        Figure("applied and indexed", applying, "ms"),
        Figure("map of 60 nodes, depth 3, p95", percentile(draws, 0.95), "ms"),
    ]


def main() -> None:
    arguments = parser_for(4_000, __doc__).parse_args()
    with opened(arguments.notes, arguments.keep, write_notes) as container:
        container.start(watch=False)
        show("manifest", measure(container))


if __name__ == "__main__":
    main()
