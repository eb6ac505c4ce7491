"""Groups as the viewer sees them: everybody sees that a group exists, and the rules decide who sees what is in it."""

from collections.abc import Iterable, Sequence

from resolvers.loading.dataloader import Lookup
from resolvers.operation.context import Context
from resolvers.process.errors import no_such, not_allowed
from resolvers.reading import global_ids
from resolvers.rules import visibility
from store.groups import reads
from store.groups.records import Group, GroupKind, GroupRole
from store.records.posts import Post, Status


async def groups(context: Context, ids: Sequence[int]) -> list[Group | None]:
    """Return groups, None for those that do not exist or are hidden from the viewer; one round trip.

    It also decides what the viewer sees in them.
    """
    new, load = undecided(context, ids), context.load
    await load.all(*about(context, new))
    decide(context, new)
    facts = zip(load.group.loaded(ids), _memberships(context, ids), strict=True)
    is_moderator = context.is_moderator
    return [
        group if visibility.sees_group(group, is_member=is_member, is_moderator=is_moderator) else None
        for group, is_member in facts
    ]


async def group(context: Context, group_id: int) -> Group | None:
    """Return one group, None if it does not exist."""
    (shown,) = await groups(context, [group_id])
    return shown


def undecided(context: Context, ids: Iterable[int]) -> list[int]:
    """Return the groups of which is not yet decided what the viewer sees, each once."""
    decided = context.load.open_groups
    return list(dict.fromkeys([group for group in ids if group not in decided]))


def about(context: Context, ids: Sequence[int]) -> list[Lookup]:
    """Return the lookups that decide what the viewer sees in groups."""
    load = context.load
    return [(load.group, ids), (load.is_in_group, ids), (load.is_banned, ids)] if ids else []


def decide(context: Context, ids: Sequence[int]) -> None:
    """Decide what the viewer sees in groups, for which `about` is loaded."""
    if not ids:
        return
    load, is_moderator = context.load, context.is_moderator
    facts = zip(ids, load.group.loaded(ids), _memberships(context, ids), load.is_banned.loaded(ids), strict=True)
    load.open_groups |= {
        number: visibility.opens_group(found, is_member=is_member, is_banned=is_banned, is_moderator=is_moderator)
        for number, found, is_member, is_banned in facts
    }


def _memberships(context: Context, ids: Sequence[int]) -> list[bool]:
    """Return for each group whether the viewer's membership shows them what is in it; `about` is loaded."""
    is_suspended = context.is_suspended
    return [
        visibility.counts_as_member(is_member=is_member, is_suspended=is_suspended)
        for is_member in context.load.is_in_group.loaded(ids)
    ]


async def is_open(context: Context, group: Group) -> bool:
    """Return whether the viewer sees what is in a group."""
    await groups(context, [group.id])
    return context.load.open_groups[group.id]


async def roles(context: Context, groups: Sequence[Group]) -> list[GroupRole | None]:
    """Return the viewer's role in each group, None where they are not in it or suspended; one round trip."""
    ids, load = [group.id for group in groups], context.load
    await load.all((load.is_in_group, ids), (load.group_role, ids))
    pairs = zip(_memberships(context, ids), load.group_role.loaded(ids), strict=True)
    return [role if is_member else None for is_member, role in pairs]


async def role(context: Context, group: Group) -> GroupRole | None:
    """Return the viewer's role in a group, None if they are not in it."""
    (own,) = await roles(context, [group])
    return own


async def acted_on(context: Context, group_id: str) -> Group:
    """Return the group that a mutation names; raises Refused if there is none."""
    named = await group(context, global_ids.expect(group_id, ("group",), "groupId"))
    if named is None:
        raise no_such("group", "groupId")
    return named


def too_many(context: Context) -> str:
    """Return why one more group is refused."""
    return f"a member is in, or asks to join, at most {context.settings.max_groups} groups"


async def posted_in(context: Context, group_id: str | None) -> int | None:
    """Return the group to post in, None without one; raises Refused if the viewer may not post there."""
    if group_id is None:
        return None
    named = await acted_on(context, group_id)
    own = await role(context, named)
    if own is None:
        raise not_allowed("only its members post in it", "groupId")
    if named.is_hidden:
        raise not_allowed("moderators of the site hide it, so nobody posts in it", "groupId")
    if named.kind is GroupKind.ANNOUNCEMENT and not own.moderates:
        raise not_allowed("only its moderators and owners post in it", "groupId")
    return named.id


async def has_joined(context: Context, post: Post) -> bool:
    """Return whether the viewer is in the group of a post; True for a post in no group. No round trip if it is seen."""
    return not post.group or await context.load.is_in_group.load(post.group)


async def is_private(context: Context, group_id: int) -> bool:
    """Return whether a group is private; False without the group."""
    shown = await group(context, group_id)
    return shown is not None and shown.kind is GroupKind.PRIVATE


async def of_posts(context: Context, posts: Sequence[Status]) -> list[Group | None]:
    """Return the group of each post, None for one in no group. No round trip if `hydrate.posts` has read the posts."""
    shown = iter(await groups(context, [post.group for post in posts if post.group]))
    return [next(shown) if post.group else None for post in posts]


async def removable(context: Context, post_id: str) -> Post | None:
    """Return a post in a group that the viewer may delete, whether or not they see it; None for other posts.

    Its author may have left a private group. A moderator of the group may be blocked by the author. Raises Refused for
    a moderator whose role is not above the author's, unless they are a moderator of the site, whose rank decides.
    """
    named = global_ids.read(post_id)
    post = await context.load.post.load(named[1]) if named and named[0] in global_ids.POSTS else None
    if post is None or not post.group or not global_ids.is_of(post_id, post):
        return None
    if post.author == context.viewer:
        return post
    group_of_post = await group(context, post.group)
    own = await role(context, group_of_post) if group_of_post else None
    if own is None or not own.moderates:
        return None
    (reply,) = await context.batcher.run([reads.role_command(post.group, post.author)])
    if own.outranks(reads.read_role(reply)):
        return post
    if context.is_moderator:
        return None
    raise not_allowed("the role of its author in the group is not below yours", "postId")
