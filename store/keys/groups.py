"""Keys of groups, which lie in the partition of the member who created them, and of the groups that a member is in."""

from store.ids import partition


def group(group: int) -> str:
    """hash: name, description and kind of a group, and whether moderators of the site hide it"""
    return f"group:{{{partition(group)}}}:{group}"


def group_members(group: int) -> str:
    """zset: member of a group → id of their joining; of one who asked to join, that of the request"""
    return f"group-members:{{{partition(group)}}}:{group}"


def group_roles(group: int) -> str:
    """hash: member of a group with a higher role than the others → that role; a group has at least one owner"""
    return f"group-roles:{{{partition(group)}}}:{group}"


def group_requests(group: int) -> str:
    """zset: who asks to join a private group → id of the request"""
    return f"group-requests:{{{partition(group)}}}:{group}"


def group_invitations(group: int) -> str:
    """zset: who is invited to a group and has not joined it → member who invited them"""
    return f"group-invitations:{{{partition(group)}}}:{group}"


def group_banned(group: int) -> str:
    """zset: who may not come back to a group, nor see what is in it → id of the ban; at most `MAX_BLOCKED`"""
    return f"group-banned:{{{partition(group)}}}:{group}"


def group_timeline(group: int) -> str:
    """zset: post in a group, hidden ones too → its own id"""
    return f"group-timeline:{{{partition(group)}}}:{group}"


def group_changes(group: int) -> str:
    """zset: post → id of its newest change in the group; newest `GROUP_CHANGES_KEPT`; `floor` → highest id trimmed"""
    return f"group-changes:{{{partition(group)}}}:{group}"


def memberships(member: int) -> str:
    """zset: group joined or asked → id of this entry; an index that may name too much; at most `MAX_GROUPS`"""
    return f"memberships:{{{partition(member)}}}:{member}"


def invited(member: int) -> str:
    """zset: group that a member is invited to → who invited them; an index, the truth is `group-invitations`"""
    return f"invited:{{{partition(member)}}}:{member}"


def banned_from(member: int) -> str:
    """zset: group that bans a member → id of the ban; an index, the truth is `group-banned`"""
    return f"banned-from:{{{partition(member)}}}:{member}"


def group_directory() -> str:
    """zset: group that is neither private nor hidden → how many members it has"""
    return "group-directory:{groups}"


def group_channel(group: int) -> str:
    """Return the Pub/Sub channel on which changes to a group's timeline, or to who may read it, are published."""
    return f"group:{{{partition(group)}}}:{group}"
