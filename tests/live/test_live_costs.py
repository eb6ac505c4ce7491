"""The cost per event of one member's subscriptions is bounded in total, over every transport."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from typing import Literal

import pytest

from resolvers.process.services import LOOKS_AT_ONCE, Services
from schema.execution.live_costs import EVENT_COST, SENDING_COST
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.transport.live import until
from tests.support.transport.site_live import OWN_STREAM, STREAM
from tests.support.transport.transports import (
    POST,
    SOCKET,
    TRANSPORTS,
    FeedLine,
    Line,
    SocketLine,
    line,
    listening,
    places,
)

SMALL = "subscription { stream { ... on PostCreated { post { id viewerHasLiked } } } }"
SMALL_COST = EVENT_COST + 4
SHARED = "subscription { stream { ... on PostCreated { post { id text } } } }"
SHARED_COST = EVENT_COST + 4
MOST = 3 * SMALL_COST


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for three small subscriptions of a member."""
    return shrunk(settings, max_live_cost=MOST)


async def refused(transport: str, member: Member, query: str) -> str:
    """Return the message with which a subscription is refused for its cost."""
    async with line(transport, member, query) as one:
        code, message = await one.refusal()
        assert code == "RATE_LIMITED"
        if isinstance(one, FeedLine):
            assert (one.feed.response.status, one.feed.response.headers["Retry-After"]) == (429, "1")
        return message


async def leave(one: Line) -> None:
    if isinstance(one, SocketLine):
        await one.stream.complete()
    else:
        one.cut()


def _has_fewer_places(services: Services, had: int) -> bool:
    return places(services) < had


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_one_too_many(services: Services, alice: Member, bob: Member, transport: str) -> None:
    """A subscription too costly beside the others is refused and changes nothing; ending one makes room."""
    async with AsyncExitStack() as stack:
        held = [await stack.enter_async_context(listening(services, one, alice, SMALL)) for one in TRANSPORTS]
        message = await refused(transport, alice, SMALL)
        assert f"may cost {MOST} per event" in message
        assert f"cost {MOST}, and this one {SMALL_COST}" in message
        assert places(services) == len(held)
        his = await stack.enter_async_context(listening(services, transport, bob, SMALL))
        post = await alice.post("to all of them")
        for one in (*held, his):
            assert (await one.next())["post"]["id"] == post
        for one in held:
            had = places(services)
            await leave(one)
            await until(partial(_has_fewer_places, services, had))
            await stack.enter_async_context(listening(services, transport, alice, SMALL))
        await refused(transport, alice, SMALL)


@pytest.mark.parametrize("transport", [SOCKET, POST])
async def test_too_costly_by_itself(services: Services, alice: Member, transport: str) -> None:
    """A subscription that costs more than the limit by itself is refused, with or without others open."""
    reposted = f"repostedBy(first: {MOST}) {{ user {{ login }} }}"
    query = f"subscription {{ homeTimeline {{ ... on TimelineEntryPut {{ edge {{ {reposted} }} }} }} }}"
    assert f"may cost {MOST} per event" in await refused(transport, alice, query)
    assert places(services) == 0


async def test_what_is_rendered_for_all(services: Services, alice: Member) -> None:
    """Identical subscriptions with a shared rendering cost little beyond the first one, whichever of them remains."""
    cheap = (MOST - SHARED_COST) // SENDING_COST
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(listening(services, SOCKET, alice, SHARED))
        for _ in range(10):
            await stack.enter_async_context(listening(services, SOCKET, alice, SHARED))
        assert cheap > 10
        await leave(first)
        await until(lambda: places(services) == 10)
        await stack.enter_async_context(listening(services, SOCKET, alice, SMALL))
        message = await refused(SOCKET, alice, f"{SHARED} # another text is rendered by itself")
        assert f"cost {SHARED_COST + 9 * SENDING_COST + SMALL_COST}," in message


class Counting(asyncio.Semaphore):
    """A semaphore that counts how often it is acquired."""

    taken = 0

    async def acquire(self) -> Literal[True]:
        self.taken += 1
        return await super().acquire()


async def test_what_one_viewer_alone_gets(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """An event rendered for one viewer alone is rendered once for all the viewer's identical subscriptions."""
    query = "subscription { stream { ... on PostCreated { post { id mentions { login } } } } }"
    await bob.do("mute", userIds=[carol.id])
    services.looks = looks = Counting(1)
    async with AsyncExitStack() as stack:
        held = [await stack.enter_async_context(listening(services, SOCKET, bob, query)) for _ in range(10)]
        await looks.acquire()
        looks.taken = 1
        post = await alice.post("@carol")
        await until(lambda: looks.taken > 1)
        assert await bob.home() == []
        looks.release()
        for one in held:
            assert (await one.next())["post"]["id"] == post
        assert looks.taken == 2


async def test_others_are_served_in_between(services: Services, alice: Member, bob: Member) -> None:
    """While as many events are rendered as may be at a time, further events wait, and requests do not."""
    services.looks = looks = Counting(LOOKS_AT_ONCE)
    async with listening(services, SOCKET, bob, OWN_STREAM) as his, listening(services, SOCKET, bob, STREAM) as shared:
        for _ in range(LOOKS_AT_ONCE):
            await looks.acquire()
        looks.taken = 0
        post = await alice.post("rendered later")
        assert (await shared.next())["post"]["id"] == post
        assert await bob.home() == []
        await until(lambda: looks.taken)
        for _ in range(LOOKS_AT_ONCE):
            looks.release()
        assert (await his.next())["post"]["id"] == post
    assert not looks.locked()
