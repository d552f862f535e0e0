"""Whatever a hostile client does, its claims are marked, and all of the person's words are kept."""

from __future__ import annotations

from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.integration.hostile_client import HostileClient
from tests.property_examples import slow_property

# A step takes a tenth of a second: too slow to look for a shorter failing sequence.
QUICK = settings(slow_property(2), stateful_step_count=12, phases=[Phase.generate])


def test_no_sequence_of_calls_hides_a_writer_or_loses_a_word() -> None:
    run_state_machine_as_test(HostileClient, settings=QUICK)
