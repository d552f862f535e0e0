"""How fast a vault is indexed from nothing, against what the encoder alone can do.

usage: python -m tests.benchmarks.bench_indexing [--vault DIR]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from indexer.progress import Progress
from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import EmbeddingSettings, IndexSettings, Settings
from memvault.text.encoders.embedding import open_embedder
from memvault.text.units import units_of
from memvault.vault.files import Vault
from memvault.vault.parse import parse_note
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.generated_vault import generate

EVAL = Path(__file__).resolve().parents[3] / "shared" / "eval" / "locomo-dev" / "vault"


def encoder_alone(vault: Path) -> tuple[int, float]:
    """Notes, and the seconds that embedding their text takes with nothing else to do."""
    embedder = open_embedder(EmbeddingSettings(), None)
    files = Vault(vault)
    notes = [parse_note(stat.path, files.read(stat.path)) for stat in files.walk()]
    texts = [unit.text for own in units_of(notes, embedder) for unit in own]
    embedder.embed(texts[:8])
    start = time.perf_counter()
    embedder.embed(texts)
    spent = time.perf_counter() - start
    embedder.close()
    return len(notes), spent


def index(vault: Path, *, ner: bool) -> tuple[float, float]:
    """Seconds until every note is searchable, and until the entity pass is done too."""
    folder = Path(tempfile.mkdtemp())
    settings = Settings(index=IndexSettings(ner="auto" if ner else "off"))
    container = Container(vault, settings, StateFolder(folder))
    container.embedder.embed(["one text, so that the model is ready"])
    try:
        start = searched = time.perf_counter()

        def tell(progress: Progress) -> None:
            nonlocal searched
            if progress.stage == "indexing":
                searched = time.perf_counter()

        container.start(watch=False, report=tell)  # ends later, with what questions are read with
        searchable = searched - start
        container.indexing.settle(3600)
        return searchable, time.perf_counter() - start
    finally:
        container.close()
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vault", type=Path, default=EVAL if EVAL.is_dir() else None)
    given = parser.parse_args().vault
    with tempfile.TemporaryDirectory() as scratch:
        vault = Path(scratch) / "vault"
        if given:
            shutil.copytree(given, vault)
        else:
            generate(vault, 500)
        notes, alone = encoder_alone(vault)
        searchable, _ = index(vault, ner=False)
        with_ner, settled = index(vault, ner=True)
        figures = [
            Figure("encoder alone", notes / alone * 60, "notes/min"),
            Figure(
                "indexing from nothing",
                notes / searchable * 60,
                "notes/min",
                "800",
                "encoder - 10%",
            ),
            Figure("share of the encoder's rate", alone / searchable * 100, "%", "", "90"),
            Figure(
                "until searchable, with the entity pass behind it",
                notes / with_ner * 60,
                "notes/min",
            ),
            Figure(
                "entity pass, after that", notes / max(settled - with_ner, 1e-9) * 60, "notes/min"
            ),
        ]
    show("indexing", figures)


if __name__ == "__main__":
    main()
