"""Blocking and muting: one or many members at once."""

from collections.abc import Sequence

from resolvers.jobs import dispatch
from resolvers.operation.context import Context
from resolvers.operation.payloads import UsersPayload
from resolvers.process.tokens import Claims
from resolvers.reading import hydrate, paging
from resolvers.reading.named_members import Targets, targets
from resolvers.reading.paging import NodeEdge, Page
from store import blocks, kinds, other_side
from store.records.members import User


async def block(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Block members. This ends all follows between them and the viewer, and hides each from the other.

    A member who blocks the viewer can be blocked back, though the viewer does not see them.
    """
    named = await targets(context, user_ids, other_side=other_side.edge_commands, see=hydrate.to_block)
    there = other_side.read(named.there, other_side.edge)
    return await _done(context, named, await blocks.block(context.db, named.viewer, named.members, there), "blocks")


async def unblock(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Unblock members. Follows that a block ended are not restored."""
    viewer = await context.member()
    among = [kinds.BLOCKED.key(viewer)]
    named = await targets(context, user_ids, among=among, other_side=other_side.edge_commands)
    there = other_side.read(named.there, other_side.edge)
    return await _done(context, named, await blocks.unblock(context.db, viewer, named.members, there))


async def mute(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Mute members: leave them out of the viewer's timelines, notifications and streams, without notifying them."""
    named = await targets(context, user_ids)
    return await _done(context, named, await blocks.mute(context.db, named.viewer, named.members), "mutes")


async def unmute(context: Context, *, user_ids: Sequence[str]) -> UsersPayload:
    """Unmute members."""
    viewer = await context.member()
    named = await targets(context, user_ids, among=[kinds.MUTED.key(viewer)])
    return await _done(context, named, await blocks.unmute(context.db, viewer, named.members))


async def _done(context: Context, named: Targets, change: blocks.Changed, verb: str = "") -> UsersPayload:
    job, refused = change
    for member in refused:
        message = f"a member {verb} at most {context.settings.max_blocked} others"
        named.is_over_limit(member, "max_blocked", message)
    await dispatch.finish(context.db, job)
    return await named.answer(context)


async def blocked(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return the members that the viewer blocks, newest block first: of who blocks the viewer, id and login."""
    return await paging.read_list(context, "blocked", kinds.BLOCKED.key(who.member), hydrate.to_block, first, after)


async def muted(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return the members that the viewer mutes, newest mute first."""
    return await paging.read_list(context, "muted", kinds.MUTED.key(who.member), hydrate.users, first, after)
