"""Replies at home: nobody has to read half of a talk between strangers."""

from __future__ import annotations

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member, shrunk, sign_up
from tests.support.transport.live import puts, watching


@pytest.fixture
async def dave(anonymous: Member) -> Member:
    return await sign_up(anonymous, "dave")


async def test_who_is_shown_a_reply(alice: Member, bob: Member, carol: Member, dave: Member) -> None:
    """A reply is shown to its author, and to who follows, or is, the author of the answered post."""
    await alice.follow(bob)
    await dave.follow(bob, carol)
    await carol.follow(bob)
    post = await carol.post("hello")
    reply = await bob.post("an answer", inReplyToId=post)
    assert await alice.home() == []  # she follows bob, and carol is a stranger to her
    assert await bob.home() == [reply]
    assert await carol.home() == [reply, post]
    assert await dave.home() == [reply, post]


async def test_who_answers_themselves(alice: Member, bob: Member) -> None:
    """A reply to a post of one's own counts as a post."""
    await alice.follow(bob)
    post = await bob.post("one")
    more = await bob.post("two", inReplyToId=post)
    assert await alice.home() == [more, post]


async def test_a_reply_that_is_passed_on(alice: Member, bob: Member, carol: Member, dave: Member) -> None:
    """A repost does not show a reply to a stranger either; a quote of it is a post of its own."""
    await alice.follow(bob)
    reply = await carol.post("an answer", inReplyToId=await dave.post("hello"))
    await bob.repost(reply)
    quote = await bob.repost(reply, "well said")
    assert await alice.home() == [quote]
    await alice.follow(dave)
    assert reply in await alice.home()


async def test_follows_decide_when_the_home_is_read(alice: Member, bob: Member, carol: Member) -> None:
    """A new follow shows earlier replies to that member in their places, and its end hides them again."""
    await alice.follow(bob)
    reply = await bob.post("an answer", inReplyToId=await carol.post("hello"))
    later = await bob.post("later")
    assert await alice.home() == [later]
    await alice.follow(carol)
    assert [post for post in await alice.home() if post in {reply, later}] == [later, reply]
    await alice.do("unfollow", userIds=[carol.id])
    assert await alice.home() == [later]


async def test_a_deleted_post(alice: Member, bob: Member, carol: Member) -> None:
    """A reply stays where it is shown after the answered post was deleted, and stays hidden elsewhere."""
    await alice.follow(bob)
    post = await carol.post("hello")
    reply = await bob.post("an answer", inReplyToId=post)
    await carol.do("deletePost", postId=post)
    assert await alice.home() == []
    await alice.follow(carol)
    assert await alice.home() == [reply]


async def test_live(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """The live home leaves out the same replies, and follows bring and take them."""
    await alice.follow(bob)
    async with watching(alice, db) as stream:
        post = await carol.post("hello")
        reply = await bob.post("an answer", inReplyToId=post)
        last = await bob.post("last")
        assert await puts(stream, 1) == [last]
        await alice.follow(carol)
        assert set(await puts(stream, 2)) == {post, reply}
        await alice.do("unfollow", userIds=[carol.id])
        assert {await stream.brief() for _ in range(2)} == {("removed", post), ("removed", reply)}


class TestAllReplies:
    """A site may show all replies."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, home_shows_all_replies=True)

    async def test_all_replies(self, db: Database, alice: Member, bob: Member, carol: Member) -> None:
        """With the setting, homes show every reply of the members followed, stored and live."""
        await alice.follow(bob)
        async with watching(alice, db) as stream:
            reply = await bob.post("an answer", inReplyToId=await carol.post("hello"))
            assert await puts(stream, 1) == [reply]
        assert await alice.home() == [reply]
