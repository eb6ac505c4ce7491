"""Posting as in chapter 8 of *Redis in Action*, as most beginners write it: with redis-py and without an event loop.

A post is a hash whose id is taken from a counter. It is added to the profile of its author, then to the homes of the
followers in passes of a thousand. Each home is trimmed at once. The first pass runs before the call returns, and a
worker runs the other passes from a queue.

Three things that don't work today, or never did, are repaired. The arguments of some commands have changed. Each pass
began with the last follower of the one before. The worker is not part of the chapter.

A crash between two commands leaves a post half delivered. A follow that ends during delivery still adds posts to the
home. Perch has neither fault, and its figures include the cost of that.

Members, followers, posts and profiles are Perch's. Homes are sorted sets of their own, as in the book.
"""

import json
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import redis

from store import keys
from store.keys.fields import UserField

PASS = 1_000  # followers
HOME_SIZE = 800
COUNTER = "status:id:"
QUEUE = "queue:default"

HomeKey: TypeAlias = Callable[[int], str]  # member → key of their home


def home_as_listpack(member: int) -> str:
    """Return the key of a member's home that the store keeps as a listpack."""
    return f"book-home:{member}"


def home_as_skip_list(member: int) -> str:
    """Return the key of a member's home that the store keeps as a skip list."""
    return f"book-skip-list:{member}"


def post_status(db: redis.Redis, member: int, message: str, home: HomeKey) -> int:
    """Publish a post and deliver it to the first followers; returns its id."""
    status = _create(db, member, message)
    db.zadd(keys.profile(member), {str(status): status})
    _syndicate(db, member, status, "-inf", home)
    return status


def work_off(db: redis.Redis, home: HomeKey) -> None:
    """Make the passes that are queued."""
    while queued := db.lpop(QUEUE):
        member, status, start = json.loads(str(queued))
        _syndicate(db, member, status, start, home)


def _create(db: redis.Redis, member: int, message: str) -> int:
    with db.pipeline() as pipeline:
        pipeline.hget(keys.user(member), UserField.LOGIN)
        pipeline.incr(COUNTER)
        login, status = pipeline.execute()
    with db.pipeline() as pipeline:
        fields = ["text", message, "posted", time.time(), "id", status, "author", member, "login", login]
        pipeline.hset(keys.status(status), items=fields)
        pipeline.hincrby(keys.user(member), UserField.POSTS, 1)
        pipeline.execute()
    return int(status)


def _syndicate(db: redis.Redis, member: int, status: int, start: str, home: HomeKey) -> None:
    followers: Any = db.zrangebyscore(keys.followers(member), start, "+inf", start=0, num=PASS, withscores=True)
    with db.pipeline(transaction=False) as pipeline:
        for follower, _ in followers:
            pipeline.zadd(home(follower), {str(status): status})
            pipeline.zremrangebyrank(home(follower), 0, -1 - HOME_SIZE)
        pipeline.execute()
    if len(followers) == PASS:
        db.rpush(QUEUE, json.dumps([member, status, f"({int(followers[-1][1])}"]))
