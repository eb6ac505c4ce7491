"""The Python client gql in its usual set-up: over HTTP, and over a websocket that is cut and resumes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from aiohttp import web
from gql import Client, gql
from gql.client import AsyncClientSession
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportConnectionFailed, TransportQueryError
from gql.transport.websockets import WebsocketsTransport

from serving.http.app import CONNECTIONS
from serving.streaming.websocket_session import SocketSession
from store.client.database import Database
from tests.support.people import PASSWORD, Member
from tests.support.transport.live import now

TOKENS = "accessToken refreshToken userErrors { code message }"
PAGE = gql("""query Page($after: String) { homeTimeline(first: 2, after: $after) {
  edges { node { ... on Node { id } ... on Post { text } } } pageInfo { endCursor } } }""")
LIVE = gql("""subscription Live($after: String) { homeTimeline(after: $after) {
  ... on StreamEvent { cursor } ... on TimelineEntryPut { edge { node { ... on Post { text } } } } } }""")


@asynccontextmanager
async def session(member: Member, token: str | None = None) -> AsyncIterator[AsyncClientSession]:
    """Open a client that reads the schema first, to check documents before it sends them."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = AIOHTTPTransport(url=str(member.client.make_url("/graphql")), headers=headers)
    async with Client(transport=transport, fetch_schema_from_transport=True) as opened:
        yield opened


async def run(opened: AsyncClientSession, document: str, **fields: Any) -> dict[str, Any]:
    """Return the payload of a mutation without user errors."""
    request = gql(document)
    request.variable_values = {"input": fields} if fields else {}
    (payload,) = (await opened.execute(request)).values()
    assert not payload["userErrors"]
    return dict(payload)


async def test_over_http(alice: Member, bob: Member) -> None:
    """A script logs in, refreshes its session, reads two pages, likes a post and logs out."""
    await alice.follow(bob)
    posts = [await bob.post(f"number {number}") for number in range(4)]
    async with session(alice) as opened:
        log_in = f"mutation LogIn($input: LogInInput!) {{ logIn(input: $input) {{ {TOKENS} }} }}"
        first = await run(opened, log_in, identifier="alice", password=PASSWORD)
        refresh = f"mutation Refresh($input: RefreshSessionInput!) {{ refreshSession(input: $input) {{ {TOKENS} }} }}"
        tokens = await run(opened, refresh, refreshToken=first["refreshToken"])
    async with session(alice, tokens["accessToken"]) as opened:
        found, after = [], None
        for _ in range(2):
            PAGE.variable_values = {"after": after}
            page = (await opened.execute(PAGE))["homeTimeline"]
            found += [edge["node"]["id"] for edge in page["edges"]]
            after = page["pageInfo"]["endCursor"]
        assert found == posts[::-1]
        like = "mutation Like($input: PostIdInput!) { like(input: $input) { post { likeCount } userErrors { code } } }"
        assert (await run(opened, like, postId=posts[0]))["post"] == {"likeCount": 1}
        await run(opened, "mutation { logOut { userErrors { code } } }")
        with pytest.raises(TransportQueryError) as refused:
            await opened.execute(PAGE)
        assert refused.value.errors
        assert refused.value.errors[0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_over_a_websocket(app: web.Application, db: Database, alice: Member, bob: Member) -> None:
    """A subscription that is cut fails, and continues from its last cursor with the post that it missed."""
    await alice.follow(bob)
    received: list[dict[str, Any]] = []
    after = await now(db)
    for text in ("live", "missed"):
        await bob.post(text)
        with pytest.raises(TransportConnectionFailed):
            await _listen(app, alice, after, received)
        after = received[-1]["cursor"]
    assert [event["edge"]["node"]["text"] for event in received] == ["live", "missed"]


async def _listen(app: web.Application, member: Member, after: str, received: list[dict[str, Any]]) -> None:
    url = str(member.client.make_url("/graphql")).replace("http", "ws", 1)
    transport = WebsocketsTransport(url=url, init_payload={"Authorization": f"Bearer {member.token}"})
    LIVE.variable_values = {"after": after}
    async with Client(transport=transport) as opened:
        async for result in opened.subscribe(LIVE):
            received.append(result["homeTimeline"])
            _cut(app)


def _cut(app: web.Application) -> None:
    """Break every websocket, as a network does."""
    for connection in list(app[CONNECTIONS]._open):  # noqa: SLF001  nothing else knows the sockets
        cast("SocketSession", connection).channel.cut()
