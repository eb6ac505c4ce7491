"""Subscriptions as such: resumed without a gap, told of one, ended with the session, and never in each other's way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from resolvers.context import Services
from resolvers.fanout import Budget, perform
from store import events, keys
from store.connection import Database
from store.records import Job
from store.settings import Settings
from tests.conftest import PASSWORD, Member, shrunk
from tests.live import HOME, Stream, followers, now, separate, subscribed, until, watching
from tests.work import number


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, shrunk as a test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


async def puts(stream: Stream, count: int) -> list[str]:
    """Return the posts of the next events, each of which puts one."""
    briefs = [await stream.brief() for _ in range(count)]
    assert {kind for kind, *_ in briefs} <= {"put"}
    return [post for _, post, *_ in briefs]


# ------------------------------------------------------------ going on from a cursor


async def test_what_came_since_and_then_what_comes(db: Database, alice: Member, bob: Member) -> None:
    """`after` brings exactly what came since, in order, then what comes; each event's cursor serves as `after`."""
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


async def test_the_seam_between_past_and_present(db: Database, alice: Member, bob: Member) -> None:
    """Of 200 posts made while subscribers come, each gets every one once, in the order of the log."""
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


async def test_resuming_amid_what_one_follow_has_brought(db: Database, alice: Member, bob: Member) -> None:
    """Who leaves after the first of many posts that one follow has brought gets the rest with that event's cursor."""
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
    """Who comes back after an unfollow also loses what that member had deleted before it."""
    await bob.follow(alice)
    post = await alice.post("held by bob")
    before = await now(db)
    await alice.do("deletePost", postId=post)
    await bob.unfollow(alice)
    async with subscribed(bob, HOME, after=before) as stream:
        assert await stream.brief() == ("removed", post)


@pytest.mark.parametrize("settings", [{"events_kept": 3}], indirect=True)
async def test_a_cursor_older_than_the_log(db: Database, services: Services, alice: Member) -> None:
    """A cursor whose events are gone brings a gap first, then what comes, and the gap's cursor serves as `after`."""
    before = await now(db)
    await alice.post("gone")
    for i in range(3):
        await alice.post(f"kept {i}")
    await db.one("XTRIM", keys.events(), "MAXLEN", services.settings.events_kept)
    async with subscribed(alice, HOME, after=before) as stream:
        assert await stream.brief() == ("gap",)
        gap = stream.cursor
        post = await alice.post("live")
        assert await puts(stream, 1) == [post]
    async with subscribed(alice, HOME, after=gap) as stream:
        assert await puts(stream, 1) == [post]


async def test_a_cursor_from_another_time(db: Database, alice: Member) -> None:
    """A cursor ahead of the log, as after a store was put back, brings a gap and then what comes."""
    await alice.post("past")
    async with subscribed(alice, HOME, after="event.99999999999999-0") as stream:
        assert await stream.brief() == ("gap",)
        post = await alice.post("live")
        assert await puts(stream, 1) == [post]


@pytest.mark.parametrize(
    "cursor", ["", "event", "event.", "event.1", "event.1-1 ", "event.-1-1", "home.1-1", "1-1", "$"]
)
async def test_what_is_no_cursor(alice: Member, cursor: str) -> None:
    """A malformed cursor, or one of something else, is refused."""
    async with subscribed(alice, HOME, after=cursor) as stream:
        assert await stream.code() == "BAD_USER_INPUT"


# ------------------------------------------------------------ slow readers, and what breaks


