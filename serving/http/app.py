"""The web application: GraphQL at /graphql, exports, and the health checks for operators."""

from __future__ import annotations

import asyncio
import gc

from aiohttp import hdrs, web

from resolvers.exports import PATH as EXPORTS
from schema.execution.operations import Schema
from schema.execution.ports import NewContext, Services
from serving import graphiql
from serving.http.exports import Exports
from serving.http.headers import Origins
from serving.http.middleware import observe
from serving.http.pages.mail_links import MailLinkPages
from serving.http.view import View
from serving.streaming.connections import Connections

PATH = "/graphql"
STREAMS_SHARE = 0.8  # Share of all connections that may be websockets and event streams. The rest is for requests.
GARBAGE = (250_000, 20, 50)  # Thresholds of gc: new objects, then collections of the younger generation.

STOPPING = web.AppKey("stopping", asyncio.Event)
SERVICES = web.AppKey("services", Services)
CONNECTIONS = web.AppKey("connections", Connections)


def create_app(
    schema: Schema, services: Services, new_context: NewContext, most_connections: int | None = None
) -> web.Application:
    """Return the application that serves a schema, with room for so many connections (default: MAX_CONNECTIONS).

    Raises ValueError when an entry of CORS_ORIGINS is more than an origin, and FileNotFoundError when GraphiQL's files
    are missing.
    """
    settings = services.settings
    app = web.Application(middlewares=[observe], client_max_size=settings.max_body)
    app[STOPPING] = asyncio.Event()
    app[SERVICES] = services
    most_streams = int((most_connections or settings.max_connections) * STREAMS_SHARE)
    app[CONNECTIONS] = Connections(settings.sockets_per_member, most_streams, settings.max_live_cost)
    services.on_session_end(app[CONNECTIONS].end_session)
    app.router.add_route("*", PATH, View(schema, services, new_context, app[CONNECTIONS]))
    app.router.add_get(EXPORTS + "{token}", Exports(services, settings.trusted_proxies).__call__, allow_head=False)
    app.router.add_get("/", _to_graphql)
    app.router.add_get("/healthz", _lives)
    app.router.add_get("/readyz", _is_ready)
    graphiql.add_routes(app)
    MailLinkPages(schema, services, new_context).add_routes(app)
    app.on_response_prepare.append(Origins(settings.cors_origins).add_headers)
    app.on_shutdown.append(_shut_down)
    return app


def begin_shutdown(app: web.Application) -> None:
    """Make /readyz answer 503, so that load balancers choose another process while requests are still accepted."""
    app[STOPPING].set()


def spare_the_collector() -> None:
    """Freeze the objects that exist now, and make the garbage collector run less often.

    A page makes thousands of objects, which live for a millisecond and are freed by reference counting. With default
    thresholds, the collector visits them several times per page, and now and then all objects of the process.
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
