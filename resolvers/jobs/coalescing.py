"""Coalescing of work that always brings something up to its newest state, so that one run serves many callers."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Turn:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0
    begun: int = 0  # runs
    succeeded: int = 0  # newest run that has


class Coalescing:
    """Runs work once at a time per subject. Callers who come while it runs share the next run."""

    def __init__(self) -> None:
        self._turns: dict[Hashable, _Turn] = {}

    async def run(self, subject: Hashable, work: Callable[[], Awaitable[object]]) -> None:
        """Return once a run that began after this call has succeeded; raises the error of the caller's own run."""
        turn = self._turns.setdefault(subject, _Turn())
        turn.callers += 1
        enough = turn.begun + 1
        try:
            async with turn.lock:
                if turn.succeeded < enough:
                    turn.begun += 1
                    run = turn.begun
                    await work()
                    turn.succeeded = run
        finally:
            turn.callers -= 1
            if not turn.callers:
                del self._turns[subject]
