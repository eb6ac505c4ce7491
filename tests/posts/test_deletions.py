"""Deleted posts: gone everywhere, for good."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.reading import global_ids
from store import posts
from store.client.database import Database
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import Member, contents, crowd, shrunk
from tests.support.probes.posts import COUNTS, counts, delete, listed, profile, public, seen, tagged


@pytest.fixture
async def heir(settings: Settings) -> AsyncIterator[Worker]:
    """Takes over jobs of other processes at once, as if their leases had expired."""
    database = Database(settings.redis_url, shrunk(settings, job_lease_seconds=0))
    yield Worker(database)
    await database.close()


def number(post_id: str) -> int:
    """Return the number in a global id."""
    found = global_ids.read(post_id)
    assert found
    return found[1]


async def test_a_deleted_post_is_gone_everywhere(alice: Member, bob: Member, carol: Member) -> None:
    """A deleted status is in no timeline, under no tag, and no id leads to it, its likes or its comments."""
    await bob.follow(alice)
    await carol.follow(bob)
    post, kept = await alice.post("hello #tag"), await alice.post("kept")
    await bob.repost(post)
    comment = (await bob.do("comment", "comment { id }", postId=post, text="yes"))["comment"]["id"]
    assert post in await carol.home()
    payload = await alice.do("deletePost", "deletedPostId author { login postCount }", postId=post)
    assert payload == {"deletedPostId": post, "author": {"login": "alice", "postCount": 1}, "userErrors": []}
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    for member in (alice, bob, carol):
        assert await seen(member, post) is None
        assert await member.ask(query, ids=[post, kept, comment]) == [None, {"id": kept}, None]
        assert await public(member) == [kept]
        assert await tagged(member, "tag") is None
        assert await profile(member, "alice") == (1, [kept])
        assert await profile(member, "bob") == (0, [])
    assert [await member.home() for member in (alice, bob, carol)] == [[kept], [kept], []]


async def test_plain_reposts_go_with_their_original(alice: Member, bob: Member, carol: Member) -> None:
    """Deleting a post deletes its plain reposts, wherever they are listed and however they were named."""
    post = await alice.post("hello")
    reposts = [await bob.repost(post), await carol.repost(post), await alice.repost(post)]
    await delete(alice, post)
    for member, repost in zip((bob, carol, alice), reposts, strict=True):
        assert await seen(alice, repost) is None
        assert await profile(alice, member.login) == (0, [])
        assert await member.refused("deletePost", postId=repost) == ("NOT_FOUND", ["postId"])
        assert await member.refused("like", postId=repost) == ("NOT_FOUND", ["postId"])


async def test_quotes_outlive_their_original(alice: Member, bob: Member, carol: Member) -> None:
    """A quote of a deleted post stays with `original` null, and can be liked, reposted and deleted as before."""
    post = await alice.post("hello")
    quote = await bob.repost(post, "see")
    await delete(alice, post)
    found = await seen(carol, quote, f"text {COUNTS} ... on Repost {{ original {{ id }} }}")
    assert found == {"text": "see", **dict.fromkeys(COUNTS.split(), 0), "original": None}
    assert await profile(carol, "bob") == (1, [quote])
    assert await public(carol) == [quote]
    await carol.do("like", postId=quote)
    repost = await carol.repost(quote)
    assert await counts(carol, quote) == (1, 1, 0, 0)
    await delete(bob, quote)
    assert [await seen(carol, post_id) for post_id in (quote, repost)] == [None, None]
    assert await profile(carol, "bob") == await profile(carol, "carol") == (0, [])


async def test_deleting_a_quote_lowers_the_count(alice: Member, bob: Member) -> None:
    """A deleted quote is no longer counted or listed, and its own plain reposts are deleted with it."""
    post = await alice.post("hello")
    first, second = await bob.repost(post, "first"), await bob.repost(post, "second")
    repost = await alice.repost(first)
    await delete(bob, first)
    assert await counts(alice, post) == (0, 0, 1, 0)
    assert await listed(alice, post, "quotes") == [second]
    assert await seen(alice, repost) is None
    assert await profile(alice, "alice") == (1, [post])


async def test_deleting_a_plain_repost_equals_unrepost(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Deleting a plain repost and undoing it have the same effect."""
    await carol.follow(bob)
    post = await alice.post("hello")
    ends = []
    for undo in ("deletePost", "unrepost"):
        repost = await bob.repost(post)
        assert await carol.home() == [post]
        await bob.do(undo, postId=repost)
        assert await seen(bob, repost) is None
        assert not (await seen(bob, post))["viewerHasReposted"]
        assert await counts(bob, post) == (0, 0, 0, 0)
        assert await profile(bob, "bob") == (0, [])
        assert await carol.home() == []
        ends.append({key: value for key, value in (await contents(db)).items() if lasting(key)})
    assert ends[0] == ends[1]


