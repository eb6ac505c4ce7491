"""A store that hangs: after the first time-out, everything that needs it fails at once, until it answers again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import TimeoutError as RedisTimeoutError

from store.client import connection, database
from store.client.caching import cache
from store.client.connection import CircuitBreaker, connect
from store.client.database import Database, Unavailable
from store.client.nodes import one as node
from store.client.outages import Silent
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.servers.cluster import cluster, slot
from tests.support.servers.processes import Redis, own_store, process, until

PAGE = "{ homeTimeline { nodes { __typename } } }"
POST = 'mutation { post(input: {text: "x"}) { status { id } } }'
PATIENCE = 0.3  # s that a reply may take here


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Redis]:
    """A store of the test's own, which it can freeze."""
    async with own_store(tmp_path) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, store: Redis) -> Settings:
    """The settings, with that store."""
    return shrunk(settings, redis_url=store.settings["redis_url"], rate_limit=0)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The connections that requests have opened; replies may take a short time only."""
    made: list[object] = []

    async def counted(*arguments: Any) -> Any:
        opened = await connect(*arguments)
        made.append(opened)
        return opened

    for module in (database, node):
        monkeypatch.setattr(module, "REPLY_SECONDS", PATIENCE)
    for module in (cache, connection):
        monkeypatch.setattr(module, "connect", counted)
    return made


async def test_nobody_waits_again(settings: Settings, store: Redis, alice: Member, opened: list[object]) -> None:
    """After one time-out, reads and writes fail without a connection being tried. Afterwards both are answered."""
    async with process(settings) as ask:
        assert "errors" not in await ask(alice, PAGE)
        with store.frozen():
            assert _code(await ask(alice, PAGE)) == "SERVICE_UNAVAILABLE"
            opened.clear()
            for query in (PAGE, POST, PAGE, POST):
                assert _code(await ask(alice, query)) == "SERVICE_UNAVAILABLE"
            assert opened == []

        async def is_answered() -> bool:
            return all(["errors" not in await ask(alice, query) for query in (PAGE, POST)])

        await until(is_answered)


async def test_a_connection_that_cannot_be_opened(settings: Settings, store: Redis, opened: list[object]) -> None:
    """Those who wait for a connection to a store that hangs are all refused when the first attempt has timed out."""
    db = Database(settings.redis_url, settings)
    await db.find_out()
    await db.nodes[0].close()
    fresh = Database(settings.redis_url, settings)
    with store.frozen():
        found = await asyncio.gather(*(fresh.one("GET", "key") for _ in range(20)), return_exceptions=True)
        assert {(type(error), getattr(error, "state", "")) for error in found} == {(Unavailable, "SILENT")}
        assert fresh.nodes[0].breaker.is_open
    await until(lambda: _is_closed(fresh))
    assert await fresh.one("GET", "key") is None
    await fresh.close()
    await db.close()


async def test_one_node_of_several(tmp_path: Path, opened: list[object]) -> None:
    """While one node of a cluster hangs, what needs it fails at once and names it. The others answer."""
    async with cluster(tmp_path, cluster_node_timeout=60_000) as made:
        db = Database(made.url, Settings(secret_key="s" * 32))
        hanging = await made.owner(slot(7))
        await db.find_out()
        other = next(p for p in (8, 9, 10, 11) if db.node_index(p) != db.node_index(7))
        keys = [f"a:{{{partition}}}" for partition in (7, other)]
        for key in keys:
            await db.one("SET", key, "x")
        with hanging.frozen():
            with pytest.raises(Unavailable):
                await db.one("GET", keys[0])
            opened.clear()
            with pytest.raises(Unavailable) as caught:
                await db.one("GET", keys[0])
            assert (caught.value.state, str(hanging.port) in caught.value.server) == ("SILENT", True)
            assert await db.one("GET", keys[1]) == "x"
            assert opened == []
        await until(lambda: _is_closed(db))
        assert await db.one("GET", keys[0]) == "x"
        await db.close()


@pytest.mark.parametrize(
    ("answer", "is_silent"),
    [(None, False), (ConnectionRefusedError(), False), (RedisTimeoutError(), True), (TimeoutError(), True)],
)
async def test_what_ends_the_silence(
    monkeypatch: pytest.MonkeyPatch, answer: Exception | None, *, is_silent: bool
) -> None:
    """A probe that is answered or refused closes the breaker. One that times out leaves it open."""
    monkeypatch.setattr(connection, "PAUSE_SECONDS", 0)
    probes = asyncio.Semaphore(0)

    async def probe() -> None:
        probes.release()
        if answer:
            raise answer

    made = CircuitBreaker("server", probe)
    made.check()
    made.open()
    with pytest.raises(Silent, match="server"):
        made.check()
    for _ in range(2 if is_silent else 1):
        await probes.acquire()
    await asyncio.sleep(0)
    assert made.is_open == is_silent
    await made.close()


def _code(answer: dict[str, Any]) -> str:
    (error,) = answer["errors"]
    return str(error["extensions"]["code"])


async def _is_closed(db: Database) -> bool:
    return not any(one.breaker.is_open for one in db.nodes)
