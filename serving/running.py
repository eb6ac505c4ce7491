"""Services, sockets, deferred work, and the signals that stop a command. Nothing here imports the schema."""

import asyncio
import contextlib
import math
import os
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any

import structlog

from resolvers.jobs.worker import Worker
from resolvers.mail.mailer import Mailer
from resolvers.process.services import Services
from serving import systemd
from store.client import clocks
from store.client.database import Database
from store.client.tasks import stop
from store.embedded import opening
from store.settings import Settings, urls

BACKLOG = 128  # connections that wait to be accepted
OTHER_FILES = 64  # that a process opens apart from connections of clients: store, log, pipes, the event loop's own

Sockets = Sequence[socket.socket]  # the listening sockets of one process, one for each address


log = structlog.get_logger(__name__)


class StartError(Exception):
    """The server cannot start. The message is one line with the reason."""


@contextlib.asynccontextmanager
async def opened(settings: Settings, patience: float = math.inf) -> AsyncIterator[Services]:
    """Open the database, with so many seconds of patience, and the services of the process."""
    async with database(settings, patience) as db:
        services = Services(settings, db, opening.secret(settings))
        try:
            await services.start()
            comparing = asyncio.create_task(clocks.keep_comparing(db), name="clocks")
            try:
                yield services
            finally:
                await stop(comparing)
        finally:
            await services.close()


@contextlib.asynccontextmanager
async def database(settings: Settings, patience: float = math.inf) -> AsyncIterator[Database]:
    """Open the database, with so many seconds of patience.

    As long as that takes, systemd learns what it waits for, and goes on waiting.
    """
    async with contextlib.AsyncExitStack() as stack:
        with systemd.starting() as waits:
            db = await stack.enter_async_context(opening.database(settings, waits, patience))
        yield db


def most_connections(settings: Settings) -> int:
    """Return how many clients may be connected: MAX_CONNECTIONS, or fewer where the limit of open files is lower.

    The process raises its own limit first, as far as allowed. The event loop may accept all that wait at once, before
    any of them is counted.
    """
    reserved = OTHER_FILES + settings.redis_connections + BACKLOG
    limit = _raised(settings.max_connections + reserved)
    most = min(settings.max_connections, max(limit - reserved, limit // 4))
    if most < settings.max_connections:
        log.warning("connections_lowered", connections=most, wanted=settings.max_connections, open_files=limit)
    return most


def _raised(wanted: int) -> int:
    """Raise the soft limit of open files as far as wanted and allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    with contextlib.suppress(ValueError, OSError):  # macOS has a limit of its own below the hard one
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        return raised
    return soft


@contextlib.contextmanager
def listening(settings: Settings, count: int = 1) -> Iterator[list[Sockets]]:
    """Listen on every address of the host, for `count` processes; raises StartError where that fails.

    Sockets that systemd has opened take the place of HOST and PORT.
    """
    with contextlib.ExitStack() as stack:
        if given := systemd.sockets():
            if any(each.family not in {socket.AF_INET, socket.AF_INET6} for each in given):
                raise StartError("systemd has opened a socket that is not of TCP")
            yield list(systemd.shared_out([stack.enter_context(each) for each in given], count))
            return
        try:
            resolved = socket.getaddrinfo(
                settings.host or None, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            addresses = dict.fromkeys((family, address[:2]) for family, _, _, _, address in resolved)
            queues = [_listen(stack, family, address, count) for family, address in addresses]
        except OSError as error:
            # Python's own message of an OSError repeats the address.
            reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0).lower()
            raise StartError(f"cannot listen on {settings.host}:{settings.port}: {reason}") from error
        yield list(zip(*queues, strict=True))


def _listen(stack: contextlib.ExitStack, family: int, address: Any, count: int) -> list[socket.socket]:
    """Listen on an address. With several processes, Linux distributes connections among one socket for each."""
    alone = stack.enter_context(socket.create_server(address, family=family, backlog=BACKLOG))
    if count == 1 or sys.platform != "linux":
        return [alone] * count
    # A port in use has been refused by now. Race: another program that opens the port now with SO_REUSEPORT shares it.
    address = alone.getsockname()[:2]
    alone.close()
    return [
        stack.enter_context(socket.create_server(address, family=family, backlog=BACKLOG, reuse_port=True))
        for _ in range(count)
    ]


async def work(services: Services) -> None:
    """Do the deferred work and send mails until cancelled. A slow mail server holds no other work up."""
    # A task group would cancel each of them only once.
    worker = asyncio.create_task(Worker(services.db).run(services.pubsub))
    mailer = asyncio.create_task(Mailer(services.db, services.settings, services.tokens).run())
    try:
        await asyncio.gather(worker, mailer)
    finally:
        await stop(worker, mailer)


def announce(settings: Settings, sockets: Sockets, several: Sequence[int] = ()) -> None:
    """Print that Perch serves, and where, with the ids of several processes."""
    host, port = sockets[0].getsockname()[:2]
    where = urls.shown(settings.redis_url) if settings.redis_url else f"{settings.data_dir.resolve()} (embedded)"
    shown = f"[{host}]" if ":" in host else host
    does = f"server{' and worker' if settings.run_worker else ''}"
    by = f"processes {' '.join(map(str, several))}, kept by process" if several else "process"
    print(f"Perch is running: {does}, {by} {os.getpid()}")
    print(f"  data  {where}")
    print(f"  open  http://{shown}:{port}/graphql", flush=True)
    systemd.tell("READY=1")


def reloading() -> asyncio.Event:
    """Return an event that SIGHUP will set. If SIGHUP comes because the terminal is gone, it stops the process."""
    asked, loop = asyncio.Event(), asyncio.get_running_loop()
    ends_with_terminal = _has_terminal() and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN  # no `nohup`

    def reload() -> None:
        if ends_with_terminal and not _has_terminal():
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            asked.set()

    loop.add_signal_handler(signal.SIGHUP, reload)
    return asked


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


class Stopping(asyncio.Event):
    """Set when the process has to stop."""

    drains = False  # whether idle connections may be used once more: somebody waits at a terminal after SIGINT

    def stop(self, *, drains: bool) -> None:
        """Begin to stop. The first call decides how."""
        if not self.is_set():
            self.drains = drains
            self.set()


def stopping(lifeline: int | None = None) -> Stopping:
    """Return an event that will be set by a signal, or by activity on the descriptor `lifeline`, such as its end.

    The signals are SIGINT, SIGTERM and, unless the process ignores it, SIGHUP.
    """
    stopped, loop = Stopping(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, partial(stopped.stop, drains=False))
    loop.add_signal_handler(signal.SIGTERM, partial(stopped.stop, drains=True))
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        loop.add_signal_handler(signal.SIGHUP, partial(stopped.stop, drains=True))
    if lifeline is not None:

        def end() -> None:
            loop.remove_reader(lifeline)
            stopped.stop(drains=False)

        loop.add_reader(lifeline, end)
    return stopped


async def run_until_stopped(running: Coroutine[Any, Any, None], ready: Callable[[], None] = lambda: None) -> None:
    """Run a coroutine until it ends, or a signal stops it. Raises what it raises.

    `ready` is called once a signal would stop it.
    """
    signalled = stopping()
    task, stopped = asyncio.create_task(running), asyncio.create_task(signalled.wait())
    ready()
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        await stop(task, stopped)
