"""Subscribers are members with a valid session, and leave nothing behind once they are gone."""

from typing import Any

import pytest

from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.events import log
from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.transport.live import HOME, followers, puts, separate, subscribed, until, watching
from tests.support.work import number


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, reduced as the test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


async def test_anonymous(anonymous: Member) -> None:
    """The home needs a member: an anonymous subscriber gets an error for the operation, and the socket stays open."""
    async with subscribed(anonymous, HOME) as stream:
        assert await stream.code() == "UNAUTHENTICATED"
        await stream.socket.send_json({"type": "ping"})
        assert await stream.receive() == {"type": "pong"}


async def test_log_out_elsewhere(db: Database, services: Services, anonymous: Member, alice: Member) -> None:
    """Logging out closes the sockets of that session with 4403, and no others."""
    fields = {"identifier": "alice", "password": PASSWORD}
    payload = await anonymous.do("logIn", "accessToken", **fields)
    phone = Member(alice.client, payload["accessToken"], alice.id, "alice")
    async with watching(alice, db) as stays, watching(phone, db) as goes:
        await until(lambda: len(followers(services, alice)) == 2)
        await phone.do("logOut")
        assert await goes.closed() == 4403
        post = await alice.post("still here")
        assert await puts(stays, 1) == [post]
    await until(lambda: not followers(services, alice))


async def test_a_session_ended_without_a_message(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """After a session's end no event is delivered, even if no message announced the end."""
    await bob.follow(alice)
    async with watching(bob, db) as stream:
        post = await alice.post("delivered")
        assert await puts(stream, 1) == [post]
        await db.one("DEL", keys.sessions(number(bob.id)))
        await alice.post("undelivered")
        assert await stream.code() == "UNAUTHENTICATED"
    await until(lambda: not followers(services, alice))


@pytest.mark.parametrize("settings", [{"rate_limit": 5}], indirect=True)
async def test_events_are_no_requests(db: Database, services: Services, alice: Member) -> None:
    """Events do not count towards a member's limit of requests."""
    async with watching(alice, db) as stream:
        await until(lambda: followers(services, alice))
        for i in range(20):
            await log.append(db, f"delete:{i}", "delete", number(alice.id), post=i)
        for _ in range(20):
            assert (await stream.brief())[0] == "removed"


@pytest.mark.parametrize("ending", ["complete", "close", "vanish"])
async def test_nothing_is_left_of_who_leaves(
    db: Database, services: Services, alice: Member, bob: Member, ending: str
) -> None:
    """A subscriber who completes, closes or vanishes leaves no place in the log."""
    await bob.follow(alice)
    async with separate() as session, subscribed(bob, HOME, session) as stream:
        await until(lambda: followers(services, alice))
        acts: dict[str, Any] = {"complete": stream.complete, "close": stream.socket.close, "vanish": session.close}
        await acts[ending]()
        await until(lambda: not followers(services, alice) and not followers(services, bob))
    assert not services.log._by_actor  # noqa: SLF001  nobody else needs to know
