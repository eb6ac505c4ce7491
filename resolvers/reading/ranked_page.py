"""Timelines in order of importance: the candidates of each timeline, and their ranking."""

from collections.abc import Awaitable, Callable, Sequence

from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput
from resolvers.reading import paging, snapshots
from resolvers.reading.home_edges import TimelineEdge
from resolvers.reading.paging import Page
from resolvers.rules import ranking
from store import importance
from store.ids import instant
from store.timelines import Slice

Candidates = Callable[[], Awaitable[Sequence[int]]]


def newest(context: Context, fetch: paging.Fetch) -> Candidates:
    """Return a function that reads a home's candidates: its newest `IMPORTANT_HOME` entries."""

    async def candidates() -> list[int]:
        part = Slice(above=None, below=None, newest_first=True, count=context.settings.important_home)
        return [entry.entity for entry in await fetch(part)]

    return candidates


def best(context: Context, key: str) -> Candidates:
    """Return a function that reads the candidates of a tag or the public timeline: the best stored scores."""

    async def candidates() -> list[int]:
        (reply,) = await context.batcher.run([importance.best(key, context.settings.important_size)])
        return [int(post) for post in reply]

    return candidates


def listing(
    context: Context, kind: str, name: str, candidates: Candidates, show: paging.Present[TimelineEdge]
) -> snapshots.Listing[TimelineEdge]:
    """Return the ranked list of a timeline in order of importance."""

    async def rank() -> list[int]:
        return await _ranked(context, await candidates())

    return snapshots.Listing(f"important-{kind}", name, rank, show)


async def page(
    context: Context,
    of: snapshots.Listing[TimelineEdge],
    *,
    first: int | None,
    after: str | None,
    last: int | None,
    before: str | None,
) -> Page[TimelineEdge]:
    """Return a page, most important first; raises BadUserInput, which names the argument and the rule."""
    for argument, value in (("last", last), ("before", before)):
        if value is not None:
            raise BadUserInput(f"{argument}: the order IMPORTANT pages forward only, with first and after")
    return await snapshots.page(context, of, first, after)


async def _ranked(context: Context, posts: Sequence[int]) -> list[int]:
    """Return posts ranked by their current counts, not by stored scores; without deleted posts."""
    counters = [
        importance.read_counts(reply) for reply in await context.batcher.run([importance.counts(p) for p in posts])
    ]
    numbers = {post: counts for post, counts in zip(posts, counters, strict=True) if counts}
    return ranking.best_first({post: ranking.score(instant(post), **counts) for post, counts in numbers.items()})
