"""Trains the classifier of `memvault.verification.immunity` and says how well it generalises.

    python -m tests.benchmarks.train_immunity [--write]

The data comes from `immunity_texts`; ordinary sentences are also taken from the docstrings of
Python's standard library. Generalisation is measured by leaving out one kind of attack
and one kind of ordinary text at a time; the shipped weights are trained on all of them.
"""

from __future__ import annotations

import argparse
import inspect
import re
from importlib import import_module

import numpy as np
from sklearn.linear_model import LogisticRegression

from memvault.config.settings import EmbeddingSettings
from memvault.text.embedding import open_embedder
from memvault.verification.immunity import classifier
from tests.benchmarks.immunity_texts import Labelled, make_texts

SEED, PER_TEMPLATE = 7, 16
REGULARISATION = 1.0  # scikit-learn's C


MODULES = ("argparse", "asyncio", "calendar", "collections", "csv", "datetime", "decimal", "difflib", "email",
           "fractions", "ftplib", "http.client", "imaplib", "json", "logging", "mailbox", "os", "pathlib",
           "random", "re", "shutil", "smtplib", "socket", "sqlite3", "ssl", "statistics", "string",
           "subprocess", "tarfile", "tkinter", "turtle", "webbrowser", "xml.dom.minidom", "zoneinfo", "tempfile", "textwrap", "threading", "unittest", "urllib.request", "zipfile")  # fmt: skip


def docstrings() -> list[Labelled]:
    """Sentences of documentation: prose and imperatives of another kind than the templates'."""
    found: dict[str, None] = {}
    for name in MODULES:
        module = import_module(name)
        objects = [module, *(value for _, value in inspect.getmembers(module) if callable(value))]
        objects += [
            m for each in objects[1:] if inspect.isclass(each) for _, m in inspect.getmembers(each)
        ]
        for each in objects:
            text = inspect.getdoc(each) or ""
            for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n", text):
                plain = " ".join(sentence.split())
                if 25 <= len(plain) <= 250:
                    found[plain] = None
    return [Labelled(text, "documentation", False) for text in found]


def fit(vectors: np.ndarray, attack: np.ndarray) -> LogisticRegression:
    model = LogisticRegression(C=REGULARISATION, class_weight="balanced", max_iter=2_000)
    return model.fit(vectors, attack)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="replace the shipped weights")
    write = parser.parse_args().write
    made = [*make_texts(SEED, PER_TEMPLATE), *docstrings()]
    texts = list({each.text: each for each in made}.values())
    embedder = open_embedder(EmbeddingSettings(), None)
    vectors = embedder.embed([each.text for each in texts])
    embedder.close()
    attack = np.array([each.attack for each in texts])
    kinds = np.array([each.kind for each in texts])
    print(f"{len(texts)} texts, {attack.sum()} attacks")
    for kind in dict.fromkeys(kinds):
        out = kinds == kind
        model = fit(vectors[~out], attack[~out])
        logit = model.decision_function(vectors[out])
        shares = ", ".join(
            f"over {limit} {np.mean(logit > limit):.3f}" for limit in (0, 1, 2, 3, 4, 5)
        )
        print(f"{kind:16} held out, logit: {shares}")
    model = fit(vectors, attack)
    if write:
        stored = np.append(model.coef_[0], model.intercept_[0]).astype(np.float32)
        np.save(classifier._FILE, stored, allow_pickle=False)
        print(f"wrote {classifier._FILE}")


if __name__ == "__main__":
    main()
