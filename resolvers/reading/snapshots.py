"""Ranked lists: the first page ranks and stores a snapshot, and the next pages read from it."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from msgspec.structs import replace

from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput
from resolvers.reading import paging
from resolvers.reading.home_edges import TimelineEdge
from resolvers.reading.paging import NodeEdge, Page, Window
from store import snapshots
from store.client.database import Command, CommandRefused
from store.groups.records import Group
from store.moderation.records import Report
from store.records.lists import Entry
from store.records.members import User
from store.snapshots import Snapshot
from store.timelines import Slice

_CURSOR = re.compile(r"([a-z-]+)\.([0-9a-f]{32})\.([0-9a-f]{14})")  # kind of list, snapshot, place in the snapshot

Edge = TypeVar("Edge", TimelineEdge, NodeEdge[User], NodeEdge[Group], NodeEdge[Report])


@dataclass(frozen=True, slots=True)
class Listing(Generic[Edge]):
    """A ranked list: `rank` returns its ids, best first, and `show` makes edges of entries.

    Cursors contain the kind, and keys of snapshots contain kind and name. So a cursor of another list, or of another
    member's home, does not work here.
    """

    kind: str
    name: str
    rank: Callable[[], Awaitable[Sequence[int]]]
    show: paging.Present[Edge]

    def at(self, digest: str) -> Snapshot:
        return Snapshot(digest, f"{self.kind}:{self.name}")


async def page(context: Context, listing: Listing[Edge], first: int | None, after: str | None) -> Page[Edge]:
    """Return a page of a ranked list; raises BadUserInput, which names the argument and the rule."""
    count = paging.window(context.settings, listing.kind, first=first).count
    if after is None:
        return await _first_page(context, listing, count)
    digest, place = _read_cursor(listing.kind, after)
    return await _read(listing, digest, count, place, _kept(context, listing.at(digest)))


async def _first_page(context: Context, listing: Listing[Edge], count: int) -> Page[Edge]:
    ranked = await listing.rank()
    digest = snapshots.digest(ranked)

    async def fetch(part: Slice) -> list[Entry]:
        start = _start(part)
        return [Entry(entity, place) for place, entity in enumerate(ranked[start : start + part.count], start)]

    # A list that fits on one page has no next page, so it needs no snapshot.
    keep = [snapshots.keep(listing.at(digest), ranked)] if len(ranked) > count else []
    shown: Page[Edge]
    shown, _ = await asyncio.gather(_read(listing, digest, count, None, fetch), _keep(context, keep))
    return shown


async def _keep(context: Context, keep: Sequence[Command]) -> None:
    # While the database accepts no writes, the first page is still served. Its cursors are then refused as expired.
    with contextlib.suppress(CommandRefused):
        await context.batcher.run(keep)


async def _read(listing: Listing[Edge], digest: str, count: int, after: int | None, fetch: paging.Fetch) -> Page[Edge]:
    # Places in a ranking grow towards its end, like ids in a list that is read from its oldest entry.
    kind = f"{listing.kind}.{digest}"
    asked = Window(kind, count, after=after, before=None, forward=True, descending=False)

    async def present(entries: Sequence[Entry]) -> list[Edge | None]:
        edges = await listing.show(entries)
        return [
            edge and replace(edge, cursor=paging.cursor(kind, entry.place))
            for entry, edge in zip(entries, edges, strict=True)
        ]

    async def goes_on() -> bool:
        return True  # the cursor's own entry is behind it

    return await paging.page(asked, fetch, present, goes_on=goes_on)


def _kept(context: Context, at: Snapshot) -> paging.Fetch:
    async def fetch(part: Slice) -> list[Entry]:
        start = _start(part)
        entities = snapshots.read_kept(*await context.batcher.run(snapshots.kept(at, start, part.count)))
        if entities is None:
            raise BadUserInput("after: the ranking this cursor belongs to has expired; begin with the first page again")
        return [Entry(entity, place) for place, entity in enumerate(entities, start)]

    return fetch


def _start(part: Slice) -> int:
    return 0 if part.above is None else part.above + 1


def _read_cursor(kind: str, text: str) -> tuple[str, int]:
    match = _CURSOR.fullmatch(text)
    if match is None or match[1] != kind:
        raise BadUserInput("after: this cursor does not belong to this list in this order")
    return match[2], int(match[3], 16)
