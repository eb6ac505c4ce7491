"""The live home: which events each change on the site sends to subscribers."""

import pytest

from store.client.database import Database
from tests.support.people import Member, sign_up
from tests.support.transport.live import HOME, Held, fetched, fetched_edges, now, subscribed, watching


@pytest.fixture
async def stranger(anonymous: Member) -> Member:
    """A member whom nobody follows."""
    return await sign_up(anonymous, "stranger")


# ------------------------------------------------------------ posts


async def test_a_followed_members_post(db: Database, alice: Member, bob: Member) -> None:
    """A followed member's post arrives as the same edge as in the stored home, without reposters."""
    await bob.follow(alice)
    async with watching(bob, db) as stream:
        post = await alice.post("hello")
        event = await stream.next()
    assert event["__typename"] == "TimelineEntryPut"
    assert event["edge"]["node"] == {"__typename": "Status", "id": post, "text": "hello"}
    assert event["edge"]["repostedBy"] == []
    held = Held()
    held.take(event)
    assert held == await fetched(bob)


async def test_own_post(db: Database, alice: Member) -> None:
    """A member's own post arrives in their own home."""
    async with watching(alice, db) as stream:
        post = await alice.post("to myself")
        assert await stream.brief() == ("put", post)


async def test_a_strangers_post(db: Database, alice: Member, stranger: Member) -> None:
    """A stranger's posts and follows do not arrive."""
    async with watching(alice, db) as stream:
        post = await stranger.post("undelivered")
        await stranger.repost(post)
        await stranger.follow(alice)
        await stranger.do("deletePost", postId=post)
        own = await alice.post("delivered")
        assert await stream.brief() == ("put", own)


async def test_a_quote(db: Database, alice: Member, bob: Member, stranger: Member) -> None:
    """A quote arrives as a post of its own, not as its original."""
    await bob.follow(alice)
    post = await stranger.post("wise words")
    async with watching(bob, db) as stream:
        quote = await alice.repost(post, "look at this")
        event = await stream.next()
        assert event["edge"]["node"] == {"__typename": "Repost", "id": quote, "text": "look at this"}
        assert event["edge"]["repostedBy"] == []


# ------------------------------------------------------------ reposts


async def test_reposts_of_a_strangers_post(
    db: Database, alice: Member, bob: Member, carol: Member, stranger: Member
) -> None:
    """A stranger's post is added by the first repost, names its reposters in order, and is removed with the last."""
    await carol.follow(alice, bob)
    post = await stranger.post("from afar")
    async with watching(carol, db) as stream:
        await alice.repost(post)
        first = await stream.next()
        await bob.repost(post)
        second = await stream.next()
        assert second["edge"] == (await fetched_edges(carol))[0]
        await alice.do("unrepost", postId=post)
        third = await stream.next()
        assert third["edge"] == (await fetched_edges(carol))[0]
        await bob.do("unrepost", postId=post)
        assert await stream.brief() == ("removed", post)
    assert [source["user"]["login"] for source in first["edge"]["repostedBy"]] == ["alice"]
    assert [source["user"]["login"] for source in second["edge"]["repostedBy"]] == ["alice", "bob"]
    assert [source["user"]["login"] for source in third["edge"]["repostedBy"]] == ["bob"]
    assert first["edge"]["cursor"] == second["edge"]["cursor"] < third["edge"]["cursor"]
    assert {event["edge"]["node"]["id"] for event in (first, second, third)} == {post}


