"""Keyset pagination: cursors are ids of scanned entries, so that a page never repeats or skips an entry."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from msgspec import Struct

from resolvers.loading.dataloader import DataLoader
from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput
from store.ids import LARGEST, instant
from store.records.lists import Entry, read_entries
from store.settings import Settings
from store.timelines import Slice, newest_of, probe, read_slice

DEFAULT_PAGE = 20
REFILLS = 2  # more reads for a page that filtering has shortened; after these it stays short
_BYTES = 7  # for the 53 bits of an id
_DIGITS = 2 * _BYTES  # hexadecimal

Edge = TypeVar("Edge")
Place = TypeVar("Place", bound=Entry)
Node = TypeVar("Node")


class NodeEdge(Struct, Generic[Node], frozen=True):
    """A node of a list. `place` is the id that the list is sorted by; it holds the time of the entry."""

    cursor: str
    node: Node
    place: int

    @property
    def at(self) -> datetime:
        return instant(self.place)


class PageArguments(TypedDict, total=False):
    """The paging arguments of a client. A list that is read in one direction has the first two."""

    first: int | None
    after: str | None
    last: int | None
    before: str | None


class PageInfo(Struct, frozen=True):
    """The position of a page in its list, as Relay defines it."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


class Page(Struct, Generic[Edge], frozen=True):
    """One page of a list."""

    edges: list[Edge]
    page_info: PageInfo


def empty(settings: Settings, kind: str, **arguments: Unpack[PageArguments]) -> Page[Any]:
    """Return the page of a list that is not shown; raises BadUserInput for the same arguments as others."""
    window(settings, kind, **arguments)
    return Page([], PageInfo(has_next_page=False, has_previous_page=False, start_cursor=None, end_cursor=None))


class Window(Struct, frozen=True):
    """The client's paging arguments: how many entries, between which ids, from which end.

    `descending` is the order of the list itself: newest first, except for replies and conversations.
    """

    kind: str
    count: int
    after: int | None
    before: int | None
    forward: bool
    descending: bool = True

    @property
    def from_newest(self) -> bool:
        """Whether reading begins at the newest entry of the window."""
        return self.forward == self.descending

    @property
    def has_behind(self) -> bool:
        """Whether reading begins at a cursor, so that there may be entries behind it."""
        return (self.after if self.forward else self.before) is not None

    def slice(self, last: int | None, count: int) -> Slice:
        """Return the bounds of the next read, beyond the last entry scanned."""
        after = last if self.forward and last is not None else self.after
        before = last if not self.forward and last is not None else self.before
        below, above = (after, before) if self.descending else (before, after)
        return Slice(above=above, below=below, newest_first=self.from_newest, count=count)


def cursors(kind: str, places: Iterable[int]) -> list[str]:
    """Return the cursors of entries. Each names its kind of list, so that other lists refuse it."""
    return [f"{kind}.{place.to_bytes(_BYTES).hex()}" for place in places]  # twice as fast as a format


def cursor(kind: str, place: int) -> str:
    """Return the cursor of one entry."""
    return cursors(kind, (place,))[0]


def read_cursor(kind: str, text: str, argument: str) -> int:
    """Return the id in a cursor; raises BadUserInput if the cursor is malformed or from another list."""
    name, _, digits = text.partition(".")
    if name != kind:
        raise BadUserInput(f"{argument}: this cursor does not belong to this list")
    if len(digits) != _DIGITS or not set(digits) <= set("0123456789abcdef") or int(digits, 16) > LARGEST:
        raise BadUserInput(f"{argument}: this is not a cursor of this API")
    return int(digits, 16)


def window(
    settings: Settings,
    kind: str,
    *,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    descending: bool = True,
) -> Window:
    """Return the window of paging arguments; raises BadUserInput, which names the argument and the rule."""
    if first is not None and last is not None:
        raise BadUserInput("first, last: give one of them, not both")
    for argument, value in (("first", first), ("last", last)):
        if value is not None and not 1 <= value <= settings.max_page:
            raise BadUserInput(f"{argument}: must be between 1 and {settings.max_page}, is {value}")
    count = first or last or min(DEFAULT_PAGE, settings.max_page)
    return Window(
        kind=kind,
        count=count,
        after=None if after is None else read_cursor(kind, after, "after"),
        before=None if before is None else read_cursor(kind, before, "before"),
        forward=last is None,
        descending=descending,
    )


