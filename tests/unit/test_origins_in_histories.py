"""Whatever the person and clients do to a vault, each sentence stays its writer's."""

from __future__ import annotations

from hypothesis import settings

from tests.property_examples import slow_property
from tests.unit.origin_machine import OriginMachine

TestOrigins = OriginMachine.TestCase
TestOrigins.settings = settings(slow_property(8), stateful_step_count=15)
