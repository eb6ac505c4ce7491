"""A post's counts, live, and the one Pub/Sub connection behind them."""

import asyncio
from functools import partial
from typing import Any

import pytest

from resolvers.process.services import Services
from store import keys
from store.client.database import Database, script
from store.client.pubsub import PubSub
from store.ids import partition
from tests.support.people import Member
from tests.support.stored import disconnect, subscribers
from tests.support.transport.live import ACTIVITY, Stream, separate, subscribed, subscribed_channels, until, watched
from tests.support.transport.transports import TRANSPORTS, line
from tests.support.work import number


def set_by(event: asyncio.Event, _message: str) -> None:
    event.set()


def unmoved(_message: str) -> None:
    pass


async def numbers(stream: Stream) -> tuple[int, ...]:
    """Return the like, repost, quote and comment counts of the next event."""
    event = await stream.next()
    return tuple(event[f"{name}Count"] for name in ("like", "repost", "quote", "comment"))


async def test_every_kind_of_activity(db: Database, alice: Member, bob: Member) -> None:
    """Each like, comment, repost and quote, and each removal of one, gives an event with the counts of that moment."""
    post = await alice.post("watch me")
    acts: list[tuple[str, dict[str, str], tuple[int, ...]]] = [
        ("like", {"postId": post}, (1, 0, 0, 0)),
        ("comment", {"postId": post, "text": "a"}, (1, 0, 0, 1)),
        ("repost", {"postId": post, "text": ""}, (1, 1, 0, 1)),
        ("repost", {"postId": post, "text": "quote"}, (1, 1, 1, 1)),
        ("unlike", {"postId": post}, (0, 1, 1, 1)),
        ("unrepost", {"postId": post}, (0, 0, 1, 1)),
    ]
    async with subscribed(bob, ACTIVITY, post=post) as stream:
        await watched(db, post)
        for act, fields, expected in acts:
            await bob.do(act, **fields)
            assert await numbers(stream) == expected
        comment = (await bob.do("comment", "comment { id }", postId=post, text="b"))["comment"]["id"]
        assert await numbers(stream) == (0, 0, 1, 2)
        await alice.do("deleteComment", commentId=comment)
        assert await numbers(stream) == (0, 0, 1, 1)


async def test_what_changes_no_number(db: Database, alice: Member, bob: Member) -> None:
    """A change that changes no count sends no event: a repeated like, or a like of another post."""
    post, other = await alice.post("watch me"), await alice.post("not me")
    await bob.do("like", postId=post)
    async with subscribed(bob, ACTIVITY, post=post) as stream:
        await watched(db, post)
        await bob.do("like", postId=post)
        await bob.do("like", postId=other)
        await db.one("SPUBLISH", db.channel(keys.activity(number(post))), "")
        await alice.do("like", postId=post)
        assert await numbers(stream) == (2, 0, 0, 0)


async def test_a_burst(db: Database, alice: Member) -> None:
    """Of a burst of changes only the latest counts are sent, not each change."""
    post = await alice.post("watch me")
    post_id = number(post)
    p = partition(post_id)
    likes = [
        script(
            "like",
            minted=keys.minted(p),
            status=keys.status(post_id),
            likes=keys.likes(post_id),
            rescore=keys.rescore(p),
            partition=p,
            member=fan,
            channel=db.channel(keys.activity(post_id)),
            post=post_id,
            mailboxes="",
            refused="",
        )
        for fan in range(1, 101)
    ]
    async with subscribed(alice, ACTIVITY, post=post) as stream:
        await watched(db, post)
        await db.ask(*likes)
        delivered = [await numbers(stream)]
        while delivered[-1] != (100, 0, 0, 0):
            delivered.append(await numbers(stream))
    assert len(delivered) < 50


async def test_a_plain_reposts_id(db: Database, alice: Member, bob: Member) -> None:
    """The id of a plain repost subscribes to its original; the id of a quote subscribes to the quote itself."""
    post = await alice.post("watch me")
    repost, quote = await bob.repost(post), await bob.repost(post, "and me")
    async with subscribed(bob, ACTIVITY, post=repost) as of_post, subscribed(bob, ACTIVITY, post=quote) as of_quote:
        await watched(db, post)
        await watched(db, quote)
        await alice.do("like", postId=post)
        event = await of_post.next()
        assert (event["post"]["id"], event["likeCount"]) == (post, 1)
        await alice.do("like", postId=quote)
        event = await of_quote.next()
        assert (event["post"]["id"], event["likeCount"]) == (quote, 1)


