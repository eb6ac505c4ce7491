"""Relationships and an open site stream: blocks and mutes apply from the next event on, over every transport."""

from contextlib import AsyncExitStack
from typing import Any

import pytest

from resolvers.live.site import SiteSubscription
from resolvers.process.services import Services
from tests.support.people import Member
from tests.support.transport.live import until
from tests.support.transport.site_live import OWN_STREAM, SAMPLE, STREAM, listening
from tests.support.transport.transports import GET, POST, SOCKET, Line
from tests.support.transport.transports import listening as held
from tests.support.work import number

QUERIES: dict[str, dict[str, Any]] = {STREAM: {"kinds": ["POST_CREATED"]}, OWN_STREAM: {}, SAMPLE: {"percent": 100}}
CHANGES = [("block", "unblock"), ("mute", "unmute")]


async def created(line: Line) -> str:
    """Return the post of the next event, which must be PostCreated."""
    return str((await line.next())["post"]["id"])


@pytest.mark.parametrize("transport", [SOCKET, POST, GET])
@pytest.mark.parametrize(("query", "asked"), QUERIES.items(), ids=["shared", "own", "sample"])
@pytest.mark.parametrize(("begin", "end"), CHANGES, ids=["block", "mute"])
async def test_changes_while_it_is_open(
    services: Services,
    alice: Member,
    bob: Member,
    transport: str,
    query: str,
    asked: dict[str, Any],
    begin: str,
    end: str,
) -> None:
    """After a block or mute is answered, no event of that member arrives; after it ends, all of them do."""
    blocks = begin == "block"
    async with AsyncExitStack() as stack:
        hers = await stack.enter_async_context(held(services, transport, alice, query, **asked))
        his = await stack.enter_async_context(held(services, transport, bob, query, **asked))
        for _ in range(2):
            both = await bob.post("before")
            assert (await created(hers), await created(his)) == (both, both)  # she gets none of it after the block
            await alice.do(begin, userIds=[bob.id])
            from_bob, from_alice = await bob.post("meanwhile"), await alice.post("meanwhile")
            await alice.do(end, userIds=[bob.id])
            after = await bob.post("after")
            assert [await created(hers) for _ in range(2)] == [from_alice, after]
            expected = [from_bob, after] if blocks else [from_bob, from_alice, after]
            assert [await created(his) for _ in expected] == expected


async def test_what_hangs_on_a_blocked_member(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """A third member's repost, quote or follow reveals nothing of a blocked member or of one who blocks the viewer."""
    post = await bob.post("a post")
    async with listening(services, alice) as hers, listening(services, bob) as his:
        await alice.do("block", userIds=[bob.id])
        await carol.repost(post)
        quote = await carol.repost(post, "a quote")
        await carol.follow(bob)
        await carol.follow(alice)
        last = await carol.post("the end")
        event = await hers.next()
        assert (event["post"]["id"], event["post"]["original"]) == (quote, None)
        assert (await hers.next())["followed"]["login"] == "alice"
        assert (await hers.next())["post"]["id"] == last
        assert (await his.next())["__typename"] == "PostCreated"
        assert (await his.next())["post"]["original"] == {"id": post, "author": {"id": bob.id}}
        assert (await his.next())["followed"]["login"] == "bob"
        assert (await his.next())["post"]["id"] == last


async def test_bonds_that_have_ended_leave_nothing(services: Services, alice: Member, bob: Member) -> None:
    """After an unblock or unmute, an open stream keeps no trace of it and shares what is rendered for everybody."""
    made: list[SiteSubscription] = []

    def remember(*arguments: Any) -> SiteSubscription:
        made.append(SiteSubscription(*arguments))
        return made[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resolvers.live.site.SiteSubscription", remember)
        async with listening(services, alice) as hers:
            (subscription,) = made
            for begin, end in CHANGES:
                await alice.do(begin, userIds=[bob.id])
                await until(lambda: set(subscription.relationships) == {number(bob.id)})
                await alice.do(end, userIds=[bob.id])
                await until(lambda: subscription.relationships == {})
            await alice.do("block", userIds=[bob.id])
            await alice.do("mute", userIds=[bob.id])
            await alice.do("unblock", userIds=[bob.id])
            await bob.post("undelivered")
            await alice.do("unmute", userIds=[bob.id])
            post = await bob.post("delivered")
            assert (await hers.next())["post"]["id"] == post
            assert subscription.relationships == {}
