"""Members of groups: joining, leaving, invitations, requests, removal and roles."""

import asyncio
from collections.abc import Sequence

from resolvers.jobs import dispatch
from resolvers.operation.context import Context
from resolvers.operation.payloads import GroupPayload
from resolvers.process.errors import UserErrorCode, no_such, not_allowed, over_limit
from resolvers.reading import global_ids, hydrate, paging
from resolvers.reading import groups as shown
from resolvers.reading.named_members import Targets, targets
from resolvers.reading.paging import NodeEdge, Page
from store import kinds
from store.groups import membership, reads
from store.groups.records import Group, GroupRole
from store.records.jobs import Job
from store.records.lists import Entry
from store.records.members import User
from store.refusals import Refusal

MODERATORS_ONLY = "only its moderators may do this"
LAST_OWNER = "its only owner has to make another member owner first"


async def join_group(context: Context, *, group_id: str) -> GroupPayload:
    """Join a group, or ask to join a private one; idempotent. A group that bans the viewer refuses them."""
    viewer = await context.member()
    group = await shown.acted_on(context, group_id)
    is_banned = await context.load.is_banned.load(group.id)
    match Refusal.BANNED if is_banned else await membership.join(context.db, group.id, viewer):
        case Refusal.GONE:
            raise no_such("group", "groupId")
        case Refusal.BANNED:
            raise not_allowed("its moderators have banned you", "groupId")
        case Refusal.FULL:
            raise over_limit("max_groups", f"groupId: {shown.too_many(context)}", "groupId")
        case job:
            return GroupPayload(group=await _finish(context, group, job))


async def leave_group(context: Context, *, group_id: str) -> GroupPayload:
    """Leave a group, take back a request to join it, or decline an invitation; idempotent."""
    viewer = await context.member()
    group = await shown.acted_on(context, group_id)
    match await membership.leave(context.db, group.id, viewer):
        case Refusal.GONE:
            raise no_such("group", "groupId")
        case Refusal.LAST_OWNER:
            raise not_allowed(LAST_OWNER, "groupId")
        case job:
            return GroupPayload(group=await _finish(context, group, job))


async def invite_to_group(context: Context, *, group_id: str, user_ids: Sequence[str]) -> GroupPayload:
    """Invite members to a group. Each refused member gets a user error, the others succeed."""
    denied = "only its members may do this, in a private group only its moderators"
    return await _change(context, group_id, user_ids, membership.invite, denied=denied)


async def approve_group_members(context: Context, *, group_id: str, user_ids: Sequence[str]) -> GroupPayload:
    """Let members in who ask to join a group. One who has not asked is refused, unless they are in it already."""
    return await _change(context, group_id, user_ids, membership.approve)


async def reject_group_members(context: Context, *, group_id: str, user_ids: Sequence[str]) -> GroupPayload:
    """Turn members away who ask to join a group; idempotent."""
    return await _change(context, group_id, user_ids, membership.reject)


async def remove_group_members(context: Context, *, group_id: str, user_ids: Sequence[str]) -> GroupPayload:
    """Remove members from a group, and take back invitations to it; idempotent."""
    return await _change(context, group_id, user_ids, membership.remove)


async def ban_group_members(context: Context, *, group_id: str, user_ids: Sequence[str]) -> GroupPayload:
    """Remove members from a group and keep them out, whether or not they are in it; idempotent."""
    return await _change(context, group_id, user_ids, membership.ban)


async def unban_group_members(context: Context, *, group_id: str, user_ids: Sequence[str]) -> GroupPayload:
    """End bans of members from a group; idempotent. They are not members again."""
    return await _change(context, group_id, user_ids, membership.unban)


async def _change(
    context: Context,
    group_id: str,
    user_ids: Sequence[str],
    change: membership.Change,
    *,
    denied: str = MODERATORS_ONLY,
) -> GroupPayload:
    """Change what named members are in a group. Members whom the viewer does not see can be named if they are in it."""
    await context.member()
    group = await shown.acted_on(context, group_id)
    named = await _targets(context, group, user_ids)
    match await change(context.db, group.id, named.viewer, named.members):
        case Refusal.GONE:
            raise no_such("group", "groupId")
        case Refusal.DENIED:
            raise not_allowed(denied, "groupId")
        case job, refused:
            for member, refusal in refused.items():
                _refuse(context, named, member, refusal)
            shown_group = await _finish(context, group, job)
            return GroupPayload(group=shown_group, user_errors=named.ordered_errors())


