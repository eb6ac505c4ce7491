"""States in which a server refuses commands or cannot be reached: as errors, and in the log.

The log has a line when an outage begins, a line a minute while it lasts, and one line when the store is back.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from store.client.tasks import stop

LOG_SECONDS = 60.0  # between two lines about the same outage
WATCH_SECONDS = 1.0  # between two looks whether the store is back

LOST = (RedisConnectionError, RedisTimeoutError, OSError)  # of a server that could not be reached, or did not reply
TIMED_OUT = (RedisTimeoutError, TimeoutError)

log = structlog.get_logger(__name__)


class NotConnected(RedisConnectionError):
    """No connection could be opened. Nothing was sent."""


class Silent(NotConnected):
    """The server does not answer, so nothing was sent."""


class Unavailable(Exception):
    """The database cannot be reached, or cannot answer now. Commands may or may not have been executed."""

    def __init__(self, message: str, state: str = "UNREACHABLE", server: str = "") -> None:
        super().__init__(message)
        self.state = state
        self.server = server  # its URL without a password, where it is known


class CommandRefused(Unavailable):
    """The server refuses this command in its present state and answers others. A refused write changes nothing.

    A script is refused at its first write, before it has changed anything. So a script whose first write removes
    something runs to its end even when memory is used up. NOPERM is the exception: the server checks each command of
    a script when the script runs it.
    """


class Redirected(Unavailable):
    """The node does not execute this command now: another one owns the slot, or the slot is moving. Nothing changed."""


class ConnectionLost(Unavailable):
    """The node could not be reached, or did not reply. The command may have been executed."""


# By the code of the error reply.
STATES: dict[str, type[Unavailable]] = {
    **dict.fromkeys(("LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN"), Unavailable),
    **dict.fromkeys(("MOVED", "ASK", "TRYAGAIN"), Redirected),
    **dict.fromkeys(("OOM", "MISCONF", "NOREPLICAS", "READONLY", "NOPERM"), CommandRefused),
}
OUTAGES = frozenset((*STATES.values(), ConnectionLost))  # types of replies that report an outage

# Errors of a command in a script that have no code of their own, by words of their text.
_IN_SCRIPTS = {
    "ACL failure in script": "NOPERM",  # Valkey, and Redis from 7.2 on
    "The user executing the script": "NOPERM",  # Redis 7.0
    "while the cluster is down": "CLUSTERDOWN",
}
_ONLY_READS = ("only accepts read commands", "is down and readonly")  # with cluster-allow-reads-when-down


def outage(code: str, text: str, server: str = "") -> Unavailable | None:
    """Return the outage that an error reply of a server reports, None for an error of the command itself."""
    if code == "ERR":
        code = next((state for words, state in _IN_SCRIPTS.items() if words in text), code)
    kind = STATES.get(code)
    if code == "CLUSTERDOWN" and any(words in text for words in _ONLY_READS):
        kind = CommandRefused
    return kind(text, code, server) if kind else None


def lost(error: BaseException, server: str) -> ConnectionLost:
    """Return the outage of a server that could not be reached, or did not reply in time."""
    return ConnectionLost(str(error), "SILENT" if isinstance(error, (Silent, *TIMED_OUT)) else "UNREACHABLE", server)


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
