"""Frames that clients send over websockets: all kinds count, and a client that sends too many is closed with 1008."""

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import WSMsgType
from pytest_aiohttp import AiohttpClient

from serving.streaming.frames import BURST_SECONDS, FrameMeter
from store.client.metering import METER
from tests.support.slow import few
from tests.support.transport import clients
from tests.support.transport.clients import PATIENCE, Connect, Talk, within_patience
from tests.support.transport.small import PlainServices

connect = clients.connect
services = clients.services

RATE = 10  # frames a second
BURST = RATE * BURST_SECONDS
FLOOD = 50 * BURST  # takes a minute and more at the rate


def frame(kind: int, payload: bytes = b"", *, is_last: bool = True) -> bytes:
    """Return a frame as clients send it, with a mask of zeros."""
    size = len(payload)
    code, width = (size, 0) if size < 126 else (126, 2) if size < 1 << 16 else (127, 8)
    length = bytes([0x80 | code]) + (size.to_bytes(width, "big") if width else b"")
    return bytes([(0x80 if is_last else 0) | kind]) + length + bytes(4) + payload


PING = frame(WSMsgType.PING)
KINDS = {
    "pings": PING,
    "pongs": frame(WSMsgType.PONG, b"unasked"),
    "messages ping": frame(WSMsgType.TEXT, b'{"type":"ping"}'),
    "messages complete": frame(WSMsgType.TEXT, b'{"type":"complete","id":"1"}'),
}


def write(talk: Talk, data: bytes) -> None:
    """Send bytes as they are."""
    transport = talk.socket._writer.transport  # noqa: SLF001  the client library frames all that it sends
    assert transport is not None
    transport.write(data)


async def ended(talk: Talk) -> int | None:
    """Return the code with which the server closes a socket, whatever else it sends."""
    while (await talk.socket.receive(timeout=PATIENCE)).type in {WSMsgType.TEXT, WSMsgType.PONG}:
        pass
    return talk.socket.close_code


@pytest.mark.parametrize("greeted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_floods(connect: Connect, kind: str, *, greeted: bool) -> None:
    """A flood of frames of any kind closes the socket, signed in or not, and is counted as a refusal."""
    talk, before = await connect(socket_frames_per_second=RATE), METER.refusals["socket_frames_per_second"]
    if greeted:
        await talk.greet()
    write(talk, KINDS[kind] * FLOOD)
    assert await ended(talk) == 1008
    assert METER.refusals["socket_frames_per_second"] == before + 1


async def test_fragments(connect: Connect) -> None:
    """The fragments of one message count one by one, empty ones too."""
    talk = await (await connect(socket_frames_per_second=RATE)).greet()
    write(talk, frame(WSMsgType.TEXT, b" ", is_last=False) + frame(0, is_last=False) * FLOOD)
    assert await ended(talk) == 1008


async def test_frames_within_the_rate(connect: Connect) -> None:
    """A burst within the rate is answered, and a large message counts as one frame."""
    talk = await (await connect(socket_frames_per_second=RATE, max_body=1 << 20)).greet()
    write(talk, PING * (BURST // 4))
    for _ in range(BURST // 4):
        await talk.say(type="ping", payload={"text": "x" * 100_000})
        assert (await talk.receive())["type"] == "pong"
    assert await talk.answer("{ square(number: 3) }") == {"next": {"data": {"square": 9}}}


async def test_an_operation_ends_with_the_flood(connect: Connect, services: PlainServices) -> None:
    """A flood ends the operations on its socket."""
    talk = await (await connect(socket_frames_per_second=RATE)).greet()
    await talk.ask(clients.EVENTS)
    async with within_patience():
        await services.started.wait()
    write(talk, PING * FLOOD)
    assert await ended(talk) == 1008
    async with within_patience():
        await services.stopped.wait()


@pytest.mark.parametrize("protocol", [clients.PROTOCOL, "chat"])
async def test_frames_behind_the_request(services: PlainServices, aiohttp_client: AiohttpClient, protocol: str) -> None:
    """Frames that come together with the request for the websocket count, too, whatever the subprotocol is."""
    client = await aiohttp_client(services.app(socket_frames_per_second=RATE))
    headers = {"Sec-WebSocket-Protocol": protocol, "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    headers |= {"Host": "x", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    async with within_patience():
        reader, writer = await asyncio.open_connection(client.host, client.port)
        writer.write(f"GET /graphql HTTP/1.1\r\n{lines}\r\n".encode() + PING * FLOOD)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 101")
        sent = b""
        while b"\x88" not in sent:  # a close frame
            more = await reader.read(1 << 16)
            assert more or protocol == "chat"
            if not more:
                break
            sent += more
        writer.close()


class Taken:
    """A parser that notes what it gets."""

    def __init__(self) -> None:
        self.data = b""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        self.data += data
        return False, b""


@pytest.mark.parametrize("seed", few(range(5)))
async def test_how_data_is_cut(seed: int) -> None:
    """However the network cuts the data, exactly the allowed frames are taken, of short and long payloads."""
    lot = random.Random(seed)  # noqa: S311  chance that can be repeated, no secret
    sizes = [lot.choice([0, 1, 125, 126, 300, 70_000]) for _ in range(BURST)]
    allowed = b"".join(frame(WSMsgType.TEXT, bytes(size)) for size in sizes)
    parser, over = Taken(), list[bool]()
    protocol: Any = SimpleNamespace(_message_tail=b"", _payload_parser=parser, transport=None)
    meter = FrameMeter(protocol, RATE)
    meter._clock = lambda: meter._counted_at  # noqa: SLF001  no time passes
    meter.begin(lambda: over.append(True))
    place = 0
    while place < len(allowed):
        step = lot.choice([1, 2, 3, 7, 50_000])
        assert meter.feed_data(allowed[place : place + step]) == (False, b"")
        place += step
    assert (parser.data == allowed, over) == (True, [])
    for cut in (PING[:1], PING[1:], PING):
        meter.feed_data(cut)
    assert (parser.data == allowed + PING[:1], over) == (True, [True])
