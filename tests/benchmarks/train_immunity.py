"""Trains the classifier of `memvault.verification.immunity` and says how well it generalises.

    python -m tests.benchmarks.train_immunity [--write]

The data comes from `immunity_texts`; ordinary sentences are also taken from the docstrings of
Python's standard library, the descriptions of installed packages and memvault's own documents.
Generalisation is measured on kinds that are held out; the shipped weights are trained on all.
"""

from __future__ import annotations

import argparse
import inspect
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module, metadata
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from memvault.config.settings import EmbeddingSettings
from memvault.text.encoders.embedding import open_embedder
from memvault.verification.immunity import classifier
from memvault.verification.immunity.folding import fold
from tests.benchmarks.immunity_texts import Labelled, make_texts

SEED, PER_TEMPLATE = 7, 12
REGULARISATION = 1.0  # scikit-learn's C
MAX_DOCUMENTED = 4_000  # sentences of each source of documentation
PERMISSIVE = ("MIT", "BSD", "Apache")
WORD_WEIGHT = 0.3  # of a word, where a vector has length 1
FOLDS = 8  # in which kinds are held out
FALSE_ALARMS = (0.005, 0.01, 0.02, 0.05)


ROOT = Path(__file__).parents[2]
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
            found |= dict.fromkeys(_sentences(text))
    return _sampled(found, "documentation")


def descriptions() -> list[Labelled]:
    """Sentences of the descriptions of installed packages with a permissive licence."""
    found: dict[str, None] = {}
    for package in sorted(metadata.distributions(), key=lambda each: each.name):
        known = package.metadata
        licence = [known.get("License"), known.get("License-Expression")]
        licence += known.get_all("Classifier") or []
        if any(name in each for each in licence if each for name in PERMISSIVE):
            text = str(known.get_payload() or known.get("Description") or "")
            text = re.sub(r"```.*?```|<[^>]*>|\[!\[[^\n]*", " ", text, flags=re.DOTALL)
            found |= dict.fromkeys(_sentences(text))
    return _sampled(found, "description")


def own_documents() -> list[Labelled]:
    """Sentences of memvault's own documents, which speak of memories, models and clients."""
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "vault_template").rglob("*.md")]  # fmt: skip
    found = (each for file in files for each in _sentences(file.read_text(encoding="utf-8")))
    return _sampled(dict.fromkeys(found), "own documents")


def _sentences(text: str) -> Iterator[str]:
    for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n|\n\s*[-*|#>]", text):
        plain = " ".join(sentence.split())
        if 25 <= len(plain) <= 250:
            yield plain


def _sampled(found: Iterable[str], kind: str) -> list[Labelled]:
    texts = sorted(found)
    random.Random(SEED).shuffle(texts)
    return [Labelled(text, kind, False) for text in texts[:MAX_DOCUMENTED]]


def features(texts: Sequence[str], vectors: np.ndarray) -> csr_matrix:
    """The vectors, and one column for each bucket of words."""
    found = [classifier.buckets(fold(text).text) for text in texts]
    rows = np.repeat(np.arange(len(texts)), [len(each) for each in found])
    columns = np.concatenate([np.array(each, np.int64) for each in found])
    weights = np.full(len(rows), WORD_WEIGHT)
    words = csr_matrix((weights, (rows, columns)), shape=(len(texts), classifier.BUCKETS))
    return hstack([csr_matrix(vectors), words]).tocsr()


def fit(rows: csr_matrix, attack: np.ndarray) -> LogisticRegression:
    model = LogisticRegression(C=REGULARISATION, class_weight="balanced", max_iter=400)
    return model.fit(rows, attack)


def held_out(rows: csr_matrix, attack: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """The log-odds of each text by a model that saw no text of its kind."""
    names = sorted(set(kinds))
    random.Random(SEED).shuffle(names)
    logits = np.zeros(len(attack))
    for fold_ in range(FOLDS):
        out = np.isin(kinds, names[fold_::FOLDS])
        logits[out] = fit(rows[~out], attack[~out]).decision_function(rows[out])
    return logits


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="replace the shipped weights")
    write = parser.parse_args().write
    made = [*make_texts(SEED, PER_TEMPLATE), *docstrings(), *descriptions(), *own_documents()]
    texts = list({each.text: each for each in made}.values())
    embedder = open_embedder(EmbeddingSettings(), None)
    vectors = embedder.embed([each.text for each in texts])
    embedder.close()
    attack = np.array([each.attack for each in texts])
    kinds = np.array([f"{each.attack} {each.kind}" for each in texts])
    rows = features([each.text for each in texts], vectors)
    print(f"{len(texts)} sentences, {attack.sum()} of attacks, {len(set(kinds))} kinds")
    logits = held_out(rows, attack, kinds)
    for share in FALSE_ALARMS:
        limit = np.quantile(logits[~attack], 1 - share)
        caught = np.mean(logits[attack] > limit)
        print(f"kinds held out: {share:.1%} false alarms over {limit:.2f}, {caught:.1%} caught")
    if write:
        model = fit(rows, attack)
        weights = model.coef_[0].copy()
        weights[classifier.DIMENSION :] *= WORD_WEIGHT
        stored = np.append(weights, model.intercept_[0]).astype(np.float16)
        np.save(classifier._FILE, stored, allow_pickle=False)
        print(f"wrote {classifier._FILE}")


if __name__ == "__main__":
    main()
