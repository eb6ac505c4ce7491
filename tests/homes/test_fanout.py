"""Fan-out: the request delivers to a few followers, and a worker continues where the request stopped."""

import asyncio
import random

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import follows, jobs, keys
from store.client.database import Database
from store.events import log
from store.homes import fanout
from store.homes import stored as homes
from store.homes.fanout import WAITING, Delivery
from store.ids import partition
from store.settings import Settings
from tests.support.people import Member, crowd, shrunk
from tests.support.work import number, waiting, work_off

INLINE, FOLLOWERS, BATCH, ATTEMPTS = 3, 7, 2, 3  # with one follower more, the author's index entries would move
PATIENCE = 10  # s


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """More followers than are reached in the request, small batches, and few attempts."""
    return shrunk(settings, fanout_inline=INLINE, fanout_batch=BATCH, job_attempts=ATTEMPTS)


@pytest.fixture
async def fans(anonymous: Member, alice: Member) -> list[Member]:
    """Alice's followers, oldest follow first."""
    many = await crowd(anonymous, FOLLOWERS)
    for member in many:
        await member.follow(alice)
    return many


async def reached(fans: list[Member], post: str) -> list[bool]:
    """Return for each follower whether the post is in their home, which must not list it twice."""
    homes = [await member.home() for member in fans]
    assert all(home.count(post) <= 1 for home in homes)
    return [post in home for home in homes]


async def test_the_rest_is_the_workers(services: Services, alice: Member, fans: list[Member], worker: Worker) -> None:
    """The request delivers to the first FANOUT_INLINE followers and the author, one worker run to all others."""
    post = await alice.post("to all")
    assert await reached(fans, post) == [True] * INLINE + [False] * (FOLLOWERS - INLINE)
    assert post in await alice.home()
    assert await jobs.backlog(services.db) == (1, 0)
    assert await worker.run_once() == 1
    assert all(await reached(fans, post))
    assert await jobs.backlog(services.db) == (0, 0)
    assert await worker.run_once() == 0


async def test_nothing_is_left_to_the_worker(
    services: Services, alice: Member, bob: Member, fans: list[Member]
) -> None:
    """If the request reaches all followers, or there are none, no job is left."""
    for member in fans[INLINE - 1 :]:
        await member.unfollow(alice)
    post = await alice.post("to few")
    await bob.post("to nobody")
    assert all(await reached(fans[: INLINE - 1], post))
    assert await jobs.backlog(services.db) == (0, 0)


async def test_the_worker_goes_on_from_the_checkpoint(
    services: Services, alice: Member, fans: list[Member], worker: Worker
) -> None:
    """The worker does not repeat the followers that the request has reached."""
    post = await alice.post("to all")
    first = keys.home(number(fans[0].id))
    await services.db.one("LREM", first, 1, number(post))
    await worker.run_once()
    assert await reached(fans, post) == [False] + [True] * (FOLLOWERS - 1)


async def test_a_job_at_work_is_left_alone(services: Services, alice: Member, fans: list[Member]) -> None:
    """A job that one worker has taken is taken by no other before the lease expires."""
    post = await alice.post("to all")
    (taken,) = await jobs.take_over(services.db)
    assert taken.kind == "post"
    assert await Worker(services.db).run_once() == 0
    assert not all(await reached(fans, post))
    await jobs.hand_over(services.db, taken)
    assert await Worker(services.db).run_once() == 1
    assert all(await reached(fans, post))


async def test_two_workers(services: Services, alice: Member, fans: list[Member]) -> None:
    """Two workers share the jobs: each job is run by one of them."""
    made = [await member.post("to all") for member in [alice] * 5]
    other = Database(services.settings.redis_url, services.settings)
    done = await asyncio.gather(*(Worker(db).run_once() for db in (services.db, other)))
    await other.close()
    assert sum(done) == len(made)
    for member in fans:
        assert await member.home() == made[::-1]
    assert await jobs.backlog(services.db) == (0, 0)


async def test_a_worker_that_runs(services: Services, alice: Member, fans: list[Member], worker: Worker) -> None:
    """A running worker is woken when a request hands over a job."""
    running = asyncio.create_task(worker.run(services.pubsub))
    post = await alice.post("to all")
    async with asyncio.timeout(PATIENCE):
        while await waiting(services.db):
            pass
    assert all(await reached(fans, post))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_an_unfollow_meanwhile(alice: Member, fans: list[Member], worker: Worker) -> None:
    """A follower who unfollows or is removed before the worker runs does not get the post, or loses it."""
    post = await alice.post("to all")
    await fans[0].unfollow(alice)
    await fans[-1].unfollow(alice)
    await alice.do("removeFollowers", userIds=[fans[1].id, fans[-2].id])
    await worker.run_once()
    assert await reached(fans, post) == [False, False] + [True] * (FOLLOWERS - 4) + [False, False]