async def test_what_is_no_post(anonymous: Member, alice: Member) -> None:
    """An unknown, deleted or malformed id, one of another type and an anonymous subscriber are refused."""
    post, gone = await alice.post("here"), await alice.post("gone")
    await alice.do("deletePost", postId=gone)
    for wrong in ("status_00000000000001", gone, alice.id, post.replace("status", "repost"), "nonsense"):
        async with subscribed(alice, ACTIVITY, post=wrong) as stream:
            assert await stream.code() == "BAD_USER_INPUT"
    async with subscribed(anonymous, ACTIVITY, post=post) as stream:
        assert await stream.code() == "UNAUTHENTICATED"


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("act", ["deletePost", "hidePost"])
async def test_the_end_with_the_post(
    db: Database, services: Services, alice: Member, bob: Member, act: str, transport: str
) -> None:
    """When the post is deleted or hidden, the subscription ends with NOT_FOUND and leaves nothing behind."""
    post = await alice.post("watch me")
    async with line(transport, bob, ACTIVITY, post=post) as activity:
        await watched(db, post)
        await alice.do("like", postId=post)
        assert (await activity.next())["likeCount"] == 1
        await alice.do(act, postId=post)
        code, message = await activity.refusal()
        assert (code, message.partition(":")[0]) == ("NOT_FOUND", "postId")
    await nothing_left(db, services)


@pytest.mark.parametrize("ending", ["complete", "close", "vanish"])
async def test_nothing_is_left_of_who_leaves(db: Database, services: Services, alice: Member, ending: str) -> None:
    """The Pub/Sub channel is unsubscribed when the last subscriber completes, closes or vanishes, and not before."""
    post = await alice.post("watch me")
    async with subscribed(alice, ACTIVITY, post=post) as stays:
        async with separate() as session, subscribed(alice, ACTIVITY, session, post=post) as goes:
            await until(lambda: listeners(db, services, post) == 2)
            acts: dict[str, Any] = {"complete": goes.complete, "close": goes.socket.close, "vanish": session.close}
            await acts[ending]()
            await until(lambda: listeners(db, services, post) == 1)
        await alice.do("like", postId=post)
        assert await numbers(stays) == (1, 0, 0, 0)
    await nothing_left(db, services)


async def test_activity_while_the_connection_is_away(db: Database, services: Services, alice: Member) -> None:
    """Changes during a break of the Pub/Sub connection are sent once it is restored."""
    post = await alice.post("watch me")
    async with subscribed(alice, ACTIVITY, post=post) as stream:
        await watched(db, post)
        await disconnect(db, "pubsub")
        await alice.do("like", postId=post)
        assert await numbers(stream) == (1, 0, 0, 0)


async def test_listening_at_any_moment_of_connecting(services: Services, db: Database) -> None:
    """A listener added while the Pub/Sub connection is made is woken; one removed meanwhile is not."""
    for turns in range(40):
        pubsub = PubSub(services.db.servers, services.db.channel_prefix, services.db.outages)
        delivered = asyncio.Event()
        pubsub.listen("ended", unmoved)
        pubsub.start()
        for _ in range(turns):
            await asyncio.sleep(0)
        pubsub.listen("begun", partial(set_by, delivered))
        pubsub.ignore("ended", unmoved)
        async with asyncio.timeout(10):
            await delivered.wait()
            while await subscribers(db, db.channel("ended")):
                pass
        await pubsub.close()


def listeners(db: Database, services: Services, post: str) -> int:
    """Return the number of listeners to a post's activity."""
    return len(services.pubsub._listeners.get(db.channel(keys.activity(number(post))), ()))  # noqa: SLF001


async def nothing_left(db: Database, services: Services) -> None:
    """Wait until no channel of a post is subscribed and nobody listens."""
    async with asyncio.timeout(10):
        while await subscribed_channels(db) or any("activity:" in name for name in services.pubsub._listeners):  # noqa: SLF001
            pass
