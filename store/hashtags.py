"""Hashtags: the uses of each in an hour, and the number of posts that carry it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from store import keys
from store.client.database import Command, Database, script
from store.ids import first_of, instant
from store.records.lists import read_pairs


async def count_uses(db: Database, made: Iterable[tuple[int, Sequence[str]]]) -> None:
    """Count the tags of new posts in the hours in which the posts were created."""
    await db.ask(*count_uses_commands(made))


def count_uses_commands(made: Iterable[tuple[int, Sequence[str]]]) -> list[Command]:
    """Return the commands that count the tags of new posts.

    A post that is counted twice does no harm: the counts only select the tags that are worth a closer look.
    """
    hours: dict[int, Counter[str]] = defaultdict(Counter)
    for post, tags in made:
        hours[hour_of(instant(post))].update(dict.fromkeys(tags, 1))
    return [
        script(
            "count_uses",
            uses=keys.tag_uses(hour),
            tags_kept=keys.TAGS_KEPT,
            ttl=keys.TAG_USES_SECONDS,
            counts=[part for pair in uses.items() for part in pair],
        )
        for hour, uses in hours.items()
        if uses
    ]


async def forget_unused(db: Database, post: int, tags: Sequence[str]) -> None:
    """Remove a deleted post's tags from the counts of its hour, unless other posts of that hour carry them.

    Two round trips at most, none without tags. A post that is counted between the two loses a use, which does no harm.
    """
    hour = hour_of(instant(post))
    since, until = first_of(_start_of(hour)), first_of(_start_of(hour + 1))
    left = await db.ask(*(("ZCOUNT", keys.hashtag(tag), since, f"({until}") for tag in tags)) if tags else []
    if unused := [tag for tag, count in zip(tags, left, strict=True) if not count]:
        await db.one("ZREM", keys.tag_uses(hour), *unused)


def post_count(tag: str) -> Command:
    """Return the command that counts the posts with a tag that its timeline keeps."""
    return ("ZCARD", keys.hashtag(tag))


def hour_of(moment: datetime) -> int:
    """Return the hour of a moment, as hours since 1970."""
    return int(moment.timestamp()) // 3600


def _start_of(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * 3600, UTC)


def most_used(hour: int, count: int) -> Command:
    """Return the command that reads the most used tags of an hour."""
    return ("ZRANGE", keys.tag_uses(hour), 0, count - 1, "REV", "WITHSCORES")


def read_most_used(reply: Sequence[str]) -> dict[str, int]:
    """Return the number of uses of each tag, from the reply to `most_used`."""
    return {tag: int(uses) for tag, uses in read_pairs(reply).items()}


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a tag's timeline: its posts, those since a moment, those of a period before, and the oldest's id."""

    total: int
    recent: int
    earlier: int
    oldest: int | None


FIGURES = 4  # commands of `figures`


def figures(tag: str, recent: datetime, earlier: datetime) -> list[Command]:
    """Return the commands that read the figures of a tag; they find posts by time, as ids contain it."""
    key, since = keys.hashtag(tag), first_of(recent)
    return [
        ("ZCARD", key),
        ("ZCOUNT", key, since, "+inf"),
        ("ZCOUNT", key, first_of(earlier), f"({since}"),
        ("ZRANGE", key, 0, 0),
    ]


def read_figures(total: int, recent: int, earlier: int, oldest: Sequence[str]) -> Figures:
    """Return the figures of a tag from the replies to the commands of `figures`."""
    return Figures(total, recent, earlier, int(oldest[0]) if oldest else None)
