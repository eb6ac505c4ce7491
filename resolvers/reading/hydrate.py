"""Hydration: ids become the records that the viewer may see. Records are read in batches, then the rules decide."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from resolvers.loading import dataloader
from resolvers.loading.dataloader import ANY, Lookup
from resolvers.loading.loaders import DataLoaders
from resolvers.operation.context import Context
from resolvers.process.errors import no_such, not_allowed
from resolvers.process.tokens import Claims
from resolvers.reading import global_ids, groups
from resolvers.rules import visibility
from resolvers.rules.visibility import Sight
from store.promotions import Promotion
from store.records.members import NO_RELATIONSHIP, User
from store.records.posts import Comment, Post, Repost

MEMBER_FLAGS = {"isFollowingViewer": "followed_by", "viewerHasRequestedFollow": "has_requested"}
POST_FLAGS = {
    "viewerHasLiked": "has_liked",
    "viewerHasReposted": "has_reposted",
    "viewerHasFavourited": "has_favourited",
}


async def users(context: Context, members: Sequence[int]) -> list[User | None]:
    """Return members as the viewer sees them, None for those they cannot see; one round trip."""
    permissions = (await sight_of(context, members)).permissions
    return [user if user and permissions[user.id].member else None for user in context.load.user.loaded(members)]


async def to_block(context: Context, members: Sequence[int]) -> list[User | None]:
    """Return members as the viewer sees them, and id and login of those who block the viewer; one round trip.

    It serves nothing but blocks: who is blocked can block back, and finds them among those whom they block.
    """
    seen, stored = await users(context, members), context.load.user.loaded(members)
    is_moderator = context.is_moderator
    return [
        shown or visibility.to_block(user, is_moderator=is_moderator) for shown, user in zip(seen, stored, strict=True)
    ]


async def speakers(context: Context, members: Sequence[int]) -> list[User | None]:
    """Return members whose likes and comments the viewer sees, None for the others; one round trip."""
    sight = await sight_of(context, members)
    return [user if user and sight.of(user.id).words else None for user in context.load.user.loaded(members)]


async def wanted(context: Context, members: Sequence[int]) -> list[User | None]:
    """Return members whom the viewer sees and has neither blocked nor muted, None for the others; one round trip."""
    sight = await sight_of(context, members)
    return [user if user and sight.of(user.id).is_wanted else None for user in context.load.user.loaded(members)]


async def posts(context: Context, ids: Sequence[int]) -> list[Post | None]:
    """Return posts as the viewer sees them, None for those they cannot see; two round trips.

    The first reads the records. The second reads their authors, originals, the originals' authors, and the viewer's
    relationships to all of these.
    """
    facts = await post_facts(context, ids)
    return visibility.seen(facts.sight, facts.posts)


async def timeline_posts(context: Context, ids: Sequence[int]) -> list[Post | None]:
    """Return posts as `posts` does, without those by members whom the viewer has muted."""
    facts = await post_facts(context, ids)
    return visibility.seen(facts.sight, facts.posts, wanted=True)


class PostFacts(NamedTuple):
    """Stored posts, and the facts that decide which of them the viewer sees."""

    posts: list[Post | None]
    sight: Sight


async def post_facts(context: Context, ids: Sequence[int]) -> PostFacts:
    """Return posts and the facts about them; two round trips, as `posts` says."""
    # Flags of plain reposts are those of their originals, so these are read later.
    flags = _flags(context, POST_FLAGS, ids) if context.load.post.missing(ids) else []
    stored = await records(context, ids, *flags)
    return PostFacts(stored, await sight_of_posts(context, stored))


async def records(context: Context, ids: Sequence[int], *fetched: Lookup) -> list[Post | None]:
    """Return stored posts, with no check of visibility; other lookups share the round trip."""
    await context.load.all((context.load.post, ids), *fetched)
    return context.load.post.loaded(ids)


async def sight_of_posts(
    context: Context, found: Sequence[Post | None], also: Iterable[int] = (), *fetched: Lookup, flagged: bool = True
) -> Sight:
    """Return the facts that decide what the viewer sees of posts, and of the members `also`; one round trip.

    Other lookups share the round trip. Unless `flagged`, the viewer's flags that the document asks for do not.
    """
    posts = [post for post in found if post]
    members = [*also, *[post.author for post in posts]]
    in_groups = [post.group for post in posts if post.group]
    originals: list[int] = []
    if reposts := [post for post in posts if type(post) is Repost]:
        members += [post.original_author for post in reposts]
        originals = [post.original_id for post in reposts]
        in_groups += [post.original_group for post in reposts if post.original_group]
    flags = _flags(context, POST_FLAGS, [*acted_for(posts), *originals]) if flagged else []
    return await sight_of(context, members, originals, *flags, *fetched, in_groups=in_groups)


async def sight_of(
    context: Context,
    members: Iterable[int],
    posts: Sequence[int] = (),
    *fetched: Lookup,
    in_groups: Sequence[int] = (),
) -> Sight:
    """Return the facts that decide what the viewer sees of some members and posts; one round trip.

    The posts' authors have to be among the members, and their groups in `in_groups`. Other lookups share the round
    trip.
    """
    load, new = context.load, _undecided(context, members)
    new_groups = groups.undecided(context, in_groups) if in_groups else []
    if new or posts or fetched or new_groups:
        about_groups = groups.about(context, new_groups) if new_groups else ()
        await load.all(*_about(context, new), (load.post, posts), *about_groups, *fetched)
        _decide(context, new)
        if new_groups:
            groups.decide(context, new_groups)
        load.post.loaded(posts)  # raises the error of a post that could not be read
    return Sight(context.viewer, context.is_moderator, load.decided, load.post.found, load.open_groups)


def _undecided(context: Context, members: Iterable[int]) -> list[int]:
    """Return the members without decided permissions, each once. For the others, everything in `_about` is loaded."""
    decided = context.load.decided
    return list(dict.fromkeys([member for member in members if member not in decided]))


def _about(context: Context, members: Sequence[int]) -> list[Lookup]:
    """Return the lookups of members' records, of the viewer's relationships to them, and of the flags asked for."""
    if not members:
        return []
    load = context.load
    return [(load.user, members), (load.relationship, members), *_flags(context, MEMBER_FLAGS, members)]


def _decide(context: Context, members: Sequence[int]) -> None:
    """Decide the viewer's permissions for members whose records and relationships are loaded."""
    if not members:
        return
    load, viewer = context.load, context.viewer
    is_moderator, is_suspended = context.is_moderator, context.is_suspended
    facts = zip(members, load.user.loaded(members), load.relationship.loaded(members), strict=True)
    load.decided |= {
        member: visibility.permissions(user, relationship, viewer, is_moderator, is_suspended=is_suspended)
        for member, user, relationship in facts
    }
    _grant(load, members)


