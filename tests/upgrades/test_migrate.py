"""The command `migrate`: a store of the first layout becomes one of the newest; an older Perch refuses a newer one.

`first_layout.jsonl` has the commands that make a store as the first layout wrote it. Bob and alice follow each other
and carol, whose reposts are pulled. Each has reposted a post that the homes then had already.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from resolvers.upkeep import commands, migrate, verify
from resolvers.upkeep.commands import CommandAnswer, UpkeepRefused
from resolvers.upkeep.migrate import MIGRATIONS
from resolvers.upkeep.progress import bar
from store import keys
from store.client.database import Database
from store.ids import PARTITIONS
from store.keys.fields import LayoutField
from store.layout import processes, versions
from store.layout.versions import UnsupportedLayout
from store.settings import Settings
from tests.support.home_pages import read
from tests.support.people import Member, log_in, shrunk
from tests.support.servers.processes import connected as connect
from tests.support.servers.processes import own_store, run

FIXTURE = Path(__file__).with_name("first_layout.jsonl")
HOMES = 2  # of the fixture, those that the rule of lifts changes
SOON = 0.000_01  # REPOST_LIFT_HOURS: 36 ms, less than between the fixture's posts and reposts


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return shrunk(settings, repost_lift_hours=SOON, big_author=2)


@pytest.fixture
async def first(db: Database) -> Database:
    """A store of the first layout."""
    await db.ask(*(tuple(json.loads(line)) for line in FIXTURE.read_text().splitlines()))
    return db


async def migrated(db: Database) -> tuple[int, dict[str, Any]]:
    """Run the command; returns its exit status and data."""
    answer = await migrate.run(db, partial(bar, hidden=True))
    return answer.status, answer.data


async def findings(db: Database) -> list[str]:
    report = await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
    return [finding.key.partition(":")[0] for finding in report.findings]


async def lines(member: Member) -> list[tuple[str, ...]]:
    """Return a home as the texts of its posts, each with the logins of who reposted it."""
    edges = (await read(member, first=100))["edges"]
    ids = ", ".join(json.dumps(edge["node"]["id"]) for edge in edges)
    nodes = await member.ask(f"{{ nodes(ids: [{ids}]) {{ ... on Status {{ text }} ... on Repost {{ text }} }} }}")
    reposters = ([source["user"]["login"] for source in edge["repostedBy"]] for edge in edges)
    return [(node["text"], *by) for node, by in zip(nodes, reposters, strict=True)]


@pytest.mark.parametrize("command", [commands.check, commands.repair])
async def test_verify_before_migrate(first: Database, command: Callable[..., Awaitable[CommandAnswer]]) -> None:
    """`verify` and `repair` of an older layout say to migrate first, and report nothing that the migration rewrites."""
    run = partial(command, first, partial(bar, hidden=True), homes=0, all_homes=False, seed=1)
    with pytest.raises(UpkeepRefused, match=r"has layout 1, .* run `migrate` first"):
        await run()
    await migrated(first)
    assert (await run()).data["findings"] == []


async def test_first_layout(first: Database, anonymous: Member) -> None:
    """Homes of the first layout leave out a post that a repost lifts. Migrated ones have it on top."""
    before = {text for text, *_ in await log_and_read(anonymous, "bob")}
    assert sorted(await findings(first)) == ["home"] * HOMES + ["notifications"]
    done = {"layout": versions.NEWEST, "newest": versions.NEWEST, "unfinished": 0, "older_processes": 0}
    assert await migrated(first) == (0, done)
    assert await findings(first) == []
    after = await log_and_read(anonymous, "bob")
    assert {text for text, *_ in after} == before | {"Good morning"}
    assert after.index(("Good morning", "alice")) < after.index(("Seen from far",))
    assert await first.one("HGETALL", keys.layout()) == [LayoutField.VERSION, str(versions.NEWEST)]
    assert await migrated(first) == (0, done)


async def log_and_read(anonymous: Member, login: str) -> list[tuple[str, ...]]:
    return await lines(await log_in(anonymous, login))


def test_every_layout_has_a_migration() -> None:
    """Every layout but the first has a migration, in order."""
    assert [migration.layout for migration in MIGRATIONS] == [*range(versions.FIRST + 1, versions.NEWEST + 1)]


async def test_interrupted(first: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration that was interrupted goes on with the partitions that are left."""
    seen: list[int] = []

    async def broken(_: Database, p: int) -> int:
        if p == 100:
            raise RuntimeError
        seen.append(p)
        return 0

    monkeypatch.setattr(migrate, "MIGRATIONS", [MIGRATIONS[0]._replace(partition=broken)])
    with pytest.raises(RuntimeError):
        await migrated(first)
    assert (seen, await versions.current(first)) == ([*range(100)], 1)
    monkeypatch.undo()
    left: list[int] = []

    async def counted(db: Database, p: int) -> int:
        left.append(p)
        return await migrate.rebuild_homes(db, p)

    monkeypatch.setattr(migrate, "MIGRATIONS", [MIGRATIONS[0]._replace(partition=counted)])
    assert (await migrated(first))[0] == 0
    assert left == [*range(100, PARTITIONS)]


