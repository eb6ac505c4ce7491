"""Windows of the clock, in which limits count: minutes, quarters of an hour, hours and days (UTC)."""

import time

MINUTE_SECONDS = 60
HOUR_SECONDS = 3_600
DAY_SECONDS = 86_400


def current(seconds: int) -> int:
    """Return the number of the present window of some length in seconds, counted since 1970."""
    return int(time.time()) // seconds


def rest(seconds: int) -> int:
    """Return the seconds until the present window of some length in seconds ends."""
    return seconds - int(time.time()) % seconds
