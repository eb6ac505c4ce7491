"""Plain requests are answered without aiohttp's loop over requests. It would take care of all that is tested here."""

import asyncio
from typing import Any, cast

import pytest
from aiohttp.web_protocol import MAX_MSG_QUEUE_SIZE

from serving.http.app import DOOR
from serving.http.client_connection import ClientConnection
from serving.http.middleware import Origins
from tests.support.transport import clients
from tests.support.transport.raw import BODY, HEAD, Site, event_stream, serving
from tests.support.transport.small import SECRET_TEXT, PlainContext, PlainServices, logged

services, held = clients.services, clients.held

both_ways = pytest.mark.parametrize("lean", [True, False])


def _holds(site: Site) -> bool:
    """Return whether bytes wait until a plain request has been answered."""
    return any(one._held for one in cast("Any", site.app[DOOR].answering))  # noqa: SLF001


@both_ways
async def test_cancelled_operation(services: PlainServices, monkeypatch: pytest.MonkeyPatch, *, lean: bool) -> None:
    """A connection whose operation was cancelled is closed, and counts no longer."""

    async def cancelled(_: PlainContext) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(PlainContext, "close", cancelled)
    async with serving(services) as site:
        site.app[DOOR].lean = lean
        raw = await site.connect()
        raw.write(HEAD + BODY)
        assert await raw.is_closed()
        await site.until(lambda: not site.admission)
        assert site.app[DOOR].shedder.running == 0


@both_ways
async def test_answer_that_cannot_be_sent(
    services: PlainServices, monkeypatch: pytest.MonkeyPatch, *, lean: bool
) -> None:
    """A connection whose answer fails to be made is closed, counts no longer, and is logged as a fault."""

    def broken(*_: object) -> None:
        raise RuntimeError(SECRET_TEXT)

    monkeypatch.setattr(Origins, "headers", broken)
    with logged() as lines:
        async with serving(services) as site:
            site.app[DOOR].lean = lean
            raw = await site.connect()
            raw.write(HEAD + BODY)
            assert await raw.is_closed()
            await site.until(lambda: not site.admission)
            assert site.app[DOOR].shedder.running == 0
    assert [line["event"] for line in lines if line["log_level"] == "error"] == ["a connection failed"]


@both_ways
async def test_records_outside_a_request(services: PlainServices, held: asyncio.Event, *, lean: bool) -> None:
    """A log record made when bytes arrive does not have the id of a request before them on the same connection."""
    head = HEAD.replace(b"Host: x", b"Host: x\r\nX-Request-Id: first")
    with logged() as lines:
        async with serving(services, store_patience_ms=100) as site:
            site.app[DOOR].lean = lean
            shedder, moments = site.app[DOOR].shedder, iter(range(1_000))
            shedder.clock = lambda: float(next(moments))
            raw, other = await site.connect(), await site.connect()
            raw.write(head + BODY)
            await site.until(lambda: shedder.running)
            services.silence = 0.1
            assert await other.ask() == 503
            raw.write(HEAD + BODY)
            await site.until(lambda: not lean or _holds(site))
            held.set()
            assert (await raw.response())[0] == 200
            await raw.response()
            await other.ask()
    (shed,) = [line for line in lines if line["event"] == "load_shed"]
    assert "request_id" not in shed


@both_ways
async def test_request_behind_the_last_answer(
    services: PlainServices, monkeypatch: pytest.MonkeyPatch, *, lean: bool
) -> None:
    """A request that arrives when a connection has sent its last answer is not executed."""
    after = ClientConnection.log_access

    def arrives(self: ClientConnection, *args: Any) -> None:
        after(self, *args)
        self.data_received(HEAD + BODY)  # before aiohttp closes the connection

    async with serving(services) as site:
        site.app[DOOR].lean = lean
        raw = await event_stream(await site.connect())
        monkeypatch.setattr(ClientConnection, "log_access", arrives)
        await services.events.put(None)
        await raw.reader.read()
        await site.until(lambda: not site.admission)
    assert len(services.contexts) == 1


@both_ways
async def test_request_behind_a_body_that_is_still_read(services: PlainServices, *, lean: bool) -> None:
    """A request behind a body that cannot be decoded is not executed, even if an early answer precedes that body."""
    head = HEAD.replace(b"Host: x", b"Host: x\r\nAccept: image/png\r\nContent-Encoding: gzip")
    async with serving(services) as site:
        site.app[DOOR].lean = lean
        raw = await site.connect()
        raw.write(head)
        assert (await raw.response())[0] == 406
        raw.write(BODY + HEAD + BODY)
        await raw.reader.read()
        await site.until(lambda: not site.admission)
    assert not services.contexts


@both_ways
async def test_many_requests_of_a_connection(services: PlainServices, *, lean: bool) -> None:
    """A connection answers far more requests than may wait in aiohttp's queue, which plain ones do not enter."""
    async with serving(services) as site:
        site.app[DOOR].lean = lean
        raw = await site.connect()
        assert {await raw.ask() for _ in range(3 * MAX_MSG_QUEUE_SIZE)} == {200}
        raw.write((HEAD + BODY) * MAX_MSG_QUEUE_SIZE)
        assert {(await raw.response())[0] for _ in range(MAX_MSG_QUEUE_SIZE)} == {200}


@both_ways
async def test_requests_before_invalid_ones(services: PlainServices, held: asyncio.Event, *, lean: bool) -> None:
    """Requests that arrive while another one is being answered have answers, if invalid HTTP arrives behind them."""
    async with serving(services) as site:
        site.app[DOOR].lean = lean
        raw = await site.connect()
        raw.write(HEAD + BODY)
        await site.until(lambda: site.app[DOOR].shedder.running)
        (connection,) = cast("Any", site.admission)._open  # noqa: SLF001
        for data in (HEAD + BODY, HEAD + BODY, b"invalid\r\n\r\n"):
            connection.data_received(data)
        held.set()
        assert [(await raw.response())[0] for _ in range(4)] == [200, 200, 200, 400]
        assert await raw.is_closed()
