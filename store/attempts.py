"""Attempts: how often somebody has tried something, and whose turn it is to try again."""

from __future__ import annotations

import time
from collections.abc import Sequence

from store import keys
from store.client.database import CommandRefused, Database

WINDOW_SECONDS = 900  # log-in attempts are counted per quarter of an hour
HOUR_SECONDS = 3600
TURNS_KEPT = 1_000  # turns of one identifier: when all are given out, nobody gets one until some are used or too old
_MINUTE_MS = 60_000

Subject = tuple[str, str]  # what kind of attempts are counted, and whose


async def count(db: Database, subjects: Sequence[Subject], seconds: int) -> list[int]:
    """Count an attempt for each subject in its running window; returns how many each has. One round trip.

    While the store refuses to count, the process does.
    """
    counted = [_key(subject, seconds) for subject in subjects]
    commands = [command for key in counted for command in (("INCR", key), ("EXPIRE", key, seconds, "NX"))]
    try:
        replies = await db.ask(*commands)
    except CommandRefused:
        return [db.counts.add(key) for key in counted]
    return [int(count) for count in replies[::2]]


async def forget(db: Database, subjects: Sequence[Subject], seconds: int) -> None:
    """Forget the attempts of the running window, after one that succeeded."""
    await db.ask(*(("DEL", _key(subject, seconds)) for subject in subjects))


def rest_of_window(seconds: int) -> int:
    """Return after how many seconds the running window ends."""
    return seconds - int(time.time()) % seconds


async def take_turn(db: Database, identifier: str, network: str) -> int:
    """Take the turn of a network to try an identifier; returns 0, or after how many seconds it comes.

    A network that has no turn gets one: after the wait that everybody has, and after all turns given out before.
    """
    settings = db.settings
    now = time.time_ns() // 1_000_000
    apart = _MINUTE_MS // settings.log_in_turns_per_minute
    args = [network, now, settings.log_in_wait_seconds * 1000, apart, WINDOW_SECONDS * 1000, TURNS_KEPT]
    wait = int(await db.call("take_turn", [keys.log_in_turns(identifier)], *args))
    return -(-wait // 1000)


def _key(subject: Subject, seconds: int) -> str:
    kind, whose = subject
    return keys.attempts(kind, whose, int(time.time()) // seconds)
