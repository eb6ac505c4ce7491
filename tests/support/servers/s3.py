"""A real S3 server: SeaweedFS from its wheel, in one process, which tests may stop and kill."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

PROGRAM = Path(sys.executable).with_name("weed")
BUCKET = "perch"
SECONDS = 30  # after which a server that does not answer counts as lost
SERVICES = ("master", "volume", "filer", "s3", "admin")
KEYS = {"AWS_ACCESS_KEY_ID": "perch", "AWS_SECRET_ACCESS_KEY": "a secret of tests"}


@dataclass
class S3Server:
    """One server with one bucket. After `kill`, `start` begins it again with the same data and address."""

    folder: Path
    ports: dict[str, int]
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which clients find the server."""
        return {**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.ports['s3']}", "AWS_REGION": "us-east-1"}

    def store(self) -> str:
        """Return a MEDIA_STORE that nobody else uses."""
        return f"s3://{BUCKET}/{secrets.token_hex(8)}"

    def start(self) -> None:
        """Start the server, and wait until it takes requests."""
        ports = [f"-{name}.port={port}" for name, port in self.ports.items() if "." not in name]
        ports += [f"-{name}={port}" for name, port in self.ports.items() if "." in name]
        options = [f"-dir={self.folder}", f"-bucket={BUCKET}", "-ip=127.0.0.1", "-webdav=false", "-admin.ui=false"]
        command = [str(PROGRAM), "mini", *options, "-s3.port.iceberg=0", *ports]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603  the wheel's program
                command, stdout=log, stderr=log, env={**os.environ, **KEYS}, cwd=self.folder
            )
        deadline = time.monotonic() + SECONDS
        while not self._takes_objects():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.05)

    def _takes_objects(self) -> bool:
        """Return whether an object can be stored. The gateway answers before that."""
        store = S3Store(
            BUCKET,
            endpoint=self.environment["AWS_ENDPOINT_URL"],
            region=self.environment["AWS_REGION"],
            access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
            client_options={"allow_http": True},
            retry_config={"max_retries": 0},
        )
        try:
            obstore.put(store, f"ready/{time.monotonic_ns()}", b"x")
        except BaseError:
            return False
        return True

    def kill(self) -> None:
        """Kill the server."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Have the server accept connections and answer nothing."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


def new_server(folder: Path) -> S3Server:
    """Return a server that is not started yet."""
    names = [*SERVICES, *(f"{name}.port.grpc" for name in SERVICES)]
    with contextlib.ExitStack() as taken:
        ports = {}
        for name in names:
            sock = taken.enter_context(socket.socket())
            sock.bind(("127.0.0.1", 0))
            ports[name] = sock.getsockname()[1]
    return S3Server(folder, ports)
