"""Big authors with reposts, floors and late changes: cases in which a post was once lost or left behind."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import big_authors
from store.client.database import Command, Database
from store.homes import stored
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.site import Site
from tests.support.work import Fragile, number, photograph, put_back, waiting, work_off

SIZE, SLACK = 10, 2


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Big at three followers, homes so short that they have a floor, batches of one follower."""
    work = {"fanout_batch": 1, "job_attempts": 1000}
    return shrunk(settings, big_author=3, home_size=SIZE, home_slack=SLACK, max_cost=10**9, **work)


@pytest.fixture
async def site(services: Services, anonymous: Member, worker: Worker) -> Site:
    """A star with three fans, who is big; a friend whom a reader follows."""
    made = Site(services.db, anonymous)
    await made.sign_up("star", "friend", "reader", "fan0", "fan1", "fan2")
    for fan in ("fan0", "fan1", "fan2"):
        await made.follow(fan, "star")
    await made.follow("reader", "friend")
    await work_off(services.db, worker)
    assert await big_authors.is_big(services.db, number(made.people["star"].id))
    return made


async def test_a_follow_takes_an_old_post_below_the_floor(site: Site) -> None:
    """A big author's post that a repost added moves to its own place below the floor when the author is followed."""
    old = await site.post("star", "old")
    for _ in range(SIZE + SLACK + 1):
        await site.post("friend")
    await site.repost("friend", old)
    assert (await site.people["reader"].home())[0] == old
    await site.follow("reader", "star")
    assert (await site.people["reader"].home())[-1] == old
    await site.check("reader")
    await site.verify()
    await site.unfollow("reader", "star")
    assert (await site.people["reader"].home())[0] == old
    await site.check("reader")
    await site.verify()


async def test_the_end_of_the_repost_that_listed_an_old_post(site: Site) -> None:
    """A post that a repost added before its big author was followed is removed with its reposts, one by one."""
    await site.sign_up("pal")
    await site.follow("reader", "pal")
    old = await site.post("star", "old")
    for login in ("friend", "pal"):
        await site.repost(login, old)
    await site.follow("reader", "star")
    for login in ("friend", "pal"):
        await site.unrepost(login, old)
        await site.check("reader")
        await site.verify()


@pytest.mark.parametrize("follows_first", [True, False])
@pytest.mark.parametrize("end", ["unrepost", "unfollow"])
async def test_nothing_is_left_of_a_deleted_post(site: Site, end: str, *, follows_first: bool) -> None:
    """A big author's post that a repost added is in no home once repost and post are gone."""
    if follows_first:
        await site.follow("reader", "star")
    post = await site.post("star")
    await site.repost("friend", post)
    if not follows_first:
        await site.follow("reader", "star")
    await site.check("reader")
    if end == "unrepost":
        await site.unrepost("friend", post)
    else:
        await site.unfollow("reader", "friend")
    await site.check("reader")
    await site.delete("star", post)
    await site.check("reader")
    assert await stored.home(site.db, number(site.people["reader"].id)) == []
    await site.verify()


async def test_nothing_is_left_in_a_home_built_anew(site: Site) -> None:
    """A big author's post is gone likewise from a home that was built while the repost existed."""
    await site.follow("reader", "star")
    post = await site.post("star")
    await site.repost("friend", post)
    await site.db.one(*stored.drop_home(number(site.people["reader"].id)))
    await site.check("reader")
    await site.unrepost("friend", post)
    await site.delete("star", post)
    await site.check("reader")
    await site.verify()


async def test_a_growth_done_after_all_is_over(services: Services, anonymous: Member, worker: Worker) -> None:
    """A late promotion of an author who was demoted meanwhile marks them briefly, and no home is built without them."""
    site = Site(services.db, anonymous)
    await site.sign_up("star", "fan0", "fan1", "fan2")
    await site.post("star")
    for fan in ("fan0", "fan1", "fan2"):
        await site.follow(fan, "star")
    (growth,) = await waiting(services.db)
    await site.unfollow("fan2", "star")
    (shrinking,) = [job for job in await waiting(services.db) if job.kind == "shrink"]
    await dispatch.finish(services.db, shrinking)
    fragile = Fragile(services.settings, 2)
    await dispatch.finish(fragile, growth)
    await fragile.close()
    await site.db.one(*stored.drop_home(number(site.people["fan0"].id)))
    await site.check("fan0")
    await work_off(services.db, worker)
    await site.check()
    await site.verify()


async def test_a_home_built_amid_a_shrinking(services: Services, site: Site, worker: Worker) -> None:
    """A home that was absent when a demotion reached it, and was built before the others were pushed, lacks nothing."""
    post = await site.post("star")
    await site.repost("friend", post)
    await site.unfollow("fan2", "star")
    (shrinking,) = [job for job in await waiting(site.db) if job.kind == "shrink"]
    await site.db.one(*stored.drop_home(number(site.people["fan0"].id)))
    photo = await photograph(site.db)
    for calls in count():
        await put_back(site.db, photo)
        fragile = Fragile(services.settings, calls)
        await dispatch.finish(fragile, shrinking)
        await fragile.close()
        await site.check("fan0")
        await work_off(services.db, worker)
        await site.check("fan0", "fan1")
        await site.verify()
        if not fragile.has_died:
            return


async def test_readers_who_learn_of_a_big_author_at_once(
    services: Services, db: Database, site: Site, worker: Worker
) -> None:
    """A home is read correctly while another request, in between, reads the new list of big authors."""
    await site.sign_up("idol")
    for fan in ("fan0", "fan1", "fan2"):
        await site.follow(fan, "idol")
    await site.check("fan0")  # this process has read that one author is big
    send = services.db.run

    async def run(commands: Sequence[Command]) -> list[Any]:
        replies = await send(commands)
        if big_authors.VERSION in commands:
            await services.big.read(db)
        return replies

    await work_off(services.db, worker)
    await site.post("idol")
    services.db.run = run  # type: ignore[method-assign]
    await site.check("fan0")
