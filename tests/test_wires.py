"""The connections that all share: replies find those who wait for them, whatever becomes of others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import redis.asyncio as redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from store.connection import Database
from store.settings import Settings
from store.wires import Wires

SILENT = ("BLPOP", "nothing", 0)  # is answered when something comes, and nothing does


class Noting:
    """Stands for a transport: it notes what it is to write."""

    def __init__(self, written: list[bytes]) -> None:
        self.write = written.append


@pytest.fixture
async def wires(settings: Settings, db: Database) -> AsyncIterator[Wires]:
    """Two connections at most, and half a second's patience."""
    pool = redis.ConnectionPool.from_url(settings.redis_url, protocol=2)
    made = Wires(pool.make_connection, 2, 0.5)
    yield made
    await made.close()


async def test_many_at_once(wires: Wires) -> None:
    """Each batch gets its own replies, in order, however many cross in the same packets; errors stand among them."""
    batches = [[("ECHO", f"{i}"), ("NONSENSE",), ("ECHO", "é" * i)] for i in range(300)]
    for i, (first, error, last) in enumerate(await asyncio.gather(*map(wires.run, batches))):
        assert (first, last) == (f"{i}", "é" * i)
        assert isinstance(error, ResponseError)


async def test_what_leaves_together(wires: Wires) -> None:
    """What is sent in one turn leaves in one write, and so does all that comes while its replies are awaited."""
    await wires.run([("PING",)])
    (wire,) = wires._wires  # noqa: SLF001  what it writes is seen nowhere else
    written: list[bytes] = []
    transport, wire._transport = wire._transport, Noting(written)  # noqa: SLF001
    first = [wire.send([("ECHO", f"{i}")]) for i in range(3)]
    await asyncio.sleep(0)
    later = [wire.send([("ECHO", f"{i}")]) for i in range(3, 6)]
    await asyncio.sleep(0)
    assert [part.count(b"ECHO") for part in written] == [3]
    wire._transport = transport  # noqa: SLF001
    transport.write(b"".join(written))
    assert await asyncio.gather(*first, *later) == [[f"{i}"] for i in range(6)]


async def test_who_leaves(wires: Wires) -> None:
    """Replies to a caller that was cancelled are dropped in their turn, and nobody gets another's."""
    leaving = [asyncio.create_task(wires.run([("ECHO", "gone")])) for _ in range(20)]
    staying = [asyncio.create_task(wires.run([("ECHO", f"{i}")])) for i in range(20)]
    await asyncio.sleep(0)
    for one in leaving:
        one.cancel()
    assert await asyncio.gather(*staying) == [[f"{i}"] for i in range(20)]
    assert all(one.cancelled() for one in await _ended(leaving))


async def test_what_is_no_text(wires: Wires) -> None:
    """A reply that cannot be decoded fails alone."""
    replies = await wires.run([("SET", "reply", b"\xff"), ("GET", "reply"), ("DEL", "reply")])
    assert [type(reply) for reply in replies] == [str, UnicodeDecodeError, int]


async def test_silence(wires: Wires) -> None:
    """A server that does not answer in time is given up by all who wait on that connection, and asked anew later."""
    with pytest.raises(RedisTimeoutError, match=r"no reply for 0\.5 s"):
        await asyncio.gather(*(wires.run([SILENT]) for _ in range(3)))
    assert await wires.run([("ECHO", "again")]) == ["again"]


async def test_a_connection_that_is_cut(wires: Wires, db: Database) -> None:
    """Who waits learns that the connection is gone; the next one to ask opens another."""
    (own,) = await wires.run([("CLIENT", "ID")])
    waiting = asyncio.create_task(wires.run([SILENT]))
    await asyncio.sleep(0)
    await db.one("CLIENT", "KILL", "ID", own)
    with pytest.raises(RedisConnectionError, match="the connection was lost"):
        await waiting
    (other,) = await wires.run([("CLIENT", "ID")])
    assert other != own


async def test_what_cannot_be_sent(wires: Wires) -> None:
    """A command that is none is refused where it is made, and disturbs no other."""
    with pytest.raises(TypeError):
        await wires.run([("ECHO", object())])
    assert await wires.run([("ECHO", "next")]) == ["next"]


async def test_closed(wires: Wires) -> None:
    """Closing waits for what is under way; afterwards nothing is opened any more."""
    under_way = asyncio.create_task(wires.run([("ECHO", "last")]))
    await asyncio.sleep(0)
    await wires.close()
    assert await under_way == ["last"]
    with pytest.raises(RedisConnectionError, match="the connections were closed"):
        await wires.run([("ECHO", "late")])


async def _ended(tasks: list[asyncio.Task[list[str]]]) -> list[asyncio.Task[list[str]]]:
    await asyncio.wait(tasks)
    return tasks