@pytest.mark.parametrize("passed_on", [False, True])
async def test_an_unfollow_during_a_batch(
    services: Services, alice: Member, bob: Member, fans: list[Member], *, passed_on: bool
) -> None:
    """A batch begun before an unfollow that is written after it adds nothing."""
    post = number(await (bob if passed_on else alice).post("to all"))
    repost = number(await alice.repost(f"status_{post:014x}")) if passed_on else None
    for member in (fans[-1], fans[-2]):
        await member.unfollow(alice)
    delivery = Delivery(number(alice.id), post, number((bob if passed_on else alice).id), repost)
    batch = fanout.begin(services.db, delivery, 0, FOLLOWERS)
    begun = await services.db.one(*batch.command)
    assert (await fanout.finish(services.db, batch, begun))[0] == FOLLOWERS - 2
    stored = [await homes.home(services.db, number(member.id)) for member in fans]
    assert [bool(home) for home in stored] == [True] * (FOLLOWERS - 2) + [False, False]


async def test_an_unfollow_whose_job_has_not_run(
    services: Services, alice: Member, bob: Member, carol: Member, fans: list[Member], worker: Worker
) -> None:
    """An unfollowed member's posts and reposts are gone at once, before any stored home is changed."""
    await carol.follow(alice, bob)
    post, stranger = await bob.post("from bob"), await fans[0].post("from a stranger")
    await alice.post("from alice")
    await alice.repost(post)
    await alice.repost(stranger)
    await work_off(services.db, worker)
    assert len(await carol.home()) == 3
    await follows.unfollow(services.db, number(carol.id), [number(alice.id)])
    query = "{ homeTimeline(first: 9) { edges { repostedByCount node { ... on Node { id } } } } }"
    for _ in range(2):
        edges = (await carol.ask(query))["edges"]
        assert edges == [{"repostedByCount": 0, "node": {"id": post}}]
        await work_off(services.db, worker)


async def test_a_follow_meanwhile(anonymous: Member, alice: Member, fans: list[Member], worker: Worker) -> None:
    """A follower who follows before the worker runs has the post at once, and once."""
    post = await alice.post("to all")
    await fans[0].unfollow(alice)
    await fans[0].follow(alice)
    assert (await reached(fans, post))[0]
    await worker.run_once()
    assert all(await reached(fans, post))


@pytest.mark.parametrize("passed_on", [False, True])
async def test_a_delete_meanwhile(
    services: Services, alice: Member, bob: Member, fans: list[Member], worker: Worker, *, passed_on: bool
) -> None:
    """A post deleted, or a repost undone, before the worker runs is gone at once, and nothing adds it again."""
    post = await bob.post("from a stranger") if passed_on else await alice.post("soon gone #tea")
    if passed_on:
        await alice.repost(post)
    assert any(await reached(fans, post))
    await alice.do("unrepost" if passed_on else "deletePost", postId=post)
    assert not any(await reached(fans, post))
    await work_off(services.db, worker)
    assert not any(await reached(fans, post))
    for member in fans:
        assert not await homes.home(services.db, number(member.id))
        assert not await homes.sources(services.db, number(member.id))
    assert await alice.ask('{ hashtag(name: "tea") { postCount } }') is None


async def test_a_delivery_that_a_delete_has_overtaken(
    services: Services, alice: Member, fans: list[Member], worker: Worker
) -> None:
    """A delivery still running when its post is deleted stops at its next checkpoint, and nobody sees its effects."""
    post = await alice.post("soon gone")
    (delivery,) = await jobs.take_over(services.db)
    await alice.do("deletePost", postId=post)
    await work_off(services.db, worker)
    await dispatch.perform(services.db, delivery, Budget(float("inf")))
    stored = [await homes.home(services.db, number(member.id)) for member in fans]
    assert sum(bool(home) for home in stored) <= BATCH * len(services.db.nodes)
    assert not any(await reached(fans, post))


