"""The log of outages: a line when one begins, a line a minute while it lasts, and one line when the store is back."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from store.client.outages import Unavailable
from store.client.tasks import stop

LOG_SECONDS = 60.0  # between two lines about the same outage
WATCH_SECONDS = 1.0  # between two looks whether the store is back

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Outage:
    """One state of a server; lacking permissions are one state for each command."""

    state: str
    server: str  # "" if it is not known
    command: str = ""

    def facts(self) -> dict[str, str]:
        """Return what a line of the log says about it."""
        found = {"state": self.state, "server": self.server, "command": self.command}
        return {name: value for name, value in found.items() if value}


@dataclass(slots=True)
class _Count:
    """What has been seen of an outage."""

    began: float  # by the loop's clock
    errors: int = 0  # that lines of the log have counted
    unlogged: int = 0  # errors since the last line
    is_over: bool = False  # it is kept until its minute has passed: so it has at most one line a minute of each kind
    timer: asyncio.TimerHandle | None = None  # of its next line


class OutageLog:
    """Counts and logs outages. `is_back` says whether all servers answer and accept writes."""

    def __init__(self, is_back: Callable[[], Awaitable[bool]]) -> None:
        self._is_back = is_back
        self._counts: dict[Outage, _Count] = {}
        self._watching: asyncio.Task[None] | None = None

    def note(self, error: Unavailable, command: str = "") -> None:
        """Count an error. Only the name of a command is logged: arguments may be secret, and NOPERM may quote them."""
        outage = Outage(error.state, error.server, command if error.state == "NOPERM" else "")
        count = self._counts.get(outage)
        if count:
            count.unlogged += 1
            return
        reason = {} if outage.command else {"reason": str(error)}
        log.warning("store_outage", errors=1, **outage.facts(), **reason)
        count = self._counts[outage] = _Count(asyncio.get_running_loop().time(), errors=1)
        self._go_on(outage, count)

    @property
    def is_counting(self) -> bool:
        """Whether an outage is under way."""
        return bool(self._counts)

    def _go_on(self, outage: Outage, count: _Count) -> None:
        loop = asyncio.get_running_loop()
        count.timer = loop.call_later(LOG_SECONDS, self._report, outage, count)
        if self._watching is None or self._watching.done():
            self._watching = loop.create_task(self._watch(), name="watch outages")

    def _report(self, outage: Outage, count: _Count) -> None:
        """Log a minute of an outage. A permission is no longer lacking once a minute has no error."""
        if count.unlogged:
            log.warning("store_outage", errors=count.unlogged, **outage.facts())
            if count.is_over:
                count.began, count.errors, count.is_over = asyncio.get_running_loop().time(), 0, False
            count.errors, count.unlogged = count.errors + count.unlogged, 0
        elif count.is_over or outage.command:
            del self._counts[outage]
            return
        self._go_on(outage, count)

    async def _watch(self) -> None:
        """Log once that the store is back. No look at its state tells which permissions are lacking."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            watched = {one: count for one, count in self._counts.items() if not (one.command or count.is_over)}
            if not watched:
                return
            if not await self._is_back():
                continue
            now = asyncio.get_running_loop().time()
            log.warning(
                "store_back",
                states=sorted({outage.state for outage in watched}),
                seconds=round(now - min(count.began for count in watched.values()), 1),
                errors=sum(count.errors + count.unlogged for count in watched.values()),
            )
            for count in watched.values():
                count.is_over, count.unlogged = True, 0

    async def close(self) -> None:
        """Stop logging."""
        for count in self._counts.values():
            if count.timer:
                count.timer.cancel()
        await stop(self._watching)
