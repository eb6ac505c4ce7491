"""A subscription over any transport: on a websocket, or as an event stream by POST or GET."""

import json
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from aiohttp import web

from resolvers.process.services import Services
from serving.http.app import CONNECTIONS
from tests.support.people import Member
from tests.support.transport.feeds import Feed, wanting
from tests.support.transport.live import Stream, now, subscribed, until

SOCKET, POST, GET = "websocket", "POST", "GET"
TRANSPORTS = (SOCKET, POST, GET)
BODIES = (SOCKET, POST)  # the transports that take a long document; a URL is short


class Line(ABC):
    """One subscription, on any transport."""

    cursor = ""

    async def next(self) -> dict[str, Any]:
        """Return the next event, which must arrive."""
        payload = await self.result()
        assert "errors" not in payload, payload
        (event,) = payload["data"].values()
        self.cursor = event.get("cursor", "")
        return dict(event)

    @abstractmethod
    async def result(self) -> dict[str, Any]:
        """Return the next result, with or without errors."""

    @abstractmethod
    async def refusal(self) -> tuple[str, str]:
        """Return code and message of the one error that ends the subscription; nothing else may arrive."""

    @abstractmethod
    async def signed_out(self) -> None:
        """Wait for the end of the session as this transport signals it; nothing else may arrive."""

    @abstractmethod
    def cut(self) -> None:
        """Break the connection silently, as when the client's process is killed."""


class SocketLine(Line):
    """A subscription on a websocket of its own."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    async def result(self) -> dict[str, Any]:
        message = await self.stream.receive()
        assert message["type"] == "next", message
        return dict(message["payload"])

    async def refusal(self) -> tuple[str, str]:
        message = await self.stream.receive()
        assert message["type"] == "error", message
        return _only(message["payload"])

    async def signed_out(self) -> None:
        assert await self.stream.closed() == 4403

    def cut(self) -> None:
        _reset(cast("Any", self.stream.socket)._response.connection)  # noqa: SLF001  no other way leads to it


class FeedLine(Line):
    """A subscription as an event stream."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed

    async def result(self) -> dict[str, Any]:
        answer = await self.feed.receive()
        assert answer is not None, "the stream was completed"
        return dict(answer)

    async def refusal(self) -> tuple[str, str]:
        answer = await self.feed.receive()
        assert set(answer) == {"errors"}, answer
        await self.feed.completed()
        return _only(answer["errors"])

    async def signed_out(self) -> None:
        assert await self.feed.refused() == "UNAUTHENTICATED"

    def cut(self) -> None:
        _reset(self.feed.response.connection)


def _reset(connection: Any) -> None:
    transport = connection.transport
    # To close without lingering is to reset the connection, without a closing handshake.
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _only(errors: list[dict[str, Any]]) -> tuple[str, str]:
    (error,) = errors
    return error["extensions"]["code"], error["message"]


@asynccontextmanager
async def line(transport: str, member: Member, query: str, **variables: Any) -> AsyncIterator[Line]:
    """Subscribe over a transport, without waiting for the server to begin."""
    if transport == SOCKET:
        async with subscribed(member, query, **variables) as stream:
            yield SocketLine(stream)
        return
    asked: dict[str, Any] = {"json": {"query": query, "variables": variables}}
    if transport == GET:
        asked = {"params": {"query": query, "variables": json.dumps(variables)}}
    async with member.client.request(transport, "/graphql", headers=wanting(member.token), **asked) as response:
        yield FeedLine(Feed(response))
        response.close()


@asynccontextmanager
async def listening(
    services: Services, transport: str, member: Member, query: str, **variables: Any
) -> AsyncIterator[Line]:
    """Subscribe to the site or a home, and wait until the server delivers every event from now on."""
    before = places(services)
    variables.setdefault("after", await now(services.db))
    async with line(transport, member, query, **variables) as held:
        await until(lambda: places(services) > before)
        yield held


def places(services: Services) -> int:
    """Return the number of subscribers of the live log, to the site and to homes."""
    homes: set[Any] = set().union(*services.log._by_actor.values())  # noqa: SLF001  nobody else needs to know
    return len(services.listeners) + len(homes)


def channels(services: Services) -> set[str]:
    """Return the Pub/Sub channels that have listeners."""
    return set(services.pubsub._listeners)  # noqa: SLF001  nobody else needs to know


def connections(member: Member) -> int:
    """Return the number of a member's open websockets and event streams."""
    return len(cast("web.Application", member.client.app)[CONNECTIONS])
