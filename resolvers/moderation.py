"""Acts of moderators and administrators on members and groups, and the log of all acts."""

from collections.abc import Sequence
from typing import Literal

from resolvers.jobs import dispatch
from resolvers.operation.context import Context
from resolvers.operation.inputs import checked_note
from resolvers.operation.payloads import GroupPayload, UserPayload
from resolvers.process.errors import UserErrorCode, no_such, refuse
from resolvers.reading import global_ids, groups, moderation, paging
from resolvers.reading.moderation import Subjective
from resolvers.reading.paging import NodeEdge, Page
from store import accounts
from store.credentials.records import Role
from store.groups import changes
from store.groups import reads as group_reads
from store.moderation import log
from store.moderation.records import Act, Acting, ModerationAct, ModerationActKind, Report, Subject
from store.records.jobs import Job
from store.records.members import User
from store.refusals import Refusal


async def suspend_user(context: Context, *, user_id: str, suspended: bool, note: str | None = "") -> UserPayload:
    """Suspend a member, or end a suspension; moderators only, and only for members of a lower role. Idempotent."""
    moderator = await context.moderator()
    words = checked_note(note, context.settings.max_note)
    member = await _member(context, user_id)
    kind = ModerationActKind.USER_SUSPENDED if suspended else ModerationActKind.USER_UNSUSPENDED
    act = Act(moderator, kind, Subject("user", member), note=words)
    job = await accounts.suspend(context.db, member, holds=suspended, acting=Acting(context.rank, act))
    return await _finish(context, member, job)


async def set_role(context: Context, *, user_id: str, role: Role, note: str | None = "") -> UserPayload:
    """Give a member a role; administrators only, and only for members of a lower one. Idempotent."""
    administrator = await context.administrator()
    words = checked_note(note, context.settings.max_note)
    member = await _member(context, user_id)
    act = moderation.role_act(administrator, member, role, words)
    return await _finish(context, member, await accounts.set_role(context.db, member, role, Acting(context.rank, act)))


async def _member(context: Context, user_id: str) -> int:
    """Return the member whom an act is about; raises Refused for nobody, and for the viewer."""
    (member,) = await moderation.people(context, [global_ids.expect(user_id, ("user",), "userId")])
    if member is None:
        raise no_such("user", "userId")
    if member.id == context.viewer:
        raise refuse(UserErrorCode.SELF, "userId: nobody does this to themselves", "userId")
    return member.id


async def _finish(context: Context, member: int, job: Job | Literal[Refusal.OUTRANKED] | None) -> UserPayload:
    if job is Refusal.OUTRANKED:
        raise moderation.outranked("userId")
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    await context.authenticate()
    return UserPayload(user=(await moderation.people(context, [member]))[0])


async def hide_group(context: Context, *, group_id: str, note: str | None = "") -> GroupPayload:
    """Hide a group with all posts in it from everybody but the site's moderators; moderators only. Idempotent."""
    return await _show_group(context, group_id, note, hidden=True)


async def unhide_group(context: Context, *, group_id: str, note: str | None = "") -> GroupPayload:
    """Show a hidden group again; moderators only. Idempotent."""
    return await _show_group(context, group_id, note, hidden=False)


async def _show_group(context: Context, group_id: str, note: str | None, *, hidden: bool) -> GroupPayload:
    moderator = await context.moderator()
    words = checked_note(note, context.settings.max_note)
    group = await groups.acted_on(context, group_id)
    (roles,) = await context.batcher.run([group_reads.all_roles_command(group.id)])
    for owner in group_reads.read_owners(roles):
        await moderation.check_rank(context, owner, "groupId")
    kind = ModerationActKind.CONTENT_DELETED if hidden else ModerationActKind.GROUP_SHOWN
    act = Act(moderator, kind, Subject("group", group.id), note=words)
    job = await changes.hide(context.db, group.id, hidden=hidden, act=act.written())
    if job is Refusal.GONE:
        raise no_such("group", "groupId")
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    return GroupPayload(group=await groups.group(context, group.id))


async def moderation_log(context: Context, first: int | None, after: str | None) -> Page[NodeEdge[ModerationAct]]:
    """Return all acts, newest first; moderators only."""
    await context.moderator()
    key = log.log_list()
    return await paging.read_list(context, "moderation-log", key, moderation.acts, first, after, by_place=True)


async def actors(context: Context, found: Sequence[ModerationAct]) -> list[User | None]:
    """Return who did each act, None for an operator on the command line and where their account is gone."""
    return await moderation.people(context, [one.actor_id for one in found])


async def subjects(context: Context, found: Sequence[ModerationAct]) -> list[Subjective | None]:
    """Return what each act was done to, None once it is gone, and for a message: that is read in its report only."""
    return await moderation.subjects(context, [one.about for one in found])


async def reports(context: Context, found: Sequence[ModerationAct]) -> list[Report | None]:
    """Return the report that each act is about, None without one or once it is let go of."""
    about = iter(await moderation.reports(context, [one.report_id for one in found if one.report_id]))
    return [next(about) if one.report_id else None for one in found]
