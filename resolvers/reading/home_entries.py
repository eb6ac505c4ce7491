"""Entries of a home: the stored home merged with posts of big authors, and below the floor, profiles."""

from __future__ import annotations

import contextlib
import heapq
from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec.structs import replace

from resolvers.homes import build
from resolvers.operation.context import Context
from resolvers.operation.inputs import batches
from resolvers.reading.paging import Window
from store import follows, homes, timelines
from store.client.database import CommandRefused
from store.homes import bounds
from store.ids import LARGEST
from store.records import Entry
from store.timelines import Slice

_IN_GROUP = 2  # parts of a profile's entry for a post in a group: the post and its group
PROFILES_READ = 500  # profiles per round trip below the floor
SCANS = 5  # most reads of all profiles for one page: plain reposts, which are skipped, may fill them


class HomeEntries:
    """Reads slices of one home in one operation.

    Above the floor, stored entries are merged with the profiles of followed big authors. At and below the floor, the
    followed members' own posts and quotes are pulled from their profiles.
    """

    def __init__(self, context: Context, viewer: int) -> None:
        self._context = context
        self._viewer = viewer
        self._is_read = False
        self._touches = False
        self._floor, self._oldest = 0, bounds.oldest(context.db)
        self._big: tuple[int, ...] = ()

    async def fetch(self, part: Slice) -> list[Entry]:
        """Return candidate entries between two places. The rules decide which of them are listed."""
        part = self._young(part)
        stored = await self._stored(part)
        if part.newest_first:
            found = await self._above(part, stored)
            return found + await self._below(part, part.count - len(found))
        found = await self._below(part, part.count)
        return (found + await self._above(part, stored))[: part.count]

    async def state(self) -> tuple[tuple[int, ...], int]:
        """Return the followed big authors, whose posts are not stored, and the floor."""
        await self._ready()
        return self._big, self._floor

    def beyond(self, asked: Window) -> Callable[[], Awaitable[bool]]:
        """Return a function that says whether the home has entries behind the cursor where reading began."""

        async def goes_on() -> bool:
            edge = asked.after if asked.forward else asked.before
            assert edge is not None
            above, below = (edge - 1, None) if asked.from_newest else (None, edge + 1)
            part = self._young(Slice(above, below, newest_first=not asked.from_newest, count=1))
            stored = await self._stored(part)
            return bool(await self._above(part, stored) or await self._below(part, 1))

        return goes_on

    def _young(self, part: Slice) -> Slice:
        return replace(part, above=max(part.above or 0, self._oldest))

    async def _ready(self) -> None:
        if not self._is_read:
            await self._read_state(Slice(None, None, newest_first=True, count=1))
        if self._touches:
            self._touches = False
            with contextlib.suppress(CommandRefused):  # a database that accepts no writes still allows reading
                await self._context.batcher.run([homes.touch_home(self._viewer)])

    # ---- above the floor

    async def _stored(self, part: Slice) -> list[Entry]:
        if not self._is_read:
            return await self._read_state(part)
        replies = await self._context.batcher.run(homes.read_home(self._viewer, part))
        return homes.read_stored(part, *replies).entries

    async def _read_state(self, part: Slice) -> list[Entry]:
        """Read a slice, and the state of the home: its floor and big authors. An absent home is built first."""
        home = await self._context.home(self._viewer, part)
        floor = home.stored.floor
        if floor is None or not home.stored.is_built:
            if not await self._build():
                return []
            self._context.forget()
            return await self._read_state(part)
        self._big, self._floor = home.big, floor
        self._touches = home.read_on != homes.today()
        self._is_read = True
        return home.stored.entries

    async def _build(self) -> bool:
        """Build the home; return False while the database accepts no writes.

        In that case, the whole page is pulled from profiles, as below the floor.
        """
        try:
            await build.build(self._context.db, self._viewer)
        except CommandRefused:
            self._floor, self._is_read = LARGEST, True
            return False
        return True

    async def _above(self, part: Slice, stored: Sequence[Entry]) -> list[Entry]:
        lowest = max(self._floor, part.above or 0)
        part = replace(part, above=lowest)
        high = [entry for entry in stored if entry.place > lowest]
        if not self._big:  # the store has put them in order
            return high[: part.count]
        replies = await self._context.batcher.run([timelines.profile_slice(b, part) for b in self._big])
        found: dict[int, int] = {}
        for reply in replies:
            # A stored entry at the same place is the same post: places are ids, and each is taken once.
            found |= {place: post for post, place in _published(reply, reposts=True)}
        found |= {entry.place: entry.entity for entry in high}
        return _first(part, (Entry(post, place) for place, post in found.items()), part.count)

    # ---- below the floor

    async def _below(self, part: Slice, count: int) -> list[Entry]:
        """Return the followed members' own posts and quotes at and below the floor."""
        below = min(part.below or self._floor + 1, self._floor + 1)
        part = Slice(part.above, below, part.newest_first, count)
        if count <= 0 or self._floor == 0 or below - 1 <= (part.above or 0):
            return []
        (following,) = await self._context.batcher.run([follows.followed_command(self._viewer)])
        authors = [self._viewer, *(int(author) for author in following)]
        found: list[Entry] = []
        end: int | None = None
        for _ in range(SCANS):
            some, end = await self._pull(authors, replace(part, count=count - len(found)))
            found += some
            if end is None or len(found) == count:
                return found
            part = replace(part, below=end) if part.newest_first else replace(part, above=end)
        # Reposts still fill the profiles after `SCANS` reads. Dummy entries at the last scanned place let the next page
        # go on from there; the rules leave them out.
        assert end is not None
        return [*found, *([Entry(0, end)] * (count - len(found)))]

    async def _pull(self, authors: Sequence[int], part: Slice) -> tuple[list[Entry], int | None]:
        """Return the first own posts of all authors, and the place up to which all profiles were read.

        The place is None if every profile was read to its end.
        """
        found: list[Entry] = []
        end: int | None = None
        for some in batches(authors, PROFILES_READ):
            replies = await self._context.batcher.run([timelines.profile_slice(a, part) for a in some])
            for reply in replies:
                found += [Entry(post, place) for post, place in _published(reply, reposts=False)]
                if len(reply) // 2 == part.count:
                    last = int(reply[-1])
                    end = last if end is None else (max if part.newest_first else min)(end, last)
            found = _first(part, found, part.count)
            if len(found) == part.count:
                last = found[-1].place
                part = replace(part, above=last - 1) if part.newest_first else replace(part, below=last + 1)
        whole = [e for e in found if end is None or (e.place >= end if part.newest_first else e.place <= end)]
        return whole, end


def _published(reply: Sequence[str], *, reposts: bool) -> list[tuple[int, int]]:
    """Return post and place of a profile's entries. A plain repost counts for its original.

    With `reposts`, a post in a group is listed as post 0, which the rules leave out. So the page goes on below it.
    """
    parts = [(text.split(":"), int(place)) for text, place in zip(reply[::2], reply[1::2], strict=True)]
    return [(_post_of(part), place) for part, place in parts if reposts or len(part) == 1]


def _post_of(part: Sequence[str]) -> int:
    """Return the post that a profile's entry adds to homes: a plain repost's original, and 0 for a post in a group."""
    return 0 if len(part) == _IN_GROUP else int(part[1] if len(part) > 1 else part[0])


def _first(part: Slice, found: Iterable[Entry], count: int) -> list[Entry]:
    pick = heapq.nlargest if part.newest_first else heapq.nsmallest
    return pick(count, found, key=lambda entry: entry.place)