def _refuse(context: Context, named: Targets, member: int, refusal: membership.MemberRefusal) -> None:
    match refusal:
        case Refusal.IN_GROUP:
            named.refuse(member, UserErrorCode.NOT_ALLOWED, "this member is in the group already")
        case Refusal.BANNED:
            named.refuse(member, UserErrorCode.NOT_ALLOWED, "this member may not join the group")
        case Refusal.UNASKED:
            named.refuse(member, UserErrorCode.NOT_FOUND, "this member has not asked to join")
        case Refusal.OUTRANKED:
            named.refuse(member, UserErrorCode.NOT_ALLOWED, "the role of this member in the group is not below yours")
        case Refusal.FULL:
            named.is_over_limit(member, "max_blocked", f"a group bans at most {context.settings.max_blocked} members")


async def _targets(context: Context, group: Group, user_ids: Sequence[str]) -> Targets:
    """Return the members that a mutation names; a moderator of the group also acts on those whom they do not see."""
    role = await shown.role(context, group)
    if role is None or not role.moderates:
        return await targets(context, user_ids)
    lists = (kinds.GROUP_MEMBERS.key, kinds.GROUP_REQUESTS.key, kinds.GROUP_INVITATIONS.key, kinds.GROUP_BANNED.key)
    return await targets(context, user_ids, among=[key(group.id) for key in lists])


async def set_group_role(context: Context, *, group_id: str, user_id: str, role: GroupRole) -> GroupPayload:
    """Set a member's role in a group. Owners only, except that everybody may give up a role of their own."""
    viewer = await context.member()
    group = await shown.acted_on(context, group_id)
    member = global_ids.expect(user_id, ("user",), "userId")
    match await membership.set_role(context.db, group.id, viewer, member, role):
        case Refusal.GONE:
            raise no_such("group", "groupId")
        case Refusal.DENIED:
            raise not_allowed("only owners give roles, and nobody changes the role of another owner", "userId")
        case Refusal.STRANGER:
            raise no_such("member in the group", "userId")
        case Refusal.LAST_OWNER:
            raise not_allowed(LAST_OWNER, "userId")
        case bool():
            return GroupPayload(group=await _finish(context, group, None))


async def _finish(context: Context, group: Group, job: Job | None) -> Group | None:
    """Run the job of a change; return the group as it is now."""
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    return await shown.group(context, group.id)


class MemberEdge(NodeEdge[User], frozen=True):
    """A member of a group, with their role."""

    role: GroupRole = GroupRole.MEMBER


async def members(context: Context, group: Group, first: int | None, after: str | None) -> Page[MemberEdge] | None:
    """Return the members of a group, newest first; None where the viewer does not see what is in it."""
    asked = paging.window(context.settings, "group-members", first=first, after=after)
    if not await shown.is_open(context, group):
        return None
    key = kinds.GROUP_MEMBERS.key(group.id)

    async def present(entries: Sequence[Entry]) -> list[MemberEdge | None]:
        if not entries:
            return []
        ids = [entry.entity for entry in entries]
        reading = context.batcher.run([reads.roles_command(group.id, ids)])
        users, (roles,) = await asyncio.gather(hydrate.users(context, ids), reading)
        return [
            MemberEdge(paging.cursor(asked.kind, entry.place), user, entry.place, reads.read_role(role))
            if user
            else None
            for entry, user, role in zip(entries, users, roles, strict=True)
        ]

    fetch, goes_on = paging.fetch_from(context, key), paging.beyond(context, key, asked)
    return await paging.page(asked, fetch, present, goes_on=goes_on)


async def join_requests(
    context: Context, group: Group, first: int | None, after: str | None
) -> Page[NodeEdge[User]] | None:
    """Return the members who ask to join a group, newest request first; None for all but the group's moderators."""
    return await _for_moderators(context, group, "join-requests", kinds.GROUP_REQUESTS.key(group.id), first, after)


async def banned(context: Context, group: Group, first: int | None, after: str | None) -> Page[NodeEdge[User]] | None:
    """Return the members whom a group bans, newest ban first; None for all but the group's moderators."""
    return await _for_moderators(context, group, "group-banned", kinds.GROUP_BANNED.key(group.id), first, after)


async def _for_moderators(
    context: Context, group: Group, kind: str, key: str, first: int | None, after: str | None
) -> Page[NodeEdge[User]] | None:
    asked = paging.window(context.settings, kind, first=first, after=after)
    role = await shown.role(context, group)
    if role is None or not role.moderates:
        return None
    return await paging.read_list(context, asked, key, hydrate.users)
