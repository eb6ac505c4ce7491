"""The public timeline and the timelines of hashtags, each with its ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.ids import partition
from store.keys.fields import StatusField, UserField
from store.public_timelines import list_command
from store.records import read_pairs
from store.settings import Settings

_HASHTAG, _IMPORTANT_HASHTAG = (key("").removesuffix("}") for key in (keys.hashtag, keys.important_hashtag))


class Timeline(Struct, frozen=True):
    """The public timeline or a hashtag's, as the key of its list of posts and the key of its ranking."""

    listed: str
    ranked: str

    @classmethod
    def listed_in(cls, key: str) -> Timeline | None:
        """Return the timeline whose list of posts a key is, None for any other key."""
        if key == keys.public():
            return cls(key, keys.important_public())
        return cls._of_tag(key, _HASHTAG) if key.startswith(_HASHTAG) else None

    @classmethod
    def ranked_in(cls, key: str) -> Timeline | None:
        """Return the timeline whose ranking a key is, None for any other key."""
        if key == keys.important_public():
            return cls(keys.public(), key)
        return cls._of_tag(key, _IMPORTANT_HASHTAG) if key.startswith(_IMPORTANT_HASHTAG) else None

    @classmethod
    def _of_tag(cls, key: str, prefix: str) -> Timeline:
        tag = key.removeprefix(prefix).removesuffix("}")
        return cls(keys.hashtag(tag), keys.important_hashtag(tag))

    def size(self, settings: Settings) -> int:
        """Return the most posts that the timeline may list."""
        return settings.public_size if self.listed == keys.public() else settings.hashtag_size


class ListedPost(Struct, frozen=True):
    """A post that a timeline lists, with what decides whether everybody may see it."""

    id: int
    exists: bool
    is_hidden: bool
    is_author_apart: bool  # private or suspended


async def entries(db: Database, key: str) -> list[ListedPost]:
    """Return the posts of a timeline's list or ranking. Three round trips."""
    posts = [int(post) for post in await db.one("ZRANGE", key, 0, -1)]
    records = await db.ask(*(("HMGET", keys.status(post), StatusField.AUTHOR, StatusField.HIDDEN) for post in posts))
    authors = list({int(author) for author, _ in records if author})
    states = await db.ask(*(("HMGET", keys.user(a), UserField.PRIVATE, UserField.SUSPENDED) for a in authors))
    apart = {author for author, state in zip(authors, states, strict=True) if any(state)}
    return [
        ListedPost(post, author is not None, hidden is not None, author is not None and int(author) in apart)
        for post, (author, hidden) in zip(posts, records, strict=True)
    ]


def trim_entries(key: str, size: int) -> Command:
    """Return the command that keeps the newest posts of a timeline's list, or the best of its ranking."""
    return ("ZREMRANGEBYRANK", key, 0, -size - 1)


def remove_entries(key: str, posts: Sequence[int]) -> Command:
    """Return the command that removes posts from a timeline's list or ranking."""
    return ("ZREM", key, *posts)


def trim(db: Database, timeline: Timeline) -> Command:
    """Return the command that trims a timeline and its ranking; its reply is the number of entries removed."""
    return list_command(db, (timeline.listed, timeline.ranked), ())


async def scores(db: Database, timeline: Timeline) -> dict[int, float]:
    """Return the scores of the posts in a timeline's ranking."""
    reply = await db.one("ZRANGE", timeline.ranked, 0, -1, "WITHSCORES")
    return {int(post): float(score) for post, score in read_pairs(reply).items()}


async def unlisted(db: Database, timeline: Timeline, posts: Sequence[int]) -> list[int]:
    """Return those of some posts that a timeline does not list. `posts` must not be empty."""
    places = await db.one("ZMSCORE", timeline.listed, *posts)
    return [post for post, place in zip(posts, places, strict=True) if place is None]


async def due(db: Database, posts: Sequence[int]) -> set[int]:
    """Return those of some posts that a worker will rescore."""
    found = await db.ask(*(("ZSCORE", keys.rescore(partition(post)), post) for post in posts))
    return {post for post, at in zip(posts, found, strict=True) if at is not None}


def rescore(timeline: Timeline, scores: Mapping[int, float]) -> list[Command]:
    """Return the commands that set the scores of posts that are in a timeline's ranking."""
    return [("ZADD", timeline.ranked, "XX", score, post) for post, score in scores.items()]
