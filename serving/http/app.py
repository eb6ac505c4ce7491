"""The web application: GraphQL at /graphql, the web client, exports, uploads, pictures, and health checks."""

import asyncio
import gc

from aiohttp import hdrs, web

from resolvers.exports import PATH as EXPORTS
from schema.execution.operations import Schema
from schema.execution.ports import NewContext, Services
from serving import graphiql
from serving.http import web_client
from serving.http.door import Door
from serving.http.exports import Exports
from serving.http.health import HealthChecks
from serving.http.media import ROUTE as MEDIA
from serving.http.media import MediaHandler
from serving.http.middleware import Origins, observe
from serving.http.pages.mail_links import MailLinkPages
from serving.http.requests import PATH, Proxies
from serving.http.uploads import Uploads
from serving.http.view import GraphQLEndpoint
from serving.metrics.catalogue import MetricSources
from serving.metrics.recorder import PrometheusRecorder
from serving.observing import NoRecorder
from serving.overload.shedding import Shedder
from serving.streaming.connections import Connections
from serving.tracing.watching import watching
from store.client.metering import METER
from store.client.tracing import Take
from store.settings import Settings

STREAMS_SHARE = 0.8  # Share of all connections that may be websockets and event streams. The rest is for requests.
GARBAGE = (250_000, 20, 50)  # Thresholds of gc: new objects, then collections of the younger generation.

STOPPING = web.AppKey("stopping", asyncio.Event)
SERVICES = web.AppKey("services", Services)
CONNECTIONS = web.AppKey("connections", Connections)
DOOR = web.AppKey("door", Door)
RECORDER: web.AppKey[PrometheusRecorder | NoRecorder] = web.AppKey("recorder")


def create_app(
    schema: Schema,
    services: Services,
    new_context: NewContext,
    most_connections: int | None = None,
    take_span: Take | None = None,
) -> web.Application:
    """Return the application that serves a schema, with room for so many connections (default: MAX_CONNECTIONS).

    `take_span` gets the spans of traced operations; without it, none is traced.
    Raises ValueError when an entry of CORS_ORIGINS is more than an origin, and FileNotFoundError when GraphiQL's files
    are missing.
    """
    settings = services.settings
    app = web.Application(middlewares=[observe], client_max_size=settings.max_body)
    app[STOPPING] = asyncio.Event()
    app[SERVICES] = services
    most_streams = int((most_connections or settings.max_connections) * STREAMS_SHARE)
    shedder = Shedder(settings, services.store_silence)
    app[CONNECTIONS] = Connections(settings.sockets_per_member, most_streams, settings.max_live_cost, shedder)
    services.on_session_end(app[CONNECTIONS].end_session)
    app[RECORDER] = _recorder(schema, settings, app[CONNECTIONS], shedder)
    proxies = Proxies(settings.trusted_proxies)
    recorder = watching(app[RECORDER], settings, schema.explain, proxies.is_proxy, take_span)
    origins = Origins(settings.cors_origins)
    view = GraphQLEndpoint(schema, services, new_context, app[CONNECTIONS], recorder, origins, proxies)
    app[DOOR] = Door(settings, shedder, schema, services.tokens, view.answer)
    app.router.add_route("*", PATH, view.__call__)
    app.router.add_get(EXPORTS + "{token}", Exports(services, proxies).__call__, allow_head=False)
    app.router.add_get(MEDIA, MediaHandler(services).__call__)
    Uploads(services, proxies).add_routes(app)
    HealthChecks(services, app[STOPPING]).add_routes(app)
    graphiql.add_routes(app)
    MailLinkPages(schema, services, new_context, proxies).add_routes(app)
    if web_client.is_built(web_client.DIST):
        web_client.add_routes(app, web_client.DIST, settings.media_url)
    else:
        app.router.add_get("/", _to_graphql)
    app.on_response_prepare.append(origins.add_headers)
    app.on_shutdown.append(_shut_down)
    return app


def _recorder(
    schema: Schema, settings: Settings, connections: Connections, shedder: Shedder
) -> PrometheusRecorder | NoRecorder:
    if not settings.metrics_port:
        return NoRecorder()
    sources = MetricSources(METER, schema.planner, connections, shedder)
    return PrometheusRecorder(sources, all_names=bool(settings.trusted_documents))


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
