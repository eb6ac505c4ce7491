"""Comments: listed at their post, and found by the index of their author."""

from collections.abc import Sequence

from msgspec import Struct

from store import keys, kinds
from store.client.database import Command, Database
from store.keys.fields import CommentField
from store.upkeep.lists import existing


async def without_post(db: Database, comments: Sequence[int]) -> list[tuple[str, int]]:
    """Return the key and the post of each comment whose post does not exist. Two round trips."""
    replies = await db.ask(*(("HGET", keys.comment(comment), CommentField.POST) for comment in comments))
    found = [(keys.comment(comment), int(post)) for comment, post in zip(comments, replies, strict=True) if post]
    exists = await existing(db, kinds.STATUS, {post for _, post in found})
    return [(key, post) for key, post in found if post not in exists]


class CommentAuthor(Struct, frozen=True):
    """A comment, and whether its author exists, the post's index names them, and their index names the post."""

    id: int
    key: str
    post: int
    author: int
    author_exists: bool
    is_indexed: bool


async def authors(db: Database, comments: Sequence[int]) -> list[CommentAuthor]:
    """Return the existing comments among some ids, with their authors. Four round trips."""
    wanted = (CommentField.AUTHOR, CommentField.POST)
    replies = await db.ask(*(("HMGET", keys.comment(comment), *wanted) for comment in comments))
    found = [(c, int(post), int(author)) for c, (author, post) in zip(comments, replies, strict=True) if author]
    exists = await existing(db, kinds.USER, {author for _, _, author in found})
    indexed = await db.ask(*(("ZSCORE", keys.commenters(post), comment) for comment, post, _ in found))
    discussed = await db.ask(*(("ZSCORE", keys.discussed(author), post) for _, post, author in found))
    return [
        CommentAuthor(
            comment,
            keys.comment(comment),
            post,
            author,
            author_exists=author in exists,
            is_indexed=by is not None and int(by) == author and place is not None,
        )
        for (comment, post, author), by, place in zip(found, indexed, discussed, strict=True)
    ]


def reindex(comment: CommentAuthor) -> list[Command]:
    """Return the commands by which the indexes of a comment's author and of its post lead to the comment."""
    return [
        ("ZADD", keys.discussed(comment.author), comment.post, comment.post),
        ("ZADD", keys.commenters(comment.post), comment.author, comment.id),
    ]