async def test_beside_older_processes(first: Database) -> None:
    """While a process of the older layout runs, homes are migrated and nothing is finished; after its end, all is."""
    async with processes.announced(first, layout=1), processes.announced(first):
        status, data = await migrated(first)
        assert (status, data["unfinished"], data["older_processes"]) == (1, PARTITIONS, 1)
        assert await findings(first) == ["notifications"]  # of likes, which a later migration groups
        assert await versions.current(first) == 1
        assert await versions.migrated(first, 2) == set()
    assert (await migrated(first))[1]["layout"] == versions.NEWEST


async def test_under_writes(first: Database, anonymous: Member) -> None:
    """Members post, repost and unfollow during the migration, and the homes are right after it."""
    alice, bob, carol = [await log_in(anonymous, login) for login in ("alice", "bob", "carol")]

    async def write() -> None:
        for i in range(5):
            post = await bob.post(f"Post {i}")
            await asyncio.gather(carol.repost(post), alice.repost(post), bob.post("Another"))
        await alice.unfollow(carol)

    await asyncio.gather(write(), migrated(first))
    assert await versions.current(first) == versions.NEWEST
    assert await findings(first) == []


async def test_race_with_an_older_process(db: Database) -> None:
    """An older process that starts before a partition is finished keeps it unfinished."""
    for is_first in (True, False):
        await db.ask(("DEL", keys.layout()), ("DEL", keys.processes()), ("HSET", keys.layout(), "version", 1))
        starting = processes.announced(db, layout=1)
        if is_first:
            await starting.__aenter__()
        assert await versions.finish_partition(db, 7, 2) == int(is_first)
        assert await versions.migrated(db, 2) == (set() if is_first else {7})
        if is_first:
            await starting.__aexit__(None, None, None)


async def test_race_of_two_migrations(db: Database) -> None:
    """The slower of two migrations neither lowers the layout nor leaves notes of partitions behind."""
    assert await asyncio.gather(*(versions.finish(db, layout) for layout in (3, 2, 3))) == [True, False, False]
    assert await versions.finish_partition(db, 7, 2) == 0
    assert await db.one("HGETALL", keys.layout()) == [LayoutField.VERSION, "3"]


async def test_silent_process(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was killed counts as gone after some minutes, and its entry is removed."""
    monkeypatch.setattr(processes, "ALIVE_SECONDS", -1)
    async with processes.announced(db, layout=1):
        assert await processes.older(db, 2) == 0
    assert await db.one("EXISTS", keys.processes()) == 0


async def test_newer_layout(tmp_path: Path) -> None:
    """Perch refuses a store of which one partition has a newer layout than it knows, with one line."""
    async with own_store(tmp_path) as server, connect(server.settings["redis_url"]) as db:
        newest = versions.NEWEST
        await db.one("HSET", keys.layout(), LayoutField.VERSION, newest, 9, newest + 1)
        status, out, err = await run(tmp_path / "data", "serve", **server.settings)
        assert (status, out) == (1, "")
        knows = f"this Perch knows layouts up to {newest}"
        assert err == f"perch: the store has layout {newest + 1}, and {knows}: run a newer Perch"
        assert await db.one("ZCARD", keys.processes()) == 0


async def test_labels(db: Database, alice: Member) -> None:
    """A store without members gets the newest layout; one with members and no label has the first."""
    assert await versions.check(db) == 1
    await db.each_node(("FLUSHDB",))
    assert [await check for check in (versions.check(db), versions.check(db))] == [versions.NEWEST] * 2
    assert await versions.current(db) == versions.NEWEST
    await versions.finish(db, versions.NEWEST + 1)
    with pytest.raises(UnsupportedLayout):
        await versions.check(db)
