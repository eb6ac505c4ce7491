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
from store.upkeep.findings import Finding, ask_each

_LISTING = (
    StatusField.AUTHOR,
    StatusField.HIDDEN,
    StatusField.TEXT,
    StatusField.ORIGINAL,
    StatusField.GROUP,
    StatusField.HASHTAGS,
)


class StoredTimeline(Struct, frozen=True):
    """The public timeline or a hashtag's, as the key of its list of posts and the key of its ranking."""

    listed: str
    ranked: str

    @classmethod
    def of(cls, key: str) -> "StoredTimeline":
        """Return the timeline whose list of posts or ranking a key is."""
        if key in {keys.public(), keys.important_public()}:
            return cls(keys.public(), keys.important_public())
        tag = key.partition("{")[2].removesuffix("}")
        return cls(keys.hashtag(tag), keys.important_hashtag(tag))

    def takes(self, hashtags: str) -> bool:
        """Return whether a post with these hashtags, as its record has them, belongs into the timeline."""
        return self.listed == keys.public() or self.listed in map(keys.hashtag, read_hashtags(hashtags))

    def size(self, settings: Settings) -> int:
        """Return the most posts that the timeline may list."""
        return settings.public_size if self.listed == keys.public() else settings.hashtag_size


async def timelines(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each public timeline is bounded, and holds only posts that exist, belong there, and that everybody may see."""
    sizes = {key: StoredTimeline.of(key).size(db.settings) for key in found}
    return [finding for key, size in sizes.items() for finding in await entries(db, key, size)]


async def entries(db: Database, key: str, size: int) -> list[Finding]:
    """Return what is wrong with the posts of a timeline's list or ranking, and with their number. Three round trips."""
    posts = [int(post) for post in await db.one("ZRANGE", key, 0, -1)]
    records = await ask_each(db, {post: [("HMGET", keys.status(post), *_LISTING)] for post in posts})
    away = await apart(db, {int(author) for _, ((author, *_),) in records if author})
    timeline = StoredTimeline.of(key)
    gone, kept, strange = list[int](), list[int](), list[int]()
    for post, ((author, hidden, text, original, group, tags),) in records:
        if author is None:
            gone.append(post)
            continue
        if hidden is not None or int(author) in away:
            kept.append(post)
        if group or not (text or not original) or not timeline.takes(tags or ""):
            strange.append(post)
    found: list[Finding] = []
    if len(posts) > size:
        trim = ("ZREMRANGEBYRANK", key, 0, -size - 1)
        found.append(Finding(key, f"has {len(posts)} entries, at most {size}", [trim]))
    for some, what in (
        (gone, "that are gone"),
        (kept, "that not all may see"),
        (strange, "that do not belong there"),
    ):
        if some:
            found.append(Finding(key, f"has {len(some)} posts {what}", [("ZREM", key, *some)]))
    return found


async def apart(db: Database, members: Iterable[int]) -> set[int]:
    """Return those of some members who are private, suspended or gone. One round trip."""
    flags = (UserField.PRIVATE, UserField.SUSPENDED, UserField.LOGIN)
    return {
        member
        for member, ((private, suspended, login),) in await ask_each(
            db, {member: [("HMGET", keys.user(member), *flags)] for member in members}
        )
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
    sizes = {key: int(size) for key, (size,) in await ask_each(db, {key: [("ZCARD", key)] for key in wanted})}
    looks = {
        key: [
            ("ZRANGE", key, 0, 0, "WITHSCORES"),
            ("ZRANGE", key, sizes[key] // 2, sizes[key] // 2, "WITHSCORES"),
            ("ZMSCORE", key, *posts),
        ]
        for key, posts in wanted.items()
    }
    return {
        key: Coverage(
            sizes[key],
            float(lowest[1]) if lowest else 0.0,
            float(middle[1]) if middle else 0.0,
            {post for post, score in zip(wanted[key], scores, strict=True) if score is not None},
        )
        for key, (lowest, middle, scores) in await ask_each(db, looks)
    }


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


def unrank(timeline: StoredTimeline, posts: Sequence[int]) -> Command:
    """Return the command that removes posts from a timeline's ranking."""
    return ("ZREM", timeline.ranked, *posts)


async def due(db: Database, posts: Sequence[int]) -> set[int]:
    """Return those of some posts that a worker will rescore."""
    looks = {post: [("ZSCORE", keys.rescore(partition(post)), post)] for post in posts}
    return {post for post, (at,) in await ask_each(db, looks) if at is not None}


def rescore(timeline: StoredTimeline, scores: Mapping[int, float]) -> list[Command]:
    """Return the commands that set the scores of posts that are in a timeline's ranking."""
    return [("ZADD", timeline.ranked, "XX", score, post) for post, score in scores.items()]
