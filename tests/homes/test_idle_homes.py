"""Idle members' homes are dropped; the next read builds them while others write."""

import contextlib
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

import pytest

from resolvers.homes import build
from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import follows, keys, posts
from store.client.database import Database
from store.homes import stored
from store.ids import partition
from store.keys.fields import HomeField
from store.posts import PostDraft
from store.records.jobs import Job
from store.refusals import accepted
from store.settings import Settings
from tests.support.page_costs import cost
from tests.support.people import Member, crowd, shrunk
from tests.support.stored import empty, exist
from tests.support.transport.live import watching
from tests.support.work import Crash, Fragile, Turns, number, photograph, put_back, work_off

SEEDS = 6  # orders of calls tried
PAGE = "{ homeTimeline(first: 30) { edges { node { ... on Node { id } } } } }"
EDGES = "{ homeTimeline(first: 100) { edges { cursor repostedBy { user { login } } node { ... on Node { id } } } } }"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Batches of one follower."""
    return shrunk(settings, fanout_batch=1, job_attempts=1000)


async def stay_away(db: Database, member: Member, days: int) -> int:
    """Have a member be away for some days; returns how many homes are then dropped."""
    me = number(member.id)
    await db.one("ZADD", keys.active(partition(me)), stored.today() - days, me)
    return await build.let_go_idle(db)


async def drop(db: Database, member: Member) -> None:
    """Drop a home at once."""
    await db.one(*stored.drop_home(number(member.id)))


async def is_there(db: Database, member: Member) -> bool:
    return await stored.floor(db, number(member.id)) is not None


async def fill(alice: Member, bob: Member, carol: Member) -> None:
    """Add posts, quotes and reposts to alice's home."""
    await alice.follow(bob)
    foreign = await carol.post("foreign")
    await bob.repost(foreign)
    await bob.repost(foreign, "a quote")
    await bob.repost(await alice.post("mine"))
    await bob.post("post")