Fetch = Callable[[Slice], Awaitable[Sequence[Entry]]]
Present = Callable[[Sequence[Entry]], Awaitable[Sequence[Edge | None]]]
Hydrate = Callable[[Context, Sequence[int]], Awaitable[Sequence[Node | None]]]  # ids → what the viewer sees of them


async def page(
    asked: Window,
    fetch: Callable[[Slice], Awaitable[Sequence[Place]]],
    present: Callable[[Sequence[Place]], Awaitable[Sequence[Edge | None]]],
    *,
    goes_on: Callable[[], Awaitable[bool]],
) -> Page[Edge]:
    """Return a page: fetch entries, then present them. Up to `REFILLS` more reads fill a page that filtering shortened.

    `goes_on` tells whether there are entries on the other side of the cursor where reading began.
    """
    edges: list[Edge] = []
    places: list[int] = []
    more = behind = False
    for turn in range(1 + REFILLS):
        wanted = asked.count - len(edges)
        reading = fetch(asked.slice(places[-1] if places else None, wanted + 1))
        if turn == 0 and asked.has_behind:
            scanned, behind = await asyncio.gather(reading, goes_on())
        else:
            scanned = await reading
        more, scanned = len(scanned) > wanted, scanned[:wanted]
        places += [entry.place for entry in scanned]
        edges += [edge for edge in await present(scanned) if edge is not None]
        if not more or len(edges) == asked.count:
            break
    if not asked.forward:
        edges.reverse()
    return Page(edges, _info(asked, places, more=more, behind=behind))


def _info(asked: Window, places: Sequence[int], *, more: bool, behind: bool) -> PageInfo:
    """Return the position of a page, from the places scanned and whether the list goes on at either end."""
    ends = cursors(asked.kind, (*places[:1], *places[-1:]))
    if not asked.forward:
        ends.reverse()
    return PageInfo(
        has_next_page=more if asked.forward else behind,
        has_previous_page=behind if asked.forward else more,
        start_cursor=ends[0] if ends else None,
        end_cursor=ends[-1] if ends else None,
    )


async def read_list(
    context: Context,
    kind: str,
    key: str,
    hydrate: Hydrate[Node],
    first: int | None,
    after: str | None,
    *,
    by_place: bool = False,
    descending: bool = True,
) -> Page[NodeEdge[Node]]:
    """Return a page of a sorted set whose members, or with `by_place` whose scores, are the ids of its nodes."""
    asked = window(context.settings, kind, first=first, after=after, descending=descending)
    present = presenting(context, asked, hydrate, by_place=by_place)
    return await page(asked, fetch_from(context, key), present, goes_on=beyond(context, key, asked))


def presenting(
    context: Context, asked: Window, hydrate: Hydrate[Node], *, by_place: bool = False
) -> Present[NodeEdge[Node]]:
    """Return a function that makes edges of the nodes that the viewer sees, None for the other entries."""

    async def present(entries: Sequence[Entry]) -> list[NodeEdge[Node] | None]:
        places = [entry.place for entry in entries]
        nodes = await hydrate(context, places if by_place else [entry.entity for entry in entries])
        return [
            None if node is None else NodeEdge(its_cursor, node, place)
            for its_cursor, node, place in zip(cursors(asked.kind, places), nodes, places, strict=True)
        ]

    return present


def fetch_from(context: Context, key: str, newest: DataLoader[list[Entry]] | None = None) -> Fetch:
    """Return a function that reads slices of a sorted set in the operation's batches.

    The data loader `newest`, if given, reads the slices that begin at the newest entry.
    """

    async def fetch(part: Slice) -> list[Entry]:
        if newest and part == newest_of(part.count):
            return await newest.load(part.count)
        (reply,) = await context.batcher.run([read_slice(key, part)])
        return read_entries(reply)

    return fetch


def beyond(context: Context, key: str, asked: Window) -> Callable[[], Awaitable[bool]]:
    """Return a function that says whether a sorted set has entries behind the cursor where reading began."""

    async def goes_on() -> bool:
        edge = asked.after if asked.forward else asked.before
        assert edge is not None
        (reply,) = await context.batcher.run([probe(key, edge, newer=asked.from_newest)])
        return bool(reply)

    return goes_on
