"""Site events with their records: each new event is looked up once, for all subscribers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from resolvers.live.cursors import StreamEvent, event_cursor
from resolvers.operation.context import Context
from resolvers.process.stream_filters import KINDS, StreamEventKind
from resolvers.reading import global_ids, hydrate
from resolvers.rules import visibility
from store.events.log import Event
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


async def of(context: Context, event: Event) -> Announcement | None:
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
