"""The live home as an event stream: resumed by `after`, for as long as the session, and without a trace afterwards."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.probes.sessions import NEW_PASSWORD, end_by_time, log_in
from tests.support.transport.clients import EVENT_STREAM
from tests.support.transport.feeds import Feed, following, wanting
from tests.support.transport.live import HOME, brief, followers, now, separate, until

END = Callable[[Member, Member], Awaitable[Any]]


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, with limits from the test's parameter."""
    return shrunk(settings, **getattr(request, "param", {}))


async def event(feed: Feed) -> dict[str, Any]:
    """Return the next event, which must come."""
    answer = await feed.receive()
    assert answer is not None
    assert "errors" not in answer, answer
    (found,) = answer["data"].values()
    return dict(found)


async def test_a_home_that_is_resumed(db: Database, alice: Member, bob: Member) -> None:
    """A client that resumes with its last cursor gets the missed events, once, and then live ones."""
    await bob.follow(alice)
    async with following(bob, HOME, after=await now(db)) as feed:
        post = await alice.post("delivered")
        delivered = await event(feed)
        assert brief(delivered) == ("put", post)
    missed = await alice.post("missed")
    async with following(bob, HOME, after=delivered["cursor"]) as feed:
        assert brief(await event(feed)) == ("put", missed)
        live = await alice.post("live")
        assert brief(await event(feed)) == ("put", live)


async def test_last_event_id_is_nothing(db: Database, alice: Member) -> None:
    """Only `after` takes cursors: events have no ids, and a header with one changes nothing."""
    post = await alice.post("mine")
    params = {"query": HOME.replace("after: $after", 'after: "event.0-0"').replace("($after: String)", "")}
    headers = wanting(alice.token, **{"Last-Event-ID": await now(db)})
    async with alice.client.get("/graphql", params=params, headers=headers) as response:
        feed = await Feed(response).opened()
        block = await feed.block()
        assert block.startswith("event: next\ndata: ")
        assert post in block
        response.close()


async def test_anonymous(anonymous: Member) -> None:
    """A home needs a member: an anonymous viewer gets an error in the stream."""
    async with following(anonymous, HOME) as feed:
        assert await feed.refused() == "UNAUTHENTICATED"


async def test_cursor_that_is_none(alice: Member) -> None:
    """A wrong cursor ends the stream with its error."""
    async with following(alice, HOME, after="nonsense") as feed:
        assert await feed.refused() == "BAD_USER_INPUT"


async def _log_out(phone: Member, _: Member) -> None:
    await phone.do("logOut")


async def _log_out_everywhere(_: Member, laptop: Member) -> None:
    await laptop.do("logOut", everywhere=True)


async def _change_password(_: Member, laptop: Member) -> None:
    payload = await laptop.do("changePassword", currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
    assert not payload["userErrors"]


async def _delete_account(_: Member, laptop: Member) -> None:
    payload = await laptop.do("deleteAccount", password=PASSWORD)
    assert not payload["userErrors"]


@pytest.mark.parametrize("end", [_log_out, _log_out_everywhere, _change_password, _delete_account])
async def test_end_of_the_session(services: Services, anonymous: Member, alice: Member, end: END) -> None:
    """Every end of a session ends its streams at once, and they leave no subscriber of the log."""
    phone = await log_in(anonymous, "alice")
    async with following(phone, HOME) as feed:
        await until(lambda: followers(services, alice))
        await end(phone, alice)
        assert await feed.refused() == "UNAUTHENTICATED"
    await until(lambda: not services.log._by_actor)  # noqa: SLF001  nobody else needs to know


@pytest.mark.parametrize("settings", [{"heartbeat_seconds": 1}], indirect=True)
async def test_session_that_expires(db: Database, settings: Settings, services: Services, alice: Member) -> None:
    """A session that expires ends its stream with the next heartbeat, even without any message or event."""
    async with following(alice, HOME) as feed:
        await until(lambda: followers(services, alice))
        await end_by_time(db, alice, settings)
        assert await feed.refused() == "UNAUTHENTICATED"
    await until(lambda: not followers(services, alice))


async def test_nothing_is_left_of_who_vanishes(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """A client that closes its connections leaves no subscriber of the log, even without an event."""
    await bob.follow(alice)
    async with separate() as session, following(bob, HOME, session) as feed:
        await until(lambda: followers(services, alice))
        assert feed.response.content_type == EVENT_STREAM
        await session.close()
        await until(lambda: not services.log._by_actor)  # noqa: SLF001  nobody else needs to know
