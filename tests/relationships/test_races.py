"""Writes that race: their calls run in any order, and all sides agree in the end."""

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.racing import (
    ORDERS,
    Act,
    an_echo_comes,
    an_echo_goes,
    ann_follows_ben,
    ann_follows_cat,
    ann_unfollows_ben,
    ann_unfollows_cat,
    ben_deletes_his_word,
    ben_leaves,
    ben_likes_and_remarks,
    ben_passes_it_on_anew,
    ben_removes_ann,
    ben_takes_it_back,
    cat_deletes_the_post,
    cat_leaves,
    dan_passes_the_word_on,
    if_there,
    news_come,
    news_go,
    then,
    what_it_echoes_goes,
)
from tests.support.scene import assert_agreed, scene
from tests.support.work import Turns, photograph, put_back, work_off


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Batches of one follower, so that other calls run in between."""
    return shrunk(settings, fanout_batch=1)


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
    """The calls of racing requests run in any order, and all sides agree once the worker has finished."""
    followed, acts = RACES[race]
    s = await scene(services.db, anonymous, followed)
    photo = await photograph(services.db)
    for order in range(ORDERS):
        await put_back(services.db, photo)
        turns = Turns(services.settings, order)
        await turns.together(*(act(turns, s) for act in acts))
        await work_off(services.db, worker)
        await assert_agreed(services.db, s.members)
