"""Reports of members, the log of what moderators and administrators have done, and the inputs of both."""

from typing import Annotated

import strawberry

from resolvers import moderation
from resolvers.reading.moderation import messages as messages_of_reports
from schema.types.conversations import Message
from schema.types.descriptions import enum, limit
from schema.types.fields import argument, batched, computed, field, is_a
from schema.types.groups import Group
from schema.types.nodes import Node, created
from schema.types.paging import PAGE, connection
from schema.types.posts import Comment, Repost, Status
from schema.types.users import User
from store.credentials.records import Role
from store.moderation import records

NOTE = f"At most {limit('max_note')} characters."

enum(
    records.ReportReason,
    "Why something is reported.",
    SPAM="It is advertising or repeats itself.",
    ABUSE="It insults, threatens or harasses somebody.",
    ILLEGAL="It is against the law.",
    OTHER="The note says why.",
)
enum(
    records.ReportState,
    "Whether a report is resolved, and how.",
    OPEN="No moderator has decided yet.",
    DISMISSED="A moderator saw no reason to act.",
    ACTIONED="A moderator has deleted the content or suspended its author.",
)
enum(
    records.ModerationActKind,
    "An act of a moderator or administrator.",
    REPORT_DISMISSED="All open reports of the subject were dismissed.",
    CONTENT_DELETED="A post, comment or message was deleted, or a group hidden.",
    USER_SUSPENDED="A member was suspended.",
    USER_UNSUSPENDED="A member's suspension was ended.",
    ROLE_CHANGED="A member was given a role, with which the note begins.",
    PROMOTION_CREATED="A promotion was begun. The subject is what it shows, or for an advertisement its sponsor.",
    PROMOTION_ENDED="A promotion was ended.",
    MESSAGES_READ="The messages of a report were read. It is logged once for each moderator and report.",
    GROUP_SHOWN="A hidden group was shown again.",
)
enum(
    records.ReportAction,
    "A moderator's decision on a report.",
    DISMISS="Nothing is done.",
    DELETE_CONTENT="The post, comment or message is deleted. A group is hidden.",
    SUSPEND_AUTHOR="The member is suspended, or who wrote the post, comment or message, or owns the group.",
)

ReportSubject = Annotated[
    User | Status | Repost | Comment | Message | Group,
    strawberry.union("ReportSubject", description="What a report, or an act of a moderator, is about."),
]


@strawberry.type(
    description="A member's report of something. Moderators see all of them, and its reporter sees it while it is "
    "open. Moderators see the subject whatever hides it from others."
)
class Report(Node):
    reporter = batched(moderation.reporters, User | None, "Who reported it. Null once their account is gone.")
    subject = batched(
        moderation.report_subjects,
        ReportSubject | None,
        "What was reported. Null once it is gone, and for a reporter who may not see it any more. For a "
        "message, reading it is logged as reading `messages` is.",
    )
    reason: records.ReportReason = field("Why it was reported.")
    note: str = field("What the reporter adds. It may be empty.")
    state: records.ReportState = field("Whether it is resolved, and how.")
    report_count: int = field(
        "How many members reported the same subject, this one included. Its reporter reads 1: only "
        "moderators learn of the reports of others."
    )
    messages = batched(
        messages_of_reports,
        list[Message],
        "For a report of a message: a copy of that one and of those just before it, "
        f"{moderation.MESSAGES_COPIED} at most, oldest first. Empty for other reports. It is a moderator's only way to "
        "read private messages, and that they read them is logged.",
    )
    created_at = created()
    resolved_by = batched(
        moderation.resolvers,
        User | None,
        "The moderator who resolved it. Null while it is open, and once their account is gone.",
    )

    is_type_of = is_a(records.Report)


ReportConnection = connection(Report, "a report", "reports")


REPORTS = {
    "state": argument(
        records.ReportState | None,
        "The state of the reports to list. Null is OPEN.",
        default=records.ReportState.OPEN,
    ),
    **PAGE,
}


def _removed_text(root: records.ModerationAct) -> str | None:
    return root.removed


@strawberry.type(
    description="What a moderator, an administrator or an operator has done. Nothing is ever taken out of the log. "
    "Only moderators see it."
)
class ModerationAct(Node):
    actor = batched(
        moderation.actors,
        User | None,
        "Who did it. Null for an operator on the command line, and once their account is gone.",
    )
    kind: records.ModerationActKind = field("The kind of act.")
    subject = batched(
        moderation.act_subjects,
        ReportSubject | None,
        "What it was done to. Null once that is gone, and for a message: that is read in its report only.",
    )
    report = batched(moderation.act_reports, Report | None, "The report that was resolved. Null where there was none.")
    note: str = field("What the moderator adds. It may be empty.")
    removed_text = computed(
        _removed_text,
        str | None,
        "The text of the post or comment that was deleted, or the group's name and description. It is kept "
        f"for {limit('moderation_log_days')} days. Null after that, and for other acts.",
    )
    created_at = created()

    is_type_of = is_a(records.ModerationAct)


ModerationActConnection = connection(ModerationAct, "an act", "acts")


@strawberry.input(description="A report of something that the viewer sees.")
class ReportInput:
    subject_id: strawberry.ID = strawberry.field(
        description="The id of a member, post, comment, message or group. A plain repost acts for its original."
    )
    reason: records.ReportReason = strawberry.field(description="Why it is reported.")
    note: str | None = strawberry.field(default="", description=f"What there is to add. {NOTE}")


@strawberry.input(description="A decision on a report, and on all open ones of the same subject.")
class ResolveReportInput:
    report_id: strawberry.ID = strawberry.field(description="The id of an open report.")
    action: records.ReportAction = strawberry.field(description="What is done.")
    note: str | None = strawberry.field(default="", description=f"What the log says of it. {NOTE}")


@strawberry.input(description="A role for a member.")
class SetRoleInput:
    user_id: strawberry.ID = strawberry.field(description="The id of another member of a lower role.")
    role: Role = strawberry.field(description="The role, from their next request on.")
    note: str | None = strawberry.field(default="", description=f"What the log says of it. {NOTE}")


@strawberry.input(description="A suspension of a member, or the end of one.")
class SuspendUserInput:
    user_id: strawberry.ID = strawberry.field(description="The id of another member of a lower role.")
    suspended: bool = strawberry.field(description="True to suspend them, false to end it.")
    note: str | None = strawberry.field(default="", description=f"What the log says of it. {NOTE}")


@strawberry.input(description="A group to hide or to show again.")
class HideGroupInput:
    group_id: strawberry.ID = strawberry.field(description="The id of a group whose owners have a lower role.")
    note: str | None = strawberry.field(default="", description=f"What the log says of it. {NOTE}")
