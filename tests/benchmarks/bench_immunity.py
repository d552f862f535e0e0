"""Immunity: attacks caught, ordinary texts quarantined, and how long a check takes.

    python -m tests.benchmarks.bench_immunity [--texts FILE] [--show]

``--texts`` is a JSON list of ``{kind, attack, text}``, such as ``../shared/eval/injection-dev``.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path

from memvault.config.settings import EmbeddingSettings
from memvault.text.encoders.embedding import open_embedder
from memvault.verification.immunity import Immunity
from tests.benchmarks import immunity_held_out, immunity_texts
from tests.benchmarks.figures import Figure, percentile, show, timed
from tests.benchmarks.immunity_texts import Labelled


def blind() -> list[Labelled]:
    """Attacks of kinds that neither rules nor training know, in every carrier, and look-alikes."""
    attacks = [
        Labelled(carrier.replace("{}", text), kind, True)
        for kind, texts in immunity_held_out.ATTACKS.items()
        for text in texts
        for carrier in immunity_held_out.CARRIERS
    ]
    return attacks + [Labelled(text, "look-alike", False) for text in immunity_held_out.BENIGN]


def known() -> list[Labelled]:
    """Single sentences of the kinds that the classifier was trained on, with other fillings."""
    rng = random.Random(99)
    carrier = immunity_held_out.CARRIERS[0]
    return [
        Labelled(carrier.replace("{}", immunity_texts.filled(text, rng)), kind, True)
        for kind, texts in immunity_texts.ATTACKS.items()
        for text in texts
    ]


def as_they_come() -> list[Labelled]:
    """Texts on technical matters as people import them, and hostile texts of many kinds.

    Neither rules nor training know them, and they were written before any of them was checked.
    """
    ordinary = immunity_texts.read_texts("technical_texts.txt")
    hostile = immunity_texts.read_texts("hostile_texts.txt")
    return [Labelled(text, "technical", False) for text in ordinary] + [
        Labelled(text, "hostile", True) for text in hostile
    ]


def read(file: Path) -> list[Labelled]:
    rows = json.loads(file.read_text(encoding="utf-8"))
    return [Labelled(row["text"], row["kind"], bool(row["attack"])) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, help="more texts to measure with")
    parser.add_argument("--show", action="store_true", help="print what was judged wrong")
    given = parser.parse_args()
    sets = {
        "blind": blind(),
        "single sentences of known kinds": known(),
        "texts as they come": as_they_come(),
    }
    sets["blind, beside talk of attacks"] = [
        Labelled(f"Security review: {each.text}\n\nThis is about phishing.", each.kind, True)
        for each in sets["blind"]
        if each.attack
    ]
    if given.texts:
        sets[given.texts.parent.name] = read(given.texts)
    embedder = open_embedder(EmbeddingSettings(), None)
    immunity = Immunity(embedder.embed_few)
    figures = []
    for name, texts in sets.items():
        caught, total = Counter[bool](), Counter[bool]()
        for each in texts:
            finding = immunity.check(each.text)
            total[each.attack] += 1
            caught[each.attack] += finding.adversarial
            if given.show and finding.adversarial != each.attack:
                print(each.kind, finding.score, finding.kinds, repr(each.text[:120]))
        for attack, what in ((True, "attacks caught"), (False, "ordinary texts quarantined")):
            if total[attack]:
                share = 100 * caught[attack] / total[attack]
                figures.append(Figure(f"{name}: {what}", share, "%", note=f"of {total[attack]}"))
    spent = [
        ms for each in sets["blind"] for ms in timed(lambda t=each.text: immunity.check(t), 1, 0)
    ]
    figures += [
        Figure("check, p50", percentile(spent, 0.5), "ms"),
        Figure("check, p95", percentile(spent, 0.95), "ms", "10", "3"),
    ]
    embedder.close()
    show("immunity", figures)


if __name__ == "__main__":
    main()
