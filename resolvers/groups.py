"""Groups: creating, changing and deleting them, who is in them, what they show to whom, and lists of groups."""

import asyncio
from collections.abc import Sequence

from resolvers.jobs import dispatch
from resolvers.operation.context import Context
from resolvers.operation.inputs import checked_key, gathered, input_digest, key_conflict
from resolvers.operation.payloads import DeleteGroupPayload, GroupPayload
from resolvers.process.errors import (
    UserError,
    UserErrorCode,
    no_such,
    not_allowed,
    over_limit,
    refuse,
    refuse_all,
)
from resolvers.process.tokens import Claims
from resolvers.reading import global_ids, hydrate, paging, snapshots
from resolvers.reading import groups as shown
from resolvers.reading.named_members import Targets, targets
from resolvers.reading.paging import NodeEdge, Page
from resolvers.rules.text import normalise
from store import kinds
from store.groups import changes, membership, reads
from store.groups.changes import GroupDraft
from store.groups.records import Group, GroupKind, GroupRole
from store.keys.fields import GroupField
from store.records.jobs import Created, Job
from store.records.lists import Entry
from store.records.members import User
from store.refusals import Refusal

MODERATORS_ONLY = "only its moderators may do this"
LAST_OWNER = "its only owner has to make another member owner first"


async def create_group(
    context: Context, *, name: str, description: str | None = "", kind: GroupKind, idempotency_key: str | None = None
) -> GroupPayload:
    """Create a group whose owner is the viewer. All errors in the input are reported together."""
    owner = await context.member()
    errors: list[UserError] = []
    key = checked_key(idempotency_key)
    clean_name, clean_description = _name(context, name, errors), _description(context, description or "", errors)
    refuse_all(errors)
    draft = GroupDraft(
        owner, clean_name, clean_description, kind, key, input_digest(clean_name, clean_description, kind.value)
    )
    match await changes.create(context.db, draft):
        case Refusal.CONFLICT:
            raise key_conflict()
        case Refusal.FULL:
            raise over_limit("max_groups", shown.too_many(context))
        case Created(_, group, job):
            made = await _finish(context, group, job)
            if made.group is None:
                raise refuse(UserErrorCode.NOT_FOUND, "the group has been deleted since")
            return made


async def update_group(
    context: Context,
    *,
    group_id: str,
    name: str | None = None,
    description: str | None = None,
    kind: GroupKind | None = None,
) -> GroupPayload:
    """Change a group; owners only. Requests to a group that is no longer private are granted."""
    viewer = await context.member()
    group = await shown.acted_on(context, group_id)
    errors: list[UserError] = []
    wanted = {
        GroupField.NAME: None if name is None else _name(context, name, errors),
        GroupField.DESCRIPTION: None if description is None else _description(context, description, errors),
        GroupField.KIND: None if kind is None else kind.value,
    }
    refuse_all(errors)
    fields = {field: value for field, value in wanted.items() if value is not None}
    job = _owned(await changes.update(context.db, group.id, viewer, fields))
    return await _finish(context, group.id, job)


async def delete_group(context: Context, *, group_id: str) -> DeleteGroupPayload:
    """Delete a group with all its posts; owners only."""
    viewer = await context.member()
    group = await shown.acted_on(context, group_id)
    await _finish(context, group.id, _owned(await changes.delete(context.db, group.id, viewer)))
    return DeleteGroupPayload(deleted_group_id=group_id)


def _owned(outcome: Job | changes.NotOwned | None) -> Job | None:
    """Return the job of an owner's change, None when nothing has changed; raises Refused."""
    match outcome:
        case Refusal.GONE:
            raise no_such("group", "groupId")
        case Refusal.DENIED:
            raise not_allowed("only its owners may do this", "groupId")
        case job:
            return job


async def _finish(
    context: Context, group: int, job: Job | None = None, errors: Sequence[UserError] = ()
) -> GroupPayload:
    """Run the job of a change; return the group as it is now."""
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    return GroupPayload(group=await shown.group(context, group), user_errors=list(errors))


def _name(context: Context, text: str, errors: list[UserError]) -> str:
    return gathered(errors, lambda: normalise(text, limit=context.settings.group_name, multiline=False), "name")


def _description(context: Context, text: str, errors: list[UserError]) -> str:
    most = context.settings.group_description
    return gathered(errors, lambda: normalise(text, limit=most, may_be_empty=True), "description")


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
            return await _finish(context, group.id, job)


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
            return await _finish(context, group.id, job)


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
            return await _finish(context, group.id, job, named.ordered_errors())


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
            return await _finish(context, group.id)


async def descriptions(context: Context, groups: Sequence[Group]) -> list[str]:
    """Return the description of each group, "" where the viewer does not see what is in it."""
    return [
        group.description if is_open else ""
        for group, is_open in zip(groups, await _open(context, groups), strict=True)
    ]


async def member_counts(context: Context, groups: Sequence[Group]) -> list[int]:
    """Return the number of members of each group, 0 where the viewer does not see what is in it."""
    load, ids = context.load, [group.id for group in groups]
    sizes = await load.group_size.load_many(ids)
    return [size if is_open else 0 for size, is_open in zip(sizes, await _open(context, groups), strict=True)]


async def _open(context: Context, groups: Sequence[Group]) -> list[bool]:
    """Return of each group whether the viewer sees what is in it. No round trip if `shown.groups` has read them."""
    ids = [group.id for group in groups]
    await shown.groups(context, ids)
    return [context.load.open_groups[number] for number in ids]


async def viewer_has_requested(context: Context, groups: Sequence[Group]) -> list[bool]:
    """Return whether the viewer asks to join each group."""
    return await context.load.has_asked_group.load_many([group.id for group in groups])


async def viewer_groups(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[Group]]:
    """Return the groups that the viewer is in, newest first."""

    async def present(_: Context, ids: Sequence[int]) -> list[Group | None]:
        groups = await shown.groups(context, ids)
        joined = context.load.is_in_group.loaded(ids)
        return [group if is_member else None for group, is_member in zip(groups, joined, strict=True)]

    return await paging.read_list(context, "groups", kinds.MEMBERSHIPS.key(who.member), present, first, after)


async def directory(context: Context, first: int | None, after: str | None) -> Page[NodeEdge[Group]]:
    """Return the largest groups that are not private, largest first, in the order of one snapshot.

    A member does not find those that ban them.
    """

    async def rank() -> list[int]:
        (reply,) = await context.batcher.run([reads.directory_command()])
        return [int(group) for group in reply]

    async def show(entries: Sequence[Entry]) -> list[NodeEdge[Group] | None]:
        groups, opens = await shown.groups(context, [entry.entity for entry in entries]), context.load.open_groups
        return [
            NodeEdge("", group, group.id) if group and group.kind is not GroupKind.PRIVATE and opens[group.id] else None
            for group in groups
        ]

    return await snapshots.page(context, snapshots.Listing("group-directory", "", rank, show), first, after)


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
    role = await shown.role(context, group)
    if role is None or not role.moderates:
        paging.window(context.settings, kind, first=first, after=after)  # wrong arguments are refused all the same
        return None
    return await paging.read_list(context, kind, key, hydrate.users, first, after)
