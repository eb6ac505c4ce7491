"""Gathers the look-ups of an operation into few round trips; the first one proves who asks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from resolvers.operation.errors import RequestError, unavailable
from store.client.cache import Reading
from store.client.database import Command, Database, Unavailable

QUIET_TURNS = 1  # turns of the event loop without a new look-up, after which those gathered are sent


class Checks(Protocol):
    """What the first round trip has to prove."""

    def counting(self) -> list[Command]:
        """Return the commands that count the request."""

    def reading(self) -> Reading | None:
        """Return what has to be read; None where it is kept."""

    def judge(self, counted: Sequence[Any]) -> bool:
        """Raise the RequestError that was found; False where what was kept has changed, and is to be read."""

    def fail(self, error: RequestError) -> RequestError:
        """Note the error that ends the operation, and return the first one noted."""


class Gathered(NamedTuple):
    """What leaves together, each with the future of who waits for it."""

    commands: list[tuple[Sequence[Command], asyncio.Future[list[Any]]]]
    readings: list[tuple[Reading, asyncio.Future[None]]]
    synchronising: list[asyncio.Future[None]]

    def futures(self) -> list[asyncio.Future[Any]]:
        return [*(future for _, future in self.commands), *(future for _, future in self.readings), *self.synchronising]

    def end(self) -> None:
        """Have those go on who wait for no replies: what was read was taken."""
        for waits in (*(future for _, future in self.readings), *self.synchronising):
            if not waits.done():
                waits.set_result(None)


class Batcher:
    """Gathers the look-ups of an operation: all that are asked for in the same moment leave in one round trip.

    The first round trip also carries the checks of the context. Where one of them fails, every look-up fails with
    that error, and so the whole operation does.
    """

    def __init__(self, db: Database, checks: Checks) -> None:
        self.loop = asyncio.get_running_loop()  # kept: asking for it is a system call before Python 3.12
        self._db = db
        self._checks = checks
        self._gathered = Gathered([], [], [])
        self.is_current = False  # whether what the process keeps is at least as new as the operation
        self._writes = 0
        self._flushing = False
        self._sending: set[asyncio.Task[None]] = set()
        self._checked: asyncio.Future[None] | None = None

    @property
    def keeps(self) -> bool:
        """Whether the process keeps what is read."""
        return self._db.cache.is_on

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        """Return the replies to some commands, sent together with those of everybody who asks now.

        Raises the first error among them; one among those of somebody else costs only them.
        """
        replies = await self.attempt(commands)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    async def attempt(self, commands: Sequence[Command]) -> list[Any]:
        """Like `run`, but a failed command's reply is the error itself."""
        if commands:
            return await self.ask(commands)
        if self._checked is None or not self._checked.done():
            await self.synchronise()
        else:
            self._checked.result()
        return []

    def ask(self, commands: Sequence[Command]) -> asyncio.Future[list[Any]]:
        """Have some commands sent with the next round trip; the future has their replies, as `attempt` returns them."""
        future: asyncio.Future[list[Any]] = self.loop.create_future()
        self._gathered.commands.append((commands, future))
        self._begin()
        return future

    def read(self, reading: Reading) -> asyncio.Future[None]:
        """Have something read with the next round trip that may be kept; the future is done once it was taken."""
        future: asyncio.Future[None] = self.loop.create_future()
        self._gathered.readings.append((reading, future))
        self._begin()
        return future

    def synchronise(self) -> asyncio.Future[None]:
        """Return a future that is done once the checks are passed, and what the process keeps is as new as this call.

        The latter only where it keeps anything.
        """
        future: asyncio.Future[None] = self.loop.create_future()
        self._gathered.synchronising.append(future)
        self._begin()
        return future

    def outdate(self) -> None:
        """Have nothing taken from what is kept until the store has been asked again: something was written."""
        self._writes += 1
        self.is_current = False

    def _begin(self) -> None:
        if not self._flushing:
            self._flushing = True
            self.loop.call_soon(self._wait, 1, 0)  # what begins it is known

    def _wait(self, known: int, quiet: int) -> None:
        """Let turns of the event loop pass until nothing more is asked for, then send."""
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
        """Send what has no commands in it at once, where the checks need none either: so for most pages."""
        if self._checked is None:
            has_to_ask = bool(self._checks.counting() or self._checks.reading())
        else:
            has_to_ask = not self._checked.done()
        return None if has_to_ask else self._db.begin([reading for reading, _ in gathered.readings])

    def _answered(self, gathered: Gathered, writes: int, answered: asyncio.Future[list[Any]]) -> None:
        self.is_current = self._db.is_answered(answered) and writes == self._writes
        if self.is_current and self._passes():
            gathered.end()
        else:
            self._start(gathered)  # which comes to the same, and says what it is

    def _passes(self) -> bool:
        """Return whether the checks are passed, as far as can be told by what is kept."""
        if self._checked is None:
            try:
                if not self._checks.judge(()):
                    return False
            except Exception:  # noqa: BLE001  raised again where it is handed to who waits
                return False
            self._checked = self.loop.create_future()
            self._checked.set_result(None)
        return self._checked.done() and self._checked.exception() is None

    async def _flush(self, gathered: Gathered) -> None:
        try:
            commands = [command for some, _ in gathered.commands for command in some]
            replies = await self._send(commands, [one for one, _ in gathered.readings])
        except BaseException as error:  # noqa: BLE001  handed to everybody who waits
            for future in gathered.futures():
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # whoever waited may be gone
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
        self.is_current = is_current and writes == self._writes
        return replies

    async def _send_first(self, commands: list[Command], readings: list[Reading]) -> list[Any]:
        checked = self._checked = self.loop.create_future()
        counting = self._checks.counting()
        try:
            replies = await self._run([*counting, *commands], [*self._unchecked(), *readings])
            while not self._checks.judge(replies[: len(counting)]):
                await self._run([], self._unchecked())
        except BaseException as error:
            fatal = self._fatal(error)
            checked.set_exception(fatal)
            checked.exception()  # often nobody else waits
            if fatal is error:
                raise
            raise fatal from error
        checked.set_result(None)
        return replies[len(counting) :]

    def _unchecked(self) -> list[Reading]:
        reading = self._checks.reading()
        return [reading] if reading else []

    def _fatal(self, error: BaseException) -> BaseException:
        """Note an error that ends the operation; return the one that everybody gets."""
        if isinstance(error, Unavailable):
            return self._checks.fail(unavailable(error))
        return self._checks.fail(error) if isinstance(error, RequestError) else error
