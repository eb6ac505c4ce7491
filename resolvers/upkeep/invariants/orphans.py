"""Invariants of ownership: nothing outlives its member."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store import kinds, likes_and_comments
from store import posts as posts_of_members
from store.client.database import Database
from store.upkeep import comments as stored_comments
from store.upkeep import lists, members
from store.upkeep import posts as stored_posts
from store.upkeep.lists import existing
from store.upkeep.scanning import KeyBatch


async def posts(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each post's author exists. The repair deletes the post, and a worker runs the job of that."""
    authors = await stored_posts.authors(db, ids)
    exists = await existing(db, kinds.USER, set(authors.values()))
    return [
        Finding(
            kinds.STATUS.key(post),
            f"its author {author} does not exist",
            [posts_of_members.delete_command(db, post, author)],
        )
        for post, author in authors.items()
        if author not in exists
    ]


async def comments(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each comment's post and author exist, and the author's index and the post's lead to the comment."""
    found = [
        Finding(key, f"its post {post} does not exist", lists.drop(key))
        for key, post in await stored_comments.without_post(db, ids)
    ]
    for comment in await stored_comments.authors(db, ids):
        if not comment.author_exists:
            gone = [likes_and_comments.delete_command(db, comment.id, comment.post)]
            found.append(Finding(comment.key, f"its author {comment.author} does not exist", gone))
        elif not comment.is_indexed:
            message = f"is not among the comments of {comment.author} on {comment.post}"
            found.append(Finding(comment.key, message, stored_comments.reindex(comment)))
    return found


async def names(db: Database, found: KeyBatch) -> list[Finding]:
    """A login or e-mail without a time limit belongs to a member."""
    holders = await members.permanent_holders(db, found.logins_and_emails)
    exists = await existing(db, kinds.USER, holders.values())
    return [
        Finding(key, f"belongs to {holder}, who does not exist", [members.drop_name(key)])
        for key, holder in holders.items()
        if holder not in exists
    ]
