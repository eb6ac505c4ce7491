"""Invariants of groups: owners, lists that rule each other out, and the directory."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Check, Finding
from store.client.database import Command, Database
from store.groups.records import GroupRole
from store.kinds import List
from store.upkeep import groups as stored
from store.upkeep import lists
from store.upkeep.groups import GroupFacts
from store.upkeep.lists import ListedEntry
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


def excluded(of: List) -> Check:
    """Return the check that nobody is on a list of groups, and on another that rules this one out."""

    async def check(db: Database, groups: Sequence[int]) -> list[Finding]:
        return [
            Finding(entry.key, f"{entry.entity} is in the group already, or banned", lists.remove(entry))
            for entry in await stored.twice(db, of, groups)
        ]

    return check


async def settle_members(db: Database, entries: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands by which each member's indexes agree with the list of a group that names them."""
    return await stored.settle(db, [(entry.owner, entry.entity) for entry in entries])


async def settle_groups(db: Database, entries: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands by which each member's indexes agree with the group that one of them names."""
    return await stored.settle(db, [(entry.entity, entry.owner) for entry in entries])
