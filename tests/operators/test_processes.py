"""Several server processes on one port: they share the work, are replaced, and end together."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectionError

from serving import processes
from store import keys
from store.settings import Settings
from tests.support.people import sign_up
from tests.support.servers.processes import Perch, is_writing, opened, perch, run, until, visiting
from tests.support.slow import slow
from tests.support.transport.live import HOME, subscribed
from tests.support.work import number

pytestmark = slow

SEVERAL = re.compile(r"Perch is running: server and worker, processes (\d+) (\d+), kept by process (\d+)")


@contextlib.asynccontextmanager
async def pair(data_dir: Path, **settings: Any) -> AsyncIterator[tuple[Perch, list[int]]]:
    """Two serving processes, and their numbers."""
    async with perch(data_dir, "serve", "--processes", "2", **settings) as running:
        await running.url()
        words = SEVERAL.fullmatch(running.out.lines[0])
        assert words, running.out.lines
        first, second, parent = map(int, words.groups())
        assert len({first, second, parent}) == 3
        assert parent == running.process.pid
        yield running, [first, second]


def logged(running: Perch, event: str) -> list[dict[str, Any]]:
    """Log records of one kind from all processes."""
    lines = [json.loads(line) for line in running.err.lines if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


@contextlib.contextmanager
def paused(process: int) -> Iterator[None]:
    """A process that does nothing, so that another has to answer."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # it may have been killed meanwhile
            os.kill(process, signal.SIGCONT)


def has_logged(running: Perch, event: str, name: str, value: float) -> Callable[[], Awaitable[bool]]:
    """Return whether a record with a value has been logged."""

    async def is_logged() -> bool:
        return any(line[name] == value for line in logged(running, event))

    return is_logged


async def test_both_answer(tmp_path: Path) -> None:
    """Each of two processes takes connections, the log says which, and each sees the other's writes."""
    async with pair(tmp_path) as (running, numbers):
        async with visiting(await running.url()) as anonymous:
            alice = await sign_up(anonymous, "alice")
            post = await alice.post("to whichever")

        async def both_answered() -> bool:
            async with visiting(await running.url()) as fresh:
                alice.client = fresh.client
                assert await alice.home() == [post]
            return {line["process"] for line in logged(running, "request")} == set(numbers)

        await until(both_answered)
        assert await running.stop() == 0


async def test_shared_out(tmp_path: Path) -> None:
    """Simultaneous connections are shared out: each of two processes takes some of forty."""
    async with pair(tmp_path) as (running, numbers), contextlib.AsyncExitStack() as stack:
        url = await running.url()
        guests = [await stack.enter_async_context(visiting(url)) for _ in range(40)]
        await asyncio.gather(*(guest.ask("{ __typename }") for guest in guests))

        async def all_logged() -> bool:
            return len(logged(running, "request")) == len(guests)

        await until(all_logged)
        shares = Counter(line["process"] for line in logged(running, "request"))
        assert shares.keys() == set(numbers)
        # Fewer than five by chance: once in four million.
        assert sys.platform != "linux" or min(shares.values()) >= 5


async def test_port_in_use(tmp_path: Path) -> None:
    """Several processes do not share their port with those of another Perch."""
    async with pair(tmp_path / "first") as (running, _):
        port = (await running.url()).rpartition(":")[2]
        status, out, err = await run(tmp_path / "second", "serve", processes=2, port=port, log_level="ERROR")
    assert (status, out) == (1, "")
    assert err == f"perch: cannot listen on 127.0.0.1:{port}: address already in use"


async def test_replaced(tmp_path: Path) -> None:
    """A killed process is replaced; clients that connect meanwhile are answered, and all writes are kept."""
    async with pair(tmp_path) as (running, (first, second)):
        async with visiting(await running.url()) as anonymous:
            alice = await sign_up(anonymous, "alice")
            post = await alice.post("before kill -9")
        for killed in (first, second):
            os.kill(killed, signal.SIGKILL)
            await until(has_logged(running, "process_ended", "number", killed))
            for _ in range(4):
                async with visiting(await running.url()) as fresh:
                    alice.client = fresh.client
                    assert await alice.home() == [post]
        fresh_ones = {line["number"] for line in await _served(running, 4)} - {first, second}
        assert len(fresh_ones) == 2
        assert {line["process"] for line in logged(running, "request")} & fresh_ones
        assert await running.stop() == 0


