"""Subscriptions end with the session, the client or the process, over every transport, and leave nothing behind."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import pytest
from aiohttp import web

from resolvers import accounts
from resolvers.process.services import Services
from serving.http.app import CONNECTIONS
from store.client.database import Database, Unavailable
from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.probes.sessions import NEW_PASSWORD, end_by_time, log_in
from tests.support.transport.live import HOME, subscribed, until
from tests.support.transport.site_live import OWN_STREAM, SAMPLE, STREAM
from tests.support.transport.transports import (
    POST,
    SOCKET,
    TRANSPORTS,
    FeedLine,
    Line,
    SocketLine,
    connections,
    listening,
    places,
)

End = Callable[[Services, Member, Member], Awaitable[Any]]
QUERIES: dict[str, dict[str, Any]] = {STREAM: {}, OWN_STREAM: {}, SAMPLE: {"percent": 100}, HOME: {}}


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, reduced as the test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


@asynccontextmanager
async def lines(services: Services, member: Member) -> AsyncIterator[list[Line]]:
    """Subscribe to everything over every transport."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(listening(services, transport, member, query, **asked))
            for transport in TRANSPORTS
            for query, asked in QUERIES.items()
        ]


async def _log_out(_: Services, phone: Member, __: Member) -> None:
    await phone.do("logOut")


async def _log_out_everywhere(_: Services, __: Member, laptop: Member) -> None:
    await laptop.do("logOut", everywhere=True)


async def _change_password(_: Services, __: Member, laptop: Member) -> None:
    payload = await laptop.do("changePassword", currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
    assert not payload["userErrors"]


async def _suspend(services: Services, _: Member, laptop: Member) -> None:
    assert await accounts.set_suspension(services.db, laptop.login, suspended=True)


async def _delete_account(_: Services, __: Member, laptop: Member) -> None:
    payload = await laptop.do("deleteAccount", password=PASSWORD)
    assert not payload["userErrors"]


@pytest.mark.parametrize("settings", [{"sessions_per_member": 2}], indirect=True)
async def test_a_session_that_makes_room(services: Services, anonymous: Member, alice: Member, bob: Member) -> None:
    """When a new session replaces the oldest one, that one ends at once with all its subscriptions."""
    phone = await log_in(anonymous, "alice")
    async with lines(services, alice) as oldest, listening(services, SOCKET, phone, STREAM) as stays:
        await log_in(anonymous, "alice")
        post = await bob.post("undelivered")
        for one in oldest:
            await one.signed_out()
        assert post in str(await stays.next())


@pytest.mark.parametrize("end", [_log_out, _log_out_everywhere, _change_password, _suspend, _delete_account])
async def test_end_of_the_session(services: Services, anonymous: Member, alice: Member, bob: Member, end: End) -> None:
    """Each way to end a session ends all its subscriptions at once, and no later event is sent."""
    phone = await log_in(anonymous, "alice")
    await phone.follow(bob)
    async with listening(services, SOCKET, bob, STREAM) as stays, lines(services, phone) as held:
        delivered = await bob.post("delivered")
        for one in held:
            assert delivered in str(await one.next())
        await end(services, phone, alice)
        undelivered = await bob.post("undelivered")
        for one in held:
            await one.signed_out()
        assert (await stays.next())["post"]["id"] == delivered
        while (event := await stays.next())["__typename"] != "PostCreated":
            pass  # a deleted account no longer follows anybody
        assert event["post"]["id"] == undelivered
    await until(lambda: not places(services) and not connections(alice))


@pytest.mark.parametrize("settings", [{"heartbeat_seconds": 1}], indirect=True)
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("query", [STREAM, HOME], ids=["stream", "home"])
async def test_expiry(
    db: Database, settings: Settings, services: Services, alice: Member, transport: str, query: str
) -> None:
    """An expired session ends its subscriptions at the next heartbeat, without any message."""
    async with listening(services, transport, alice, query) as one:
        await end_by_time(db, alice, settings)
        await one.signed_out()
    await until(lambda: not places(services) and not connections(alice))


async def test_an_end_that_nobody_was_told_of(services: Services, alice: Member, bob: Member) -> None:
    """A session whose end was published while Pub/Sub was down gets no event from that time."""
    async with AsyncExitStack() as stack:
        held = [
            await stack.enter_async_context(listening(services, transport, alice, STREAM)) for transport in TRANSPORTS
        ]
        stays = await stack.enter_async_context(listening(services, SOCKET, bob, STREAM))
        await bob.post("delivered by all")
        for one in (*held, stays):
            await one.next()
        await services.pubsub.close()
        await alice.do("logOut")
        undelivered = await bob.post("undelivered")
        services.pubsub.start()
        assert (await stays.next())["post"]["id"] == undelivered
        for one in held:
            assert (await one.refusal())[0] == "UNAUTHENTICATED"
    await until(lambda: not places(services) and not connections(alice))


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("query", "asked"), QUERIES.items(), ids=["stream", "own stream", "sample", "home"])
async def test_a_client_that_vanishes(
    services: Services, alice: Member, bob: Member, transport: str, query: str, asked: dict[str, Any]
) -> None:
    """A connection that breaks silently leaves no subscriber, no connection and no task, event or none."""
    await alice.follow(bob)
    before = asyncio.all_tasks()
    async with listening(services, transport, alice, query, **asked) as one:
        post = await bob.post("delivered")
        assert post in str(await one.next())
        one.cut()
        await until(lambda: not places(services) and not connections(alice))
    await bob.post("to nobody")
    left = {task.get_coro().__qualname__ for task in asyncio.all_tasks() - before}  # type: ignore[union-attr]
    names = ("EventStream", "Connection", "Channel", "SocketSession", "deliver", "live")
    assert not {name for name in left if name.startswith(names)}


