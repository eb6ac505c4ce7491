"""Follows, follow requests, blocks and mutes, of one or many members at once, and members that two have in common."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Unpack

from resolvers.jobs import dispatch
from resolvers.operation import write_limits
from resolvers.operation.context import Context
from resolvers.operation.payloads import UsersPayload
from resolvers.process.errors import UserErrorCode
from resolvers.process.tokens import Claims
from resolvers.reading import global_ids, hydrate, paging
from resolvers.reading.named_members import Targets, targets
from resolvers.reading.paging import Fetch, NodeEdge, Page, PageArguments
from store import blocks, follows, kinds, other_side
from store.limits.writes import WriteKind
from store.records.jobs import Job
from store.records.lists import Entry
from store.records.members import Relationship, User
from store.refusals import Refusal
from store.timelines import Slice, first_command, look_up

COMMON_COUNTED = 20_000  # Largest size of the smaller set for which common followers are counted.
COMMON_SCANNED = 1_000  # Members of the first set that are scanned per page of common followers or followed members.


async def follow(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Follow members, or request to follow private ones. Each refused member gets a user error, the others succeed."""
    named = await targets(context, user_ids, other_side=other_side.ended_commands)
    users = await hydrate.users(context, named.members)
    asks = [user.id for user in users if user and user.is_private]
    limit = await write_limits.limit(context, WriteKind.FOLLOWS)
    there = other_side.read(named.there, other_side.ended)
    job, refused = await follows.follow(context.db, named.viewer, named.members, asks, limit, there)
    for member, refusal in refused.items():
        match refusal:
            case Refusal.GONE:
                named.is_gone(member)
            case Refusal.BLOCKED:
                named.refuse(member, UserErrorCode.NOT_ALLOWED, "unblock this member first")
            case Refusal.FULL:
                message = f"a member follows, or asks, at most {context.settings.max_following} others"
                named.is_over_limit(member, "max_following", message)
            case Refusal.HOUR:
                assert limit
                message = write_limits.exceeded(limit, Refusal.HOUR).message
                named.refuse(member, UserErrorCode.LIMIT_REACHED, message)
    return await _done(context, named, job)


