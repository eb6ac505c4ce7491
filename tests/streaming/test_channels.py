"""Channels: messages that wait for a slow client, and cancelled writes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from schema.execution.encoding import encode
from serving.streaming.deliver import ClientGone
from serving.streaming.websocket import MESSAGES_WAITING, Channel


class Slow:
    """A websocket, its request and transport, of which the client reads only on demand."""

    def __init__(self) -> None:
        self.transport = self
        self.unread = 1
        self.closed = False
        self.reads = asyncio.Semaphore(0)
        self.sent: list[bytes] = []

    async def send_frame(self, message: bytes, _: object) -> None:
        await self.reads.acquire()
        if message == b"{}":
            raise asyncio.CancelledError
        self.sent.append(message)

    def get_write_buffer_size(self) -> int:
        return self.unread

    def get_extra_info(self, _: str) -> None:
        """A connection without a socket."""

    def get_protocol(self) -> None:
        """Return no protocol."""

    def set_protocol(self, _: object) -> None:
        """Ignore the protocol."""


@pytest.fixture
async def slow() -> AsyncIterator[tuple[Slow, Channel]]:
    slow = Slow()
    channel: Any = Channel(slow, slow)  # type: ignore[arg-type]
    yield slow, channel
    await channel.stop()


async def turns_of_the_loop() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_sender_waits_for_a_slow_client(slow: tuple[Slow, Channel]) -> None:
    """A few messages wait for a client that does not read; further senders wait with them, in order."""
    socket_, channel = slow
    messages = [encode({"n": number}) for number in range(MESSAGES_WAITING + 10)]
    sending = [asyncio.create_task(channel.send(message)) for message in messages]
    await turns_of_the_loop()
    assert sum(task.done() for task in sending) == MESSAGES_WAITING + 1  # one of them is with the writer
    for _ in messages:
        socket_.reads.release()
    await asyncio.gather(*sending)
    await turns_of_the_loop()
    assert socket_.sent == messages


async def test_sender_that_is_cancelled_disturbs_nobody(slow: tuple[Slow, Channel]) -> None:
    """Cancelling an operation that waits to send drops its message, and no other."""
    socket_, channel = slow
    sending = [asyncio.create_task(channel.send(encode({"n": number}))) for number in range(MESSAGES_WAITING + 3)]
    await turns_of_the_loop()
    sending[-2].cancel()
    for _ in sending:
        socket_.reads.release()
    results = await asyncio.gather(*sending, return_exceptions=True)
    assert [type(result) for result in results].count(asyncio.CancelledError) == 1
    await turns_of_the_loop()
    assert len(socket_.sent) == len(sending) - 1


async def test_writing_outlives_a_cancelled_neighbour(slow: tuple[Slow, Channel]) -> None:
    """The writer goes on when one of several waiters for aiohttp is cancelled, which cancels all of them."""
    socket_, channel = slow
    await channel.send(encode({}))
    await channel.send(encode({"n": 1}))
    socket_.reads.release()
    socket_.reads.release()
    await turns_of_the_loop()
    assert socket_.sent == [b'{"n":1}']


async def test_who_reads_is_written_to_at_once(slow: tuple[Slow, Channel]) -> None:
    """A message that finds none waiting is written in the same turn of the loop; one that finds others comes last."""
    socket_, channel = slow
    socket_.unread = 0
    for _ in range(4):
        socket_.reads.release()
    await channel.send(encode({"n": 1}))
    assert socket_.sent == [b'{"n":1}']
    socket_.unread = 1
    await channel.send(encode({"n": 2}))
    socket_.unread = 0
    await channel.send(encode({"n": 3}))
    await turns_of_the_loop()
    assert socket_.sent == [b'{"n":1}', b'{"n":2}', b'{"n":3}']


async def test_nothing_is_sent_to_a_closed_socket(slow: tuple[Slow, Channel]) -> None:
    """Sending to a closed socket fails."""
    socket_, channel = slow
    socket_.closed = True
    with pytest.raises(ClientGone):
        await channel.send(encode({"n": 1}))
