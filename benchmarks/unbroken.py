"""Clients for `restarts.py`: subscribers that resume from their last cursor, and requests that are sent once."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector, WSCloseCode, WSMsgType

from benchmarks.cuts import POST, ask

HOME = "{ homeTimeline(first: 10) { nodes { ... on Post { id text author { login } } } } }"
STREAM = """subscription($after: String) { stream(after: $after, kinds: [POST_CREATED]) { __typename
  ... on StreamEvent { cursor } ... on PostCreated { post { id } } } }"""
START = "event.0-0"  # The cursor before the first event.
POSTS_SHARE = 10  # One of so many requests is a post.
BUSY, IDLE = 0.02, 1.5  # Mean seconds between two requests of a client: most are busy, and every fifth is idle.
PATIENCE = 60  # Seconds without progress after which something counts as lost.


@dataclass(frozen=True)
class Load:
    """What the clients do, and how often the processes are replaced meanwhile."""

    requests: int
    subscriptions: int
    restarts: int
    clients: int  # that send requests


@dataclass(frozen=True)
class Entrance:
    """The addresses that clients use in turn, of the server or of proxies before it, and what they trust."""

    urls: Sequence[str]
    tls: SSLContext | bool = True

    def url(self, turn: int) -> str:
        """Return the address of one client."""
        return self.urls[turn % len(self.urls)]


@dataclass
class Outcome:
    """What the clients saw."""

    answered: int = 0
    failed: Counter[str] = field(default_factory=Counter)  # requests, by the error in place of an answer
    posts: set[str] = field(default_factory=set)
    reconnections: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # subscriptions that the server did not begin, by error
    missed: int = 0
    repeated: int = 0
    disordered: int = 0
    gaps: int = 0

    def is_perfect(self) -> bool:
        """Return whether nothing was lost, refused or repeated."""
        return not (self.failed or self.refused or self.missed or self.repeated or self.disordered or self.gaps)


@dataclass
class Subscriber:
    """A client of the site's stream that subscribes again with its last cursor."""

    url: str
    token: str
    outcome: Outcome
    cursor: str = START
    received: list[str] = field(default_factory=list)
    _has_begun: bool = False

    async def run(self, session: ClientSession, *, over_socket: bool) -> None:
        """Subscribe for ever."""
        while True:
            self._has_begun = False
            try:
                await (self._over_socket if over_socket else self._over_events)(session)
            except (ClientError, ConnectionError, TimeoutError) as error:
                if not self._has_begun:
                    self.outcome.refused[type(error).__name__] += 1
            self.outcome.reconnections += 1

    async def _over_socket(self, session: ClientSession) -> None:
        asked = {"query": STREAM, "variables": {"after": self.cursor}}
        async with session.ws_connect(f"{self.url}/graphql", protocols=["graphql-transport-ws"]) as socket:
            await socket.send_json({"type": "connection_init", "payload": {"Authorization": f"Bearer {self.token}"}})
            async for frame in socket:
                if frame.type is not WSMsgType.TEXT:
                    break
                message = frame.json()
                match message["type"]:
                    case "connection_ack":
                        self._has_begun = True
                        await socket.send_json({"id": "1", "type": "subscribe", "payload": asked})
                    case "next":
                        self._take(message["payload"])
                    case "ping":
                        await socket.send_json({"type": "pong"})
                    case "error":
                        self.outcome.refused[message["payload"][0]["extensions"]["code"]] += 1
            if not self._has_begun and socket.close_code != WSCloseCode.GOING_AWAY:
                self.outcome.refused[str(socket.close_code)] += 1

    async def _over_events(self, session: ClientSession) -> None:
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {self.token}"}
        asked = {"query": STREAM, "variables": {"after": self.cursor}}
        async with session.post(f"{self.url}/graphql", json=asked, headers=headers) as response:
            if response.status != 200:
                self.outcome.refused[str(response.status)] += 1
                return
            self._has_begun = True
            async for line in response.content:
                if line.startswith(b"data: {"):
                    self._take(json.loads(line[6:]))
                elif line.startswith(b"event: complete"):
                    return

    def _take(self, payload: dict[str, Any]) -> None:
        event = payload["data"]["stream"]
        self.cursor = event["cursor"]
        if event["__typename"] == "PostCreated":
            self.received.append(event["post"]["id"])
        else:
            self.outcome.gaps += 1


class Requests:
    """Clients that send requests on connections of their own, each request once."""

    def __init__(self, entrance: Entrance, tokens: list[str], total: int, outcome: Outcome) -> None:
        self._entrance, self._tokens, self._outcome = entrance, tokens, outcome
        self._left = iter(range(total))

    async def run(self, clients: int) -> None:
        """Send all requests."""
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(self._client(number))

    async def _client(self, number: int) -> None:
        chance, mean = random.Random(number), BUSY if number % 5 else IDLE  # noqa: S311  no secret
        connector = TCPConnector(limit=1, ssl=self._entrance.tls)
        async with ClientSession(connector=connector, timeout=ClientTimeout(PATIENCE)) as session:
            for turn in self._left:
                await self._send(session, self._entrance.url(number), turn)
                await asyncio.sleep(chance.expovariate(1 / mean))

    async def _send(self, session: ClientSession, url: str, turn: int) -> None:
        token = self._tokens[turn % len(self._tokens)]
        is_post = turn % POSTS_SHARE == 0
        try:
            answer = await ask(session, url, POST if is_post else HOME, token, {"text": f"post {turn}"})
        except (ClientError, ConnectionError, TimeoutError) as error:
            self._outcome.failed[type(error).__name__] += 1
            return
        if "errors" in answer:
            self._outcome.failed[answer["errors"][0]["extensions"]["code"]] += 1
            return
        self._outcome.answered += 1
        if is_post:
            self._outcome.posts.add(answer["data"]["post"]["status"]["id"])
