"""Notifications of requests, approvals and replies, and what a block or mute withdraws."""

from tests.support.notifications import notifications_of, unread
from tests.support.people import Member, make_private


async def test_a_request(alice: Member, bob: Member) -> None:
    """A request notifies until it is answered or withdrawn; an approval notifies until the follow ends."""
    await make_private(bob)
    for _ in range(2):
        await alice.follow(bob)
        assert await notifications_of(bob) == [("FOLLOW_REQUEST", "alice", None, None)]
        await alice.unfollow(bob)
        assert await notifications_of(bob) == []
    await alice.follow(bob)
    await bob.do("approveFollowRequests", userIds=[alice.id])
    assert (await notifications_of(bob), await notifications_of(alice)) == (
        [],
        [("FOLLOW_APPROVED", "bob", None, None)],
    )
    await bob.do("removeFollowers", userIds=[alice.id])
    assert await notifications_of(alice) == []


async def test_a_refusal(alice: Member, bob: Member) -> None:
    """A rejection notifies nobody, and withdraws the notification of the request."""
    await make_private(bob)
    await alice.follow(bob)
    await bob.do("rejectFollowRequests", userIds=[alice.id])
    assert (await notifications_of(bob), await notifications_of(alice)) == ([], [])


async def test_going_public(alice: Member, bob: Member) -> None:
    """A follower approved because a member goes public is notified."""
    await make_private(bob)
    await alice.follow(bob)
    await make_private(bob, private=False)
    assert (await notifications_of(bob), await notifications_of(alice)) == (
        [],
        [("FOLLOW_APPROVED", "bob", None, None)],
    )


async def test_an_answer(alice: Member, bob: Member) -> None:
    """A reply notifies once, even if it mentions the author, until it or its parent is hidden or deleted."""
    post = await alice.post("a question")
    answer = await bob.post("an answer, @alice", inReplyToId=post)
    assert await notifications_of(alice) == [("REPLY", "bob", answer, None)]
    await bob.do("hidePost", postId=answer)
    assert await notifications_of(alice) == []
    await bob.do("unhidePost", postId=answer)
    assert await notifications_of(alice) == [("REPLY", "bob", answer, None)]
    await alice.do("deletePost", postId=post)
    await bob.do("deletePost", postId=answer)
    assert await notifications_of(alice) == []
    own = await alice.post("a question")
    await alice.post("answered by myself", inReplyToId=own)
    assert await notifications_of(alice) == []


async def test_blocks_and_mutes(alice: Member, bob: Member, carol: Member) -> None:
    """A block withdraws notifications of both members, a mute those of the muting one; no new ones are created."""
    for member in (bob, carol):
        await member.follow(alice)
        await alice.follow(member)
    assert await unread(alice) == 2
    await alice.do("block", userIds=[bob.id])
    assert await notifications_of(alice) == [("FOLLOW", "carol", None, None)]
    assert await notifications_of(bob) == []
    await alice.do("mute", userIds=[carol.id])
    post = await alice.post("a post")
    await carol.do("like", postId=post)
    assert (await notifications_of(alice), await unread(alice)) == ([], 0)
    assert await notifications_of(carol) == [("FOLLOW", "alice", None, None)]
    await alice.do("unmute", userIds=[carol.id])
    await carol.repost(post)
    assert await notifications_of(alice) == [("REPOST", "carol", post, None)]