@pytest.mark.parametrize("settings", [{"subscriber_queue": 5, "max_text": 20_000}], indirect=True)
async def test_a_subscriber_who_does_not_read(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """A subscriber who does not read gets a gap and goes on, nobody else notices, and the queue stays short."""
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
    assert 16 < len(briefs) <= posts
    async with subscribed(bob, HOME, after=gap) as resumed:
        assert await puts(resumed, 1) == [again]


async def test_the_listening_connection_killed(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """Nothing is lost where the connection that hears of events breaks again and again while posts come."""
    await bob.follow(alice)
    async with watching(bob, db) as stream:
        for round_ in range(3):
            await services.hearing.connected.wait()
            posts = [await alice.post(f"before {round_}")]
            assert await db.one("CLIENT", "KILL", "TYPE", "pubsub") == 1
            posts += [await alice.post(f"{round_} {i}") for i in range(5)]
            assert await puts(stream, 6) == posts


async def test_events_lost_while_nobody_heard(db: Database, services: Services, alice: Member) -> None:
    """Where the log was cut while it could not be heard of, subscribers get a gap, and then what comes."""
    async with watching(alice, db) as stream:
        post = await alice.post("heard")
        assert await puts(stream, 1) == [post]
        await db.one("CLIENT", "KILL", "TYPE", "pubsub")
        await alice.post("unheard")
        await db.one("XTRIM", keys.events(), "MAXLEN", 0)
        assert await stream.brief() == ("gap",)
        post = await alice.post("heard again")
        assert await puts(stream, 1) == [post]


async def test_the_log_deleted(db: Database, services: Services, alice: Member) -> None:
    """Where the whole log is gone, subscribers get a gap, and then what comes; the reader does not run in circles."""
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
    """Work that is repeated announces what it does once."""
    await bob.follow(alice)
    async with watching(bob, db) as stream:
        post = await alice.post("once")
        about = {"author": str(number(alice.id)), "original": "", "original_author": "", "plain": False, "hashtags": ""}
        await perform(services.db, Job(number(post), "post", about), Budget(1000))
        last = await alice.post("and then")
        assert await puts(stream, 2) == [post, last]


# ------------------------------------------------------------ whose socket it is


async def test_anonymous(anonymous: Member) -> None:
    """A home needs a member: anonymous subscribers get an error for the operation, and keep the socket."""
    async with subscribed(anonymous, HOME) as stream:
        assert await stream.code() == "UNAUTHENTICATED"
        await stream.socket.send_json({"type": "ping"})
        assert await stream.hear() == {"type": "pong"}


async def test_log_out_elsewhere(db: Database, services: Services, anonymous: Member, alice: Member) -> None:
    """Logging out closes the sockets of that session with 4403, and no others."""
    fields = {"identifier": "alice", "password": PASSWORD}
    payload = await anonymous.do("logIn", "accessToken", **fields)
    phone = Member(alice.client, payload["accessToken"], alice.id, "alice")
    async with watching(alice, db) as stays, watching(phone, db) as goes:
        await until(lambda: len(followers(services, alice)) == 2)
        await phone.do("logOut")
        assert await goes.closed() == 4403
        post = await alice.post("still here")
        assert await puts(stays, 1) == [post]
    await until(lambda: not followers(services, alice))


async def test_a_session_ended_without_a_message(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """Once a session is gone no event is delivered, even where nobody was told that it ended."""
    await bob.follow(alice)
    async with watching(bob, db) as stream:
        post = await alice.post("heard")
        assert await puts(stream, 1) == [post]
        await db.one("DEL", keys.sessions(number(bob.id)))
        await alice.post("unheard")
        assert await stream.code() == "UNAUTHENTICATED"
    await until(lambda: not followers(services, alice))


@pytest.mark.parametrize("settings", [{"rate_limit": 5}], indirect=True)
async def test_events_are_no_requests(db: Database, services: Services, alice: Member) -> None:
    """Events do not count towards a member's limit of requests."""
    async with watching(alice, db) as stream:
        await until(lambda: followers(services, alice))
        for i in range(20):
            await events.append(db, f"delete:{i}", "delete", number(alice.id), post=i)
        for _ in range(20):
            assert (await stream.brief())[0] == "removed"


@pytest.mark.parametrize("farewell", ["complete", "close", "vanish"])
async def test_nothing_is_left_of_who_leaves(
    db: Database, services: Services, alice: Member, bob: Member, farewell: str
) -> None:
    """Whoever completes, closes or vanishes leaves no place in the log behind."""
    await bob.follow(alice)
    async with separate() as session, subscribed(bob, HOME, session) as stream:
        await until(lambda: followers(services, alice))
        acts: dict[str, Any] = {"complete": stream.complete, "close": stream.socket.close, "vanish": session.close}
        await acts[farewell]()
        await until(lambda: not followers(services, alice) and not followers(services, bob))
    assert not services.log._by_actor  # noqa: SLF001  nobody else needs to know
