"""Resuming the site stream: past events are sent again only as they are visible now."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from resolvers import accounts
from resolvers.process.services import Services
from store.client.database import Database
from store.events.log import CHANNEL
from tests.support.people import PASSWORD, Member, make_private
from tests.support.transport.site_live import OWN_STREAM, SAMPLE, STREAM, listening
from tests.support.transport.transports import TRANSPORTS, line

NEAR = {"south": 40.0, "west": -10.0, "north": 50.0, "east": 10.0}
FILTERS: dict[str, Any] = {"track": {"track": ["green tea"]}, "locations": {"locations": [NEAR]}}
Change = Callable[[Services, Member, str], Awaitable[Any]]
QUERIES: dict[str, dict[str, Any]] = {STREAM: {"kinds": ["POST_CREATED"]}, OWN_STREAM: {}, SAMPLE: {"percent": 100}}


async def _delete(_: Services, author: Member, post: str) -> None:
    await author.do("deletePost", postId=post)


async def _hide(_: Services, author: Member, post: str) -> None:
    await author.do("hidePost", postId=post)


async def _go_private(_: Services, author: Member, __: str) -> None:
    await make_private(author)


async def _suspend(services: Services, author: Member, _: str) -> None:
    assert await accounts.set_suspension(services.db, author.login, suspended=True)


async def _delete_account(_: Services, author: Member, __: str) -> None:
    assert not (await author.do("deleteAccount", password=PASSWORD))["userErrors"]


@pytest.mark.parametrize("change", [_delete, _hide, _go_private, _suspend, _delete_account])
@pytest.mark.parametrize(("query", "asked"), QUERIES.items(), ids=["stream", "own stream", "sample"])
async def test_what_is_gone_meanwhile(
    services: Services,
    alice: Member,
    bob: Member,
    carol: Member,
    query: str,
    asked: dict[str, Any],
    change: Change,
) -> None:
    """A post sent live that is deleted, hidden or not public by now is not sent to a client that resumes before it."""
    async with listening(services, alice, query, **asked) as stream:
        await carol.post("to go on from")
        await stream.next()
        cursor = stream.cursor
        gone = await bob.post("delivered, and gone")
        assert (await stream.next())["post"]["id"] == gone
    await change(services, bob, gone)
    last = await carol.post("the end")
    for transport in TRANSPORTS:
        async with line(transport, alice, query, **asked, after=cursor) as resumed:
            delivered: list[tuple[str, str]] = []
            while ("PostCreated", last) not in delivered:
                event = await resumed.next()
                delivered.append((event["__typename"], event.get("postId") or event["post"]["id"]))
        assert set(delivered) <= {("PostDeleted", gone), ("PostCreated", last)}, transport


@pytest.mark.parametrize("name", FILTERS)
async def test_filters(services: Services, alice: Member, bob: Member, name: str) -> None:
    """A client that resumes gets the posts that its filter passes, and the end of each that is deleted by now."""
    there = {"latitude": 48.9, "longitude": 2.4}
    async with listening(services, alice, filter=FILTERS[name]) as stream:
        gone = await bob.post("green tea", location=there)
        await stream.next()
        cursor = stream.cursor
    await bob.post("black coffee")
    kept = await bob.post("more green tea", location=there)
    await bob.do("deletePost", postId=gone)
    last = await bob.post("the last green tea", location=there)
    for transport in TRANSPORTS:
        async with line(transport, alice, STREAM, filter=FILTERS[name], after=cursor) as resumed:
            found = [await resumed.next() for _ in range(3)]
        assert [event.get("postId") or event["post"]["id"] for event in found] == [kept, gone, last], transport


async def test_lost_announcements(services: Services, db: Database, alice: Member, bob: Member) -> None:
    """Events that a process reads from the log, since their announcements were lost, pass the same filters."""
    async with listening(services, alice, filter=FILTERS["track"]) as stream:
        first = await bob.post("green tea")
        assert (await stream.next())["post"]["id"] == first
        services.pubsub.ignore(CHANNEL, services.log._hear)  # noqa: SLF001  as if the messages were lost
        await bob.post("black coffee")
        missed = await bob.post("more green tea")
        services.pubsub.listen(CHANNEL, services.log._hear)  # noqa: SLF001
        last = await bob.post("the last green tea")
        assert [(await stream.next())["post"]["id"] for _ in range(2)] == [missed, last]
