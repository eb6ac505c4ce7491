"""Reports of members, and the log of what moderators and administrators have done."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Annotated, Any

import strawberry

from resolvers import moderation, reports
from resolvers.reading import moderation as shown
from schema.types.conversations import Message
from schema.types.descriptions import CREATED_AT, CURSOR, EDGES, NODES, PAGE_INFO, connection, edge, enum, limit
from schema.types.groups import Group
from schema.types.nodes import After, First, Info, Node, PageInfo, batched, created_at, is_a, nodes_of
from schema.types.posts import Comment, Repost, Status
from schema.types.users import User
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

ReportSubject = Annotated[
    User | Status | Repost | Comment | Message | Group,
    strawberry.union("ReportSubject", description="What a report, or an act of a moderator, is about."),
]


def _reporter(roots: list[records.Report], info: Info) -> Awaitable[Any]:
    return reports.reporters(info.context, roots)


def _resolved_by(roots: list[records.Report], info: Info) -> Awaitable[Any]:
    return reports.resolvers(info.context, roots)


def _subject(roots: list[records.Report], info: Info) -> Awaitable[Any]:
    return reports.subjects(info.context, roots)


def _messages(roots: list[records.Report], info: Info) -> Awaitable[Any]:
    return shown.messages(info.context, roots)


@strawberry.type(
    description="A member's report of something. Moderators see all of them, and its reporter sees it while it is "
    "open. Moderators see the subject whatever hides it from others."
)
class Report(Node):
    reporter = batched(
        _reporter, graphql_type=User | None, description="Who reported it. Null once their account is gone."
    )
    subject = batched(
        _subject,
        graphql_type=ReportSubject | None,
        description="What was reported. Null once it is gone, and for a reporter who may not see it any more. For a "
        "message, reading it is logged as reading `messages` is.",
    )
    reason: records.ReportReason = strawberry.field(description="Why it was reported.")
    note: str = strawberry.field(description="What the reporter adds. It may be empty.")
    state: records.ReportState = strawberry.field(description="Whether it is resolved, and how.")
    report_count: int = strawberry.field(
        description="How many members reported the same subject, this one included. Its reporter reads 1: only "
        "moderators learn of the reports of others."
    )
    messages = batched(
        _messages,
        graphql_type=list[Message],
        description="For a report of a message: a copy of that one and of those just before it, "
        f"{reports.MESSAGES_COPIED} at most, oldest first. Empty for other reports. It is a moderator's only way to "
        "read private messages, and that they read them is logged.",
    )
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime, description=CREATED_AT)
    resolved_by = batched(
        _resolved_by,
        graphql_type=User | None,
        description="The moderator who resolved it. Null while it is open, and once their account is gone.",
    )

    is_type_of = is_a(records.Report)


@strawberry.type(description=edge("a report"))
class ReportEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Report = strawberry.field(description="The report.")


@strawberry.type(description=connection("reports"))
class ReportConnection:
    edges: list[ReportEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Report], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


State = Annotated[
    records.ReportState | None, strawberry.argument(description="The state of the reports to list. Null is OPEN.")
]


def listed(
    info: Info, state: State = records.ReportState.OPEN, first: First = 20, after: After = None
) -> Awaitable[Any]:
    return reports.listed(info.context, state or records.ReportState.OPEN, first, after)


def _actor(roots: list[records.ModerationAct], info: Info) -> Awaitable[Any]:
    return moderation.actors(info.context, roots)


def _act_subject(roots: list[records.ModerationAct], info: Info) -> Awaitable[Any]:
    return moderation.subjects(info.context, roots)


def _report(roots: list[records.ModerationAct], info: Info) -> Awaitable[Any]:
    return moderation.reports(info.context, roots)


def _removed_text(root: records.ModerationAct) -> str | None:
    return root.removed


@strawberry.type(
    description="What a moderator, an administrator or an operator has done. Nothing is ever taken out of the log. "
    "Only moderators see it."
)
class ModerationAct(Node):
    actor = batched(
        _actor,
        graphql_type=User | None,
        description="Who did it. Null for an operator on the command line, and once their account is gone.",
    )
    kind: records.ModerationActKind = strawberry.field(description="The kind of act.")
    subject = batched(
        _act_subject,
        graphql_type=ReportSubject | None,
        description="What it was done to. Null once that is gone, and for a message: that is read in its report only.",
    )
    report = batched(
        _report, graphql_type=Report | None, description="The report that was resolved. Null where there was none."
    )
    note: str = strawberry.field(description="What the moderator adds. It may be empty.")
    removed_text = strawberry.field(
        resolver=_removed_text,
        graphql_type=str | None,
        description="The text of the post or comment that was deleted, or the group's name and description. It is kept "
        f"for {limit('moderation_log_days')} days. Null after that, and for other acts.",
    )
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime, description=CREATED_AT)

    is_type_of = is_a(records.ModerationAct)


@strawberry.type(description=edge("an act"))
class ModerationActEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: ModerationAct = strawberry.field(description="The act.")


@strawberry.type(description=connection("acts"))
class ModerationActConnection:
    edges: list[ModerationActEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[ModerationAct], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


def log(info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return moderation.moderation_log(info.context, first, after)