async def test_a_delete_with_more_followers_than_are_reached(
    services: Services, alice: Member, fans: list[Member], worker: Worker
) -> None:
    """A delete takes effect for all readers at once; the worker clears the homes that the request did not reach."""
    post = await alice.post("soon gone")
    await work_off(services.db, worker)
    await alice.do("deletePost", postId=post)
    assert not any(await reached(fans, post))
    left = [number(member.id) for member in fans if await homes.home(services.db, number(member.id))]
    assert left == [number(member.id) for member in fans[INLINE:]]
    await work_off(services.db, worker)
    for member in fans:
        assert not await homes.home(services.db, number(member.id))


async def test_a_delete_with_many_reposts(
    services: Services, alice: Member, bob: Member, fans: list[Member], worker: Worker
) -> None:
    """All reposts of a post are deleted with it, from counts and homes, at once or by the worker, however many."""
    post = await alice.post("passed on by all")
    for member in fans:
        await member.repost(post)
    await bob.follow(*fans)
    await work_off(services.db, worker)
    assert await bob.home() == [post]
    await alice.do("deletePost", postId=post)
    assert await bob.home() == []
    await work_off(services.db, worker)
    assert not await homes.home(services.db, number(bob.id))
    for member in fans:
        answer = await bob.ask("query($id: ID!) { node(id: $id) { ... on User { postCount } } }", id=member.id)
        assert answer == {"postCount": 0}


async def test_work_that_fails(services: Services, alice: Member, fans: list[Member]) -> None:
    """A post succeeds though its delivery fails; after JOB_ATTEMPTS the job is set aside, where operators see it."""
    await services.db.one("SET", keys.public(), "not a timeline")
    post = await alice.post("hard to deliver")
    assert post in await alice.home()
    worker = Worker(services.db)
    for _ in range(ATTEMPTS - 1):
        assert await jobs.backlog(services.db) == (1, 0)
        (job,) = await waiting(services.db)
        await jobs.hand_over(services.db, job)
        assert await worker.run_once() == 1
    await jobs.hand_over(services.db, job)
    assert await worker.run_once() == 0
    assert await jobs.backlog(services.db) == (0, 1)
    (dead,) = await jobs.dead(services.db, partition(number(post)))
    assert (dead.id, dead.kind) == (number(post), "post")
    assert not any(await reached(fans[BATCH:], post))


async def test_work_that_fails_for_a_while(services: Services, alice: Member, fans: list[Member]) -> None:
    """A failed job runs as soon as the cause is gone, and does not hold up other jobs."""
    await services.db.one("SET", keys.public(), "not a timeline")
    post = await alice.post("hard to deliver")
    await services.db.one("DEL", keys.public())
    other = await alice.post("easy to deliver")
    worker = Worker(services.db)
    await work_off(services.db, worker)
    assert all(await reached(fans, post))
    assert all(await reached(fans, other))
    logged = [event.post for event in await log.between(services.db, "0-0") if event.kind == "post"]
    assert sorted(logged) == [number(post), number(other)]


@pytest.mark.parametrize("last", range(1, WAITING + 2))
async def test_posts_that_arrive_in_any_order(services: Services, alice: Member, fans: list[Member], last: int) -> None:
    """The home lists each post above the end of the list once, newest first, in any order of arrival."""
    db, fan = services.db, number(fans[0].id)
    first = number(await alice.post("the end of the list"))
    made = list(range(first + 1, first + 1 + last))
    arriving = made.copy()
    random.Random(last).shuffle(arriving)  # noqa: S311  chance that can be repeated, no secret
    for post in [*arriving, *arriving]:
        batch = fanout.begin(db, Delivery(number(alice.id), post, number(alice.id)), 0, 1)
        await fanout.finish(db, batch, await db.one(*batch.command))
    assert [entry.entity for entry in await homes.home(db, fan)] == [*reversed(made), first]


async def test_a_batch_saves_its_progress(services: Services, alice: Member, fans: list[Member]) -> None:
    """A full batch saves its last edge as its job's progress, where one server has all; says if the job is gone."""
    db, author = services.db, number(alice.id)
    post = number(await alice.post("to all"))
    for is_there in (True, False):
        batch = fanout.begin(db, Delivery(author, post, author), 0, BATCH, post)
        came = await fanout.finish(db, batch, await db.one(*batch.command))
        assert came == (BATCH, came.last, None if db.is_cluster else is_there)
        if not db.is_cluster and is_there:
            assert int(await db.one("HGET", keys.progress(partition(post)), post)) == came.last
        await db.ask(jobs.finish(post))
    whole = fanout.begin(db, Delivery(author, post, author), 0, FOLLOWERS + 1, post)
    assert (await fanout.finish(db, whole, await db.one(*whole.command))).is_left is None
