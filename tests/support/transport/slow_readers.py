"""Slow subscribers, whose operation goes on only when the test reads from it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from graphql import GraphQLError
from strawberry.http import process_result
from strawberry.types.execution import ExecutionResult

from resolvers.operation.context import Context
from resolvers.process.services import Services
from schema.execution.encoding import encode
from schema.execution.operations import Schema
from schema.execution.parameters import Parameters
from serving.streaming.deliver import deliver
from store.events import log
from store.events.reader import Subscriber
from tests.support.people import Member
from tests.support.transport.live import HOME, Held, fetched, followers, now, until


class SlowReader:
    """One subscription whose client takes a message only on demand; of a home, it keeps the fetched state.

    It replaces a connection: as long as nobody reads, the server's side of the operation waits to send.
    """

    def __init__(self, services: Services, member: Member, held: Held | None = None) -> None:
        self.held = held
        self.messages: list[dict[str, Any]] = []
        self.gaps = 0
        self.errors: list[object] = []
        self._services = services
        self._member = member
        self._member = member
        self._wanted = 0
        self._has_more = False  # whether the server waits to send
        self._reads = asyncio.Event()
        self._place: Subscriber | None = None
        self._operation: asyncio.Task[None] | None = None

    # ------------------------------------------------------------ called by the server

    async def send_next(self, result: ExecutionResult) -> None:
        """Take one message when the client reads, and apply it; after a gap, refetch."""
        self._has_more = True
        while not self._wanted:
            self._reads.clear()
            await self._reads.wait()
        self._has_more = False
        self.errors += result.errors or []
        (event,) = json.loads(encode(process_result(result)))["data"].values()
        self.messages.append(event)
        if event["__typename"] == "StreamGap":
            self.gaps += 1
            self.held = self.held and await self.fetched()
        elif self.held:
            self.held.take(event)
        self._wanted -= 1

    async def send_initial_errors(self, errors: list[GraphQLError]) -> None:
        """Note the errors that end a subscription."""
        self.errors += errors

    async def send_complete(self) -> None:
        """Note the end, which must not happen."""
        self.errors.append("complete")

    # ------------------------------------------------------------ called by the test

    async def begin(self, schema: Schema, query: str, **variables: Any) -> None:
        """Subscribe, and wait until the server has subscribed the client."""
        claims = self._services.tokens.read(self._member.token or "")
        context = Context(self._services, claims, address="::1", user_agent="", request_id="slow", socket=True)
        before = self._places
        self._operation = asyncio.create_task(deliver(self, schema, Parameters(query, None, variables, None), context))
        await until(lambda: self._has_ended or self._places - before)
        (self._place,) = self._places - before

    async def read(self, most: int) -> None:
        """Take so many messages, or fewer if the server has sent all events; the next one is then rendered."""
        newest = await log.newest(self._services.db)
        await until(lambda: _place(self._services.log.cursor) >= _place(newest))
        self._wanted = most
        self._reads.set()
        await until(lambda: (self._has_more and not self._wanted) or self._is_idle or self._has_ended)
        assert not self.errors, [getattr(e, "original_error", e) for e in self.errors]
        self._wanted = 0

    async def catch_up(self) -> None:
        """Take all messages that there are."""
        while True:
            before = len(self.messages)
            await self.read(1_000)
            if len(self.messages) == before:
                return

    async def fetched(self) -> Held:
        """Return the stored home."""
        return await fetched(self._member)

    async def end(self) -> None:
        """End the subscription."""
        assert self._operation
        self._operation.cancel()
        await asyncio.wait({self._operation})

    @property
    def _places(self) -> set[Subscriber]:
        """Return the live log's subscribers to the member's events or to the whole site."""
        wanted = self._services.listeners._wanted  # noqa: SLF001  nobody else needs to know
        return followers(self._services, self._member) | set(wanted)

    @property
    def _has_ended(self) -> bool:
        return self._operation is not None and self._operation.done()

    @property
    def _is_idle(self) -> bool:
        waiting = self._place._waiting if self._place else None  # noqa: SLF001  nobody else needs to know
        return waiting is not None and not waiting.done()  # the server waits for the next event


def _place(cursor: str) -> tuple[int, ...]:
    """Return a cursor of the log in a form that can be compared."""
    return tuple(map(int, cursor.split("-")))


@asynccontextmanager
async def slow_reader(
    services: Services, schema: Schema, member: Member, query: str = HOME
) -> AsyncIterator[SlowReader]:
    """Subscribe to events from now on; for a home, fetch it first."""
    after = await now(services.db)
    reader = SlowReader(services, member, await fetched(member) if query == HOME else None)
    await reader.begin(schema, query, after=after)
    try:
        yield reader
    finally:
        await reader.end()
