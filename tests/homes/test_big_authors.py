"""Big authors' posts are pulled by readers instead of pushed to followers, and readers see no difference."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys, posts
from store.client.database import Command
from store.homes import stored
from store.keys.fields import UserField
from store.posts import PostDraft
from store.records.jobs import Job
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.site import Site
from tests.support.work import Fragile, Turns, crash_points, number, photograph, put_back, waiting, work_off

BIG = 3  # followers
FANS = ("fan0", "fan1", "fan2")
SEEDS = 8  # orders of calls tried


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Big at three followers, small again at two; batches of one follower."""
    work = {"fanout_batch": 1, "job_attempts": 1000}
    return shrunk(settings, big_author=BIG, max_cost=10**9, **work)


@pytest.fixture
async def site(services: Services, anonymous: Member) -> Site:
    """Two fans of a star, who also follow a friend; a third fan who follows later; a stranger whom nobody follows."""
    made = Site(services.db, anonymous)
    await made.sign_up("star", "friend", "stranger", *FANS)
    for fan in FANS[:2]:
        await made.follow(fan, "star", "friend")
    return made


async def act(site: Site) -> None:
    """Have the star publish posts of every kind, have some reposted, and delete or undo some."""
    foreign, shared, undone = [await site.post("stranger") for _ in range(3)]
    mine, gone, _ = [await site.post("star") for _ in range(3)]
    await site.repost("star", foreign)
    await site.repost("star", undone)
    await site.repost("friend", shared)
    await site.repost("star", shared)
    await site.repost("star", foreign, "a quote")
    await site.repost("friend", mine)
    await site.repost("friend", gone)
    await site.repost("star", await site.post("friend"))
    await site.unrepost("star", undone)
    await site.delete("star", gone)


async def reaches(site: Site) -> str:
    """Return the star's state: whether their posts are pushed or pulled."""
    state = await site.db.one("HGET", keys.user(number(site.people["star"].id)), UserField.REACH)
    return str(state or "small").partition(":")[0]


async def pending(site: Site, kind: str) -> Job:
    """Return the one waiting job of a kind."""
    (job,) = [job for job in await waiting(site.db) if job.kind == kind]
    return job


async def grow(site: Site, worker: Worker) -> None:
    """Promote the star to a big author."""
    await site.follow("fan2", "star")
    await work_off(site.db, worker)
    assert await reaches(site) == "big"


async def test_up_and_down(site: Site, worker: Worker) -> None:
    """While a star is promoted, big, demoted and small again, homes list every post and repost so far, once."""
    for state in ("small", "growing", "big", "shrinking", "small"):
        if state == "growing":
            await site.follow("fan2", "star")
        elif state == "shrinking":
            await site.unfollow("fan0", "star")
        else:
            await work_off(site.db, worker)
        assert await reaches(site) == state
        await act(site)
        await site.check()
    await work_off(site.db, worker)
    await site.check()
    await site.verify()


@pytest.mark.parametrize("state", ["growing", "big", "shrinking"])
async def test_what_goes_in_another_state_than_it_came(site: Site, worker: Worker, state: str) -> None:
    """Posts and reposts made in each state can be deleted or undone in any later one."""
    taken: list[tuple[str, str, str]] = []
    for now in ("small", "growing", "big", "shrinking", "small again"):
        if now == "growing":
            await site.follow("fan2", "star")
        elif now == "shrinking":
            await site.unfollow("fan2", "star")
        elif now != "small":
            await work_off(site.db, worker)
        if now == state:
            for fan, mine, foreign in taken:
                await site.delete("star", mine)
                await site.unrepost("star", foreign)
                await site.check(fan)
        mine, foreign = await site.post("star"), await site.post("stranger")
        await site.repost("star", foreign)
        await site.repost("friend", mine)
        taken.append(("fan0", mine, foreign))
    await site.check()
    await site.verify()


async def test_followed_and_unfollowed_while_big(site: Site, worker: Worker) -> None:
    """Following a big author adds all they published; unfollowing removes it, except what others added."""
    await grow(site, worker)
    await act(site)
    await site.follow("stranger", "star", "friend")
    await site.check()
    await site.unfollow("stranger", "star")
    await site.unfollow("fan0", "friend")
    await site.check()
    await site.unfollow("stranger", "friend")
    assert await site.people["stranger"].home() == [f"status_{line.post:014x}" for line in site.model.home("stranger")]
    await work_off(site.db, worker)
    await site.verify()


