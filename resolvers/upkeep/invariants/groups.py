"""Invariants of groups: owners, lists that agree with the members' indexes, and the directory."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Check, Finding
from store.client.database import Command, Database
from store.groups.records import GroupRole
from store.upkeep import groups as stored
from store.upkeep.groups import GroupEntry, GroupFacts
from store.upkeep.kinds import Kind, existing
from store.upkeep.scanning import KeyBatch


async def groups(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each group has an owner, all roles belong to members, and the directory has its number of members."""
    found: list[Finding] = []
    for group in await stored.facts(db, ids):
        if group.exists:
            found += [
                Finding(group.key, f"{member} has a role and is not in it", [stored.take_role(group.id, member)])
                for member in group.strangers
            ]
            found += _without_owner(group)
            found += _directory(group)
    return found


def _without_owner(group: GroupFacts) -> list[Finding]:
    owners = [member for member, role in group.roles.items() if role is GroupRole.OWNER]
    if any(member not in group.strangers for member in owners):
        return []
    mend = [] if group.oldest is None else [stored.make_owner(group.id, group.oldest)]
    return [Finding(group.key, "has no owner", mend)]


def _directory(group: GroupFacts) -> list[Finding]:
    if group.listed == group.count:
        return []
    message = f"has {group.count} members, in the directory {group.listed}"
    return [Finding(group.key, message, [stored.correct_directory(group)])]


async def directory(db: Database, found: KeyBatch) -> list[Finding]:
    """Each group in the directory exists. That of existing ones is checked with the group."""
    if not found.has_group_directory:
        return []
    facts = await stored.facts(db, await stored.listed(db))
    return [
        Finding(stored.directory_key(), f"has {group.id}, which is gone", [stored.correct_directory(group)])
        for group in facts
        if not group.exists
    ]


def listed(kind: Kind) -> Check:
    """Return the check of one list of groups: group and members exist, and the members' indexes have the group."""

    async def check(db: Database, ids: Sequence[int]) -> list[Finding]:
        found: list[Finding] = []
        for entry in await stored.entries(db, kind, ids):
            message, repair = _wrong(db, entry)
            if message:
                found.append(Finding(entry.key, message, [repair]))
        return found

    return check


def _wrong(db: Database, entry: GroupEntry) -> tuple[str, Command]:
    if not entry.has_group:
        return "belongs to no group", stored.drop(entry.key)
    if not entry.has_member:
        return f"{entry.member} does not exist", stored.remove(entry)
    if entry.is_twice:
        return f"{entry.member} is in the group already, or banned", stored.remove(entry)
    if not entry.is_indexed:
        return f"is not known to {entry.member}", stored.settle(db, entry)
    return "", ()


def owned(kind: Kind) -> Check:
    """Return the check that each key of a kind belongs to a group that exists."""

    async def check(db: Database, ids: Sequence[int]) -> list[Finding]:
        exists = await existing(db, Kind.GROUP, ids)
        return [
            Finding(key, "belongs to no group", [stored.drop(key)])
            for key in (kind.key(group) for group in ids if group not in exists)
        ]

    return check


async def memberships(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each index of groups belongs to a member, and is within its bound. It may name too much."""
    most, exists = db.settings.max_groups, await existing(db, Kind.USER, members)
    found = [
        Finding(key, "belongs to nobody", [stored.drop(key)])
        for key in (Kind.MEMBERSHIPS.key(member) for member in members if member not in exists)
    ]
    sizes = await stored.sizes(db, [member for member in members if member in exists])
    return [*found, *(Finding(key, f"has {size} entries, at most {most}") for key, size in sizes if size > most)]


def indexed(kind: Kind, what: str) -> Check:
    """Return the check of an index of members: each group in it invites or bans the member, as `what` says."""

    async def check(db: Database, members: Sequence[int]) -> list[Finding]:
        exists = await existing(db, Kind.USER, members)
        found = [
            Finding(key, "belongs to nobody", [stored.drop(key)])
            for key in (kind.key(member) for member in members if member not in exists)
        ]
        entries = await stored.indexed(db, kind, [member for member in members if member in exists])
        return found + [
            Finding(entry.key, f"is not {what} {entry.group}", [stored.settle_indexed(db, entry)])
            for entry in entries
            if not entry.is_right
        ]

    return check
