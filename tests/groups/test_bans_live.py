"""Bans from a group, live: subscriptions of a banned member end, begin anew, or leave out what is in the group."""

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from tests.groups.test_group_live import begun
from tests.support.groups import act, create, join
from tests.support.people import Member
from tests.support.transport.live import ACTIVITY, GROUP, subscribed, watching
from tests.support.transport.site_live import OWN_STREAM, STREAM, listening


async def test_an_open_group(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """The subscriptions to an open group of a banned member and of a banned stranger end; others go on."""
    group = await create(alice)
    await join(group, bob)
    async with (
        subscribed(alice, GROUP, group=group) as other,
        subscribed(bob, GROUP, group=group) as member,
        subscribed(carol, GROUP, group=group) as stranger,
    ):
        await begun(db, group)
        await act(alice, "banGroupMembers", group, bob, carol)
        for stream in (member, stranger):
            assert await stream.code() == "NOT_FOUND"
        post = await alice.post("hello", groupId=group)
        assert await other.brief() == ("put", post)
    async with subscribed(bob, GROUP, group=group) as refused:
        assert await refused.code() == "BAD_USER_INPUT"


async def test_a_live_home(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A ban and its end are gaps in the live home: reposted posts of the group leave it, or return to it."""
    group = await create(alice)
    await join(group, bob)
    await carol.follow(bob)
    post = await alice.post("hello", groupId=group)
    async with watching(carol, db) as stream:
        await bob.repost(post)
        assert await stream.brief() == ("put", post, "bob")
        await act(alice, "banGroupMembers", group, carol)
        assert await stream.brief() == ("gap",)
        await bob.repost(await alice.post("again", groupId=group))
        quote = await bob.repost(post, "see")
        assert await stream.brief() == ("put", quote)
        await act(alice, "unbanGroupMembers", group, carol)
        assert await stream.brief() == ("gap",)
        again = await alice.post("once more", groupId=group)
        await bob.repost(again)
        assert await stream.brief() == ("put", again, "bob")


async def test_the_numbers_of_a_post(alice: Member, bob: Member) -> None:
    """A banned member's subscription to the numbers of a post in the group ends with their next change."""
    group = await create(alice)
    post = await alice.post("hello", groupId=group)
    async with subscribed(bob, ACTIVITY, post=post) as stream:
        await bob.do("like", postId=post)
        assert (await stream.next())["likeCount"] == 1
        await act(alice, "banGroupMembers", group, bob)
        await alice.do("like", postId=post)
        assert await stream.code() == "NOT_FOUND"


@pytest.mark.parametrize("query", [STREAM, OWN_STREAM], ids=["rendered for all", "rendered for each"])
async def test_the_stream_of_the_site(
    services: Services, alice: Member, bob: Member, carol: Member, query: str
) -> None:
    """Whom a group bans gets no plain repost of its posts, and quotes of them without the quoted post."""
    group = await create(alice)
    await join(group, bob)
    await act(alice, "banGroupMembers", group, carol)
    async with listening(services, carol, query) as banned, listening(services, alice, query) as other:
        for turn in ("idle subscribers", "again, which the process may send at once"):
            post = await alice.post(turn, groupId=group)
            plain, quote = await bob.repost(post), await bob.repost(post, "see")
            shown = await banned.next()
            assert (shown["post"]["id"], shown["post"]["original"]) == (quote, None)
            for expected in (plain, quote):
                shown = await other.next()
                assert (shown["post"]["id"], shown["post"]["original"]["id"]) == (expected, post)
