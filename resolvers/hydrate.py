"""Ids become what a viewer may see: records are fetched per batch, then the rules decide."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from resolvers import identity
from resolvers.context import Context
from resolvers.errors import UserErrorCode, refuse
from resolvers.lookups import Lookup
from resolvers.rules import visibility
from resolvers.rules.visibility import Sight
from store.notifications import Notification
from store.promotions import Promotion
from store.records import Comment, Post, Repost, User

AUTHORS_KEPT = 200_000  # posts whose authors a process remembers, some 100 bytes each

MEMBER_FLAGS = {"isFollowingViewer": "followed_by", "viewerHasRequestedFollow": "has_requested"}
POST_FLAGS = {
    "viewerHasLiked": "has_liked",
    "viewerHasReposted": "has_reposted",
    "viewerHasFavourited": "has_favourited",
}


async def users(context: Context, members: Sequence[int]) -> list[User | None]:
    """Return members as the viewer sees them, None for whom they cannot see; one round trip."""
    return _seen(await sight_of(context, members), members)


def users_soon(context: Context, members: Sequence[int]) -> list[User | None] | Awaitable[list[User | None]]:
    """Return what `users` does, at once where nothing has to be looked up."""
    wanted = list(dict.fromkeys(members))
    if any(loader.missing(things) for loader, things in _about(context, wanted)):
        return users(context, members)
    return _seen(_sight(context, wanted, ()), members)


def _seen(sight: Sight, members: Sequence[int]) -> list[User | None]:
    seen = {m: user if visibility.sees_member(sight, m) else None for m, user in sight.users.items()}
    return [seen[member] for member in members]


async def speakers(context: Context, members: Sequence[int]) -> list[User | None]:
    """Return members whose likes and comments the viewer sees, None for the others; one round trip."""
    sight = await sight_of(context, members)
    return [sight.users[member] if visibility.sees_words(sight, member) else None for member in members]


async def wanted(context: Context, members: Sequence[int]) -> list[User | None]:
    """Return members whom the viewer wants to hear of, None for the others; one round trip."""
    sight = await sight_of(context, members)
    return [sight.users[member] if visibility.wants(sight, member) else None for member in members]


async def posts(context: Context, ids: Sequence[int]) -> list[Post | None]:
    """Return posts as the viewer sees them, None for those they cannot see; two round trips.

    Records, then what they name: authors, originals, the originals' authors, and how the viewer stands to all of them.
    """
    found, sight = await _posts(context, ids)
    return [post if visibility.sees(sight, post) else None for post in found]


async def timeline_posts(context: Context, ids: Sequence[int]) -> list[Post | None]:
    """Return posts as `posts` does, without those by members whom the viewer has muted."""
    shown, _ = await timeline_sight(context, ids)
    return shown


async def timeline_sight(
    context: Context, ids: Sequence[int], also: Iterable[int] = (), *fetched: Lookup
) -> tuple[list[Post | None], Sight]:
    """Return posts as `timeline_posts` does, and the facts that decided it, also about other members.

    Other things are looked up in the second round trip.
    """
    found, sight = await _posts(context, ids, also, *fetched)
    return visibility.timeline(sight, found), sight


async def _posts(
    context: Context, ids: Sequence[int], also: Iterable[int] = (), *fetched: Lookup
) -> tuple[list[Post | None], Sight]:
    if context.load.post.missing(ids):
        await context.load.all((context.load.post, ids), *ahead(context, ids))
    found = context.load.post.known(ids)
    _learn(context, found)
    there = [post for post in found if post]
    reposts = [post for post in there if isinstance(post, Repost)]
    members = {*also, *[post.author for post in there], *[post.original_author for post in reposts]}
    originals = [post.original_id for post in reposts]
    asked = any(map(context.wants, POST_FLAGS))
    flags = _flags(context, POST_FLAGS, [*map(acts_for, there), *originals]) if asked else []
    return found, await sight_of(context, members, originals, *flags, *fetched)


def ahead(context: Context, ids: Iterable[int]) -> list[Lookup]:
    """Return the look-ups of authors that are needed beside their posts, as far as it is known who wrote these.

    What is not known, `_posts` looks up in a round trip of its own, as it does everything else that posts name.
    """
    known = context.services.authors
    members = [author for post in ids if (author := known.get(post))]
    return _about(context, members) if members else []


def _learn(context: Context, found: Iterable[Post | None]) -> None:
    known = context.services.authors
    new = {post.id: post.author for post in found if post and post.id not in known}
    if len(known) + len(new) > AUTHORS_KEPT:
        known.clear()
    known |= new


async def sight_of(context: Context, members: Collection[int], posts: Sequence[int] = (), *fetched: Lookup) -> Sight:
    """Return the facts that decide what the viewer sees of some members and posts; one round trip.

    The posts' authors have to be among the members. Other things are looked up in the same round trip.
    """
    wanted = list(dict.fromkeys(members))
    await context.load.all(*_about(context, wanted), (context.load.post, posts), *fetched)
    return _sight(context, wanted, posts)


def _about(context: Context, members: Sequence[int]) -> list[Lookup]:
    """Return the look-ups of what decides about members."""
    load = context.load
    return [(load.user, members), (load.bond, members), *_flags(context, MEMBER_FLAGS, members)]


def _sight(context: Context, wanted: Sequence[int], posts: Sequence[int]) -> Sight:
    load = context.load
    return Sight(
        viewer=context.viewer,
        is_moderator=context.is_moderator,
        users=dict(zip(wanted, load.user.known(wanted), strict=True)),
        bonds=dict(zip(wanted, load.bond.known(wanted), strict=True)),
        posts=dict(zip(posts, load.post.known(posts), strict=True)) if posts else {},
        decided=load.decided,
    )


def _flags(context: Context, flags: Mapping[str, str], ids: Sequence[int]) -> list[Lookup]:
    """Return the look-ups of how the viewer stands to things, where the document has fields that ask for it."""
    if context.viewer is None:
        return []
    return [(getattr(context.load, loader), ids) for field, loader in flags.items() if context.wants(field)]


async def post(context: Context, thing: int) -> Post | None:
    """Return one post as the viewer sees it."""
    (found,) = await posts(context, [thing])
    return found


async def user(context: Context, member: int) -> User | None:
    """Return one member as the viewer sees them."""
    (found,) = await users(context, [member])
    return found


async def shows_lists(context: Context, user: User) -> bool:
    """Return whether the viewer sees whom a member follows and who follows them."""
    return visibility.sees_lists(await sight_of(context, [user.id]), user.id)


async def shows_posts(context: Context, user: User) -> bool:
    """Return whether the viewer sees what a member publishes, hidden posts aside."""
    return visibility.sees_posts(await sight_of(context, [user.id]), user.id)


async def comments(context: Context, ids: Sequence[int]) -> list[Comment | None]:
    """Return comments as the viewer sees them, None for those they cannot see; three round trips."""
    found = await context.load.comment.load_many(ids)
    known = [comment for comment in found if comment]
    below = list({comment.post_id for comment in known})
    records, sight = await _posts(context, below, {comment.author for comment in known})
    sight = replace(sight, posts={**sight.posts, **dict(zip(below, records, strict=True))})
    return [comment if visibility.sees(sight, comment) else None for comment in found]


async def timeline_comments(context: Context, ids: Sequence[int]) -> list[Comment | None]:
    """Return comments as `comments` does, without those by members whom the viewer has muted."""
    found = await comments(context, ids)
    sight = await sight_of(context, {comment.author for comment in found if comment})
    return [comment if comment and visibility.wants(sight, comment.author) else None for comment in found]


async def notifications(context: Context, ids: Sequence[int]) -> list[Notification | None]:
    """Return what the viewer is told, None for what is not theirs or is about something they do not see.

    Three round trips: notifications, what they are about, and what that names.
    """
    if context.viewer is None:
        return [None] * len(ids)
    found = await context.load.notification.load_many(ids)
    known = [told for told in found if told]
    below, remarks = [list({told.post for told in known} - {0}), list({told.comment for told in known} - {0})]
    load = context.load
    await load.all((load.post, below), (load.comment, remarks), (load.read_until, [context.viewer]))
    records, sight = await _posts(context, below, {told.actor for told in known})
    said = load.comment.known(remarks)
    things: dict[int, Post | Comment | None] = dict(zip(remarks, said, strict=True))
    posts = dict(zip(below, records, strict=True))
    sight, things = replace(sight, posts={**sight.posts, **posts}), {**things, **posts}

    def shown(told: Notification) -> bool:
        about = [things[thing] for thing in (told.post, told.comment) if thing]
        return visibility.tells(sight, told.actor, *about)

    return [told if told and shown(told) else None for told in found]


async def comment(context: Context, thing: int) -> Comment | None:
    """Return one comment as the viewer sees it."""
    (found,) = await comments(context, [thing])
    return found


async def promotions(context: Context, ids: Sequence[int]) -> list[Promotion | None]:
    """Return promotions, None for those that have ended; one round trip."""
    found = await context.load.promotion.load_many(ids)
    return [promotion if promotion and promotion.runs else None for promotion in found]


def acts_for(post: Post) -> int:
    """Return the post that likes, comments and reposts go to: for a plain repost its original."""
    return post.original_id if isinstance(post, Repost) and post.is_plain else post.id


async def acted_on(context: Context, post_id: str, field: str = "postId") -> Post:
    """Return the post that an action on a post goes to; raises the refusal when the viewer sees none."""
    thing = identity.expect(post_id, identity.POSTS, field)
    found = await post(context, thing)
    target = await post(context, acts_for(found)) if found else None
    if target is None or not identity.is_of(post_id, found):
        raise refuse(UserErrorCode.NOT_FOUND, f"{field}: there is no such post", field)
    return target
