"""Batching of an operation's reads into few round trips; the first one also runs the session check."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from resolvers.process.errors import RequestError, unavailable
from resolvers.process.session_check import SessionCheck
from store.client.caching.values import Reading
from store.client.database import Command, Database, Unavailable

QUIET_TURNS = 1  # turns of the event loop without a new read, after which the batch is sent


class Gathered(NamedTuple):
    """One batch: its commands and readings, each with the future of its caller."""

    commands: list[tuple[Sequence[Command], asyncio.Future[list[Any]]]]
    readings: list[tuple[Reading, asyncio.Future[None]]]
    synchronising: list[asyncio.Future[None]]

    def futures(self) -> list[asyncio.Future[Any]]:
        return [*(future for _, future in self.commands), *(future for _, future in self.readings), *self.synchronising]

    def end(self) -> None:
        """Complete the futures that carry no replies: the readings have already taken theirs."""
        for waits in [future for _, future in self.readings] + self.synchronising:
            if not waits.done():
                waits.set_result(None)


def sound(replies: list[Any]) -> list[Any]:
    """Return replies; raises the first error among them."""
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies


class Batcher:
    """Batches the reads of an operation: all that are requested at the same moment share one round trip.

    The first round trip also carries the session check. If the check fails, every read fails with its error, and so
    does the whole operation.
    """

    def __init__(self, db: Database, checks: SessionCheck) -> None:
        self.loop = asyncio.get_running_loop()  # stored, because getting it is a system call before Python 3.12
        self._db = db
        self._checks = checks
        self._gathered = Gathered([], [], [])
        self.is_current = False  # whether cached values are at least as new as the operation
        self.is_tracked = True  # whether the server reports changes of everything that was read
        self._writes = 0
        self._flushing = False
        self._sending: set[asyncio.Task[None]] = set()
        self._checked: asyncio.Future[None] | None = None
        self.is_checked = False  # whether the session check has passed

    @property
    def is_suspended(self) -> bool:
        """Whether the viewer is suspended; valid after the first round trip."""
        return self._checks.is_suspended

    @property
    def keeps(self) -> bool:
        """Whether the process caches what it reads."""
        return self._db.cache.is_on

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        """Return the replies to some commands, sent in one batch with those of other callers.

        Raises the first error among these replies. An error in another caller's command does not affect this one.
        """
        return sound(await self.attempt(commands))

    async def attempt(self, commands: Sequence[Command]) -> list[Any]:
        """Like `run`, but a failed command's reply is the error itself."""
        if commands:
            return await self.ask(commands)
        await self.check()
        return []

    def check(self) -> asyncio.Future[None]:
        """Return a future that is done once the session check has passed, or has the error that ends the operation."""
        return self._checked if self._checked and self._checked.done() else self.synchronise()

    def ask(self, commands: Sequence[Command]) -> asyncio.Future[list[Any]]:
        """Queue commands for the next round trip. The future has their replies, as `attempt` returns them."""
        future: asyncio.Future[list[Any]] = self.loop.create_future()
        self.is_tracked = False
        self._gathered.commands.append((commands, future))
        self._begin()
        return future

    def read(self, reading: Reading) -> asyncio.Future[None]:
        """Queue a cacheable reading for the next round trip. The future is done once the reading has its replies."""
        future: asyncio.Future[None] = self.loop.create_future()
        self._gathered.readings.append((reading, future))
        self._begin()
        return future

    def synchronise(self) -> asyncio.Future[None]:
        """Return a future that is done once the session check has passed.

        If the cache is on, cached values are then at least as new as this call.
        """
        future: asyncio.Future[None] = self.loop.create_future()
        self._gathered.synchronising.append(future)
        self._begin()
        return future

    def outdate(self) -> None:
        """Stop using cached values until the store has replied again, because something was written."""
        self._writes += 1
        self.is_current = self.is_tracked = False

    def _begin(self) -> None:
        if not self._flushing:
            self._flushing = True
            self.loop.call_soon(self._wait, 1, 0)  # the batch holds one entry: the one just queued

    def _wait(self, known: int, quiet: int) -> None:
        """Let turns of the event loop pass until nothing more is queued, then send the batch."""
        gathered = self._gathered
        count = len(gathered.commands) + len(gathered.readings) + len(gathered.synchronising)
        quiet = quiet + 1 if count == known else 0
        if quiet < QUIET_TURNS:
            self.loop.call_soon(self._wait, count, quiet)
            return
        self._gathered, self._flushing = Gathered([], [], []), False
        answered = None if gathered.commands else self._send_readings(gathered)
        if answered:
            answered.add_done_callback(partial(self._answered, gathered, self._writes))
        else:
            self._start(gathered)

    def _start(self, gathered: Gathered) -> None:
        sending = self.loop.create_task(self._flush(gathered))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    def _send_readings(self, gathered: Gathered) -> asyncio.Future[list[Any]] | None:
        """Send a batch without commands directly, unless the checks need commands. Most pages take this path."""
        readings = [reading for reading, _ in gathered.readings]
        if self._checked is None:
            readings = [*self._unchecked(), *readings]
        elif not self._checked.done():
            return None
        return self._db.begin(readings)

    def _answered(self, gathered: Gathered, writes: int, answered: asyncio.Future[list[Any]]) -> None:
        self.is_current = self._db.is_answered(answered) and writes == self._writes
        error: BaseException | None = None
        try:
            passes = self.is_current and self._passes()
        except Exception as refusal:  # noqa: BLE001  every waiting caller gets it
            passes, error = False, refusal
        if passes:
            gathered.end()
        elif error := error or self._db.silence(answered):  # sending it again would make the client wait as long again
            if self._checked is None:
                self._checked = self.loop.create_future()
                gathered.synchronising.append(self._checked)
            self._fail(gathered, self._fatal(error))
        else:
            self._start(gathered)  # the slow path gives the same result, and raises the error if there is one

    def _passes(self) -> bool:
        """Return whether the checks pass on cached values alone; raises the error of a check that fails."""
        if self._checked is None:
            if not self._checks.judge():
                return False
            self._checked = self.loop.create_future()
            self._checked.set_result(None)
            self.is_checked = True
        return self._checked.done() and self._checked.exception() is None

    def _fail(self, gathered: Gathered, error: BaseException) -> None:
        for future in gathered.futures():
            if not future.done():
                future.set_exception(error)
                future.exception()  # the caller may be cancelled: asyncio must not report it as never retrieved

    async def _flush(self, gathered: Gathered) -> None:
        try:
            commands = [command for some, _ in gathered.commands for command in some]
            replies = await self._send(commands, [one for one, _ in gathered.readings])
        except BaseException as error:  # noqa: BLE001  every waiting caller gets it
            self._fail(gathered, error)
            return
        gathered.end()
        start = 0
        for some, future in gathered.commands:
            if not future.done():
                future.set_result(replies[start : start + len(some)])
            start += len(some)

    async def _send(self, commands: list[Command], readings: list[Reading]) -> list[Any]:
        if self._checked is None:
            return await self._send_first(commands, readings)
        await self._checked
        try:
            return await self._run(commands, readings)
        except Unavailable as error:
            raise self._fatal(error) from error

    async def _run(self, commands: list[Command], readings: list[Reading]) -> list[Any]:
        if self.is_current and not readings:
            return await self._db.run(commands)
        writes = self._writes
        replies, is_current = await self._db.read(commands, readings)
        self.is_tracked &= is_current
        self.is_current = is_current and writes == self._writes
        return replies

    async def _send_first(self, commands: list[Command], readings: list[Reading]) -> list[Any]:
        checked = self._checked = self.loop.create_future()
        try:
            replies = await self._run(commands, [*self._unchecked(), *readings])
            while not self._checks.judge():
                await self._run([], self._unchecked())
        except BaseException as error:
            fatal = self._fatal(error)
            checked.set_exception(fatal)
            checked.exception()  # often no other caller waits: asyncio must not report it as never retrieved
            if fatal is error:
                raise
            raise fatal from error
        checked.set_result(None)
        self.is_checked = True
        return replies

    def _unchecked(self) -> list[Reading]:
        reading = self._checks.reading()
        return [reading] if reading else []

    def _fatal(self, error: BaseException) -> BaseException:
        """Record an error that ends the operation; return the error that every caller gets."""
        if isinstance(error, Unavailable):
            return self._checks.fail(unavailable(error))
        return self._checks.fail(error) if isinstance(error, RequestError) else error
