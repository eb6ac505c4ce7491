"""Replies to a post, the post that a status replies to, and whole conversations."""

from collections.abc import Sequence

from resolvers.operation.context import Context
from resolvers.reading import hydrate, paging
from resolvers.reading.paging import NodeEdge, Page
from store import kinds
from store.records.lists import Entry
from store.records.posts import Post, Status
from store.timelines import Slice


async def replies(context: Context, post: Post, first: int | None, after: str | None) -> Page[NodeEdge[Post]]:
    """Return the direct replies to a post, oldest first."""
    asked = paging.window(context.settings, "replies", first=first, after=after, descending=False)
    key = kinds.REPLIES.key(hydrate.acts_for(post))
    return await paging.read_list(context, asked, key, hydrate.posts)


async def in_reply_to(context: Context, status: Status) -> Post | None:
    """Return the post that a status replies to; None if there is none, or it was deleted or is not seen."""
    return await hydrate.post(context, status.reply_to) if status.reply_to else None


async def conversation(context: Context, status: Status, first: int | None, after: str | None) -> Page[NodeEdge[Post]]:
    """Return the whole conversation of a status, oldest first. The status itself is always included.

    The stored conversation lacks the status in two cases: it neither is a reply nor has replies, or it is hidden.
    """
    asked = paging.window(context.settings, "conversation", first=first, after=after, descending=False)
    key, own = kinds.THREAD.key(status.root or status.id), Entry(status.id, status.id)
    listed, goes_on_listed = paging.fetch_from(context, key), paging.beyond(context, key, asked)

    async def fetch(part: Slice) -> list[Entry]:
        entries = list(await listed(part))
        if own not in entries and own.place > (part.above or 0):
            entries.append(own)
        return sorted(entries, key=lambda entry: entry.place)[: part.count]

    async def goes_on() -> bool:
        return await goes_on_listed() or own.place <= (asked.after or 0)

    async def present(entries: Sequence[Entry]) -> list[NodeEdge[Post] | None]:
        posts = await hydrate.posts(context, [entry.entity for entry in entries])
        return paging.node_edges(asked, entries, posts)

    return await paging.page(asked, fetch, present, goes_on=goes_on)
