"""kill -9 under load: what was answered is there, every follower has it, nobody has it twice."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from store import jobs
from store.connection import Database
from tests.conftest import Member
from tests.load import Load, friends, moved
from tests.processes import opened, perch, run, until, visiting

FRIENDS = 5
CLIENTS = 10
POSTS = 200
LIMITS = {"max_page": 300, "fanout_inline": 2, "fanout_batch": 2}  # of four followers a worker reaches the last ones
HOME = f"first: {POSTS + 1}"


async def assert_whole(data_dir: Path, members: list[Member], load: Load) -> None:
    """Assert that every home has exactly what was answered, and verify finds nothing."""
    wanted = load.newest_first()
    assert len(wanted) == len(set(wanted)) == POSTS
    for member in members:
        assert await member.home(HOME) == wanted
    status, out, _ = await run(data_dir, "verify", "--all-homes")
    assert status == 0, out
    assert f"and {FRIENDS} homes checked: 0 findings" in out


async def test_perch_killed(tmp_path: Path) -> None:
    """Perch dies in the middle of many posts: started again, it has all it answered, and finishes what it began."""
    async with perch(tmp_path, "serve", **LIMITS) as running, visiting(await running.url()) as anonymous:
        members = await friends(anonymous, FRIENDS)
        load = Load(members, POSTS)
        posting = asyncio.create_task(load.post(CLIENTS))
        await until(lambda: _has(load, POSTS // 2))
        running.process.kill()
        await posting
        assert POSTS // 2 <= len(load.answered) < POSTS
    async with perch(tmp_path, "serve", **LIMITS) as running, visiting(await running.url()) as anonymous:
        moved(members, anonymous)
        for member in members:
            there = await member.home(HOME)
            assert len(there) == len(set(there))
        async with opened(tmp_path) as db:
            await until(lambda: _is_finished(db))
        for member in members:
            assert set(load.answered) <= set(await member.home(HOME))
        await load.post(CLIENTS)
        async with opened(tmp_path) as db:
            await until(lambda: _is_finished(db))
        await assert_whole(tmp_path, members, load)


async def test_store_killed(tmp_path: Path) -> None:
    """The store dies in the middle of many posts: it comes back with what was answered, and repair does the rest."""
    async with (
        perch(tmp_path, "serve", run_worker="false", **LIMITS) as running,
        visiting(await running.url()) as anonymous,
    ):
        members = await friends(anonymous, FRIENDS)
        load = Load(members, POSTS)
        posting = asyncio.create_task(load.post(CLIENTS))
        await until(lambda: _has(load, POSTS // 2))
        async with opened(tmp_path) as db:
            killed = await _process(db)
            os.kill(killed, signal.SIGKILL)
            await posting
            assert await _process(db) != killed
        assert sum(load.refused.values())
        await until(lambda: _is_repaired(tmp_path))
        await assert_whole(tmp_path, members, load)


async def _has(load: Load, count: int) -> bool:
    return len(load.answered) >= count


async def _is_finished(db: Database) -> bool:
    return await jobs.backlog(db) == (0, 0)


async def _is_repaired(data_dir: Path) -> bool:
    # What a process that still lives has begun is left to it for a lease: then repair has to come again.
    status, out, _ = await run(data_dir, "repair", "--all-homes")
    return status == 0 and "unfinished" not in out


async def _process(db: Database) -> int:
    facts = str(await db.one("INFO", "server"))
    return int(next(line.partition(":")[2] for line in facts.splitlines() if line.startswith("process_id:")))
