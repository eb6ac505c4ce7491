"""Reads and writes Perch's keys, for the rivals written in Python."""

import asyncio
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jwt
import redis.asyncio as redis

from store import keys
from store.ids import EPOCH, partition
from store.keys.fields import UserField

HOME_SIZE = 800  # Newest entries that a home keeps.
CONNECTIONS = 32  # Connections to the store, as many as Perch has by default. A caller waits for a free one.
FANOUT_INLINE = 1_000  # Followers that get a post before it is answered.
_EPOCH_MS = int(EPOCH.timestamp() * 1000)

_later: set[asyncio.Task[None]] = set()  # Deliveries under way after their posts were answered.
_newest = [0]  # Clock and sequence of the id made last.


class SessionEnded(Exception):
    """The token is genuine, but its session has ended."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """The viewer named by the token."""

    member: int
    session: str


def connect() -> redis.Redis:
    """Return the client of the store that the environment names."""
    # These options took the least processor time: the older protocol, and no time limit, which needs a timer per reply.
    options: dict[str, Any] = {"decode_responses": True, "protocol": 2, "socket_timeout": None}
    pool = redis.BlockingConnectionPool.from_url(
        os.environ["REDIS_URL"], max_connections=CONNECTIONS, timeout=None, **options
    )
    return redis.Redis(connection_pool=pool)


def read_token(header: str) -> Viewer:
    """Return the viewer of a token; raises jwt.PyJWTError for a forged or expired token."""
    claims = jwt.decode(
        header.removeprefix("Bearer "),
        os.environ["SECRET_KEY"],
        algorithms=["HS256"],
        issuer="perch",
        options={"require": ["iss", "sub", "sid", "exp"]},
    )
    return Viewer(int(claims["sub"]), claims["sid"])


def check(session: str | None) -> None:
    """Raise SessionEnded if a stored session has ended."""
    if session is None or json.loads(session)["expires"] <= time.time() * 1000:
        raise SessionEnded


async def publish(db: redis.Redis, viewer: Viewer, text: str) -> int:
    """Write a post and deliver it to the first followers; the others get it afterwards."""
    member = viewer.member
    post = _mint(member)
    async with db.pipeline(transaction=False) as pipeline:
        pipeline.hget(keys.sessions(member), viewer.session)
        pipeline.zrange(keys.followers(member), 0, -1)
        session, followers = await pipeline.execute()
    check(session)
    async with db.pipeline(transaction=False) as pipeline:
        pipeline.hset(keys.status(post), mapping={"author": member, "text": text})
        pipeline.zadd(keys.profile(member), {str(post): post})
        pipeline.hincrby(keys.user(member), UserField.POSTS, 1)
        await pipeline.execute()
    everybody = [member, *map(int, followers)]
    await _deliver(db, post, everybody[:FANOUT_INLINE])
    if len(everybody) > FANOUT_INLINE:
        task = asyncio.create_task(_deliver(db, post, everybody[FANOUT_INLINE:]))
        _later.add(task)
        task.add_done_callback(_later.discard)
    return post


async def _deliver(db: redis.Redis, post: int, members: Sequence[int]) -> None:
    for begin in range(0, len(members), FANOUT_INLINE):
        async with db.pipeline(transaction=False) as pipeline:
            for home in map(keys.home, members[begin : begin + FANOUT_INLINE]):
                pipeline.rpush(home, post)
                pipeline.ltrim(home, -HOME_SIZE, -1)
            await pipeline.execute()


def _mint(member: int) -> int:
    _newest[0] = max((time.time_ns() // 1_000_000 - _EPOCH_MS) * 16, _newest[0] + 1)
    return _newest[0] // 16 * 4096 + partition(member) * 16 + _newest[0] % 16


Hash = dict[str, str]


async def hashes(db: redis.Redis, names: Sequence[str]) -> list[Hash]:
    """Return hashes, all read in one round trip."""
    async with db.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.hgetall(name)
        replies: list[Hash] = await pipeline.execute()
    return replies


Entries = list[tuple[str, int]]  # Entity and place.


def read_home(waiting: str | None, listed: Sequence[str], first: int) -> Entries:
    """Return the newest entries of a home, newest first, and one more where there is one."""
    parts = [entry.partition(":") for entry in listed]
    posts = {int(place or post): post for post, _, place in parts}
    posts |= {int(post): post for post in (waiting or "").split()[1:]}  # not in the list as yet
    return [(posts[place], place) for place in sorted(posts, reverse=True)[: first + 1]]


def read_entries(reply: Sequence[Sequence[Any]]) -> Entries:
    """Return the entries of a sorted set."""
    return [(entity, int(place)) for entity, place in reply]
