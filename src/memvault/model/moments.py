"""Moments in UTC, as days, and as text."""

from __future__ import annotations

from datetime import UTC, date, datetime


def in_utc(moment: datetime) -> datetime:
    """The moment in UTC; one without a time zone, or at the ends of the calendar, counts as UTC."""
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
    """The day of a moment in local time."""
    return value.astimezone().date()
