"""The site stream: which events it sends, to whom, and how it resumes."""

from typing import Any

import pytest

from resolvers.accounts import set_suspension
from resolvers.process.services import Services
from store.client.database import Database
from tests.support.people import Member, make_private
from tests.support.transport.live import subscribed
from tests.support.transport.site_live import SAMPLE, STREAM, listening, next_event


async def test_the_firehose(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """Without a filter every public event is sent, in the order in which it happened."""
    async with listening(services, alice) as stream:
        post = await bob.post("a post")
        quote = await carol.repost(post, "a quote")
        repost = await carol.repost(post)
        await bob.follow(carol)
        await bob.unfollow(carol)
        await carol.do("hidePost", postId=quote)
        await carol.do("unhidePost", postId=quote)
        await carol.do("unrepost", postId=post)
        await bob.do("deletePost", postId=post)
        assert [await next_event(stream) for _ in range(9)] == [
            ("created", post),
            ("created", quote),
            ("created", repost),
            ("followed", "bob", "carol"),
            ("unfollowed", "bob", "carol"),
            ("deleted", quote, carol.id),
            ("created", quote),
            ("deleted", repost, carol.id),
            ("deleted", post, bob.id),
        ]


async def test_what_is_private(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """A private member's events are sent to nobody, not even followers, nor are deletions of posts that were not."""
    await carol.follow(bob)
    await make_private(bob)
    async with listening(services, carol) as stream:
        secret = await bob.post("for friends")
        await alice.follow(bob)
        await bob.do("approveFollowRequests", userIds=[alice.id])
        await bob.do("deletePost", postId=secret)
        last = await alice.post("the end")
        assert await next_event(stream) == ("created", last)


@pytest.mark.parametrize("is_suspended", [False, True], ids=["private", "suspended"])
async def test_what_was_public(
    services: Services, alice: Member, bob: Member, carol: Member, *, is_suspended: bool
) -> None:
    """A suspension and a change to private are sent as hiding is: as deletions, and as creations when they end."""
    theirs = await carol.post("passed on")
    async with listening(services, alice) as stream:
        one, two, three = await bob.post("one"), await bob.repost(theirs, "two"), await bob.repost(theirs)
        for post in (one, two, three):
            assert await next_event(stream) == ("created", post)
        await bob.do("hidePost", postId=one)
        assert await next_event(stream) == ("deleted", one, bob.id)
        for begins in (True, False):
            if is_suspended:
                assert await set_suspension(services.db, "bob", suspended=begins)
            else:
                await bob.do("updateProfile", isPrivate=begins)
            ended = [("deleted", post, bob.id) for post in (two, three)]
            assert [await next_event(stream) for _ in range(2)] == (
                ended if begins else [("created", two), ("created", three)]
            )


async def test_private_and_suspended(services: Services, alice: Member, bob: Member) -> None:
    """A second state of a member whose posts are out of sight already is not sent, nor is the end of one of two."""
    async with listening(services, alice) as stream:
        post = await bob.post("one")
        assert await next_event(stream) == ("created", post)
        await bob.do("updateProfile", isPrivate=True)
        assert await next_event(stream) == ("deleted", post, bob.id)
        for suspended in (True, False):
            assert await set_suspension(services.db, "bob", suspended=suspended)
        last = await alice.post("the end")
        assert await next_event(stream) == ("created", last)


async def test_what_was_never_public(services: Services, alice: Member, bob: Member) -> None:
    """A post that was made in private is not sent, neither when its author goes public nor when they go back."""
    await make_private(bob)
    async with listening(services, alice) as stream:
        await bob.post("for friends")
        for private in (False, True):
            await bob.do("updateProfile", isPrivate=private)
        last = await alice.post("the end")
        assert await next_event(stream) == ("created", last)


async def test_relationships(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """Events of a member in a block or mute are not sent from that moment on, and are sent again when it ends."""
    async with listening(services, alice) as stream:
        await alice.do("block", userIds=[bob.id])
        await bob.post("undelivered")
        await alice.do("unblock", userIds=[bob.id])
        received = await bob.post("delivered")
        assert await next_event(stream) == ("created", received)
        await alice.do("mute", userIds=[bob.id])
        await bob.do("deletePost", postId=received)
        await alice.do("unmute", userIds=[bob.id])
        await bob.do("block", userIds=[alice.id])
        await bob.post("undelivered")
        last = await carol.post("the end")
        assert await next_event(stream) == ("created", last)


async def test_filters(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """An event that matches any part of a filter is sent once, and its deletion to the same subscribers."""
    near = {"south": 40.0, "west": -10.0, "north": 50.0, "east": 10.0}
    wanted = {"follow": [bob.id], "track": ["green tea"], "locations": [near]}
    async with listening(services, alice, filter=wanted) as stream:
        posts = [
            await carol.post("#Tea, the green one"),
            await carol.post("here", location={"latitude": 48.9, "longitude": 2.4}),
            await bob.post("green tea", location={"latitude": 48.9, "longitude": 2.4}),
        ]
        other = await carol.post("black tea")
        await carol.do("deletePost", postId=other)
        for post, author in zip(posts, (carol, carol, bob), strict=True):
            await author.do("deletePost", postId=post)
        assert [(await next_event(stream))[:2] for _ in range(6)] == [
            *(("created", post) for post in posts),
            *(("deleted", post) for post in posts),
        ]


async def test_resuming(services: Services, db: Database, alice: Member, bob: Member) -> None:
    """A resuming client first gets what it missed, without posts deleted meanwhile."""
    async with listening(services, alice) as stream:
        await bob.post("one")
        await stream.next()
        cursor = stream.cursor
    two, gone = await bob.post("two"), await bob.post("gone")
    await bob.do("deletePost", postId=gone)
    async with listening(services, alice, after=cursor, kinds=["POST_CREATED"]) as stream:
        assert await next_event(stream) == ("created", two)
        three = await bob.post("three")
        assert await next_event(stream) == ("created", three)


async def test_a_sample(services: Services, alice: Member, bob: Member) -> None:
    """A sample has the same posts for everyone, with their deletions, and no follows; 100 percent has every post."""
    async with (
        listening(services, alice, SAMPLE, percent=100) as whole,
        listening(services, bob, SAMPLE, percent=50) as one,
        listening(services, alice, SAMPLE, percent=50) as other,
    ):
        posts = [await bob.post(f"post {i}") for i in range(30)]
        await alice.follow(bob)
        last = await alice.post("the end")
        received = [(await next_event(whole))[1] for _ in range(31)]
        assert received == [*posts, last]
        some: list[tuple[Any, ...]] = []
        while len(some) < 3:
            some.append(await next_event(one))
        assert [await next_event(other) for _ in range(3)] == some
        assert {post for _, post in some} <= set(received)


@pytest.mark.parametrize(
    "asked",
    [
        {"filter": {}},
        {"filter": {"follow": []}},
        {"filter": {"track": []}},
        {"filter": {"locations": []}},
        {"filter": {"track": [" "]}},
        {"filter": {"track": ["x" * 61]}},
        {"filter": {"track": ["tea"] * 401}},
        {"filter": {"follow": ["status_00000000000001"]}},
        {"filter": {"locations": [{"south": 2, "west": 0, "north": 1, "east": 0}]}},
        {"filter": {"locations": [{"south": 0, "west": 0, "north": 91, "east": 0}]}},
        {"kinds": []},
        {"kinds": ["NOTHING"]},
        {"after": "elsewhere.1-1"},
    ],
    ids=str,
)
async def test_refusals(alice: Member, asked: dict[str, Any]) -> None:
    """Invalid arguments are refused, and no event is sent."""
    async with subscribed(alice, STREAM, **asked) as stream:
        assert await stream.code() in {"BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED"}


@pytest.mark.parametrize("percent", [0, 101, -1])
async def test_a_share_that_cannot_be(alice: Member, percent: int) -> None:
    """A sample is of 1 to 100 percent."""
    async with subscribed(alice, SAMPLE, percent=percent) as stream:
        assert await stream.code() == "BAD_USER_INPUT"


async def test_anonymous(anonymous: Member) -> None:
    """Without a token there is no stream."""
    for query, asked in ((STREAM, {}), (SAMPLE, {"percent": 1})):
        async with subscribed(anonymous, query, **asked) as stream:
            assert await stream.code() == "UNAUTHENTICATED"
