"""The inputs of reports and of moderators' acts."""

import strawberry

from schema.types.descriptions import enum
from schema.types.moderation import NOTE
from store.credentials.records import Role
from store.moderation.records import ReportAction, ReportReason

enum(
    ReportAction,
    "A moderator's decision on a report.",
    DISMISS="Nothing is done.",
    DELETE_CONTENT="The post, comment or message is deleted. A group is hidden.",
    SUSPEND_AUTHOR="The member is suspended, or who wrote the post, comment or message, or owns the group.",
)


@strawberry.input(description="A report of something that the viewer sees.")
class ReportInput:
    subject_id: strawberry.ID = strawberry.field(
        description="The id of a member, post, comment, message or group. A plain repost acts for its original."
    )
    reason: ReportReason = strawberry.field(description="Why it is reported.")
    note: str | None = strawberry.field(default="", description=f"What there is to add. {NOTE}")


@strawberry.input(description="A decision on a report, and on all open ones of the same subject.")
class ResolveReportInput:
    report_id: strawberry.ID = strawberry.field(description="The id of an open report.")
    action: ReportAction = strawberry.field(description="What is done.")
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
