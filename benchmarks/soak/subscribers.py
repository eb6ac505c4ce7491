"""Subscribers on websockets and event streams, and the log that they are compared with."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from benchmarks.subscriber import QUERIES, Subscriber
from benchmarks.versus.stage import Reader
from resolvers.live.cursors import event_cursor
from resolvers.reading import global_ids
from store.client.database import Database, Unavailable
from store.events import log

RECONNECT_SECONDS = 0.1, 1.0  # shortest and longest pause: all subscribers of a process that was killed come back
SILENT_SECONDS = 60.0  # without a heartbeat
POLL_SECONDS = 1.0


def subscribers(watchers: Sequence[Reader], count: int, cursor: str) -> list[Subscriber]:
    """Return subscribers to all posts, half of them on websockets, half on event streams."""
    ways = [(query, kind) for query in QUERIES for kind in (Subscriber, EventStream)]
    made: list[Subscriber] = []
    for number in range(count):
        (name, kind), watcher = ways[number % len(ways)], watchers[number % len(watchers)]
        how = "event stream" if kind is EventStream else "websocket"
        one = kind(f"{name}, {how}", QUERIES[name], watcher.token, event_cursor(cursor))
        one.pauses = RECONNECT_SECONDS
        made.append(one)
    return made


@dataclass
class EventStream(Subscriber):
    """A subscriber on an event stream."""

    async def run(self, url: str) -> None:
        """Listen for ever."""
        timeout = ClientTimeout(total=None, sock_read=SILENT_SECONDS)
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {self.token}"}
        while True:
            body = {"query": self.query, "variables": {"after": self.cursor}}
            how = "cut"
            with contextlib.suppress(ClientError, TimeoutError):
                async with (
                    ClientSession(timeout=timeout) as self._session,
                    self._session.post(f"{url}/graphql", json=body, headers=headers) as response,
                ):
                    how = await self._read(response)
            self.ended[how] += 1
            await asyncio.sleep(random.uniform(*self.pauses))  # noqa: S311

    async def _read(self, response: ClientResponse) -> str:
        """Take events until the stream ends, and return how it did."""
        if response.content_type != "text/event-stream":
            return str(response.status)
        async for kind, data in _events(response):
            if kind != "next":
                return kind
            payload = json.loads(data)
            if "errors" in payload:
                return str(payload["errors"][0]["extensions"]["code"])
            self._take(payload)
        return "cut"


async def _events(response: ClientResponse) -> AsyncIterator[tuple[str, str]]:
    """Yield the kind and data of each complete event."""
    kind, data = "", ""
    async for line in response.content:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            data = value
        elif not name and kind:
            yield kind, data
            kind, data = "", ""


@dataclass
class PostLog:
    """The posts in the event log, in its order, read as it grows: it is trimmed at its old end."""

    db: Database
    cursor: str
    posts: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Read the log until cancelled."""
        while True:
            with contextlib.suppress(Unavailable):
                await self.catch_up()
            await asyncio.sleep(POLL_SECONDS)

    async def catch_up(self) -> None:
        """Read on to the newest event. Raises Unavailable."""
        while batch := await log.between(self.db, self.cursor):
            self.cursor = batch[-1].cursor
            posts = [global_ids.post_id(event.post, is_repost=False) for event in batch if event.kind == "post"]
            self.posts += map(sys.intern, posts)
