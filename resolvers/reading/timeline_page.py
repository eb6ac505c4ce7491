"""A page of a timeline in four steps: ids → records → rules → page. Most timelines differ in their ids only."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from resolvers.loading.dataloader import DataLoader
from resolvers.operation.context import Context
from resolvers.reading import hydrate, paging
from resolvers.reading.home_edges import TimelineEdge
from resolvers.reading.hydrate import PostFacts
from resolvers.reading.paging import Fetch, Page, Window
from resolvers.rules import visibility
from store.records.lists import Entry

Facts = TypeVar("Facts")


class Timeline(Protocol[Facts]):
    """Where the entries of a timeline come from, and which of them are shown."""

    @property
    def ids(self) -> Fetch:
        """Step 1: the function that returns the entries between two places."""

    async def records(self, entries: Sequence[Entry]) -> Facts:
        """Step 2: read everything that the rules need to know about the entries."""

    def rules(self, entries: Sequence[Entry], facts: Facts) -> Sequence[TimelineEdge | None]:
        """Step 3: return the edges of the entries, None for those that the viewer is not shown; no I/O."""

    def goes_on(self, asked: Window, /) -> Callable[[], Awaitable[bool]]:
        """Return a function that says whether there are entries behind the cursor where reading began."""


async def page(asked: Window, timeline: Timeline[Facts]) -> Page[TimelineEdge]:
    """Step 4: return a page. Where the rules leave entries out, more are read."""
    return await paging.page(asked, timeline.ids, partial(edges, timeline), goes_on=timeline.goes_on(asked))


async def edges(timeline: Timeline[Facts], entries: Sequence[Entry]) -> Sequence[TimelineEdge | None]:
    """Return the edges of entries: steps 2 and 3."""
    return timeline.rules(entries, await timeline.records(entries))


class Posts:
    """A sorted set of posts: a profile, the public timeline or a tag's. `newest` loads its first page."""

    def __init__(self, context: Context, kind: str, key: str, newest: DataLoader[list[Entry]] | None = None) -> None:
        self._context, self._kind = context, kind
        self.ids = paging.fetch_from(context, key, newest)
        self.goes_on = partial(paging.beyond, context, key)

    async def records(self, entries: Sequence[Entry]) -> PostFacts:
        return await hydrate.post_facts(self._context, [entry.entity for entry in entries])

    def rules(self, entries: Sequence[Entry], facts: PostFacts) -> list[TimelineEdge | None]:
        # A profile shows its member's posts also to viewers who mute the member.
        shown = visibility.seen(facts.sight, facts.posts, wanted=self._kind != "profile")
        cursors = paging.cursors(self._kind, [entry.place for entry in entries])
        return [TimelineEdge(cursor, post) if post else None for cursor, post in zip(cursors, shown, strict=True)]
