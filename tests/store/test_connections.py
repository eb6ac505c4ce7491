"""Shared connections: replies find their callers, independent of other callers."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import hiredis
import pytest
import redis.asyncio as redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from store.client.caching.cache import Cache
from store.client.caching.values import Changed
from store.client.connection import RedisConnections
from store.client.database import Command, Database
from store.client.nodes.one import StoreNode
from store.ids import PARTITIONS
from tests.support.stored import disconnect


def silent(db: Database) -> Command:
    """Return a command that the first node answers when an element is pushed. None is."""
    tag = next(partition for partition in range(PARTITIONS) if db.node_index(partition) == 0)
    return "BLPOP", f"nothing:{{{tag}}}", 0


class Noting:
    """A fake transport that records the writes."""

    def __init__(self, written: list[bytes]) -> None:
        self.write = written.append


@pytest.fixture
async def connections(db: Database) -> AsyncIterator[RedisConnections]:
    """Two connections at most to one node, and a time-out of half a second."""
    pool = redis.ConnectionPool.from_url(db.nodes[0].url, protocol=2)
    made = RedisConnections(pool.make_connection, 2, 0.5)
    yield made
    await made.close()


class OneNode:
    """One node, without the others of its cluster."""

    is_cluster = False

    def __init__(self, node: StoreNode) -> None:
        self.trackable = [node]

    def owner(self, _: str) -> StoreNode:
        """Return the node."""
        return self.trackable[0]


@pytest.fixture
async def cache(db: Database) -> AsyncIterator[Cache]:
    """The cache of one node."""
    made = Cache(OneNode(db.nodes[0]), 1, 10)
    yield made
    await made.close()


async def test_many_at_once(connections: RedisConnections) -> None:
    """Each batch gets its own replies, errors included, in order, for any interleaving of packets."""
    batches = [[("ECHO", f"{i}"), ("NONSENSE",), ("ECHO", "é" * i)] for i in range(300)]
    for i, (first, error, last) in enumerate(await asyncio.gather(*map(connections.run, batches))):
        assert (first, last) == (f"{i}", "é" * i)
        assert isinstance(error, ResponseError)


async def test_what_leaves_together(connections: RedisConnections) -> None:
    """Batches sent in one turn of the loop leave in one write, and so do all those sent while replies are awaited."""
    await connections.run([("PING",)])
    (connection,) = connections._connections  # noqa: SLF001  what it writes is seen nowhere else
    written: list[bytes] = []
    transport, connection._transport = connection._transport, Noting(written)  # noqa: SLF001
    first = [connection.send([("ECHO", f"{i}")]) for i in range(3)]
    await asyncio.sleep(0)
    later = [connection.send([("ECHO", f"{i}")]) for i in range(3, 6)]
    await asyncio.sleep(0)
    assert [part.count(b"ECHO") for part in written] == [3]
    connection._transport = transport  # noqa: SLF001
    transport.write(b"".join(written))
    assert await asyncio.gather(*first, *later) == [[f"{i}"] for i in range(6)]


async def test_who_leaves(connections: RedisConnections) -> None:
    """Replies to a cancelled caller are dropped in their turn, and nobody gets another's."""
    leaving = [asyncio.ensure_future(connections.run([("ECHO", "gone")])) for _ in range(20)]
    staying = [asyncio.ensure_future(connections.run([("ECHO", f"{i}")])) for i in range(20)]
    await asyncio.sleep(0)
    for one in leaving:
        one.cancel()
    assert await asyncio.gather(*staying) == [[f"{i}"] for i in range(20)]
    assert all(one.cancelled() for one in await _ended(leaving))


async def test_what_is_no_text(connections: RedisConnections) -> None:
    """A reply that cannot be decoded fails alone."""
    replies = await connections.run([("SET", "reply", b"\xff"), ("GET", "reply"), ("DEL", "reply")])
    assert [type(reply) for reply in replies] == [str, UnicodeDecodeError, int]


async def test_silence(connections: RedisConnections, db: Database) -> None:
    """A server that does not answer in time is given up by all callers of that connection, and asked again later."""
    with pytest.raises(RedisTimeoutError, match=r"no reply for 0\.5 s"):
        await asyncio.gather(*(connections.run([silent(db)]) for _ in range(3)))
    assert await connections.run([("ECHO", "again")]) == ["again"]


async def test_a_connection_that_is_cut(connections: RedisConnections, db: Database) -> None:
    """Waiting callers get an error when the connection is lost; the next caller opens another."""
    (own,) = await connections.run([("CLIENT", "ID")])
    waiting = asyncio.ensure_future(connections.run([silent(db)]))
    await asyncio.sleep(0)
    await db.nodes[0].run([("CLIENT", "KILL", "ID", own)])
    with pytest.raises(RedisConnectionError, match="the connection was lost"):
        await waiting
    (other,) = await connections.run([("CLIENT", "ID")])
    assert other != own


