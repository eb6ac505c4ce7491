"""Writes that race: in whatever order their calls come, all sides agree in the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.operation.context import Services
from store import accounts, follows, likes_and_comments, posts
from store.client.database import Database, MemberGone
from store.likes_and_comments import CommentDraft
from store.posts import Draft
from store.records import Job
from store.settings import Settings
from tests.conftest import Member, shrunk
from tests.scene import Scene, assert_agreed, scene
from tests.work import EFFORT, Turns, photograph, put_back, work_off

ORDERS = 4 * EFFORT  # orders tried of each race


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Batches of one follower, so that others come in between."""
    return shrunk(settings, fanout_batch=1)


Act = Callable[[Database, Scene], Coroutine[Any, Any, None]]


async def _finish(db: Database, job: Job | None) -> None:
    if job:
        await dispatch.finish(db, job)


async def ann_follows_ben(db: Database, s: Scene) -> None:
    job, _ = await follows.follow(db, s.ann, [s.ben])
    await _finish(db, job)


async def ann_follows_cat(db: Database, s: Scene) -> None:
    job, _ = await follows.follow(db, s.ann, [s.cat])
    await _finish(db, job)


async def ann_unfollows_ben(db: Database, s: Scene) -> None:
    await _finish(db, await follows.unfollow(db, s.ann, [s.ben]))


async def ann_unfollows_cat(db: Database, s: Scene) -> None:
    await _finish(db, await follows.unfollow(db, s.ann, [s.cat]))


async def ben_removes_ann(db: Database, s: Scene) -> None:
    await _finish(db, await follows.remove_followers(db, s.ben, [s.ann]))


async def cat_deletes_the_post(db: Database, s: Scene) -> None:
    await _finish(db, await posts.delete(db, s.post, s.cat))


async def ben_takes_it_back(db: Database, s: Scene) -> None:
    await _finish(db, await posts.delete(db, s.bens, s.ben))


async def ben_deletes_his_word(db: Database, s: Scene) -> None:
    await _finish(db, await posts.delete(db, s.word, s.ben))


async def ben_passes_it_on_anew(db: Database, s: Scene) -> None:
    _, _, job = await posts.create(db, Draft(s.ben, "", original=s.post, original_author=s.cat))
    await _finish(db, job)


async def dan_passes_the_word_on(db: Database, s: Scene) -> None:
    _, _, job = await posts.create(db, Draft(s.dan, "", original=s.word, original_author=s.ben))
    await _finish(db, job)


async def news_come(db: Database, s: Scene) -> None:
    await dispatch.finish(db, s.news)


async def news_go(db: Database, s: Scene) -> None:
    await _finish(db, await posts.delete(db, s.news.id, s.cat))


async def an_echo_comes(db: Database, s: Scene) -> None:
    await dispatch.finish(db, s.echo)


async def an_echo_goes(db: Database, s: Scene) -> None:
    await _finish(db, await posts.delete(db, s.echo.id, s.ben))


async def what_it_echoes_goes(db: Database, s: Scene) -> None:
    await _finish(db, await posts.delete(db, s.echoed, s.cat))


async def _leaves(db: Database, member: int) -> None:
    found = await accounts.credentials(db, member)
    assert found
    await _finish(db, await accounts.delete(db, member, found.password))


async def ben_leaves(db: Database, s: Scene) -> None:
    await _leaves(db, s.ben)


async def cat_leaves(db: Database, s: Scene) -> None:
    await _leaves(db, s.cat)


async def ben_likes_and_remarks(db: Database, s: Scene) -> None:
    await likes_and_comments.like(db, s.echoed, s.ben)
    await likes_and_comments.create_comment(db, CommentDraft(s.echoed, s.ben, "a late remark"))


def if_there(act: Act) -> Act:
    """Return an act that is refused once its member has left."""

    async def tried(db: Database, s: Scene) -> None:
        with contextlib.suppress(MemberGone):
            await act(db, s)

    return tried


def then(*acts: Act) -> Act:
    """Return acts of one member, one after the other."""

    async def act(db: Database, s: Scene) -> None:
        for one in acts:
            await one(db, s)

    return act


