"""Leaving a subscription at any moment, over every transport, and the ends of notifications and post activity."""

import asyncio
from typing import Any

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from tests.support.people import Member
from tests.support.probes.sessions import log_in
from tests.support.stored import sharded_channels
from tests.support.transport.live import ACTIVITY, HOME, MESSAGES, NOTIFICATIONS, begun, until, watched
from tests.support.transport.site_live import SAMPLE, STREAM
from tests.support.transport.transports import TRANSPORTS, channels, connections, line, places

MOMENTS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55)  # turns of the event loop after which a client leaves
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "stream": (STREAM, {"after": "event.0-0", "filter": {"track": ["tea"]}}),
    "sample": (SAMPLE, {"after": "event.0-0", "percent": 100}),
    "home": (HOME, {"after": "event.0-0"}),
    "notifications": (NOTIFICATIONS, {}),
    "messages": (MESSAGES, {}),
    "activity": (ACTIVITY, {}),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("query", "asked"), ASKED.values(), ids=ASKED)
async def test_at_any_moment(
    services: Services, alice: Member, transport: str, query: str, asked: dict[str, Any]
) -> None:
    """A client that leaves while its subscription begins, replays or waits leaves nothing behind."""
    for number in range(5):
        post = await alice.post(f"tea {number}")
    before = channels(services)
    for turns in MOMENTS:
        async with line(transport, alice, query, **({"post": post} if query is ACTIVITY else asked)) as one:
            for _ in range(turns):
                await asyncio.sleep(0)
            one.cut()
        await until(lambda: not places(services) and not connections(alice) and channels(services) == before)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_notifications(db: Database, anonymous: Member, alice: Member, bob: Member, transport: str) -> None:
    """Notifications arrive over every transport, and end with the session."""
    phone = await log_in(anonymous, "alice")
    post = await alice.post("like me")
    async with line(transport, phone, NOTIFICATIONS) as one:
        await begun(db, alice)
        await bob.do("like", postId=post)
        assert (await one.next())["notification"]["kind"] == "LIKE"
        await phone.do("logOut")
        await bob.repost(post)
        await one.signed_out()
    await _without_subscribers(db, "notifications:*")


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_activity(db: Database, anonymous: Member, alice: Member, bob: Member, transport: str) -> None:
    """A post's activity arrives over every transport, and ends with the session."""
    phone = await log_in(anonymous, "alice")
    post = await bob.post("like me")
    async with line(transport, phone, ACTIVITY, post=post) as one:
        await watched(db, post)
        await bob.do("like", postId=post)
        assert (await one.next())["likeCount"] == 1
        await phone.do("logOut")
        await bob.repost(post)
        await one.signed_out()
    await _without_subscribers(db, "activity:*")


async def _without_subscribers(db: Database, channel: str) -> None:
    async with asyncio.timeout(10):
        while await sharded_channels(db, db.channel(channel)):
            pass
