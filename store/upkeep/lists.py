"""The checks that follow from the declarations of keys and lists in `store.kinds`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from store import kinds, notifications
from store.client.database import Command, Database
from store.kinds import KeyKind, List, Owned, Record
from store.settings import Settings
from store.upkeep import counters, groups, relationships
from store.upkeep.entries import ListedEntry, entries, remove
from store.upkeep.findings import Check, Finding, ask_each, existing

Mend = Callable[
    [Database, Sequence[ListedEntry]], Awaitable[list[list[Command]]]
]  # returns the commands for each entry

# How entries are mended on whose two sides lists disagree, where more than the lists has to change.
MENDS: Mapping[List, Mend] = {
    kinds.FOLLOWING: relationships.apply_follows,
    kinds.REQUESTED: relationships.apply_requests,
    kinds.BLOCKED: relationships.apply_blocks,
    **dict.fromkeys((kinds.GROUP_MEMBERS, kinds.GROUP_REQUESTS, kinds.GROUP_INVITATIONS), groups.settle_members),
    kinds.GROUP_BANNED: groups.settle_members,
    **dict.fromkeys((kinds.INVITED, kinds.BANNED_FROM), groups.settle_groups),
}
# How lists are trimmed that may lose their oldest entries.
TRIMS: Mapping[List, Callable[[Database, int], Sequence[Command]]] = dict.fromkeys(
    (kinds.NOTIFICATIONS, kinds.WITHDRAWN_NOTIFICATIONS, kinds.MENTIONS), notifications.trim
)


def declared(kind: KeyKind) -> list[Check]:
    """Return the checks that follow from the declaration of a kind of key."""
    checks: list[Check] = []
    if isinstance(kind, Record):
        checks += [_counted(kind)] if kinds.counted(kind) else []
        checks += [_placed(kind)] if kinds.naming(kind) else []
    if isinstance(kind, Owned) and kind.is_owner_checked:
        checks.append(_owned(kind))
    if isinstance(kind, List) and kind.most:
        checks.append(_bounded(kind, kind.most))
    if isinstance(kind, List) and (kind.entries or kind.copied_to or kinds.truths(kind)):
        checks.append(_listed(kind))
    return checks


def _owned(kind: Owned) -> Check:
    """Return a check that the owner of each key of a kind exists."""
    nobody = "nobody" if kind.of is kinds.USER else f"no {kind.of.noun}"

    async def check(db: Database, owners: Sequence[int]) -> list[Finding]:
        exists = await existing(db, kind.of, owners)
        gone = [kind.key(owner) for owner in owners if owner not in exists]
        return [Finding(key, f"belongs to {nobody}", [("DEL", key)]) for key in gone]

    return check


def _bounded(of: List, bound: Callable[[Settings], int]) -> Check:
    """Return a check that a list has at most as many entries as its setting says."""

    async def check(db: Database, owners: Sequence[int]) -> list[Finding]:
        most = bound(db.settings)
        looks = {owner: [("ZCARD", of.key(owner))] for owner in owners}
        return [
            Finding(of.key(owner), f"has {size} entries, at most {most}", TRIMS[of](db, owner) if of in TRIMS else ())
            for owner, (size,) in await ask_each(db, looks)
            if size > most
        ]

    return check


def _listed(of: List) -> Check:
    """Return a check that what a list has exists and belongs there, and that the other side agrees."""

    async def check(db: Database, owners: Sequence[int]) -> list[Finding]:
        listed = await entries(db, of, owners)
        gone = [Finding(entry.key, f"{entry.entity} is gone", remove(entry)) for entry in listed if not entry.belongs]
        return gone + await _unequal(db, of, [one for one in listed if one.belongs and not one.agrees])

    return check


async def _unequal(db: Database, of: List, some: Sequence[ListedEntry]) -> list[Finding]:
    """Return a finding for each entry that the other side has not, or with another score."""
    if of in MENDS:
        mends = await MENDS[of](db, some)
    else:
        mends = [_copy_to_other_side(entry) if of.copied_to else remove(entry) for entry in some]
    return [
        Finding(entry.key, f"{entry.entity} is {entry.other} on the other side, {entry.place} here", mend)
        for entry, mend in zip(some, mends, strict=True)
    ]


def _copy_to_other_side(entry: ListedEntry) -> list[Command]:
    """Return the commands that add an entry to the list on the other side."""
    assert entry.of.copied_to
    score = entry.owner if entry.of.copied_to.has_own_ids else entry.place
    return [("ZADD", entry.of.copied_to.key(entry.entity), score, entry.owner)]


def _placed(record: Record) -> Check:
    """Return a check that the lists that a record names have it, and those alone."""
    lists = kinds.naming(record)
    flags = list(dict.fromkeys(flag for one in lists for flag in (one.only_with, one.never_with) if flag))
    fields = [*(one.named_by for one in lists), *flags]

    async def check(db: Database, ids: Sequence[int]) -> list[Finding]:
        named: dict[tuple[List, int, int, bool], Sequence[Command]] = {}
        for entity, (reply,) in await ask_each(db, {one: [("HMGET", record.key(one), *fields)] for one in ids}):
            read = dict(zip(fields, reply, strict=True))
            for of in lists:
                if owner := read[of.named_by]:
                    named[of, int(owner), entity, _belongs(of, read)] = [("ZSCORE", of.key(int(owner)), entity)]
        wrong = [
            (of, owner, entity, belongs)
            for (of, owner, entity, belongs), (score,) in await ask_each(db, named)
            if (score is not None) != belongs
        ]
        exist = {of: await existing(db, of.of, {owner for its, owner, *_ in wrong if its is of}) for of in lists}
        return [
            _misplaced(of, owner, entity, belongs=belongs)
            for of, owner, entity, belongs in wrong
            if owner in exist[of] or not of.is_owner_checked
        ]

    return check


def _belongs(of: List, record: Mapping[str, str | None]) -> bool:
    is_there = not of.only_with or record[of.only_with] is not None
    return is_there and not (of.never_with and record[of.never_with] is not None)


def _misplaced(of: List, owner: int, entity: int, *, belongs: bool) -> Finding:
    """Return the finding that a list disagrees with a record that names it."""
    assert of.entries
    key = of.key(owner)
    change: Command = ("ZADD", key, entity, entity) if belongs else ("ZREM", key, entity)
    message = f"is {'not ' if belongs else ''}in {key}"
    return Finding(of.entries.key(entity), message, [change, *counters.recount_list(of, owner)])


def _counted(record: Record) -> Check:
    """Return a check that each counter of a record is the size of its list."""

    async def check(db: Database, owners: Sequence[int]) -> list[Finding]:
        counted = kinds.counted(record)
        sized = [of for one in counted.values() for of in (one, one.uncounted) if of]
        looks = {
            owner: [
                ("EXISTS", record.key(owner)),
                ("HMGET", record.key(owner), *counted),
                *(("ZCARD", of.key(owner)) for of in sized),
            ]
            for owner in owners
        }
        found: list[Finding] = []
        for owner, (exists, numbers, *replies) in await ask_each(db, looks):
            sizes = dict(zip(sized, replies, strict=True))
            for (name, of), number in zip(counted.items(), numbers, strict=True):
                total = sizes[of] - (sizes[of.uncounted] if of.uncounted else 0)
                if exists and int(number or 0) != total:
                    message = f"says {int(number or 0)} {name}, there are {total}"
                    found.append(Finding(record.key(owner), message, counters.recount_list(of, owner)))
        return found

    return check
