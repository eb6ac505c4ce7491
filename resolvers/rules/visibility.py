"""Who sees what, decided from facts alone: at every read and for every live event."""

from __future__ import annotations

from store.records import Comment, Post, Repost, User


def sees_user(user: User | None) -> bool:
    """Return whether a member can be seen."""
    return user is not None


def sees_post(
    viewer: int | None, post: Post | None, author: User | None, original: Post | None, original_author: User | None
) -> bool:
    """Return whether a post can be seen.

    What is hidden is seen by its author alone. A plain repost is nothing without its original; a quote stays when its
    original is gone.
    """
    if post is None or author is None or (post.is_hidden and post.author != viewer):
        return False
    if isinstance(post, Repost) and post.is_plain:
        return sees_post(viewer, original, original_author, None, None)
    return True


def sees_comment(comment: Comment | None, author: User | None, *, post_is_seen: bool) -> bool:
    """Return whether a comment can be seen: never without the post it stands below."""
    return comment is not None and author is not None and post_is_seen
