"""The steps that notify, by themselves: late, repeated, and those that other scripts build upon."""

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker
from store import follows, keys, likes_and_comments, notifications, posts
from store.client.database import Database
from store.likes_and_comments import CommentDraft
from store.notifications import MentionSource
from store.posts import PostDraft
from store.refusals import accepted
from tests.support.damage.site import look
from tests.support.notifications import named, notifications_of, relate, say, step, unread
from tests.support.people import PASSWORD, Member
from tests.support.probes.accounts import traces
from tests.support.work import number, work_off

WITHOUT_POST = ["FOLLOW_REQUEST", "FOLLOW_APPROVED"]


@pytest.mark.parametrize("kind", WITHOUT_POST)
async def test_what_is_about_a_member(db: Database, alice: Member, bob: Member, kind: str) -> None:
    """A request and its approval notify once, and are withdrawn."""
    for _ in range(2):
        await step(db, "notify(box, ARGV[3], ARGV[4])", alice, kind, number(bob.id))
    assert await notifications_of(alice) == [(kind, "bob", None, None)]
    for _ in range(2):
        await step(db, "withdraw(box, ARGV[3], ARGV[4])", alice, kind, number(bob.id))
    assert (await notifications_of(alice), await unread(alice)) == ([], 0)


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_reply_that_names_whom_it_answers(db: Database, alice: Member, bob: Member, *, is_first: bool) -> None:
    """Whether the reply or its mention is delivered first, only the reply notifies."""
    draft = PostDraft(number(bob.id), "so @alice", mentions=(number(alice.id),))
    _, post, job = accepted(await posts.create(db, draft))
    assert job
    if not is_first:
        await dispatch.finish(db, job)
    await step(db, "notify(box, 'REPLY', ARGV[3], ARGV[4])", alice, number(bob.id), post)
    await dispatch.perform(db, job, Budget(float("inf")))
    assert await notifications_of(alice) == [("REPLY", "bob", f"status_{post:014x}", None)]
    assert await named(alice) == [f"status_{post:014x}"]


async def test_all_that_somebody_did(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A block or mute withdraws earlier notifications of that member, and keeps those that others cause, too."""
    post = await alice.post("hello")
    for member in (bob, carol):
        await member.do("like", postId=post)
        await member.follow(alice)
        await say(member, post, "a comment")
    await step(db, "withdraw_by(box, ARGV[3])", alice, number(bob.id))
    assert [(kind, actor) for kind, actor, *_ in await notifications_of(alice)] == [
        ("COMMENT", "carol"),
        ("FOLLOW", "carol"),
        ("LIKE", "carol"),
    ]
    assert await db.one("ZCARD", keys.withdrawn_notifications(number(alice.id))) == 2
    assert await unread(alice) == 3


async def test_a_mention_that_comes_late(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """A process that keeps delivering a deleted post leaves nothing with the mentioned members."""
    me, them = number(bob.id), number(alice.id)
    _, post, job = accepted(await posts.create(db, PostDraft(me, "hi @alice", mentions=(them,))))
    assert job
    undo = await posts.delete(db, post, me)
    assert undo
    await dispatch.finish(db, undo)
    await dispatch.perform(db, job, Budget(float("inf")))
    assert (await notifications_of(alice), await named(alice)) == ([], [])
    await work_off(db, worker)
    assert await db.one("EXISTS", keys.mentions(them), keys.notifications(them)) == 0


@pytest.mark.parametrize("end", ["comment", "post"])
async def test_a_mention_in_a_comment_that_comes_late(db: Database, alice: Member, bob: Member, end: str) -> None:
    """Late notifications of a comment, after it or its post was deleted, leave nothing with mentioned members."""
    me, them = number(bob.id), number(alice.id)
    post = await bob.post("hello")
    draft = CommentDraft(number(post), me, "hi @alice", mentions=(them,))
    _, comment, job = accepted(await likes_and_comments.create_comment(db, draft))
    assert job
    if end == "post":
        await bob.do("deletePost", postId=post)
    else:
        await bob.do("deleteComment", commentId=f"comment_{comment:014x}")
    await dispatch.perform(db, job, Budget(float("inf")))
    assert await db.one("EXISTS", keys.mentions(them), keys.notifications(them)) == 0


async def test_work_done_again(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Repeating its step restores no withdrawn or read notification."""
    post = number(await alice.post("hello"))
    me, them = number(bob.id), number(alice.id)
    job, _ = await follows.follow(db, me, [them])
    _, _, quoting = accepted(await posts.create(db, PostDraft(me, "so", original=post, original_author=them)))
    _, _, naming = accepted(await posts.create(db, PostDraft(me, "hi @alice", mentions=(them,))))
    assert job
    assert quoting
    assert naming
    for one in (job, quoting, naming):
        await dispatch.finish(db, one)
    briefs = await notifications_of(alice)
    assert [kind for kind, *_ in briefs] == ["MENTION", "QUOTE", "FOLLOW"]
    await alice.do("markNotificationsRead")
    await step(db, "withdraw_by(box, ARGV[3])", alice, me)
    for one in (job, quoting, naming):
        await dispatch.perform(db, one, Budget(float("inf")))
    assert (await notifications_of(alice), await unread(alice)) == ([], 0)


@pytest.mark.parametrize("relationship", ["blocked", "blocked_by", "muted"])
async def test_who_names_a_member(db: Database, alice: Member, bob: Member, relationship: str) -> None:
    """A block keeps a mention out of the list; a mute does not, so that it is visible after the mute ends."""
    await relate(db, relationship, alice, bob)
    post = await bob.post("hi @alice")
    assert await named(alice) == []
    await db.one("DEL", getattr(keys, relationship)(number(alice.id)))
    assert await named(alice) == ([post] if relationship == "muted" else [])
    assert await notifications_of(alice) == []


async def test_a_deleted_account(db: Database, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
    """Nothing is left of a deleted member's notifications, nor of those that others had of them."""
    mine, theirs = await alice.post("hello @bob"), await bob.post("hello @alice")
    for member, other, post in ((alice, bob, theirs), (bob, alice, mine)):
        for act in ("like", "repost"):
            await member.do(act, postId=post)
        await member.repost(post, f"so @{other.login} @carol")
        await say(member, post, f"so @{other.login} @carol")
        await member.follow(other)
    await bob.do("unlike", postId=mine)
    await alice.do("markNotificationsRead")
    assert len(await notifications_of(carol)) == len(await named(carol)) == 4
    await alice.do("deleteAccount", password=PASSWORD)
    assert await notifications_of(bob) == []
    assert [actor for _, actor, *_ in await notifications_of(carol)] == ["bob"]
    await work_off(db, worker)
    assert {key for key in await traces(db, alice) if not key.startswith("status:")} == set()  # bob mentions alice
    assert (await unread(bob), await unread(carol), len(await named(carol))) == (0, 1, 1)
    assert (await look(db)).clean


async def test_who_is_gone(db: Database, alice: Member, bob: Member) -> None:
    """Nothing is written for a member who does not exist."""
    nobody = 4_242 << 12
    await notifications.mention(db, MentionSource(number(bob.id), number(await bob.post("hello"))), [nobody])
    assert await db.one("EXISTS", keys.mentions(nobody), keys.notifications(nobody)) == 0