async def unfollow(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Unfollow members, and withdraw the viewer's requests to them."""
    viewer = await context.member()
    named = await targets(context, user_ids, among=[kinds.FOLLOWING.key(viewer), kinds.REQUESTED.key(viewer)])
    return await _done(context, named, await follows.unfollow(context.db, viewer, named.members))


async def remove_followers(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Remove members from the viewer's followers."""
    viewer = await context.member()
    among = [kinds.FOLLOWERS.key(viewer)]
    named = await targets(context, user_ids, among=among, other_side=other_side.edge_commands)
    there = other_side.read(named.there, other_side.follow)
    return await _done(context, named, await follows.remove_followers(context.db, viewer, named.members, there))


async def approve_follow_requests(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Approve follow requests to the viewer. A member without a request is refused, unless they already follow."""
    named = await targets(context, user_ids, other_side=other_side.edge_commands)
    there = other_side.read(named.there, other_side.request)
    asking = [member for member in named.members if there[member]]  # the others have withdrawn it
    job = await follows.approve(context.db, named.viewer, asking, there) if asking else None
    approved = {member for member, _ in job.body.edges} if job else set()
    left = [member for member in named.members if member not in approved]
    follow = await _in_set(context, kinds.FOLLOWERS.key(named.viewer), left) if left else set()
    for member in left:
        if member not in follow:
            named.refuse(member, UserErrorCode.NOT_FOUND, "this member has not asked to follow you")
    return await _done(context, named, job)


async def reject_follow_requests(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Reject follow requests to the viewer; idempotent."""
    viewer = await context.member()
    among = [kinds.REQUESTS.key(viewer)]
    named = await targets(context, user_ids, among=among, other_side=other_side.edge_commands)
    there = other_side.read(named.there, other_side.request)
    return await _done(context, named, await follows.reject(context.db, viewer, named.members, there))


async def _done(context: Context, named: Targets, job: Job | None) -> UsersPayload:
    await dispatch.finish(context.db, job)
    return await named.answer(context)


async def follow_requests(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return the members who request to follow the viewer, newest request first."""
    return await paging.read_list(context, "requests", kinds.REQUESTS.key(who.member), hydrate.users, first, after)


async def followers(context: Context, user: User, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return a member's followers, newest follow first."""
    return await _listed(context, user, "followers", kinds.FOLLOWERS.key(user.id), first, after)


async def following(context: Context, user: User, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return the members that a member follows, newest follow first."""
    return await _listed(context, user, "following", kinds.FOLLOWING.key(user.id), first, after)


async def _listed(
    context: Context, user: User, kind: str, key: str, first: int | None, after: str | None
) -> Page[NodeEdge[User]]:
    if not await hydrate.shows_lists(context, user):
        return paging.empty(context.settings, kind, first=first, after=after)
    return await paging.read_list(context, kind, key, hydrate.users, first, after)


async def are_following_viewer(context: Context, users: Sequence[User]) -> list[bool]:
    """Return whether each member follows the viewer."""
    return await context.load.followed_by.load_many([user.id for user in users])


async def viewer_has_requested_follow(context: Context, users: Sequence[User]) -> list[bool]:
    """Return whether the viewer has an open follow request to each member."""
    return await context.load.has_requested.load_many([user.id for user in users])


async def of_viewer(context: Context, users: Sequence[User]) -> list[Relationship]:
    """Return the viewer's relationship to each member."""
    return await context.load.relationship.load_many([user.id for user in users])


async def are_mutual(context: Context, users: Sequence[User]) -> list[bool]:
    """Return whether each member and the viewer follow each other."""
    there, back = await asyncio.gather(of_viewer(context, users), are_following_viewer(context, users))
    return [relationship.follows and follows for relationship, follows in zip(there, back, strict=True)]


async def common_following(
    context: Context, user: User, with_user: str, **asked: Unpack[PageArguments]
) -> Page[NodeEdge[User]]:
    """Return the members that both members follow, newest follow by `user` first."""
    return await _common(context, "common-following", user, with_user, asked, kinds.FOLLOWING.key)


async def common_followers(
    context: Context, user: User, with_user: str, **asked: Unpack[PageArguments]
) -> Page[NodeEdge[User]]:
    """Return the members that follow both members, newest follower of `user` first."""
    return await _common(context, "common-followers", user, with_user, asked, kinds.FOLLOWERS.key)


async def _common(
    context: Context, kind: str, user: User, with_user: str, asked: PageArguments, list_of: Callable[[int], str]
) -> Page[NodeEdge[User]]:
    window = paging.window(context.settings, kind, **asked)
    other = await _other(context, with_user)
    if other is None or not await _show_lists(context, user, other):
        return paging.empty(context.settings, kind)
    key = list_of(user.id)
    shared, present = _fetch_shared(context, key, list_of(other.id)), paging.presenting(context, window, hydrate.users)
    return await paging.page(window, shared, present, goes_on=paging.beyond(context, key, window))


def _fetch_shared(context: Context, key: str, other: str) -> Fetch:
    """Return a function that reads the entries of one set that another set has, too."""
    fetch_own = paging.fetch_from(context, key)

    async def fetch(part: Slice) -> list[Entry]:
        # Scan the first member's set, and keep the entries that the other's set has, too. If `COMMON_SCANNED` ends the
        # scan, dummy entries at the last scanned place let the next page go on from there. Nobody is shown for them.
        found: list[Entry] = []
        scanned = 0
        while len(found) < part.count and scanned < COMMON_SCANNED:
            batch = await fetch_own(Slice(part.above, part.below, part.newest_first, context.settings.max_page))
            if not batch:
                return found
            shared = await _in_set(context, other, [entry.entity for entry in batch])
            found += [entry for entry in batch if entry.entity in shared]
            scanned += len(batch)
            part = Slice(part.above, batch[-1].place, part.newest_first, part.count)
            if len(batch) < context.settings.max_page:
                return found[: part.count]
        if len(found) < part.count and part.below is not None:
            found += [Entry(0, part.below)] * (part.count - len(found))
        return found[: part.count]

    return fetch


async def common_follower_count(context: Context, user: User, with_user: str) -> int | None:
    """Return the number of members that follow both.

    None if both have more than `COMMON_COUNTED` followers, or if the viewer does not see both lists.
    """
    other = await _other(context, with_user)
    if other is None:
        return 0
    if not await _show_lists(context, user, other) or min(user.follower_count, other.follower_count) > COMMON_COUNTED:
        return None
    few, many = sorted((user, other), key=lambda u: u.follower_count)
    (members,) = await context.batcher.run([first_command(kinds.FOLLOWERS.key(few.id), COMMON_COUNTED + 1)])
    return len(await _in_set(context, kinds.FOLLOWERS.key(many.id), [int(m) for m in members])) if members else 0


async def _in_set(context: Context, key: str, members: Sequence[int]) -> set[int]:
    (scores,) = await context.batcher.run([look_up(key, members)])
    return {member for member, score in zip(members, scores, strict=True) if score is not None}


async def _show_lists(context: Context, user: User, other: User) -> bool:
    return all(await asyncio.gather(hydrate.shows_lists(context, user), hydrate.shows_lists(context, other)))


async def _other(context: Context, with_user: str) -> User | None:
    kind, member = global_ids.expect_argument(with_user, "withUser")
    return await hydrate.user(context, member) if kind == "user" else None


async def block(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Block members. This ends all follows between them and the viewer, and hides each from the other.

    A member who blocks the viewer can be blocked back, though the viewer does not see them.
    """
    named = await targets(context, user_ids, other_side=other_side.edge_commands, see=hydrate.to_block)
    there = other_side.read(named.there, other_side.edge)
    return await _changed(context, named, await blocks.block(context.db, named.viewer, named.members, there), "blocks")


async def unblock(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Unblock members. Follows that a block ended are not restored."""
    viewer = await context.member()
    among = [kinds.BLOCKED.key(viewer)]
    named = await targets(context, user_ids, among=among, other_side=other_side.edge_commands)
    there = other_side.read(named.there, other_side.edge)
    return await _changed(context, named, await blocks.unblock(context.db, viewer, named.members, there))


async def mute(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Mute members: leave them out of the viewer's timelines, notifications and streams, without notifying them."""
    named = await targets(context, user_ids)
    return await _changed(context, named, await blocks.mute(context.db, named.viewer, named.members), "mutes")


async def unmute(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Unmute members."""
    viewer = await context.member()
    named = await targets(context, user_ids, among=[kinds.MUTED.key(viewer)])
    return await _changed(context, named, await blocks.unmute(context.db, viewer, named.members))


async def _changed(context: Context, named: Targets, change: blocks.Changed, verb: str = "") -> UsersPayload:
    job, refused = change
    for member in refused:
        message = f"a member {verb} at most {context.settings.max_blocked} others"
        named.is_over_limit(member, "max_blocked", message)
    return await _done(context, named, job)


async def blocked(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return the members that the viewer blocks, newest block first: of who blocks the viewer, id and login."""
    return await paging.read_list(context, "blocked", kinds.BLOCKED.key(who.member), hydrate.to_block, first, after)


async def muted(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return the members that the viewer mutes, newest mute first."""
    return await paging.read_list(context, "muted", kinds.MUTED.key(who.member), hydrate.users, first, after)