async def _served(running: Perch, count: int) -> list[dict[str, Any]]:
    async def enough() -> bool:
        return len(logged(running, "process_serves")) == count

    await until(enough)
    return logged(running, "process_serves")


async def test_stop_together(tmp_path: Path) -> None:
    """SIGTERM lets running requests finish, ends live streams, takes no more requests, and leaves no process."""
    async with opened(tmp_path) as db, pair(tmp_path) as (running, numbers):
        async with visiting(await running.url()) as anonymous:
            alice = await sign_up(anonymous, "alice")
            async with subscribed(alice, HOME) as stream:
                await db.one("CLIENT", "PAUSE", 60_000, "WRITE")
                posting = asyncio.create_task(alice.post("until the end"))
                await until(lambda: is_writing(db))
                running.process.terminate()
                assert await stream.closed() == 1001
                assert not posting.done()
                await db.one("CLIENT", "UNPAUSE")
                post = await posting
                assert await running.ended() == 0
            with pytest.raises(ClientConnectionError):
                await alice.home()
        assert await db.one("EXISTS", keys.status(number(post)))
        assert [_lives(process) for process in numbers] == [False, False]
    assert not logged(running, "process_killed")


async def test_one_that_hangs(tmp_path: Path) -> None:
    """A process that does not end on request is killed once the time to finish is over."""
    async with pair(tmp_path, shutdown_seconds=0) as (running, (first, second)):
        with paused(first):
            assert await running.stop() == 0
        assert [line["number"] for line in logged(running, "process_killed")] == [first]
        assert not _lives(second)


async def test_orphans_end(tmp_path: Path) -> None:
    """When the parent is killed the others end by themselves, and the next one finds all that was answered."""
    async with pair(tmp_path) as (running, _), visiting(await running.url()) as anonymous:
        alice = await sign_up(anonymous, "alice")
        post = await alice.post("before kill -9")
        running.process.kill()
        assert await running.ended() == -9
        await running.err.all()  # no process is left that could write to it
    async with pair(tmp_path) as (running, _), visiting(await running.url()) as anonymous:
        alice.client = anonymous.client
        assert await alice.home() == [post]


async def test_gives_up(tmp_path: Path) -> None:
    """A server that cannot start ends with the reason and status 1."""
    (tmp_path / "secret.key").write_text("too short")
    async with perch(tmp_path, "serve", "--processes", "2") as running:
        assert await running.ended() == 1
        assert "holds no secret" in await running.err.all()


async def test_does_not_give_up(tmp_path: Path) -> None:
    """A process that cannot be replaced is started again and again. Meanwhile the other one goes on."""
    async with pair(tmp_path) as (running, (first, second)):
        secret = (tmp_path / "secret.key").read_text()
        (tmp_path / "secret.key").write_text("too short")
        os.kill(first, signal.SIGKILL)
        await until(has_logged(running, "process_not_replaced", "next_try_seconds", 1.0))
        assert _lives(second)
        (tmp_path / "secret.key").write_text(secret)
        await _served(running, 3)
        assert await running.stop() == 0


async def test_one(tmp_path: Path) -> None:
    """--processes overrides PROCESSES; 1 is a single process, 0 as many as processors."""
    assert 1 <= processes.wanted(Settings(processes=0)) <= (os.cpu_count() or 1)
    async with perch(tmp_path, "serve", "--processes", "1", processes=2) as running:
        await running.url()
        assert running.out.lines[0] == f"Perch is running: server and worker, process {running.process.pid}"
        assert await running.stop() == 0


async def test_wrong_count(tmp_path: Path) -> None:
    """An impossible number of processes ends in one line that names the setting and the rule, and in status 2."""
    many, few, most = await asyncio.gather(
        run(tmp_path / "data", "serve", "--processes", "many"),
        run(tmp_path / "data", "serve", "--processes", "-1"),
        run(tmp_path / "data", "serve", processes="257"),
    )
    assert many == (2, "", "perch: PROCESSES must be a whole number, not 'many'")
    assert few == (2, "", "perch: PROCESSES must be at least 0, not -1")
    assert most == (2, "", "perch: PROCESSES must be at most 256, not 257")
    assert not (tmp_path / "data").exists()


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
