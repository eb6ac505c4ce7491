"""Hashtags: one by its name, and the trending ones."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from resolvers.operation.context import Context
from resolvers.reading import paging
from resolvers.rules import trending as rule
from resolvers.rules.text import hashtag_name
from resolvers.rules.trending import BEFORE, RECENT, Uses
from store import hashtags
from store.hashtags import Figures
from store.ids import instant

CANDIDATES = 200  # tags that are ranked: those used most in the last hours


@dataclass(frozen=True, slots=True)
class Hashtag:
    """A tag of at least one existing post."""

    name: str
    post_count: int


async def hashtag(context: Context, name: str) -> Hashtag | None:
    """Return the hashtag with a name, given with or without its sign; None if no kept post has it."""
    tag = hashtag_name(name)
    if tag is None:
        return None
    (count,) = await context.batcher.run([hashtags.post_count(tag)])
    return Hashtag(tag, int(count)) if count else None


async def trending(context: Context, first: int | None, now: datetime) -> list[Hashtag]:
    """Return the tags that are used more than usual, the most unusual first.

    Hourly counts of uses choose the candidates. Current counts of the tags' timelines, which exclude deleted and hidden
    posts, rank them. Two round trips; raises BadUserInput.
    """
    count = paging.window(context.settings, "trending", first=first).count
    tags = await _candidates(context, now)
    recent = now - RECENT
    replies = await context.batcher.run([c for tag in tags for c in hashtags.figures(tag, recent, recent - BEFORE)])
    rows = [replies[i : i + hashtags.FIGURES] for i in range(0, len(replies), hashtags.FIGURES)]
    figures = {tag: hashtags.read_figures(*row) for tag, row in zip(tags, rows, strict=True)}
    uses = {tag: _uses(found, recent, context.settings.hashtag_size) for tag, found in figures.items()}
    return [Hashtag(tag, figures[tag].total) for tag in rule.best(uses, count)]


async def _candidates(context: Context, now: datetime) -> Sequence[str]:
    hours = range(hashtags.hour_of(now - RECENT), hashtags.hour_of(now) + 1)
    used = Counter[str]()
    for reply in await context.batcher.run([hashtags.most_used(hour, CANDIDATES) for hour in hours]):
        used.update(hashtags.read_most_used(reply))
    return [tag for tag, _ in used.most_common(CANDIDATES)]


def _uses(found: Figures, recent: datetime, size: int) -> Uses:
    # A full timeline has been trimmed, so uses before its oldest post are not known.
    if found.oldest is None or found.total < size:
        return Uses(found.recent, found.earlier)
    return Uses(found.recent, found.earlier, min(recent - instant(found.oldest), BEFORE))
