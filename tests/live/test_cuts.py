"""Connections are cut and the store restarts while members post; each subscriber still gets each post once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import ClientError

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.reading import global_ids
from store.client.database import Database
from store.events import log as events
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.servers.load import Load, friends
from tests.support.servers.processes import Redis, redis, until
from tests.support.transport.live import HOME, now, subscribed
from tests.support.transport.site_live import STREAM
from tests.support.work import work_off

POSTS, CLIENTS = 300, 5
CUTS, RESTART = (50, 100, 250), 150  # answered posts after which connections are cut, and the store restarts
BREAKS = (40, 120, 200, 260)  # events received after which a subscriber leaves
SECONDS = 60  # after which an event counts as lost


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Redis]:
    """A store of the test's own, which the test can restart."""
    async with redis(tmp_path / "store") as server:
        await server.start()
        database = Database(server.settings["redis_url"], Settings())
        await until(database.ready)
        await database.close()
        yield server


@pytest.fixture
def settings(settings: Settings, store: Redis) -> Settings:
    """The settings, with that store."""
    return shrunk(settings, redis_url=store.settings["redis_url"])


async def receive_all(member: Member, query: str, after: str, breaks: tuple[int, ...]) -> list[str]:
    """Return the posts of all events; after each cut or break, resume from the last cursor."""
    received: list[str] = []
    while len(received) < POSTS:
        with suppress(ClientError, TypeError):  # cut off before the server's ack, or amid an event
            async with subscribed(member, query, after=after) as stream:
                while (message := await stream.receive())["type"] == "next":
                    (event,) = message["payload"]["data"].values()
                    received.append((event.get("post") or event["edge"]["node"])["id"])
                    after = event["cursor"]
                    if len(received) in {*breaks, POSTS}:
                        break
                else:
                    assert [error["extensions"]["code"] for error in message["payload"]] == ["SERVICE_UNAVAILABLE"]
    return received


async def test_nothing_is_lost(
    services: Services, db: Database, store: Redis, anonymous: Member, worker: Worker
) -> None:
    """Each subscriber gets each answered post once, in the order of the log, despite all failures."""
    members = await friends(anonymous, 3)
    start, load = await now(db), Load(members, POSTS)
    asked = [(query, breaks) for query in (STREAM, HOME) for breaks in ((), BREAKS)]
    async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
        pubsub = [group.create_task(receive_all(members[0], query, start, breaks)) for query, breaks in asked]
        posting = group.create_task(load.post(CLIENTS))
        for answered in sorted((*CUTS, RESTART)):
            await until(lambda enough=answered: _has(load, enough))  # type: ignore[misc]
            if answered == RESTART:
                await store.stop()
                await store.start()
            else:
                await services.pubsub.connected.wait()
                assert await db.one("CLIENT", "KILL", "TYPE", "pubsub") == 1
        await posting
        await work_off(db, worker)
    log = await events.between(db, start.removeprefix("event."))
    wanted = [global_ids.post_id(event.post, is_repost=False) for event in log if event.kind == "post"]
    assert sorted(wanted) == sorted(load.answered)
    assert [task.result() for task in pubsub] == [wanted] * len(asked)


async def _has(load: Load, count: int) -> bool:
    return len(load.answered) >= count
