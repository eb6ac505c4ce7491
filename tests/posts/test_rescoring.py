"""Stored scores: which posts a timeline ranks, written at most once a second per post and never wrong for long."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker, rescore
from resolvers.process.services import Services
from resolvers.rules import ranking
from store import importance, keys, posts
from store.client.database import Database
from store.ids import partition
from store.importance import Due
from store.posts import PostDraft
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.servers.processes import until
from tests.support.stored import find
from tests.support.work import number, work_off

RANKED, LISTED = 3, 10
TAG, PUBLIC = keys.important_hashtag("tea"), keys.important_public()


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Timelines of which few posts are ranked."""
    return shrunk(settings, important_size=RANKED, public_size=LISTED, hashtag_size=LISTED)


async def due(db: Database, post: int) -> float | None:
    """Return when the score of a post is due, ms since 1970."""
    found = await db.one("ZSCORE", keys.rescore(partition(post)), post)
    return None if found is None else float(found)


async def a_second_passes(db: Database, *ids: int) -> None:
    """Make scores due now that would be due a second later."""
    for post in ids:
        await db.one("ZADD", keys.rescore(partition(post)), "XX", 0, post)


async def ranked(db: Database, key: str) -> list[int]:
    """Return the ranked posts of a timeline, best first."""
    return [int(post) for post in await db.one("ZRANGE", key, 0, -1, "REV")]


async def score(db: Database, post: int) -> tuple[float, float]:
    """Return the stored score of a post, and the score of its present counts."""
    (record,) = await importance.posts(db, [post])
    stored = [float(await db.one("ZSCORE", key, post)) for key in (TAG, PUBLIC)]
    assert stored[0] == stored[1]
    return stored[0], ranking.score_of(record)


async def test_at_most_once_a_second(db: Database, alice: Member, bob: Member) -> None:
    """A change makes a score due a second later, more changes until then no later; before that nothing is written."""
    post = number(identity := await alice.post("a post #tea"))
    assert await due(db, post) is None
    await bob.do("like", postId=identity)
    first = await due(db, post)
    seconds, microseconds = await db.one("TIME")
    assert first is not None
    assert 0 < first - int(seconds) * 1000 - int(microseconds) / 1000 <= 1000
    await alice.do("like", postId=identity)
    assert await due(db, post) == first
    assert await rescore(db) == 0
    stored, wanted = await score(db, post)
    assert stored < wanted
    await a_second_passes(db, post)
    assert await rescore(db) == 1
    stored, wanted = await score(db, post)
    assert stored == wanted
    assert await due(db, post) is None


async def test_every_change_of_numbers(db: Database, alice: Member, bob: Member) -> None:
    """Every change of a post's counts, and its undoing, makes its score due; other acts do not."""
    post = number(identity := await alice.post("a post #tea"))
    made: dict[str, str] = {}

    async def say() -> None:
        made["comment"] = (await bob.do("comment", "comment { id }", postId=identity, text="hm"))["comment"]["id"]

    async def quote() -> None:
        made["quote"] = await bob.repost(identity, "a quote")

    changes: list[tuple[Callable[[], Awaitable[Any]], bool]] = [
        (lambda: bob.do("like", postId=identity), True),
        (lambda: bob.do("like", postId=identity), False),
        (lambda: bob.repost(identity), True),
        (quote, True),
        (say, True),
        (lambda: bob.do("unlike", postId=identity), True),
        (lambda: bob.do("unlike", postId=identity), False),
        (lambda: bob.do("unrepost", postId=identity), True),
        (lambda: bob.do("deletePost", postId=made["quote"]), True),
        (lambda: bob.do("deleteComment", commentId=made["comment"]), True),
    ]
    for change, counts in changes:
        await change()
        assert (await due(db, post) is not None) is counts
        await a_second_passes(db, post)
        await rescore(db)
        assert await due(db, post) is None
        stored, wanted = await score(db, post)
        assert stored == wanted


async def test_a_change_while_a_score_is_written(db: Database, alice: Member, bob: Member) -> None:
    """A change that comes while a worker writes the score is not lost: the post stays due."""
    post = number(identity := await alice.post("a post #tea"))
    await bob.do("like", postId=identity)
    await a_second_passes(db, post)
    taken = await importance.take_due(db)
    assert [one.post for one in taken] == [post]
    assert await importance.take_due(db) == []
    await alice.do("like", postId=identity)
    assert (await due(db, post) or 0) < taken[0].lease
    await importance.finish(db, taken)
    assert await due(db, post) is not None


