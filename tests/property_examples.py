"""How many examples Hypothesis draws for the slow properties."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings


def slow_property(few: int) -> settings:
    """These few examples, the same in every run; MEMVAULT_EXAMPLES=500 draws 500 others."""
    many = os.environ.get("MEMVAULT_EXAMPLES")
    return settings(
        max_examples=int(many or few),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=many is None,
        database=None,
    )
