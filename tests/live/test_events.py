"""The event log behind every subscription: resuming without a gap, and being sent one if events were lost."""

import asyncio

import pytest

from resolvers.jobs.dispatch import perform
from resolvers.jobs.step import Budget
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.events import log as events
from store.records.job_bodies import PostDelivery
from store.records.jobs import Job
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.stored import disconnect
from tests.support.transport.live import HOME, followers, now, puts, subscribed, until, watching
from tests.support.work import number


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, reduced as the test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


# ------------------------------------------------------------ resuming from a cursor


async def test_what_came_since_and_then_what_comes(db: Database, alice: Member, bob: Member) -> None:
    """`after` delivers exactly the events since, in order, then live ones; each event's cursor works as `after`."""
    await bob.follow(alice)
    await alice.post("too early")
    before = await now(db)
    missed = [await alice.post(f"missed {i}") for i in range(3)]
    async with subscribed(bob, HOME, after=before) as stream:
        assert await puts(stream, 2) == missed[:2]
        second = stream.cursor
        assert await puts(stream, 1) == missed[2:]
        live = await alice.post("live")
        assert await puts(stream, 1) == [live]
    async with subscribed(bob, HOME, after=second) as stream:
        assert await puts(stream, 2) == [missed[2], live]


async def test_the_newest_cursor(db: Database, services: Services, alice: Member) -> None:
    """The cursor of the newest event replays nothing, and neither does leaving `after` out."""
    await alice.post("past")
    async with subscribed(alice, HOME, after=await now(db)) as one, subscribed(alice, HOME) as other:
        await until(lambda: len(followers(services, alice)) == 2)
        post = await alice.post("present")
        assert await puts(one, 1) == await puts(other, 1) == [post]


async def test_a_log_that_lags(db: Database, services: Services, alice: Member) -> None:
    """A new subscriber gets no past events, even if the process has not read them yet."""
    await disconnect(db, "pubsub")
    await alice.post("past")
    async with subscribed(alice, HOME) as stream:
        await until(lambda: followers(services, alice))
        newest = await events.newest(db)
        await until(lambda: services.log.cursor == newest)
        post = await alice.post("present")
        assert await puts(stream, 1) == [post]


async def test_the_seam_between_past_and_present(db: Database, alice: Member, bob: Member) -> None:
    """Of 200 posts made while subscribers join, each subscriber gets every one once, in the order of the log."""
    await bob.follow(alice)
    before = await now(db)
    posts: list[str] = []
    came: list[asyncio.Task[list[str]]] = []

    async def publish(group: asyncio.TaskGroup, moment: int) -> None:
        for i in range(50):
            if i == moment:
                came.append(group.create_task(subscribe()))
            posts.append(await alice.post(f"{i}"))

    async def subscribe() -> list[str]:
        async with subscribed(bob, HOME, after=before) as stream:
            return await puts(stream, 200)

    async with asyncio.TaskGroup() as group:
        for moment in (0, 20, 40, 49):
            group.create_task(publish(group, moment))
    log = [entry for entry in await events.between(db, before.removeprefix("event.")) if entry.kind == "post"]
    assert sorted(posts) == sorted(came[0].result())
    assert [number(post) for post in came[0].result()] == [entry.post for entry in log]
    assert all(task.result() == came[0].result() for task in came)


async def test_resuming_amid_what_one_follow_has_added(db: Database, alice: Member, bob: Member) -> None:
    """A subscriber who leaves after the first of many posts that a follow adds resumes there and gets the rest."""
    posts = {await alice.post(f"{i}") for i in range(5)}
    before = await now(db)
    await bob.follow(alice)
    async with subscribed(bob, HOME, after=before) as stream:
        first = await puts(stream, 1)
    async with subscribed(bob, HOME, after=stream.cursor) as stream:
        own = await bob.post("mine")
        rest: list[str] = []
        while own not in rest:
            rest += await puts(stream, 1)
    assert {*first, *rest} - {own} == posts


async def test_what_an_unfollowed_member_took_back_before(db: Database, alice: Member, bob: Member) -> None:
    """A subscriber who resumes after an unfollow also gets the deletion of posts deleted before the unfollow."""
    await bob.follow(alice)
    post = await alice.post("held by bob")
    before = await now(db)
    await alice.do("deletePost", postId=post)
    await bob.unfollow(alice)
    async with subscribed(bob, HOME, after=before) as stream:
        assert await stream.brief() == ("removed", post)


