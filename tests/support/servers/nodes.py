"""A server of a cluster, as a process that a test can kill, freeze and start again."""

import contextlib
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import redis.asyncio as redis

from store.embedded.joining import ClusterView, view
from store.embedded.launch import HOST, free_port
from tests.support.servers.processes import until


class Node:
    """One server of a cluster. It keeps its folder and its port while it does not run."""

    def __init__(self, folder: Path, number: int, server: str, options: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.port = free_port(number)
        self.id = ""  # known once it has joined
        self._command = [server, *(str(word) for name, value in options.items() for word in (f"--{name}", value))]
        self._process: subprocess.Popen[bytes] | None = None
        self._is_frozen = False
        password = options.get("requirepass")
        self.client = redis.Redis(host=HOST, port=self.port, password=password, decode_responses=True)

    def __repr__(self) -> str:
        return f"<node {self.folder.name} on port {self.port}>"

    @property
    def is_running(self) -> bool:
        """Return whether the server has been started, and is neither killed nor frozen."""
        return self._process is not None and not self._is_frozen

    async def start(self) -> None:
        """Start the server; returns once it answers."""
        with (self.folder / "log").open("ab") as log:
            command = [*self._command, "--port", str(self.port)]
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)  # noqa: ASYNC220, S603  returns at once
        await until(self._answers)

    async def _answers(self) -> bool:
        with contextlib.suppress(redis.RedisError, OSError):
            return bool(await self.client.ping())
        return False

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop the server inside the context: it accepts connections and answers nothing."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)
        self._is_frozen = True
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)
            self._is_frozen = False

    async def run(self, *command: Any) -> Any:
        """Run one command and return its reply."""
        return await self.client.execute_command(*command)  # type: ignore[no-untyped-call]

    async def cluster(self, *words: Any) -> Any:
        """Run a subcommand of CLUSTER and return its reply as it is."""
        return await self.run("CLUSTER", *words)

    @contextlib.asynccontextmanager
    async def database(self, number: int) -> AsyncIterator[Callable[..., Awaitable[Any]]]:
        """Yield a function that runs commands in one of the node's databases."""
        async with self.client.client() as client:
            await client.select(number)
            yield client.execute_command
            await client.select(0)

    async def view(self) -> ClusterView:
        """Return all nodes as this one knows them."""
        return await view(self.client)
