"""A small disk of its own for a store, which a test fills."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from store.embedded.supervisor import ask
from tests.support.servers.holders import supervisor_of
from tests.support.servers.processes import Perch, perch

MIB = 1 << 20
BLOCK = 4096  # bytes
MOUNT = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")


class CannotMount(Exception):
    """Nothing may be mounted here."""


class Disk:
    """A small disk that only processes started within its namespace can see."""

    def __init__(self, keeper: int, folder: Path) -> None:
        self.folder = folder
        self.within = ("nsenter", f"--target={keeper}", "--user", "--mount", "--preserve-credentials")
        self._seen = Path(f"/proc/{keeper}/root{folder}")

    def path(self, name: str) -> Path:
        """Return the path of a file of the disk as this process sees it."""
        return self._seen / name

    def free_bytes(self) -> int:
        """Return the room that is left."""
        return shutil.disk_usage(self._seen).free

    def fill(self, leave: int = 0) -> None:
        """Leave room for so many bytes, or for none at all."""
        with self.path("filling").open("ab", buffering=0) as file, contextlib.suppress(OSError):
            while not leave or self.free_bytes() > leave:
                file.write(bytes(BLOCK))

    def free(self) -> None:
        """Make room again."""
        self.path("filling").unlink()

    def pad_log(self, left: int) -> None:
        """Add a key that has expired to the log of a stopped store, so that its last block has so many bytes left."""
        (log,) = self.path("data/appendonlydir").glob("*.incr.aof")
        begin, end = b"*5\r\n$3\r\nSET\r\n$3\r\nold\r\n$%d\r\n", b"\r\n$4\r\nPXAT\r\n$1\r\n1\r\n"
        length = BLOCK + -(log.stat().st_size + left) % BLOCK - len(begin % BLOCK + end)
        with log.open("ab") as file:
            file.write(begin % length + b"x" * length + end)
        assert -log.stat().st_size % BLOCK == left

    def kill_store(self) -> None:
        """Kill the embedded server, and leave its supervisor."""
        supervisor = supervisor_of(self.path("data"))
        (server,) = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
        os.kill(int(server), signal.SIGKILL)

    def appendfsync(self) -> str:
        """Return how often the running store forces its log to disk."""
        folder = os.open(self.path("data"), os.O_PATH)
        try:
            return ask(f"/proc/self/fd/{folder}/store.sock", "CONFIG GET appendfsync", line=5)  # a short path
        finally:
            os.close(folder)

    def make_read_only(self) -> None:
        """Mount it again, read-only."""
        subprocess.run([*self.within, "mount", "-o", "remount,ro", self.folder], check=True)  # noqa: S603  own command

    def serving(self, **settings: Any) -> contextlib.AbstractAsyncContextManager[Perch]:
        """Run a server whose data are on the disk."""
        return perch(
            self.folder / "data", "serve", within=self.within, **{"log_level": "ERROR", "min_free_disk": 0, **settings}
        )


@contextlib.asynccontextmanager
async def small_disk(folder: Path, mib: int) -> AsyncIterator[Disk]:
    """A disk of a size, in a namespace where an ordinary user may mount one. Raises CannotMount."""
    await asyncio.to_thread(folder.mkdir)
    script = f'mount -t tmpfs -o size={mib}m tmpfs "$0" && echo mounted && exec cat'
    try:
        keeper = await asyncio.create_subprocess_exec(*MOUNT, script, folder, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    except FileNotFoundError:
        raise CannotMount("there are no mount namespaces here") from None
    try:
        assert keeper.stdout
        if not await keeper.stdout.readline():
            raise CannotMount("nothing may be mounted here")
        yield Disk(keeper.pid, folder)
    finally:
        with contextlib.suppress(ProcessLookupError):
            keeper.kill()
        await keeper.communicate()