BAD: dict[str, Any] = {
    "none": None,
    "truth": True,
    "object": object(),
    "list": ["x"],
    "dict": {"x": "y"},
    "set": {"x"},
    "tuple": ("x",),
    "complex": 1j,
    "decimal": Decimal(1),
    "bytearray": bytearray(b"x"),
    "surrogate": "\ud800",
}


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("connection", ["shared", "tracked"])
async def test_what_cannot_be_sent(
    connections: RedisConnections, cache: Cache, connection: str, kind: str, place: int
) -> None:
    """A value that cannot be encoded is refused when it is given, and nothing of its batch is sent."""
    send = await _sender(connections, cache, connection)
    before = [asyncio.ensure_future(send([("ECHO", f"before {i}")])) for i in range(3)]
    for part in range(2):  # the name of the command, or its argument
        batch = [["ECHO", f"{i}"] for i in range(3)]
        batch[place][part] = BAD[kind]
        with pytest.raises((TypeError, UnicodeEncodeError)):
            await send([tuple(command) for command in batch])
    after = [asyncio.ensure_future(send([("ECHO", f"after {i}")])) for i in range(3)]
    replies = await asyncio.gather(*before, *after)
    assert replies == [[f"{when} {i}"] for when in ("before", "after") for i in range(3)]


async def test_numbers_that_are_none(connections: RedisConnections) -> None:
    """A float that is not a number is a text like any other."""
    assert await connections.run([("ECHO", float("nan")), ("ECHO", float("-inf"))]) == ["nan", "-inf"]


@pytest.mark.parametrize("connection", ["shared", "tracked"])
async def test_each_reply_belongs_to_its_command(
    connections: RedisConnections, cache: Cache, db: Database, connection: str
) -> None:
    """Each caller gets the replies to their own commands, among cancellations, bad commands and killed connections."""
    send, lot = await _sender(connections, cache, connection), random.Random(7)  # noqa: S311  an order of events
    answered = Counter[str]()

    async def caller(name: int) -> None:
        for turn in range(60):
            words = [f"{name}.{turn}.{i}" for i in range(lot.randrange(1, 5))]
            commands: list[tuple[Any, ...]] = [("ECHO", word) for word in words]
            bad = lot.random() < 0.1
            if bad:
                commands.insert(lot.randrange(len(commands) + 1), ("ECHO", lot.choice(list(BAD.values()))))
            asking = asyncio.ensure_future(send(commands))
            if lot.random() < 0.1:
                await asyncio.sleep(0)
                asking.cancel()
            try:
                assert await asking == words
                answered["right"] += len(words)
            except (TypeError, UnicodeEncodeError):
                assert bad
                answered["refused"] += 1
            except RedisConnectionError:
                answered["lost"] += 1
            except asyncio.CancelledError:
                answered["cancelled"] += 1
            if name == 0 and turn % 10 == 9:
                await disconnect(db, "normal")

    await asyncio.gather(*map(caller, range(100)))
    assert answered["right"] > 9_000
    assert min(answered["refused"], answered["cancelled"]) > 50
    assert answered["lost"]


async def test_what_is_written(connections: RedisConnections) -> None:
    """The connection writes the commands of awaited batches, in order, and nothing of refused ones."""
    await connections.run([("PING",)])
    (connection,) = connections._connections  # noqa: SLF001  what it writes is seen nowhere else
    written: list[bytes] = []
    transport, connection._transport = connection._transport, Noting(written)  # noqa: SLF001
    good = [[("ECHO", f"{i}.{k}") for k in range(i)] for i in range(1, 5)]
    waiting = []
    for i, batch in enumerate(good):
        waiting.append(connection.send(batch))
        with pytest.raises(TypeError):
            connection.send([*good[-1][:i], ("ECHO", None)])
    await asyncio.sleep(0)
    connection._transport = transport  # noqa: SLF001
    sent: list[Any] = [command for batch in good for command in batch]
    assert b"".join(written) == b"".join(map(hiredis.pack_command, sent))
    transport.write(b"".join(written))
    assert await asyncio.gather(*waiting) == [[word for _, word in batch] for batch in good]


@pytest.mark.parametrize("is_asking", [False, True])
async def test_a_reply_too_many(connections: RedisConnections, is_asking: bool) -> None:
    """A reply without a command ends the connection before the next command could take it for its own."""
    (own,) = await connections.run([("CLIENT", "ID")])
    (connection,) = connections._connections  # noqa: SLF001  no server sends one
    asking = connection.send([("ECHO", "mine")]) if is_asking else None  # it has not left yet
    connection.data_received(b"+another's\r\n")
    if asking:
        with pytest.raises(RedisConnectionError, match="no command waits for"):
            await asking
    (other,) = await connections.run([("CLIENT", "ID")])
    assert other != own


async def test_closed(connections: RedisConnections) -> None:
    """Closing waits for running commands; afterwards no connection is opened."""
    under_way = asyncio.ensure_future(connections.run([("ECHO", "last")]))
    await asyncio.sleep(0)
    await connections.close()
    assert await under_way == ["last"]
    with pytest.raises(RedisConnectionError, match="the connections were closed"):
        await connections.run([("ECHO", "late")])


async def _ended(tasks: list[asyncio.Task[list[str]]]) -> list[asyncio.Task[list[str]]]:
    await asyncio.wait(tasks)
    return tasks


Send = Callable[[list[tuple[Any, ...]]], Awaitable[list[Any]]]


async def _sender(connections: RedisConnections, cache: Cache, connection: str) -> Send:
    """Return the function that sends commands through the shared connections, or through the tracking one."""

    async def run(commands: list[tuple[Any, ...]]) -> list[Any]:
        return await connections.run(commands)

    async def read(commands: list[tuple[Any, ...]]) -> list[Any]:
        tracked = await cache.begin([Raw(commands)])
        assert tracked
        return await tracked

    if connection == "shared":
        return run
    await read([("PING",)])
    return read


@dataclass
class Raw:
    """Commands whose replies nobody keeps."""

    commands: list[tuple[Any, ...]]

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        pass