def grant(context: Context, members: Iterable[int]) -> None:
    """Let a moderator see who members are, for the rest of the operation, even those who block them.

    Valid after the session check. A write that makes the context forget ends it.
    """
    if context.is_moderator:
        context.load.granted.update(members)
        _grant(context.load, context.load.decided)


def _grant(load: DataLoaders, decided: Iterable[int]) -> None:
    for member in load.granted.intersection(decided):
        if load.user.found.get(member):
            load.decided[member] = visibility.granted(load.decided[member])


def _flags(context: Context, flags: Mapping[str, str], ids: Sequence[int]) -> list[Lookup]:
    """Return the lookups of the viewer's flags that the document may ask for; none for an anonymous viewer."""
    if context.viewer is None:
        return []
    return [(getattr(context.load, loader), ids) for loader in context.wanted(flags)]


async def post(context: Context, post_id: int) -> Post | None:
    """Return one post as the viewer sees it."""
    (shown,) = await posts(context, [post_id])
    return shown


async def post_by(context: Context, post_id: int, author: int) -> Post | None:
    """Return one post by a known author as the viewer sees it; one round trip, unless it refers to another post."""
    await sight_of(context, [author], [post_id], *_flags(context, POST_FLAGS, [post_id]))
    return await post(context, post_id)


def show_new(context: Context, new: Post, author: User) -> None:
    """Show a post of the viewer's as the script has left it that made it, and its author; no round trip.

    Everything else is read again, because something was written.
    """
    context.forget()
    context.services.cached.new.append((new.id, author.id))
    load = context.load
    load.post.prime({new.id: new})
    load.user.prime({author.id: author})
    load.relationship.prime({author.id: NO_RELATIONSHIP})
    for loader, ids in [*_flags(context, POST_FLAGS, [new.id]), *_flags(context, MEMBER_FLAGS, [author.id])]:
        loader.prime(dict.fromkeys(ids, False))
    _decide(context, [author.id])


def new_ahead(context: Context, viewer: int) -> list[Lookup]:
    """Return the lookups of posts that this process has made for the viewer's home, and of their authors.

    The first reader has them in the round trip that reads the home. Without that, it would take two more.
    """
    cached = context.services.cached
    relationships = cached.relationships.all(viewer).get(ANY) if cached.new else None
    if relationships is None:
        return []
    found = [one for one in cached.new if one[1] == viewer or relationships[one[1]].follows]
    for one in found:
        cached.new.remove(one)
    return [(context.load.post, [post for post, _ in found]), (context.load.user, [author for _, author in found])]


