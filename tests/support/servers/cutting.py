"""A proxy that cuts a connection to the store at a chosen command, before or after the store has executed it."""

import asyncio
import contextlib
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis.asyncio as redis

from store.client.nodes import one

_BYTES = 1 << 16  # read at a time
TCP_ONLY = {"host", "port", "socket_keepalive", "socket_keepalive_options"}

Pool = Callable[[str, int], redis.ConnectionPool]
Place = str | tuple[str, int]  # path, or host and port


class Proxy:
    """Stands before all nodes, and forwards bytes both ways until a connection is to be cut."""

    def __init__(self, urls: Sequence[str], folder: Path) -> None:
        self._paths = {_place(url): folder / f"{i}.sock" for i, url in enumerate(urls)}
        self._word = b""
        self._passes = 0
        self._is_after = False
        self._cut = asyncio.Event()
        self._connected: set[asyncio.Task[None]] = set()
        self._writers: set[StreamWriter] = set()

    def cut(self, word: str, *, passing: int = 0, after: bool = False) -> None:
        """Cut a connection at the next command with a word, but for the first `passing`.

        With `after`, the store executes the command, and the reply is lost.
        """
        self._word, self._passes, self._is_after = word.encode(), passing, after
        self._cut.clear()

    @property
    def has_cut(self) -> bool:
        """Whether the connection has been cut."""
        return self._cut.is_set()

    def cancel(self) -> None:
        """Cancel the cut."""
        self._word = b""

    @contextlib.asynccontextmanager
    async def serving(self) -> "AsyncIterator[Proxy]":
        """Accept connections inside the context. All connections that Perch begins to open there lead through it."""
        servers = [
            await asyncio.start_unix_server(partial(self._connect, to), path) for to, path in self._paths.items()
        ]
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(one, "pool", partial(self._pool, one.pool))
                yield self
        finally:
            for server in servers:
                server.close()
            for writer in list(self._writers):
                writer.close()
            if self._connected:
                await asyncio.wait(self._connected)

    def _pool(self, pool: Pool, url: str, protocol: int = 2) -> redis.ConnectionPool:
        made = pool(url, protocol)
        options = {name: value for name, value in made.connection_kwargs.items() if name not in TCP_ONLY}
        path = str(self._paths[_place(url)])
        return redis.ConnectionPool(redis.UnixDomainSocketConnection, **options | {"path": path})

    async def _connect(self, to: Place, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._connected.add(task)
        there, store = await (asyncio.open_unix_connection(to) if isinstance(to, str) else asyncio.open_connection(*to))
        self._writers |= {writer, store}
        doomed = asyncio.Event()
        await asyncio.gather(self._ask(reader, store, writer, doomed), self._answer(there, writer, store, doomed))
        for end in (writer, store):
            with contextlib.suppress(ConnectionError):
                await end.wait_closed()
        self._writers -= {writer, store}
        self._connected.discard(task)

    async def _ask(
        self, reader: StreamReader, store: StreamWriter, writer: StreamWriter, doomed: asyncio.Event
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(_BYTES):
                if self._is_doomed(data):
                    doomed.set()
                    self._cut.set()
                    if not self._is_after:
                        break
                store.write(data)
        store.close()
        if doomed.is_set() and not self._is_after:
            writer.close()

    async def _answer(
        self, there: StreamReader, writer: StreamWriter, store: StreamWriter, doomed: asyncio.Event
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while (data := await there.read(_BYTES)) and not doomed.is_set():
                writer.write(data)
        for end in (writer, store):
            end.close()

    def _is_doomed(self, data: bytes) -> bool:
        if not self._word or self._word not in data:
            return False
        self._passes -= 1
        if self._passes >= 0:
            return False
        self._word = b""
        return True


def _place(url: str) -> Place:
    parts = urlsplit(url)
    return parts.path if parts.scheme == "unix" else (parts.hostname or "", parts.port or 0)
