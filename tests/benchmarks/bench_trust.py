"""Trust: what clients can raise to verified or bring out unmarked, and what is still confirmed.

    python -m tests.benchmarks.bench_trust [--attempts 400]

Every way of `trust_attempts` plants claims on money, law and policy; each is then asked for with
every tool, the prompt, the hooks and the pages. The confirmations are claims of a client that the person states in other
words in a note of their own.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from mcp_server.runtime.container import Container
from tests.benchmarks.figures import Figure, percentile, show, timed
from tests.benchmarks.trust_attempts import (
    ATTEMPTS,
    CLAIMS,
    ORDER,
    WHY,
    Caller,
    filled,
    opened,
    unmarked,
)

PLANTED = 50
# What the person writes in a note on the subject, as a line or as a sentence, by claim.
_OWN_WORDS = (
    ("Budget: {n} EUR", "The budget is {n} EUR."),
    ("Lease ends: {d} March 2031", "The lease ends on {d} March 2031."),
    ("Refund policy: {n} days", "The refund policy allows {n} days."),
    ("Salary: {n} EUR a month", "The salary is {n} EUR a month."),
)


def attempted(call: Caller, container: Container, base: Path, count: int) -> tuple[int, int]:
    """How many of the attempts came out unmarked, and how many memories are verified then."""
    leaks = 0
    for k in range(count):
        way, claim = ATTEMPTS[k % len(ATTEMPTS)], CLAIMS[k // len(ATTEMPTS) % len(CLAIMS)]
        query, subject, sentence, value = filled(claim, k)
        way(call, container, subject, sentence, base)
        leaking = unmarked(call, query, value, container, subject)
        leaks += bool(leaking)
        if leaking:
            print(way.__name__, sentence, leaking)
    return leaks, sum(memory.verified for memory in container.live.catalogue.all())


def confirmed(call: Caller, container: Container) -> int:
    """Of planted claims that the person states, too, how many are found to be confirmed."""
    found = 0
    for k in range(PLANTED):
        kind, form = k % len(_OWN_WORDS), k // len(_OWN_WORDS) % 2
        query, subject, sentence, _ = filled(CLAIMS[1 + kind], 1_000 + k)
        _, _, own, _ = filled(("", "", _OWN_WORDS[kind][form], ""), 1_000 + k)
        name = subject.split()[-1]
        path = container.vault.root / f"{name}.md"
        path.write_text(f"# {name}\n\n{own}\n", encoding="utf-8")
        container.indexing.index_written([path.name])
        stored = call("store_memory", content=sentence, title=f"Claim {k}", rationale=WHY)
        nodes = call("recall_memory", "other", query=query)["nodes"]
        claim = next((each for each in nodes if each["id"] == stored["node_id"]), {})
        found += claim.get("verified") is True
        if not claim.get("verified"):
            print("not confirmed:", sentence, "|", own)
    return found


def quarantined(call: Caller, container: Container) -> list[float]:
    """Milliseconds from the detection of an order to its quarantine."""
    stored = [call("store_memory", content=f"{ORDER} {k}", title=f"Order {k}", rationale=WHY)
              for k in range(20)]  # fmt: skip
    guarded = container.guarded
    return [
        ms for each in stored for ms in timed(lambda at=each["path"]: guarded.held_at(at), 1, 0)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=400)
    count = parser.parse_args().attempts
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as container:
        call = Caller(container)
        leaks, raised = attempted(call, container, Path(folder), count)
        waited = quarantined(call, container)
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as container:
        found = confirmed(Caller(container), container)
    note = f"of {count} attempts"
    show("trust", [
        Figure("claims of clients raised to verified", raised, "", "0", "0", note),
        Figure("critical claims that left unmarked", leaks, "", "0", "0", note),
        Figure("true confirmations found", 100 * found / PLANTED, "%", "90", "98", f"of {PLANTED}"),
        Figure("quarantine after detection, p95", percentile(waited, 0.95), "ms", "50", "10"),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
