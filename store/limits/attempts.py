"""Rate limits: counts of requests and of attempts to log in or sign up, and turns to try an identifier again."""

import time
from collections.abc import Sequence

from store import keys
from store.client.database import Command, CommandRefused, Database
from store.limits import windows
from store.limits.windows import MINUTE_SECONDS

WINDOW_SECONDS = 900  # log-in attempts are counted per quarter of an hour
TURNS_KEPT = 1_000  # turns of one identifier; once all are given out, a new one waits until some are used or expire
_MINUTE_MS = MINUTE_SECONDS * 1000

Subject = tuple[str, str]  # kind of attempts that are counted, and whose attempts they are


async def count(db: Database, subjects: Sequence[Subject], seconds: int, by: int = 1) -> list[int]:
    """Count an attempt for each subject in the current window; returns the count of each. One round trip.

    `by` is what one attempt counts, such as its bytes.

    While the server refuses to count, the process counts in memory.
    """
    counted = [_key(subject, seconds) for subject in subjects]
    commands = [command for key in counted for command in (("INCRBY", key, by), ("EXPIRE", key, seconds, "NX"))]
    try:
        replies = await db.ask(*commands)
    except CommandRefused:
        return [db.counts.add(key, by) for key in counted]
    return [int(count) for count in replies[::2]]


def request_count(member: int | None, address: str, minute: int) -> str:
    """Return the name under which a member's requests, or those of an address, are counted in one minute."""
    return keys.address_rate(address, minute) if member is None else keys.rate(member, minute)


def count_request_commands(name: str, seconds: int) -> list[Command]:
    """Return the commands that count a request under a name, and forget the count after some seconds."""
    return [("INCR", name), ("EXPIRE", name, seconds)]


async def forget(db: Database, subjects: Sequence[Subject], seconds: int) -> None:
    """Reset the counts of the current window, after an attempt that succeeded."""
    await db.ask(*(("DEL", _key(subject, seconds)) for subject in subjects))


async def take_turn(db: Database, identifier: str, network: str) -> int:
    """Use a network's turn to try an identifier; returns 0, or the seconds until the turn begins.

    A network without a turn gets one. It begins after the wait that applies to all, and after all earlier turns.
    """
    settings = db.settings
    wait = await db.call(
        "take_turn",
        turns=keys.log_in_turns(identifier),
        network=network,
        now=time.time_ns() // 1_000_000,
        least_wait=settings.log_in_wait_seconds * 1000,
        interval=_MINUTE_MS // settings.log_in_turns_per_minute,
        lifetime=WINDOW_SECONDS * 1000,
        max_turns=TURNS_KEPT,
    )
    return -(-int(wait) // 1000)


def _key(subject: Subject, seconds: int) -> str:
    kind, whose = subject
    return keys.attempts(kind, whose, windows.current(seconds))