async def test_only_the_author_deletes(db: Database, alice: Member, bob: Member) -> None:
    """Nobody deletes what another member posted, quoted or reposted, and the attempt writes nothing."""
    post = await alice.post("hello")
    ids = [post, await alice.repost(post), await alice.repost(post, "see")]
    before = await contents(db)
    for post_id in ids:
        payload = await bob.do("deletePost", "deletedPostId author { id }", postId=post_id)
        assert (payload["deletedPostId"], payload["author"]) == (None, None)
        assert [(e["code"], e["field"]) for e in payload["userErrors"]] == [("NOT_ALLOWED", ["postId"])]
    assert await contents(db) == before


async def test_a_post_is_deleted_once(alice: Member) -> None:
    """Of many simultaneous deletes of one post one is answered as done, the others as NOT_FOUND."""
    post, kept = await alice.post("hello"), await alice.post("kept")
    payloads = await asyncio.gather(*(alice.do("deletePost", postId=post) for _ in range(10)))
    refusals = [[error["code"] for error in payload["userErrors"]] for payload in payloads]
    assert sorted(refusals) == [[], *[["NOT_FOUND"]] * 9]
    assert await alice.refused("deletePost", postId=post) == ("NOT_FOUND", ["postId"])
    assert await profile(alice, "alice") == (1, [kept])


# A deleted post may leave these: the log of events, the newest minted id, finished jobs, the list of
# withdrawn notifications, and short-lived keys.
EXPIRING = ("withdrawn:", "idempotency:", "commented:", "tag-uses:")
LEFT_OVER = ("minted:", "jobs:", "rescore:", "events:", "event-ids:", "withdrawn-notifications:", *EXPIRING)


def lasting(key: str) -> bool:
    """Return whether a key is more than a bounded or short-lived left-over."""
    return not key.startswith(LEFT_OVER)


async def test_a_deleted_post_leaves_nothing_in_the_store(
    db: Database, worker: Worker, alice: Member, bob: Member, carol: Member
) -> None:
    """After a delete the store is as before the post, except for expiring tombstones and retries, and the log."""
    await bob.follow(alice)
    await carol.follow(bob)
    before = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    post = await alice.post("hello #tag @bob", idempotencyKey="key")
    comment = await bob.do("comment", "comment { id }", postId=post, text="yes", idempotencyKey="key")
    reply = {"postId": post, "text": "no", "replyToId": comment["comment"]["id"]}
    await carol.do("comment", **reply)
    quote = await carol.repost(post, "see", idempotencyKey="key")
    for member in (alice, bob, carol):
        await member.repost(post)
        await member.do("like", postId=post)
    await delete(alice, post)
    await delete(carol, quote)
    await worker.run_once()
    after = await contents(db)
    assert {key: value for key, value in after.items() if lasting(key)} == before
    assert not any(value for key, value in after.items() if key.startswith("jobs:"))
    brief = [key for key in after if key.startswith(EXPIRING)]
    lives = await db.ask(*(("TTL", key) for key in brief))
    assert all(0 < life <= timedelta(days=1).total_seconds() for life in lives)


