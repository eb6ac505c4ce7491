"""Groups, their members, lists of both, and the inputs of their mutations."""

import strawberry

from resolvers import groups, timelines
from resolvers.reading.groups import roles
from schema.types.descriptions import IDEMPOTENCY_KEY, enum, limit
from schema.types.fields import batched, field, is_a, later, resolved
from schema.types.nodes import Node, created
from schema.types.paging import PAGE, PAGE_EITHER_WAY, connection, since
from schema.types.users import User, UserConnection
from store.groups import records

GROUP_ID = "The id of the group."
NAME = f"1 to {limit('group_name')} characters in one line."
DESCRIPTION = f"At most {limit('group_description')} characters."

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


GroupMemberConnection = connection(
    User,
    "a member of a group",
    "members of a group",
    name="GroupMember",
    node_is="The member.",
    role=field("The member's role in the group.", records.GroupRole),
    joined_at=since("When the member joined. For one who was let in, when they asked to."),
)


@strawberry.type(
    description="A group of members with a timeline of its own. Everybody sees that it exists. Only members see what "
    "is in a private group: others see its name, its kind, and what they are to it. A member whom a group bans sees no "
    "more of any kind of group."
)
class Group(Node):
    name: str = field(NAME, cached=True)
    description = batched(
        groups.descriptions,
        str,
        f"{DESCRIPTION} Empty where the viewer may not see what is in the group.",
    )
    kind: records.GroupKind = field("Who may join, read and post.")
    is_hidden: bool = field(
        "Whether moderators of the site hide it. Then only they see what is in it, and only they and its "
        "members see that it exists.",
        cached=True,
    )
    created_at = created()
    member_count = batched(
        groups.member_counts,
        int,
        "How many members it has, the same for everybody who may see what is in it. 0 for others.",
    )
    members = resolved(
        groups.members,
        GroupMemberConnection | None,
        "Its members, newest first. Null where the viewer may not see what is in it.",
        takes=PAGE,
    )
    join_requests = resolved(
        groups.join_requests,
        UserConnection | None,
        "Who asks to join, newest request first. Null for all but its moderators and owners.",
        takes=PAGE,
    )
    banned = resolved(
        groups.banned,
        UserConnection | None,
        "Whom it bans, newest ban first. They may not come back. Null for all but its moderators and owners.",
        takes=PAGE,
    )
    viewer_role = batched(
        roles, records.GroupRole | None, "The viewer's role in it. Null where the viewer is not in it."
    )
    viewer_has_requested_to_join = batched(
        groups.viewer_has_requested,
        bool,
        "Whether the viewer asked to join and was not answered yet. False for an anonymous request.",
    )

    timeline = resolved(
        timelines.in_group,
        later("Timeline", "schema.types.timelines") | None,
        "The posts in it, newest first. Null where the viewer may not see what is in it.",
        takes=PAGE_EITHER_WAY,
        cached=True,
    )

    is_type_of = is_a(records.Group, is_kept=True)


GroupConnection = connection(Group, "a group", "groups")


@strawberry.input(description="A new group.")
class CreateGroupInput:
    name: str = strawberry.field(description=NAME)
    description: str | None = strawberry.field(default="", description=DESCRIPTION)
    kind: records.GroupKind = strawberry.field(description="Who may join, read and post.")
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY_KEY)


@strawberry.input(description="A change of a group. Fields that are left out stay as they are.")
class UpdateGroupInput:
    group_id: strawberry.ID = strawberry.field(description=GROUP_ID)
    name: str | None = strawberry.field(default=None, description=NAME)
    description: str | None = strawberry.field(default=None, description=DESCRIPTION)
    kind: records.GroupKind | None = strawberry.field(
        default=None, description="Who may join, read and post from now on."
    )


@strawberry.input(description="A group.")
class GroupIdInput:
    group_id: strawberry.ID = strawberry.field(description=GROUP_ID)


@strawberry.input(description="A group, and some members.")
class GroupUsersInput:
    group_id: strawberry.ID = strawberry.field(description=GROUP_ID)
    user_ids: list[strawberry.ID] = strawberry.field(
        description=f"The ids of the members, at most {limit('max_ids')}. More are refused with BAD_USER_INPUT."
    )


@strawberry.input(description="A role of a member in a group.")
class SetGroupRoleInput:
    group_id: strawberry.ID = strawberry.field(description=GROUP_ID)
    user_id: strawberry.ID = strawberry.field(description="The id of the member.")
    role: records.GroupRole = strawberry.field(description="The new role.")
