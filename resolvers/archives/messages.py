"""Sections of conversations, their messages, and notifications."""

from collections.abc import AsyncIterator

from resolvers.archives.viewing import (
    Export,
    ExportContext,
    Written,
    group_names,
    moment,
    pages,
    pages_of,
    people,
    seen_posts,
)
from resolvers.reading import global_ids, messaging, notification_list
from store import kinds
from store.conversations.records import Conversation
from store.exports import lists


async def conversations(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the conversations that the member sees. Four round trips a page."""
    async for view, found in _conversations(export):
        named = await people(view, [member for one in found for member in one.present])
        marks = await view.load.read_mark.load_many([one.id for one in found])
        yield [
            {
                "id": global_ids.of(one),
                "createdAt": moment(one.created_at),
                "participants": [named[member] for member in one.present if named[member]],
                "readUpToId": global_ids.write("message", mark) if mark else None,
            }
            for one, mark in zip(found, marks, strict=True)
        ]


async def messages(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the messages that the member sees, conversation by conversation, oldest first. Six round trips a page."""
    async for _, found in _conversations(export):
        for one in found:
            async for view, entries in pages(export, kinds.MESSAGES, one.id, one.since(export.member)):
                seen = [m for m in await messaging.messages(view, [entry.entity for entry in entries]) if m]
                named = await people(view, [message.sender_id for message in seen])
                yield [
                    {
                        "id": global_ids.of(message),
                        "conversationId": global_ids.of(one),
                        "createdAt": moment(message.created_at),
                        "sender": named[message.sender_id],
                        "text": message.text,
                        "images": [{"id": global_ids.of(image), "alt": image.alt} for image in message.images],
                    }
                    for message in seen
                ]


async def _conversations(export: Export) -> AsyncIterator[tuple[ExportContext, list[Conversation]]]:
    """Yield pages of conversations. One that gets a message meanwhile moves to the end, and is not repeated."""
    done: set[int] = set()
    async for view, entries in pages(export, kinds.CONVERSATIONS, export.member):
        ids = [entry.entity for entry in entries if entry.entity not in done]
        done.update(ids)
        yield view, [one for one in await messaging.conversations(view, ids) if one]


async def notifications(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the notifications that the member sees. Six round trips a page."""
    async for view, places in pages_of(export, kinds.NOTIFICATIONS, export.member, lists.read_places):
        shown = [one for one in await notification_list.notifications(view, places) if one]
        actors = await people(view, [actor for one in shown for actor in one.actors])
        posts = await seen_posts(view, [one.post for one in shown if one.post])
        named = await group_names(view, [one.group for one in shown if one.group])
        until = await view.load.read_until.load(export.member)
        yield [
            {
                "id": global_ids.of(one),
                "kind": one.kind.value,
                "createdAt": moment(one.created_at),
                "isRead": one.id <= until,
                "actor": actors.get(one.actor),
                "actors": [actors[actor] for actor in one.actors],
                "actorCount": one.actor_count,
                "post": posts.get(one.post),
                "commentId": f"comment_{one.comment:014x}" if one.comment else None,
                "group": named.get(one.group),
            }
            for one in shown
        ]
