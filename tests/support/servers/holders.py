"""Processes that hold an embedded store, and the locks by which they hold it."""

import asyncio
import contextlib
import fcntl
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as RedisConnectionError

from store.embedded.attach import Attachment, attach
from store.embedded.launch import USUAL, StartOptions

REPOSITORY = Path(__file__).parents[3]
SECONDS = 30  # after which an expected event counts as lost
LOCKS = ("holders.lock", "supervisor.lock", "store.lock")

# A Perch process: attaches, writes a key, reports that, and runs until it is killed.
HOLDER = """
import asyncio, sys
from pathlib import Path
from redis.asyncio import Redis
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as RedisConnectionError
from store.embedded.attach import attach

async def hold():
    attachment = await attach(Path(sys.argv[1]))
    async with Redis.from_url(attachment.url) as client:
        await client.set(sys.argv[2], "kept")
        print(attachment.started, (await client.info("server"))["run_id"], flush=True)
        await asyncio.Event().wait()

asyncio.run(hold())
"""


@contextlib.asynccontextmanager
async def holder(data_dir: Path, key: str) -> AsyncIterator[Process]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, data_dir, key, stdout=PIPE, env=environment
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def greeting(process: Process) -> tuple[bool, str]:
    assert process.stdout is not None
    started, run = (await process.stdout.readline()).decode().split()
    return started == "True", run


@contextlib.asynccontextmanager
async def attached(data_dir: Path, options: StartOptions = USUAL) -> AsyncIterator[tuple[Attachment, Redis]]:
    attachment = await attach(data_dir, options)
    try:
        async with Redis.from_url(attachment.url, decode_responses=True) as client:
            yield attachment, client
    finally:
        await attachment.close()


async def server_info(client: Redis) -> tuple[int, str]:
    info = await client.info("server")
    return info["process_id"], info["run_id"]


def supervisor_of(data_dir: Path) -> int:
    return int((data_dir / "supervisor.lock").read_text().split()[0])


async def run_after(attachment: Attachment, run: str) -> str:
    """Wait until a server other than that of a run has loaded its data, and return its run id."""
    async with asyncio.timeout(SECONDS):
        while True:
            with contextlib.suppress(RedisConnectionError, BusyLoadingError):
                async with Redis.from_url(attachment.url, decode_responses=True) as client:
                    now = (await server_info(client))[1]
                    await client.ping()  # unlike INFO, refused by a server that still loads, and may yet find damage
                    if now != run:
                        return now
            await asyncio.sleep(0)


def lock(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


async def until_free(data_dir: Path, *names: str) -> None:
    for name in names:
        os.close(await asyncio.to_thread(lock, data_dir / name))


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  it comes true in another process, or in a thread out of reach
        await asyncio.sleep(0)


def is_locked(path: Path, mode: int) -> bool:
    with path.open("rb+") as file:
        try:
            fcntl.flock(file, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
