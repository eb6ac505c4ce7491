"""Racing acts of a few members, run in every order."""

import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from resolvers.jobs import dispatch
from store import accounts, follows, likes_and_comments, posts
from store.client.database import Database, MemberGone
from store.likes_and_comments import CommentDraft
from store.posts import PostDraft
from store.records.jobs import Job
from store.refusals import accepted
from tests.support.scene import Scene
from tests.support.work import EFFORT

ORDERS = 4 * EFFORT  # orders tried of each race


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
    _, _, job = accepted(await posts.create(db, PostDraft(s.ben, "", original=s.post, original_author=s.cat)))
    await _finish(db, job)


async def dan_passes_the_word_on(db: Database, s: Scene) -> None:
    _, _, job = accepted(await posts.create(db, PostDraft(s.dan, "", original=s.word, original_author=s.ben)))
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
    await _finish(db, accepted(await accounts.delete(db, member, found.password)))


async def ben_leaves(db: Database, s: Scene) -> None:
    await _leaves(db, s.ben)


async def cat_leaves(db: Database, s: Scene) -> None:
    await _leaves(db, s.cat)


async def ben_likes_and_remarks(db: Database, s: Scene) -> None:
    await likes_and_comments.like(db, s.echoed, s.ben)
    accepted(await likes_and_comments.create_comment(db, CommentDraft(s.echoed, s.ben, "a late remark")))


def if_there(act: Act) -> Act:
    """Return an act that may be refused because its member has left."""

    async def tried(db: Database, s: Scene) -> None:
        with contextlib.suppress(MemberGone):
            await act(db, s)

    return tried


def then(*acts: Act) -> Act:
    """Return acts of one member, run one after the other."""

    async def act(db: Database, s: Scene) -> None:
        for one in acts:
            await one(db, s)

    return act
