"""A site whose server, worker and object store are processes that may be killed and started again."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.wire import SERVER
from tests.support.servers.s3 import S3Server, new_server

READY_SECONDS = 60  # after which a process that does not answer counts as lost
PAUSE = 0.05  # seconds between two looks at a process
CHOSEN = {
    "RATE_LIMIT": "0",
    "OVERLOAD_DELAY_MS": "0",
    "SIGN_UPS_PER_HOUR": "1000000",
    "PASSWORD_MEMORY_KIB": "8",
    "PASSWORD_PASSES": "1",
    "ACCESS_TOKEN_SECONDS": "86400",
    "JOB_LEASE_SECONDS": "1",
    "RUN_WORKER": "false",
    "LOG_LEVEL": "ERROR",
}


class Site:
    """The processes of one site, by their kind: `server`, `worker`, and `bucket` where pictures are in one."""

    def __init__(self, folder: Path, bucket: S3Server | None) -> None:
        self.folder = folder / "data"
        self.folder.mkdir()
        self.media_store = bucket.store() if bucket else ""
        self._bucket = bucket
        self._log = folder / "log"
        self._port = _free_port()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def kinds(self) -> list[str]:
        """What can be killed."""
        return ["server", "worker", *(["bucket"] if self._bucket else [])]

    def start(self, kind: str) -> None:
        """Start a process. A server does not answer at once."""
        if kind == "bucket":
            assert self._bucket
            self._bucket.start()
            return
        command = [sys.executable, str(SERVER), "serve" if kind == "server" else "worker"]
        chosen = {"DATA_DIR": str(self.folder), "PORT": str(self._port), "MEDIA_STORE": self.media_store, **CHOSEN}
        with self._log.open("ab") as log:
            self._processes[kind] = subprocess.Popen(  # noqa: S603  own script
                command, stdout=log, stderr=log, env=os.environ | chosen
            )

    def kill(self, kind: str) -> None:
        """Kill a process, as `kill -9` does. Nothing is called before it ends."""
        if kind == "bucket":
            assert self._bucket
            self._bucket.kill()
            return
        process = self._processes.pop(kind)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def wait_for_server(self) -> None:
        """Wait until the server takes connections."""
        deadline = time.monotonic() + READY_SECONDS
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), PAUSE):
                return
            if time.monotonic() > deadline:
                raise SystemExit(f"the server does not start:\n{self._log.read_text()[-2_000:]}")
            time.sleep(PAUSE)

    def stop(self) -> None:
        """Stop all processes in order."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait()


@contextlib.contextmanager
def bucket(folder: Path) -> Iterator[S3Server]:
    """Run an S3 server, SeaweedFS, which this process and its children find by their environment."""
    folder.mkdir()
    server, before = new_server(folder), dict(os.environ)
    os.environ.update(server.environment)
    server.start()
    try:
        yield server
    finally:
        server.kill()
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def storing(folder: Path, store: str) -> Iterator[str]:
    """Yield a MEDIA_STORE for a site whose pictures are in a `folder` or a `bucket`, which runs meanwhile."""
    folder.mkdir()
    if store == "folder":
        yield ""
        return
    with bucket(folder / "bucket") as server:
        yield server.store()


@contextlib.contextmanager
def running(folder: Path, store: str) -> Iterator[Site]:
    """Run a site whose pictures are in a `folder` or a `bucket`."""
    with contextlib.ExitStack() as held:
        s3: Any = held.enter_context(bucket(folder / "bucket")) if store == "bucket" else None
        site = Site(folder, s3)
        held.callback(site.stop)
        site.start("server")
        site.start("worker")
        site.wait_for_server()
        yield site


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
