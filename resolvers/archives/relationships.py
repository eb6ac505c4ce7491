"""Sections of the member's relationships: lists of members, groups."""

from collections.abc import AsyncIterator, Sequence
from functools import partial

from resolvers.archives.viewing import Export, ExportContext, Read, Written, made, pages, people
from resolvers.reading import global_ids, hydrate
from resolvers.reading import groups as reading
from resolvers.reading.named_members import See
from store import kinds
from store.exports import lists
from store.groups.records import Group, GroupRole
from store.kinds import List
from store.records.lists import read_pairs


async def _members(export: Export, listed: List, see: See) -> AsyncIterator[list[Written]]:
    async for view, entries in pages(export, listed, export.member):
        named = await people(view, [entry.entity for entry in entries], see)
        yield [{"member": named[entry.entity], "since": made(entry.place)} for entry in entries if named[entry.entity]]


def members_in(listed: List, see: See = hydrate.users) -> Read:
    """Return the reader of a list of members, as far as the exported member sees them. Two round trips a page."""
    return partial(_members, listed=listed, see=see)


async def groups(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the groups that the member is in, asks to join, or is invited to. Four round trips a page."""
    async for view, entries in pages(export, kinds.MEMBERSHIPS, export.member):
        ids = [entry.entity for entry in entries]
        shown = await reading.groups(view, ids)
        since = {entry.entity: made(entry.place) for entry in entries}
        asked = dict(zip(ids, await view.load.has_asked_group.load_many(ids), strict=True))
        roles = await _roles(view, shown)
        yield [
            {**_group(view, group), "role": role.value if role else "ASKED", "since": since[group.id]}
            for group, role in roles
            if role or asked[group.id]
        ]
    view = export.view()
    (reply,) = await view.batcher.run([lists.invited_command(export.member)])
    invited = {int(group): int(by) for group, by in read_pairs(reply).items()}
    shown = await reading.groups(view, list(invited)) if invited else []
    named = await people(view, invited.values())
    yield [
        {**_group(view, group), "role": "INVITED", "invitedBy": named[invited[group.id]]} for group in shown if group
    ]


async def _roles(view: ExportContext, found: Sequence[Group | None]) -> list[tuple[Group, GroupRole | None]]:
    there = [group for group in found if group]
    return list(zip(there, await reading.roles(view, there), strict=True))


def _group(view: ExportContext, group: Group) -> Written:
    entry = {"id": global_ids.of(group), "name": group.name, "kind": group.kind.value}
    return {**entry, "description": group.description} if view.load.open_groups[group.id] else entry