async def user(context: Context, member: int) -> User | None:
    """Return one member as the viewer sees them."""
    (shown,) = await users(context, [member])
    return shown


async def shows_lists(context: Context, user: User) -> bool:
    """Return whether the viewer sees a member's lists of followers and followed members."""
    return (await sight_of(context, [user.id])).of(user.id).lists


async def shows_posts(context: Context, user: User) -> bool:
    """Return whether the viewer sees a member's posts, hidden ones aside."""
    return (await sight_of(context, [user.id])).of(user.id).posts


def profile_ahead(context: Context, member: int) -> list[Lookup]:
    """Return the lookups of a member, and of the viewer's flags of the posts that a cached profile of them shows.

    The cached profile may be out of date. Then its flags are of no use, and the right ones are read later.
    """
    about = _about(context, _undecided(context, [member]))
    pages = context.services.cached.profiles.all(member).values() if context.wants("timeline") else ()
    newest = [entry.entity for entry in min(pages, key=len, default=())]
    acted_on = acted_for(filter(None, context.load.post.find_cached(newest).values()))  # without posts that are gone
    return [*about, *_flags(context, POST_FLAGS, acted_on)] if acted_on else about


async def comments(context: Context, ids: Sequence[int]) -> list[Comment | None]:
    """Return comments as the viewer sees them, None for those they cannot see; three round trips."""
    stored = await context.load.comment.load_many(ids)
    known = [comment for comment in stored if comment]
    below = list({comment.post_id for comment in known})
    sight = await sight_of_posts(context, await records(context, below), {comment.author for comment in known})
    return [comment if visibility.sees(sight, comment) else None for comment in stored]


async def timeline_comments(context: Context, ids: Sequence[int]) -> list[Comment | None]:
    """Return comments as `comments` does, without those by members whom the viewer has muted."""
    shown = await comments(context, ids)
    sight = await sight_of(context, {comment.author for comment in shown if comment})
    return [comment if comment and sight.of(comment.author).is_wanted else None for comment in shown]


async def comment(context: Context, comment_id: int) -> Comment | None:
    """Return one comment as the viewer sees it."""
    (shown,) = await comments(context, [comment_id])
    return shown


async def promotions(context: Context, ids: Sequence[int]) -> list[Promotion | None]:
    """Return promotions, None for those that have ended; one round trip."""
    stored = await context.load.promotion.load_many(ids)
    return [promotion if promotion and promotion.runs else None for promotion in stored]


async def viewers(context: Context, members: Sequence[int]) -> list[Claims | None]:
    """Return the viewer's claims for their own id, None for other members; no round trip."""
    context.is_personal = True
    return [context.claims if member == context.viewer else None for member in members]


def acts_for(post: Post) -> int:
    """Return the id of the post that likes, comments and reposts apply to: for a plain repost, its original."""
    return acted_for((post,))[0]


def acted_for(posts: Iterable[Post]) -> list[int]:
    """Return what `acts_for` returns for each post. It runs for all posts of a page, several times."""
    return [post.original_id if type(post) is Repost and post.is_plain else post.id for post in posts]


def read_ahead(context: Context, post_id: str) -> None:
    """Have the operation's first round trip read the post that a mutation names, unless it is cached."""
    named = global_ids.read(post_id)
    if context.viewer is not None and named and named[0] in global_ids.POSTS:
        dataloader.read_ahead(context.batcher, context.load.post, named[1])


async def acted_on(context: Context, post_id: str, field: str = "postId") -> Post:
    """Return the post that an action applies to: for a plain repost, its original. Raises Refused if it is not seen.

    The viewer's flags are not read, because the action may change them.
    """
    number = global_ids.expect(post_id, global_ids.POSTS, field)
    named = await _unflagged(context, number)
    target = await _unflagged(context, acts_for(named)) if named and acts_for(named) != number else named
    if target is None or not global_ids.is_of(post_id, named):
        raise no_such("post", field)
    return target


async def _unflagged(context: Context, post_id: int) -> Post | None:
    stored = await records(context, [post_id])
    return visibility.seen(await sight_of_posts(context, stored, flagged=False), stored)[0]


async def own(context: Context, post_id: str, viewer: int, verb: str, *, or_any: bool = False) -> Post:
    """Return one of the viewer's posts; raises Refused if there is none, or it is another's, unless that is allowed."""
    named = await post(context, global_ids.expect(post_id, global_ids.POSTS, "postId"))
    if named is None or not global_ids.is_of(post_id, named):
        raise no_such("post", "postId")
    if named.author != viewer and not or_any:
        raise not_allowed(f"only its author can {verb} a post", "postId")
    return named
