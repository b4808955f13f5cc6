"""Format money, points in time and durations for people."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

_HOUR = timedelta(hours=1)


def money(amount: Decimal, currency: str) -> str:
    """Format an amount with its currency."""
    return f"{amount:,.2f} {currency}"


def moment(value: datetime | str | None) -> str:
    """Format a moment in its own time zone; name UTC, and return a text unchanged."""
    if not isinstance(value, datetime):
        return value or ""
    return f"{value:%a %d %b %Y %H:%M}{' UTC' if value.tzname() == 'UTC' else ''}"


def departure_time(value: datetime) -> str:
    """Format a departure without the year."""
    return f"{value:%a %d %b %H:%M}"


def time_of(value: datetime, on: datetime) -> str:
    """Format the time of day, and how many days after `on` it is."""
    days = (value.date() - on.date()).days
    return f"{value:%H:%M}" + (f" +{days}" if days else "")


def duration(value: timedelta) -> str:
    """Format a time span as hours and minutes."""
    hours, rest = divmod(value, _HOUR)
    return f"{hours}:{rest // timedelta(minutes=1):02}"


def count(number: int, one: str) -> str:
    """Return a number with its noun, in the singular or the plural."""
    return f"{number} {one}" if number == 1 else f"{number} {one}s"
