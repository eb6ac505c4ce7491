"""Groups, their members, and lists of both."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Any

import strawberry

from resolvers import group_members, groups, timelines
from resolvers.group_members import MemberEdge
from resolvers.reading import groups as shown
from schema.types.descriptions import CREATED_AT, CURSOR, EDGES, NODES, PAGE_INFO, connection, edge, enum, limit
from schema.types.nodes import (
    After,
    Before,
    First,
    Info,
    Last,
    Node,
    PageInfo,
    TimelineFirst,
    batched,
    created_at,
    is_a,
    later,
    nodes_of,
)
from schema.types.users import User, UserConnection
from store.groups import reads, records

enum(
    records.GroupKind,
    "Who may join, read and post in a group.",
    PUBLIC="Anyone joins and reads. Its members post.",
    PRIVATE="Members are let in, and only they read and post.",
    ANNOUNCEMENT="Anyone joins and reads. Its moderators and owners post.",
)
enum(
    records.GroupRole,
    "A member's role in a group. Nobody acts on an equal or higher role.",
    MEMBER="May read and post.",
    MODERATOR="May also delete posts, invite members to a private group, let them in, remove and ban them.",
    OWNER="May also change and delete the group, and give roles.",
)


def _description(roots: list[records.Group], info: Info) -> Awaitable[list[str]]:
    return groups.descriptions(info.context, roots)


def _member_count(roots: list[records.Group], info: Info) -> Awaitable[list[int]]:
    return groups.member_counts(info.context, roots)


def _viewer_role(roots: list[records.Group], info: Info) -> Awaitable[Any]:
    return shown.roles(info.context, roots)


def _viewer_has_requested(roots: list[records.Group], info: Info) -> Awaitable[list[bool]]:
    return groups.viewer_has_requested(info.context, roots)


def _members(root: records.Group, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return group_members.members(info.context, root, first, after)


def _join_requests(root: records.Group, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return group_members.join_requests(info.context, root, first, after)


def _banned(root: records.Group, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return group_members.banned(info.context, root, first, after)


def _timeline(
    root: records.Group,
    info: Info,
    first: TimelineFirst = None,
    after: After = None,
    last: Last = None,
    before: Before = None,
) -> Awaitable[Any]:
    return timelines.in_group(info.context, root, timelines.Span(first, after, last, before))


def _joined_at(root: MemberEdge) -> datetime:
    return root.at


@strawberry.type(description=edge("a member of a group"))
class GroupMemberEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: User = strawberry.field(description="The member.")
    role: records.GroupRole = strawberry.field(description="The member's role in the group.")
    joined_at = strawberry.field(
        resolver=_joined_at, description="When the member joined. For one who was let in, when they asked to."
    )


@strawberry.type(description=connection("members of a group"))
class GroupMemberConnection:
    edges: list[GroupMemberEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[User], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


@strawberry.type(
    description="A group of members with a timeline of its own. Everybody sees that it exists. Only members see what "
    "is in a private group: others see its name, its kind, and what they are to it. A member whom a group bans sees no "
    "more of any kind of group."
)
class Group(Node):
    name: str = strawberry.field(description=f"1 to {limit('group_name')} characters in one line.")
    description = batched(
        _description,
        graphql_type=str,
        description=f"At most {limit('group_description')} characters. Empty where the viewer may not see what is in "
        "the group.",
    )
    kind: records.GroupKind = strawberry.field(description="Who may join, read and post.")
    is_hidden: bool = strawberry.field(
        description="Whether moderators of the site hide it. Then only they see what is in it, and only they and its "
        "members see that it exists."
    )
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime, description=CREATED_AT)
    member_count = batched(
        _member_count,
        graphql_type=int,
        description="How many members it has, the same for everybody who may see what is in it. 0 for others.",
    )
    members = strawberry.field(
        resolver=_members,
        graphql_type=GroupMemberConnection | None,
        description="Its members, newest first. Null where the viewer may not see what is in it.",
    )
    join_requests = strawberry.field(
        resolver=_join_requests,
        graphql_type=UserConnection | None,
        description="Who asks to join, newest request first. Null for all but its moderators and owners.",
    )
    banned = strawberry.field(
        resolver=_banned,
        graphql_type=UserConnection | None,
        description="Whom it bans, newest ban first. They may not come back. Null for all but its moderators and "
        "owners.",
    )
    viewer_role = batched(
        _viewer_role,
        graphql_type=records.GroupRole | None,
        description="The viewer's role in it. Null where the viewer is not in it.",
    )
    viewer_has_requested_to_join = batched(
        _viewer_has_requested,
        graphql_type=bool,
        description="Whether the viewer asked to join and was not answered yet. False for an anonymous request.",
    )

    timeline = strawberry.field(
        resolver=_timeline,
        graphql_type=later("Timeline", "schema.types.timelines") | None,
        description="The posts in it, newest first. Null where the viewer may not see what is in it.",
    )

    is_type_of = is_a(records.Group)


@strawberry.type(description=edge("a group"))
class GroupEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Group = strawberry.field(description="The group.")


@strawberry.type(description=connection("groups"))
class GroupConnection:
    edges: list[GroupEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Group], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


DIRECTORY = (
    f"The directory of public and announcement groups: the {reads.DIRECTORY_SIZE} with most members, largest first."
)


def directory(info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return groups.directory(info.context, first, after)
