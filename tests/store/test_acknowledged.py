"""With REPLICAS_ACKNOWLEDGE, a change is answered once replicas have it, by whichever connection it is asked for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from store import keys
from store.client import health, replication
from store.client.connection import Commands, RedisConnection
from store.client.database import CommandRefused, Database, Unavailable, command_name
from store.limits.attempts import count_request_commands
from store.settings import Settings
from tests.support.people import SECRET
from tests.support.servers.cluster import Cluster, cluster, slot
from tests.support.servers.processes import until

STATE = "UNACKNOWLEDGED"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicas may take a short time only."""
    monkeypatch.setattr(replication, "WAIT_MS", 200)


async def test_repeated(tmp_path: Path) -> None:
    """A change that is made but not replicated stays unanswered when it is repeated on another connection."""
    async with cluster(tmp_path, replicas=1) as made, _database(made) as first, _database(made) as second:
        (replica,) = await made.replicas_of(await made.owner(slot(7)))
        change = ("ZADD", "a:{7}", 1, "x")
        for database in (first, second):
            assert await database.one("ZADD", "a:{7}", 2, "w") == (database is first)
        with replica.frozen():
            for database in (first, second):
                with pytest.raises(Unavailable, match="0 of 1 replicas"):
                    await database.ask(change)
            assert await second.one("ZRANGE", "a:{7}", 0, -1) == ["x", "w"]
        await made.until_replicated()
        await until(second.ready)
        assert await second.ask(change) == [0]


async def test_a_primary_without_replicas(tmp_path: Path) -> None:
    """Changes that go to it are refused, and nothing is sent. The error names it. All else goes on, on it, too."""
    async with cluster(tmp_path, replicas=1) as made, _database(made) as db:
        await db.find_out()
        lonely = await made.owner(slot(7))
        other = next(p for p in (8, 9, 10, 11) if db.node_index(p) != db.node_index(7))
        (replica,) = await made.replicas_of(lonely)
        assert await db.one("SET", "a:{7}", "before") == "OK"
        replica.kill()
        with pytest.raises(Unavailable, match="0 of 1 replicas") as first:
            await db.one("SET", "a:{7}", "unacknowledged")
        for value in ("refused", "refused again"):
            with pytest.raises(CommandRefused) as refused:
                await db.one("SET", "a:{7}", value)
        for caught in (first, refused):
            assert (caught.value.state, str(lonely.port) in caught.value.server) == (STATE, True)
        assert await db.one("GET", "a:{7}") == "unacknowledged"
        assert await db.one("SET", f"a:{{{other}}}", "x") == "OK"
        counting = count_request_commands(keys.rate(7 << 4, 0), 60)
        assert await db.ask(*counting, ("GET", "a:{7}")) == [1, 1, "unacknowledged"]
        replies = await db.run([("GET", "a:{7}"), ("SET", "a:{7}", "x"), ("GET", f"a:{{{other}}}")])
        assert [getattr(reply, "state", reply) for reply in replies] == ["unacknowledged", STATE, "x"]
        found = health.readiness(await health.look(db.servers))
        assert (found.reads, found.writes, found.states) == (True, True, [STATE])
        await made.start_again(replica)
        await until(db.ready)
        assert await db.one("SET", "a:{7}", "after") == "OK"


async def test_many_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of many callers share the waits for replicas: those that fail together wait for two at most."""
    sent: list[str] = []
    async with cluster(tmp_path, replicas=1) as made, _database(made) as db:
        await db.one("SET", "a:{7}", "x")
        (replica,) = await made.replicas_of(await made.owner(slot(7)))
        send = RedisConnection.send

        def noted(self: RedisConnection, commands: Commands) -> asyncio.Future[list[object]]:
            sent.extend(map(command_name, commands))
            return send(self, commands)

        monkeypatch.setattr(RedisConnection, "send", noted)
        with replica.frozen():
            changes = (db.one("SET", "a:{7}", f"{i}") for i in range(50))
            found = await asyncio.gather(*changes, return_exceptions=True)
            assert {getattr(error, "state", None) for error in found} == {STATE}
            assert 1 <= sent.count("WAIT") <= 2
        await until(db.ready)


@contextlib.asynccontextmanager
async def _database(of: Cluster) -> AsyncIterator[Database]:
    settings = Settings(redis_url=of.url, secret_key=SECRET, replicas_acknowledge=1)
    database = Database(settings.redis_url, settings)
    try:
        yield database
    finally:
        await database.close()
