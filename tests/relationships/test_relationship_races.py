"""Requests, blocks and account states that race: their calls run in any order, and all sides agree in the end."""

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import accounts, blocks, follows, posts
from store.client.database import Database
from store.keys.fields import UserField
from store.records.jobs import Job
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.racing import (
    ORDERS,
    Act,
    ann_follows_ben,
    ann_unfollows_ben,
    ann_unfollows_cat,
    ben_leaves,
    ben_removes_ann,
    cat_deletes_the_post,
    cat_leaves,
    if_there,
    news_come,
    then,
)
from tests.support.scene import Scene, assert_agreed, scene
from tests.support.work import Turns, photograph, put_back, work_off


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Batches of one follower, so that other calls run in between."""
    return shrunk(settings, fanout_batch=1)


async def _finish(db: Database, job: Job | None) -> None:
    if job:
        await dispatch.finish(db, job)


async def ann_asks_cat(db: Database, s: Scene) -> None:
    job, _ = await follows.follow(db, s.ann, [s.cat], [s.cat])
    await _finish(db, job)


async def cat_approves_ann(db: Database, s: Scene) -> None:
    await _finish(db, await follows.approve(db, s.cat, [s.ann]))


async def cat_rejects_ann(db: Database, s: Scene) -> None:
    await _finish(db, await follows.reject(db, s.cat, [s.ann]))


def blocking(who: str, whom: str) -> Act:
    """Return the act of one member blocking another."""

    async def act(db: Database, s: Scene) -> None:
        job, _ = await blocks.block(db, getattr(s, who), [getattr(s, whom)])
        await _finish(db, job)

    return act


def unblocking(who: str, whom: str) -> Act:
    """Return the act of one member ending the block of another."""

    async def act(db: Database, s: Scene) -> None:
        job, _ = await blocks.unblock(db, getattr(s, who), [getattr(s, whom)])
        await _finish(db, job)

    return act


def cat_is(what: str, *, holds: bool) -> Act:
    """Return the act by which cat becomes private or suspended, or ends that."""

    async def act(db: Database, s: Scene) -> None:
        await _finish(db, await accounts.set_account_state(db, s.cat, what, holds=holds))

    return act


def cat_hides_the_post(*, hidden: bool) -> Act:
    """Return the act by which cat hides the post or shows it again."""

    async def act(db: Database, s: Scene) -> None:
        job = accepted(await posts.hide(db, s.post, s.cat, hidden=hidden))
        await _finish(db, job)

    return act


async def ann_leaves(db: Database, s: Scene) -> None:
    found = await accounts.credentials(db, s.ann)
    assert found
    await _finish(db, accepted(await accounts.delete(db, s.ann, found.password)))


closes, opens = cat_is(UserField.PRIVATE, holds=True), cat_is(UserField.PRIVATE, holds=False)
is_suspended, is_restored = cat_is(UserField.SUSPENDED, holds=True), cat_is(UserField.SUSPENDED, holds=False)
asked = then(closes, ann_asks_cat)

RACES: dict[str, tuple[Act, tuple[Act, ...]]] = {
    "a block and a follow of who blocks": (then(), (blocking("ben", "ann"), ann_follows_ben)),
    "a block and a follow by who blocks": (then(), (blocking("ann", "ben"), ann_follows_ben)),
    "a block and an unfollow": (ann_follows_ben, (blocking("ben", "ann"), ann_unfollows_ben)),
    "a block and a removal": (ann_follows_ben, (blocking("ann", "ben"), ben_removes_ann)),
    "blocks of each other": (ann_follows_ben, (blocking("ann", "ben"), blocking("ben", "ann"))),
    "a block that ends, and a follow": (
        ann_follows_ben,
        (then(blocking("ben", "ann"), unblocking("ben", "ann")), then(ann_unfollows_ben, ann_follows_ben)),
    ),
    "a block that ends and begins anew": (
        then(),
        (blocking("ben", "ann"), unblocking("ben", "ann"), blocking("ben", "ann"), ann_follows_ben),
    ),
    "a block and a delivery": (then(), (blocking("cat", "dan"), news_come)),
    "a block and a delete": (then(), (blocking("dan", "cat"), cat_deletes_the_post)),
    "a block and the account of who blocks": (
        then(),
        (if_there(blocking("ben", "ann")), ben_leaves, ann_follows_ben),
    ),
    "a block and the account of the blocked": (
        then(),
        (then(blocking("ann", "ben"), unblocking("ann", "ben"), blocking("ann", "ben")), ben_leaves),
    ),
    "blocks of each other and an account": (
        blocking("ann", "ben"),
        (if_there(blocking("ben", "ann")), if_there(unblocking("ann", "ben")), ben_leaves),
    ),
    "a request and its end": (closes, (then(ann_asks_cat, ann_unfollows_cat), cat_approves_ann)),
    "a request and going public": (closes, (ann_asks_cat, opens)),
    "a request, going public and private anew": (closes, (ann_asks_cat, then(opens, closes), ann_unfollows_cat)),
    "a request made twice, going public and private anew": (closes, (ann_asks_cat, ann_asks_cat, then(opens, closes))),
    "a request taken back and made anew, and going public": (asked, (then(ann_unfollows_cat, ann_asks_cat), opens)),
    "going private and a request": (then(), (closes, ann_asks_cat)),
    "an approval and the end of what is approved": (asked, (cat_approves_ann, ann_unfollows_cat)),
    "an approval, an end and a request anew": (asked, (cat_approves_ann, then(ann_unfollows_cat, ann_asks_cat))),
    "an approval and a rejection": (asked, (cat_approves_ann, cat_rejects_ann)),
    "a rejection and a request anew": (asked, (cat_rejects_ann, then(ann_unfollows_cat, ann_asks_cat))),
    "an approval and a block of who approves": (asked, (cat_approves_ann, blocking("ann", "cat"))),
    "an approval and a block by who approves": (asked, (cat_approves_ann, blocking("cat", "ann"))),
    "a request and a block": (closes, (ann_asks_cat, then(blocking("cat", "ann"), unblocking("cat", "ann")))),
    "an approval given twice": (asked, (cat_approves_ann, cat_approves_ann)),
    "an approval and a delivery": (asked, (cat_approves_ann, news_come)),
    "an approval and a delete": (asked, (cat_approves_ann, cat_deletes_the_post)),
    "an approval and the account of who asks": (asked, (cat_approves_ann, ann_leaves)),
    "an approval and the account of who approves": (asked, (if_there(cat_approves_ann), cat_leaves)),
    "going public and the account of who asks": (asked, (opens, ann_leaves)),
    "going public and the account of who does": (asked, (opens, cat_leaves)),
    "going public and an approval": (asked, (opens, cat_approves_ann, ann_unfollows_cat)),
    "going private and a delivery": (then(), (closes, news_come)),
    "going public and a delivery": (closes, (opens, news_come)),
    "going public and private anew": (closes, (opens, closes, news_come)),
    "going public and a delete": (closes, (opens, cat_deletes_the_post)),
    "going public and hiding": (closes, (opens, cat_hides_the_post(hidden=True))),
    "going private and showing again": (
        cat_hides_the_post(hidden=True),
        (closes, cat_hides_the_post(hidden=False), news_come),
    ),
    "a suspension and a delivery": (then(), (is_suspended, news_come)),
    "a suspension that ends": (then(), (is_suspended, is_restored, news_come, cat_deletes_the_post)),
    "a suspension, and going private": (then(), (is_suspended, closes, then(is_restored, opens))),
    "a suspension and an account": (then(), (is_suspended, cat_leaves)),
}


@pytest.mark.parametrize("race", RACES)
async def test_race(services: Services, anonymous: Member, worker: Worker, race: str) -> None:
    """The calls of racing requests run in any order, and all sides agree once the worker has finished."""
    before, acts = RACES[race]
    s = await scene(services.db, anonymous, set())
    await before(services.db, s)
    photo = await photograph(services.db)
    for order in range(max(1, ORDERS // 2)):
        await put_back(services.db, photo)
        turns = Turns(services.settings, order)
        await turns.together(*(act(turns, s) for act in acts))
        await work_off(services.db, worker)
        await assert_agreed(services.db, s.members)
