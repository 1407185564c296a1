"""Times as the API writes them: whole seconds, UTC."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)
NEVER = datetime.max.replace(tzinfo=timezone.utc)
# Nothing waits longer: beyond it the calendar ends, and a sum would raise.
LONGEST = timedelta(days=365 * 100)


def timestamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> datetime:
    """A time that cannot be read is long ago: whatever waits for it goes on."""
    try:
        read = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return LONG_AGO
    return read if read.tzinfo else read.replace(tzinfo=timezone.utc)


def after(start: datetime, pause: int | timedelta) -> datetime:
    """So much later, in seconds if it is a number; as late as the calendar goes if that is too long for it."""
    try:
        return start + min(pause if isinstance(pause, timedelta) else timedelta(seconds=pause), LONGEST)
    except OverflowError:
        return NEVER


def earliest(now: datetime, *moments: datetime | None) -> datetime | None:
    """The first of those that are still to come."""
    return min((at for at in moments if at is not None and at > now), default=None)
