"""Keys of groups, which lie in the partition of the member who created them, and of the groups that a member is in."""

from store.keys.declaring import owned_by

_group = owned_by("group")
_member = owned_by("member")

group = _group("group")
"""hash: name, description and kind of a group, and whether moderators of the site hide it"""
group_members = _group("group_members")
"""zset: member of a group → id of their joining; of one who asked to join, that of the request"""
group_roles = _group("group_roles")
"""hash: member of a group with a higher role than the others → that role; a group has at least one owner"""
group_requests = _group("group_requests")
"""zset: who asks to join a private group → id of the request"""
group_invitations = _group("group_invitations")
"""zset: who is invited to a group and has not joined it → member who invited them"""
group_banned = _group("group_banned")
"""zset: who may not come back to a group, nor see what is in it → id of the ban; at most `MAX_BLOCKED`"""
group_timeline = _group("group_timeline")
"""zset: post in a group, hidden ones too → its own id"""
group_changes = _group("group_changes")
"""zset: post → id of its newest change in the group; newest `GROUP_CHANGES_KEPT`; `floor` → highest id trimmed"""
memberships = _member("memberships")
"""zset: group joined or asked → id of this entry; an index that may name too much; at most `MAX_GROUPS`"""
invited = _member("invited")
"""zset: group that a member is invited to → who invited them; an index, the truth is `group-invitations`"""
banned_from = _member("banned_from")
"""zset: group that bans a member → id of the ban; an index, the truth is `group-banned`"""


def group_directory() -> str:
    """zset: group that is neither private nor hidden → how many members it has"""
    return "group-directory:{groups}"


group_channel = _group("group_channel", stem="group")
"""The Pub/Sub channel on which changes to a group's timeline, or to who may read it, are published."""