async def test_idle_homes_are_let_go_of(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """After HOME_IDLE_DAYS without a read, and no sooner, a home is dropped; the next read builds it as it was."""
    await fill(alice, bob, carol)
    before = await alice.ask(EDGES)
    days = db.settings.home_idle_days
    assert await stay_away(db, alice, days - 1) == 0
    assert await is_there(db, alice)
    assert await stay_away(db, alice, days) == 1
    assert not await is_there(db, alice)
    assert await exist(db, *(key(number(alice.id)) for key in (keys.home, keys.home_state, keys.sources))) == 0
    assert await build.let_go_idle(db) == 0
    assert await alice.ask(EDGES) == before
    assert await is_there(db, alice)
    assert await is_there(db, bob)


async def test_a_read_keeps_a_home(db: Database, alice: Member) -> None:
    """A member who reads their home is no longer idle."""
    me = number(alice.id)
    await db.one("ZADD", keys.active(partition(me)), stored.today() - db.settings.home_idle_days, me)
    await alice.home()
    assert await build.let_go_idle(db) == 0
    assert await is_there(db, alice)


async def test_writers_skip_it(db: Database, alice: Member, bob: Member, carol: Member, worker: Worker) -> None:
    """No write begins an absent home, and the next read finds all of them."""
    await fill(alice, bob, carol)
    gone, undone = await bob.post("gone"), await carol.post("undone")
    await bob.repost(undone)
    await drop(db, alice)
    await bob.do("deletePost", postId=gone)
    await bob.do("unrepost", postId=undone)
    last = [await alice.post("own"), await bob.post("followed"), await carol.post("passed on")]
    await bob.repost(last[2])
    await alice.follow(carol)
    await alice.unfollow(carol)
    await work_off(db, worker)
    assert not await is_there(db, alice)
    home = await alice.home()
    assert home[:3] == last[::-1]
    assert len(home) == 7
    assert not {gone, undone} & set(home)


async def test_absent_building_and_empty(db: Database, alice: Member, bob: Member) -> None:
    """An empty home is written to. A home being built is written to, and the next read finishes building it."""
    await alice.follow(bob)
    assert await is_there(db, alice)
    assert await stored.home(db, number(alice.id)) == []
    old = await bob.post("old")
    await drop(db, alice)
    assert await db.one(*stored.begin_home(number(alice.id))) is not None
    new = await bob.post("new")
    assert [entry.entity for entry in await stored.home(db, number(alice.id))] == [number(new)]
    assert await alice.home() == [new, old]
    assert await db.one(*stored.begin_home(number(alice.id))) is None
    assert await db.one("HEXISTS", keys.home_state(number(alice.id)), HomeField.BUILDING) == 0


async def test_a_live_subscription(db: Database, alice: Member, bob: Member) -> None:
    """A subscriber's home is built and kept. After it was dropped, events go on, and the next read builds it."""
    await alice.follow(bob)
    await drop(db, alice)
    async with watching(alice, db) as stream:
        assert await is_there(db, alice)
        assert await build.let_go_idle(db) == 0
        assert await stay_away(db, alice, db.settings.home_idle_days) == 1
        post = await bob.post("hello")
        assert await stream.brief() == ("put", post)
        assert not await is_there(db, alice)
        assert await alice.home() == [post]
        assert [entry.entity for entry in await stored.home(db, number(alice.id))] == [number(post)]


async def test_a_builder_that_dies(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """A home whose builder died at any call is completed by concurrent writes and the next read."""
    await fill(alice, bob, carol)
    before = await alice.home()
    await drop(services.db, alice)
    photo = await photograph(services.db)
    for calls in count():
        await put_back(services.db, photo)
        fragile = Fragile(services.settings, calls)
        with contextlib.suppress(Crash):
            await build.build(fragile, number(alice.id))
        await fragile.close()
        new = await bob.post("new")
        await bob.do("deletePost", postId=before[0])
        assert await alice.home() == [new, *before[1:]]
        await drop(services.db, alice)
        assert await alice.home() == [new, *before[1:]]
        if not fragile.has_died:
            return


Act = Callable[[Database, Member, Member, str], Coroutine[Any, Any, Job | None]]


async def _post(db: Database, _: Member, bob: Member, __: str) -> Job | None:
    return accepted(await posts.create(db, PostDraft(number(bob.id), "new"))).job


async def _own_post(db: Database, alice: Member, _: Member, __: str) -> Job | None:
    return accepted(await posts.create(db, PostDraft(number(alice.id), "new"))).job


async def _delete(db: Database, _: Member, bob: Member, post: str) -> Job | None:
    return await posts.delete(db, number(post), number(bob.id))


async def _unfollow(db: Database, alice: Member, bob: Member, _: str) -> Job | None:
    return await follows.unfollow(db, number(alice.id), [number(bob.id)])


async def _follow(db: Database, alice: Member, bob: Member, _: str) -> Job | None:
    others = await db.one("ZRANGE", keys.followers(number(bob.id)), 0, -1)
    return (await follows.follow(db, number(alice.id), [int(o) for o in others if int(o) != number(alice.id)]))[0]


async def _remove_followers(db: Database, alice: Member, bob: Member, _: str) -> Job | None:
    return await follows.remove_followers(db, number(bob.id), [number(alice.id)])


async def _repost(db: Database, _: Member, bob: Member, __: str) -> Job | None:
    (foreign,) = [int(m) for m in await db.one("ZRANGE", keys.profile(number(bob.id)), 0, 0)]
    followers = [int(m) for m in await db.one("ZRANGE", keys.followers(number(bob.id)), 0, -1)]
    draft = PostDraft(followers[1], "", original=foreign, original_author=number(bob.id))
    return accepted(await posts.create(db, draft)).job


ACTS: list[Act] = [_post, _own_post, _delete, _unfollow, _follow, _remove_followers, _repost]


@pytest.fixture
async def post(alice: Member, bob: Member, carol: Member, anonymous: Member) -> str:
    """Bob's second post, reposted by carol. Alice follows both and a third member; carol and a fourth follow bob."""
    third, fourth = await crowd(anonymous, 2)
    await alice.follow(bob, carol, third)
    for other in (carol, third, fourth):
        await other.follow(bob)
    await bob.post("first")
    second = await bob.post("second")
    await carol.repost(second)
    await third.repost(await fourth.post("foreign"))
    await fourth.repost(second)
    return second


@pytest.mark.parametrize("act", ACTS)
async def test_what_happens_while_it_is_built(
    services: Services, alice: Member, bob: Member, worker: Worker, post: str, act: Act
) -> None:
    """However the calls of two builders and a write mix, the home ends equal to one built again."""
    await drop(services.db, alice)
    photo, me = await photograph(services.db), number(alice.id)
    for seed in range(SEEDS):
        await put_back(services.db, photo)
        turns = Turns(services.settings, seed)

        async def write(turns: Turns = turns) -> None:
            if job := await act(turns, alice, bob, post):
                await dispatch.finish(turns, job)

        await turns.together(build.build(turns, me), write(), build.build(turns, me))
        await work_off(services.db, worker)
        kept = await stored.home(services.db, me), await stored.sources(services.db, me)
        assert await is_there(services.db, alice)
        await build.rebuild(services.db, me)
        built = await stored.home(services.db, me), await stored.sources(services.db, me)
        assert kept == built, f"order {seed}"


async def test_a_home_let_go_of_while_it_is_built(db: Database, alice: Member, bob: Member) -> None:
    """A builder does not write into a home that another began after the first one was dropped."""
    await alice.follow(bob)
    old, me = await bob.post("old"), number(alice.id)
    await drop(db, alice)
    begun = await db.one(*stored.begin_home(me))
    await drop(db, alice)
    await alice.unfollow(bob)
    await db.one(*stored.begin_home(me))
    assert await db.one(*stored.write_home(db, me, begun, [number(old)], [], 0)) == -1
    assert await alice.home() == []
    assert await stored.home(db, me) == []


async def test_a_home_of_many(services: Services, anonymous: Member, alice: Member, bob: Member) -> None:
    """Building a home of 450 followed members with three posts each takes a dozen round trips, and a page is whole."""
    me, many = number(alice.id), [(number(bob.id) + ((i + 1) << 12)) for i in range(450)]
    await services.db.ask(*(("COPY", keys.user(number(bob.id)), keys.user(one)) for one in many))
    job, _ = await follows.follow(services.db, me, many)
    assert job
    made = await services.db.ask(
        *(posts.create_command(services.db, PostDraft(one, "hi")) for _ in range(3) for one in many)
    )
    await drop(services.db, alice)
    page, trips = await cost(services, alice, PAGE)
    wanted = [f"status_{int(reply[0]):014x}" for reply in made[:-31:-1]]
    assert [edge["node"]["id"] for edge in page["edges"]] == wanted
    assert trips <= 12
    size = services.settings.home_size
    assert len(await stored.home(services.db, me)) == size
    await empty(services.db)
