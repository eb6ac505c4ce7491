"""Groups: their members, the members' indexes, and the directory."""

from collections.abc import Sequence

from msgspec import Struct

from store import keys, kinds
from store.client.database import Command, Database
from store.groups import changes, membership
from store.groups.records import GroupRole
from store.kinds import List
from store.records.lists import read_pairs
from store.upkeep import lists
from store.upkeep.lists import ListedEntry


class GroupFacts(Struct, frozen=True):
    """A group's roles, its oldest member, and what the directory says and should say about it."""

    id: int
    exists: bool
    roles: dict[int, GroupRole]
    strangers: list[int]  # members with a role who are not in the group
    oldest: int | None
    count: int | None
    listed: int | None

    @property
    def key(self) -> str:
        """Return the key of the group."""
        return kinds.GROUP.key(self.id)


async def facts(db: Database, groups: Sequence[int]) -> list[GroupFacts]:
    """Return the facts about some groups. Two round trips."""
    replies = iter(await db.ask(*(command for group in groups for command in _facts_commands(group))))
    found: list[GroupFacts] = []
    for group, state, size, roles, first, listed in zip(groups, *[replies] * 5, strict=True):
        read = {int(member): GroupRole(role) for member, role in read_pairs(roles).items()}
        count = changes.read_count(state, size)
        oldest = int(first[0]) if first else None
        there = None if listed is None else int(listed)
        found.append(GroupFacts(group, state[0] is not None, read, [], oldest, count, there))
    held = [(group, member) for group in found for member in group.roles]
    joined = await db.ask(*(("ZSCORE", kinds.GROUP_MEMBERS.key(group.id), member) for group, member in held))
    for (group, member), score in zip(held, joined, strict=True):
        if score is None:
            group.strangers.append(member)
    return found


def _facts_commands(group: int) -> list[Command]:
    return [
        *changes.count_commands(group),
        ("HGETALL", keys.group_roles(group)),
        ("ZRANGE", keys.group_members(group), 0, 0),
        ("ZSCORE", keys.group_directory(), group),
    ]


def take_role(group: int, member: int) -> Command:
    """Return the command that takes a member's role away."""
    return ("HDEL", keys.group_roles(group), member)


def make_owner(group: int, member: int) -> Command:
    """Return the command that makes a member an owner."""
    return ("HSET", keys.group_roles(group), member, GroupRole.OWNER.value)


def correct_directory(group: GroupFacts) -> Command:
    """Return the command that makes the directory right about a group."""
    return changes.directory_command(group.id, group.count)


async def facts_of(db: Database, pairs: Sequence[tuple[int, int]]) -> list[Sequence[str | None]]:
    """Return what each member is in the group beside them, as `membership.facts_commands` reads it. One round trip."""
    commands = [command for group, member in pairs for command in membership.facts_commands(group, member)]
    return membership.read_facts(await db.ask(*commands))


async def twice(db: Database, of: List, groups: Sequence[int]) -> list[ListedEntry]:
    """Return the entries of those who are on another list of the group that rules this one out. Four round trips."""
    entries = await lists.entries(db, of, groups)
    facts = await facts_of(db, [(entry.owner, entry.entity) for entry in entries])
    return [
        entry
        for entry, (_, joined, _, _, ban) in zip(entries, facts, strict=True)
        if joined or (ban and of is not kinds.GROUP_BANNED)
    ]


async def settle(db: Database, pairs: Sequence[tuple[int, int]]) -> list[list[Command]]:
    """Return the command for each group and member that makes the member's indexes agree with what they are in it."""
    facts = await facts_of(db, pairs)
    return [[membership.settle_command(db, *pair, own)] for pair, own in zip(pairs, facts, strict=True)]


def directory_key() -> str:
    """Return the key of the directory."""
    return keys.group_directory()


async def listed(db: Database) -> list[int]:
    """Return all groups in the directory."""
    return [int(group) for group in await db.one("ZRANGE", keys.group_directory(), 0, -1)]
