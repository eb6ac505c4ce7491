"""Reading groups: commands, and the keys of lists that are read a page at a time."""

from collections.abc import Sequence

from store import keys
from store.client.database import Command
from store.groups.records import GroupRole
from store.records.lists import read_pairs

DIRECTORY_SIZE = 100  # groups that the directory shows


def group_command(group: int) -> Command:
    """Return the command that reads a group's record."""
    return ("HGETALL", keys.group(group))


def joined_command(group: int, member: int) -> Command:
    """Return the command that reads the id of a member's joining, None for who is not in the group."""
    return ("ZSCORE", keys.group_members(group), member)


def role_command(group: int, member: int) -> Command:
    """Return the command that reads a member's role in a group, None for those without one above MEMBER."""
    return ("HGET", keys.group_roles(group), member)


def roles_command(group: int, members: Sequence[int]) -> Command:
    """Return the command that reads the roles of some members as `role_command` does."""
    return ("HMGET", keys.group_roles(group), *members)


def all_roles_command(group: int) -> Command:
    """Return the command that reads all roles of a group above MEMBER, for `read_owners`."""
    return ("HGETALL", keys.group_roles(group))


def read_owners(reply: Sequence[str] | dict[str, str]) -> set[int]:
    """Return the owners of a group from the reply to `all_roles_command`."""
    roles = reply if isinstance(reply, dict) else read_pairs(reply)
    return {int(member) for member, role in roles.items() if role == GroupRole.OWNER.value}


def requested_command(group: int, member: int) -> Command:
    """Return the command that reads a member's request to join a group, None without one."""
    return ("ZSCORE", keys.group_requests(group), member)


def member_count_command(group: int) -> Command:
    """Return the command that counts the members of a group."""
    return ("ZCARD", keys.group_members(group))


def read_role(role: str | None) -> GroupRole:
    """Return the role of somebody who is in a group, from the reply to `role_command`."""
    return GroupRole(role) if role else GroupRole.MEMBER


def ban_command(group: int, member: int) -> Command:
    """Return the command that reads a member's ban from a group, None without one."""
    return ("ZSCORE", keys.group_banned(group), member)


def has_bans_command(group: int) -> Command:
    """Return the command that says whether a group bans anybody."""
    return ("EXISTS", keys.group_banned(group))


def directory_command() -> Command:
    """Return the command that reads the largest groups that are not private, largest first."""
    return ("ZRANGE", keys.group_directory(), 0, DIRECTORY_SIZE - 1, "REV")
