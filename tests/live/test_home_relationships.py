"""The live home agrees with the stored one at once when a change affects what the viewer sees or wants to see."""

from resolvers.process.services import Services
from store.client.database import Database
from tests.support.people import Member, make_private
from tests.support.probes.sessions import suspend
from tests.support.transport.live import Stream, fetched, watching


async def changes(stream: Stream, count: int) -> set[tuple[object, ...]]:
    """Return the next changes, in any order."""
    return {await stream.brief() for _ in range(count)}


async def test_muting(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Muting removes what only the muted member added and silences their posts; unmuting adds all of it again."""
    await alice.follow(bob, carol)
    word, theirs = await bob.post("by bob"), await carol.post("by carol")
    await bob.repost(theirs)
    held = await fetched(alice)
    async with watching(alice, db) as stream:
        await alice.do("mute", userIds=[bob.id])
        assert await changes(stream, 2) == {("removed", word), ("put", theirs)}
        undelivered = await bob.post("undelivered")
        await bob.repost(theirs, "undelivered")
        own = await alice.post("mine")
        assert await stream.brief() == ("put", own)
        await alice.do("unmute", userIds=[bob.id])
        assert changes_of(await changes(stream, 4)) == {word, theirs, undelivered, (await alice.home())[1]}
    assert held.edges.keys() == {word, theirs}


def changes_of(briefs: set[tuple[object, ...]]) -> set[object]:
    """Return the posts of changes, each of which must add one."""
    assert {brief[0] for brief in briefs} == {"put"}
    return {brief[1] for brief in briefs}


async def test_blocking(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A block removes, on both sides, what either member wrote, even if a third member reposted it."""
    await alice.follow(bob, carol)
    await bob.follow(alice, carol)
    mine, theirs = await alice.post("by alice"), await bob.post("by bob")
    await carol.repost(mine)
    await carol.repost(theirs)
    async with watching(alice, db) as one, watching(bob, db) as other:
        await alice.do("block", userIds=[bob.id])
        assert ("removed", theirs) in await changes(one, 1)
        assert ("removed", mine) in await changes(other, 1)
        for stream, member in ((one, alice), (other, bob)):
            held = await fetched(member)
            last = await member.post("mine")
            while (event := await stream.brief()) != ("put", last):
                assert event in {("removed", mine), ("removed", theirs)} or event[1] in held.edges
    assert theirs not in await alice.home()
    assert mine not in await bob.home()


async def test_let_in(db: Database, alice: Member, bob: Member) -> None:
    """An approved follower of a private member gets all their posts at once, and loses them with the follow."""
    await make_private(bob)
    post = await bob.post("for friends")
    async with watching(alice, db) as stream:
        await alice.follow(bob)
        await bob.do("approveFollowRequests", userIds=[alice.id])
        assert await stream.brief() == ("put", post)
        await alice.unfollow(bob)
        assert await stream.brief() == ("removed", post)


async def test_going_private(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post held only by a repost is removed when its author goes private, and added again when that ends."""
    await alice.follow(carol)
    post = await bob.post("seen far and wide")
    await carol.repost(post)
    async with watching(alice, db) as stream:
        await make_private(bob)
        assert await stream.brief() == ("removed", post)
        await make_private(bob, private=False)
        assert await stream.brief() == ("put", post, "carol")


async def test_suspended(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """A suspended member's posts and reposts leave followers' homes, and are added again when the suspension ends."""
    await alice.follow(bob)
    word, far = await bob.post("by bob"), await carol.post("by carol")
    await bob.repost(far)
    async with watching(alice, services.db) as stream:
        await suspend(services, bob)
        assert await changes(stream, 2) == {("removed", word), ("removed", far)}
        assert await alice.home() == []
        await suspend(services, bob, end=True)
        assert await changes(stream, 2) == {("put", word), ("put", far, "bob")}
