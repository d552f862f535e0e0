"""What follows an answered change ends soon when the engine does."""

from __future__ import annotations

import threading
import time

import pytest

from indexer.deferred_work import Finishing
from indexer.indexer import Indexer


def test_what_is_asked_for_while_something_is_finished_does_not_hold_up_the_end(
    indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def finish_some() -> bool:
        begun.set()
        return go_on.wait(10)

    monkeypatch.setattr(indexer, "finish_some", finish_some)
    finishing = Finishing(lambda: indexer)
    finishing.soon()
    assert begun.wait(10)
    finishing.soon()
    finishing.ask_to_stop()
    go_on.set()
    start = time.monotonic()
    finishing.stop(10.0)
    assert time.monotonic() - start < 5.0
    assert finishing.wait(0.0)
