"""Sections of what the member wrote or chose: posts, comments, likes, favourites."""

from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from resolvers.archives import pictures
from resolvers.archives.viewing import (
    BATCH,
    Export,
    ExportContext,
    Read,
    Written,
    group_names,
    made,
    moment,
    pages,
    pages_of,
    people,
    seen_posts,
)
from resolvers.operation.inputs import batches
from resolvers.reading import global_ids
from store import kinds, likes_and_comments
from store import posts as stored
from store.exports import lists
from store.keys.fields import StatusField
from store.kinds import List
from store.records.lists import Fields, read_pairs
from store.records.posts import Comment, Post, Repost, read_post


class _About(Struct, frozen=True):
    """What a page of posts names: other posts, members and groups, as far as the member sees them."""

    posts: Mapping[int, Written]
    people: Mapping[int, Written | None]
    groups: Mapping[int, Written | None]


async def posts(export: Export) -> AsyncIterator[list[Written]]:
    """Yield every post of the member, hidden ones and plain reposts too, oldest first. Six round trips a page."""
    async for view, entries in pages_of(export, kinds.PROFILE, export.member, lists.read_profile_page):
        # Own posts are read past the cache: a long profile would push out what others read.
        replies = await view.batcher.run([stored.post_command(entry.id) for entry in entries])
        fields = [read_pairs(reply) for reply in replies]
        written = [read_post(entry.id, own) for entry, own in zip(entries, fields, strict=True)]
        about = await _about(view, [post for post in written if post])
        yield [_post(post, own, about) for post, own in zip(written, fields, strict=True) if post]


async def _about(view: ExportContext, found: Sequence[Post]) -> _About:
    others = [post.original_id for post in found if isinstance(post, Repost)]
    others += [post.reply_to for post in found if post.reply_to]
    return _About(
        await seen_posts(view, others),
        await people(view, chain.from_iterable(post.mentioned for post in found)),
        await group_names(view, [post.group for post in found if post.group]),
    )


def _post(post: Post, fields: Fields, about: _About) -> Written:
    entry: dict[str, Any] = {
        "id": global_ids.of(post),
        "kind": _kind_of(post),
        "createdAt": moment(post.created_at),
        "text": post.text,
        "hashtags": list(post.hashtags),
        "images": list(map(pictures.named, post.images)),
        "mentions": [about.people[member] for member in post.mentioned if about.people[member]],
        "location": {"latitude": post.location.latitude, "longitude": post.location.longitude}
        if post.location
        else None,
        "isHidden": post.is_hidden,
        "inReplyTo": _reference(
            post.reply_to, _number(fields, StatusField.REPLY_TO_AUTHOR), about.posts, is_repost=False
        ),
        "conversationId": global_ids.post_id(post.root, is_repost=False) if post.root else None,
        "group": about.groups[post.group] if post.group else None,
        "likeCount": post.like_count,
        "repostCount": post.repost_count,
        "quoteCount": post.quote_count,
        "commentCount": post.comment_count,
        "replyCount": post.reply_count,
    }
    if isinstance(post, Repost):
        of_quote = StatusField.OF_QUOTE in fields
        entry["original"] = _reference(post.original_id, post.original_author, about.posts, is_repost=of_quote)
    return entry


def _number(fields: Fields, field: str) -> int | None:
    return int(fields[field]) if fields.get(field) else None


def _reference(post: int | None, author: int | None, seen: Mapping[int, Written], *, is_repost: bool) -> Written | None:
    """Return a post that another entry names: ids alone, unless the member sees the post."""
    if not post:
        return None
    ids = {"id": global_ids.post_id(post, is_repost=is_repost), "authorId": global_ids.user_id(author or 0)}
    return seen.get(post, ids)


def _kind_of(post: Post) -> str:
    """Return `status`, `quote` or `repost`."""
    if not isinstance(post, Repost):
        return "status"
    return "repost" if post.is_plain else "quote"


async def comments(export: Export) -> AsyncIterator[list[Written]]:
    """Yield every comment by the member, in the order of the posts. Five round trips a page."""
    async for view, entries in pages(export, kinds.DISCUSSED, export.member):
        below = [entry.entity for entry in entries]
        replies = await view.batcher.run([lists.comments_by_command(post, export.member) for post in below])
        for ids in batches([int(comment) for own in replies for comment in own], BATCH):
            yield await _comments(export.view(), ids)


async def _comments(view: ExportContext, ids: Sequence[int]) -> list[Written]:
    replies = await view.batcher.run([likes_and_comments.comment_command(comment) for comment in ids])
    written = [Comment.read(comment, read_pairs(reply)) for comment, reply in zip(ids, replies, strict=True)]
    own = [comment for comment in written if comment]
    below = await seen_posts(view, [comment.post_id for comment in own])
    return [
        {
            "id": global_ids.of(comment),
            "createdAt": moment(comment.created_at),
            "text": comment.text,
            "post": below.get(
                comment.post_id, {"id": global_ids.post_id(comment.post_id, is_repost=False)}
            ),  # the comment is the member's own, even where the post is no longer seen
        }
        for comment in own
    ]


async def likes(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the posts that the member likes and still sees. Four round trips a page."""
    async for view, entries in pages(export, kinds.LIKED, export.member):
        ids = [entry.entity for entry in entries]
        liked = [post for post, has in zip(ids, await view.load.has_liked.load_many(ids), strict=True) if has]
        seen = await seen_posts(view, liked)
        yield [{"post": seen[post]} for post in liked if post in seen]


def posts_in(listed: List, since: str = "since") -> Read:
    """Return the reader of a list of posts, as far as the member still sees them. Four round trips a page.

    `since` names in an entry when the post was added to the list.
    """

    async def read(export: Export) -> AsyncIterator[list[Written]]:
        async for view, entries in pages(export, listed, export.member):
            seen = await seen_posts(view, [entry.entity for entry in entries])
            yield [{"post": seen[one.entity], since: made(one.place)} for one in entries if one.entity in seen]

    return read
