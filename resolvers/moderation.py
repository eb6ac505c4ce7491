"""Reports and the moderators' decisions, acts on members and groups, and the log of all acts."""

from collections.abc import Sequence
from typing import Literal

from resolvers.jobs import dispatch
from resolvers.operation import attempts
from resolvers.operation.context import Context
from resolvers.operation.inputs import checked_note
from resolvers.operation.payloads import GroupPayload, ReportPayload, UserPayload
from resolvers.process.errors import UserErrorCode, no_such, over_limit, refuse
from resolvers.reading import global_ids, groups, hydrate, messaging, moderation, paging, snapshots
from resolvers.reading.moderation import MESSAGE, Subjective
from resolvers.reading.paging import NodeEdge, Page
from store import accounts, kinds
from store.conversations.records import Message
from store.credentials.records import Role
from store.groups import changes
from store.groups import reads as group_reads
from store.groups.records import Group
from store.moderation import log, reports
from store.moderation.records import (
    Act,
    Acting,
    ModerationAct,
    ModerationActKind,
    Report,
    ReportAction,
    ReportReason,
    ReportState,
    Subject,
    write_messages,
)
from store.moderation.reports import Decision, ReportDraft
from store.records.jobs import Job
from store.records.lists import Entry, read_entries
from store.records.members import User
from store.records.posts import Post
from store.refusals import Refusal
from store.timelines import Slice, read_slice

FILED = "reports"  # the kind under which filed reports are counted
MESSAGES_COPIED = 5  # the reported message and those just before it


async def report(context: Context, *, subject_id: str, reason: ReportReason, note: str | None = "") -> ReportPayload:
    """Report a member, post, comment, message or group that the viewer sees. A plain repost acts for its original."""
    viewer = await context.member()
    words = checked_note(note, context.settings.max_note)
    found = await _reported(context, subject_id)
    author = await _author(context, found)
    if author == viewer:
        raise refuse(UserErrorCode.SELF, "subjectId: this is you, or yours", "subjectId")
    await _limit(context, viewer)
    subject = Subject(global_ids.kind_of(found), found.id)
    copied = await _copied(context, found) if isinstance(found, Message) else []
    copy, pictured = write_messages(copied) if copied else "", tuple([one.id for one in copied if one.images])
    made = await reports.file(context.db, ReportDraft(viewer, subject, author, reason, words, copy, pictured))
    if made is Refusal.REPORTED:
        raise refuse(UserErrorCode.CONFLICT, "subjectId: your report of this is still open", "subjectId")
    context.forget()
    return await _payload(context, made)


async def _reported(context: Context, subject_id: str) -> Subjective:
    """Return what the viewer reports; raises Refused if they do not see it."""
    named = global_ids.read(subject_id)
    if named is None:
        raise refuse(UserErrorCode.INVALID, "subjectId: this is not an id of this API", "subjectId")
    subject = await moderation.seen(context, Subject(*named))
    if subject is None or not global_ids.is_of(subject_id, subject):
        raise no_such("subject", "subjectId")
    if not isinstance(subject, Post):
        return subject
    original = await hydrate.post(context, hydrate.acts_for(subject))
    if original is None:
        raise no_such("subject", "subjectId")
    return original


async def _author(context: Context, found: Subjective) -> int:
    """Return who answers for a subject: for a group, one of its owners, the viewer before others; 0 for nobody."""
    if isinstance(found, User):
        return found.id
    if isinstance(found, Message):
        return found.sender_id
    if isinstance(found, Group):
        (roles,) = await context.batcher.run([group_reads.all_roles_command(found.id)])
        owners = group_reads.read_owners(roles)
        return context.viewer if context.viewer in owners else min(owners, default=0)
    return found.author


async def _limit(context: Context, viewer: int) -> None:
    most = context.settings.reports_per_hour
    if wait := await attempts.hourly_wait(context, FILED, str(viewer), most):
        message = f"a member files at most {most} reports in an hour: try again in {wait} s"
        raise over_limit("reports_per_hour", message)


async def _copied(context: Context, message: Message) -> list[Message]:
    """Return a message and those just before it, as far as the viewer sees them; oldest first."""
    key = kinds.MESSAGES.key(message.conversation_id)
    part = Slice(above=None, below=message.id + 1, newest_first=True, count=MESSAGES_COPIED)
    (reply,) = await context.batcher.run([read_slice(key, part)])
    messages_before = await messaging.messages(context, [entry.entity for entry in read_entries(reply)])
    return [one for one in reversed(messages_before) if one]