async def test_a_delete_that_a_crash_has_cut_short_shows_nothing(
    db: Database, heir: Worker, alice: Member, bob: Member, carol: Member
) -> None:
    """Once a delete is committed, nothing of the post is shown, and a worker removes what is left of it."""
    await bob.follow(alice)
    await carol.follow(bob)
    before = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    post = await alice.post("hello #tag")
    repost = await bob.repost(post)
    await bob.do("like", postId=post)
    comment = (await bob.do("comment", "comment { id }", postId=post, text="yes"))["comment"]["id"]
    assert await posts.delete(db, number(post), number(alice.id))
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    for member in (alice, bob, carol):
        assert await member.ask(query, ids=[post, repost, comment]) == [None, None, None]
        assert await member.home() == await public(member) == (await profile(member, "bob"))[1] == []
    for mutation in ("like", "unlike", "repost", "unrepost", "deletePost"):
        assert await bob.refused(mutation, postId=post) == ("NOT_FOUND", ["postId"])
    assert await bob.refused("comment", postId=post, text="yes") == ("NOT_FOUND", ["postId"])
    assert await bob.refused("deleteComment", commentId=comment) == ("NOT_FOUND", ["commentId"])
    while await heir.run_once():
        pass
    assert {key: value for key, value in (await contents(db)).items() if lasting(key)} == before


@pytest.mark.parametrize("text", ["", "see"], ids=["plain", "quote"])
async def test_late_work_restores_no_repost(
    db: Database, heir: Worker, alice: Member, bob: Member, carol: Member, text: str
) -> None:
    """A process that keeps delivering a deleted repost leaves nothing of it, neither shown nor stored."""
    await carol.follow(bob)
    post = await alice.post("hello")
    before = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    draft = posts.PostDraft(number(bob.id), text, original=number(post), original_author=number(alice.id))
    _, repost, job = accepted(await posts.create(db, draft))
    assert job
    await delete(bob, global_ids.post_id(repost, is_repost=True))
    await dispatch.perform(db, job, Budget(float("inf")))
    assert await counts(carol, post) == (0, 0, 0, 0)
    assert await listed(carol, post, "quotes" if text else "reposts") == []
    assert await carol.home() == []
    while await heir.run_once():
        pass
    assert {key: value for key, value in (await contents(db)).items() if lasting(key)} == before


async def test_many_reposts_go_after_the_answer(
    db: Database, services: Services, worker: Worker, anonymous: Member, alice: Member
) -> None:
    """A delete is answered before all of many reposts are removed; none is shown, and the worker removes the rest."""
    members = await crowd(anonymous, 6)
    post = await alice.post("hello")
    for member in members:
        await member.repost(post)
    services.db.settings = shrunk(services.db.settings, fanout_inline=3)
    await delete(alice, post)
    profiles = [await profile(alice, member.login) for member in members]
    assert [ids for _, ids in profiles] == [[]] * 6
    assert sum(count for count, _ in profiles) == 3
    assert await worker.run_once() == 1
    assert [await profile(alice, member.login) for member in members] == [(0, [])] * 6
    assert not [key for key in await contents(db) if key.startswith(("status:", "reposts:", "progress:"))]


async def test_reposts_racing_a_delete_are_gone_with_it(
    db: Database, heir: Worker, anonymous: Member, alice: Member
) -> None:
    """Reposts, likes and comments at the moment of a post's deletion leave nothing of it."""
    members = await crowd(anonymous, 12)
    before = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    post = await alice.post("hello")
    acts = [
        member.do(mutation, postId=post, **fields)
        for member in members
        for mutation, fields in (("repost", {}), ("like", {}), ("comment", {"text": "yes"}))
    ]
    acts.insert(len(acts) // 2, alice.do("deletePost", postId=post))
    await asyncio.gather(*acts)
    while await heir.run_once():
        pass
    after = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    index = {key for key in after if key.startswith(("liked:", "discussed:"))}  # may name too much
    assert {key: value for key, value in after.items() if key not in index} == before
    assert [(await profile(alice, member.login)) for member in members] == [(0, [])] * 12
