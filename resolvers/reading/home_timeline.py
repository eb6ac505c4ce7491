"""A home timeline: the stored home merged with posts of big authors, and below the floor, profiles."""

import asyncio
import contextlib
import heapq
from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from resolvers.homes import build
from resolvers.loading.dataloader import ANY, Lookup
from resolvers.operation.context import Context
from resolvers.operation.inputs import batches
from resolvers.reading import home_edges, hydrate
from resolvers.reading.home_edges import HomeFacts, TimelineEdge
from resolvers.reading.paging import Window
from store import follows, timelines
from store.client.database import CommandRefused
from store.homes import bounds
from store.homes import stored as homes
from store.homes.stored import StoredHome
from store.ids import LARGEST
from store.records.lists import Entry
from store.timelines import Slice

_IN_GROUP = 2  # parts of a profile's entry for a post in a group: the post and its group
PROFILES_READ = 500  # profiles per round trip below the floor


class HomeTimeline:
    """The viewer's home in one operation.

    Above the floor, stored entries are merged with the profiles of followed big authors. At and below the floor,
    entries are pulled from the profiles of all members followed. With `at_any_place`, a post of the home is shown
    wherever it is listed, as in order of importance.
    """

    def __init__(self, context: Context, viewer: int, *, at_any_place: bool = False) -> None:
        self._context = context
        self._viewer = viewer
        self._at_any_place = at_any_place
        self._is_read = False
        self._touches = False
        self._floor, self._oldest = 0, bounds.oldest(context.db)
        context.is_momentary |= self._oldest > 0  # entries leave by time alone
        self._big: tuple[int, ...] = ()
        self._following: frozenset[int] | None = None  # None as long as nothing below the floor was read

    async def ids(self, part: Slice) -> list[Entry]:
        """Return candidate entries between two places. The rules decide which of them are listed."""
        part = self._young(part)
        stored = await self._stored(part)
        if part.newest_first:
            entries = await self._above(part, stored)
            return entries + await self._below(part, part.count - len(entries))
        entries = await self._below(part, part.count)
        return (entries + await self._above(part, stored))[: part.count]

    async def records(self, entries: Sequence[Entry]) -> HomeFacts:
        """Read everything that the rules need to know about the entries."""
        await self._ready()
        floor = None if self._at_any_place else self._floor
        return await home_edges.facts(self._context, entries, self._big, floor, self._following)

    def rules(self, entries: Sequence[Entry], facts: HomeFacts) -> list[TimelineEdge | None]:
        """Return the edges of the entries, None for those that the viewer is not shown."""
        return facts.edges(entries)

    def goes_on(self, asked: Window) -> Callable[[], Awaitable[bool]]:
        """Return a function that says whether the home has entries behind the cursor where reading began."""

        async def has_more() -> bool:
            edge = asked.after if asked.forward else asked.before
            assert edge is not None
            above, below = (edge - 1, None) if asked.from_newest else (None, edge + 1)
            part = self._young(Slice(above, below, newest_first=not asked.from_newest, count=1))
            stored = await self._stored(part)
            return bool(await self._above(part, stored) or await self._below(part, 1))

        return has_more

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
        home = await _viewer_home(self._context, self._viewer, part)
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
        *replies, candidates = await self._context.batcher.run(
            [*(timelines.profile_slice(b, part) for b in self._big), homes.candidates(self._viewer, part)]
        )
        entries = [*homes.read_candidates(candidates), *(entry for reply in replies for entry in _published(reply))]
        # A stored entry at the same place is the same post: places are ids, and each is taken once.
        by_place = {entry.place: entry.entity for entry in (*entries, *high)}
        return _first(part, (Entry(post, place) for place, post in by_place.items()), part.count)

    # ---- below the floor

    async def _below(self, part: Slice, count: int) -> list[Entry]:
        """Return what the viewer and the members they follow have published at and below the floor."""
        below = min(part.below or self._floor + 1, self._floor + 1)
        part = Slice(part.above, below, part.newest_first, count)
        if count <= 0 or self._floor == 0 or below - 1 <= (part.above or 0):
            return []
        (following,) = await self._context.batcher.run([follows.followed_command(self._viewer)])
        self._following = frozenset(map(int, following))
        entries: list[Entry] = []
        for some in batches([self._viewer, *self._following], PROFILES_READ):
            replies = await self._context.batcher.run([timelines.profile_slice(author, part) for author in some])
            entries = _first(part, [*entries, *(entry for reply in replies for entry in _published(reply))], count)
            if len(entries) == count:
                last = entries[-1].place
                part = replace(part, above=last - 1) if part.newest_first else replace(part, below=last + 1)
        return entries


class _ViewerHome(Struct, frozen=True):
    """Part of the viewer's stored home, the big authors they follow, and the day on which they last read it."""

    stored: StoredHome
    big: tuple[int, ...]
    read_on: int | None


async def _viewer_home(context: Context, viewer: int, part: Slice) -> _ViewerHome:
    """Return part of the viewer's home; one round trip, more after the site's big authors have changed."""
    big = context.services.big
    while True:
        load = context.load
        # Concurrent operations may update the big authors while this one waits for its replies.
        expected, members = big.version, big.members
        others: list[Lookup] = [(load.read_on, [viewer]), (load.big_version, [ANY])]
        if members:
            others.append((load.big_followed, [members]))
        if context.wants("viewerHasLiked"):  # which the viewer's newest likes say of new posts
            others.append((load.has_liked, [ANY]))
        stored = await _stored_home(context, viewer, part, *others, *hydrate.new_ahead(context, viewer))
        (day,), (version,) = load.read_on.loaded([viewer]), load.big_version.loaded([ANY])
        if version == expected:
            theirs = load.big_followed.loaded([members])[0] if members else ()
            return _ViewerHome(stored, tuple([member for member in theirs if member != viewer]), day)
        await big.read(context.db)
        context.forget()


async def _stored_home(context: Context, viewer: int, part: Slice, *wanted: Lookup) -> StoredHome:
    """Return part of the stored home; other lookups share the round trip."""
    load = context.load
    if part.below is None and part.newest_first:
        await load.all((load.home, [part.count]), *wanted)
        return load.home.loaded([part.count])[0]
    replies, _ = await asyncio.gather(context.batcher.run(homes.read_home(viewer, part)), load.all(*wanted))
    return homes.read_stored(part, *replies)


def _published(reply: Sequence[str]) -> list[Entry]:
    """Return the entries that part of a profile adds to homes. A plain repost adds its original.

    A post in a group is listed as post 0, which the rules leave out. So the page goes on below it.
    """
    parts = zip(reply[::2], reply[1::2], strict=True)
    return [Entry(_post_of(text.split(":")), int(place)) for text, place in parts]


def _post_of(part: Sequence[str]) -> int:
    return 0 if len(part) == _IN_GROUP else int(part[1] if len(part) > 1 else part[0])


def _first(part: Slice, found: Iterable[Entry], count: int) -> list[Entry]:
    pick = heapq.nlargest if part.newest_first else heapq.nsmallest
    return pick(count, found, key=lambda entry: entry.place)
