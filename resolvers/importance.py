"""Timelines in the order of importance: ranked once, kept as a snapshot, paged through that."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from resolvers import paging
from resolvers.context import Context
from resolvers.entries import TimelineEdge
from resolvers.errors import BadUserInput
from resolvers.paging import Page, Window
from resolvers.rules import ranking
from store import importance
from store.ids import instant
from store.importance import Snapshot
from store.records import Entry
from store.timelines import Slice

_CURSOR = re.compile(r"important-([a-z]+)\.([0-9a-f]{32})\.([0-9a-f]{14})")  # kind of list, snapshot, place in it

Candidates = Callable[[], Awaitable[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list to be ranked: which posts it has, and how it shows them.

    Its kind is in its cursors, kind and name are in the keys of its snapshots: the cursor of another list, or of
    another member's home, leads nowhere.
    """

    kind: str
    name: str
    candidates: Candidates
    show: paging.Present[TimelineEdge]

    def at(self, digest: str) -> Snapshot:
        return Snapshot(digest, f"{self.kind}:{self.name}")


def newest(context: Context, fetch: paging.Fetch) -> Candidates:
    """Return how to read what is ranked of a home: its newest `IMPORTANT_HOME` entries."""

    async def candidates() -> list[int]:
        part = Slice(above=None, below=None, newest_first=True, count=context.settings.important_home)
        return [entry.thing for entry in await fetch(part)]

    return candidates


def best(context: Context, key: str) -> Candidates:
    """Return how to read what is ranked of a timeline all read: the posts with the best scores stored."""

    async def candidates() -> list[int]:
        (reply,) = await context.reader.run([importance.best(key, context.settings.important_size)])
        return [int(post) for post in reply]

    return candidates


async def page(
    context: Context, listing: Listing, *, first: int | None, after: str | None, last: int | None, before: str | None
) -> Page[TimelineEdge]:
    """Return a page of a list, the most important first; raises BadUserInput naming the argument and the rule."""
    for argument, value in (("last", last), ("before", before)):
        if value is not None:
            raise BadUserInput(f"{argument}: the order IMPORTANT pages forward only, with first and after")
    count = paging.window(context.settings, listing.kind, first=first, after=None).count
    if after is None:
        return await _first_page(context, listing, count)
    digest, place = _read_cursor(listing.kind, after)
    return await _read(listing, digest, count, place, _kept(context, listing.at(digest)))


async def _first_page(context: Context, listing: Listing, count: int) -> Page[TimelineEdge]:
    ranked = await _ranked(context, await listing.candidates())
    digest = importance.digest(ranked)

    async def fetch(part: Slice) -> list[Entry]:
        start = _start(part)
        return [Entry(post, place) for place, post in enumerate(ranked[start : start + part.count], start)]

    # Where all is on one page there is nothing to go on to, and nothing is kept.
    keep = [importance.keep(listing.at(digest), ranked)] if len(ranked) > count else []
    shown: Page[TimelineEdge]
    shown, _ = await asyncio.gather(_read(listing, digest, count, None, fetch), context.reader.run(keep))
    return shown


async def _ranked(context: Context, posts: Sequence[int]) -> list[int]:
    """Return posts by what their numbers are now, whatever score is stored; without those that are gone."""
    found = [importance.read_counts(reply) for reply in await context.reader.run([importance.counts(p) for p in posts])]
    numbers = {post: counts for post, counts in zip(posts, found, strict=True) if counts}
    return ranking.best_first({post: ranking.score(instant(post), **counts) for post, counts in numbers.items()})


async def _read(
    listing: Listing, digest: str, count: int, after: int | None, fetch: paging.Fetch
) -> Page[TimelineEdge]:
    # Places in a ranking grow downwards, as ids do in a list that is read from its oldest entry.
    kind = f"important-{listing.kind}.{digest}"
    asked = Window(kind, count, after=after, before=None, forward=True, descending=False)

    async def present(entries: Sequence[Entry]) -> list[TimelineEdge | None]:
        edges = await listing.show(entries)
        return [
            edge and replace(edge, cursor=paging.cursor(kind, entry.place))
            for entry, edge in zip(entries, edges, strict=True)
        ]

    async def goes_on() -> bool:
        return True  # behind a cursor stands the entry it was given for

    return await paging.page(asked, fetch, present, goes_on=goes_on)


def _kept(context: Context, at: Snapshot) -> paging.Fetch:
    async def fetch(part: Slice) -> list[Entry]:
        start = _start(part)
        posts = importance.read_kept(*await context.reader.run(importance.kept(at, start, part.count)))
        if posts is None:
            raise BadUserInput("after: the ranking this cursor belongs to has expired; begin with the first page again")
        return [Entry(post, place) for place, post in enumerate(posts, start)]

    return fetch


def _start(part: Slice) -> int:
    return 0 if part.above is None else part.above + 1


def _read_cursor(kind: str, text: str) -> tuple[str, int]:
    found = _CURSOR.fullmatch(text)
    if found is None or found[1] != kind:
        raise BadUserInput("after: this cursor does not belong to this list in the order IMPORTANT")
    return found[2], int(found[3], 16)
