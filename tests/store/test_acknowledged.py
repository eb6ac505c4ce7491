"""With REPLICAS_ACKNOWLEDGE, a change is answered once replicas have it, by whichever connection it is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from store.client import node
from store.client.database import Database, Unavailable
from store.settings import Settings
from tests.support.people import SECRET
from tests.support.servers.cluster import Cluster, cluster, slot


async def test_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that is made but not replicated stays unanswered when it is repeated on another connection."""
    monkeypatch.setattr(node, "_WAIT_MS", 200)
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
        assert await second.ask(change) == [0]


@contextlib.asynccontextmanager
async def _database(of: Cluster) -> AsyncIterator[Database]:
    settings = Settings(redis_url=of.url, secret_key=SECRET, replicas_acknowledge=1)
    database = Database(settings.redis_url, settings)
    try:
        yield database
    finally:
        await database.close()
