"""The two ways over the real schema and a store."""

import re
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

import schema
from resolvers.operation.context import Context
from resolvers.process.services import Services
from resolvers.process.tokens import Tokens
from serving import endpoint
from serving.http.app import DOOR, create_app
from store.client.database import Database
from store.settings import Settings
from tests.support.page_costs import HOME, PUBLIC
from tests.support.people import Member, mutation_text, sign_up
from tests.support.spans import Spans
from tests.support.transport.raw import Site
from tests.support.transport.small import logged
from tests.support.ways.bodies import Asked
from tests.support.ways.cases import Case
from tests.support.ways.way import Record, Way, counting_arrivals
from tests.support.work import Photo, dump, number, photograph, put_back

PROFILE = """query Profile($login: String!) { user(login: $login) { login name followers { totalCount }
    viewerIsFollowing timeline(first: 5) { nodes { ... on Status { id text likeCount author { login } } } } } }"""
_NUMBER = re.compile(r"\d+\.\d+(?:e\+\d+)?|\d{9,17}")  # an id, a moment, or a score made of one


@dataclass
class Town:
    """A small site, and what its members and strangers ask for."""

    photo: Photo
    documents: Sequence[Asked]
    authorizations: Sequence[bytes]


async def town(settings: Settings, db: Database) -> Town:
    """Make a site in an empty store."""
    async with _services(settings) as services, TestClient(TestServer(_app(services))) as client:
        anonymous = Member(client)
        alice, bob, carol = [await sign_up(anonymous, login) for login in ("alice", "bob", "carol")]
        await alice.follow(bob, carol)
        posts = [
            await member.post(f"post of {member.login}, #{place}") for place in range(6) for member in (bob, carol)
        ]
        await bob.repost(posts[1])
        await carol.do("logOut")
        late = Tokens(replace(settings, access_token_seconds=-1), settings.secret_key or "").sign(
            number(bob.id), "x" * 12
        )
        assert alice.token is not None
        tokens = (
            [alice.token] * 30 + [bob.token or ""] * 10 + [carol.token or "", late[0].reveal(), alice.token[:-2] + "xx"]
        )
        return Town(
            await photograph(db), _documents(posts, bob), [f"Bearer {token}".encode() for token in tokens] + [b""]
        )


def _documents(posts: Sequence[str], member: Member) -> list[Asked]:
    some = [Asked(HOME), Asked(HOME), Asked(PUBLIC), Asked("{ viewer { user { login } } }"), Asked("{ nope }")]
    some += [Asked(PROFILE, {"login": login}, "Profile") for login in ("bob", "carol", "nobody")]
    some += [Asked("query Node($id: ID!) { node(id: $id) { id } }", {"id": one}, "Node") for one in (posts[0], "x", 7)]
    some += [Asked("{ a: viewer { user { login } } b: publicTimeline(first: 1000000) { nodes { __typename } } }")]
    some += [
        Asked('subscription { homeTimeline(after: "x") { __typename } }'),
        Asked("{ __schema { queryType { name } } }"),
    ]
    acts: list[tuple[str, dict[str, Any]]] = [
        (act, {"postId": post}) for act in ("like", "unlike") for post in posts[:3]
    ]
    acts += [("favourite", {"postId": posts[0]}), ("pinPost", {"postId": posts[0]}), ("like", {"postId": "x"})]
    acts += [("follow", {"userIds": [member.id]}), ("unfollow", {"userIds": [member.id]}), ("block", {"userIds": []})]
    acts += [
        ("post", {"text": "a new post"}),
        ("post", {"text": ""}),
        ("post", {"text": "once", "idempotencyKey": "key"}),
    ]
    acts += [("comment", {"postId": posts[1], "text": "ü😀"}), ("updateProfile", {"name": "Somebody"})]
    return some + [Asked(mutation_text(act, "userErrors { code field }"), {"input": values}) for act, values in acts]


class RealWays:
    """Both ways over the same store, which is the same each time a server starts."""

    def __init__(self, settings: Settings, db: Database, photo: Photo) -> None:
        self._settings, self._db, self._photo = settings, db, photo

    async def record(self, cases: Sequence[Case], *, is_lean: bool) -> Record:
        """Serve in one of the ways, and return what was observed."""
        await put_back(self._db, self._photo)
        known = set(_NUMBER.findall(str(await dump(self._db))))
        with logged() as lines, counting_arrivals():
            async with _services(self._settings) as services, _serving(services) as (site, spans):
                site.app[DOOR].lean = is_lean
                return await Way(site, spans, [], lines).record(cases, lambda: _stored(self._db, known))


async def _stored(db: Database, known: set[str]) -> list[str]:
    """Return what is stored, without ids and moments that were not known before."""

    def masked(text: str) -> str:
        return _NUMBER.sub(lambda found: found[0] if found[0] in known else "#", text)

    return sorted(masked(f"{name} {value}") for name, value in (await dump(db)).items())


@asynccontextmanager
async def _services(settings: Settings) -> AsyncIterator[Services]:
    services = Services(settings, Database(settings.redis_url, settings), settings.secret_key or "")
    await services.start()
    await services.pubsub.connected.wait()
    yield services
    await services.close()
    await services.db.close()


@asynccontextmanager
async def _serving(services: Services) -> AsyncIterator[tuple[Site, Spans]]:
    spans = Spans()
    app = _app(services, spans.keep)
    async with AsyncExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        most = services.settings.max_connections
        admission = await stack.enter_async_context(endpoint.answering(app, services.settings, [listening], most))
        yield Site(app, admission, listening.getsockname()[1], stack), spans


def _app(services: Services, take_span: Callable[[Any], None] | None = None) -> web.Application:
    return create_app(schema.build(services.settings), services, Context, take_span=take_span)