async def resolve_report(
    context: Context, *, report_id: str, action: ReportAction, note: str | None = ""
) -> ReportPayload:
    """Resolve a report with all open ones of its subject; moderators only. Exactly one of two concurrent calls wins."""
    moderator = await context.moderator()
    words = checked_note(note, context.settings.max_note)
    number = global_ids.expect(report_id, ("report",), "reportId")
    (stored,) = await moderation.reports(context, [number])
    if stored is None:
        raise no_such("report", "reportId")
    if stored.state is not ReportState.OPEN:
        raise _resolved()
    text = await _checked_decision(context, stored, action)
    decision = Decision(number, action, moderator, context.rank, words, text)
    match await reports.resolve(context.db, decision):
        case Refusal.GONE:
            raise no_such("report", "reportId")
        case Refusal.RESOLVED:
            raise _resolved()
        case job:
            await dispatch.finish(context.db, job, context.batcher)
            context.forget()
            return await _payload(context, number)


async def _checked_decision(context: Context, found: Report, action: ReportAction) -> str:
    """Return the text that a decision deletes, as the log keeps it; raises Refused if the decision is not possible."""
    if found.author == context.viewer:
        raise refuse(UserErrorCode.SELF, "reportId: this report is about you, or yours", "reportId")
    if action is ReportAction.DISMISS:
        return ""
    if action is ReportAction.DELETE_CONTENT and found.about.kind == "user":
        raise refuse(UserErrorCode.INVALID, "action: a member has no content to delete", "action")
    await moderation.check_rank(context, found.author, "reportId")
    if action is ReportAction.SUSPEND_AUTHOR:
        if await context.load.user.load(found.author) is None:
            raise refuse(UserErrorCode.NOT_FOUND, "action: the author's account is gone", "action")
        return ""
    if found.about.kind == MESSAGE:
        # The log keeps no private messages: moderators read them in the report, which is kept as long.
        there, text = await context.load.message.load(found.about.id) is not None, ""
    else:
        (subject,) = await moderation.subjects(context, [found.about])
        there, text = subject is not None, moderation.text_of(subject)
    if not there:
        raise refuse(UserErrorCode.NOT_FOUND, "action: nothing is left to delete", "action")
    return text


async def _payload(context: Context, report: int) -> ReportPayload:
    (stored,) = await moderation.reports(context, [report])
    return ReportPayload(report=stored)


def _resolved() -> Exception:
    return refuse(UserErrorCode.CONFLICT, "reportId: this report is resolved already", "reportId")


async def listed(
    context: Context, state: ReportState | None, first: int | None, after: str | None
) -> Page[NodeEdge[Report]]:
    """Return the reports in a state; moderators only. Open ones begin with the most reported subject."""
    await context.moderator()
    wanted = state or ReportState.OPEN

    async def rank() -> list[int]:
        (reply,) = await context.batcher.run([reports.list_command(wanted)])
        return [int(one) for one in reply]

    async def show(entries: Sequence[Entry]) -> list[NodeEdge[Report] | None]:
        stored = await moderation.reports(context, [entry.entity for entry in entries])
        return [NodeEdge("", one, one.id) if one and one.state is wanted else None for one in stored]

    kind = f"reports-{wanted.value.lower()}"
    return await snapshots.page(context, snapshots.Listing(kind, "", rank, show), first, after)


async def reporters(context: Context, found: Sequence[Report]) -> list[User | None]:
    """Return who filed each report, None where their account is gone."""
    return await moderation.people(context, [one.reporter_id for one in found])


async def resolvers(context: Context, found: Sequence[Report]) -> list[User | None]:
    """Return who resolved each report, None while it is open."""
    return await moderation.people(context, [one.resolver for one in found])


async def report_subjects(context: Context, found: Sequence[Report]) -> list[Subjective | None]:
    """Return what each report is about, None once it is gone. A message is read from the report, as `messages` does."""
    others = [one for one in found if one.about.kind != MESSAGE]
    about = iter(await moderation.subjects(context, [one.about for one in others]))
    of_messages = [one for one in found if one.about.kind == MESSAGE]
    said = iter(await moderation.reported_messages(context, of_messages))
    return [next(said) if one.about.kind == MESSAGE else next(about) for one in found]


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


async def act_subjects(context: Context, found: Sequence[ModerationAct]) -> list[Subjective | None]:
    """Return what each act was done to, None once it is gone, and for a message: that is read in its report only."""
    return await moderation.subjects(context, [one.about for one in found])


async def act_reports(context: Context, found: Sequence[ModerationAct]) -> list[Report | None]:
    """Return the report that each act is about, None without one or once it is let go of."""
    about = iter(await moderation.reports(context, [one.report_id for one in found if one.report_id]))
    return [next(about) if one.report_id else None for one in found]