async def test_leaving_amid_what_an_unfollowed_member_took_back(db: Database, alice: Member, bob: Member) -> None:
    """A subscriber who leaves after a late unfollow event still gets what the member has deleted since."""
    await bob.follow(alice)
    deleted, kept = await alice.post("deleted"), await alice.post("kept")
    before = await now(db)
    await bob.unfollow(alice)
    await alice.do("deletePost", postId=deleted)
    async with subscribed(bob, HOME, after=before) as stream:
        assert await stream.brief() == ("removed", kept)
    async with subscribed(bob, HOME, after=stream.cursor) as stream:
        assert await stream.brief() == ("removed", kept)
        assert await stream.brief() == ("removed", deleted)


# ------------------------------------------------------------ slow readers and failures


@pytest.mark.parametrize("settings", [{"subscriber_queue": 5, "max_text": 20_000}], indirect=True)
async def test_a_subscriber_who_does_not_read(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """A subscriber who does not read gets a gap and continues; nobody else is affected, and the queue stays short."""
    copies = " ".join(f"c{i}: text" for i in range(25))
    big = HOME.replace("{ id text }", f"{{ id {copies} }}")
    await bob.follow(alice)
    async with subscribed(bob, big, after=await now(db)) as idle, watching(bob, db) as busy:
        await until(lambda: len(followers(services, alice)) == 2)
        lost, posts = False, 0
        while not lost:
            assert posts < 200
            post = await alice.post("x" * 20_000)
            posts += 1
            assert await puts(busy, 1) == [post]
            assert all(len(follower._queue) <= 5 for follower in followers(services, alice))  # noqa: SLF001
            lost = any(follower._lost for follower in followers(services, alice))  # noqa: SLF001
        for _ in range(5):
            post = await alice.post("x" * 20_000)
            assert await puts(busy, 1) == [post]
        briefs = [await idle.brief()]
        while briefs[-1] != ("gap",):
            briefs.append(await idle.brief())
        gap = idle.cursor
        again = await alice.post("again")
        assert await puts(idle, 1) == await puts(busy, 1) == [again]
    assert 1 < len(briefs) <= posts
    async with subscribed(bob, HOME, after=gap) as resumed:
        assert await puts(resumed, 1) == [again]


async def test_the_listening_connection_killed(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """Nothing is lost when the event connection breaks again and again while posts are made."""
    await bob.follow(alice)
    async with watching(bob, db) as stream:
        for round_ in range(3):
            await services.pubsub.connected.wait()
            posts = [await alice.post(f"before {round_}")]
            assert await disconnect(db, "pubsub")
            posts += [await alice.post(f"{round_} {i}") for i in range(5)]
            assert await puts(stream, 6) == posts


async def test_events_lost_while_nobody_subscribes(db: Database, services: Services, alice: Member) -> None:
    """If the log is trimmed while the connection is down, subscribers get a gap, then the later events."""
    async with watching(alice, db) as stream:
        post = await alice.post("delivered")
        assert await puts(stream, 1) == [post]
        await disconnect(db, "pubsub")
        await alice.post("undelivered")
        await db.one("XTRIM", keys.events(), "MAXLEN", 0)
        assert await stream.brief() == ("gap",)
        post = await alice.post("delivered again")
        assert await puts(stream, 1) == [post]


async def test_the_log_deleted(db: Database, services: Services, alice: Member) -> None:
    """If the whole log is gone, subscribers get a gap, then the later events; the reader does not loop."""
    async with watching(alice, db) as stream:
        post = await alice.post("before")
        assert await puts(stream, 1) == [post]
        await db.one("DEL", keys.events(), keys.event_ids())
        await alice.post("lost in the gap")
        assert await stream.brief() == ("gap",)
        gap = stream.cursor
        post = await alice.post("after")
        assert await puts(stream, 1) == [post]
        trips = services.db.round_trips
        for _ in range(200):
            await asyncio.sleep(0)
        assert services.db.round_trips - trips < 3
    async with subscribed(alice, HOME, after=gap) as stream:
        assert await puts(stream, 1) == [post]


async def test_an_event_appended_twice(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """A repeated job appends its event once."""
    await bob.follow(alice)
    async with watching(bob, db) as stream:
        post = await alice.post("once, @alice")  # by a job, because of the mention
        delivery = PostDelivery(author=number(alice.id))
        await perform(services.db, Job(number(post), delivery), Budget(1000))
        last = await alice.post("and then")
        assert await puts(stream, 2) == [post, last]


async def test_an_event_that_tells_more(db: Database, alice: Member) -> None:
    """An event of a newer version, with an unknown kind and unknown fields, breaks no subscription."""
    async with watching(alice, db) as stream:
        actor = number(alice.id)
        await db.one("XADD", keys.events(), "*", "kind", "celebrated", "actor", actor, "mood", "festive")
        post = await alice.post("next")
        assert await puts(stream, 1) == [post]
