"""The web application: GraphQL at /graphql, and what those ask who run it."""

from __future__ import annotations

import asyncio
import gc

from aiohttp import hdrs, web

from schema.execution.operations import Schema
from schema.execution.ports import Services
from serving import graphiql
from serving.http.headers import Origins
from serving.http.middleware import observe
from serving.http.view import View
from serving.streaming.connections import Connections

PATH = "/graphql"
STREAMS_SHARE = 0.8  # of all connections may be websockets and event streams; the rest is for requests
GARBAGE = (250_000, 20, 50)  # new objects, and collections of the younger ones, before the next of each generation

STOPPING = web.AppKey("stopping", asyncio.Event)
SERVICES = web.AppKey("services", Services)
CONNECTIONS = web.AppKey("connections", Connections)


def create_app(schema: Schema, services: Services, most_connections: int | None = None) -> web.Application:
    """Return the application that serves a schema, with room for so many connections (default: MAX_CONNECTIONS).

    Raises ValueError when CORS_ORIGINS holds more than an origin, FileNotFoundError when GraphiQL's files are missing.
    """
    settings = services.settings
    app = web.Application(middlewares=[observe], client_max_size=settings.max_body)
    app[STOPPING] = asyncio.Event()
    app[SERVICES] = services
    most_streams = int((most_connections or settings.max_connections) * STREAMS_SHARE)
    app[CONNECTIONS] = Connections(settings.sockets_per_member, most_streams, settings.max_live_cost)
    services.on_session_end(app[CONNECTIONS].end_session)
    app.router.add_route("*", PATH, View(schema, services, app[CONNECTIONS]))
    app.router.add_get("/", _to_graphql)
    app.router.add_get("/healthz", _lives)
    app.router.add_get("/readyz", _is_ready)
    graphiql.add_routes(app)
    app.on_response_prepare.append(Origins(settings.cors_origins).add_headers)
    app.on_shutdown.append(_shut_down)
    return app


def begin_shutdown(app: web.Application) -> None:
    """Have /readyz answer 503 from now on, so that a load balancer looks elsewhere while requests are still taken."""
    app[STOPPING].set()


def spare_the_collector() -> None:
    """Have the garbage collector leave alone what is there for good, and come less often.

    A page is thousands of objects that live for a millisecond and are freed by counting references: at its default the
    collector goes through all of them several times per page, and through the whole process now and then.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


async def _shut_down(app: web.Application) -> None:
    begin_shutdown(app)
    await app[CONNECTIONS].close()


async def _to_graphql(_: web.Request) -> web.Response:
    return web.Response(status=302, headers={hdrs.LOCATION: PATH})


async def _lives(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _is_ready(request: web.Request) -> web.Response:
    if request.app[STOPPING].is_set():
        return web.Response(status=503, text="stopping")
    if state := await request.app[SERVICES].trouble():
        return web.Response(status=503, text=f"the database does not answer, or accepts no writes: {state}")
    return web.Response(text="ok")
