"""The live stream of the whole site: events are filtered by indexes, looked up once, and checked for each viewer."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from resolvers.live.cursors import StreamEvent, StreamGap, begin, event_cursor, gap_at
from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput
from resolvers.process.site_stream import (
    ALL_KINDS,
    KINDS,
    SAMPLED,
    Listener,
    Rendering,
    StreamEventKind,
    WantedEvents,
)
from resolvers.reading import global_ids, hydrate
from resolvers.rules import filters, visibility
from resolvers.rules.filters import Filter, FilterRefused
from resolvers.rules.sampling import SHARES
from store import blocks
from store.events.log import Event
from store.events.reader import since
from store.records.members import NO_RELATIONSHIP, Relationship, User
from store.records.posts import Post, Repost


@dataclass(frozen=True, slots=True)
class PostCreated(StreamEvent):
    """A public post was published, or is shown again."""

    post: Post

    async def is_delivered(self, context: Context) -> bool:
        """Return whether the viewer still sees the post and wants events of its publisher."""
        shown = await hydrate.timeline_posts(context, [self.post.id])
        return None not in shown and None not in await hydrate.wanted(context, _published_by(self.post))


@dataclass(frozen=True, slots=True)
class PostDeleted(StreamEvent):
    """A public post was deleted or hidden."""

    post_id: str
    author_id: str


@dataclass(frozen=True, slots=True)
class UserFollowed(StreamEvent):
    """A member followed another, and both accounts are public."""

    follower: User
    followed: User

    async def is_delivered(self, context: Context) -> bool:
        """Return whether the viewer still wants events of both members."""
        return None not in await hydrate.wanted(context, [self.follower.id, self.followed.id])


@dataclass(frozen=True, slots=True)
class UserUnfollowed(StreamEvent):
    """A member unfollowed another, and both accounts are public."""

    follower: User
    unfollowed: User

    async def is_delivered(self, context: Context) -> bool:
        """Return whether the viewer still wants events of both members."""
        return None not in await hydrate.wanted(context, [self.follower.id, self.unfollowed.id])


AnnouncedEvent = PostCreated | PostDeleted | UserFollowed | UserUnfollowed


@dataclass(frozen=True, slots=True)
class Announcement:
    """An event with its records, as it is sent to every viewer who has no relationship to the members in it."""

    event: AnnouncedEvent
    members: frozenset[int]  # the members that the event is about
    users: Mapping[int, User | None]
    reaches_strangers: bool = False  # whether it reaches all viewers who have no relationship to the members

    def reaches(self, viewer: int | None, relationships: Mapping[int, Relationship]) -> bool:
        """Return whether a viewer gets the event, given the viewer's relationships to the members in it."""
        # Asked of the keys, it takes time for the few members and not for all relationships.
        if self.reaches_strangers and viewer not in self.members and relationships.keys().isdisjoint(self.members):
            return True
        between = {member: relationships.get(member, NO_RELATIONSHIP) for member in self.members}
        if isinstance(self.event, PostDeleted):  # its author's account may be deleted
            return all(map(visibility.is_wanted, between.values()))
        permissions = [
            visibility.permissions(self.users.get(member), relationship, viewer, is_moderator=False)
            for member, relationship in between.items()
        ]
        return all(permissions.is_wanted for permissions in permissions)


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
            found, rendering = await anew(context, event) if self._wanted.has(event) else None, None
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
        found = await announced(self._context, event)
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


async def announced(context: Context, event: Event) -> Announcement | None:
    """Return the announcement of a new event. The first caller looks it up, and all others share the result."""
    found = await context.services.announced.get(event.cursor, lambda: anew(context, event))
    return cast("Announcement | None", found)


async def anew(context: Context, event: Event) -> Announcement | None:
    """Return the announcement of an event as things are now, without the shared cache.

    Returns None when the post or member is gone, hidden or private by now. The look-up is made as a viewer without
    any relationships.
    """
    found = await _ANNOUNCE[KINDS[event.kind]](context.nobody(), event)
    return replace(found, reaches_strangers=found.reaches(None, {})) if found else None


async def _post_created(context: Context, event: Event) -> Announcement | None:
    post = await hydrate.post(context, event.post)
    if post is None:
        return None
    members = _published_by(post)
    # The records by which the look-up decided.
    users = {member: user for member, user in context.load.members.items() if member in members}
    return Announcement(PostCreated(event_cursor(event.cursor), event.at, post), frozenset(members), users)


def _published_by(post: Post) -> list[int]:
    return [post.author, post.original_author] if isinstance(post, Repost) and post.is_plain else [post.author]


async def _post_deleted(_: Context, event: Event) -> Announcement:
    members = {event.actor, event.original_author} if event.is_plain else {event.actor}
    gone = global_ids.post_id(event.post, is_repost=bool(event.original))
    delivered = PostDeleted(event_cursor(event.cursor), event.at, gone, global_ids.user_id(event.actor))
    return Announcement(delivered, frozenset(members), {})


async def _followed(context: Context, event: Event) -> Announcement | None:
    members = [event.actor, event.member]
    follower, other = await hydrate.users(context, members)
    if not follower or not other or follower.is_private or other.is_private:
        return None  # a viewer who may not see their follow lists gets no events about them
    make = UserFollowed if event.kind == "follow" else UserUnfollowed
    delivered = make(event_cursor(event.cursor), event.at, follower, other)
    return Announcement(delivered, frozenset(members), {user.id: user for user in (follower, other)})


_ANNOUNCE: dict[StreamEventKind, Callable[[Context, Event], Awaitable[Announcement | None]]] = {
    StreamEventKind.POST_CREATED: _post_created,
    StreamEventKind.POST_DELETED: _post_deleted,
    StreamEventKind.USER_FOLLOWED: _followed,
    StreamEventKind.USER_UNFOLLOWED: _followed,
}
