"""Invariants of declared lists: owners and entries exist, and both sides and counts agree; and of public timelines."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from resolvers.upkeep.invariants import groups, relationships
from resolvers.upkeep.invariants.findings import Check, Finding
from store import kinds, notifications
from store.client.database import Command, Database
from store.kinds import KeyKind, List, Owned, Record
from store.settings import Settings
from store.upkeep import counters, lists, timelines
from store.upkeep.lists import ListedEntry, existing

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
        return [Finding(key, f"belongs to {nobody}", lists.drop(key)) for key in gone]

    return check


def _bounded(of: List, bound: Callable[[Settings], int]) -> Check:
    """Return a check that a list has at most as many entries as its setting says."""

    async def check(db: Database, owners: Sequence[int]) -> list[Finding]:
        most = bound(db.settings)
        return [
            Finding(of.key(owner), f"has {size} entries, at most {most}", TRIMS[of](db, owner) if of in TRIMS else ())
            for owner, size in zip(owners, await lists.sizes(db, of, owners), strict=True)
            if size > most
        ]

    return check


def _listed(of: List) -> Check:
    """Return a check that what a list has exists and belongs there, and that the other side agrees."""

    async def check(db: Database, owners: Sequence[int]) -> list[Finding]:
        entries = await lists.entries(db, of, owners)
        gone = [
            Finding(entry.key, f"{entry.entity} is gone", lists.remove(entry)) for entry in entries if not entry.belongs
        ]
        return gone + await _unequal(db, [one for one in entries if one.belongs and not one.agrees])

    return check


async def _unequal(db: Database, entries: Sequence[ListedEntry]) -> list[Finding]:
    """Return a finding for each entry that the other side has not, or with another score."""
    if not entries:
        return []
    of = entries[0].of
    mends = [lists.copy_to_other_side(entry) if of.copied_to else lists.remove(entry) for entry in entries]
    if of in MENDS:
        mends = await MENDS[of](db, entries)
    return [
        Finding(entry.key, f"{entry.entity} is {entry.other} on the other side, {entry.place} here", mend)
        for entry, mend in zip(entries, mends, strict=True)
    ]


def _placed(record: Record) -> Check:
    """Return a check that the lists that a record names have it, and those alone."""

    async def check(db: Database, ids: Sequence[int]) -> list[Finding]:
        return [
            Finding(record.key(one.entity), f"is {'not ' if one.belongs else ''}in {one.key}", lists.replace(one))
            for one in await lists.misplaced(db, record, ids)
        ]

    return check


def _counted(record: Record) -> Check:
    """Return a check that each counter of a record is the size of its list."""

    async def check(db: Database, owners: Sequence[int]) -> list[Finding]:
        return [
            Finding(
                record.key(one.owner),
                f"says {one.stored} {one.of.counter}, there are {one.total}",
                counters.recount_list(one.of, one.owner),
            )
            for one in await counters.counts(db, record, owners)
            if one.stored != one.total
        ]

    return check


async def timeline_entries(db: Database, key: str, size: int) -> list[Finding]:
    """Each public timeline is bounded, and holds only posts that exist, belong there, and that everybody may see."""
    posts = await timelines.entries(db, key)
    gone = [post.id for post in posts if not post.exists]
    kept = [post.id for post in posts if post.exists and not post.is_seen_by_all]
    strange = [post.id for post in posts if post.exists and not post.is_here]
    found: list[Finding] = []
    if len(posts) > size:
        message = f"has {len(posts)} entries, at most {size}"
        found.append(Finding(key, message, [timelines.trim_entries(key, size)]))
    for these, what in (
        (gone, "that are gone"),
        (kept, "that not all may see"),
        (strange, "that do not belong there"),
    ):
        if these:
            found.append(Finding(key, f"has {len(these)} posts {what}", [timelines.remove_entries(key, these)]))
    return found
