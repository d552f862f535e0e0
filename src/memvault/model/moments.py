"""Moments in UTC, as days, and as text."""

from __future__ import annotations

from datetime import UTC, date, datetime


def in_utc(moment: datetime) -> datetime:
    """A moment without a time zone is taken as UTC, and so is one at the ends of the calendar."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)


def iso_utc(value: datetime) -> str:
    """The time as ``2026-03-01T10:20:30Z``, in UTC."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day_of(value: datetime) -> date:
    """The day of a moment where this computer is."""
    return value.astimezone().date()
