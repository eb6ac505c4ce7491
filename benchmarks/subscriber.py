"""A client of subscriptions that resumes from its last cursor, for `cuts.py`."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, WSMsgType

PAUSES = 0.05, 0.05  # shortest and longest time before it reconnects, s
EVENT = "__typename ... on StreamEvent { cursor }"
QUERIES = {
    "stream": f"subscription($after: String) {{ stream(after: $after, kinds: [POST_CREATED]) {{ {EVENT} "
    "... on PostCreated { post { id text } } } }",
    "homeTimeline": f"subscription($after: String) {{ homeTimeline(after: $after) {{ {EVENT} "
    "... on TimelineEntryPut { edge { node { ... on Post { id text } } } } } }",
}


@dataclass
class Subscriber:
    """A client that resumes from its last cursor whenever either side has ended its connection."""

    name: str
    query: str
    token: str
    cursor: str
    breaks: int = 0  # connections that it broke itself
    ended: Counter[str] = field(default_factory=Counter)  # connections that the server ended, by error or close code
    gaps: int = 0
    received: list[str] = field(default_factory=list)
    pauses: tuple[float, float] = PAUSES
    _session: ClientSession | None = None

    async def run(self, url: str) -> None:
        """Listen for ever."""
        while True:
            with contextlib.suppress(ClientError, TypeError):  # a handshake during an outage, or a truncated frame
                async with (
                    ClientSession() as self._session,
                    self._session.ws_connect(f"{url}/graphql", protocols=["graphql-transport-ws"]) as socket,
                ):
                    await self._listen(socket)
            await asyncio.sleep(random.uniform(*self.pauses))  # noqa: S311

    async def leave(self) -> None:
        """Break the connection without a closing handshake."""
        if self._session and not self._session.closed and self._session.connector:
            self.breaks += 1
            await self._session.connector.close()

    async def _listen(self, socket: ClientWebSocketResponse) -> None:
        breaks, message = self.breaks, dict[str, Any]()
        await socket.send_json({"type": "connection_init", "payload": {"Authorization": f"Bearer {self.token}"}})
        payload = {"query": self.query, "variables": {"after": self.cursor}}
        async for frame in socket:
            message = frame.json() if frame.type is WSMsgType.TEXT else {}
            match message.get("type"):
                case "connection_ack":
                    await socket.send_json({"id": "1", "type": "subscribe", "payload": payload})
                case "ping":
                    await socket.send_json({"type": "pong"})
                case "next":
                    self._take(message["payload"])
                case _:
                    break
        if self.breaks == breaks:
            code = message["payload"][0]["extensions"]["code"] if message.get("type") == "error" else socket.close_code
            self.ended[str(code)] += 1

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

    def row(self, wanted: list[str]) -> list[object]:
        """Return a table row about it, once all wanted posts have been made."""
        missing, repeated = set(wanted) - set(self.received), len(self.received) - len(set(self.received))
        in_order = "yes" if self.received == wanted else "NO"
        return [
            self.name,
            len(self.received),
            len(missing),
            repeated,
            self.gaps,
            in_order,
            self.breaks,
            dict(self.ended),
        ]
