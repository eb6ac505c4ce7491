"""The drill: members write during a backup, and a store that is made from it has all that was answered before."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.upkeep import verify
from resolvers.upkeep.backups import backup, restore
from resolvers.upkeep.backups.file import Writer
from resolvers.upkeep.progress import bar
from store import jobs, keys
from store.client.database import Database
from store.ids import PARTITIONS
from store.layout import versions
from store.media.objects import PictureForm
from store.settings import Settings
from store.upkeep.copying import moving
from tests.support.people import Member
from tests.support.pictures import ready_picture
from tests.support.servers.cluster import cluster
from tests.support.servers.moves import CHANGES, equal, fill
from tests.support.servers.processes import connected, own_store
from tests.support.work import number

HIDDEN = partial(bar, hidden=True)


@pytest.fixture
async def target(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """An empty store elsewhere: a server, or a cluster."""
    (tmp_path / "target").mkdir()
    if getattr(request, "param", "server") == "cluster":
        async with cluster(tmp_path / "target") as nodes:
            db = Database(nodes.url, Settings(data_dir=tmp_path / "target"))
            yield db
            await db.close()
    else:
        async with own_store(tmp_path / "target") as server:
            db = Database(server.settings["redis_url"], Settings(data_dir=tmp_path / "target"))
            yield db
            await db.close()


async def saved(db: Database, file: Path, **options: Any) -> Any:
    return (await backup.run(db, HIDDEN, file=file, **{"key_file": None, "without_pictures": False, **options})).data


async def restored(db: Database, file: Path, key_file: Path | None = None) -> Any:
    return (await restore.run(db, HIDDEN, file=file, key_file=key_file)).data


async def work_off(db: Database) -> None:
    """Finish the jobs that a backup has, as a server does at its start."""
    db.unfinished.put_back([], set(range(PARTITIONS)))
    await jobs.hand_over_unfinished(db)
    while await Worker(db).run_once():
        pass


@pytest.mark.parametrize("target", ["server", "cluster"], indirect=True)
async def test_drill(tmp_path: Path, db: Database, target: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Nothing that was answered before the backup is lost, the restored store is clean, and jobs are finished."""
    file, posts, more = tmp_path / "backup", list[str](), True
    await bob.follow(alice, carol)
    await versions.check(db)

    async def write(member: Member) -> None:
        while more:
            posts.append(await member.post(f"Post {len(posts)}"))
            await bob.repost(posts[-1])

    writing = [asyncio.create_task(write(member)) for member in (alice, carol)]
    before = [await bob.post("The last one before")]
    before += posts
    figures = await saved(db, file)
    more = False
    assert len(posts) > len(before)
    await asyncio.gather(*writing)
    await alice.post("After the backup")
    assert figures["paused_seconds"] < 1
    await restored(target, file)
    await work_off(target)
    report = await verify.verify(target, homes=None, seed=0, progress=lambda _: None)
    assert report.clean, report.findings
    assert await target.ask(*(("EXISTS", keys.status(number(post))) for post in before)) == [1] * len(before)


@pytest.mark.parametrize("share", [0, 0.5, 1])
async def test_changes_meanwhile(
    tmp_path: Path, target: Database, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    """Every change during a backup is in it, whether the copy has just begun, is half done or has ended."""
    (tmp_path / "source").mkdir()
    async with own_store(tmp_path / "source") as server, connected(server.settings["redis_url"]) as source:
        await fill(source)
        await source.ask(("DEL", "zset:moved"))
        due, seen, left = share * await source.one("DBSIZE"), 0, [[one for some in CHANGES.values() for one in some]]
        copy = backup._copy_keys  # noqa: SLF001  the step after which the store changes

        async def changing(source_of: Any, writer: Writer, names: Sequence[str]) -> None:
            nonlocal seen
            await copy(source_of, writer, names)
            seen += len(names)
            if seen >= due and left:
                await source.ask(*left.pop())

        monkeypatch.setattr(backup, "_copy_keys", changing)
        monkeypatch.setattr(moving, "SCANNED", 50)
        await saved(source, tmp_path / "backup")
        assert not left
        await restored(target, tmp_path / "backup")
        assert await equal(source, target)


async def test_pictures(tmp_path: Path, db: Database, target: Database, alice: Member) -> None:
    """The files of pictures are in the backup, byte for byte, unless they are left out."""
    await ready_picture(db, alice)
    await saved(db, tmp_path / "without", without_pictures=True)
    figures = await saved(db, tmp_path / "backup")
    listed = {one.path: one.size async for some in db.media.listing() for one in some}
    assert figures["objects"] == len(listed) == 2
    assert (tmp_path / "without").stat().st_size < min(listed.values()) + (tmp_path / "backup").stat().st_size
    assert (await restored(target, tmp_path / "backup"))["objects"] == 2
    for path in listed:
        name, _, form = path.partition("/")
        both = [b"".join([bytes(p) async for p in side.media.stream(name, PictureForm(form))]) for side in (db, target)]
        assert both[0] == both[1]
