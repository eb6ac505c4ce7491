"""Groups: owners, lists that rule each other out, the directory, and how members' indexes are made to agree."""

from collections.abc import Mapping, Sequence

from store import keys, kinds
from store.client.database import Command, Database
from store.groups import changes, membership
from store.groups.records import GroupRole
from store.keys.fields import GroupField
from store.kinds import List
from store.records.lists import read_pairs
from store.upkeep.entries import ListedEntry, entries, remove
from store.upkeep.findings import Check, Finding, ask_each


async def groups(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each group has an owner, all roles belong to members, and the directory has its number of members."""
    looks = {
        group: [
            *changes.count_commands(group),
            ("HGETALL", keys.group_roles(group)),
            ("ZRANGE", keys.group_members(group), 0, -1),
            ("ZSCORE", keys.group_directory(), group),
        ]
        for group in ids
    }
    found: list[Finding] = []
    for group, (state, size, texts, members, listed) in await ask_each(db, looks):
        if state[0] is not None:
            roles = {int(member): GroupRole(role) for member, role in read_pairs(texts).items()}
            found += _roles(group, roles, members)
            count = changes.read_count(state, size)
            there = None if listed is None else int(listed)
            if there != count:
                message = f"has {count} members, in the directory {there}"
                found.append(Finding(keys.group(group), message, [changes.directory_command(group, count)]))
    return found


def _roles(group: int, roles: Mapping[int, GroupRole], members: Sequence[str]) -> list[Finding]:
    """Return what is wrong with the roles of a group, whose members are given with the oldest first."""
    key, of_roles, present = keys.group(group), keys.group_roles(group), {*members}
    strangers = [member for member in roles if str(member) not in present]
    found = [
        Finding(key, f"{member} has a role and is not in it", [("HDEL", of_roles, member)]) for member in strangers
    ]
    if not any(role is GroupRole.OWNER and member not in strangers for member, role in roles.items()):
        mend = [("HSET", of_roles, int(member), GroupRole.OWNER.value) for member in members[:1]]
        found.append(Finding(key, "has no owner", mend))
    return found


async def directory(db: Database, listing: Sequence[str]) -> list[Finding]:
    """Each group in the directory exists. That of existing ones is checked with the group."""
    (key,) = listing
    listed = map(int, await db.one("ZRANGE", key, 0, -1))
    looks = {group: [("HGET", keys.group(group), GroupField.KIND)] for group in listed}
    return [
        Finding(key, f"has {group}, which is gone", [changes.directory_command(group, None)])
        for group, (kind,) in await ask_each(db, looks)
        if kind is None
    ]


def excluded(of: List) -> Check:
    """Return the check that nobody is on a list of groups, and on another that rules this one out."""

    async def check(db: Database, groups: Sequence[int]) -> list[Finding]:
        listed = await entries(db, of, groups)
        facts = await _facts(db, [(entry.owner, entry.entity) for entry in listed])
        return [
            Finding(entry.key, f"{entry.entity} is in the group already, or banned", remove(entry))
            for entry, (_, joined, _, _, ban) in zip(listed, facts, strict=True)
            if joined or (ban and of is not kinds.GROUP_BANNED)
        ]

    return check


async def settle_members(db: Database, entries: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands by which each member's indexes agree with the list of a group that names them."""
    return await _settle(db, [(entry.owner, entry.entity) for entry in entries])


async def settle_groups(db: Database, entries: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands by which each member's indexes agree with the group that one of them names."""
    return await _settle(db, [(entry.entity, entry.owner) for entry in entries])


async def _settle(db: Database, pairs: Sequence[tuple[int, int]]) -> list[list[Command]]:
    facts = await _facts(db, pairs)
    return [[membership.settle_command(db, *pair, own)] for pair, own in zip(pairs, facts, strict=True)]


async def _facts(db: Database, pairs: Sequence[tuple[int, int]]) -> list[Sequence[str | None]]:
    """Return what each member is in the group beside them, as `membership.facts_commands` reads it. One round trip."""
    commands = [command for group, member in pairs for command in membership.facts_commands(group, member)]
    return membership.read_facts(await db.ask(*commands))


async def logs(db: Database, groups: Sequence[int]) -> list[Finding]:
    """Each log of changes is within its bound. The next change trims it."""
    most = db.settings.group_changes_kept
    logs = map(keys.group_changes, groups)
    looks = {log: [("ZCARD", log), ("ZSCORE", log, "floor")] for log in logs}
    return [
        Finding(log, f"has {changed} changes, at most {most}")
        for log, (size, floor) in await ask_each(db, looks)
        if (changed := size - (floor is not None)) > most
    ]
