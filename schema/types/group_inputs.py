"""Inputs of the mutations of groups."""

import strawberry

from schema.types.descriptions import IDEMPOTENCY_KEY, limit
from store.groups.records import GroupKind, GroupRole

GROUP_ID = "The id of the group."
NAME = f"1 to {limit('group_name')} characters in one line."
DESCRIPTION = f"At most {limit('group_description')} characters."


@strawberry.input(description="A new group.")
class CreateGroupInput:
    name: str = strawberry.field(description=NAME)
    description: str | None = strawberry.field(default="", description=DESCRIPTION)
    kind: GroupKind = strawberry.field(description="Who may join, read and post.")
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY_KEY)


@strawberry.input(description="A change of a group. Fields that are left out stay as they are.")
class UpdateGroupInput:
    group_id: strawberry.ID = strawberry.field(description=GROUP_ID)
    name: str | None = strawberry.field(default=None, description=NAME)
    description: str | None = strawberry.field(default=None, description=DESCRIPTION)
    kind: GroupKind | None = strawberry.field(default=None, description="Who may join, read and post from now on.")


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
    role: GroupRole = strawberry.field(description="The new role.")
