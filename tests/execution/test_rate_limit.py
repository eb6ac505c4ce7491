"""The limit on requests is checked first: a request over it is refused before its text is parsed."""

import pytest
from aiohttp import web

from resolvers.process.services import Services
from schema.execution.documents import DocumentCache
from serving.http.view import GraphQLEndpoint
from store import keys
from store.client.database import Database
from store.limits import windows
from store.limits.windows import MINUTE_SECONDS
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.transport.feeds import wanting
from tests.support.transport.live import subscribed
from tests.support.work import number

LIMIT = 1_000
NEW = '{ user(login: "a name that no other test asks for") { id } }'
STREAM = "subscription { stream { __typename } postActivity: stream { __typename } }"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The settings with a limit on requests."""
    return shrunk(settings, rate_limit=LIMIT)


@pytest.fixture
def documents(app: web.Application) -> DocumentCache:
    """The documents that the server has parsed; none yet."""
    handlers = [getattr(route.handler, "__self__", None) for route in app.router.routes()]
    (view,) = [one for one in handlers if isinstance(one, GraphQLEndpoint)]
    cache = view.schema.documents
    cache.forget()
    return cache


def counter(member: Member) -> str:
    """Return the key that counts a member's requests in this minute."""
    return keys.rate(number(member.id), windows.current(MINUTE_SECONDS))


async def use_up(db: Database, member: Member) -> None:
    """Use up all requests that a member may send."""
    await db.one("SET", counter(member), LIMIT)


@pytest.mark.parametrize("query", [NEW, "{", "{ nothing }", NEW + " " * 20_000])
async def test_new_texts_are_not_read(db: Database, documents: DocumentCache, alice: Member, query: str) -> None:
    """Over the limit, a new text is refused like any other, and stays unparsed."""
    await use_up(db, alice)
    assert await alice.fail(query) == "RATE_LIMITED"
    assert documents.find(query) is None


async def test_known_texts_are_refused_as_well(db: Database, documents: DocumentCache, alice: Member) -> None:
    """Over the limit, a text that was parsed before is refused."""
    await alice.ask(NEW)
    await use_up(db, alice)
    assert documents.find(NEW)
    assert await alice.fail(NEW) == "RATE_LIMITED"


async def test_sockets(db: Database, documents: DocumentCache, alice: Member) -> None:
    """On a websocket, too, the text of an operation over the limit is not parsed."""
    await use_up(db, alice)
    for query in (NEW, STREAM):
        async with subscribed(alice, query) as stream:
            assert await stream.code() == "RATE_LIMITED"
        assert documents.find(query) is None


@pytest.mark.parametrize("query", [NEW, STREAM])
async def test_event_streams(db: Database, documents: DocumentCache, alice: Member, query: str) -> None:
    """As an event stream, too, an operation over the limit is not parsed, and is answered with 429."""
    await use_up(db, alice)
    headers = wanting(alice.token)
    async with alice.client.post("/graphql", json={"query": query}, headers=headers) as response:
        assert response.status == 429
        assert int(response.headers["Retry-After"]) <= MINUTE_SECONDS
    assert documents.find(query) is None


@pytest.mark.parametrize("query", [NEW, "{ nothing }", "mutation { like(input: {postId: 1}) { userErrors { code } } }"])
async def test_each_request_is_counted_once(db: Database, documents: DocumentCache, alice: Member, query: str) -> None:
    """A request is counted once, whether its text is new or known."""
    for sent in range(1, 4):
        await alice.send(query)
        assert int(await db.one("GET", counter(alice))) == sent
        assert documents.find(query)


@pytest.mark.parametrize("query", [NEW, "{ viewer { user { id } } }"])
async def test_counting_takes_no_round_trip(services: Services, alice: Member, query: str) -> None:
    """A request takes one round trip with a limit, as without one, and so does its refusal."""
    await alice.ask(query)
    for is_over in (False, True):
        if is_over:
            await use_up(services.db, alice)
        before = services.db.round_trips
        await alice.send(query)
        assert services.db.round_trips == before + 1
