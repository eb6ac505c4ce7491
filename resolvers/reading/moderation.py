"""Hydration of reports and acts: ids become the records that the viewer may see, and what they are about.

A reporter sees their own report while it is open. Moderators see every report and act, and the subject itself whatever
the rules would hide from them: it may be private, hidden, or by a member who blocks them.
"""

from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from resolvers.operation.context import Context
from resolvers.process.errors import UserErrorCode, not_allowed, refuse
from resolvers.reading import groups, hydrate, messaging
from store.conversations.records import Message
from store.credentials.records import Role
from store.groups.records import Group
from store.moderation import log
from store.moderation.records import (
    OPERATOR,
    OPERATOR_RANK,
    RANKS,
    Act,
    Acting,
    ModerationAct,
    ModerationActKind,
    Report,
    ReportState,
    Subject,
    read_messages,
)
from store.moderation.reports import messages_command, read_reports, report_command
from store.records.members import User
from store.records.posts import Comment, Post

MESSAGE = "message"
Subjective = User | Post | Comment | Message | Group


async def people(context: Context, members: Sequence[int]) -> list[User | None]:
    """Return who filed or resolved reports, and who acted, as moderators see them; None where there is nobody."""
    hydrate.grant(context, members)
    users = iter(await hydrate.users(context, [member for member in members if member]))
    return [next(users) if member else None for member in members]


async def reports(context: Context, ids: Sequence[int]) -> list[Report | None]:
    """Return reports as the viewer sees them, None for those they cannot see; one round trip."""
    if context.viewer is None:
        return [None] * len(ids)
    stored = read_reports(ids, await context.batcher.run([report_command(report) for report in ids]))
    return [_counted(context, report) if report and sees(context, report) else None for report in stored]


def _counted(context: Context, report: Report) -> Report:
    """Return a report with the number of reports that the viewer may know of: a reporter does not learn of others."""
    return report if context.is_moderator else replace(report, report_count=1)


def sees(context: Context, report: Report) -> bool:
    """Return whether the viewer sees a report; valid after the session check.

    A reporter does not see a resolved one, as it would tell what was decided about others.
    """
    is_own = report.reporter_id == context.viewer and report.state is ReportState.OPEN
    return is_own or context.is_moderator


async def acts(context: Context, ids: Sequence[int]) -> list[ModerationAct | None]:
    """Return acts, None for all if the viewer is no moderator; one round trip."""
    replies = await context.batcher.run(log.act_commands(ids))
    return log.read_acts(ids, replies) if context.is_moderator else [None] * len(ids)


async def subjects(context: Context, about: Sequence[Subject]) -> list[Subjective | None]:
    """Return subjects as the viewer sees them; None for those that are gone.

    Two round trips for each kind among them: the records, and their authors.
    """
    by_subject: dict[Subject, Subjective | None] = {}
    for kind in dict.fromkeys(one.kind for one in about):
        of_kind = [one for one in dict.fromkeys(about) if one.kind == kind]
        ids = [one.id for one in of_kind]
        loaders = _EVERYTHING if context.is_moderator else SEEN
        by_subject |= dict(zip(of_kind, await loaders[kind](context, ids), strict=True))
    return [by_subject[one] for one in about]


async def messages(context: Context, found: Sequence[Report]) -> list[list[Message]]:
    """Return the messages that each report carries, oldest first; [] for a report of anything else.

    One round trip, and one more that logs which reports a moderator has read. The reporter was in the conversation. A
    suspended reporter sees no messages.
    """
    carrying = [report for report in found if report.about.kind == MESSAGE and sees(context, report)]
    if not carrying or context.is_suspended:
        return [[] for _ in found]
    texts = await context.batcher.run([messages_command(report.id) for report in carrying])
    viewer = context.viewer or 0
    reading = [report for report in carrying if report.reporter_id != viewer]
    await log.append(context.db, *(_read_by(viewer, report) for report in reading))
    read = {
        report.id: read_messages(text, is_evidence=report in reading)
        for report, text in zip(carrying, texts, strict=True)
    }
    hydrate.grant(context, {message.sender_id for copy in read.values() for message in copy})
    return [read.get(report.id, []) for report in found]


