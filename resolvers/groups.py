"""Groups: creating, changing and deleting them, what they show to whom, and lists of groups."""

from collections.abc import Sequence

from resolvers.jobs import dispatch
from resolvers.operation.context import Context
from resolvers.operation.inputs import checked_key, input_digest, key_conflict
from resolvers.operation.payloads import DeleteGroupPayload, GroupPayload
from resolvers.process.errors import (
    UserError,
    UserErrorCode,
    field_error,
    no_such,
    not_allowed,
    over_limit,
    refuse,
    refuse_all,
)
from resolvers.process.tokens import Claims
from resolvers.reading import groups as shown
from resolvers.reading import paging, snapshots
from resolvers.reading.paging import NodeEdge, Page
from resolvers.rules.text import TextRefused, normalise
from store import kinds
from store.groups import changes, reads
from store.groups.changes import GroupDraft
from store.groups.records import Group, GroupKind
from store.keys.fields import GroupField
from store.records.jobs import Created, Job
from store.records.lists import Entry
from store.refusals import Refusal


async def create_group(
    context: Context, *, name: str, description: str | None = "", kind: GroupKind, idempotency_key: str | None = None
) -> GroupPayload:
    """Create a group whose owner is the viewer. All errors in the input are reported together."""
    owner = await context.member()
    errors: list[UserError] = []
    key = checked_key(idempotency_key)
    clean_name, clean_description = _name(context, name, errors), _description(context, description or "", errors)
    refuse_all(errors)
    draft = GroupDraft(
        owner, clean_name, clean_description, kind, key, input_digest(clean_name, clean_description, kind.value)
    )
    match await changes.create(context.db, draft):
        case Refusal.CONFLICT:
            raise key_conflict()
        case Refusal.FULL:
            raise over_limit("max_groups", shown.too_many(context))
        case Created(_, group, job):
            shown_group = await _finish(context, group, job)
            if shown_group is None:
                raise refuse(UserErrorCode.NOT_FOUND, "the group has been deleted since")
            return GroupPayload(group=shown_group)


async def update_group(
    context: Context,
    *,
    group_id: str,
    name: str | None = None,
    description: str | None = None,
    kind: GroupKind | None = None,
) -> GroupPayload:
    """Change a group; owners only. Requests to a group that is no longer private are granted."""
    viewer = await context.member()
    group = await shown.acted_on(context, group_id)
    errors: list[UserError] = []
    wanted = {
        GroupField.NAME: None if name is None else _name(context, name, errors),
        GroupField.DESCRIPTION: None if description is None else _description(context, description, errors),
        GroupField.KIND: None if kind is None else kind.value,
    }
    refuse_all(errors)
    fields = {field: value for field, value in wanted.items() if value is not None}
    job = _owned(await changes.update(context.db, group.id, viewer, fields))
    return GroupPayload(group=await _finish(context, group.id, job))


async def delete_group(context: Context, *, group_id: str) -> DeleteGroupPayload:
    """Delete a group with all its posts; owners only."""
    viewer = await context.member()
    group = await shown.acted_on(context, group_id)
    await _finish(context, group.id, _owned(await changes.delete(context.db, group.id, viewer)))
    return DeleteGroupPayload(deleted_group_id=group_id)


def _owned(outcome: Job | changes.NotOwned | None) -> Job | None:
    """Return the job of an owner's change, None when nothing has changed; raises Refused."""
    match outcome:
        case Refusal.GONE:
            raise no_such("group", "groupId")
        case Refusal.DENIED:
            raise not_allowed("only its owners may do this", "groupId")
        case job:
            return job


async def _finish(context: Context, group: int, job: Job | None) -> Group | None:
    """Run the job of a change; return the group as it is now."""
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    return await shown.group(context, group)


def _name(context: Context, text: str, errors: list[UserError]) -> str:
    return _text(text, "name", context.settings.group_name, errors)


def _description(context: Context, text: str, errors: list[UserError]) -> str:
    return _text(text, "description", context.settings.group_description, errors)


def _text(text: str, field: str, limit: int, errors: list[UserError]) -> str:
    is_name = field == "name"
    try:
        return normalise(text, limit=limit, multiline=not is_name, may_be_empty=not is_name)
    except TextRefused as refusal:
        errors.append(field_error(UserErrorCode(refusal.code), f"{field}: {refusal}", field))
        return ""


async def descriptions(context: Context, groups: Sequence[Group]) -> list[str]:
    """Return the description of each group, "" where the viewer does not see what is in it."""
    return [
        group.description if is_open else ""
        for group, is_open in zip(groups, await _open(context, groups), strict=True)
    ]


async def member_counts(context: Context, groups: Sequence[Group]) -> list[int]:
    """Return the number of members of each group, 0 where the viewer does not see what is in it."""
    load, ids = context.load, [group.id for group in groups]
    sizes = await load.group_size.load_many(ids)
    return [size if is_open else 0 for size, is_open in zip(sizes, await _open(context, groups), strict=True)]


async def _open(context: Context, groups: Sequence[Group]) -> list[bool]:
    """Return of each group whether the viewer sees what is in it. No round trip if `shown.groups` has read them."""
    ids = [group.id for group in groups]
    await shown.groups(context, ids)
    return [context.load.open_groups[number] for number in ids]


async def viewer_has_requested(context: Context, groups: Sequence[Group]) -> list[bool]:
    """Return whether the viewer asks to join each group."""
    return await context.load.has_asked_group.load_many([group.id for group in groups])


async def viewer_groups(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[Group]]:
    """Return the groups that the viewer is in, newest first."""
    asked = paging.window(context.settings, "groups", first=first, after=after)

    async def present(_: Context, ids: Sequence[int]) -> list[Group | None]:
        groups = await shown.groups(context, ids)
        joined = context.load.is_in_group.loaded(ids)
        return [group if is_member else None for group, is_member in zip(groups, joined, strict=True)]

    return await paging.read_list(context, asked, kinds.MEMBERSHIPS.key(who.member), present)


async def directory(context: Context, first: int | None, after: str | None) -> Page[NodeEdge[Group]]:
    """Return the largest groups that are not private, largest first, in the order of one snapshot.

    A member does not find those that ban them.
    """

    async def rank() -> list[int]:
        (reply,) = await context.batcher.run([reads.directory_command()])
        return [int(group) for group in reply]

    async def show(entries: Sequence[Entry]) -> list[NodeEdge[Group] | None]:
        groups, opens = await shown.groups(context, [entry.entity for entry in entries]), context.load.open_groups
        return [
            NodeEdge("", group, group.id) if group and group.kind is not GroupKind.PRIVATE and opens[group.id] else None
            for group in groups
        ]

    return await snapshots.page(context, snapshots.Listing("group-directory", "", rank, show), first, after)
