"""Hashtags: how often each was used in an hour, and how many posts carry it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from store import keys
from store.client.database import Command, Database, script
from store.ids import first_of, instant
from store.records import read_pairs

USES_SECONDS = 8 * 3600  # s: how long the uses in an hour are kept
TAGS_KEPT = 10_000  # tags kept of an hour, once there are twice as many


async def count_uses(db: Database, made: Iterable[tuple[int, Sequence[str]]]) -> None:
    """Count the tags of new posts in the hours these were made in."""
    await db.ask(*count_uses_commands(made))


def count_uses_commands(made: Iterable[tuple[int, Sequence[str]]]) -> list[Command]:
    """Return the commands that count the tags of new posts; a post counted twice does no harm.

    The numbers only tell which tags are worth looking at.
    """
    hours: dict[int, Counter[str]] = defaultdict(Counter)
    for post, tags in made:
        hours[hour_of(instant(post))].update(dict.fromkeys(tags, 1))
    return [
        script(
            "count_uses",
            [keys.tag_uses(hour)],
            [TAGS_KEPT, USES_SECONDS, *(part for pair in uses.items() for part in pair)],
        )
        for hour, uses in hours.items()
        if uses
    ]


def hour_of(moment: datetime) -> int:
    """Return the number of an hour, since 1970."""
    return int(moment.timestamp()) // 3600


def most_used(hour: int, count: int) -> Command:
    """Return the command that reads the tags used most in an hour."""
    return ("ZRANGE", keys.tag_uses(hour), 0, count - 1, "REV", "WITHSCORES")


def read_most_used(reply: Sequence[str]) -> dict[str, int]:
    """Return tags and how often each was used."""
    return {tag: int(uses) for tag, uses in read_pairs(reply).items()}


@dataclass(frozen=True, slots=True)
class Figures:
    """What the timeline of a tag holds: all posts, those since a moment, those of a time before, the oldest's id."""

    total: int
    recent: int
    earlier: int
    oldest: int | None


FIGURES = 4  # commands of `figures`


def figures(tag: str, recent: datetime, earlier: datetime) -> list[Command]:
    """Return the commands that read the figures of a tag: ids of posts name their time."""
    key, since = keys.hashtag(tag), first_of(recent)
    return [
        ("ZCARD", key),
        ("ZCOUNT", key, since, "+inf"),
        ("ZCOUNT", key, first_of(earlier), f"({since}"),
        ("ZRANGE", key, 0, 0),
    ]


def read_figures(total: int, recent: int, earlier: int, oldest: Sequence[str]) -> Figures:
    """Return the figures that the commands have read."""
    return Figures(total, recent, earlier, int(oldest[0]) if oldest else None)
