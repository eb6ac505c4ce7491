"""Replies: statuses that answer a post, which lists and counts them."""

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys, posts
from store.client.database import Database
from store.posts import PostDraft
from store.records.jobs import Job
from store.refusals import accepted
from tests.support.people import PASSWORD, Member, contents
from tests.support.probes.posts import delete, hide, profile, public, unhide
from tests.support.stored import exist
from tests.support.threads import answered, assert_clean, read, reply_count, walk
from tests.support.transport.live import ACTIVITY, subscribed, watched
from tests.support.work import Fragile, number, work_off


async def die_in(db: Database, job: Job, calls: int) -> None:
    """Do a job until the process dies at one of its calls."""
    fragile = Fragile(db.settings, calls, halfway=True)
    await dispatch.finish(fragile, job)
    await fragile.close()


async def test_a_reply(db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """A reply names its parent, is counted and listed there, oldest first, and is a post like any other."""
    post = await alice.post("a question")
    replies = [await member.post("an answer", inReplyToId=post) for member in (bob, carol, alice)]
    below = await alice.post("another question", inReplyToId=replies[0])
    for viewer in (alice, bob, anonymous):
        assert await read(viewer, post, "replies") == replies
        assert await reply_count(viewer, post) == 3
        assert [await answered(viewer, post_id) for post_id in (post, *replies, below)] == [
            None,
            *[post] * 3,
            replies[0],
        ]
    assert await read(bob, replies[0], "replies") == [below]
    assert (await profile(bob, "bob"))[1] == [replies[0]]
    assert await public(bob) == [below, *replies[::-1], post]
    await assert_clean(db)


async def test_pages(alice: Member, bob: Member) -> None:
    """Replies come as pages, oldest first, which joined are the whole list."""
    post = await alice.post("a question")
    assert await walk(bob, post, "replies", 2) == [[]]
    replies = [await bob.post(f"answer {i}", inReplyToId=post) for i in range(5)]
    assert await walk(bob, post, "replies", 2) == [replies[:2], replies[2:4], replies[4:]]
    await delete(bob, replies[1])
    assert [post_id for page in await walk(bob, post, "replies", 2) for post_id in page] == [replies[0], *replies[2:]]


async def test_a_plain_repost_is_answered_as_its_original(db: Database, alice: Member, bob: Member) -> None:
    """A reply to a plain repost is one to its original, whose replies and count it shows; a quote has its own."""
    post = await alice.post("a question")
    plain, quote = await bob.repost(post), await bob.repost(post, "see")
    reply = await alice.post("an answer", inReplyToId=plain)
    other = await alice.post("not to the question", inReplyToId=quote)
    for post_id in (post, plain):
        assert await read(bob, post_id, "replies") == [reply]
        assert await reply_count(bob, post_id) == 1
    assert await read(bob, quote, "replies") == [other]
    assert [await answered(bob, post_id) for post_id in (reply, other)] == [post, quote]
    assert await read(bob, other, "conversation") == [quote, other]
    await assert_clean(db)


async def test_refusals(db: Database, alice: Member, bob: Member) -> None:
    """A missing or unseen post, another type, and one's own hidden post cannot be answered; nothing is written."""
    post, gone, hidden = [await bob.post(text) for text in ("here", "gone", "hidden")]
    plain = await alice.repost(hidden)
    await delete(bob, gone)
    await hide(bob, hidden)
    before = await contents(db)
    missing = ("NOT_FOUND", ["inReplyToId"])
    other_kind = f"repost_{number(post):014x}"
    for post_id in (gone, hidden, plain, other_kind, bob.id, f"status_{1:014x}"):
        assert await alice.refused("post", text="yes", inReplyToId=post_id, idempotencyKey="key") == missing
    assert await bob.refused("post", text="yes", inReplyToId=hidden) == ("NOT_ALLOWED", ["inReplyToId"])
    assert await alice.refused("post", text="yes", inReplyToId="nonsense") == ("INVALID", ["inReplyToId"])
    assert await alice.refused("post", text=" ", inReplyToId=post) == ("BLANK", ["text"])
    assert await contents(db) == before


async def test_a_retry(db: Database, alice: Member, bob: Member) -> None:
    """The key covers the parent: the same input gets the first reply, even when its parent is deleted since."""
    post, other = await alice.post("a question"), await alice.post("another")
    first = await bob.post("yes", inReplyToId=post, idempotencyKey="key")
    before = await contents(db)
    assert await bob.post("yes", inReplyToId=post, idempotencyKey="key") == first
    conflict = ("CONFLICT", ["idempotencyKey"])
    assert await bob.refused("post", text="yes", inReplyToId=other, idempotencyKey="key") == conflict
    assert await bob.refused("post", text="yes", idempotencyKey="key") == conflict
    assert await contents(db) == before
    await delete(alice, post)
    assert await bob.post("yes", inReplyToId=post, idempotencyKey="key") == first
    assert await bob.refused("post", text="no", inReplyToId=post, idempotencyKey="key") == (
        "NOT_FOUND",
        ["inReplyToId"],
    )


async def test_a_deleted_reply(db: Database, alice: Member, bob: Member) -> None:
    """A deleted reply leaves list and count; replies to it stay, without a parent."""
    post = await alice.post("a question")
    reply = await bob.post("an answer", inReplyToId=post)
    below = await alice.post("thanks", inReplyToId=reply)
    await delete(bob, reply)
    assert await read(bob, post, "replies") == []
    assert await reply_count(bob, post) == 0
    assert await answered(bob, below) is None
    assert not await exist(db, keys.replies(number(post)), keys.replies(number(reply)))
    await assert_clean(db)


async def test_a_hidden_reply(db: Database, alice: Member, bob: Member) -> None:
    """A hidden reply is neither listed nor counted, and is in its place again once it is shown."""
    post = await alice.post("a question")
    first, second = [await bob.post(text, inReplyToId=post) for text in ("first", "second")]
    below = await alice.post("thanks", inReplyToId=first)
    for _ in range(2):
        await hide(bob, first)
        for viewer in (alice, bob):
            assert await read(viewer, post, "replies") == [second]
            assert await reply_count(viewer, post) == 1
        assert await answered(alice, below) is None
        assert await answered(bob, below) == first
        await assert_clean(db)
        await unhide(bob, first)
        assert await read(alice, post, "replies") == [first, second]
        assert await reply_count(alice, post) == 2
        assert await answered(alice, below) == first
        await assert_clean(db)


async def test_a_hidden_parent(alice: Member, bob: Member) -> None:
    """A reply to a hidden post stays, and names its parent to the parent's author alone."""
    post = await alice.post("a question")
    reply = await bob.post("an answer", inReplyToId=post)
    await hide(alice, post)
    assert await answered(bob, reply) is None
    assert await answered(alice, reply) == post
    await unhide(alice, post)
    assert await answered(bob, reply) == post
    assert await read(bob, post, "replies") == [reply]


@pytest.mark.parametrize("begun", [True, False], ids=["before its delivery", "in its delivery"])
async def test_a_parent_deleted_meanwhile(db: Database, alice: Member, bob: Member, *, begun: bool) -> None:
    """If the parent is deleted while a reply is created, the reply stays, in its thread, without a parent."""
    parent = number(await alice.post("a question"))
    draft = PostDraft(number(bob.id), "an answer", reply_to=parent, reply_to_author=number(alice.id), root=parent)
    _, reply, job = accepted(await posts.create(db, draft))
    assert job
    if not begun:
        await die_in(db, job, 2)
    await delete(alice, f"status_{parent:014x}")
    await dispatch.finish(db, job)
    post_id = f"status_{reply:014x}"
    assert await answered(bob, post_id) is None
    assert await read(bob, post_id, "conversation") == [post_id]
    assert await db.one("ZRANGE", keys.thread(parent), 0, -1) == [str(reply)]
    await assert_clean(db)


@pytest.mark.parametrize("ending", ["deleted", "hidden"])
async def test_late_work_lists_nothing(db: Database, alice: Member, bob: Member, ending: str) -> None:
    """A reply delivered after it was deleted or hidden is listed nowhere."""
    parent = number(await alice.post("a question"))
    draft = PostDraft(number(bob.id), "an answer", reply_to=parent, reply_to_author=number(alice.id), root=parent)
    _, reply, job = accepted(await posts.create(db, draft))
    assert job
    await (delete if ending == "deleted" else hide)(bob, f"status_{reply:014x}")
    await dispatch.perform(db, job, Budget(float("inf")))
    assert not await exist(db, keys.replies(parent), keys.thread(parent))
    assert await reply_count(alice, f"status_{parent:014x}") == 0


@pytest.mark.parametrize("calls", range(8))
async def test_a_crash(db: Database, worker: Worker, alice: Member, bob: Member, calls: int) -> None:
    """At whichever call the delivery of a reply or its end dies, the worker completes list and count."""
    parent = number(await alice.post("a question"))
    draft = PostDraft(number(bob.id), "an answer", reply_to=parent, reply_to_author=number(alice.id), root=parent)
    _, reply, job = accepted(await posts.create(db, draft))
    assert job
    await die_in(db, job, calls)
    await work_off(db, worker)
    post, post_id = f"status_{parent:014x}", f"status_{reply:014x}"
    assert await read(alice, post, "replies") == [post_id]
    assert await reply_count(alice, post) == 1
    await assert_clean(db)
    deletion = await posts.delete(db, reply, number(bob.id))
    assert deletion
    await die_in(db, deletion, calls)
    await work_off(db, worker)
    assert await reply_count(alice, post) == 0
    assert await read(alice, post, "conversation") == [post]
    await assert_clean(db)


async def test_a_deleted_account(db: Database, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
    """The replies of a deleted account are deleted, and the conversations that it began go on without it."""
    post, own = await alice.post("a question"), await bob.post("bob's question")
    reply = await bob.post("an answer", inReplyToId=post)
    below = await carol.post("thanks", inReplyToId=reply)
    under = await carol.post("an answer", inReplyToId=own)
    await bob.do("deleteAccount", "deletedUserId", password=PASSWORD)
    await work_off(db, worker)
    assert await reply_count(carol, post) == 0
    assert await read(carol, below, "conversation") == [post, below]
    assert await read(carol, under, "conversation") == [under]
    assert [await answered(carol, post_id) for post_id in (below, under)] == [None, None]
    await assert_clean(db)


async def test_live_numbers(services: Services, alice: Member, bob: Member) -> None:
    """A subscriber to a post gets an event as replies are added and removed."""
    post = await alice.post("a question")
    async with subscribed(bob, ACTIVITY, post=post) as stream:
        await watched(services.db, post)
        reply = await bob.post("an answer", inReplyToId=post)
        assert (await stream.next())["replyCount"] == 1
        await hide(bob, reply)
        assert (await stream.next())["replyCount"] == 0
