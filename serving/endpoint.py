"""Serves the API on sockets that the process has opened or inherited."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from aiohttp import web

import schema
from resolvers.operation.context import Context
from resolvers.process.services import Services
from serving import running, systemd
from serving.http.admission import Admissions
from serving.http.app import CONNECTIONS, DOOR, RECORDER, begin_shutdown, create_app, spare_the_collector
from serving.http.client_connection import ClientConnection
from serving.metrics import sharing
from serving.metrics.recorder import measuring
from serving.running import BACKLOG, Sockets, most_connections
from serving.tracing.exporting import exported
from store.client.tasks import stop
from store.settings import Settings


async def serve(services: Services, sockets: Sockets, ready: Callable[[], None], lifeline: int | None = None) -> None:
    """Serve until a signal or the end of `lifeline` stops the process, then let requests finish.

    `ready` is called once the process serves.
    """
    settings, stopped = services.settings, running.stopping(lifeline)
    most = most_connections(settings)
    if sharing.is_shared():
        sharing.write_to_folder()
    async with exported(services.db):
        app = create_app(schema.build(settings), services, Context, most, services.db.take_span)
        working = asyncio.create_task(running.work(services)) if settings.run_worker else None
        try:
            async with answering(app, settings, sockets, most) as admission, measuring(services.db, app[RECORDER]):
                spare_the_collector()
                ready()
                await stopped.wait()
                if lifeline is None:
                    systemd.tell("STOPPING=1")
                begin_shutdown(app)
                admission.drains = stopped.drains
        finally:
            await stop(working)


@contextlib.asynccontextmanager
async def answering(app: web.Application, settings: Settings, sockets: Sockets, most: int) -> AsyncIterator[Admissions]:
    """Answer requests for an application on at most `most` connections. At the end, requests may finish.

    Connections that the kernel still queues stay in the queue, for whoever holds the sockets as well.
    """
    admission = Admissions(settings, most)
    app[DOOR].shedder.requests = admission.answering
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=settings.shutdown_seconds, handle_signals=False)
    await runner.setup()
    server, loop = runner.server, asyncio.get_running_loop()
    assert server
    sweeping, listeners = asyncio.create_task(admission.run()), []
    try:
        for each in sockets:
            listener = await loop.create_server(
                lambda: ClientConnection(server, admission, app[DOOR]), sock=each, backlog=BACKLOG
            )
            listeners.append(listener)
        yield admission
    finally:
        for listener in listeners:
            listener.close()
        await asyncio.gather(admission.drain(), app[CONNECTIONS].end_all())
        await app[DOOR].finish(settings.shutdown_seconds)
        await runner.cleanup()
        await stop(sweeping)