def _read_by(viewer: int, report: Report) -> Act:
    """Return the act of a moderator who reads the messages of a report. It is logged once."""
    name = f"{report.id}:{viewer}"
    return Act(viewer, ModerationActKind.MESSAGES_READ, report.about, report.id, name=name)


async def reported_messages(context: Context, found: Sequence[Report]) -> list[Message | None]:
    """Return the message that each of some reports is about, None once it is deleted. It counts as read."""
    said = await messages(context, found)
    await context.load.message.load_many([report.about.id for report in found])
    there = context.load.message.found
    return [
        next((one for one in copy if one.id == report.about.id and there.get(one.id)), None)
        for copy, report in zip(said, found, strict=True)
    ]


async def _users(context: Context, ids: Sequence[int]) -> list[User | None]:
    hydrate.grant(context, ids)
    return await hydrate.users(context, ids)


async def _posts(context: Context, ids: Sequence[int]) -> list[Post | None]:
    stored = await hydrate.records(context, ids)
    hydrate.grant(context, {post.author for post in stored if post})
    sight = await hydrate.sight_of_posts(context, stored)
    # A deleted member's posts and comments disappear a little after the member.
    return [post if post and sight.of(post.author).member else None for post in stored]


async def _comments(context: Context, ids: Sequence[int]) -> list[Comment | None]:
    stored = await context.load.comment.load_many(ids)
    authors = {comment.author for comment in stored if comment}
    hydrate.grant(context, authors)
    sight = await hydrate.sight_of(context, authors)
    return [comment if comment and sight.of(comment.author).member else None for comment in stored]


async def _nothing(_: Context, ids: Sequence[int]) -> list[None]:
    """Return None for messages: moderators read them in reports only."""
    return [None] * len(ids)


Load = Callable[[Context, Sequence[int]], Awaitable[Sequence[Subjective | None]]]

SEEN: dict[str, Load] = {
    "user": hydrate.users,
    "status": hydrate.posts,
    "repost": hydrate.posts,
    "comment": hydrate.comments,
    "group": groups.groups,
    MESSAGE: messaging.messages,
}
_EVERYTHING: dict[str, Load] = {
    **SEEN,
    "user": _users,
    "status": _posts,
    "repost": _posts,
    "comment": _comments,
    MESSAGE: _nothing,
}


async def seen(context: Context, subject: Subject) -> Subjective | None:
    """Return a subject as members see it, None for what they cannot see and for ids of other kinds."""
    if subject.kind not in SEEN:
        return None
    (shown,) = await SEEN[subject.kind](context, [subject.id])
    return shown


def text_of(subject: Subjective | None) -> str:
    """Return the text of a subject, as the log keeps it when it is deleted."""
    if isinstance(subject, Group):
        return f"{subject.name}\n{subject.description}"
    return "" if subject is None or isinstance(subject, User) else subject.text


async def check_rank(context: Context, member: int, field: str) -> None:
    """Raise Refused unless the viewer's role is above a member's. A deleted account has no role."""
    if member == context.viewer:
        raise refuse(UserErrorCode.SELF, f"{field}: nobody acts as a moderator on what is theirs", field)
    stored = await context.load.credentials.load(member)
    if stored and RANKS[stored.role] >= context.rank:
        raise outranked(field)


def outranked(field: str) -> Exception:
    """Return the refusal of an act on an equal or superior."""
    return not_allowed("nobody acts on a member of an equal or higher role", field)


def role_act(actor: int, member: int, role: Role, note: str = "") -> Act:
    """Return the act of giving a role. Its note begins with the role."""
    words = f"{role.value}: {note}" if note else role.value
    return Act(actor, ModerationActKind.ROLE_CHANGED, Subject("user", member), note=words)


def by_operator(kind: ModerationActKind, member: int, role: Role | None = None) -> Acting:
    """Return who acts on the command line. The log names nobody as the actor."""
    act = role_act(OPERATOR, member, role) if role else Act(OPERATOR, kind, Subject("user", member))
    return Acting(OPERATOR_RANK, act)
