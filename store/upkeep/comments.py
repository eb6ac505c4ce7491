"""Comments: found by the indexes of their posts and authors."""

from collections.abc import Sequence

from store import keys, kinds
from store.client.database import Database
from store.keys.fields import CommentField
from store.upkeep.findings import Finding, ask_each, existing


async def comments(db: Database, ids: Sequence[int]) -> list[Finding]:
    """The author's index and the post's lead to each comment."""
    wanted = (CommentField.AUTHOR, CommentField.POST)
    replies = await ask_each(db, {one: [("HMGET", keys.comment(one), *wanted)] for one in ids})
    named = [(one, int(author), int(post)) for one, ((author, post),) in replies if author]
    exists = await existing(db, kinds.USER, {author for _, author, _ in named})
    looks = {
        (comment, author, post): [("ZSCORE", keys.commenters(post), comment), ("ZSCORE", keys.discussed(author), post)]
        for comment, author, post in named
        if author in exists
    }
    return [
        Finding(
            keys.comment(comment),
            f"is not among the comments of {author} on {post}",
            [("ZADD", keys.discussed(author), post, post), ("ZADD", keys.commenters(post), author, comment)],
        )
        for (comment, author, post), (by, place) in await ask_each(db, looks)
        if by is None or int(by) != author or place is None
    ]
