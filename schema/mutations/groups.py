"""The mutations of groups, which `schema.mutations.mutation` takes up."""

import strawberry

from resolvers import groups
from schema.mutations.declaring import mutation
from schema.types.descriptions import limit
from schema.types.groups import (
    CreateGroupInput,
    GroupIdInput,
    GroupUsersInput,
    SetGroupRoleInput,
    UpdateGroupInput,
)


@strawberry.type
class GroupMutations:
    create_group = mutation(
        groups.create_group,
        CreateGroupInput,
        "Creates a group, whose owner is the viewer. A member is in, or asks to join, at most "
        f"{limit('max_groups')} groups.",
    )
    update_group = mutation(
        groups.update_group,
        UpdateGroupInput,
        "Changes a group. Owners only. A new kind changes at once who sees what is in it. Requests to a "
        "group that is no longer private are granted.",
    )
    delete_group = mutation(
        groups.delete_group, GroupIdInput, "Deletes a group with all posts in it, for good. Owners only."
    )
    join_group = mutation(
        groups.join_group,
        GroupIdInput,
        "Joins a group at once, or asks to join a private one. Who is invited to a private group joins at "
        "once. Whom the group bans is refused.",
    )
    leave_group = mutation(
        groups.leave_group,
        GroupIdInput,
        "Leaves a group, takes back a request to join it, or declines an invitation. Its only owner cannot "
        "leave. The viewer's posts stay in it.",
    )
    invite_to_group = mutation(
        groups.invite_to_group,
        GroupUsersInput,
        "Invites members, who are notified. Any member of a group may do so, in a private group only its "
        "moderators. Who has asked to join is let in.",
    )
    approve_group_members = mutation(
        groups.approve_group_members,
        GroupUsersInput,
        "Lets members in who ask to join a group. Its moderators only.",
    )
    reject_group_members = mutation(
        groups.reject_group_members,
        GroupUsersInput,
        "Turns members away who ask to join a group. Its moderators only.",
    )
    remove_group_members = mutation(
        groups.remove_group_members,
        GroupUsersInput,
        "Removes members from a group, and takes back invitations to it. Its moderators only, and only for "
        "members with a lower role. The members' posts stay in it.",
    )
    ban_group_members = mutation(
        groups.ban_group_members,
        GroupUsersInput,
        "Removes members from a group and keeps them out, whether or not they are in it. Its moderators "
        "only, and only for members with a lower role. Banned members see of it what strangers see of a private group. "
        f"A group bans at most {limit('max_blocked')} members.",
    )
    unban_group_members = mutation(
        groups.unban_group_members,
        GroupUsersInput,
        "Ends bans of members from a group. They may join again, or ask to. Its moderators only.",
    )
    set_group_role = mutation(
        groups.set_group_role,
        SetGroupRoleInput,
        "Gives a member of a group a role. Owners only, except that everybody may give up a role of their "
        "own. There may be several owners, and there is at least one.",
    )
