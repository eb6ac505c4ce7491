"""Clients that send raw bytes, well-formed or not, to the small schema on its own listener."""

import asyncio
import json
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from aiohttp import web

from serving import endpoint
from serving.http.admission import Admissions
from tests.support.transport.clients import EVENT_STREAM, EVENTS
from tests.support.transport.small import PlainServices

PATIENCE = 10  # s after which an expected event counts as lost
BODY = json.dumps({"query": "{ square }"}).encode()
HEAD = b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)


class Raw:
    """One connection."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    async def response(self) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of the next response."""
        async with asyncio.timeout(PATIENCE):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().splitlines()
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            return int(head[0].split()[1]), headers, await self.reader.readexactly(int(headers["content-length"]))

    async def ask(self) -> int:
        """Return the status of the answer to a query."""
        self.write(HEAD + BODY)
        return (await self.response())[0]

    async def is_closed(self) -> bool:
        """Return whether the server closes the connection without sending anything."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self.reader.read(1) == b""
        except ConnectionResetError:
            return True


class Site:
    """The small schema, served as a process serves the real one."""

    def __init__(self, app: web.Application, admission: Admissions, port: int, stack: AsyncExitStack) -> None:
        self.app = app
        self.admission = admission
        self.port = port
        self._stack = stack

    async def connect(self, address: str = "127.0.0.1", **options: Any) -> Raw:
        """Return a connection from an address of the loopback network."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0), **options)
        self._stack.callback(writer.close)
        return Raw(reader, writer)

    async def waiting(self, address: str = "127.0.0.1") -> Raw:
        """Return a connection that the server has accepted, and that sends nothing."""
        before = len(self.admission.heads)
        raw = await self.connect(address)
        await self.until(lambda: len(self.admission.heads) > before)
        return raw

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds on the server."""
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110  the server runs in the same loop
                await asyncio.sleep(0)


@asynccontextmanager
async def serving(services: PlainServices, most: int | None = None, **turned: Any) -> AsyncIterator[Site]:
    """Serve with some settings changed, on at most so many connections (default: MAX_CONNECTIONS)."""
    app = services.app(**turned)
    async with AsyncExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        admission = await stack.enter_async_context(
            endpoint.answering(app, services.settings, [listening], most or services.settings.max_connections)
        )
        yield Site(app, admission, listening.getsockname()[1], stack)


def event_stream_request() -> bytes:
    """Return a request for an event stream."""
    body = json.dumps({"query": EVENTS}).encode()
    return (
        HEAD.replace(str(len(BODY)).encode(), str(len(body)).encode() + f"\r\nAccept: {EVENT_STREAM}".encode()) + body
    )


async def event_stream(raw: Raw) -> Raw:
    """Turn a connection into an event stream, and return it once the stream is open."""
    raw.write(event_stream_request())
    async with asyncio.timeout(PATIENCE):
        await raw.reader.readuntil(b":\n\n")
    return raw