async def test_a_worker_that_dies(db: Database, alice: Member, bob: Member) -> None:
    """Posts leased by a dead worker are leased again after its lease, and its late finish changes nothing."""
    post = number(identity := await alice.post("a post #tea"))
    await bob.do("like", postId=identity)
    await a_second_passes(db, post)
    taken = await importance.take_due(db)
    await a_second_passes(db, post)  # the lease has expired
    assert [one.post for one in await importance.take_due(db)] == [post]
    await importance.finish(db, [Due(post, taken[0].lease - 1)])
    assert await due(db, post) is not None
    await a_second_passes(db, post)
    await rescore(db)
    stored, wanted = await score(db, post)
    assert stored == wanted


@pytest.mark.parametrize("key", [PUBLIC, TAG])
async def test_the_best_are_kept(db: Database, alice: Member, bob: Member, key: str) -> None:
    """A full ranking drops its lowest post, takes it back once it is better, and only has posts of its timeline."""
    made = [await alice.post(f"post {i} #tea") for i in range(RANKED + 1)]
    ids = [number(post) for post in made]
    assert await ranked(db, key) == ids[:0:-1]
    await bob.do("like", postId=made[0])
    await a_second_passes(db, ids[0])
    await rescore(db)
    assert await ranked(db, key) == [ids[0], ids[3], ids[2]]
    for i in range(LISTED):
        await alice.post(f"later {i} #tea")
    assert ids[0] not in await ranked(db, key)
    await bob.do("like", postId=made[1])
    await a_second_passes(db, ids[1])
    await rescore(db)
    assert ids[1] not in await ranked(db, key)


async def test_a_deleted_post(db: Database, alice: Member, bob: Member) -> None:
    """A deleted post is no longer ranked, and neither a due score nor a late delivery ranks it again."""
    post = number(identity := await alice.post("soon gone #tea"))
    await bob.do("like", postId=identity)
    await alice.do("deletePost", postId=identity)
    assert await ranked(db, PUBLIC) == await ranked(db, TAG) == []
    await a_second_passes(db, post)
    assert await rescore(db) == 1
    assert await ranked(db, PUBLIC) == await ranked(db, TAG) == []
    assert not await find(db, "rescore:*")


async def test_a_delete_while_a_score_is_written(db: Database, alice: Member, bob: Member) -> None:
    """A score computed before its post was deleted is not written afterwards."""
    post = number(identity := await alice.post("soon gone #tea"))
    records = await importance.posts(db, [post])
    await alice.do("deletePost", postId=identity)
    await importance.rank(db, [(record, 99_999.0) for record in records])
    assert await ranked(db, PUBLIC) == await ranked(db, TAG) == []


async def test_a_delivery_done_again(services: Services, alice: Member, bob: Member, worker: Worker) -> None:
    """A repeated delivery keeps the score that the post has got in between."""
    _, post, job = accepted(
        await posts.create(services.db, PostDraft(number(alice.id), "a post #tea", hashtags=("tea",)))
    )
    assert job
    await dispatch.perform(services.db, job, Budget(9))
    await bob.do("like", postId=f"status_{post:014x}")
    await a_second_passes(services.db, post)
    await rescore(services.db)
    before = await score(services.db, post)
    await work_off(services.db, worker)
    assert await score(services.db, post) == before


async def test_plain_reposts_and_quotes(db: Database, alice: Member, bob: Member) -> None:
    """A quote is ranked as a post of its own, a plain repost never."""
    post = await alice.post("a post")
    await bob.repost(post)
    quote = await bob.repost(post, "look #tea")
    assert await ranked(db, PUBLIC) == [number(quote), number(post)]
    assert await ranked(db, TAG) == [number(quote)]


async def test_the_worker_sees_to_it(services: Services, alice: Member, bob: Member, worker: Worker) -> None:
    """A running worker writes due scores, even without other work."""
    post = number(identity := await alice.post("a post #tea"))
    await bob.do("like", postId=identity)
    await a_second_passes(services.db, post)
    running = asyncio.create_task(worker.run(services.pubsub))

    async def is_written() -> bool:
        return await due(services.db, post) is None

    try:
        await until(is_written)
        stored, wanted = await score(services.db, post)
        assert stored == wanted
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
