"""The end of a process: each connection ends with its next answer, or when its time is over."""

import asyncio

from serving.http.app import CONNECTIONS
from tests.support.transport import clients
from tests.support.transport.raw import BODY, HEAD, PATIENCE, event_stream, serving
from tests.support.transport.small import PlainServices

services = clients.services

LONG = 1000  # s, longer than any test


async def test_draining_ends_each_connection_with_its_next_answer(services: PlainServices) -> None:
    """A process that drains answers one more request on each connection, says that it is the last, and then closes."""
    async with serving(services, drain_seconds=LONG) as site:
        idle, fresh = await site.connect(), await site.waiting()
        assert await idle.ask() == 200
        site.admission.drains = True
        draining = asyncio.create_task(site.admission.drain())
        for raw in (idle, fresh):
            assert not draining.done()
            raw.write(HEAD + BODY)
            status, headers, _ = await raw.response()
            assert (status, headers["connection"]) == (200, "close")
            assert await raw.is_closed()
        async with asyncio.timeout(PATIENCE):
            await draining


async def test_subscription_while_draining(services: PlainServices) -> None:
    """A proxy may send a subscription to a process that drains: it is served, until the process stops."""
    async with serving(services, drain_seconds=LONG) as site:
        idle = await site.waiting()
        site.admission.drains = True
        draining = asyncio.create_task(site.admission.drain())
        await site.app[CONNECTIONS].end_all()
        stream = await event_stream(idle)
        assert not draining.done()
        await site.app[CONNECTIONS].close()
        await stream.reader.readuntil(b"complete")
        async with asyncio.timeout(PATIENCE):
            await draining


async def test_draining_has_an_end(services: PlainServices) -> None:
    """Draining ends after DRAIN_SECONDS, though a connection stays idle; without DRAIN_SECONDS, at once."""
    for seconds in (0, LONG):
        async with serving(services, drain_seconds=seconds) as site:
            await site.waiting()
            site.admission.drains = not seconds
            async with asyncio.timeout(PATIENCE):
                await site.admission.drain()


async def test_stream_is_the_last_on_its_connection(services: PlainServices) -> None:
    """An event stream says that its connection ends with it, so that nobody subscribes again on it."""
    async with serving(services) as site:
        raw = await event_stream(await site.connect())
        await services.events.put(None)
        await raw.reader.readuntil(b"complete")
        async with asyncio.timeout(PATIENCE):
            assert (await raw.reader.read()).endswith(b"0\r\n\r\n")
