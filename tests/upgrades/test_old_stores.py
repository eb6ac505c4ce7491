"""Stores that older versions of Perch wrote: opened, migrated, verified, and compared with what members saw then."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.upkeep import migrate, verify
from resolvers.upkeep.progress import bar
from store import keys
from store.client.database import Database
from store.keys.fields import StatusField
from store.layout import hashtags, versions
from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.stored import find
from tests.upgrades import stores
from tests.upgrades.acts import SETTINGS, VIEWERS, entered
from tests.upgrades.record import LIMITS
from tests.upgrades.stores import OldStore, Seen

WITH_OLD_TAGS = "2026-11-22-343a4a6"  # the last version that wrote spaces between hashtags


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return shrunk(settings, **SETTINGS, **LIMITS)


@pytest.fixture(params=stores.names())
def old(request: pytest.FixtureRequest) -> OldStore:
    return stores.load(request.param)


async def viewers(anonymous: Member) -> dict[str, Member]:
    return {login: await entered(anonymous, identifier=login, password=PASSWORD) for login in VIEWERS}


async def differences(members: dict[str, Member], seen: list[Seen]) -> list[str]:
    """Return where an answer differs from what the older version answered."""
    found: list[str] = []
    for one in seen:
        answer = await members[one.login].send(one.document, **one.variables)
        found += [f"{one.login}: {line}" for line in compared(one.data, answer["data"])]
    return found


def compared(was: Any, now: Any, place: str = "") -> list[str]:
    """Return the places at which two answers differ, with both values."""
    if isinstance(was, dict) and isinstance(now, dict) and was.keys() == now.keys():
        return [line for key in was for line in compared(was[key], now[key], f"{place}.{key}")]
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        return [line for i, pair in enumerate(zip(was, now, strict=True)) for line in compared(*pair, f"{place}.{i}")]
    return [] if was == now else [f"{place}: {json.dumps(was)} is now {json.dumps(now)}"]


async def test_old_stores(db: Database, anonymous: Member, worker: Worker, old: OldStore) -> None:
    """Members see the same in a store of each older version, before and after its migration, which verify accepts."""
    await stores.restore(db, old)
    members = await viewers(anonymous)
    assert await differences(members, old.seen) == []
    answer = await migrate.run(db, partial(bar, hidden=True))
    assert (answer.status, answer.data["layout"]) == (0, versions.NEWEST)
    assert await differences(members, old.seen) == []
    await worker.run_once()
    report = await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
    assert report.findings == []


async def test_deletion_before_migration(db: Database, anonymous: Member) -> None:
    """A post with hashtags in the old form leaves the timelines of its hashtags when it is deleted."""
    await stores.restore(db, stores.load(WITH_OLD_TAGS))
    post = await tagged(db, "tea cats")
    assert str(post) in await db.one("ZRANGE", keys.hashtag("cats"), 0, -1)
    alice = await entered(anonymous, identifier="alice", password=PASSWORD)
    assert not (await alice.do("deletePost", postId=f"status_{post:014x}"))["userErrors"]
    for tag in ("tea", "cats"):
        for key in (keys.hashtag(tag), keys.important_hashtag(tag)):
            assert str(post) not in await db.one("ZRANGE", key, 0, -1)


async def tagged(db: Database, hashtags: str) -> int:
    """Return the post that has hashtags in a stored form."""
    statuses = await find(db, f"{keys.stem(keys.status)}*")
    found = await db.ask(*(("HGET", key, StatusField.HASHTAGS) for key in statuses))
    return int(statuses[found.index(hashtags)].rpartition(":")[2])


async def test_deletion_while_migrating(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A post that is deleted after its old hashtags were read is not made again by their new form."""
    await stores.restore(db, stores.load(WITH_OLD_TAGS))
    post = await tagged(db, "tea cats")
    assert await migrating(db, monkeypatch, lambda: db.one("DEL", keys.status(post))) == 0
    assert await db.one("EXISTS", keys.status(post)) == 0


async def test_hashtags_migrated_twice(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashtags get their new form once, however many migrations run at the same time."""
    await stores.restore(db, stores.load(WITH_OLD_TAGS))
    post = await tagged(db, "tea cats")
    assert await migrating(db, monkeypatch, lambda: hashtags.rewrite(db, [post])) == 0
    assert await db.one("HGET", keys.status(post), StatusField.HASHTAGS) == "#tea#cats"


async def migrating(db: Database, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], Awaitable[Any]]) -> int:
    """Migrate the hashtags of one post, and do something between reading and writing them; returns how many changed."""
    post = await tagged(db, "tea cats")
    ask = db.ask

    async def interrupted(*commands: Any) -> Any:
        found = await ask(*commands)
        monkeypatch.undo()
        await meanwhile()
        return found

    monkeypatch.setattr(db, "ask", interrupted)
    return await hashtags.rewrite(db, [post])
