"""The public timeline and the timelines of hashtags, each with its ranking."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.ids import partition
from store.keys.fields import StatusField, UserField
from store.public_timelines import list_command
from store.records.lists import read_pairs
from store.records.posts import read_hashtags
from store.settings import Settings

_LISTING = (
    StatusField.AUTHOR,
    StatusField.HIDDEN,
    StatusField.TEXT,
    StatusField.ORIGINAL,
    StatusField.GROUP,
    StatusField.HASHTAGS,
)
_HASHTAG, _IMPORTANT_HASHTAG = (key("").removesuffix("}") for key in (keys.hashtag, keys.important_hashtag))


class StoredTimeline(Struct, frozen=True):
    """The public timeline or a hashtag's, as the key of its list of posts and the key of its ranking."""

    listed: str
    ranked: str

    @classmethod
    def listed_in(cls, key: str) -> "StoredTimeline | None":
        """Return the timeline whose list of posts a key is, None for any other key."""
        if key == keys.public():
            return cls(key, keys.important_public())
        return cls._of_tag(key, _HASHTAG) if key.startswith(_HASHTAG) else None

    @classmethod
    def ranked_in(cls, key: str) -> "StoredTimeline | None":
        """Return the timeline whose ranking a key is, None for any other key."""
        if key == keys.important_public():
            return cls(keys.public(), key)
        return cls._of_tag(key, _IMPORTANT_HASHTAG) if key.startswith(_IMPORTANT_HASHTAG) else None

    @classmethod
    def _of_tag(cls, key: str, prefix: str) -> "StoredTimeline":
        tag = key.removeprefix(prefix).removesuffix("}")
        return cls(keys.hashtag(tag), keys.important_hashtag(tag))

    def takes(self, hashtags: str) -> bool:
        """Return whether a post with these hashtags, as its record has them, belongs into the timeline."""
        return self.listed == keys.public() or self.listed in map(keys.hashtag, read_hashtags(hashtags))

    def size(self, settings: Settings) -> int:
        """Return the most posts that the timeline may list."""
        return settings.public_size if self.listed == keys.public() else settings.hashtag_size


class ListedPost(Struct, frozen=True):
    """A post that a timeline lists, with what decides whether it belongs there."""

    id: int
    exists: bool
    is_seen_by_all: bool  # neither hidden nor by an author who is private or suspended
    is_here: bool  # no plain repost, in no group, and with the timeline's hashtag


async def entries(db: Database, key: str) -> list[ListedPost]:
    """Return the posts of a timeline's list or ranking. Three round trips."""
    posts = [int(post) for post in await db.one("ZRANGE", key, 0, -1)]
    records = await db.ask(*(("HMGET", keys.status(post), *_LISTING) for post in posts))
    away = await apart(db, {int(author) for author, *_ in records if author})
    timeline = StoredTimeline.listed_in(key) or StoredTimeline.ranked_in(key)
    return [
        ListedPost(
            post,
            author is not None,
            hidden is None and author is not None and int(author) not in away,
            bool(text or not original) and not group and (timeline is None or timeline.takes(tags or "")),
        )
        for post, (author, hidden, text, original, group, tags) in zip(posts, records, strict=True)
    ]


async def apart(db: Database, members: Iterable[int]) -> set[int]:
    """Return those of some members who are private, suspended or gone. One round trip."""
    asked = list(members)
    flags = (UserField.PRIVATE, UserField.SUSPENDED, UserField.LOGIN)
    states = await db.ask(*(("HMGET", keys.user(member), *flags) for member in asked))
    return {
        member
        for member, (private, suspended, login) in zip(asked, states, strict=True)
        if private or suspended or login is None
    }


class Coverage(Struct, frozen=True):
    """How far down a list goes that should have the newest or best of something: its size, and its score at a rank."""

    size: int
    lowest: float
    middle: float
    has: set[int]  # those of the posts that were asked for


async def coverage(db: Database, wanted: Mapping[str, Sequence[int]]) -> dict[str, Coverage]:
    """Return how far down some lists go, by key, and which of some posts each has. Two round trips."""
    sizes = list(map(int, await db.ask(*(("ZCARD", key) for key in wanted))))
    replies = iter(
        await db.ask(
            *(
                command
                for (key, posts), size in zip(wanted.items(), sizes, strict=True)
                for command in (
                    ("ZRANGE", key, 0, 0, "WITHSCORES"),
                    ("ZRANGE", key, size // 2, size // 2, "WITHSCORES"),
                    ("ZMSCORE", key, *posts),
                )
            )
        )
    )
    return {
        key: Coverage(
            size,
            float(lowest[1]) if lowest else 0.0,
            float(middle[1]) if middle else 0.0,
            {post for post, score in zip(posts, scores, strict=True) if score is not None},
        )
        for (key, posts), size, lowest, middle, scores in zip(wanted.items(), sizes, *[replies] * 3, strict=True)
    }


def trim_entries(key: str, size: int) -> Command:
    """Return the command that keeps the newest posts of a timeline's list, or the best of its ranking."""
    return ("ZREMRANGEBYRANK", key, 0, -size - 1)


def remove_entries(key: str, posts: Sequence[int]) -> Command:
    """Return the command that removes posts from a timeline's list or ranking."""
    return ("ZREM", key, *posts)


def trim(db: Database, timeline: StoredTimeline) -> Command:
    """Return the command that trims a timeline and its ranking; its reply is the number of entries removed."""
    return list_command(db, (timeline.listed, timeline.ranked), ())


def timelines_of(hashtags: Iterable[str]) -> list[StoredTimeline]:
    """Return the timelines that everybody reads and that a public post with some hashtags is in."""
    return [StoredTimeline(*lists) for lists in keys.ranked_lists(hashtags)]


def add(db: Database, timeline: StoredTimeline, post: int, score: float) -> Command:
    """Return the command that adds a post to a timeline and to its ranking, and trims both."""
    return list_command(db, (timeline.listed, timeline.ranked), [(post, score)])


async def scores(db: Database, timeline: StoredTimeline) -> dict[int, float]:
    """Return the scores of the posts in a timeline's ranking."""
    reply = await db.one("ZRANGE", timeline.ranked, 0, -1, "WITHSCORES")
    return {int(post): float(score) for post, score in read_pairs(reply).items()}


async def unlisted(db: Database, timeline: StoredTimeline, posts: Sequence[int]) -> list[int]:
    """Return those of some posts that a timeline does not list. `posts` must not be empty."""
    places = await db.one("ZMSCORE", timeline.listed, *posts)
    return [post for post, place in zip(posts, places, strict=True) if place is None]


async def due(db: Database, posts: Sequence[int]) -> set[int]:
    """Return those of some posts that a worker will rescore."""
    found = await db.ask(*(("ZSCORE", keys.rescore(partition(post)), post) for post in posts))
    return {post for post, at in zip(posts, found, strict=True) if at is not None}


def rescore(timeline: StoredTimeline, scores: Mapping[int, float]) -> list[Command]:
    """Return the commands that set the scores of posts that are in a timeline's ranking."""
    return [("ZADD", timeline.ranked, "XX", score, post) for post, score in scores.items()]
