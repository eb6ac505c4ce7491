"""A rolling restart, and sockets that a service manager holds: nobody's request or event is lost."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from benchmarks import restarts
from benchmarks.restarts import RestartLoad
from serving import running, systemd
from serving.running import StartError
from store.settings import Settings
from tests.support.people import sign_up
from tests.support.servers.processes import PATIENCE, Perch, perch, serving, until, visiting
from tests.support.slow import slow

pytestmark = slow

# Begins a command as systemd does, with a descriptor in its place.
HANDS_OVER = f"""import os, sys
os.dup2(int(sys.argv[1]), {systemd.FIRST_DESCRIPTOR})
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture(autouse=True)
def hears_signals() -> Iterator[None]:
    """Processes that a test starts get SIGHUP, though the test may run under `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


class Manager:
    """What a service manager is to Perch: it holds a listening socket, and is told the state of the service."""

    def __init__(self, folder: Path, held: socket.socket, notified: socket.socket) -> None:
        self._folder, self._held, self._notified = folder, held, notified
        notified.bind(str(folder / "notify"))
        notified.setblocking(False)
        self.url = f"http://127.0.0.1:{held.getsockname()[1]}"

    async def state(self) -> str:
        """Return the next state that the service tells."""
        async with asyncio.timeout(PATIENCE):
            return (await asyncio.get_running_loop().sock_recv(self._notified, 1_000)).decode()

    @contextlib.asynccontextmanager
    async def running(self, *arguments: str) -> AsyncIterator[Perch]:
        """Run a command of Perch as a service."""
        number = self._held.fileno()
        within = (sys.executable, "-I", "-S", "-c", HANDS_OVER, str(number))
        given = {"listen_fds": 1, "notify_socket": self._folder / "notify"}
        folder = self._folder / "data"
        async with perch(folder, *arguments, within=within, descriptors=[number], **given) as running:
            yield running


@contextlib.asynccontextmanager
async def managing(folder: Path) -> AsyncIterator[Manager]:
    """A service manager."""
    with socket.create_server(("127.0.0.1", 0)) as held, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        yield Manager(folder, held, notified)


async def test_rolling_restart(tmp_path: Path) -> None:
    """SIGHUP replaces all processes, and no request, no subscription and no event is lost, and none is repeated."""
    async with restarts.serving(tmp_path, drain_seconds=20) as server:
        load = RestartLoad(requests=400, subscriptions=20, restarts=1, clients=20)
        outcome = await restarts.prove(server, load)
    assert outcome.is_perfect(), outcome
    assert outcome.answered == load.requests
    assert outcome.reconnections >= load.subscriptions


async def test_new_code_that_fails(tmp_path: Path) -> None:
    """When a successor does not serve, the log says so, and the processes that serve go on. The manager is told."""
    async with managing(tmp_path) as manager, manager.running("serve", "--processes", "2") as running:
        async with visiting(await running.url()) as anonymous:
            assert await manager.state() == "READY=1"
            alice = await sign_up(anonymous, "alice")
            (tmp_path / "data/secret.key").write_text("too short")
            running.process.send_signal(signal.SIGHUP)
            assert (await manager.state()).startswith("RELOADING=1\nMONOTONIC_USEC=")
            assert await manager.state() == "READY=1"
            await running.err.line("processes_not_replaced")
            assert await alice.home() == []
        assert await running.stop() == 0


async def test_stop_drains(tmp_path: Path) -> None:
    """SIGHUP, on a single process as SIGTERM, lets an idle connection be used once more, and SIGINT does not."""
    for stopped, is_answered in ((signal.SIGHUP, True), (signal.SIGINT, False)):
        async with serving(tmp_path, drain_seconds=PATIENCE) as (running, anonymous):
            await anonymous.ask("{ __typename }")
            running.process.send_signal(stopped)
            if is_answered:
                # The port is closed first, so another connection shows that the process stops.
                await until(partial(_refuses, await running.url()))
                await anonymous.ask("{ __typename }")
            assert await running.ended() == 0


async def _refuses(url: str) -> bool:
    host, port = url.removeprefix("http://").split(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except ConnectionError as error:  # reset where the port is closed before the connection is accepted
        return isinstance(error, ConnectionRefusedError)
    writer.close()
    return False


async def test_held_sockets(tmp_path: Path) -> None:
    """Perch serves on sockets that it is given. A request between its end and its next start waits and is answered."""
    async with managing(tmp_path) as manager:
        async with manager.running("serve") as running, visiting(manager.url) as anonymous:
            assert await running.url() == manager.url
            assert await manager.state() == "READY=1"
            alice = await sign_up(anonymous, "alice")
            post = await alice.post("before the restart")
            assert await running.stop() == 0
            assert await manager.state() == "STOPPING=1"
        async with visiting(manager.url) as anonymous:
            alice.client = anonymous.client
            reading = asyncio.create_task(alice.home())
            async with manager.running("serve") as running:
                assert await reading == [post]
                assert await running.stop() == 0


async def test_worker(tmp_path: Path) -> None:
    """A worker tells its manager that it works."""
    async with managing(tmp_path) as manager, manager.running("worker") as worker:
        assert await manager.state() == "READY=1"
        assert await worker.stop() == 0


def test_sockets_that_are_not_of_tcp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket of systemd that clients of HTTP cannot reach by an address is refused."""
    with socket.socket(socket.AF_UNIX) as path:
        monkeypatch.setattr(systemd, "sockets", lambda: [path])
        with pytest.raises(StartError, match="not of TCP"), running.listening(Settings()):
            pass


def test_sockets_are_shared_out() -> None:
    """Sockets of one address are dealt out in turn, processes share one that is alone, and each has a process."""
    with contextlib.ExitStack() as stack:
        one, other = (stack.enter_context(socket.socket()) for _ in range(2))
        for each in (one, other):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        one.bind(("127.0.0.1", 0))
        other.bind(one.getsockname())
        alone = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        assert systemd.shared_out([one, other, alone], 2) == [[one, alone], [other, alone]]
        assert systemd.shared_out([one, other], 1) == [[one, other]]
        assert systemd.shared_out([one, other], 3) == [[one], [other], [one]]


def test_sockets_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets that were given to another process, such as the parent, are left alone."""
    monkeypatch.setenv("LISTEN_FDS", "1")
    monkeypatch.setenv("LISTEN_PID", str(os.getpid() + 1))
    assert systemd.sockets() == []