RACES: dict[str, tuple[set[str], tuple[Act, ...]]] = {
    "a delete and a follow of the author": ({"dan"}, (cat_deletes_the_post, ann_follows_cat)),
    "a delete and a follow of who passed it on": ({"cat"}, (cat_deletes_the_post, ann_follows_ben)),
    "a delete and an unfollow of the author": ({"ben", "cat"}, (cat_deletes_the_post, ann_unfollows_cat)),
    "a delete and an unfollow of who passed it on": ({"ben", "cat"}, (cat_deletes_the_post, ann_unfollows_ben)),
    "a repost undone and a follow": ({"dan"}, (ben_takes_it_back, ann_follows_ben)),
    "a repost undone and an unfollow": ({"ben", "dan"}, (ben_takes_it_back, ann_unfollows_ben)),
    "a repost undone and a follower removed": ({"ben", "dan"}, (ben_takes_it_back, ben_removes_ann)),
    "a repost undone and a follow that follows an unfollow": (
        {"ben", "dan"},
        (ben_takes_it_back, then(ann_unfollows_ben, ann_follows_ben)),
    ),
    "a delete and a follower removed": ({"ben"}, (ben_deletes_his_word, ben_removes_ann)),
    "a delete and a follow that follows an unfollow": (
        {"ben"},
        (ben_deletes_his_word, then(ann_unfollows_ben, ann_follows_ben)),
    ),
    "a delete and a repost": ({"ben", "dan"}, (ben_deletes_his_word, dan_passes_the_word_on)),
    "a delete, a repost and a follow": ({"ben"}, (cat_deletes_the_post, ben_passes_it_on_anew, ann_follows_cat)),
    "a repost undone and made anew": (
        {"ben", "dan"},
        (then(ben_takes_it_back, ben_passes_it_on_anew), ann_unfollows_cat),
    ),
    "a follow and an unfollow of the author": ({"ben"}, (then(ann_follows_cat, ann_unfollows_cat), ben_takes_it_back)),
    "a follow, an unfollow and a removal": (set(), (then(ann_follows_ben, ann_unfollows_ben), ben_removes_ann)),
    "an unfollow, a follow and a removal": ({"ben"}, (then(ann_unfollows_ben, ann_follows_ben), ben_removes_ann)),
    "a delivery and a delete": ({"cat"}, (news_come, news_go)),
    "a delivery, done twice, and a delete": ({"cat"}, (news_come, news_come, news_go)),
    "a delivery and a follow": (set(), (news_come, ann_follows_cat)),
    "a delivery and an unfollow": ({"cat"}, (news_come, ann_unfollows_cat)),
    "a delivery of a repost and its end": ({"ben"}, (an_echo_comes, an_echo_goes)),
    "a delivery of a repost and a delete of its original": ({"ben", "cat"}, (an_echo_comes, what_it_echoes_goes)),
    "a delivery of a repost, done twice, and a follow of the author": (
        {"ben"},
        (an_echo_comes, an_echo_comes, ann_follows_cat),
    ),
    "an account deleted and a follow of it": ({"dan"}, (cat_leaves, ann_follows_cat)),
    "an account deleted and a follow that follows an unfollow": (
        {"ben", "cat"},
        (cat_leaves, then(ann_unfollows_cat, ann_follows_cat)),
    ),
    "an account deleted and a follow of who passed on": ({"cat"}, (ben_leaves, ann_follows_ben)),
    "an account deleted and what it does meanwhile": (
        {"ben", "dan"},
        (ben_leaves, then(if_there(ben_passes_it_on_anew), ben_likes_and_remarks), an_echo_comes, news_come),
    ),
    "an account deleted and its posts passed on": (
        {"ben", "dan"},
        (ben_leaves, dan_passes_the_word_on, ann_unfollows_ben),
    ),
    "an account deleted and its followers removed": ({"ben"}, (ben_leaves, ben_removes_ann, ann_unfollows_ben)),
    "two accounts deleted where one follows the other": (
        {"ben", "cat"},
        (ben_leaves, cat_leaves, ben_likes_and_remarks, ann_follows_cat),
    ),
    "everything at once": (
        {"ben", "dan"},
        (
            cat_deletes_the_post,
            then(ben_takes_it_back, ben_passes_it_on_anew, ben_deletes_his_word),
            dan_passes_the_word_on,
            then(ann_unfollows_ben, ann_follows_ben, ann_follows_cat),
        ),
    ),
}


@pytest.mark.parametrize("race", RACES)
async def test_race(services: Services, anonymous: Member, worker: Worker, race: str) -> None:
    """In whatever order the calls of racing requests come, all sides agree once the worker has finished."""
    followed, acts = RACES[race]
    s = await scene(services.db, anonymous, followed)
    photo = await photograph(services.db)
    for order in range(ORDERS):
        await put_back(services.db, photo)
        turns = Turns(services.settings, order)
        await turns.together(*(act(turns, s) for act in acts))
        await work_off(services.db, worker)
        await assert_agreed(services.db, s.members)
