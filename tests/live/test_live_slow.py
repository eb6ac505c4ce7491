"""Slow clients: no event that was already checked for them waits in the process."""

import array
import asyncio
import fcntl
import json
import socket
import termios
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, cast

import pytest
from aiohttp import ClientSession, TCPConnector

from resolvers.process.services import Services
from serving.streaming.room import UNSENT_BYTES
from tests.support.people import Member
from tests.support.transport.feeds import Feed, following
from tests.support.transport.live import HOME, NOTIFICATIONS, Stream, begun, now, subscribed, until
from tests.support.transport.site_live import OWN_STREAM, SAMPLE, STREAM
from tests.support.transport.transports import POST, SOCKET, FeedLine, Line, SocketLine, listening, places

POSTS = 80  # Posts by the author before the block.
OPERATIONS = 10  # Operations of each of two kinds on one socket.
RECEIVE_BUFFER = 2_048  # Bytes that the kernel buffers for a client that does not read. Linux doubles them.
TEXT = "@bob " + "a post that is as long as most of them are, and says no more than that " * 3
QUERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "homeTimeline": (HOME, {}),
    "stream": (STREAM, {}),
    "stream, rendered for each": (OWN_STREAM, {}),
    "sample": (SAMPLE, {"percent": 100}),
    "notifications": (NOTIFICATIONS, {}),
}


class SlowLine:
    """A subscription of a client with a small receive buffer, which reads only on demand."""

    def __init__(self, line: Line, transport: asyncio.Transport) -> None:
        self.line = line
        self._transport = transport

    def pause(self) -> None:
        self._transport.pause_reading()

    def read_on(self) -> None:
        self._transport.resume_reading()

    @property
    def address(self) -> Any:
        return self._transport.get_extra_info("sockname")[:2]

    @property
    def unread(self) -> int:
        """The number of bytes in the client's kernel buffer."""
        return queued(self._transport, termios.FIONREAD)


def queued(transport: asyncio.Transport, which: int) -> int:
    found = array.array("i", [0])
    fcntl.ioctl(transport.get_extra_info("socket").fileno(), which, found)
    return found[0]


def _small(address: Any) -> socket.socket:
    made = socket.socket(address[0], address[1], address[2])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    return made


@asynccontextmanager
async def slow(services: Services, transport: str, member: Member, query: str, **asked: Any) -> AsyncIterator[SlowLine]:
    """Subscribe as a slow client, and wait until the server has subscribed it."""
    before = places(services)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(ClientSession(connector=TCPConnector(socket_factory=_small)))
        if transport == SOCKET:
            stream: Stream = await stack.enter_async_context(subscribed(member, query, session, **asked))
            line: Line = SocketLine(stream)
            response: Any = cast("Any", stream.socket)._response  # noqa: SLF001  no other way leads to it
        else:
            feed: Feed = await stack.enter_async_context(following(member, query, session, **asked))
            line, response = FeedLine(feed), feed.response
        if query == NOTIFICATIONS:
            await begun(services.db, member)
        else:
            await until(lambda: places(services) > before)
        yield SlowLine(line, response.connection.transport)


def server_side(member: Member, one: SlowLine) -> asyncio.Transport:
    """Return the server's side of a connection."""
    handlers = cast("Any", member.client.server).handler.connections
    (found,) = (h.transport for h in handlers if h.transport.get_extra_info("peername")[:2] == one.address)
    return cast("asyncio.Transport", found)


def post_of(payload: dict[str, Any]) -> str:
    """Return the id of an event's post, "" for none."""
    assert "errors" not in payload, payload
    (event,) = payload["data"].values()
    post = event.get("post") or (event.get("edge") or {}).get("node") or (event.get("notification") or {}).get("post")
    return str((post or {}).get("id", ""))


def is_gap(payload: dict[str, Any]) -> bool:
    (event,) = payload["data"].values()
    return bool(event.get("__typename") == "StreamGap")


def taken(author: Member, one: SlowLine) -> int:
    """Return how many bytes the two kernels buffer for a client; the server's should buffer few."""
    server = server_side(author, one)
    unsent = queued(server, termios.TIOCOUTQ)
    assert unsent < 2 * UNSENT_BYTES
    return one.unread + unsent


async def read_on(one: SlowLine, last: str) -> tuple[list[str], int]:
    """Return the posts up to a last one or a gap, and the least number of bytes that one of them takes."""
    one.read_on()
    seen, least = list[str](), 1_000_000
    while last not in seen:
        payload = await one.line.result()
        if is_gap(payload):
            break  # the unfollow of an author with many posts gives a gap, and the last post is behind it
        seen.append(post_of(payload))
        least = min(least, len(json.dumps(payload)))
    return seen, least


@pytest.mark.parametrize("transport", [SOCKET, POST])
@pytest.mark.parametrize(("query", "asked"), QUERIES.values(), ids=QUERIES)
async def test_after_a_block(
    services: Services, alice: Member, bob: Member, carol: Member, transport: str, query: str, asked: dict[str, Any]
) -> None:
    """After a block is answered, a slow client gets only those of the author's posts that the kernels had buffered."""
    await bob.follow(alice, carol)
    if query != NOTIFICATIONS:
        asked = asked | {"after": await now(services.db)}
    async with slow(services, transport, bob, query, **asked) as one:
        one.pause()
        posts = {await alice.post(TEXT) for _ in range(POSTS)}
        await alice.do("block", userIds=[bob.id])
        held = taken(alice, one)
        assert not services.looks.locked()  # no slow client holds a rendering slot
        seen, least = await read_on(one, await carol.post(TEXT))
    late = posts.intersection(seen)
    assert 0 < len(late) <= held / least + 1


@pytest.mark.parametrize("transport", [SOCKET, POST])
@pytest.mark.parametrize("query", [STREAM, OWN_STREAM], ids=["rendered for all", "rendered for each"])
@pytest.mark.parametrize("what", ["deletePost", "hidePost"])
async def test_after_a_post_is_gone(
    services: Services, alice: Member, bob: Member, carol: Member, transport: str, query: str, what: str
) -> None:
    """A post deleted or hidden before a slow client reads up to it is not sent, even if others got it."""
    async with slow(services, transport, bob, query, after=await now(services.db)) as one:
        async with listening(services, transport, carol, query) as fast:
            one.pause()
            posts = [await alice.post(TEXT) for _ in range(POSTS // 2)]
            assert [post_of(await fast.result()) for _ in posts] == posts
            await alice.do(what, postId=posts[-1])
            await fast.result()
        seen, _ = await read_on(one, await carol.post(TEXT))
    assert posts[0] in seen
    assert posts[-1] not in seen


def _has_more_places(services: Services, had: int) -> bool:
    return places(services) > had


async def test_operations_that_share_a_websocket(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """With many operations on a slow client's socket, none has events waiting in the process."""
    async with slow(services, SOCKET, bob, STREAM) as one:
        for query in (STREAM, OWN_STREAM) * OPERATIONS:
            had = places(services)
            asked = {"id": str(had + 1), "type": "subscribe", "payload": {"query": query}}
            await cast("SocketLine", one.line).stream.socket.send_json(asked)
            await until(partial(_has_more_places, services, had))
        one.pause()
        posts = {await alice.post(TEXT) for _ in range(POSTS // OPERATIONS)}
        await alice.do("block", userIds=[bob.id])
        held = taken(alice, one)
        seen, least = await read_on(one, await carol.post(TEXT))
    late = [post for post in seen if post in posts]
    assert 0 < len(late) <= held / least + 1
