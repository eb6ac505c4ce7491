"""The live stream of the whole site: events are filtered by indexes, looked up once, and checked for each viewer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from resolvers.live import announcements
from resolvers.live.announcements import AnnouncedEvent, Announcement
from resolvers.live.cursors import StreamGap, begin, gap_at
from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput
from resolvers.process.stream_filters import ALL_KINDS, SAMPLED, Listener, StreamEventKind, Wanted
from resolvers.reading import global_ids
from resolvers.rules import filters
from resolvers.rules.filters import Filter, FilterRefused
from resolvers.rules.sampling import SHARES
from store import blocks
from store.events.log import Event
from store.events.reader import since
from store.records.members import NO_RELATIONSHIP, Relationship

SiteEvent = AnnouncedEvent | StreamGap


class SiteOutlet:
    """Sends events to one subscriber's client if the viewer gets the same as everybody. The task sends all others."""

    def __init__(
        self,
        context: Context,
        subscriber: Listener,
        relationships: Mapping[int, Relationship],
        send_now: Callable[[Any], bool],
    ) -> None:
        self._context = context
        self._subscriber = subscriber
        self._relationships = relationships
        self._send_now = send_now
        self.selection = id(context.selection)  # The context keeps it alive, so no other object can have its id.

    async def prepare(self, event: Event) -> tuple[Announcement | None, Any]:
        """Return the announcement of an event and its shared rendering; None for each that there is not."""
        found, render = await announcements.of(self._context, event), self._context.render_shared
        return found, await render(found.event) if found and render else None

    def send(self, prepared: tuple[Announcement | None, Any]) -> bool:
        """Send an event at once, or omit one of which nothing is left; return False if only the task can."""
        found, rendering = prepared
        if found is None:
            return True
        return (
            rendering is not None
            and not self._subscriber.has_changed
            and self._context.is_subscribed
            and found.reaches_as_stranger(self._context.viewer, self._relationships)
            and self._relationships.keys().isdisjoint(rendering.members)
            and self._send_now(rendering.result)
        )


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
    async with aclosing(live(context, Wanted(chosen, read_filter(wanted)), after)) as changes:
        async for event in changes:
            yield event


async def sample(context: Context, percent: int, after: str | None) -> AsyncGenerator[SiteEvent, None]:
    """Yield a fixed share of all public posts."""
    await context.member()
    if not 1 <= percent <= SHARES:
        raise BadUserInput(f"percent: must be from 1 to {SHARES}, is {percent}")
    async with aclosing(live(context, Wanted(SAMPLED, percent=percent), after)) as changes:
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


async def live(context: Context, wanted: Wanted, after: str | None) -> AsyncGenerator[SiteEvent, None]:
    """Yield the wanted events of the site, as the viewer sees them; a viewer of None has no token."""
    listeners, viewer = context.services.listeners, context.viewer
    position, gap = await begin(context.db, after)
    subscriber = listeners.listen(viewer, wanted)
    try:
        # Read after the subscription began: every later change arrives as an event.
        relationships = context.relationships = await _relationships(context, viewer)
        if gap:
            yield gap
        has_content = wanted.filter is not None and wanted.filter.reads_content
        async with aclosing(since(context.db, subscriber, position, has_content=has_content)) as coming:
            async for event in coming:
                if isinstance(event, str):
                    relationships.clear()
                    relationships.update(await _relationships(context, viewer))
                    yield gap_at(event)
                elif event.kind == "relationship":
                    if event.actor == viewer:
                        await _read_again(context, relationships, event.member)
                else:
                    async with context.room:
                        if subscriber.has_changed:
                            await _restrict(context, relationships, subscriber)
                        if delivered := await _delivered(
                            context, event, wanted, relationships, is_past=subscriber.is_past(event)
                        ):
                            yield delivered
                    if subscriber.outlet is None and context.send_now and context.render_shared:
                        subscriber.outlet = SiteOutlet(context, subscriber, relationships, context.send_now)
    finally:
        context.render_shared = None  # It refers to the executor, which refers to the context.
        listeners.ignore(viewer, subscriber)


async def _relationships(
    context: Context, viewer: int | None, others: Sequence[int] | None = None
) -> dict[int, Relationship]:
    found = {} if viewer is None else await blocks.relationships(context.db, viewer, others)
    # An ended relationship counts as none, so that the viewer shares what is rendered for everybody.
    return {other: relationship for other, relationship in found.items() if relationship != NO_RELATIONSHIP}


async def _read_again(context: Context, relationships: dict[int, Relationship], member: int) -> None:
    changed = await _relationships(context, context.viewer, [member])
    relationships.pop(member, None)
    relationships.update(changed)


async def _restrict(context: Context, relationships: dict[int, Relationship], subscriber: Listener) -> None:
    """Apply new blocks and mutes at once, ahead of their events. Their ends wait for the events."""
    while changed := subscriber.changed():
        for member, new in (await _relationships(context, context.viewer, list(changed))).items():
            old = relationships.get(member, NO_RELATIONSHIP)
            relationships[member] = Relationship(
                blocks=old.blocks or new.blocks,
                is_blocked=old.is_blocked or new.is_blocked,
                mutes=old.mutes or new.mutes,
            )


async def _delivered(
    context: Context, event: Event, wanted: Wanted, relationships: dict[int, Relationship], *, is_past: bool
) -> AnnouncedEvent | None:
    # A past event is looked up and rendered for each viewer alone: the shared one may be deleted or private by now.
    context.relationships = None if is_past else relationships
    if is_past and not wanted.has(event):
        return None
    found = await (announcements.anew if is_past else announcements.of)(context, event)
    return found.event if found and found.reaches(context.viewer, relationships) else None