async def test_a_repost_of_a_followed_authors_post(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A followed author's post keeps its place when anybody reposts it or undoes that."""
    await carol.follow(alice, bob)
    post = await alice.post("mine")
    ((place, _, _),) = (await fetched(carol)).lines()
    async with watching(carol, db) as stream:
        repost = await bob.repost(post)
        passed_on = await stream.next()
        await bob.do("deletePost", postId=repost)
        taken_back = await stream.next()
    assert passed_on["edge"]["cursor"] == taken_back["edge"]["cursor"] == place
    assert [len(event["edge"]["repostedBy"]) for event in (passed_on, taken_back)] == [1, 0]


async def test_own_repost(db: Database, alice: Member, stranger: Member) -> None:
    """A member's own plain repost adds nothing to their own home, and undoing it removes nothing."""
    post = await stranger.post("from afar")
    async with watching(alice, db) as stream:
        await alice.repost(post)
        await alice.do("unrepost", postId=post)
        own = await alice.post("mine")
        assert await stream.brief() == ("put", own)


async def test_a_repost_of_the_own_post(db: Database, alice: Member, bob: Member) -> None:
    """A followed member's repost of the subscriber's own post names the reposter, at the post's own place."""
    await alice.follow(bob)
    post = await alice.post("mine")
    async with watching(alice, db) as stream:
        await bob.repost(post)
        event = await stream.next()
        assert event["edge"] == (await fetched_edges(alice))[0]
        assert event["edge"]["repostedByCount"] == 1


# ------------------------------------------------------------ deletes


async def test_deletes(db: Database, alice: Member, bob: Member, stranger: Member) -> None:
    """A deleted status or quote is removed by the id it was added with, whether or not the client ever got it."""
    await bob.follow(alice)
    post = await alice.post("short-lived")
    quote = await alice.repost(await stranger.post("from afar"), "look")
    assert (post[:7], quote[:7]) == ("status_", "repost_")
    async with watching(bob, db) as stream:
        for one in (post, quote):
            await alice.do("deletePost", postId=one)
            assert await stream.brief() == ("removed", one)


@pytest.mark.parametrize("is_quote", [False, True])
async def test_a_delete_by_an_author_who_is_not_followed(
    db: Database, alice: Member, bob: Member, stranger: Member, *, is_quote: bool
) -> None:
    """A stranger's status or quote that reposts added is removed, by its own id, when the stranger deletes it."""
    await bob.follow(alice)
    post = await stranger.post("from afar")
    if is_quote:
        post = await stranger.repost(post, "and more")
    await alice.repost(post)
    async with watching(bob, db) as stream:
        await stranger.do("deletePost", postId=post)
        assert await stream.brief() == ("removed", post)
        assert (await fetched(bob)).lines() == []


@pytest.mark.parametrize("is_quote", [False, True])
async def test_a_repost_undone_before_the_original_goes(
    db: Database, alice: Member, bob: Member, stranger: Member, *, is_quote: bool
) -> None:
    """An undone repost whose event arrives after the original's deletion still removes the post."""
    await bob.follow(alice)
    post = await stranger.post("from afar")
    if is_quote:
        post = await stranger.repost(post, "and more")
    await alice.repost(post)
    before = await now(db)
    await alice.do("unrepost", postId=post)
    await stranger.do("deletePost", postId=post)
    async with subscribed(bob, HOME, after=before) as stream:
        assert await stream.brief() == ("removed", post)


async def test_a_quotes_original_deleted(db: Database, alice: Member, bob: Member, stranger: Member) -> None:
    """A quote stays when its original is deleted."""
    await bob.follow(alice)
    post = await stranger.post("from afar")
    await alice.repost(post, "look")
    async with watching(bob, db) as stream:
        await stranger.do("deletePost", postId=post)
        own = await bob.post("mine")
        assert await stream.brief() == ("put", own)


# ------------------------------------------------------------ follows


async def test_follow(db: Database, alice: Member, bob: Member, stranger: Member) -> None:
    """A follow adds all the member's posts in the stored home, and from then on what the member publishes."""
    post = await alice.post("before")
    passed_on = await stranger.post("from afar")
    await alice.repost(passed_on)
    async with watching(bob, db) as stream:
        await bob.follow(alice)
        assert {await stream.brief(), await stream.brief()} == {("put", post), ("put", passed_on, "alice")}
        after = await alice.post("after")
        assert await stream.brief() == ("put", after)


async def test_unfollow(db: Database, alice: Member, bob: Member, carol: Member, stranger: Member) -> None:
    """An unfollow removes what only that member added, and moves what others added too to its new place."""
    await carol.follow(alice, bob)
    mine = await alice.post("nobody else has it")
    shared = await alice.post("bob has it too")
    await bob.repost(shared)
    far, farther = await stranger.post("far"), await stranger.post("farther")
    await alice.repost(far)
    await alice.repost(farther)
    await bob.repost(farther)
    held = await fetched(carol)
    async with watching(carol, db) as stream:
        await carol.unfollow(alice)
        changes = [await stream.next() for _ in range(4)]
        for change in changes:
            held.take(change)
        assert held == await fetched(carol)
        assert {line[1] for line in held.lines()} == {shared, farther}
        assert mine not in held.edges
        await alice.post("undelivered")
        own = await carol.post("mine")
        assert await stream.brief() == ("put", own)


async def test_removed_as_a_follower(db: Database, alice: Member, bob: Member) -> None:
    """A removed follower loses the posts as after an unfollow, and gets no more."""
    await bob.follow(alice)
    post = await alice.post("before")
    async with watching(bob, db) as stream:
        await alice.do("removeFollowers", userIds=[bob.id])
        assert await stream.brief() == ("removed", post)
        await alice.post("undelivered")
        own = await bob.post("mine")
        assert await stream.brief() == ("put", own)
