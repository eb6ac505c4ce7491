"""Replies at home: nobody has to read half of a talk between strangers."""

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.groups import create, join
from tests.support.people import Member, shrunk, sign_up
from tests.support.threads import assert_clean
from tests.support.transport.live import puts, watching


async def reposters(member: Member) -> list[list[str]]:
    """Return who is named as the reposters of each entry of a member's home."""
    page = await member.ask("{ homeTimeline(first: 100) { edges { repostedBy { user { login } } } } }")
    return [[source["user"]["login"] for source in edge["repostedBy"]] for edge in page["edges"]]


async def unread(member: Member) -> int:
    """Return how many entries of a member's home are unread."""
    count: int = (await member.ask("{ viewer { homeUnreadCount } }"))["homeUnreadCount"]
    return count


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


async def test_a_reply_that_is_passed_on(db: Database, alice: Member, bob: Member, carol: Member, dave: Member) -> None:
    """A plain repost by somebody followed shows a reply to a stranger, as long as there is one that is wanted."""
    await alice.follow(bob, carol)
    reply = await carol.post("an answer", inReplyToId=await dave.post("hello"))
    assert await alice.home() == []
    await bob.repost(reply)
    assert await alice.home() == [reply]
    assert await reposters(alice) == [["bob"]]
    await alice.do("unfollow", userIds=[carol.id])
    assert await alice.home() == [reply]
    assert await unread(alice) == 1
    await alice.do("mute", userIds=[bob.id])
    assert await alice.home() == []
    assert await unread(alice) == 0
    await alice.do("unmute", userIds=[bob.id])
    quote = await bob.repost(reply, "well said")
    assert await alice.home() == [quote, reply]
    await bob.do("unrepost", postId=reply)
    assert await alice.home() == [quote]
    await assert_clean(db)


async def test_a_reply_in_an_open_group_that_is_passed_on(
    alice: Member, bob: Member, carol: Member, dave: Member
) -> None:
    """A repost also shows a reply in a group."""
    group = await create(dave)
    await join(group, bob, carol)
    await alice.follow(bob, carol)
    reply = await carol.post("so", inReplyToId=await dave.post("hello", groupId=group), groupId=group)
    await bob.repost(reply)
    assert await alice.home() == [reply]


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


async def test_a_live_repost(db: Database, alice: Member, bob: Member, carol: Member, dave: Member) -> None:
    """The live home gets a reply to a stranger with its first repost, and loses it with the last."""
    await alice.follow(bob, carol)
    reply = await carol.post("an answer", inReplyToId=await dave.post("hello"))
    async with watching(alice, db) as stream:
        await bob.repost(reply)
        assert await puts(stream, 1) == [reply]
        await alice.do("unfollow", userIds=[carol.id])
        assert await puts(stream, 1) == [reply]
        await bob.do("unrepost", postId=reply)
        assert await stream.brief() == ("removed", reply)


class TestSmallHomes:
    """Homes of few entries, which continue below their floor."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, home_size=3, home_slack=1)

    async def test_below_the_floor(self, db: Database, alice: Member, bob: Member, carol: Member, dave: Member) -> None:
        """Below the floor, a repost shows a reply to a stranger, too, and other replies to strangers are left out."""
        await alice.follow(bob, carol)
        post = await dave.post("hello")
        shown, _ = [await carol.post(text, inReplyToId=post) for text in ("one", "two")]
        await bob.repost(shown)
        later = [await bob.post(str(i)) for i in range(8)]
        assert await alice.home() == [*reversed(later), shown]
        await bob.do("unrepost", postId=shown)
        assert await alice.home() == later[::-1]
        await assert_clean(db)


class TestBigAuthors:
    """Readers pull the posts and reposts of big authors."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, big_author=1)

    async def test_pulled_reposts(self, db: Database, alice: Member, bob: Member, carol: Member, dave: Member) -> None:
        """A repost that is pulled shows a reply to a stranger, whether or not its author is followed."""
        await alice.follow(bob)
        reply = await carol.post("an answer", inReplyToId=await dave.post("hello"))
        await bob.repost(reply)
        assert await alice.home() == [reply]
        await alice.follow(carol)
        assert await alice.home() == [reply]
        await bob.do("unrepost", postId=reply)
        assert await alice.home() == []
        await assert_clean(db)


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