async def test_the_end_of_the_process(services: Services, alice: Member, bob: Member) -> None:
    """When the process stops, it sends what is due, then closes websockets with 1001 and completes event streams."""
    await alice.follow(bob)
    async with lines(services, alice) as held:
        post = await bob.post("delivered")
        for one in held:
            assert post in str(await one.next())
        app = cast("web.Application", alice.client.app)
        await app.shutdown()
        for one in held:
            if isinstance(one, SocketLine):
                assert await one.stream.closed() == 1001
            else:
                assert isinstance(one, FeedLine)
                await one.feed.completed()
        assert places(services) == 0
        assert len(app[CONNECTIONS]) == 0


async def test_leaving_amid_events(services: Services, alice: Member, bob: Member) -> None:
    """Clients that vanish during a burst of events leave nothing behind and affect nobody else."""
    async with AsyncExitStack() as stack:
        stays = await stack.enter_async_context(listening(services, SOCKET, bob, STREAM))
        leaving = [
            await stack.enter_async_context(listening(services, transport, alice, query))
            for transport in (SOCKET, POST)
            for query in (STREAM, OWN_STREAM)
        ]
        posting = [asyncio.create_task(bob.post(f"post {number}")) for number in range(20)]
        for one in leaving:
            await one.next()
            one.cut()
        posts = set(await asyncio.gather(*posting))
        assert {(await stays.next())["post"]["id"] for _ in posts} == posts
        await until(lambda: places(services) == 1 and connections(alice) == 1)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("query", "read"), [(STREAM, "resolvers.live.site.anew"), (HOME, "resolvers.live.home._look")])
async def test_the_store_away(
    services: Services, alice: Member, transport: str, query: str, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that cannot be looked up ends the subscription with a code that lets the client resume with `after`."""

    def away(*_: Any) -> Any:
        raise Unavailable("the store is away")

    async with listening(services, transport, alice, query) as one:
        first = await alice.post("first")
        assert first in str(await one.next())
        with monkeypatch.context() as patch:
            patch.setattr(read, away)
            post = await alice.post("second")
            assert (await one.refusal())[0] == "SERVICE_UNAVAILABLE"
        cursor = one.cursor
    async with listening(services, transport, alice, query, after=cursor) as one:
        assert post in str(await one.next())


@pytest.mark.parametrize(
    "mutation",
    [
        "mutation { ended: logOut { userErrors { code } } }",
        f'mutation {{ ended: deleteAccount(input: {{password: "{PASSWORD}"}}) {{ userErrors {{ code }} }} }}',
    ],
    ids=["logOut", "deleteAccount"],
)
async def test_a_socket_that_ends_its_own_session(services: Services, alice: Member, mutation: str) -> None:
    """A mutation that ends its session is answered before its websocket is closed, so that nobody sends it again."""
    async with subscribed(alice, mutation) as socket:
        assert await socket.next() == {"userErrors": []}
        assert await socket.receive() == {"id": "1", "type": "complete"}
        assert await socket.closed() == 4403
    await until(lambda: not places(services) and not connections(alice))
