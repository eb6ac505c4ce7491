"""kill -9 under load: every answered write is there, every follower has it, nobody has it twice."""

import asyncio
import contextlib
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from store import jobs
from store.client.database import Database
from tests.support.people import Member
from tests.support.servers.holders import LOCKS, supervisor_of, until_free
from tests.support.servers.load import Load, friends, moved
from tests.support.servers.processes import opened, perch, run, until, visiting
from tests.support.slow import slow

FRIENDS = 5
CLIENTS = 10
POSTS = 200
LIMITS: dict[str, Any] = {
    "max_page": 300,
    "fanout_inline": 2,
    "fanout_batch": 2,
}  # of four followers, the last ones are left to a worker
HOME = f"first: {POSTS + 1}"


async def assert_whole(data_dir: Path, members: list[Member], load: Load) -> None:
    """Assert that every home has exactly the answered posts, and that verify finds nothing."""
    wanted = load.newest_first()
    assert len(wanted) == len(set(wanted)) == POSTS
    for member in members:
        assert await member.home(HOME) == wanted
    status, out, _ = await run(data_dir, "verify", "--all-homes")
    assert status == 0, out
    assert f"and {FRIENDS} homes checked: 0 findings" in out


async def test_perch_killed(tmp_path: Path) -> None:
    """Perch dies in the middle of many posts: after a restart it has all it answered, and finishes what it began."""
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
    """The store dies in the middle of many posts: it restarts with all answered writes, and repair does the rest."""
    async with (
        perch(tmp_path, "serve", run_worker="false", appendfsync="always", **LIMITS) as running,
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


@slow
@pytest.mark.parametrize("processes", [1, 2])
async def test_store_killed_with_supervisor(tmp_path: Path, processes: int) -> None:
    """Store and supervisor die at once, twice: Perch restarts both, and goes on with all that it answered."""
    async with (
        perch(tmp_path, "serve", processes=processes, appendfsync="always", **LIMITS) as running,
        visiting(await running.url()) as anonymous,
    ):
        members = await friends(anonymous, FRIENDS)
        load = Load(members, POSTS)
        posting = asyncio.create_task(load.post(CLIENTS))
        for part in (3, 2):
            await until(lambda enough=POSTS // part: _has(load, enough))  # type: ignore[misc]
            server = await _server_of(tmp_path)
            os.kill(supervisor_of(tmp_path), signal.SIGKILL)
            os.kill(server, signal.SIGKILL)
        await posting
        assert sum(load.refused.values())
        await until(lambda: _is_repaired(tmp_path))
        await assert_whole(tmp_path, members, load)
        assert await running.stop() == 0
    await until_free(tmp_path, *LOCKS)


@pytest.mark.parametrize("damage", ["zeros", "noise", "half a command", "lost", "noise within"])
async def test_damaged_log_is_repaired(tmp_path: Path, damage: str) -> None:
    """A store killed under load, with damage at the end of its log, has all writes before it; repair does the rest."""
    async with (
        perch(tmp_path, "serve", appendfsync="always", **LIMITS) as running,
        visiting(await running.url()) as anonymous,
    ):
        members = await friends(anonymous, FRIENDS)
        load = Load(members, POSTS)
        posting = asyncio.create_task(load.post(CLIENTS))
        await until(lambda: _has(load, POSTS // 2))
        early = list(load.answered)
        (file,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
        safe = file.stat().st_size
        await until(lambda: _has(load, POSTS // 2 + 20))
        server = await _server_of(tmp_path)
        running.process.kill()
        os.kill(supervisor_of(tmp_path), signal.SIGKILL)
        os.kill(server, signal.SIGKILL)
        await posting
    await until_free(tmp_path, *LOCKS)
    _damage(file, damage, safe)
    await until(lambda: _is_repaired(tmp_path))
    status, out, _ = await run(tmp_path, "verify", "--all-homes")
    assert status == 0, out
    async with perch(tmp_path, "serve", **LIMITS) as running, visiting(await running.url()) as anonymous:
        for member in moved(members, anonymous):
            home = await member.home(HOME)
            assert set(early) <= set(home)
            assert len(home) == len(set(home))
        assert await members[0].post("and on it goes")


def _damage(file: Path, kind: str, safe: int) -> None:
    """Damage a log after a number of bytes."""
    noise = random.Random(kind).randbytes(4096)  # noqa: S311  keeps no secret
    data = file.read_bytes()
    middle = (safe + len(data)) // 2
    damaged = {
        "zeros": data + bytes(4096),
        "noise": data + noise,
        "half a command": data[:-7],
        "lost": data[:middle] + bytes(len(data) - middle),
        "noise within": data[:middle] + noise + data[middle:],
    }
    file.write_bytes(damaged[kind])


async def _server_of(data_dir: Path) -> int:
    """Return the number of the store's process, once one answers; its supervisor may be dead."""
    while True:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):  # it was killed, and starts again
            reader, writer = await asyncio.open_unix_connection(data_dir / "store.sock")
            writer.write(b"INFO server\r\n")
            await writer.drain()
            await reader.readuntil(b"process_id:")
            number = await reader.readline()
            writer.close()
            return int(number)


async def _has(load: Load, count: int) -> bool:
    return len(load.answered) >= count


async def _is_finished(db: Database) -> bool:
    return await jobs.backlog(db) == (0, 0)


async def _is_repaired(data_dir: Path) -> bool:
    # Jobs begun by a live process stay with it until their lease expires: then repair has to run again.
    status, out, _ = await run(data_dir, "repair", "--all-homes")
    return status == 0 and "unfinished" not in out


async def _process(db: Database) -> int:
    facts = str(await db.one("INFO", "server"))
    return int(next(line.partition(":")[2] for line in facts.splitlines() if line.startswith("process_id:")))
