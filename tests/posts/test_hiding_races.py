"""Hiding and showing again, finished in any order or after crashes: the last commit counts."""

from itertools import count

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.upkeep import verify
from store import posts
from store.client.database import Database
from store.records.jobs import Job
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.transport.live import watching
from tests.support.work import Fragile, Turns, number, photograph, put_back, work_off

ORDERS = 10  # orders tried of two simultaneous jobs
PUBLIC = "{ publicTimeline(first: 100) { nodes { ... on Node { id } } } }"
FACTS = """query($original: ID!) {
  tag: hashtag(name: "tea") { postCount }
  original: node(id: $original) { ... on Post { quoteCount quotes { nodes { id } } } } }"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Batches of one follower, so that other calls run in between."""
    return shrunk(settings, fanout_batch=1, fanout_inline=2, job_attempts=1000)


async def committed(db: Database, post: str, author: Member, *, hidden: bool) -> Job:
    """Return the job of a hiding, or of its end, that has only been committed."""
    job = accepted(await posts.hide(db, number(post), number(author.id), hidden=hidden))
    assert job
    return job


async def assert_shown(db: Database, reader: Member, quote: str, original: str, *, shown: bool) -> None:
    """Assert that a quote with a tag is listed everywhere, or nowhere."""
    facts = await reader.ask(FACTS, original=original)
    assert facts["tag"] == ({"postCount": 1} if shown else None)
    assert facts["original"] == {"quoteCount": int(shown), "quotes": {"nodes": [{"id": quote}] if shown else []}}
    assert (quote in await reader.home()) == shown
    assert ({"id": quote} in (await reader.ask(PUBLIC))["nodes"]) == shown
    report = await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
    assert report.clean, report.findings


@pytest.fixture
async def quote(alice: Member, bob: Member, carol: Member) -> tuple[str, str]:
    """A quote by bob, whom alice follows, and its original."""
    await alice.follow(bob)
    await carol.follow(bob)
    original = await carol.post("the original")
    return await bob.repost(original, "see #tea"), original


@pytest.mark.parametrize("changes", [(True, False), (True, False, True)], ids=["shown", "hidden"])
async def test_jobs_in_the_other_order(
    services: Services, alice: Member, bob: Member, quote: tuple[str, str], changes: tuple[bool, ...]
) -> None:
    """The newest job runs first, the oldest last: the last commit counts."""
    post, original = quote
    made = [await committed(services.db, post, bob, hidden=hidden) for hidden in changes]
    for job in made[::-1]:
        await dispatch.finish(services.db, job)
    await assert_shown(services.db, alice, post, original, shown=not changes[-1])


@pytest.mark.parametrize("changes", [(True, False), (True, False, True)], ids=["shown", "hidden"])
@pytest.mark.parametrize("order", range(ORDERS))
async def test_jobs_at_once(
    services: Services, alice: Member, bob: Member, quote: tuple[str, str], changes: tuple[bool, ...], order: int
) -> None:
    """However the calls of all the jobs mix, the last commit counts."""
    post, original = quote
    turns = Turns(services.settings, order)
    made = [await committed(services.db, post, bob, hidden=hidden) for hidden in changes]
    await turns.together(*(dispatch.finish(turns, job) for job in made))
    await assert_shown(services.db, alice, post, original, shown=not changes[-1])


@pytest.mark.parametrize("hidden", [True, False])
async def test_a_job_that_dies(
    services: Services, alice: Member, bob: Member, worker: Worker, quote: tuple[str, str], *, hidden: bool
) -> None:
    """If a hiding or its end dies at any call, the worker leaves what the last commit says, even after later acts."""
    post, original = quote
    if not hidden:
        await dispatch.finish(services.db, await committed(services.db, post, bob, hidden=True))
    photo = await photograph(services.db)
    for calls in count():
        await put_back(services.db, photo)
        job = await committed(services.db, post, bob, hidden=hidden)
        fragile = Fragile(services.settings, calls)
        await dispatch.finish(fragile, job)
        await fragile.close()
        if calls % 2:
            await dispatch.finish(services.db, await committed(services.db, post, bob, hidden=not hidden))
        await work_off(services.db, worker)
        await assert_shown(services.db, alice, post, original, shown=bool(calls % 2) == hidden)
        if not fragile.has_died:
            return


@pytest.mark.parametrize("order", range(ORDERS))
async def test_hidden_while_it_is_published_or_deleted(
    services: Services, alice: Member, bob: Member, carol: Member, worker: Worker, order: int
) -> None:
    """Delivery, hiding, showing and deletion of one post may run at once: deleted is deleted, shown is shown."""
    await alice.follow(bob)
    original = await carol.post("the original")
    draft = posts.PostDraft(number(bob.id), "see #tea", (), ("tea",), number(original), number(carol.id))
    _, made, delivery = accepted(await posts.create(services.db, draft))
    quote = f"repost_{made:014x}"
    assert delivery
    started = [delivery, *[await committed(services.db, quote, bob, hidden=hidden) for hidden in (True, False)]]
    if order % 2:
        delete = await posts.delete(services.db, made, number(bob.id))
        assert delete
        started.append(delete)
    turns = Turns(services.settings, order)
    await turns.together(*(dispatch.finish(turns, job) for job in started))
    await work_off(services.db, worker)
    await assert_shown(services.db, alice, quote, original, shown=order % 2 == 0)


async def test_a_follower_of_one_who_took_it_back(
    services: Services, alice: Member, bob: Member, carol: Member
) -> None:
    """Live, a post hidden between an undone repost and its event leaves the homes that got it from the repost."""
    await alice.follow(bob)
    post = await carol.post("hello")
    repost = await bob.repost(post)
    async with watching(alice, services.db) as stream:
        undo = await posts.delete(services.db, number(repost), number(bob.id))
        assert undo
        await posts.unlist_repost(
            services.db, number(post), number(repost), number(bob.id), plain=True, whose=number(alice.id)
        )
        await carol.do("hidePost", postId=post)
        await dispatch.finish(services.db, undo)
        assert await stream.brief() == ("removed", post)


async def test_a_hiding_logged_after_an_unfollow(services: Services, alice: Member, bob: Member) -> None:
    """Live, a post hidden before its author was unfollowed leaves the home, though its job runs later."""
    await alice.follow(bob)
    post = await bob.post("hello")
    async with watching(alice, services.db) as stream:
        job = await committed(services.db, post, bob, hidden=True)
        await alice.unfollow(bob)
        await dispatch.finish(services.db, job)
        assert await stream.brief() == ("removed", post)
