"""Groups: their members, the members' indexes, and the directory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.groups import changes, membership
from store.groups.records import GroupRole
from store.records.lists import read_pairs
from store.upkeep.kinds import Kind, existing

_INDEXES = {
    Kind.GROUP_MEMBERS: Kind.MEMBERSHIPS,
    Kind.GROUP_REQUESTS: Kind.MEMBERSHIPS,
    Kind.GROUP_INVITATIONS: Kind.INVITED,
    Kind.GROUP_BANNED: Kind.BANNED_FROM,
}
# The index has the same score as the list: who invited the member, or the id of the ban. Its place among the facts.
_SHARED_SCORES = {Kind.GROUP_INVITATIONS: 3, Kind.GROUP_BANNED: 4}


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
        return Kind.GROUP.key(self.id)


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
    joined = await db.ask(*(("ZSCORE", Kind.GROUP_MEMBERS.key(group.id), member) for group, member in held))
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


class GroupEntry(Struct, frozen=True):
    """A member on a list of a group, and whether the group, the member and the member's index entry exist."""

    kind: Kind
    group: int
    member: int
    has_group: bool
    has_member: bool
    is_indexed: bool
    facts: Sequence[str | None]  # as `membership.facts_commands` reads them

    @property
    def key(self) -> str:
        """Return the key of the list."""
        return self.kind.key(self.group)

    @property
    def is_twice(self) -> bool:
        """Whether the member is on another list of the group that rules this one out."""
        _, joined, _, _, ban = self.facts
        if self.kind in {Kind.GROUP_MEMBERS, Kind.GROUP_BANNED}:
            return bool(joined and ban) and self.kind is Kind.GROUP_BANNED
        return bool(joined or ban)


async def entries(db: Database, kind: Kind, groups: Sequence[int]) -> list[GroupEntry]:
    """Return the entries of one list of some groups. Four round trips."""
    replies = await db.ask(*(("ZRANGE", kind.key(group), 0, -1) for group in groups))
    pairs = [(group, int(m)) for group, reply in zip(groups, replies, strict=True) for m in reply]
    shared = _SHARED_SCORES.get(kind)
    members = await existing(db, Kind.USER, {member for _, member in pairs})
    scores = await db.ask(*(("ZSCORE", _INDEXES[kind].key(member), group) for group, member in pairs))
    replies = await db.ask(*(c for group, member in pairs for c in membership.facts_commands(group, member)))
    facts = membership.read_facts(replies)
    return [
        GroupEntry(
            kind,
            group,
            member,
            bool(own[0]),
            member in members,
            score is not None and (shared is None or score == own[shared]),
            own,
        )
        for (group, member), score, own in zip(pairs, scores, facts, strict=True)
    ]


def settle(db: Database, entry: GroupEntry) -> Command:
    """Return the command that makes a member's indexes agree with what they are in a group."""
    return membership.settle_command(db, entry.group, entry.member, entry.facts)


def remove(entry: GroupEntry) -> Command:
    """Return the command that takes a member off a list of a group."""
    return ("ZREM", entry.key, entry.member)


class IndexEntry(Struct, frozen=True):
    """A group in a member's index of invitations or bans, and what the member is in it."""

    kind: Kind
    member: int
    group: int
    facts: Sequence[str | None]

    @property
    def key(self) -> str:
        """Return the key of the index."""
        return self.kind.key(self.member)

    @property
    def is_right(self) -> bool:
        """Whether the group invites or bans the member, as the index says."""
        exists, _, _, inviter, ban = self.facts
        return bool(exists and (inviter if self.kind is Kind.INVITED else ban))


async def indexed(db: Database, kind: Kind, members: Sequence[int]) -> list[IndexEntry]:
    """Return the entries of some members' indexes of invitations or bans. Two round trips."""
    replies = await db.ask(*(("ZRANGE", kind.key(member), 0, -1) for member in members))
    pairs = [(member, int(g)) for member, reply in zip(members, replies, strict=True) for g in reply]
    found = await db.ask(*(c for member, group in pairs for c in membership.facts_commands(group, member)))
    facts = membership.read_facts(found)
    return [IndexEntry(kind, member, group, own) for (member, group), own in zip(pairs, facts, strict=True)]


def settle_indexed(db: Database, entry: IndexEntry) -> Command:
    """Return the command that makes a member's indexes agree with what they are in a group."""
    return membership.settle_command(db, entry.group, entry.member, entry.facts)


async def sizes(db: Database, members: Iterable[int]) -> list[tuple[str, int]]:
    """Return the key of each member's index of groups, and its number of entries. One round trip."""
    owned = [keys.memberships(member) for member in members]
    return list(zip(owned, await db.ask(*(("ZCARD", key) for key in owned)), strict=True))


def directory_key() -> str:
    """Return the key of the directory."""
    return keys.group_directory()


async def listed(db: Database) -> list[int]:
    """Return all groups in the directory."""
    return [int(group) for group in await db.one("ZRANGE", keys.group_directory(), 0, -1)]


def drop(key: str) -> Command:
    """Return the command that removes a list of a group that is gone, or an index of a member who is gone."""
    return ("DEL", key)
