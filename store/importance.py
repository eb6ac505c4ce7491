"""Ranking: stored scores of posts, and posts whose score is due to be computed again."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from store import keys
from store.client.database import Command, Database, script
from store.ids import PARTITIONS, partition
from store.keys.fields import StatusField
from store.records.lists import read_pairs
from store.records.posts import Post, read_post

COUNTERS = (
    StatusField.LIKES,
    StatusField.REPOSTS,
    StatusField.QUOTES,
    StatusField.COMMENTS,
)  # a score is computed from these and the post's age

_TAKEN = 32  # due posts taken per partition and call
_LEASE_MS = 10_000  # ms after which another worker may take a leased post


@dataclass(frozen=True, slots=True)
class Due:
    """A post whose score is due, leased to one worker. `lease` is in ms since 1970."""

    post: int
    lease: int


async def take_due(db: Database) -> list[Due]:
    """Return posts whose counters changed at least a second ago, now leased to the caller. Two round trips."""
    # Reading the first entry costs a fraction of the script, and usually nothing is due.
    (seconds, micros), *first = await db.ask(
        ("TIME",), *(("ZRANGE", keys.rescore(p), 0, 0, "WITHSCORES") for p in range(PARTITIONS))
    )
    now = int(seconds) * 1000 + int(micros) // 1000
    due = [p for p, reply in enumerate(first) if reply and int(reply[1]) <= now]
    replies = await db.ask(*(script("take_rescores", partition=p, limit=_TAKEN, lease_time=_LEASE_MS) for p in due))
    return [Due(int(post), int(lease)) for reply in replies for post, lease in read_pairs(reply).items()]


async def finish(db: Database, due: Sequence[Due]) -> None:
    """Release posts whose scores have been stored. Posts that changed meanwhile stay due."""
    groups: dict[int, list[int]] = defaultdict(list)
    for one in due:
        groups[partition(one.post)] += [one.post, one.lease]
    await db.ask(*(script("finish_rescores", partition=p, leases=leases) for p, leases in groups.items()))


async def posts(db: Database, ids: Sequence[int]) -> list[Post]:
    """Return the existing posts among some ids."""
    replies = await db.ask(*(("HGETALL", keys.status(post_id)) for post_id in ids))
    posts_read = [read_post(post_id, read_pairs(reply)) for post_id, reply in zip(ids, replies, strict=True)]
    return [post for post in posts_read if post]


async def rank(db: Database, scored: Sequence[tuple[Post, float]]) -> None:
    """Store the scores of posts in the rankings of the public timeline and of their tags' timelines that list them."""
    size = db.settings.important_size
    await db.ask(
        *(
            script("rank", timeline=timeline, ranking=ranking, post=post.id, score=score, ranking_size=size)
            for post, score in scored
            for timeline, ranking in keys.ranked_lists(post.hashtags)
        )
    )


def best(key: str, count: int) -> Command:
    """Return the command that reads the best posts of a ranking."""
    return ("ZRANGE", key, 0, count - 1, "REV")


def counts(post: int) -> Command:
    """Return the command that reads the counters of a post's score."""
    return ("HMGET", keys.status(post), StatusField.AUTHOR, *COUNTERS)


def read_counts(reply: Sequence[str | None]) -> dict[str, int] | None:
    """Return the counters of a post by name, None when it is gone."""
    author, *numbers = reply
    if author is None:
        return None
    return {name: int(number or 0) for name, number in zip(COUNTERS, numbers, strict=True)}
