"""How much is measured, and the Perch processes that it is measured on."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from benchmarks.versus import contenders
from benchmarks.versus.contenders import Contender
from benchmarks.versus.stage import Stage

NO_LIMIT = "1000000000"  # requests and writes are counted, as on a site, but never refused
LIMITS = ("RATE_LIMIT", "POSTS_PER_HOUR", "LIKES_PER_HOUR", "FOLLOWS_PER_HOUR")


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: members of the site, requests of a round, and rounds."""

    members: int
    requests: int
    rounds: int
    fans: tuple[int, int]  # followers of two authors, whose posts are compared
    subscribers: int
    seed: int


def perch(opened: Stage, count: int = 1, **settings: str) -> AbstractAsyncContextManager[list[Contender]]:
    """Start Perch processes with some settings; the first does the deferred work."""
    first = replace(contenders.PERCH, settings={**dict.fromkeys(LIMITS, NO_LIMIT), **settings})
    others = [replace(first, settings={**first.settings, "RUN_WORKER": "false"})] * (count - 1)
    return contenders.running(opened, [first, *others])
