"""The view of /graphql: GraphQL over HTTP, event streams and websockets."""

from functools import partial

from aiohttp import hdrs, web
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.types.graphql import OperationType

from resolvers.process.errors import Forbidden, RequestError, ServiceUnavailable
from resolvers.process.tokens import Claims
from schema.execution.operations import Schema
from schema.execution.parameters import EVENTS, ID_PARAMETERS, bearer
from schema.execution.ports import Context, NewContext, Services
from serving import graphiql
from serving.http import requests, responses
from serving.http.client_connection import ClientConnection
from serving.http.middleware import ASKED, METHODS, Origins, preflight
from serving.http.negotiation import GRAPHQL, JSON, choose, prefers_page, takes_events
from serving.http.requests import FORWARDED_FOR, Asked, Proxies, RequestRefused
from serving.http.responses import HttpAnswer
from serving.observing import TRACEPARENT, Observed, Recorder
from serving.overload.shedding import STREAM
from serving.streaming.connections import Connections, Peer
from serving.streaming.event_streams import EventStream
from serving.streaming.frames import FrameMeter
from serving.streaming.websocket import Channel, Close
from serving.streaming.websocket_session import SocketSession
from store.secret import Secret

_ALLOWED = {
    hdrs.METH_GET: {OperationType.QUERY},
    hdrs.METH_POST: {OperationType.QUERY, OperationType.MUTATION},
}
_DOCUMENT_PARAMETERS = {"query", "extensions", *ID_PARAMETERS}
_SEND_BUFFER = 16_384  # bytes written to a websocket before the writer waits for a slow client
_CLOSE_SECONDS = 2.0  # time limit for the client's side of a websocket's closing handshake


class GraphQLEndpoint:
    """The GraphQL endpoint. It implements GraphQL over HTTP, graphql-sse and graphql-transport-ws."""

    def __init__(
        self,
        schema: Schema,
        services: Services,
        new_context: NewContext,
        connections: Connections,
        recorder: Recorder,
        origins: Origins,
        proxies: Proxies,
    ) -> None:
        self.schema = schema
        self._services = services
        self._new_context = new_context
        self._connections = connections
        self._recorder = recorder
        self._origins = origins
        self._proxies = proxies

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Answer a request to the endpoint; raises RequestError where no media type has been chosen yet."""
        asked = request[ASKED]
        if request.headers.get(hdrs.UPGRADE, "").lower() == "websocket":
            return await self._serve_socket(request, asked)
        if request.method == hdrs.METH_OPTIONS:
            return preflight()
        if request.method not in _ALLOWED:
            raise RequestRefused(405, f"{request.method} is not one of {METHODS}", {hdrs.ALLOW: METHODS})
        if request.method == hdrs.METH_GET and _names_nothing(request) and prefers_page(asked.accept):
            self.schema.persisted.refuse_explorer()
            return graphiql.page(request)
        answer = await self.answer(asked)
        return answer.response() if isinstance(answer, HttpAnswer) else answer

    async def answer(self, asked: Asked) -> HttpAnswer | web.StreamResponse:
        """Answer a GraphQL request, by an event stream where its client takes that and aiohttp has read the request.

        Raises RequestError where no media type has been chosen yet.
        """
        media = choose(asked.accept)
        if media is None:
            raise RequestRefused(406, f"Answers are {GRAPHQL}, {JSON} or {EVENTS}, in utf-8")
        observed = self._recorder.start(asked.headers.get(TRACEPARENT, ""), asked.peer)
        try:
            return await self._execute(asked, media, observed)
        except RequestError as error:
            observed.fail(error)
            return responses.refusal(error, media)
        finally:
            self._recorder.end(observed)

    async def _execute(self, asked: Asked, media: str, observed: Observed) -> HttpAnswer | web.StreamResponse:
        peer = self._peer(asked)
        value = asked.authorization
        claims = None if value is None else self._services.tokens.read(bearer(value))
        parameters = await requests.read(asked)
        context = self._context(peer, claims)
        parameters, document = await self.schema.find(parameters, context)
        observed.operation = operation = document.operation(parameters.operation_name)
        if operation is not None and operation.name:
            asked.operation = operation.name.value
        self._recorder.begin(observed)
        if observed.is_subscription and asked.request is not None and takes_events(asked.accept):
            _count_as_stream(asked.request)
            self._refuse_without_room()
            stream = EventStream(asked.request, self._services, self._connections, peer, claims, observed.fail)
            return await stream.serve(self.schema, parameters, context)
        result = await self.schema.execute(
            parameters.query,
            variable_values=parameters.variables,
            context_value=context,
            operation_name=parameters.operation_name,
            allowed_operation_types=_ALLOWED[asked.method],
            operation_extensions=parameters.extensions,
        )
        if result.errors:
            observed.fail(result.errors[0])
        return responses.answer(result, media)

    async def _serve_socket(self, request: web.Request, asked: Asked) -> web.WebSocketResponse:
        if not self._origins.may_open_socket(request.headers):
            raise Forbidden("Pages of this origin may not open a websocket here")
        _count_as_stream(request)
        self._refuse_without_room()
        socket = self._new_socket()
        frames = FrameMeter(request.protocol, self._services.settings.socket_frames_per_second)
        await socket.prepare(request)
        channel = Channel(request, socket)
        if socket.ws_protocol is None:
            frames.begin(channel.cut)
            await channel.end(Close.WRONG_SUBPROTOCOL)
            await channel.stop()
            return socket
        peer = self._peer(asked, request.headers.get(hdrs.AUTHORIZATION))
        session = SocketSession(
            channel,
            self.schema,
            services=self._services,
            connections=self._connections,
            recorder=self._recorder,
            new_context=partial(self._context, peer, socket=True),
            peer=peer,
        )
        frames.begin(lambda: session.end(Close.TOO_MANY_FRAMES))
        await session.serve()
        return socket

    def _new_socket(self) -> web.WebSocketResponse:
        settings = self._services.settings
        return web.WebSocketResponse(
            protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL,),
            heartbeat=settings.heartbeat_seconds,
            timeout=_CLOSE_SECONDS,
            compress=False,  # compression takes some 300 KB per socket, for messages of a few hundred bytes
            max_msg_size=settings.max_body,
            writer_limit=_SEND_BUFFER,
        )

    def _context(self, peer: Peer, claims: Claims | None, *, socket: bool = False) -> Context:
        return self._new_context(
            self._services,
            claims,
            address=peer.address,
            user_agent=peer.user_agent,
            request_id=peer.request_id,
            socket=socket,
        )

    def _refuse_without_room(self) -> None:
        if self._connections.closing:
            raise ServiceUnavailable("The server is stopping")
        if self._connections.full:
            raise ServiceUnavailable("The server has too many open websockets and event streams: try again later")
        if refused := self._connections.shedder.refuse(STREAM):
            raise refused

    def _peer(self, asked: Asked, authorization: str | None = None) -> Peer:
        secret = None if authorization is None else Secret(authorization)
        address = self._proxies.client(asked.peer, asked.headers.getall(FORWARDED_FOR, ()))
        return Peer(address, requests.user_agent(asked.headers), asked.request_id, secret)


def _names_nothing(request: web.Request) -> bool:
    """Return whether an address asks for no document, as one that was typed into a browser."""
    return not request.query_string or request.query.keys().isdisjoint(_DOCUMENT_PARAMETERS)


def _count_as_stream(request: web.Request) -> None:
    if isinstance(request.protocol, ClientConnection):  # tests of the application alone have another one
        request.protocol.stream()
