"""The live stream of the whole site: events are filtered by indexes, looked up once, and checked for each viewer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from resolvers.live import announcements
from resolvers.live.announcements import AnnouncedEvent, Announcement
from resolvers.live.cursors import StreamGap, begin, gap_at
from resolvers.operation.context import Context
from resolvers.process.broadcasts import Listener, Rendering
from resolvers.process.errors import BadUserInput
from resolvers.process.stream_filters import ALL_KINDS, SAMPLED, StreamEventKind, WantedEvents
from resolvers.reading import global_ids
from resolvers.rules import filters
from resolvers.rules.filters import Filter, FilterRefused
from resolvers.rules.sampling import SHARES
from store import blocks
from store.events.log import Event
from store.events.reader import since
from store.records.members import NO_RELATIONSHIP, Relationship

SiteEvent = AnnouncedEvent | StreamGap
E = TypeVar("E", bound=SiteEvent)
Prepared: TypeAlias = tuple[Announcement | None, Rendering | None]


class FilterInput(Protocol):
    """A stream filter as a client sends it."""

    @property
    def follow(self) -> Sequence[str] | None: ...
    @property
    def track(self) -> Sequence[str] | None: ...
    @property
    def locations(self) -> Sequence[filters.Bounds] | None: ...


async def stream(
    context: Context, wanted: FilterInput | None, kinds: Sequence[StreamEventKind] | None, after: str | None
) -> AsyncGenerator[SiteEvent, None]:
    """Yield public events: first those since `after`, then live, without gaps or repetition."""
    await context.member()
    if kinds is not None and not kinds:
        raise BadUserInput("kinds: must have at least one kind")
    chosen = frozenset(kinds) if kinds else ALL_KINDS
    async with aclosing(live(context, WantedEvents(chosen, read_filter(wanted)), after)) as changes:
        async for event in changes:
            yield event


async def sample(context: Context, percent: int, after: str | None) -> AsyncGenerator[SiteEvent, None]:
    """Yield a fixed share of all public posts."""
    await context.member()
    if not 1 <= percent <= SHARES:
        raise BadUserInput(f"percent: must be from 1 to {SHARES}, is {percent}")
    async with aclosing(live(context, WantedEvents(SAMPLED, percent=percent), after)) as changes:
        async for event in changes:
            yield event


def read_filter(wanted: FilterInput | None) -> Filter | None:
    """Return a client's filter as the rules read it, None for no filter.

    Raises BadUserInput, whose text names the offending part and the rule.
    """
    if wanted is None:
        return None
    try:
        follow = None if wanted.follow is None else [_member(i, text) for i, text in enumerate(wanted.follow)]
        return filters.read(follow, wanted.track, wanted.locations)
    except FilterRefused as refusal:
        raise BadUserInput(str(refusal)) from None


def _member(place: int, text: str) -> int:
    found = global_ids.read(text)
    if found is None or found[0] != "user":
        raise FilterRefused(f"filter.follow[{place}]: this is not the id of a user")
    return found[1]


async def live(context: Context, wanted: WantedEvents, after: str | None) -> AsyncGenerator[SiteEvent, None]:
    """Yield the wanted events of the site, as the viewer sees them; a viewer of None has no token.

    In place of an event that has been rendered, its result is yielded.
    """
    listeners = context.services.listeners
    position, gap = await begin(context.db, after)
    subscriber = listeners.listen(context.viewer, wanted)
    subscription = SiteSubscription(context, wanted, subscriber)
    try:
        # Read after the subscription began: every later change arrives as an event.
        await subscription.read_relationships()
        if gap:
            yield gap
        has_content = wanted.filter is not None and wanted.filter.reads_content
        async with aclosing(since(context.db, subscriber, position, has_content=has_content)) as coming:
            async for event in coming:
                if isinstance(event, str):
                    await subscription.read_relationships()
                    yield subscription.alone(gap_at(event))
                elif event.kind == "relationship":
                    if event.actor == context.viewer:
                        await subscription.read_again(event.member)
                else:
                    async with context.room:
                        if delivered := await subscription.take(event):
                            yield delivered
    finally:
        listeners.ignore(context.viewer, subscriber)


class SiteSubscription:
    """One subscription: decides what its viewer gets of each event.

    As the outlet of its subscriber, it sends at once what everybody gets, while the task waits for events.
    """

    def __init__(self, context: Context, wanted: WantedEvents, subscriber: Listener) -> None:
        self.relationships: dict[int, Relationship] = {}
        self._context = context
        self._viewer = context.viewer
        self._renderer = context.renderer
        # The renderer keeps the selection alive, so no other object can have its id.
        self.selection = id(context.renderer.selection) if context.renderer else 0
        self._wanted = wanted
        self._subscriber = subscriber

    async def take(self, event: Event) -> Any:
        """Return what the viewer gets of an event: its result, the event if a look of theirs renders it, or None."""
        context = self._context
        if self._subscriber.has_changed:
            await self._restrict()
        if is_past := self._subscriber.is_past(event):
            # Looked up and rendered for each viewer alone: the shared one may be deleted or private by now.
            found, rendering = await announcements.anew(context, event) if self._wanted.has(event) else None, None
        else:
            found, rendering = await self.prepare(event)
        if found is None or not found.reaches(self._viewer, self.relationships):
            return None
        if is_past or self._renderer is None or not context.is_subscribed:
            return self.alone(found.event)
        if context.send_now:
            self._subscriber.outlet = self
        if rendering is not None and rendering.is_for(self.relationships):
            return rendering.result
        # The viewer may have many subscriptions to the same.
        key = self._viewer, event.cursor, self.selection
        render = partial(self._renderer.for_viewer, context, found.event)
        return await context.services.renderings.join(key, render) or found.event

    def alone(self, event: E) -> E:
        """Return an event, which is then rendered for this viewer alone. That also checks the session."""
        self._context.trust_session()
        return event

    async def prepare(self, event: Event) -> Prepared:
        """Return the announcement of an event and its shared rendering; None for each that there is not."""
        found = await announcements.of(self._context, event)
        if found is None or self._renderer is None:
            return found, None
        render = partial(self._renderer.for_all, self._context, found.event)
        rendering = await self._context.services.renderings.get((event.cursor, self.selection), render)
        return found, cast("Rendering | None", rendering)

    def send(self, prepared: Prepared) -> bool:
        """Send an event at once, or omit one that the viewer does not get; return False if only the task can."""
        found, rendering = prepared
        context, relationships = self._context, self.relationships
        if self._subscriber.has_changed or not context.is_subscribed:
            return False
        if found is None or not found.reaches(self._viewer, relationships):
            return True
        if rendering is None or context.send_now is None or not rendering.is_for(relationships):
            return False
        return context.send_now(rendering.result)

    async def read_relationships(self) -> None:
        """Read all relationships of the viewer."""
        relationships = await self._read(None)
        self.relationships.clear()
        self.relationships.update(relationships)

    async def read_again(self, member: int) -> None:
        """Read the relationship to one member."""
        changed = await self._read([member])
        self.relationships.pop(member, None)
        self.relationships.update(changed)

    async def _restrict(self) -> None:
        """Apply new blocks and mutes at once, ahead of their events. Their ends wait for the events."""
        while changed := self._subscriber.changed():
            for member, new in (await self._read(list(changed))).items():
                old = self.relationships.get(member, NO_RELATIONSHIP)
                self.relationships[member] = Relationship(
                    blocks=old.blocks or new.blocks,
                    is_blocked=old.is_blocked or new.is_blocked,
                    mutes=old.mutes or new.mutes,
                )

    async def _read(self, others: Sequence[int] | None) -> dict[int, Relationship]:
        if self._viewer is None:
            return {}
        found = await blocks.relationships(self._context.db, self._viewer, others)
        # An ended relationship counts as none, so that the viewer shares what is rendered for everybody.
        return {other: relationship for other, relationship in found.items() if relationship != NO_RELATIONSHIP}
