"""A job that dies at any call, runs twice, or runs in two workers at once ends as if it had run once, undisturbed."""

import contextlib
from collections.abc import Awaitable, Callable

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import accounts, blocks, follows, likes_and_comments, posts
from store.client.database import Database
from store.keys.fields import UserField
from store.likes_and_comments import CommentDraft
from store.posts import PostDraft
from store.records.jobs import Job
from store.refusals import accepted
from store.settings import Settings
from tests.support.jobs.accounts import ACCOUNT_KINDS
from tests.support.jobs.conversations import CONVERSATION_KINDS
from tests.support.jobs.groups import GROUP_KINDS
from tests.support.jobs.imports import IMPORT_KINDS
from tests.support.jobs.moderation import MODERATION_KINDS
from tests.support.jobs.pictures import PICTURE_KINDS
from tests.support.people import Member, shrunk
from tests.support.scene import Scene, scene
from tests.support.slow import few
from tests.support.work import EFFORT, Crash, Fragile, Photo, Turns, crash_points, dump, photograph, put_back, work_off

ORDERS = 3 * EFFORT  # orders tried of two workers that run the same job


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Batches of one follower, and more followers than are reached in the request."""
    return shrunk(settings, fanout_batch=1, fanout_inline=2)


async def _status(_: Database, s: Scene) -> Job | None:
    return s.news


async def _repost(_: Database, s: Scene) -> Job | None:
    return s.echo


async def _quote(db: Database, s: Scene) -> Job | None:
    draft = PostDraft(s.cat, "well said #tea", hashtags=("tea",), original=s.word, original_author=s.ben)
    return accepted(await posts.create(db, draft)).job


async def _mention(db: Database, s: Scene) -> Job | None:
    _, _, job = accepted(await posts.create(db, PostDraft(s.cat, "to @ann and @dan", mentions=(s.ann, s.dan, s.ann))))
    return job


async def _unsaid_mention(db: Database, s: Scene) -> Job | None:
    # The post is deleted before the members whom it mentions are notified.
    _, post, _ = accepted(await posts.create(db, PostDraft(s.cat, "to @ann and @dan", mentions=(s.ann, s.dan))))
    return await posts.delete(db, post, s.cat)


async def _comment(db: Database, s: Scene) -> Job | None:
    draft = CommentDraft(s.post, s.ben, "@ann @cat", mentions=(s.ann, s.cat))
    return accepted(await likes_and_comments.create_comment(db, draft)).job


async def _delete_comment(db: Database, s: Scene) -> Job | None:
    draft = CommentDraft(s.post, s.ben, "@ann @cat", mentions=(s.ann, s.cat))
    _, comment, job = accepted(await likes_and_comments.create_comment(db, draft))
    assert job
    await dispatch.finish(db, job)
    return accepted(await likes_and_comments.delete_comment(db, comment, s.post))


async def _late_repost(db: Database, s: Scene) -> Job | None:
    # The original is deleted, and that job finished, before any step but the repost's commit.
    if job := await posts.delete(db, s.echoed, s.cat):
        await dispatch.finish(db, job)
    return s.echo


async def _delete(db: Database, s: Scene) -> Job | None:
    return await posts.delete(db, s.post, s.cat)


async def _overtaking_delete(db: Database, s: Scene) -> Job | None:
    return await posts.delete(db, s.news.id, s.cat)


async def _unrepost(db: Database, s: Scene) -> Job | None:
    return await posts.delete(db, s.bens, s.ben)


async def _follow(db: Database, s: Scene) -> Job | None:
    job, _ = await follows.follow(db, s.ann, [s.cat, s.dan])
    return job


async def _unfollow(db: Database, s: Scene) -> Job | None:
    return await follows.unfollow(db, s.dan, [s.ben, s.cat])


async def _remove_followers(db: Database, s: Scene) -> Job | None:
    return await follows.remove_followers(db, s.cat, [s.ben, s.dan])


async def _request(db: Database, s: Scene) -> Job | None:
    if change := await accounts.set_account_state(db, s.cat, UserField.PRIVATE, holds=True):
        await dispatch.finish(db, change)
    job, _ = await follows.follow(db, s.ann, [s.cat, s.dan], [s.cat])
    return job


async def _approve(db: Database, s: Scene) -> Job | None:
    if job := await _request(db, s):
        await dispatch.finish(db, job)
    return await follows.approve(db, s.cat, [s.ann])


async def _reject(db: Database, s: Scene) -> Job | None:
    if job := await _request(db, s):
        await dispatch.finish(db, job)
    return await follows.reject(db, s.cat, [s.ann])


async def _go_public(db: Database, s: Scene) -> Job | None:
    if job := await _request(db, s):
        await dispatch.finish(db, job)
    return await _stand(db, s, UserField.PRIVATE, holds=False)


async def _go_private(db: Database, s: Scene) -> Job | None:
    return await _stand(db, s, UserField.PRIVATE, holds=True)


async def _suspend(db: Database, s: Scene) -> Job | None:
    return await _stand(db, s, UserField.SUSPENDED, holds=True)


async def _restore(db: Database, s: Scene) -> Job | None:
    if job := await _suspend(db, s):
        await dispatch.finish(db, job)
    return await _stand(db, s, UserField.SUSPENDED, holds=False)


async def _stand(db: Database, s: Scene, what: str, *, holds: bool) -> Job | None:
    await _deliver(db, s)
    return await accounts.set_account_state(db, s.cat, what, holds=holds)


async def _block(db: Database, s: Scene) -> Job | None:
    return (await blocks.block(db, s.ben, [s.ann, s.cat, s.dan]))[0]


async def _unblock(db: Database, s: Scene) -> Job | None:
    await _deliver(db, s)
    if job := await _block(db, s):
        await dispatch.finish(db, job)
    job, _ = await blocks.unblock(db, s.ben, [s.cat, s.dan])
    return job


async def _mute(db: Database, s: Scene) -> Job | None:
    return (await blocks.mute(db, s.dan, [s.ben, s.cat]))[0]


async def _writers_account(db: Database, s: Scene) -> Job | None:
    return await _account(db, s, s.cat)


async def _reposters_account(db: Database, s: Scene) -> Job | None:
    return await _account(db, s, s.ben)


async def _account(db: Database, s: Scene, member: int) -> Job | None:
    await _deliver(db, s)
    found = await accounts.credentials(db, member)
    assert found
    return accepted(await accounts.delete(db, member, found.password))


async def _deliver(db: Database, s: Scene) -> None:
    """Have all deliveries done; otherwise notifications and events depend on which job a worker takes first."""
    for job in (s.news, s.echo):
        await dispatch.finish(db, job)


Commit = Callable[[Database, Scene], Awaitable[Job | None]]
KINDS: dict[str, Commit] = {
    "status": _status,
    "repost": _repost,
    "quote": _quote,
    "mention": _mention,
    "delete before the mention": _unsaid_mention,
    "mention in a comment": _comment,
    "delete of a comment that mentions": _delete_comment,
    "repost whose original is gone": _late_repost,
    "delete": _delete,
    "delete before the delivery": _overtaking_delete,
    "unrepost": _unrepost,
    "follow": _follow,
    "unfollow": _unfollow,
    "removal of followers": _remove_followers,
    "request": _request,
    "approval": _approve,
    "rejection": _reject,
    "going public": _go_public,
    "going private": _go_private,
    "suspension": _suspend,
    "end of a suspension": _restore,
    "block": _block,
    "unblock": _unblock,
    "mute": _mute,
    "account of who writes": _writers_account,
    "account of who passes on": _reposters_account,
} | {**ACCOUNT_KINDS, **CONVERSATION_KINDS, **GROUP_KINDS, **IMPORT_KINDS, **MODERATION_KINDS, **PICTURE_KINDS}
of_each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def kept() -> list[tuple[Scene, Photo]]:
    """The site before any commit, once a test has made it."""
    return []


@pytest.fixture
async def site(services: Services, anonymous: Member, kept: list[tuple[Scene, Photo]]) -> Scene:
    """The site on which jobs are committed. It is made once, and put back after."""
    if not kept:
        kept.append((await scene(services.db, anonymous, {"ben"}), await photograph(services.db)))
    site, photo = kept[0]
    await put_back(services.db, photo)
    return site


async def _committed(db: Database, site: Scene, kind: str) -> tuple[Job, Photo]:
    """Return a job just committed, and a snapshot of the store at that moment."""
    job = await KINDS[kind](db, site)
    assert job
    return job, await photograph(db)


async def _in_peace(services: Services, worker: Worker, job: Job) -> dict[str, object]:
    """Return the contents of the store after the job has run undisturbed."""
    await dispatch.finish(services.db, job)
    await work_off(services.db, worker)
    return await dump(services.db)


Work = Callable[[Fragile, Job], Awaitable[None]]


async def _in_request(fragile: Fragile, job: Job) -> None:
    await dispatch.finish(fragile, job)


async def _in_worker(fragile: Fragile, job: Job) -> None:
    with contextlib.suppress(Crash):
        await dispatch.perform(fragile, job, Budget(float("inf")))


@of_each_kind
@pytest.mark.parametrize("work", few([_in_request, _in_worker]), ids=["request", "worker"])
async def test_work_that_dies(services: Services, site: Scene, worker: Worker, kind: str, work: Work) -> None:
    """After a request or worker dies, before a call or halfway, the next worker gives the undisturbed result."""
    job, photo = await _committed(services.db, site, kind)
    wanted = await _in_peace(services, worker, job)
    for calls in crash_points():
        for halfway in (False, True):
            await put_back(services.db, photo)
            fragile = Fragile(services.settings, calls, halfway=halfway)
            await work(fragile, job)
            await fragile.close()
            if halfway and not fragile.has_torn:
                continue  # a call of one command has no first half
            await work_off(services.db, worker)
            assert await dump(services.db) == wanted, f"died at call {calls}, {halfway=}"
        if not fragile.has_died:
            return


@of_each_kind
async def test_work_done_again(services: Services, site: Scene, worker: Worker, kind: str) -> None:
    """A job that runs several times gives the same result as a job that runs once."""
    job, _ = await _committed(services.db, site, kind)
    wanted = await _in_peace(services, worker, job)
    for _ in range(3):
        await dispatch.perform(services.db, job, Budget(float("inf")))
        await work_off(services.db, worker)
        assert await dump(services.db) == wanted


@of_each_kind
async def test_two_at_the_same_work(services: Services, site: Scene, worker: Worker, kind: str) -> None:
    """Two workers that run the same job at once, one presumed dead, give the same result as one alone."""
    job, photo = await _committed(services.db, site, kind)
    wanted = await _in_peace(services, worker, job)
    for order in range(ORDERS):
        await put_back(services.db, photo)
        turns = Turns(services.settings, order)
        await turns.together(dispatch.finish(turns, job), dispatch.finish(turns.elsewhere(), job))
        await work_off(services.db, worker)
        assert await dump(services.db) == wanted, f"order {order}"
