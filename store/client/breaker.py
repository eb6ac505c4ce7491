"""A circuit breaker: once a server has left a command unanswered, others fail at once until it has answered a probe."""

import asyncio
from collections.abc import Awaitable, Callable

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from store.client.tasks import stop

PROBE_SECONDS = 2.0  # How long a probe waits. Then another connection is tried: the network may have dropped the first.
PAUSE_SECONDS = 0.1  # Between two probes.
TIMED_OUT = (RedisTimeoutError, TimeoutError)


class NotConnected(RedisConnectionError):
    """No connection could be opened. Nothing was sent."""


class Silent(NotConnected):
    """The server does not answer, so nothing was sent."""


class CircuitBreaker:
    """The state of one server. `probe` opens a connection and has a command answered; `server` is its name."""

    def __init__(self, server: str, probe: Callable[[], Awaitable[None]]) -> None:
        self.server = server
        self.is_open = False  # whether commands fail at once
        self._probe = probe
        self._since = 0.0  # when it was opened, by the loop's clock
        self._probing: asyncio.Task[None] | None = None

    @property
    def silence(self) -> float:
        """For how long commands have failed at once, s."""
        return asyncio.get_running_loop().time() - self._since if self.is_open else 0.0

    def check(self) -> None:
        """Raise Silent while the server has not answered."""
        if self.is_open:
            raise Silent(f"{self.server} does not answer")

    def open(self) -> None:
        """Make commands fail at once, and begin to probe: the server has left one unanswered."""
        if not self.is_open:
            loop = asyncio.get_running_loop()
            self.is_open, self._since = True, loop.time()
            self._probing = loop.create_task(self._run(), name="probe")

    async def _run(self) -> None:
        """Probe until the server answers. A refused connection is an answer, too: the next command fails at once."""
        while not await self._is_answered():  # noqa: ASYNC110  a server that answers again sets no event
            await asyncio.sleep(PAUSE_SECONDS)
        self.is_open = False

    async def _is_answered(self) -> bool:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await self._probe()
        except (Silent, *TIMED_OUT):
            return False
        except (RedisConnectionError, OSError):
            pass
        return True

    async def close(self) -> None:
        """Stop probing."""
        await stop(self._probing)