async def test_a_post_costs_no_home_writes(services: Services, site: Site, worker: Worker) -> None:
    """A big author's post costs the same for any number of followers, and is stored in the author's home only."""
    await grow(site, worker)

    async def cost() -> tuple[int, int]:
        sent: list[Command] = []
        send = services.db.run

        async def run(commands: Any) -> list[Any]:
            sent.extend(commands)
            return await send(commands)

        services.db.run = run  # type: ignore[method-assign]
        before = services.db.round_trips
        made.append(await site.post("star"))
        services.db.run = send  # type: ignore[method-assign]
        return services.db.round_trips - before, len(sent)

    made: list[str] = []
    with_few = await cost()
    crowd = [f"one{i}" for i in range(20)]
    await site.sign_up(*crowd)
    for one in crowd:
        await site.follow(one, "star")
    assert await cost() == with_few
    for one in ("fan0", *crowd):
        assert await stored.home(services.db, number(site.people[one].id)) == []
    assert await site.people["star"].home() == made[::-1]
    await site.check()


@pytest.mark.parametrize("change", ["grow", "shrink"])
async def test_a_change_that_dies(services: Services, site: Site, worker: Worker, change: str) -> None:
    """Homes are right whichever call promoting or demoting dies at, both before the worker runs and after."""
    await act(site)
    if change == "shrink":
        await grow(site, worker)
        await act(site)
    await (site.unfollow if change == "shrink" else site.follow)("fan1" if change == "shrink" else "fan2", "star")
    job, photo, facts = await pending(site, change), await photograph(site.db), site.model
    for calls in crash_points():
        await put_back(site.db, photo)
        site.model = type(facts)(facts.lift, list(facts.members), dict(facts.follows), dict(facts.posts))
        fragile = Fragile(services.settings, calls)
        await dispatch.finish(fragile, job)
        await fragile.close()
        await site.repost("star", await site.post("stranger"))
        await site.delete("star", await site.post("star"))
        await site.post("star")
        await site.check("fan0", "fan1", "fan2")
        await work_off(site.db, worker)
        await site.check("fan0", "fan1", "fan2", "star")
        await site.verify()
        if not fragile.has_died:
            return


Write = Callable[[Any, Site], Coroutine[Any, Any, None]]


async def _post(db: Any, site: Site) -> None:
    _, _, job = accepted(await posts.create(db, PostDraft(number(site.people["star"].id), "new")))
    assert job
    await dispatch.finish(db, job)


async def _delete(db: Any, site: Site) -> None:
    mine = [post.id for post in site.model.posts.values() if post.author == "star" and not post.is_plain]
    for post in mine[-2:]:
        if job := await posts.delete(db, post, number(site.people["star"].id)):
            await dispatch.finish(db, job)


async def _unrepost(db: Any, site: Site) -> None:
    plain = [post.id for post in site.model.posts.values() if post.author == "star" and post.is_plain]
    if job := await posts.delete(db, plain[-1], number(site.people["star"].id)):
        await dispatch.finish(db, job)


@pytest.mark.parametrize("write", [_post, _delete, _unrepost])
@pytest.mark.parametrize("change", ["grow", "shrink"])
async def test_changes_amid_writes(services: Services, site: Site, worker: Worker, change: str, write: Write) -> None:
    """Homes are right however the calls of promoting or demoting mix with those of a post, a delete or an unrepost."""
    await act(site)
    if change == "shrink":
        await grow(site, worker)
        await act(site)
    await (site.unfollow if change == "shrink" else site.follow)("fan1" if change == "shrink" else "fan2", "star")
    job, photo = await pending(site, change), await photograph(site.db)
    for seed in range(SEEDS):
        await put_back(site.db, photo)
        turns = Turns(services.settings, seed)
        await turns.together(dispatch.finish(turns, job), write(turns, site), write(turns, site))
        await work_off(site.db, worker)
        await assert_as_built(site)


async def assert_as_built(site: Site) -> None:
    """Assert that homes read the same as homes built again from what is published."""
    await site.verify()
    for fan in FANS:
        member = site.people[fan]
        before = await member.home()
        await site.db.one(*stored.drop_home(number(member.id)))
        assert before == await member.home(), fan
