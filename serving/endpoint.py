"""Runs one server process on sockets that it has opened or inherited."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import Any

from aiohttp import web

import schema
from resolvers.jobs.worker import Worker
from resolvers.mail.mailer import Mailer
from resolvers.operation.context import Context
from resolvers.operation.services import Services
from serving.http.admission import Admission
from serving.http.app import begin_shutdown, create_app, spare_the_collector
from serving.http.client_connection import ClientConnection
from serving.http.descriptors import most_connections
from store.client.tasks import stop
from store.embedded import opening
from store.settings import Settings, urls

BACKLOG = 128  # connections that wait to be accepted

Sockets = Sequence[socket.socket]  # the listening sockets of one process, one for each address


class StartError(Exception):
    """The server cannot start. The message is one line with the reason."""


@contextlib.asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Services]:
    """Open the database and the services of the process."""
    async with opening.database(settings) as db:
        services = Services(settings, db, opening.secret(settings))
        try:
            await services.start()
            yield services
        finally:
            await services.close()


@contextlib.contextmanager
def listening(settings: Settings, count: int = 1) -> Iterator[list[Sockets]]:
    """Listen on every address of the host, for `count` processes; raises StartError where that fails."""
    with contextlib.ExitStack() as stack:
        try:
            found = socket.getaddrinfo(
                settings.host or None, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            addresses = dict.fromkeys((family, address[:2]) for family, _, _, _, address in found)
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


async def serve(services: Services, sockets: Sockets, ready: Callable[[], None], lifeline: int | None = None) -> None:
    """Serve until a signal or the end of `lifeline` stops the process, then let requests finish.

    `ready` is called once the process serves.
    """
    settings, stopped = services.settings, stopping(lifeline)
    most = most_connections(settings, BACKLOG)
    app = create_app(schema.build(settings), services, Context, most)
    working = asyncio.create_task(work(services)) if settings.run_worker else None
    try:
        async with answering(app, settings, sockets, most):
            spare_the_collector()
            ready()
            await stopped.wait()
            begin_shutdown(app)
    finally:
        if working:
            await stop(working)


async def work(services: Services) -> None:
    """Do the deferred work and send mails until cancelled. A slow mail server holds no other work up."""
    async with asyncio.TaskGroup() as group:
        group.create_task(Worker(services.db).run(services.pubsub))
        group.create_task(Mailer(services.db, services.settings, services.tokens).run())


@contextlib.asynccontextmanager
async def answering(app: web.Application, settings: Settings, sockets: Sockets, most: int) -> AsyncIterator[Admission]:
    """Answer requests for an application on at most `most` connections. At the end, requests may finish."""
    admission = Admission(settings, most)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=settings.shutdown_seconds, handle_signals=False)
    await runner.setup()
    server, loop = runner.server, asyncio.get_running_loop()
    assert server
    sweeping, listeners = asyncio.create_task(admission.run()), []
    try:
        for each in sockets:
            listener = await loop.create_server(lambda: ClientConnection(server, admission), sock=each, backlog=BACKLOG)
            listeners.append(listener)
        yield admission
    finally:
        for listener in listeners:
            listener.close()
        await runner.cleanup()
        await stop(sweeping)


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


def stopping(lifeline: int | None = None) -> asyncio.Event:
    """Return an event that SIGINT, SIGTERM and activity on the descriptor `lifeline`, such as its end, will set."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    if lifeline is not None:

        def end() -> None:
            loop.remove_reader(lifeline)
            stopped.set()

        loop.add_reader(lifeline, end)
    return stopped


async def until_stopped() -> None:
    """Wait for SIGINT or SIGTERM."""
    await stopping().wait()


async def run_until_stopped(running: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine until it ends, or SIGINT or SIGTERM stops it. Raises what it raises."""
    task, stopped = asyncio.create_task(running), asyncio.create_task(until_stopped())
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        await stop(task)
        await stop(stopped)
