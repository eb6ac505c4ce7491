"""Subscribers that resume from their last cursor, and the log that they are compared with."""

import asyncio
import contextlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any, NamedTuple

from aiohttp import (
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    ClientWebSocketResponse,
    TCPConnector,
    WSCloseCode,
    WSMsgType,
)

from benchmarks.clients import PAUSE
from resolvers.live.cursors import event_cursor
from resolvers.reading import global_ids
from store.client.database import Database, Unavailable
from store.events import log

PATIENCE = 60  # s without progress after which something counts as lost
SILENT_SECONDS = 60.0  # without a heartbeat
PAUSES = 0.05, 0.05  # shortest and longest time before it reconnects, s
FIRST = event_cursor("0-0")  # the cursor before the first event
POLL_SECONDS = 1.0  # between two looks at the log
EVENT = "__typename ... on StreamEvent { cursor }"
QUERIES = {
    "stream": f"subscription($after: String) {{ stream(after: $after, kinds: [POST_CREATED]) {{ {EVENT} "
    "... on PostCreated { post { id text } } } }",
    "homeTimeline": f"subscription($after: String) {{ homeTimeline(after: $after) {{ {EVENT} "
    "... on TimelineEntryPut { edge { node { ... on Post { id text } } } } } }",
}


@dataclass
class SubscribedClient:
    """A client on a websocket that resumes from its last cursor whenever either side has ended its connection."""

    name: str
    query: str
    token: str
    cursor: str = FIRST
    breaks: int = 0  # connections that it broke itself
    ended: Counter[str] = field(default_factory=Counter)  # connections that the server ended, by error or close code
    refused: Counter[str] = field(default_factory=Counter)  # those of them that had not begun, but for 1001
    gaps: int = 0
    received: list[str] = field(default_factory=list)
    pauses: tuple[float, float] = PAUSES
    _session: ClientSession | None = None
    _has_begun: bool = False

    async def run(self, url: str, tls: SSLContext | bool = True) -> None:
        """Listen for ever."""
        timeout = ClientTimeout(total=None, sock_read=SILENT_SECONDS)
        while True:
            breaks, self._has_begun = self.breaks, False
            try:
                async with ClientSession(connector=TCPConnector(ssl=tls), timeout=timeout) as self._session:
                    how = await self._listen(self._session, f"{url}/graphql")
            except (ClientError, ConnectionError, TimeoutError, TypeError) as error:  # the last by a truncated frame
                how = type(error).__name__
            if self.breaks == breaks:
                self.ended[how] += 1
                self.refused[how] += not self._has_begun and how != str(WSCloseCode.GOING_AWAY.value)
            await asyncio.sleep(random.uniform(*self.pauses))  # noqa: S311

    async def leave(self) -> None:
        """Break the connection without a closing handshake."""
        if self._session and not self._session.closed and self._session.connector:
            self.breaks += 1
            await self._session.connector.close()

    async def _listen(self, session: ClientSession, url: str) -> str:
        """Take events until the connection ends; returns how it did."""
        async with session.ws_connect(url, protocols=["graphql-transport-ws"]) as socket:
            return await self._speak(socket)

    async def _speak(self, socket: ClientWebSocketResponse) -> str:
        await socket.send_json({"type": "connection_init", "payload": {"Authorization": f"Bearer {self.token}"}})
        async for frame in socket:
            message = frame.json() if frame.type is WSMsgType.TEXT else {}
            match message.get("type"):
                case "connection_ack":
                    self._has_begun = True
                    await socket.send_json({"id": "1", "type": "subscribe", "payload": self._asked()})
                case "ping":
                    await socket.send_json({"type": "pong"})
                case "next":
                    self._take(message["payload"])
                case "error":
                    return str(message["payload"][0]["extensions"]["code"])
                case _:
                    break
        return str(socket.close_code)

    def _asked(self) -> dict[str, Any]:
        return {"query": self.query, "variables": {"after": self.cursor}}

    def _take(self, payload: dict[str, Any]) -> None:
        (event,) = payload["data"].values()
        self.cursor = event["cursor"]
        match event["__typename"]:
            case "PostCreated":
                self.received.append(sys.intern(event["post"]["id"]))  # many subscribers get it
            case "TimelineEntryPut":
                self.received.append(sys.intern(event["edge"]["node"]["id"]))
            case "StreamGap":
                self.gaps += 1
            case _:
                self.received.append("something else")


@dataclass
class EventStreamClient(SubscribedClient):
    """The same on an event stream."""

    async def _listen(self, session: ClientSession, url: str) -> str:
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {self.token}"}
        async with session.post(url, json=self._asked(), headers=headers) as response:
            if response.content_type != "text/event-stream" or response.status != 200:
                return str(response.status)
            self._has_begun = True
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


async def until_received(subscribers: Sequence[SubscribedClient], count: int) -> None:
    """Wait until all subscribers have got this many posts, or no more arrive."""
    received, since = -1, time.monotonic()
    while any(len(s.received) < count for s in subscribers) and time.monotonic() - since < PATIENCE:
        now = sum(len(s.received) for s in subscribers)
        received, since = now, time.monotonic() if now != received else since
        await asyncio.sleep(PAUSE)


class Losses(NamedTuple):
    """What went wrong for subscribers: counts of events, and of subscribers that got them in another order."""

    missed: int
    repeated: int
    gaps: int
    disordered: int


def losses(subscribers: Sequence[SubscribedClient], posts: Collection[str], order: Sequence[str]) -> Losses:
    """Return what subscribers missed of some posts, and who did not get them in this order."""
    wanted = set(posts)
    return Losses(
        sum(len(wanted - set(one.received)) for one in subscribers),
        sum(len(one.received) - len(set(one.received)) for one in subscribers),
        sum(one.gaps for one in subscribers),
        sum(one.received != order for one in subscribers),
    )


def rows(subscribers: Sequence[SubscribedClient], wanted: Sequence[str]) -> list[list[str]]:
    """Return table rows about subscribers of one name each, once all wanted posts have been made."""
    lines = []
    for name in dict.fromkeys(one.name for one in subscribers):
        those = [one for one in subscribers if one.name == name]
        events, broken = sum(len(one.received) for one in those), sum(one.breaks for one in those)
        ended = sum((one.ended for one in those), Counter[str]())
        counts = [len(those), events, *losses(those, wanted, wanted), broken]
        lines.append([name, *(f"{count:,}" for count in counts), str(dict(ended))])
    return lines


HEAD = ["", "subscribers", "events", "missed", "repeated", "gaps", "not in order", "broken by them", "ended for them"]
